"""Ranking method `mean`: the plain average of one metric over tasks, for benchmarks without a baseline.

Found by `app.boards.registry`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from app.boards.calibrated import NOTHING, CellsAt, few_units_note, range_of, task_intervals
from app.boards.cells import CellMatrix, build_cells
from app.boards.coverage import Roster, rank_among
from app.boards.standing import (
    Place,
    board_table,
    cell_at,
    draw_tasks,
    ends_at,
    stand,
    uncertainty_meta,
    unranked_places,
)
from app.boards.tables import MAX_COMPARED, BoardTables, elsewhere_notes, pairwise_notes, task_pairs_table
from app.boards.task_coverage import filled, task_roster
from app.errors import BoardUnavailable, Unavailable
from app.manifest.base import MetricName
from app.manifest.manifest import Leaderboard, Manifest
from app.stats.arrays import BoolArray, FloatArray
from app.stats.difference import compare_means
from app.stats.interval import probability_beats
from app.stats.resample import Resamples
from app.values.frame import Ends, Field, with_calibrated
from app.values.scores import ScoreTable
from app.values.table import Column, Table


class Mean(Leaderboard):
    """A board of averages over tasks, every task counting the same."""

    can_lack_intervals = True

    method: Literal["mean"]
    metric: MetricName
    missing: Literal["error", "drop"] = "error"

    def metric_names(self) -> tuple[str, ...]:
        """Return the one metric of the board."""
        return (self.metric,)


def compute(manifest: Manifest, spec: Mean, scores: ScoreTable) -> BoardTables:
    """Compute the board and its pairwise table. Raises BoardUnavailable when there is no row.

    Ranked are those who have every task of the grid; the others are shown with the mean over what they have.
    """
    found = _find(manifest, spec, scores)
    column = Column(
        name=f"mean_{spec.metric}",
        title=f"Mean {manifest.metrics[spec.metric].title or spec.metric}",
        unit=manifest.metrics[spec.metric].unit,
        direction=manifest.metrics[spec.metric].direction,
        glossary="mean",
        digits=3,
    )
    ranked = found.cells.only(found.roster.ranked)
    sign, level = found.sign, spec.uncertainty.level
    values = ranked.values[found.kept]
    resamples = draw_tasks(spec, len(values))
    drawn = None if resamples is None or not len(ranked.entrants) else resamples.means(values)
    placed = _placed(spec, found, values, drawn)
    ours = _calibrated(found, task_intervals(values, range_of(manifest.metrics[spec.metric]), level))
    fields = (*with_calibrated(column, _ends(found, drawn, level), ours), *_counts(found.cells, found.kept))
    notes = (*_notes(found), *few_units_note([(name, len(values)) for name in ranked.entrants], "tasks", level))
    meta = {"method": spec.method, "metric": spec.metric, "missing": spec.missing, "rank_by": spec.metric,
            "n_entrants": len(found.cells.entrants), **uncertainty_meta(spec, len(values))}  # fmt: skip
    board = board_table(spec, fields, placed, notes, meta)
    order = [ranked.column(place.entrant) for place, _ in placed[: len(ranked.entrants)]][:MAX_COMPARED]
    ordered = _Ordered([ranked.entrants[at] for at in order], sign * values[:, order],
                       None if drawn is None else sign * drawn[:, order])  # fmt: skip
    return BoardTables(board, _pairwise(manifest.slug, spec, ordered, resamples, len(ranked.entrants)))


@dataclass(frozen=True)
class _Found:
    """Every entrant's values, who of them is ranked, and which tasks [n_tasks] the ranked are compared on.

    `means` are over the tasks that an entrant has, NaN where it has none; `sign` makes larger the better.
    """

    cells: CellMatrix
    roster: Roster
    kept: BoolArray
    means: FloatArray
    sign: float
    ends: tuple[float | None, float | None]

    def bounds(self, entrant: str) -> tuple[int, int] | None:
        """Return the ranks of an entrant if what it lacks were worst and best; None for who lacks nothing."""
        if not self.roster.coverages[entrant].n_lacking:
            return None
        among = [self.sign * self.means[self.cells.column(name)] for name in self.roster.ranked if name != entrant]
        own = self.cells.values[:, self.cells.column(entrant)]
        worst, best = (None if end is None else self.sign * float(filled(own, end).mean()) for end in self.ends)
        return rank_among(worst, among), 1 if best is None else rank_among(best, among)


def _find(manifest: Manifest, spec: Mean, scores: ScoreTable) -> _Found:
    cells = build_cells(manifest, spec, scores, spec.metric)
    metric, missing = manifest.metrics[spec.metric], np.isnan(cells.values)
    roster = task_roster(manifest, spec, cells, missing)
    if manifest.absent == "worst" and not roster.is_provisional:
        cells = replace(cells, values=filled(cells.values, metric.worst))
    kept = ~np.asarray(np.isnan(cells.only(roster.ranked).values).any(axis=1))
    if not kept.any():
        reason = "No task has a result of every entrant that could be ranked."
        raise BoardUnavailable(Unavailable.NO_COMMON_TASK, reason)
    means = [float(v[~np.isnan(v)].mean()) if (~np.isnan(v)).any() else np.nan for v in cells.values.T]
    sign = 1.0 if metric.direction == "maximize" else -1.0
    return _Found(cells, roster, kept, np.array(means), sign, (metric.worst, metric.best))


def _placed(spec: Mean, found: _Found, values: FloatArray, drawn: FloatArray | None) -> list[tuple[Place, int]]:
    """Return everybody's place with its column: the ranked by rank, then who is behind, then who stands apart."""
    roster, sign = found.roster, found.sign
    placed = []
    if roster.ranked:
        standing = stand(sign * values.mean(axis=0), None if drawn is None else sign * drawn, spec.uncertainty.level)
        placed = [place for place, _ in standing.placed(roster.ranked)]
    points = {name: sign * float(found.means[at]) for at, name in enumerate(found.cells.entrants)}
    return [
        (replace(place, standing=roster.standing(place.entrant, found.bounds(place.entrant))), at)
        for place in [*placed, *unranked_places(roster, points)]
        for at in [found.cells.column(place.entrant)]
    ]


