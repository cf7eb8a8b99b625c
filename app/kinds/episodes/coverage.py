"""Episodes of one entrant compared with the grid: which count, how many are absent, and what they would come to.

Called by `app.kinds.episodes.measure`; pure.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from app.boards.coverage import NOTHING_ASKED, Coverage
from app.boards.measured import Held
from app.manifest.asked import Asked, Cells, ItemNames
from app.stats.arrays import BoolArray, IntArray
from app.values.scores import NONE, Coded, ScoreTable

T = TypeVar("T")


@dataclass(frozen=True)
class TaskCells:
    """The rows of one entrant in one task as cells of its grid.

    `n_rows` and `n_valued` are [n_conditions, n_seeds]; `rows` [n_rows of the table] says which are of the grid.
    `n_items` is asked of each condition and seed, `n_seeds` of each condition.
    """

    conditions: tuple[str | None, ...]
    seeds: tuple[int, ...]
    n_seeds: int
    n_items: int
    rows: BoolArray
    n_rows: IntArray
    n_valued: IntArray

    def coverage(self) -> Coverage:
        """Return how much of the task's grid is there; what is beyond a number that is asked for is counted apart."""
        n_attempted = len(self.conditions) * self.n_seeds * self.n_items
        n_delivered = min(n_attempted, int(np.minimum(self.n_rows, self.n_items).sum()))
        n_included = min(n_delivered, int(np.minimum(self.n_valued, self.n_items).sum()))
        too_many = int(np.maximum(self.n_rows - self.n_items, 0).sum()) + max(0, len(self.seeds) - self.n_seeds)
        return Coverage(n_attempted, n_included, n_attempted - n_delivered, n_delivered - n_included, n_over=too_many)

    def absent(self) -> Iterator[tuple[str | None, int, int]]:
        """Yield (condition, seed, how many rows are absent); a seed without any row gets a number of its own."""
        known = max(self.seeds, default=-1) + 1
        n_unseen = max(0, self.n_seeds - len(self.seeds))
        for at, condition in enumerate(self.conditions):
            for place, seed in enumerate(self.seeds):
                yield condition, seed, max(0, self.n_items - int(self.n_rows[at, place]))
            yield from ((condition, known + each, self.n_items) for each in range(n_unseen))


def task_cells(cells: Cells, scores: ScoreTable, of_task: BoolArray, metric: str) -> TaskCells | None:
    """Return the rows of a task as cells; None where the grid leaves open an axis that the rows have."""
    if scores.seed is None or cells.seeds is None or cells.items is None:
        return None
    if cells.conditions is None and scores.condition is not None:
        return None
    conditions: tuple[str | None, ...] = (None,) if scores.condition is None else cells.conditions or ()
    condition = _places(scores.condition, conditions, len(scores))
    rows = of_task & (condition != NONE) & _is_item(scores.item, cells.items, len(scores))
    named = isinstance(cells.seeds, tuple)
    seeds = tuple(cells.seeds) if isinstance(cells.seeds, tuple) else tuple(np.unique(scores.seed[rows]).tolist())
    rows &= np.isin(scores.seed, seeds)
    order = np.argsort(seeds)
    seed = order[np.searchsorted(np.array(seeds)[order], scores.seed[rows])] if rows.any() else np.zeros(0, np.int64)
    valued = ~np.isnan(scores.value(metric)[rows])
    shape = (len(conditions), len(seeds))
    return TaskCells(
        conditions=conditions,
        seeds=seeds,
        n_seeds=len(seeds) if named else int(cells.seeds),  # type: ignore[arg-type]
        n_items=len(cells.items) if isinstance(cells.items, tuple) else cells.items,
        rows=rows,
        n_rows=_table(condition[rows], seed, shape),
        n_valued=_table(condition[rows][valued], seed[valued], shape),
    )


def _table(condition: IntArray, seed: IntArray, shape: tuple[int, int]) -> IntArray:
    counts: IntArray = np.zeros(shape, dtype=np.int64)
    np.add.at(counts, (condition, seed), 1)
    return counts


def _places(column: Coded | None, words: Sequence[str | None], n_rows: int) -> IntArray:
    """Return the position in `words` of each row's word, NONE for another one; 0 for each without a column."""
    if column is None:
        return np.zeros(n_rows, dtype=np.int64)
    place = {word: at for at, word in enumerate(words)}
    table = np.array([*(place.get(word, NONE) for word in column.words), NONE], dtype=np.int64)
    places: IntArray = table[column.codes]
    return places


