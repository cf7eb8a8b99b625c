"""Arranges predictions in the order of their labels, one block per entrant and task; finds repeated and unknown items.

Called by `app.kinds.predictions.read` when every file has been read. Rows are sorted once and then looked up all at
once.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.errors import Problem, TooLarge
from app.files.blocks import Texts
from app.files.findings import Findings
from app.files.vocabulary import local_codes
from app.kinds.predictions.label_cells import LabelCells
from app.kinds.predictions.labels import first_with_the_same
from app.kinds.predictions.names import ITEM, TASK
from app.names import clip_for_message
from app.stats.arrays import FloatArray, IntArray
from app.values.predictions import Labels, PredictionBlock
from app.values.scores import NONE

MAX_VALUES = 20_000_000
MAX_BLOCKS = 10_000
_NO_ROWS: IntArray = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Rows:
    """Every row of a submission; `entrant` and `task` are numbers of the words."""

    entrants: Sequence[str]
    tasks: Sequence[str]
    item: Texts
    entrant: IntArray
    task: IntArray
    values: FloatArray
    file: IntArray
    row: IntArray
    labels: LabelCells | None = None


@dataclass(frozen=True)
class Matched:
    """The predictions of one entrant for one task, the first row that holds one, and how many items have none."""

    block: PredictionBlock
    first: int
    n_missing: int


class Matching:
    """The rows of one submission on their way to blocks."""

    def __init__(self, rows: Rows, files: Mapping[int, str], findings: Findings) -> None:
        self._rows = rows
        self._files = files
        self._findings = findings

    def with_labels(self, labels: Mapping[str, Labels], *, may_lack: bool) -> Iterator[Matched]:
        """Yield blocks in the order of the labels' items; items without a prediction are NaN. Raises TooLarge.

        An entrant that may lack items has a block for every task, also for one of which it has no row.
        """
        n_columns = self._rows.values.shape[1]
        runs = [*self._runs, *(self._absent(labels) if may_lack else ())]
        if sum(len(labels[self._rows.tasks[task]]) for _, task, _ in runs) * n_columns > MAX_VALUES:
            raise TooLarge(f"The labels ask for more than {MAX_VALUES:,} numbers of this submission.")
        known: tuple[int, Texts] = (NONE, None)
        for entrant, task, rows in runs:
            if task != known[0]:
                known = (task, pa.array(labels[self._rows.tasks[task]].items, pa.string()))
            positions = pc.index_in(self._rows.item.take(pa.array(rows)), value_set=known[1])
            at = np.asarray(positions.cast(pa.int64()).fill_null(NONE))
            self._refuse_unknown(rows[at == NONE], task)
            rows, at = rows[at != NONE], at[at != NONE]
            self._refuse_repeats(rows, at)
            values = np.full((len(known[1]), n_columns), np.nan)
            values[at] = self._rows.values[rows]
            if not may_lack and len(rows):
                self._refuse_missing(known[1], at, rows[0])
            block = PredictionBlock(self._rows.entrants[entrant], self._rows.tasks[task], values)
            first = int(rows.min()) if len(rows) else int(np.argmax(self._rows.entrant == entrant))
            yield Matched(block, first, int(np.isnan(values[:, 0]).sum()))

    def refuse_absent(self, tasks: Iterable[str]) -> None:
        """Add a problem for each entrant and task without a single row: only whole tables can be compared."""
        for entrant, task, _ in self._absent(tasks):
            message = f"{self._rows.entrants[entrant]} has no prediction for task {self._rows.tasks[task]}"
            file = self._files[int(self._rows.file[np.argmax(self._rows.entrant == entrant)])]
            self._findings.add(Problem(message, file, None, TASK, self._rows.tasks[task]))

    def _absent(self, tasks: Iterable[str]) -> Iterator[tuple[int, int, IntArray]]:
        """Yield (entrant, task, no rows) for each pair that has none."""
        delivered = {(entrant, task) for entrant, task, _ in self._runs}
        numbers = [self._rows.tasks.index(task) for task in tasks]
        for entrant in sorted({entrant for entrant, _ in delivered}):
            yield from ((entrant, task, _NO_ROWS) for task in numbers if (entrant, task) not in delivered)

    def with_own_labels(self, cells: LabelCells) -> Iterator[Matched]:
        """Yield blocks with the labels of their own rows, in the order of the items' names. Raises TooLarge."""
        if self._rows.values.size > MAX_VALUES:
            raise TooLarge(f"The submission has more than {MAX_VALUES:,} numbers.")
        for entrant, task, rows in self._runs:
            items = self._rows.item.take(pa.array(rows))
            self._refuse_repeats(rows, local_codes(items)[1])
            order = np.asarray(pc.sort_indices(items))
            mine = rows[order]
            name = self._rows.tasks[task]
            labels = cells.take(mine).as_labels(name, tuple(items.take(pa.array(order)).to_pylist()), mine)
            values = self._rows.values[mine]
            block = PredictionBlock(self._rows.entrants[entrant], name, values, labels)
            yield Matched(block, int(rows.min()), int(np.isnan(values[:, 0]).sum()))

    @cached_property
    def _runs(self) -> list[tuple[int, int, IntArray]]:
        """Return (entrant, task, rows) for each pair, by task and entrant; rows of unknown names are left out."""
        rows = self._rows
        named = np.flatnonzero((rows.entrant != NONE) & (rows.task != NONE) & np.asarray(pc.is_valid(rows.item)))
        keys = rows.task[named] * max(1, len(rows.entrants)) + rows.entrant[named]
        order = np.argsort(keys, kind="stable")
        pairs, starts = np.unique(keys[order], return_index=True)
        if len(pairs) > MAX_BLOCKS:
            raise TooLarge(f"The submission has more than {MAX_BLOCKS:,} pairs of an entrant and a task.")
        parts = np.split(named[order], starts[1:])
        codes = [divmod(pair, len(rows.entrants)) for pair in pairs.tolist()]
        return [(entrant, task, part) for (task, entrant), part in zip(codes, parts, strict=False)]

    def _refuse_unknown(self, unknown: IntArray, task: int) -> None:
        name = self._rows.tasks[task]
        self._findings.add_each(
            unknown.tolist(), lambda row: self._problem(row, f"not an item of task {name}; nothing can be scored by it")
        )

    def _refuse_repeats(self, rows: IntArray, codes: IntArray) -> None:
        first = first_with_the_same(codes)
        earlier = dict(zip(rows.tolist(), rows[first].tolist(), strict=True)) if self._repeats(first) else {}
        repeated = [row for row, before in earlier.items() if row != before]

        def describe(row: int) -> Problem:
            before = earlier[row]
            place = f"row {self._rows.row[before]} of {self._files[int(self._rows.file[before])]}"
            return self._problem(row, f"the item has a prediction already: {place}")

        self._findings.add_each(repeated, describe)

    @staticmethod
    def _repeats(first: IntArray) -> bool:
        return bool((first != np.arange(len(first))).any())

    def _refuse_missing(self, items: Texts, at: IntArray, example: int) -> None:
        lacking = np.ones(len(items), dtype=np.bool_)
        lacking[at] = False
        rows = self._rows
        file = self._files[int(rows.file[example])]
        entrant, task = rows.entrants[rows.entrant[example]], rows.tasks[rows.task[example]]
        message = f"{entrant} has no prediction for this item of task {task}"
        self._findings.add_each(
            np.flatnonzero(lacking).tolist(), lambda item: Problem(message, file, None, ITEM, items[item].as_py())
        )

    def _problem(self, row: int, message: str) -> Problem:
        rows = self._rows
        file = self._files[int(rows.file[row])]
        return Problem(message, file, int(rows.row[row]), ITEM, clip_for_message(rows.item[row].as_py()))
