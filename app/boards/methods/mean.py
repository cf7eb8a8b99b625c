"""Ranking method `mean`: the plain average of one metric over tasks, for benchmarks without a baseline.

Found by `app.boards.registry`.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
from pydantic import Field

from app.boards.calibrated import (
    FREE,
    DrawnSpread,
    assumption_free,
    few_units_note,
    hidden_pair_note,
    hidden_tasks_note,
    may_hide,
    range_of,
    task_intervals,
)
from app.boards.cells import CellMatrix, build_cells, filled, means_of_present, not_asked_among, task_roster
from app.boards.columns import BoardRow, board_table, cell_at, ends_at
from app.boards.coverage import Roster, rank_among
from app.boards.remembered import remembered_pairs
from app.boards.stability import PointsByTask, better_by_metric, family_of, stability_meta
from app.boards.standing import (
    CAVEATS,
    BoardStanding,
    draw_tasks,
    filled_gaps,
    power_meta,
    stand,
    uncertainty_meta,
    unranked_places,
)
from app.boards.tables import (
    MAX_COMPARED,
    BoardTables,
    TableMethod,
    TaskPairs,
    pairs_beside,
    pairwise_notes,
)
from app.boards.task_points import task_weights
from app.boards.units import TaskUnits
from app.errors import BoardUnavailable, Unavailable
from app.manifest.model import Leaderboard, Manifest, MetricName, Task
from app.names import count
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.stats.pairs import compare_wins
from app.stats.resample import Resamples, percentile_interval
from app.stats.spreads import SHARE, Range, weigh
from app.values.frame import FrameField, with_calibrated
from app.values.scores import ScoreTable
from app.values.table import Column, Table


class Mean(Leaderboard):
    """A board of averages over tasks, all tasks weighing the same."""

    can_lack_intervals = True
    is_mean = True

    method: Literal["mean"] = Field(description="how it ranks")
    metric: MetricName = Field(description="the metric that ranks")
    missing: Literal["error", "drop"] = Field(
        "error",
        description=(
            "error: an absent task leaves the board empty; drop: an entrant that lacks one is listed separately"
        ),
    )

    def metric_names(self) -> tuple[str, ...]:
        """Return the one metric of the board."""
        return (self.metric,)

    def is_mean_over_tasks(self) -> bool:
        """Say that it does."""
        return True

    def weighable(self, tasks: Sequence[Task]) -> Collection[str] | None:
        """Return its tasks; None where they are open, since they are unknown before there are rows."""
        return self.tasks or [task.id for task in tasks] or None


def compute(manifest: Manifest, spec: Mean, scores: ScoreTable) -> BoardTables:
    """Compute the board and its pairwise table: means over tasks, in the metric's unit and its own direction.

    Entrants with every task of the grid are ranked; the others are shown with the mean over the tasks they have, None
    without any.
    Raises BoardUnavailable without rows, or when the ranked have no task in common.
    Source: the mean over tasks; ranks and intervals from `app.boards.standing`.

    >>> from app.boards.example import benchmark, rows
    >>> board = Mean(name="main", method="mean", metric="error")
    >>> [(row[0], row[1], round(row[2], 2)) for row in compute(benchmark(board), board, rows()).leaderboard.rows]
    [(1, 'Good', 0.2), (2, 'Fair', 0.3), (3, 'Poor', 0.8)]
    """
    ranking = _find(manifest, spec, scores)
    column = Column(
        name=f"mean_{spec.metric}",
        title=f"Mean {manifest.metrics[spec.metric].title or spec.metric}",
        unit=manifest.metrics[spec.metric].unit,
        direction=manifest.metrics[spec.metric].direction,
        glossary="mean",
        digits=3,
    )
    ranked = ranking.cells.only(ranking.roster.ranked)
    sign, level = ranking.sign, spec.uncertainty.level
    values = ranked.values if ranking.kept.all() else ranked.values[ranking.kept]
    resamples = draw_tasks(spec, len(values))
    drawn = None
    if resamples is not None and ranked.entrants:
        drawn = ranking.for_everybody(np.stack(percentile_interval(resamples.means(values), level)))
    standing = _standing(spec, ranking, values)
    placed = _placed(ranking, standing)
    ours = task_intervals(ranking.for_everybody(values), ranking.within, level, units=ranking.units)
    free = _assumption_free(ranking, column, values, level)
    fields = (*with_calibrated(column, ends_at(ranking.means, drawn), ours), *free, *_counts(ranking))
    n_units = ranking.units.number()
    few = few_units_note([(name, n_units) for name in ranked.entrants], ranking.units.plural, level,
                         is_rate=ranking.within == SHARE)  # fmt: skip
    depends = ranking.units.meta(values)
    on_units = (*ranking.units.notes(depends["dependence"]["design_effect"]), *few)
    notes = (*_notes(ranking), *on_units,
             *hidden_tasks_note(round(n_units), ranking.within, said=ranking.units.in_words,
                                is_beside=bool(free), n_compared=len(ranked.entrants)))  # fmt: skip
    meta = {"method": spec.method, "metric": spec.metric, "missing": spec.missing, "rank_by": column.name,
            "n_entrants": len(ranking.cells.entrants), **uncertainty_meta(spec, len(values)),
            **depends, **power_meta(standing)}  # fmt: skip
    if spec.explored is None and ranked.entrants:
        tasks = [ranked.tasks[at] for at in np.flatnonzero(ranking.kept)]
        by = PointsByTask(ranked.entrants, tasks, sign * values, points_of=np.asarray)
        meta |= stability_meta(by, family_of(manifest), partial(better_by_metric, manifest, spec, scores))
    board = board_table(spec, fields, placed, notes, meta)
    if standing is None or spec.explored is not None:
        return BoardTables(board)
    caveats = (
        *ranking.roster.filled_notes(),
        *on_units,
        *hidden_pair_note(n_units, ranking.within, len(ranked.entrants)),
    )
    pairs = partial(_pairwise, manifest.slug, spec, ranked.entrants, sign, values, standing, resamples, caveats)
    return BoardTables(board, pairs_beside(spec, pairs))


def _standing(spec: Mean, ranking: "_Ranking", values: FloatArray) -> BoardStanding | None:
    """Return the standing of the ranked by sign × values [n_tasks, n_ranked], larger being better; None if none."""
    if not ranking.roster.ranked:
        return None
    points, level = ranking.sign * values.mean(axis=0), spec.uncertainty.level
    spread = DrawnSpread.of_means(spec.uncertainty, ranking.units, ranking.sign * values)
    widest = ranking.within.high - ranking.within.low
    gaps = filled_gaps([ranking.roster.coverages[name] for name in ranking.roster.ranked], points)
    return stand(points, spread, level, widest=widest, gaps=gaps, smallest=spec.smallest_difference,
                 over_snapshots=spec.over_snapshots)  # fmt: skip


@dataclass(frozen=True)
class _Ranking:
    """Every entrant's values, which entrants are ranked, and which tasks [n_tasks] the ranked are compared on.

    `means` are over the tasks that an entrant has, NaN without any; `sign` makes larger better. `within` is the range
    of the values; where `units`, those of the kept tasks, have a reader's weights, values include these, and only means
    are within. `missing` [n_tasks, n_entrants] says what was absent before it was filled, `n_failures` [n_entrants] how
    often.
    """

    cells: CellMatrix
    roster: Roster
    kept: BoolArray
    means: FloatArray
    sign: float
    ends: tuple[float | None, float | None]
    within: Range
    missing: BoolArray
    n_failures: IntArray
    units: TaskUnits

    def for_everybody(self, of_ranked: FloatArray) -> FloatArray:
        """Return numbers of the ranked [..., n_ranked] for everybody [..., n_entrants], NaN for the others."""
        of_all = np.full((*of_ranked.shape[:-1], len(self.cells.entrants)), np.nan)
        of_all[..., [self.cells.column(name) for name in self.roster.ranked]] = of_ranked
        return of_all

    def bounds(self, entrant: str) -> tuple[int, int] | None:
        """Return the ranks of an entrant if the values it lacks were worst and best; None if it lacks none."""
        if not self.roster.coverages[entrant].n_lacking or self.units.weights is not None:
            return None
        among = [self.sign * self.means[self.cells.column(name)] for name in self.roster.ranked if name != entrant]
        at = self.cells.column(entrant)
        own, lacks = self.cells.values[:, at], self.missing[:, at]
        worst, best = (
            None if end is None else self.sign * float(np.where(lacks, end, own).mean()) for end in self.ends
        )
        return rank_among(worst, among), 1 if best is None else rank_among(best, among)


def _find(manifest: Manifest, spec: Mean, scores: ScoreTable) -> _Ranking:
    cells = build_cells(manifest, spec, scores, spec.metric)
    metric, missing = manifest.metrics[spec.metric], np.isnan(cells.values)
    roster = task_roster(manifest, spec, cells, missing)
    if manifest.absent == "worst" and not roster.is_provisional:
        cells = replace(cells, values=filled(cells.values, metric.worst))
    weights = task_weights(spec, cells.tasks)
    if weights is not None:
        cells = replace(cells, values=weigh(cells.values, weights))
    kept = ~np.asarray(np.isnan(cells.only(roster.ranked).values).any(axis=1))
    if not kept.any():
        reason = "No task has a result of every entrant that could be ranked."
        raise BoardUnavailable(Unavailable.NO_COMMON_TASK, reason)
    sign = 1.0 if metric.direction == "maximize" else -1.0
    ends = (metric.worst, metric.best)
    means = means_of_present(cells.values)
    common = np.flatnonzero(kept)
    units = replace(
        TaskUnits.of(manifest, [cells.tasks[at] for at in common]), weights=None if weights is None else weights[common]
    )
    n_failures = np.asarray(missing.sum(axis=0) - not_asked_among(manifest, spec, cells, missing))
    return _Ranking(cells, roster, kept, means, sign, ends, range_of(metric), missing, n_failures, units)


def _placed(ranking: _Ranking, standing: BoardStanding | None) -> list[tuple[BoardRow, int]]:
    """Return everybody's place with its column: the ranked by rank, those behind, those listed separately."""
    roster, sign = ranking.roster, ranking.sign
    placed = [] if standing is None else [place for place, _ in standing.placed(roster.ranked)]
    points = {name: sign * float(ranking.means[at]) for at, name in enumerate(ranking.cells.entrants)}
    return [
        (replace(place, rank_status=roster.rank_status(place.entrant, ranking.bounds(place.entrant))), at)
        for place in [*placed, *unranked_places(roster, points)]
        for at in [ranking.cells.column(place.entrant)]
    ]


