"""The rows of one entrant in one task as cells of the benchmark's grid: which conditions, seeds and items have them.

Called by `.coverage`, `.grid` and `.grid_rules`; pure.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from app.boards.coverage import Coverage
from app.manifest.asked import Cells, ItemNames
from app.stats.arrays import BoolArray, IntArray
from app.values.scores import NONE, Coded, ScoreTable


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
