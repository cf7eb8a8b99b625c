"""Episodes of one entrant compared with the grid: which count, how many are absent, what a claim rests on."""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from app.boards.coverage import NOTHING_ASKED, Coverage, with_worst
from app.boards.measured import Bounds, EntrantEvidence, Held
from app.boards.methods.estimate import EstimateBoard
from app.manifest.model import GridCells, ItemNames, Manifest, RequiredGrid
from app.stats.arrays import BoolArray, IntArray
from app.stats.cluster import Aggregate, interquartile_mean, mean
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
        """Return how much of the task's grid is there; seeds and items beyond those required count apart."""
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


@dataclass(frozen=True)
class GridOfEntrant:
    """The grid of one entrant by task, and its coverage; without `cells` an axis is open and nothing is declared."""

    cells: Mapping[str, TaskCells]
    coverage: Coverage
    held: tuple[Held, ...] | None = None

    def rows(self, scores: ScoreTable) -> BoolArray:
        """Return which rows [n_rows] count: those of the grid, or all if none is declared."""
        if self.held is not None:
            return np.ones(len(scores), dtype=np.bool_)
        masks = [each.rows for each in self.cells.values()]
        return np.logical_or.reduce(masks) if masks else np.zeros(len(scores), dtype=np.bool_)


def with_absent(grid: GridOfEntrant, scores: ScoreTable) -> ScoreTable:
    """Return the scores with an empty row added for each cell of the grid without one."""
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


def grid_of(
    asked: RequiredGrid, tasks: Sequence[str] | None, scores: ScoreTable, metric: str, entrant: str
) -> GridOfEntrant:
    """Compare the rows of one entrant with what is asked of it; `tasks` are the board's, None where they are open."""
    older = asked.facts.earlier.get(entrant, ())
    cells_by_task = {} if tasks is None else {t: _cells_of(asked, older, t, scores, metric, entrant) for t in tasks}
    known = {task: cells for task, cells in cells_by_task.items() if cells is not None}
    if tasks is None or len(known) < len(cells_by_task):
        own = _own_coverage(scores, metric)
        own = own if asked.has_asked(entrant, [metric]) else _of_a_new_metric(own)
        return GridOfEntrant({}, own, tuple(_held(scores, metric)))
    covered = [cells.coverage() for cells in known.values()]
    if not asked.has_asked(entrant, [metric]):
        return GridOfEntrant(known, _of_a_new_metric(sum(covered, NOTHING_ASKED)))
    if older:
        covered = [_fewer_chosen(asked, known[task], _not_asked(asked, older[-1], task, scores, metric, entrant, c))
                   for task, c in zip(known, covered, strict=True)]  # fmt: skip
    return GridOfEntrant(known, sum(covered[1:], covered[0]) if covered else NOTHING_ASKED)


def counted_items(asked: RequiredGrid, tasks: Sequence[str], scores: ScoreTable, entrant: str) -> str:
    """Return a digest of the names of the items of an entrant, empty where the grid names them or there are none.

    A grid that only counts its items does not say which they are: entrants with other items are still compared.
    """
    if scores.item is None or not any(isinstance(asked.cells_of(task, entrant).items, int) for task in tasks):
        return ""
    return _digest(scores.task, scores.item, np.unique(_pairs(scores.task, scores.item)))


def open_items(scores: ScoreTable, tasks: Sequence[str]) -> str:
    """Return a digest of the names of an entrant's items in some tasks, where no grid declares items.

    Empty where there are none, and where a name depends on the seed, as that of an initial state does: entrants may
    choose their own seeds there.
    """
    if scores.item is None:
        return ""
    rows = np.isin(scores.task.codes, [at for at, task in enumerate(scores.task.words) if task in tasks])
    pairs = _pairs(scores.task, scores.item)[rows]
    names = np.unique(pairs)
    if scores.seed is not None:
        seeds, seed = np.unique(scores.seed[rows], return_inverse=True)
        if len(np.unique(pairs * len(seeds) + seed)) != len(names) * len(seeds):
            return ""
    return _digest(scores.task, scores.item, names)


def _pairs(task: Coded, item: Coded) -> IntArray:
    """Return one number for each row's task and item, [n_rows]."""
    return task.codes.astype(np.int64) * (len(item.words) + 1) + item.codes + 1


def _digest(task: Coded, item: Coded, pairs: IntArray) -> str:
    named = zip(*(each.tolist() for each in np.divmod(pairs, len(item.words) + 1)), strict=True)
    names = sorted(f"{task.words[at]}\n{item.words[place - 1]}\n" for at, place in named if place)
    return hashlib.blake2b("".join(names).encode(), digest_size=8).hexdigest()