def _assumption_free(
    ranking: _Ranking, column: Column, values: FloatArray, level: float
) -> tuple[FrameField[int], ...]:
    """Return the columns of the interval of the ranked that assumes nothing but the range, from [n_tasks, n_ranked].

    Empty where the calibrated interval holds without it, no range is declared, or tasks have a reader's weights.
    """
    place = ranking.units.place
    is_asked = may_hide("tasks", len(np.unique(place))) and ranking.within.is_bounded and ranking.units.weights is None
    if not is_asked or not ranking.roster.ranked:
        return ()
    ends = ranking.for_everybody(assumption_free(values, place, ranking.within, level))
    return tuple(
        FrameField(Column(f"{column.name}_{FREE}_{end}", f"{column.title}, assumption-free, {end}", detail=True,
                          glossary=FREE, digits=column.digits), cell_at(of_end))
        for end, of_end in zip(("low", "high"), ends, strict=True)
    )  # fmt: skip


def _counts(ranking: _Ranking) -> tuple[FrameField[int], ...]:
    leaked = ranking.cells.leaked[ranking.kept].sum(axis=0)
    failed = Column("num_failures", "Failed", "integer", direction="minimize", glossary="num_failures")
    return (
        FrameField(failed, cell_at(ranking.n_failures)),
        FrameField(Column("n_leaked", "Leaked", "integer", glossary="n_leaked"), cell_at(leaked)),
    )


