"""CellMatrix: one metric as tasks × entrants, the shape from which boards of summaries are computed."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from app.boards.coverage import Coverage, Roster, are_common, call_roster
from app.errors import BoardUnavailable, Unavailable
from app.manifest.model import Leaderboard, Manifest, OpenTasks, RequiredGrid, Task
from app.names import names_in_words
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.stats.compiled import transposed
from app.values.scores import Coded, ScoreTable

AT_ONCE = 256
"""Entrants transposed at a time, because all of a large board would take a lot of memory."""


@dataclass(frozen=True)
class CellMatrix:
    """The pivoted rows of one board; NaN is a cell without a value. Arrays are [n_tasks, n_entrants].

    `elsewhere` holds the entrants with rows, but none on the board's tasks. `uncommon` holds the tasks of an open list
    that the board leaves out, because too few of the owners have them (`app.boards.coverage`), `unseen` those of a
    closed list that nobody has a value for, and `without_baseline` those that somebody has, but not the baseline.
    """

    tasks: tuple[str, ...]
    entrants: tuple[str, ...]
    values: FloatArray
    leaked: BoolArray
    present: BoolArray
    elsewhere: tuple[str, ...] = ()
    uncommon: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    without_baseline: tuple[str, ...] = ()

    def notes(self) -> Iterator[str]:
        """Yield who has rows on no task of the board, and so failed at none, and which tasks it leaves out."""
        if self.elsewhere:
            yield f"Not on this board, without a row on the tasks that it counts: {names_in_words(self.elsewhere)}."
        if self.uncommon:
            why = "fewer than half of the submitters have them, or of those who came first"
            yield f"Left out, because {why}: {names_in_words(self.uncommon)}."
        if self.unseen:
            yield f"Declared, and without a result of anybody on this board: {names_in_words(self.unseen)}."
        if self.without_baseline:
            yield f"Left out, because the baseline has no result there: {names_in_words(self.without_baseline)}."

    def without_common_task(self, failed: BoolArray, needed: Sequence[str]) -> list[str]:
        """Return the entrants with the most gaps that must be removed for the others to have a task in common.

        All that have as many of the `failed` [n_tasks, n_entrants], whatever they are called, but for those that are
        `needed`. Empty where no number of gaps makes the difference.
        """
        is_free = ~np.isin(self.entrants, list(needed))
        n_gaps = failed.sum(axis=0)
        for most in np.unique(n_gaps)[:0:-1].tolist():
            gone = (n_gaps >= most) & is_free
            if (~failed[:, ~gone].any(axis=1)).any():
                return [self.entrants[at] for at in np.flatnonzero(gone).tolist()]
        return []

    def only(self, entrants: Sequence[str]) -> "CellMatrix":
        """Return the matrix of some entrants, in the given order."""
        if tuple(entrants) == self.entrants:
            return self
        at = [self.column(name) for name in entrants]
        values, leaked, present = self.values[:, at], self.leaked[:, at], self.present[:, at]
        return replace(self, entrants=tuple(entrants), values=values, leaked=leaked, present=present)

    def without_leaks(self, values: FloatArray, model: str | None) -> FloatArray:
        """Return values [n_tasks, n_entrants], those of the leakage model where an entrant has seen the data.

        The unit is unchanged; NaN is a failure, and replaces like any other value, as does what a model without rows
        would have. Nothing is replaced where the board names no model. Source: fev 0.10, `leakage_imputation_model`.

        >>> leaked = np.array([[True, False]])
        >>> cells = CellMatrix(("a",), ("A", "B"), np.zeros((1, 2)), leaked, np.ones((1, 2), dtype=np.bool_))
        >>> cells.without_leaks(np.array([[0.1, 0.3]]), "B").tolist(), cells.without_leaks(cells.values, None).tolist()
        ([[0.3, 0.3]], [[0.0, 0.0]])
        """
        if model is None:
            return values
        instead = values[:, [self.column(model)]] if model in self.entrants else np.nan
        return np.where(self.leaked, instead, values)

    def with_results_of(self, baseline: str) -> "CellMatrix":
        """Return the matrix without the tasks on which an entrant has no result, and who then has no row on it.

        Everybody's errors are relative to that entrant's, so that nobody has one there. Raises KeyError for one that is
        not on the board. Source: our rule, docs/statistics.md; fev 0.10 raises where its baseline has a gap.

        >>> cells = CellMatrix(("a", "b"), ("A", "B"), np.array([[0.2, 0.1], [np.nan, 0.3]]), *np.ones((2, 2, 2)) > 0)
        >>> left = cells.with_results_of("A")
        >>> left.tasks, left.values.tolist(), left.without_baseline
        (('a',), [[0.2, 0.1]], ('b',))
        """
        has = ~np.isnan(self.values[:, self.column(baseline)])
        if has.all():
            return self
        on_it = np.flatnonzero(self.present[has].any(axis=0))
        gone, there = ([self.tasks[at] for at in np.flatnonzero(each).tolist()] for each in (~has, has))
        kept = np.ix_(has, on_it)
        return replace(
            self,
            tasks=tuple(there),
            entrants=tuple(self.entrants[at] for at in on_it.tolist()),
            values=self.values[kept],
            leaked=self.leaked[kept],
            present=self.present[kept],
            elsewhere=tuple(sorted({*self.elsewhere, *self.entrants} - {self.entrants[at] for at in on_it.tolist()})),
            without_baseline=tuple(gone),
        )

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
    Raises BoardUnavailable without rows on the board's tasks, and without any value where what is absent counts.
    Source: none; it rearranges rows.

    >>> from app.boards.example import benchmark, rows
    >>> board = Leaderboard(name="main", method="mean", uncertainty={"n_resamples": 100})
    >>> build_cells(benchmark(board), board, rows({"A": [0.1, 0.2], "B": [0.3]}), "error").values.tolist()
    [[0.1, 0.3], [0.2, nan]]
    """
    rows = Pivot(scores)
    declared = manifest.task_ids() if spec.tasks is None else spec.tasks
    known = scores.task.words if declared is None else declared
    # As in fev's pivot table, a task without any result is left out: it is missing for everybody alike. Else a row
    # without a value would make a task of the board on which all others tie. Where nobody has any, all are listed who
    # failed, or were not asked; where a gap counts as something, that would make each of them the first.
    counts = manifest.absent == "worst" or spec.ranks_gaps()
    used = rows.with_value(metric) or (set() if counts else rows.used_tasks())
    tasks = _in_order(manifest, spec, [task for task in known if task in used])
    if not len(scores):
        raise BoardUnavailable(Unavailable.NO_SUBMISSION, "No submission has been admitted yet.")
    if not tasks:
        raise BoardUnavailable(Unavailable.NO_ROWS, "None of the board's tasks has a result yet.")
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
        unseen=() if declared is None else tuple(sorted(set(known) - used)),
    )