def _cells_of(
    asked: RequiredGrid, older: Sequence[RequiredGrid], task: str, scores: ScoreTable, metric: str, entrant: str
) -> TaskCells | None:
    cells = asked.cells_of(task, entrant)
    if older:
        cells = _as_if_chosen(asked, cells, older[-1].cells_of(task, entrant))
    return task_cells(cells, scores, of_task(scores, task), metric)


def _as_if_chosen(asked: RequiredGrid, cells: GridCells, before: GridCells) -> GridCells:
    """Return the cells of whoever came before an axis was left to registrations: what was asked then, or nothing."""
    if cells.seeds is None and asked.fewest("seeds"):
        cells = replace(cells, seeds=() if before.seeds is None else before.seeds)
    if cells.conditions is None and asked.fewest("conditions"):
        cells = replace(cells, conditions=before.conditions or ())
    return cells


def _not_asked(
    asked: RequiredGrid, older: RequiredGrid, task: str, scores: ScoreTable, metric: str, entrant: str, now: Coverage
) -> Coverage:
    """Return a coverage in which only cells that the older grid asked for, too, are absent."""
    if task not in (older.tasks or ()):
        return _less(now, now.n_absent)
    before = _common(asked.cells_of(task, entrant), older.cells_of(task, entrant))
    cells = task_cells(before, scores, of_task(scores, task), metric)
    return now if cells is None else _less(now, max(0, now.n_absent - cells.coverage().n_absent))


def _fewer_chosen(asked: RequiredGrid, cells: TaskCells, now: Coverage) -> Coverage:
    """Return a coverage with what registrations must choose by now, and this one had not to, as not asked."""
    n_conditions = len(cells.conditions)
    n_asked = max(cells.n_seeds, asked.fewest("seeds")) * max(n_conditions, asked.fewest("conditions"))
    return replace(now, n_not_asked=now.n_not_asked + (n_asked - cells.n_seeds * n_conditions) * cells.n_items)


def _of_a_new_metric(now: Coverage) -> Coverage:
    """Return the coverage of an entrant admitted before the metric was what it is: no episode was asked for it."""
    return Coverage(0, 0, n_not_asked=now.n_lacking + now.n_included, n_over=now.n_over)


def _less(now: Coverage, n_not_asked: int) -> Coverage:
    return replace(
        now, n_attempted=now.n_attempted - n_not_asked, n_absent=now.n_absent - n_not_asked, n_not_asked=n_not_asked
    )


def _common(now: GridCells, before: GridCells) -> GridCells:
    conditions = None if now.conditions is None else _both(now.conditions, before.conditions or ())
    return GridCells(common_axis(now.seeds, before.seeds), conditions, _items(now.items, before.items))


def _items(now: int | tuple[str, ...] | None, before: int | tuple[str, ...] | None) -> int | tuple[str, ...] | None:
    """Return the items that two versions ask in common, looked up once for all entrants."""
    if isinstance(now, ItemNames) and isinstance(before, ItemNames):
        return now.common(before)
    return common_axis(now, before)


def common_axis(now: int | tuple[T, ...] | None, before: int | tuple[T, ...] | None) -> int | tuple[T, ...] | None:
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


# Which of an entrant's episodes count under the benchmark's grid, and the bounds of its score given what is missing.

MOST_CELLS = 10_000_000
"""In a larger grid absent cells are not filled with the worst value: incomplete entrants have no rank there."""

AGGREGATES: Mapping[str, Aggregate] = {"iqm": interquartile_mean, "mean": mean}


