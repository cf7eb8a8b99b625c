"""Episodes of one entrant compared with the grid: which count, and how many are absent.

Called by `.grid`; pure.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from app.boards.coverage import NOTHING_ASKED, Coverage
from app.boards.measured import Held
from app.kinds.episodes.task_cells import TaskCells, of_task, task_cells
from app.manifest.asked import Asked, Cells, ItemNames
from app.stats.arrays import BoolArray, IntArray
from app.values.scores import NONE, Coded, ScoreTable

T = TypeVar("T")


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


def grid_of(asked: Asked, tasks: Sequence[str] | None, scores: ScoreTable, metric: str, entrant: str) -> GridOfEntrant:
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


def counted_items(asked: Asked, tasks: Sequence[str], scores: ScoreTable, entrant: str) -> str:
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
    asked: Asked, older: Sequence[Asked], task: str, scores: ScoreTable, metric: str, entrant: str
) -> TaskCells | None:
    cells = asked.cells_of(task, entrant)
    if older:
        cells = _as_if_chosen(asked, cells, older[-1].cells_of(task, entrant))
    return task_cells(cells, scores, of_task(scores, task), metric)


def _as_if_chosen(asked: Asked, cells: Cells, before: Cells) -> Cells:
    """Return the cells of whoever came before an axis was left to registrations: what was asked then, or nothing."""
    if cells.seeds is None and asked.fewest("seeds"):
        cells = replace(cells, seeds=() if before.seeds is None else before.seeds)
    if cells.conditions is None and asked.fewest("conditions"):
        cells = replace(cells, conditions=before.conditions or ())
    return cells


def _not_asked(
    asked: Asked, older: Asked, task: str, scores: ScoreTable, metric: str, entrant: str, now: Coverage
) -> Coverage:
    """Return a coverage in which only cells that the older grid asked for, too, are absent."""
    if task not in (older.tasks or ()):
        return _less(now, now.n_absent)
    before = _common(asked.cells_of(task, entrant), older.cells_of(task, entrant))
    cells = task_cells(before, scores, of_task(scores, task), metric)
    return now if cells is None else _less(now, max(0, now.n_absent - cells.coverage().n_absent))


def _fewer_chosen(asked: Asked, cells: TaskCells, now: Coverage) -> Coverage:
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


def _common(now: Cells, before: Cells) -> Cells:
    conditions = None if now.conditions is None else _both(now.conditions, before.conditions or ())
    return Cells(_axis(now.seeds, before.seeds), conditions, _items(now.items, before.items))


def _items(now: int | tuple[str, ...] | None, before: int | tuple[str, ...] | None) -> int | tuple[str, ...] | None:
    """Return the items that two versions ask in common, looked up once for all entrants."""
    if isinstance(now, ItemNames) and isinstance(before, ItemNames):
        return now.common(before)
    return _axis(now, before)


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
