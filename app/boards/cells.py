"""CellMatrix: one metric as tasks × entrants, the shape from which boards of summaries are computed.

Called by the ranking methods of this package.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from app.boards.fev_order import fev_order
from app.boards.open_grid import are_common
from app.boards.pivot import Pivot
from app.errors import BoardUnavailable, Unavailable
from app.manifest.leaderboard import Leaderboard
from app.manifest.manifest import Manifest
from app.stats.arrays import BoolArray, FloatArray
from app.values.scores import ScoreTable

AT_ONCE = 256
"""Entrants transposed at a time, because all of a large board would take a lot of memory."""


@dataclass(frozen=True)
class CellMatrix:
    """The pivoted rows of one board; NaN is a cell without a value. Arrays are [n_tasks, n_entrants].

    `elsewhere` holds the entrants with rows, but none on the board's tasks. `uncommon` holds the tasks of an open list
    that the board leaves out, because fewer than half of the owners have them.
    """

    tasks: tuple[str, ...]
    entrants: tuple[str, ...]
    values: FloatArray
    leaked: BoolArray
    present: BoolArray
    elsewhere: tuple[str, ...] = ()
    uncommon: tuple[str, ...] = ()

    def without_common_task(self) -> list[str]:
        """Return the entrants, most gaps first, that must be removed for the others to have a task in common.

        Empty when nobody has a result.
        """
        failed = np.isnan(self.values)
        worst_first = np.argsort(-failed.sum(axis=0), kind="stable")
        for n_gone in range(1, len(self.entrants)):
            if (~failed[:, worst_first[n_gone:]].any(axis=1)).any():
                return [self.entrants[at] for at in worst_first[:n_gone]]
        return []

    def only(self, entrants: Sequence[str]) -> "CellMatrix":
        """Return the matrix of some entrants, in the given order."""
        if tuple(entrants) == self.entrants:
            return self
        at = [self.column(name) for name in entrants]
        return CellMatrix(self.tasks, tuple(entrants), self.values[:, at], self.leaked[:, at], self.present[:, at])

    def column(self, entrant: str) -> int:
        """Return the position of an entrant.

        Raises KeyError for one that is not on the board."""
        return self._columns[entrant]

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.entrants)}


def build_cells(manifest: Manifest, spec: Leaderboard, scores: ScoreTable, metric: str) -> CellMatrix:
    """Pivot one metric of every entrant with a row on the board, in its task order: values [n_tasks, n_entrants].

    Values have the metric's own unit and direction; NaN is a cell without a value.
    Raises BoardUnavailable without rows, or without one on the board's tasks.
    Source: none; it rearranges rows.

    >>> from app.boards.example import benchmark, rows
    >>> board = Leaderboard(name="main", method="mean", uncertainty={"n_resamples": 100})
    >>> build_cells(benchmark(board), board, rows({"A": [0.1, 0.2], "B": [0.3]}), "error").values.tolist()
    [[0.1, 0.3], [0.2, nan]]
    """
    rows = Pivot(scores)
    tasks = _task_order(manifest, spec, rows)
    if not len(scores):
        raise BoardUnavailable(Unavailable.NO_SUBMISSION, "No submission has been admitted yet.")
    if not tasks:
        raise BoardUnavailable(Unavailable.NO_ROWS, "None of the board's tasks has a row yet.")
    uncommon = _uncommon(manifest, spec, rows, tasks, metric)
    tasks = tuple(task for task in tasks if task not in uncommon)
    entrants = rows.with_rows(tasks)
    at = rows.places(tasks, entrants)
    return CellMatrix(
        tasks=tasks,
        entrants=entrants,
        values=at.pivot(scores.value(metric), np.nan),
        leaked=at.pivot(scores.leaked, empty=False),
        present=at.pivot(np.broadcast_to(True, len(scores)), empty=False),
        elsewhere=tuple(sorted(set(scores.entrant.words) - set(entrants))),
        uncommon=tuple(sorted(uncommon)),
    )


def _uncommon(manifest: Manifest, spec: Leaderboard, rows: Pivot, tasks: Sequence[str], metric: str) -> frozenset[str]:
    """Return the tasks that are left out: where the list is open, those that fewer than half of the owners have."""
    if manifest.task_ids() is not None or spec.tasks is not None:
        return frozenset()
    entrants, is_there = rows.scores.entrant.words, ~np.isnan(rows.scores.value(metric))
    if rows.is_whole and is_there.all():
        return frozenset()
    has = rows.places(tasks, entrants).pivot(is_there, empty=False)
    known = np.flatnonzero(has.any(axis=0))
    owners = manifest.asked.facts.owners_of([entrants[place] for place in known.tolist()])
    if not owners:
        return frozenset()
    common = are_common(has[:, known].T, owners)
    return frozenset(tasks[at] for at in np.flatnonzero(~common).tolist())


def quantity(cells: CellMatrix, scores: ScoreTable, column: str) -> FloatArray:
    """Pivot a measured quantity, in its own unit, into the cells' shape [n_tasks, n_entrants].

    NaN is a cell without a value; all are NaN when the evidence lacks the column.
    Source: none; it rearranges rows.

    >>> from app.boards.example import rows
    >>> cells = CellMatrix(("b", "a"), ("Good",), *np.zeros((3, 2, 1)))
    >>> quantity(cells, rows({"Good": [1.5, 2.5]}, "training_time_s"), "training_time_s").tolist()
    [[2.5], [1.5]]
    """
    if column not in scores.columns:
        return np.full(cells.values.shape, np.nan)
    return Pivot(scores).places(cells.tasks, cells.entrants).pivot(scores.value(column), np.nan)


def means_of_present(values: FloatArray) -> FloatArray:
    """Return the mean [n_entrants] of the values [n_tasks, n_entrants] that each entrant has, in their unit.

    NaN in `values` is a cell without a value; an entrant without any has the mean NaN.
    Source: the arithmetic mean.

    >>> means_of_present(np.array([[1.0, 2.0, np.nan], [3.0, np.nan, np.nan]])).tolist()
    [2.0, 2.0, nan]
    """
    means = np.empty(values.shape[1])
    for start in range(0, len(means), AT_ONCE):
        rows = np.ascontiguousarray(values[:, start : start + AT_ONCE].T)
        of_these, gaps = rows.mean(axis=1), np.isnan(rows)
        for at in np.flatnonzero(gaps.any(axis=1)).tolist():
            known = rows[at][~gaps[at]]
            of_these[at] = known.mean() if len(known) else np.nan
        means[start : start + AT_ONCE] = of_these
    return means


def _task_order(manifest: Manifest, spec: Leaderboard, rows: Pivot) -> tuple[str, ...]:
    declared = manifest.task_ids()
    known = spec.tasks if spec.tasks is not None else (declared if declared is not None else rows.scores.task.words)
    # As in fev's pivot table, a task without any row is left out: it is missing for everybody alike.
    used = rows.used_tasks()
    wanted = [task for task in known if task in used]
    return fev_order(manifest, wanted) if spec.uncertainty.stream == "fev" else tuple(sorted(wanted))