# Rows of scores as tasks × entrants.
#
# Usually every entrant has every task once, in the order of both: then pivoting is a mere reshape.

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True)
class ArrayPlaces:
    """Where rows belong in an array [n_tasks, n_entrants]: each of `rows` has a task and an entrant."""

    shape: tuple[int, int]
    rows: IntArray
    task: IntArray
    entrant: IntArray

    def pivot(self, column: NDArray[T], empty: Any) -> NDArray[T]:
        """Return a column of the rows as a square, [n_tasks, n_entrants], with `empty` where there is no row.

        Source: none; it rearranges rows.

        >>> one = np.array([0])
        >>> ArrayPlaces((1, 2), one, one, one).pivot(np.array([0.5]), np.nan).tolist()
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
        return transposed(block)


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

    def with_value(self, metric: str) -> set[str]:
        """Return the tasks on which anybody has a value of a metric."""
        has = ~np.isnan(self.scores.value(metric))
        return self.used_tasks() if has.all() else _used(self.scores.task.take(has))

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

    def places(self, tasks: Sequence[str], entrants: Sequence[str]) -> ArrayPlaces | WholePlaces:
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
        return ArrayPlaces((len(tasks), len(entrants)), rows, task[rows], entrant[rows])


def _uncommon(manifest: Manifest, spec: Leaderboard, rows: Pivot, tasks: Sequence[str], metric: str) -> frozenset[str]:
    """Return the tasks that are left out: where the list is open, those that no board without a grid is about."""
    if manifest.task_ids() is not None or spec.tasks is not None:
        return frozenset()
    entrants, is_there = rows.scores.entrant.words, ~np.isnan(rows.scores.value(metric))
    if rows.is_whole and is_there.all():
        return frozenset()
    has = rows.places(tasks, entrants).pivot(is_there, empty=False)
    known = np.flatnonzero(has.any(axis=0))
    if not len(known):
        return frozenset()
    common = are_common(has[:, known].T, manifest.asked.facts.arrivals_of([entrants[at] for at in known.tolist()]))
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


def _in_order(manifest: Manifest, spec: Leaderboard, tasks: Sequence[str]) -> tuple[str, ...]:
    return fev_order(manifest, tasks) if spec.uncertainty.stream == "fev" else tuple(sorted(tasks))


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


# Coverage of boards whose cells are tasks: for which tasks of the grid each entrant has a value.


def task_roster(manifest: Manifest, spec: Leaderboard, cells: CellMatrix, missing: BoolArray) -> Roster:
    """Return who is ranked; `missing` [n_tasks, n_entrants] says which cells have no value.

    The grid is the closed list of tasks, of the board or the manifest; where tasks are open, None, those of the cells.
    Tasks of the grid that nobody has are absent for everybody; where the worst value stands for what is absent, or
    scores are relative to an entrant's, they are left out, as of the cells.
    Source: `app.boards.coverage.call_roster`.

    >>> from app.boards.cells import build_cells
    >>> from app.boards.example import benchmark, rows
    >>> board = Leaderboard(name="main", method="mean", uncertainty={"n_resamples": 100})
    >>> cells = build_cells(benchmark(board), board, rows({"A": [0.1, 0.2, 0.3], "B": [0.3]}), "error")
    >>> task_roster(benchmark(board), board, cells, np.isnan(cells.values)).apart
    ('B',)
    """
    declared = spec.tasks or manifest.task_ids()
    asked, ranking, is_filled = manifest.asked, spec.required_metrics(), manifest.absent == "worst"
    wanted = cells.tasks if declared is None or is_filled or spec.relative_to() is not None else declared
    counted = _count(cells, wanted, missing)
    earlier, is_counted = asked.facts.earlier, spec.imputes() and not is_filled
    coverages = {
        name: _cover(wanted, counted, at, earlier.get(name, ()), is_filled=is_filled, is_counted=is_counted)
        if asked.has_asked(name, ranking)
        else Coverage(0, 0, n_not_asked=len(wanted))
        for at, name in enumerate(cells.entrants)
    }
    return call_roster(coverages, is_declared=declared is not None)


def not_asked_among(manifest: Manifest, spec: Leaderboard, cells: CellMatrix, missing: BoolArray) -> IntArray:
    """Return how many of the missing cells [n_tasks, n_entrants] were not asked of each entrant, [n_entrants].

    As `task_roster` has it, but of tasks that somebody has a row for, no others: these alone are in `missing`, as NaN.
    Source: none; it counts.

    >>> from app.boards.cells import build_cells
    >>> from app.boards.example import benchmark, rows
    >>> board = Leaderboard(name="main", method="mean", uncertainty={"n_resamples": 100})
    >>> cells = build_cells(benchmark(board), board, rows({"A": [0.1, 0.2, 0.3], "B": [0.3]}), "error")
    >>> not_asked_among(benchmark(board), board, cells, np.isnan(cells.values)).tolist()
    [0, 0]
    """
    counts, asked = np.zeros(len(cells.entrants), dtype=np.int64), manifest.asked
    for at, name in enumerate(cells.entrants):
        if earlier := asked.facts.earlier.get(name, ()):
            was_asked = _were_asked(earlier) if asked.has_asked(name, spec.required_metrics()) else ()
            is_new = np.array([task not in was_asked for task in cells.tasks])
            counts[at] = int((missing[:, at] & ~cells.present[:, at] & is_new).sum())
    return counts


def _were_asked(earlier: Sequence[RequiredGrid]) -> set[str]:
    """Return the tasks of any of the grids of before."""
    return {task for grid in earlier for task in grid.tasks or ()}


@dataclass(frozen=True)
class _TaskCounts:
    """Which of the wanted tasks each entrant has a value for, and which it failed: each [n_wanted, n_entrants]."""

    included: BoolArray
    failed: BoolArray

    @cached_property
    def n_included(self) -> list[int]:
        """Return how many tasks each entrant has a value for."""
        return [int(n) for n in self.included.sum(axis=0).tolist()]

    @cached_property
    def n_failed(self) -> list[int]:
        """Return how many tasks each entrant failed."""
        return [int(n) for n in self.failed.sum(axis=0).tolist()]

    @cached_property
    def n_absent(self) -> list[int]:
        """Return how many tasks each entrant has no row for."""
        return [int(n) for n in (~(self.included | self.failed)).sum(axis=0).tolist()]


def _count(cells: CellMatrix, wanted: Sequence[str], missing: BoolArray) -> _TaskCounts:
    place = {task: at for at, task in enumerate(cells.tasks)}
    at = np.array([place.get(task, -1) for task in wanted], dtype=np.int64)
    has_rows = (at >= 0)[:, None]
    return _TaskCounts(has_rows & ~missing[at], has_rows & missing[at] & cells.present[at])


def _cover(
    wanted: Sequence[str],
    counted: _TaskCounts,
    at: int,
    earlier: Sequence[RequiredGrid],
    *,
    is_filled: bool,
    is_counted: bool,
) -> Coverage:
    not_asked = 0
    if earlier:
        absent = ~(counted.included[:, at] | counted.failed[:, at])
        was_asked = _were_asked(earlier)
        not_asked = sum(wanted[place] not in was_asked for place in np.flatnonzero(absent).tolist())
    return Coverage(
        n_attempted=len(wanted) - not_asked,
        n_included=counted.n_included[at],
        n_absent=counted.n_absent[at] - not_asked,
        n_failed=counted.n_failed[at],
        n_not_asked=not_asked,
        is_filled=is_filled and not not_asked,
        is_counted=is_counted and not not_asked,
    )


def filled(values: FloatArray, value: float | None) -> FloatArray:
    """Return values of any shape and in their own units with what is missing, NaN, replaced; None leaves it missing.

    Source: none; it replaces NaN.

    >>> filled(np.array([0.1, np.nan]), 1.0).tolist()
    [0.1, 1.0]
    """
    return values if value is None else np.where(np.isnan(values), value, values)


# The order of tasks in fev's pivot table, which decides what its resampled indices mean.

TASK_COLUMNS = (
    "dataset_path", "dataset_config", "horizon", "initial_cutoff", "min_context_length", "max_context_length",
    "seasonality", "eval_metric", "extra_metrics", "quantile_levels", "id_column", "timestamp_column", "target",
    "generate_univariate_targets_from", "known_dynamic_columns", "past_dynamic_columns", "static_columns",
)  # fmt: skip

NUMERIC = frozenset({"horizon", "min_context_length", "max_context_length", "seasonality"})


def fev_order(manifest: Manifest, tasks: Sequence[str]) -> tuple[str, ...]:
    """Return the tasks sorted by fev's 17 task columns: integers numeric, text by codepoint, missing first.

    Source: fev 0.10, the index of `pivot_table` over its task columns.

    >>> from app.boards.example import benchmark
    >>> from app.manifest.model import Leaderboard
    >>> board = Leaderboard(name="main", method="mean", uncertainty={"n_resamples": 100})
    >>> fev_order(benchmark(board), ["b", "a"])
    ('a', 'b')
    """
    declared: Sequence[Task] = () if isinstance(manifest.tasks, OpenTasks) else manifest.tasks
    keys = {task.id: _key(task) for task in declared}
    return tuple(sorted(tasks, key=lambda task: (keys.get(task, ()), task)))


def _key(task: Task) -> tuple[tuple[bool, Any], ...]:
    return tuple(_part(column, task.where.get(column)) for column in TASK_COLUMNS)


def _part(column: str, value: Any) -> tuple[bool, Any]:
    if value is None:
        return (False, None)
    return (True, value if column in NUMERIC or isinstance(value, str) else json.dumps(value))
