"""CellMatrix: one metric as tasks × entrants, the shape in which summary boards compute.

Called by the ranking methods of this package.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from app.boards.fev_order import fev_order
from app.boards.open_grid import are_common
from app.errors import BoardUnavailable, Unavailable
from app.manifest.manifest import Leaderboard, Manifest
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.values.scores import Coded, ScoreTable

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True)
class CellMatrix:
    """Rows of one board pivoted; NaN is a cell without a value. Arrays are [n_tasks, n_entrants].

    `elsewhere` are the entrants that have rows, and none on the board's tasks. `uncommon` are tasks of an open list
    that the board is not about, because fewer than half of the owners have them.
    """

    tasks: tuple[str, ...]
    entrants: tuple[str, ...]
    values: FloatArray
    leaked: BoolArray
    present: BoolArray
    elsewhere: tuple[str, ...] = ()
    uncommon: tuple[str, ...] = ()

    def without_common_task(self) -> list[str]:
        """Return the entrants with the most gaps, those that must go for the others to have a task in common.

        None when nobody has a result.
        """
        failed = np.isnan(self.values)
        worst_first = np.argsort(-failed.sum(axis=0), kind="stable")
        for n_gone in range(1, len(self.entrants)):
            if (~failed[:, worst_first[n_gone:]].any(axis=1)).any():
                return [self.entrants[at] for at in worst_first[:n_gone]]
        return []

    def only(self, entrants: Sequence[str]) -> "CellMatrix":
        """Return the columns of some entrants, in their order."""
        at = [self.column(name) for name in entrants]
        return CellMatrix(self.tasks, tuple(entrants), self.values[:, at], self.leaked[:, at], self.present[:, at])

    def column(self, entrant: str) -> int:
        """Return the position of an entrant. Raises KeyError when it is not on the board."""
        return self._columns[entrant]

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.entrants)}


def build_cells(manifest: Manifest, spec: Leaderboard, scores: ScoreTable, metric: str) -> CellMatrix:
    """Pivot one metric in the board's task order, of everybody who has a row there: values [n_tasks, n_entrants].

    Values have the metric's own unit and direction; NaN is a cell without a value.
    Raises BoardUnavailable without rows, or without one on the board's tasks. Source: by definition.

    >>> from app.boards.example import benchmark, rows
    >>> board = Leaderboard(name="main", method="mean", uncertainty={"n_resamples": 100})
    >>> build_cells(benchmark(board), board, rows({"A": [0.1, 0.2], "B": [0.3]}), "error").values.tolist()
    [[0.1, 0.3], [0.2, nan]]
    """
    tasks = _task_order(manifest, spec, scores)
    if not len(scores):
        raise BoardUnavailable(Unavailable.NO_SUBMISSION, "No submission has been admitted yet.")
    if not tasks:
        raise BoardUnavailable(Unavailable.NO_ROWS, "None of the board's tasks has a row yet.")
    uncommon = _uncommon(manifest, spec, scores, tasks, metric)
    tasks = tuple(task for task in tasks if task not in uncommon)
    entrants = _with_rows(scores, tasks)
    shape = (len(tasks), len(entrants))
    at = _positions(scores, tasks, entrants)
    present = _pivot(np.ones(len(scores), dtype=bool), at, np.zeros(shape, dtype=bool))
    return CellMatrix(
        tasks=tasks,
        entrants=entrants,
        values=_pivot(scores.value(metric), at, np.full(shape, np.nan)),
        leaked=_pivot(scores.leaked, at, np.zeros(shape, dtype=bool)),
        present=present,
        elsewhere=tuple(sorted(set(scores.entrant.words) - set(entrants))),
        uncommon=tuple(sorted(uncommon)),
    )


def _uncommon(
    manifest: Manifest, spec: Leaderboard, scores: ScoreTable, tasks: Sequence[str], metric: str
) -> frozenset[str]:
    """Return the tasks that do not count: where the list is open, those that fewer than half of the owners have."""
    if manifest.task_ids() is not None or spec.tasks is not None:
        return frozenset()
    entrants = scores.entrant.words
    at = _positions(scores, tasks, entrants)
    has = _pivot(~np.isnan(scores.value(metric)), at, np.zeros((len(tasks), len(entrants)), dtype=np.bool_))
    known = np.flatnonzero(has.any(axis=0))
    owners = manifest.asked.facts.owners_of([entrants[place] for place in known.tolist()])
    if not owners:
        return frozenset()
    common = are_common(has[:, known].T, owners)
    return frozenset(tasks[at] for at in np.flatnonzero(~common).tolist())


def quantity(cells: CellMatrix, scores: ScoreTable, column: str) -> FloatArray:
    """Pivot a measured quantity, in its own unit, into the cells' shape [n_tasks, n_entrants].

    NaN is a cell without a value; everything is NaN when the evidence has no such column. Source: by definition.

    >>> from app.boards.example import rows
    >>> cells = CellMatrix(("b", "a"), ("Good",), *np.zeros((3, 2, 1)))
    >>> quantity(cells, rows({"Good": [1.5, 2.5]}, "training_time_s"), "training_time_s").tolist()
    [[2.5], [1.5]]
    """
    empty = np.full(cells.values.shape, np.nan)
    if column not in scores.columns:
        return empty
    return _pivot(scores.value(column), _positions(scores, cells.tasks, cells.entrants), empty)


@dataclass(frozen=True)
class _Positions:
    rows: IntArray
    task: IntArray
    entrant: IntArray


def _positions(scores: ScoreTable, tasks: Sequence[str], entrants: Sequence[str]) -> _Positions:
    task = _among(scores.task, tasks)
    entrant = _among(scores.entrant, entrants)
    rows = np.flatnonzero(task >= 0)
    return _Positions(rows, task[rows], entrant[rows])


def _with_rows(scores: ScoreTable, tasks: Sequence[str]) -> tuple[str, ...]:
    """Return who has a row on any of the tasks: whoever never ran a smaller board's tasks did not fail on them."""
    return tuple(sorted(_used(scores.entrant.take(_among(scores.task, tasks) >= 0))))


def _used(coded: Coded) -> set[str]:
    """Return the words that any row has."""
    # One place further: NONE is −1.
    used = np.flatnonzero(np.bincount(coded.codes + 1, minlength=len(coded.words) + 1)[1:])
    return {coded.words[code] for code in used.tolist()}


def _among(coded: Coded, names: Sequence[str]) -> IntArray:
    """Return each row's position among some names, -1 where it has another one."""
    at = {name: position for position, name in enumerate(names)}
    return np.array([at.get(word, -1) for word in coded.words], dtype=np.int64)[coded.codes]


def _pivot(column: NDArray[T], at: _Positions, into: NDArray[T]) -> NDArray[T]:
    into[at.task, at.entrant] = column[at.rows]
    return into


def _task_order(manifest: Manifest, spec: Leaderboard, scores: ScoreTable) -> tuple[str, ...]:
    declared = manifest.task_ids()
    known = spec.tasks if spec.tasks is not None else (declared if declared is not None else scores.task.words)
    # A task without any row is not in fev's pivot table either; it is a gap of nobody in particular.
    used = _used(scores.task)
    wanted = [task for task in known if task in used]
    return fev_order(manifest, wanted) if spec.uncertainty.stream == "fev" else tuple(sorted(wanted))
