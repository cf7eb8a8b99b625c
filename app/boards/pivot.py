"""Rows of scores as tasks × entrants. Called by `app.boards.cells`; pure.

Usually every entrant has every task once, in the order of both: then pivoting is a mere reshape.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from app.stats.arrays import IntArray
from app.stats.compiled import turned
from app.values.scores import Coded, ScoreTable

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True)
class Places:
    """Where rows belong in an array [n_tasks, n_entrants]: each of `rows` has a task and an entrant."""

    shape: tuple[int, int]
    rows: IntArray
    task: IntArray
    entrant: IntArray

    def pivot(self, column: NDArray[T], empty: Any) -> NDArray[T]:
        """Return a column of the rows as a square, [n_tasks, n_entrants], with `empty` where there is no row.

        Source: none; it rearranges rows.

        >>> one = np.array([0])
        >>> Places((1, 2), one, one, one).pivot(np.array([0.5]), np.nan).tolist()
        [[0.5, nan]]
        """
        square = np.full(self.shape, empty, dtype=column.dtype)
        square[self.task, self.entrant] = column[self.rows]
        return square


@dataclass(frozen=True)
class WholePlaces:
    """The same for rows that are every task of every entrant, in order; `task` and `entrant` select some."""

    n_tasks: int
    task: IntArray
    entrant: IntArray

    def pivot(self, column: NDArray[T], empty: Any) -> NDArray[T]:
        """Return a column of the rows as a square, [n_tasks, n_entrants]; no cell is `empty`.

        Source: none; it reshapes.

        >>> WholePlaces(2, np.array([1, 0]), np.array([0])).pivot(np.array([0.1, 0.2, 0.3, 0.4]), np.nan).tolist()
        [[0.2], [0.1]]
        """
        del empty
        if column.dtype == np.bool_ and len(column) and (column == column[0]).all():
            # Usually no cell is leaked, and a broadcast constant takes no memory.
            return np.broadcast_to(column[0], (len(self.task), len(self.entrant)))
        block = column.reshape(-1, self.n_tasks)
        if not _is_everything(self.entrant, len(block)):
            block = block[self.entrant]
        if not _is_everything(self.task, self.n_tasks):
            block = block[:, self.task]
        return turned(block)


@dataclass(frozen=True)
class Pivot:
    """The rows of a board, several columns of which are pivoted."""

    scores: ScoreTable

    @cached_property
    def is_whole(self) -> bool:
        """Say whether the rows are every task of every entrant, once and in the order of both lists of words."""
        entrant, task = self.scores.entrant, self.scores.task
        shape = (len(entrant.words), len(task.words))
        if not len(self.scores) or len(self.scores) != shape[0] * shape[1]:
            return False
        by_entrant, by_task = entrant.codes.reshape(shape), task.codes.reshape(shape)
        return bool((by_entrant == np.arange(shape[0])[:, None]).all() and (by_task == np.arange(shape[1])).all())

    def used_tasks(self) -> set[str]:
        """Return the tasks that have a row."""
        return set(self.scores.task.words) if self.is_whole else _used(self.scores.task)

    def with_rows(self, tasks: Sequence[str]) -> tuple[str, ...]:
        """Return who has a row on any of some tasks, by name.

        An entrant without a row on any of them has not failed, it is on another board.
        Source: none; it selects rows.

        >>> from app.boards.example import rows
        >>> Pivot(rows({"A": [0.1, 0.2], "B": [0.3]})).with_rows(["b"])
        ('A',)
        """
        if self.is_whole:
            return tuple(sorted(self.scores.entrant.words)) if set(tasks) & set(self.scores.task.words) else ()
        return tuple(sorted(_used(self.scores.entrant.take(_among(self.scores.task, tasks) >= 0))))

    def places(self, tasks: Sequence[str], entrants: Sequence[str]) -> Places | WholePlaces:
        """Return where rows belong among some tasks and entrants; rows of other tasks are left out.

        Every entrant with a row on one of the tasks must be named.
        Source: none; it rearranges rows.

        >>> from app.boards.example import rows
        >>> scores = rows({"A": [0.1, 0.2], "B": [0.3]})
        >>> Pivot(scores).places(["b", "a"], ["A", "B"]).pivot(scores.value("error"), np.nan).tolist()
        [[0.2, nan], [0.1, 0.3]]
        """
        known = [set(self.scores.task.words), set(self.scores.entrant.words)]
        if self.is_whole and known[0].issuperset(tasks) and known[1].issuperset(entrants):
            at = [_positions(tasks, self.scores.task.words), _positions(entrants, self.scores.entrant.words)]
            return WholePlaces(len(self.scores.task.words), *at)
        task, entrant = _among(self.scores.task, tasks), _among(self.scores.entrant, entrants)
        rows = np.flatnonzero(task >= 0)
        return Places((len(tasks), len(entrants)), rows, task[rows], entrant[rows])


def _positions(names: Sequence[str], words: Sequence[str]) -> IntArray:
    at = {word: place for place, word in enumerate(words)}
    return np.array([at[name] for name in names], dtype=np.int64)


def _is_everything(at: IntArray, n_rows: int) -> bool:
    return len(at) == n_rows and bool((at == np.arange(n_rows)).all())


def _used(coded: Coded) -> set[str]:
    """Return the words that any row has."""
    # One place further: NONE is −1.
    used = np.flatnonzero(np.bincount(coded.codes + 1, minlength=len(coded.words) + 1)[1:])
    return {coded.words[code] for code in used.tolist()}


def _among(coded: Coded, names: Sequence[str]) -> IntArray:
    """Return each row's position among some names, -1 for any other name."""
    at = {name: position for position, name in enumerate(names)}
    return np.array([at.get(word, -1) for word in coded.words], dtype=np.int64)[coded.codes]
