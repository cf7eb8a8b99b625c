"""Ranking method `mean`: the plain average of one metric over tasks, for benchmarks without a baseline.

Found by `app.boards.registry`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from app.boards.cells import CellMatrix, build_cells
from app.boards.standing import board_table, cell_at, draw_tasks, ends_at, stand, uncertainty_meta
from app.boards.tables import MAX_COMPARED, BoardTables, elsewhere_notes, pairwise_notes, sentences, task_pairs_table
from app.errors import BoardUnavailable, Unavailable
from app.manifest.base import MetricName
from app.manifest.manifest import Leaderboard, Manifest
from app.stats.arrays import BoolArray, FloatArray
from app.stats.difference import compare_means
from app.stats.interval import probability_beats
from app.stats.resample import Resamples
from app.values.frame import Field, with_interval
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
    """Compute the board and its pairwise table. Raises BoardUnavailable when the evidence does not allow it."""
    cells = build_cells(manifest, spec, scores, spec.metric)
    kept = _common_tasks(spec, cells)
    metric = manifest.metrics[spec.metric]
    values = cells.values[kept]
    resamples = draw_tasks(spec, len(values))
    drawn = None if resamples is None else resamples.means(values)
    sign, level = 1.0 if metric.direction == "maximize" else -1.0, spec.uncertainty.level
    standing = stand(sign * values.mean(axis=0), None if drawn is None else sign * drawn, level)
    column = Column(
        name=f"mean_{spec.metric}",
        title=f"Mean {metric.title or spec.metric}",
        unit=metric.unit,
        direction=metric.direction,
        glossary="mean",
        digits=3,
    )
    fields = (*with_interval(column, ends_at(values.mean(axis=0), drawn, level)), *_counts(cells, kept))
    meta = {"method": spec.method, "metric": spec.metric, "missing": spec.missing, "rank_by": spec.metric,
            "n_entrants": len(cells.entrants), **uncertainty_meta(spec, len(values))}  # fmt: skip
    board = board_table(spec, fields, standing.placed(cells.entrants), _notes(cells, kept), meta)
    order = standing.order(cells.entrants)[:MAX_COMPARED]
    ordered = _Ordered([cells.entrants[at] for at in order], sign * values[:, order],
                       None if drawn is None else sign * drawn[:, order])  # fmt: skip
    return BoardTables(board, _pairwise(spec, ordered, resamples, len(cells.entrants)))


def _common_tasks(spec: Mean, cells: CellMatrix) -> BoolArray:
    """Return which tasks count, [n_tasks]: those with a result of everybody."""
    failed = np.isnan(cells.values)
    kept: BoolArray = ~np.asarray(failed.any(axis=1))
    if spec.missing == "error" and not kept.all():
        lacking = [cells.entrants[e] for e in np.flatnonzero(failed.any(axis=0))]
        reason = f"The board requires every result; results are missing of {sentences(lacking)}."
        raise BoardUnavailable(Unavailable.INCOMPLETE, reason, cells.out_of_step())
    if not kept.any():
        reason = "No task has a result of every entrant, and the board drops tasks with gaps."
        raise BoardUnavailable(Unavailable.NO_COMMON_TASK, reason, cells.without_common_task())
    return kept


def _counts(cells: CellMatrix, kept: BoolArray) -> tuple[Field[int], ...]:
    failures, leaked = np.isnan(cells.values).sum(axis=0), cells.leaked[kept].sum(axis=0)
    n_attempted, n_included = len(cells.tasks), int(kept.sum())
    failed = Column("num_failures", "Failed", "integer", direction="minimize", glossary="num_failures")
    attempted = Column("n_attempted", "Attempted", "integer", detail=True, glossary="num_failures")
    included = Column("n_included", "Included", "integer", glossary="num_failures")
    return (
        Field(failed, cell_at(failures)),
        Field(attempted, lambda at: n_attempted),
        Field(included, lambda at: n_included),
        Field(Column("n_leaked", "Leaked", "integer", glossary="n_leaked"), cell_at(leaked)),
    )


def _notes(cells: CellMatrix, kept: BoolArray) -> Iterator[str]:
    n_tasks, n_kept = len(cells.tasks), int(kept.sum())
    yield f"{len(cells.entrants)} entrants on {n_tasks} tasks; {int(np.isnan(cells.values).sum())} failures."
    if n_kept < n_tasks:
        yield f"Tasks with a failure are dropped: {n_kept} of {n_tasks} remain."
    yield from elsewhere_notes(cells.elsewhere)


@dataclass(frozen=True)
class _Ordered:
    """The best entrants in their order: values [n_tasks, n_entrants] and replicates, larger being better."""

    names: Sequence[str]
    values: FloatArray
    drawn: FloatArray | None


def _pairwise(spec: Mean, ordered: _Ordered, resamples: Resamples | None, n_entrants: int) -> Table | None:
    if n_entrants < 2:
        return None
    pairs = compare_means(ordered.values, resamples, level=spec.uncertainty.level)
    beats = None if ordered.drawn is None else probability_beats(ordered.drawn)
    meta = {"method": spec.method, "metric": spec.metric, **uncertainty_meta(spec, len(ordered.values))}
    notes = pairwise_notes(len(ordered.names), n_entrants)
    effect = ("advantage", "Advantage")
    return task_pairs_table(spec, ordered.names, pairs, beats, notes=notes, meta=meta, effect=effect)


METHOD = (Mean, compute)