def _ends(found: _Found, drawn: FloatArray | None, level: float) -> Callable[[int], Ends]:
    """Return the point of a column of the cells, with its interval where it is ranked."""
    ranked = found.roster.ranked
    of_ranked = ends_at(found.means[[found.cells.column(name) for name in ranked]], drawn, level)
    place = {found.cells.column(name): at for at, name in enumerate(ranked)}
    point = cell_at(found.means)
    return lambda at: of_ranked(place[at]) if at in place else (point(at), None, None)


def _calibrated(found: _Found, of_ranked: CellsAt) -> CellsAt:
    """Return the calibrated interval of a column of the cells, where it is ranked."""
    place = {found.cells.column(name): at for at, name in enumerate(found.roster.ranked)}
    return lambda at: of_ranked(place[at]) if at in place else NOTHING


def _counts(cells: CellMatrix, kept: BoolArray) -> tuple[Field[int], ...]:
    failures, leaked = np.isnan(cells.values).sum(axis=0), cells.leaked[kept].sum(axis=0)
    failed = Column("num_failures", "Failed", "integer", direction="minimize", glossary="num_failures")
    return (
        Field(failed, cell_at(failures)),
        Field(Column("n_leaked", "Leaked", "integer", glossary="n_leaked"), cell_at(leaked)),
    )


def _notes(found: _Found) -> Iterator[str]:
    n_tasks, n_kept = len(found.cells.tasks), int(found.kept.sum())
    n_failed = int(np.isnan(found.cells.values).sum())
    yield f"{len(found.cells.entrants)} entrants on {n_tasks} tasks; {n_failed} failures."
    if n_kept < n_tasks:
        yield f"The ranked are compared on the {n_kept} of {n_tasks} tasks that all of them have."
    yield from found.roster.notes("tasks")
    yield from elsewhere_notes(found.cells.elsewhere)


@dataclass(frozen=True)
class _Ordered:
    """The best entrants in their order: values [n_tasks, n_entrants] and replicates, larger being better."""

    names: Sequence[str]
    values: FloatArray
    drawn: FloatArray | None


def _pairwise(slug: str, spec: Mean, ordered: _Ordered, resamples: Resamples | None, n_entrants: int) -> Table | None:
    if n_entrants < 2:
        return None
    pairs = compare_means(ordered.values, resamples, level=spec.uncertainty.level, board=f"{slug}/{spec.name}")
    beats = None if ordered.drawn is None else probability_beats(ordered.drawn)
    meta = {"method": spec.method, "metric": spec.metric, **uncertainty_meta(spec, len(ordered.values))}
    notes = pairwise_notes(len(ordered.names), n_entrants)
    effect = ("advantage", "Advantage")
    return task_pairs_table(spec, ordered.names, pairs, beats, notes=notes, meta=meta, effect=effect)


METHOD = (Mean, compute)