def _is_item(column: Coded | None, items: int | tuple[str, ...], n_rows: int) -> BoolArray:
    if isinstance(items, int) or column is None:
        return np.ones(n_rows, dtype=np.bool_)
    asked = items.known if isinstance(items, ItemNames) else set(items)
    table = np.array([*(word in asked for word in column.words), False], dtype=np.bool_)
    flags: BoolArray = table[column.codes]
    return flags


def of_task(scores: ScoreTable, task: str) -> BoolArray:
    """Return which rows [n_rows] are of a task."""
    words = scores.task.words
    rows: BoolArray = scores.task.codes == (words.index(task) if task in words else len(words))
    return rows


@dataclass(frozen=True)
class GridOfEntrant:
    """The grid of one entrant by task, and its coverage; without `cells` an axis is open and nothing is declared."""

    cells: Mapping[str, TaskCells]
    coverage: Coverage
    held: tuple[Held, ...] | None = None

    def rows(self, scores: ScoreTable) -> BoolArray:
        """Return which rows [n_rows] count: those of the grid, and all where none is declared."""
        if self.held is not None:
            return np.ones(len(scores), dtype=np.bool_)
        masks = [each.rows for each in self.cells.values()]
        return np.logical_or.reduce(masks) if masks else np.zeros(len(scores), dtype=np.bool_)


def with_absent(grid: GridOfEntrant, scores: ScoreTable) -> ScoreTable:
    """Return the scores with a row without any value for each cell of the grid that has none."""
    absent = [(task, *cell) for task, cells in grid.cells.items() for cell in cells.absent() if cell[-1]]
    n_each = np.array([n for *_, n in absent], dtype=np.int64)
    n_more = int(n_each.sum())
    if not n_more:
        return scores
    tasks = tuple(dict.fromkeys([*scores.task.words, *(task for task, *_ in absent)]))
    task = np.repeat([tasks.index(task) for task, *_ in absent], n_each)
    seed = np.repeat(np.array([seed for _, _, seed, _ in absent], dtype=np.int64), n_each)
    return replace(
        scores,
        entrant=_longer(scores.entrant, np.zeros(n_more, dtype=np.int64)),
        task=_longer(Coded(tasks, scores.task.codes), task),
        values=np.vstack([scores.values, np.full((n_more, len(scores.columns)), np.nan)]),
        leaked=np.concatenate([scores.leaked, np.zeros(n_more, dtype=np.bool_)]),
        file=np.concatenate([scores.file, np.zeros(n_more, dtype=np.int64)]),
        row=np.concatenate([scores.row, np.zeros(n_more, dtype=np.int64)]),
        condition=_with_conditions(scores.condition, [condition for _, condition, _, _ in absent], n_each),
        seed=None if scores.seed is None else np.concatenate([scores.seed, seed]),
        item=_with_nothing(scores.item, n_more),
        reason=_with_nothing(scores.reason, n_more),
        recorded={name: _longer(of, np.full(n_more, NONE)) for name, of in scores.recorded.items()},
    )


def _longer(column: Coded, codes: IntArray) -> Coded:
    return Coded(column.words, np.concatenate([column.codes, codes]))


def _with_nothing(column: Coded | None, n_more: int) -> Coded | None:
    return None if column is None else _longer(column, np.full(n_more, NONE))


def _with_conditions(column: Coded | None, conditions: Sequence[str | None], n_each: IntArray) -> Coded | None:
    if column is None:
        return None
    words = tuple(dict.fromkeys([*column.words, *(word for word in conditions if word is not None)]))
    codes = [NONE if word is None else words.index(word) for word in conditions]
    return _longer(Coded(words, column.codes), np.repeat(np.array(codes, dtype=np.int64), n_each))