@dataclass(frozen=True)
class HeldAgainstGrid:
    """The episodes of an entrant: `delivered` are its rows in the grid, `counted` includes filled ones."""

    manifest: Manifest
    spec: EstimateBoard
    entrant: str
    tasks: Sequence[str]
    grid: GridOfEntrant
    delivered: ScoreTable
    counted: ScoreTable

    @property
    def coverage(self) -> Coverage:
        """Return how much of the grid is there."""
        is_filled = _is_filled(self.manifest, self.grid) and not self.grid.coverage.n_not_asked
        return replace(self.grid.coverage, is_filled=is_filled)

    def items(self) -> str:
        """Return a digest of the names of the items, empty where the grid itself names them."""
        if self.grid.held is not None:
            return open_items(self.delivered, self.tasks)
        return counted_items(self.manifest.asked, self.tasks, self.delivered, self.entrant)

    def bounds(self) -> Bounds | None:
        """Return the ranking score if missing values were the worst and the best; None where none is missing."""
        if self.grid.held is not None or not self.grid.coverage.n_lacking + self.grid.coverage.n_not_asked:
            return None
        metric = self.manifest.metrics[self.spec.ranked]
        return self._score(metric.worst), self._score(metric.best)

    def _score(self, missing: float | None) -> float | None:
        """Return the score with a value for everything missing, by counting: a grid may be larger than any table."""
        if missing is None:
            return None
        values = self.delivered.value(self.spec.ranked)
        aggregate = AGGREGATES[self.spec.statistic_of(self.spec.ranked, self.manifest.metrics[self.spec.ranked])]
        parts, weights = [], []
        for task in self.tasks:
            own = values[of_task(self.delivered, task)]
            n_missing = int(np.isnan(own).sum()) + sum(n for *_, n in self.grid.cells[task].absent())
            if len(own) or n_missing:
                known, counts = np.unique(own[~np.isnan(own)], return_counts=True)
                distinct, place = np.unique(np.append(known, missing), return_inverse=True)
                n_each = np.bincount(place, np.append(counts, n_missing)).astype(np.float64)
                parts.append(float(aggregate(distinct[n_each > 0], n_each[None, n_each > 0])[0]))
                weights.append(1.0 if self.spec.composite is None else self.spec.composite.weights[task])
        return float(np.average(parts, weights=weights)) if parts else None


def hold_against_grid(manifest: Manifest, spec: EstimateBoard, evidence: EntrantEvidence) -> HeldAgainstGrid:
    """Compare one entrant's episodes with the grid of a board."""
    scores = evidence.scores
    tasks = spec.tasks or manifest.task_ids()
    tasks = tasks if spec.composite is None else list(spec.composite.weights)
    grid = grid_of(manifest.asked, tasks, scores, spec.ranked, evidence.entrant)
    rows = grid.rows(scores)
    delivered = scores if rows.all() else scores.take(rows)
    return HeldAgainstGrid(
        manifest=manifest,
        spec=spec,
        entrant=evidence.entrant,
        tasks=tuple(tasks or scores.task.words),
        grid=grid,
        delivered=delivered,
        counted=with_absent(grid, delivered) if _is_filled(manifest, grid) else delivered,
    )


def counted_rows(manifest: Manifest, spec: EstimateBoard, evidence: EntrantEvidence) -> ScoreTable:
    """Return the episodes of one entrant as a board counts them, with the worst value for missing ones if it does."""
    return with_worst(manifest, hold_against_grid(manifest, spec, evidence).counted)


def _is_filled(manifest: Manifest, grid: GridOfEntrant) -> bool:
    """Say whether absent cells count as the worst value."""
    return grid.held is None and manifest.absent == "worst" and grid.coverage.n_attempted <= MOST_CELLS


# The coverage behind a claim: otherwise leaving out contrary evidence would make a claim supported.


def delivered(
    manifest: Manifest, scores: ScoreTable, entrant: str, metric: str, conditions: Collection[str], *, by_task: bool
) -> Coverage | None:
    """Return the coverage of the grid in a metric and in some conditions (empty: all).

    None where an axis is open, so that nobody knows. `by_task`: each task is a run of its own, and counts where it has
    rows.
    """
    rows = scores.take(scores.entrant.codes == scores.entrant.words.index(entrant))
    own = replace(rows, entrant=Coded((entrant,), np.zeros(len(rows), dtype=np.int64)))
    present = {own.task.words[code] for code in np.unique(own.task.codes).tolist()}
    tasks = [task for task in manifest.task_ids() or () if task in present or not by_task]
    grid = grid_of(manifest.asked, tasks if manifest.task_ids() is not None else None, own, metric, entrant)
    if grid.held is not None:
        return None
    return sum((_in_conditions(cells, conditions) for cells in grid.cells.values()), NOTHING_ASKED)


def _in_conditions(cells: TaskCells, conditions: Collection[str]) -> Coverage:
    if not conditions or None in cells.conditions:
        return cells.coverage()
    kept = [at for at, name in enumerate(cells.conditions) if name in conditions]
    names = tuple(cells.conditions[at] for at in kept)
    return replace(cells, conditions=names, n_rows=cells.n_rows[kept], n_valued=cells.n_valued[kept]).coverage()


# The rows of one entrant in one task as cells of the benchmark's grid: which conditions, seeds and items have them.


def task_cells(cells: GridCells, scores: ScoreTable, of_task: BoolArray, metric: str) -> TaskCells | None:
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