def _notes(ranking: _Ranking) -> Iterator[str]:
    n_tasks, n_kept, n_failed = len(ranking.cells.tasks), int(ranking.kept.sum()), int(ranking.n_failures.sum())
    yield f"{count(len(ranking.cells.entrants), 'entrant')} on {count(n_tasks, 'task')}; {count(n_failed, 'failure')}."
    if n_kept < n_tasks:
        who = "Those who lack the fewest results are" if ranking.roster.behind else "The ranked are"
        yield f"{who} compared on the {n_kept} of {n_tasks} tasks that all of them have."
    yield from ranking.roster.notes("tasks")
    yield from ranking.cells.notes()


def _pairwise(
    slug: str,
    spec: Mean,
    names: Sequence[str],
    sign: float,
    values: FloatArray,
    standing: BoardStanding,
    resamples: Resamples | None,
    caveats: tuple[str, ...],
) -> Table | None:
    """Compare the best pair by pair on sign × values [n_tasks, n_entrants], larger being better."""
    if len(names) < 2:
        return None
    order = standing.order(names)[:MAX_COMPARED]
    level, best = spec.uncertainty.level, sign * values[:, order]
    key = (f"{slug}/{spec.name}", "wins", repr(level))
    compare = partial(compare_wins, best, resamples, level=level)
    statistics = remembered_pairs(key, best, resamples, lambda wanted: compare(wanted=wanted))
    meta = {"method": spec.method, "metric": spec.metric, **uncertainty_meta(spec, len(values)), **power_meta(standing)}
    meta |= {CAVEATS: list(caveats)} if caveats else {}
    notes = pairwise_notes(len(order), len(names))
    compared = TaskPairs([names[at] for at in order], statistics, standing.contrasts(order))
    return compared.advantages(spec, notes, meta)


METHOD = TableMethod(Mean, compute)
