"""Ranking method `mean`: the plain average of one metric over tasks, for benchmarks without a baseline.

Found by `app.boards.registry`.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from app.boards.cells import CellMatrix, build_cells
from app.boards.estimate.pairs import MAX_ENTRANTS
from app.boards.standing import (
    ENTRANT,
    RANK,
    STANDING_COLUMNS,
    BoardStanding,
    draw_tasks,
    plain,
    stand,
    uncertainty_meta,
)
from app.boards.tables import BoardTables, pairwise_notes, pairwise_table, sentences
from app.errors import BoardUnavailable, Unavailable
from app.manifest.base import MetricName
from app.manifest.manifest import Leaderboard, Manifest
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.stats.difference import compare_means
from app.stats.interval import percentile_interval, probability_beats
from app.stats.resample import Resamples
from app.values.scores import ScoreTable
from app.values.table import Cell, Column, Table, rows_from_columns


class Mean(Leaderboard):
    """A board of averages over tasks, every task counting the same."""

    method: Literal["mean"]
    metric: MetricName
    missing: Literal["error", "drop"] = "error"

    def metric_names(self) -> tuple[str, ...]:
        """Return the one metric of the board."""
        return (self.metric,)


def compute(manifest: Manifest, spec: Mean, scores: ScoreTable) -> BoardTables:
    """Compute the board and its pairwise table. Raises BoardUnavailable when the evidence does not allow it."""
    cells = build_cells(manifest, spec, scores, spec.metric)
    failed = np.isnan(cells.values)
    kept: BoolArray = ~np.asarray(failed.any(axis=1))
    if spec.missing == "error" and not kept.all():
        lacking = [cells.entrants[e] for e in np.flatnonzero(failed.any(axis=0))]
        reason = f"The board requires every result; results are missing of {sentences(lacking)}."
        raise BoardUnavailable(Unavailable.INCOMPLETE, reason, cells.out_of_step())
    if not kept.any():
        reason = "No task has a result of every entrant, and the board drops tasks with gaps."
        raise BoardUnavailable(Unavailable.NO_COMMON_TASK, reason, cells.without_common_task())
    values = cells.values[kept]
    sign = 1.0 if manifest.metrics[spec.metric].direction == "maximize" else -1.0
    resamples = draw_tasks(spec, len(values))
    drawn = None if resamples is None else resamples.means(values)
    points = values.mean(axis=0)
    standing = stand(sign * points, None if drawn is None else sign * drawn, spec.uncertainty.level)
    found = _Found(cells, kept, points, drawn, standing)
    return BoardTables(_table(manifest, spec, found), _pairwise(spec, found, resamples, sign))


@dataclass(frozen=True)
class _Found:
    """Points [n_entrants] and replicates [n_resamples, n_entrants] of the averages over the kept tasks."""

    cells: CellMatrix
    kept: BoolArray
    points: FloatArray
    drawn: FloatArray | None
    standing: BoardStanding


def _table(manifest: Manifest, spec: Mean, found: _Found) -> Table:
    names, standing = found.cells.entrants, found.standing
    n_entrants = len(names)
    ends = (None, None) if found.drawn is None else percentile_interval(found.drawn, spec.uncertainty.level)
    failures = np.isnan(found.cells.values).sum(axis=0)
    attempted = np.full(n_entrants, len(found.cells.tasks))
    included = np.full(n_entrants, int(found.kept.sum()))
    arrays = (found.points, *ends, failures, attempted, included, found.cells.leaked[found.kept].sum(axis=0))
    columns: list[list[Cell]] = [plain(standing.ranks, n_entrants), list(names)]
    columns += [plain(values, n_entrants) for values in arrays]
    columns += [plain(v, n_entrants) for v in (standing.rank_low, standing.rank_high, standing.p_best)]
    rows = rows_from_columns(columns)
    return Table(
        name=f"leaderboard/{spec.name}",
        title=spec.title or spec.name,
        columns=_columns(manifest, spec),
        rows=tuple(rows[position] for position in standing.order(names)),
        notes=_notes(spec, found, failures),
        meta={
            "method": spec.method,
            "metric": spec.metric,
            "missing": spec.missing,
            "rank_by": spec.metric,
            "n_entrants": n_entrants,
            **uncertainty_meta(spec, int(found.kept.sum())),
        },
    )


def _notes(spec: Mean, found: _Found, failures: IntArray) -> tuple[str, ...]:
    n_tasks, n_kept = len(found.cells.tasks), int(found.kept.sum())
    notes = [f"{len(found.cells.entrants)} entrants on {n_tasks} tasks; {int(failures.sum())} failures."]
    if n_kept < n_tasks:
        notes.append(f"Tasks with a failure are dropped: {n_kept} of {n_tasks} remain.")
    return tuple(notes)


def _columns(manifest: Manifest, spec: Mean) -> tuple[Column, ...]:
    metric = manifest.metrics[spec.metric]
    stem = f"mean_{spec.metric}"
    title = f"Mean {metric.title or spec.metric}"
    return (
        RANK,
        ENTRANT,
        Column(stem, title, unit=metric.unit, direction=metric.direction, interval=(f"{stem}_lower", f"{stem}_upper"),
               glossary="mean", digits=3),
        Column(f"{stem}_lower", f"{title}, low", detail=True, glossary="mean", digits=3),
        Column(f"{stem}_upper", f"{title}, high", detail=True, glossary="mean", digits=3),
        Column("num_failures", "Failed", "integer", direction="minimize", glossary="num_failures"),
        Column("n_attempted", "Attempted", "integer", detail=True, glossary="num_failures"),
        Column("n_included", "Included", "integer", glossary="num_failures"),
        Column("n_leaked", "Leaked", "integer", glossary="n_leaked"),
        *STANDING_COLUMNS,
    )  # fmt: skip


def _pairwise(spec: Mean, found: _Found, resamples: Resamples | None, sign: float) -> Table | None:
    entrants = found.cells.entrants
    if len(entrants) < 2:
        return None
    order = found.standing.order(entrants)[:MAX_ENTRANTS]
    values = sign * found.cells.values[found.kept][:, order]
    pairs = compare_means(values, resamples, level=spec.uncertainty.level)
    beats = None if found.drawn is None else probability_beats(sign * found.drawn[:, order])
    return pairwise_table(
        spec,
        [entrants[position] for position in order],
        pairs,
        beats,
        notes=pairwise_notes(len(order), len(entrants)),
        meta={"method": spec.method, "metric": spec.metric, **uncertainty_meta(spec, len(values))},
        effect=("advantage", "Advantage", 0.0),
    )


METHOD = (Mean, compute)