def grid_of(asked: Asked, tasks: Sequence[str] | None, scores: ScoreTable, metric: str, entrant: str) -> GridOfEntrant:
    """Compare the rows of one entrant with what is asked of it; `tasks` are the board's, None where they are open."""
    cells_by_task = {} if tasks is None else {t: _cells_of(asked, t, scores, metric, entrant) for t in tasks}
    known = {task: cells for task, cells in cells_by_task.items() if cells is not None}
    if tasks is None or len(known) < len(cells_by_task):
        own = _own_coverage(scores, metric)
        own = own if asked.has_asked(entrant, [metric]) else _of_a_new_metric(own)
        return GridOfEntrant({}, own, tuple(_held(scores, metric)))
    covered = [cells.coverage() for cells in known.values()]
    if not asked.has_asked(entrant, [metric]):
        return GridOfEntrant(known, _of_a_new_metric(sum(covered, NOTHING_ASKED)))
    older = asked.facts.earlier.get(entrant, ())
    if older:
        covered = [_not_asked(asked, older[-1], task, scores, metric, entrant, c)
                   for task, c in zip(known, covered, strict=True)]  # fmt: skip
    return GridOfEntrant(known, sum(covered[1:], covered[0]) if covered else NOTHING_ASKED)


def counted_items(asked: Asked, tasks: Sequence[str], scores: ScoreTable, entrant: str) -> str:
    """Return a digest of the names of the items of an entrant, empty where the grid names them or there are none.

    A grid that only counts its items cannot say which they are: entrants with other items are compared all the same.
    """
    if scores.item is None or not any(isinstance(asked.cells_of(task, entrant).items, int) for task in tasks):
        return ""
    words, pairs = scores.item.words, np.unique(np.stack([scores.task.codes, scores.item.codes]), axis=1)
    names = sorted(f"{scores.task.words[task]}\n{words[item]}\n" for task, item in pairs.T.tolist() if item != NONE)
    return hashlib.blake2b("".join(names).encode(), digest_size=8).hexdigest()


def _cells_of(asked: Asked, task: str, scores: ScoreTable, metric: str, entrant: str) -> TaskCells | None:
    return task_cells(asked.cells_of(task, entrant), scores, of_task(scores, task), metric)


def _not_asked(
    asked: Asked, older: Asked, task: str, scores: ScoreTable, metric: str, entrant: str, now: Coverage
) -> Coverage:
    """Return a coverage in which only what the older grid asked too is absent."""
    if task not in (older.tasks or ()):
        return _less(now, now.n_absent)
    before = _common(asked.cells_of(task, entrant), older.cells_of(task, entrant))
    cells = task_cells(before, scores, of_task(scores, task), metric)
    return now if cells is None else _less(now, max(0, now.n_absent - cells.coverage().n_absent))


def _of_a_new_metric(now: Coverage) -> Coverage:
    """Return the coverage of an entrant that was admitted before there was a metric: no episode was asked for it."""
    return Coverage(now.n_included, now.n_included, n_not_asked=now.n_lacking, n_over=now.n_over)


def _less(now: Coverage, n_not_asked: int) -> Coverage:
    return replace(
        now, n_attempted=now.n_attempted - n_not_asked, n_absent=now.n_absent - n_not_asked, n_not_asked=n_not_asked
    )


def _common(now: Cells, before: Cells) -> Cells:
    conditions = None if now.conditions is None else _both(now.conditions, before.conditions or ())
    return Cells(_axis(now.seeds, before.seeds), conditions, _axis(now.items, before.items))


def _axis(now: int | tuple[T, ...] | None, before: int | tuple[T, ...] | None) -> int | tuple[T, ...] | None:
    """Return what two versions of an axis ask in common; of names and a number, what is asked now."""
    if isinstance(now, tuple) and isinstance(before, tuple):
        return _both(now, before)
    return min(now, before) if isinstance(now, int) and isinstance(before, int) else now


def _both(now: tuple[T, ...], before: tuple[T, ...]) -> tuple[T, ...]:
    known = set(before)
    return tuple(each for each in now if each in known)


def _own_coverage(scores: ScoreTable, metric: str) -> Coverage:
    n_included = int((~np.isnan(scores.value(metric))).sum())
    return Coverage(len(scores), n_included, n_failed=len(scores) - n_included)


def _held(scores: ScoreTable, metric: str) -> Iterator[Held]:
    """Yield how many episodes with a value there are in each task and condition, in an average seed."""
    n_seeds = 1 if scores.seed is None else max(1, len(np.unique(scores.seed)))
    valued = ~np.isnan(scores.value(metric))
    condition = np.zeros(len(scores), dtype=np.int64) if scores.condition is None else scores.condition.codes
    pairs, counts = np.unique(np.stack([scores.task.codes, condition])[:, valued], axis=1, return_counts=True)
    for (task, code), n in zip(pairs.T.tolist(), counts.tolist(), strict=True):
        word = "" if scores.condition is None or code == NONE else scores.condition.words[code]
        yield scores.task.words[task], word, n // n_seeds
