"""Evidence kind predictions: one number, a list or a column per class for each item, scored against labels. Columns:
`item`, `task` where there are several, `entrant` where the form does not name it, then `prediction` or `p_<class>`
for each class; `label`, `weight`, `group` where submitters bring their own.
"""

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.errors import Problem, TooLarge
from app.files.findings import Findings, missing_column, problems_of_case
from app.files.opened import OpenedFiles
from app.files.parquet import WantedColumns
from app.files.tables import Block, Cells, TableFile, Texts, local_codes
from app.files.uploads import ReceivedFile
from app.kinds.contract import Reading, ReadRequest, checked_entrant
from app.kinds.predictions.cells import (
    ENTRANT,
    ITEM,
    PREDICTION,
    TASK,
    EntrantNames,
    TaskNames,
    ValueReader,
    items_of,
)
from app.kinds.predictions.declared import Predictions
from app.kinds.predictions.labels import (
    LabelCells,
    LabelReader,
    first_with_the_same,
    join_cells,
    refuse_mixed_weights,
    warn_of_labels,
)
from app.kinds.predictions.manifest_part import PredictionsPart
from app.manifest.model import part_of
from app.names import clip_for_message
from app.stats.arrays import FloatArray, IntArray
from app.values.facts import RunFacts
from app.values.scores import NONE, Coded, Labels, PredictionBlock, ScoreTable


def read_predictions(request: ReadRequest) -> Reading | None:
    """Read every file; None when there is a problem in any, all of them in its findings. Raises TooLarge."""
    part = part_of(request.manifest, PredictionsPart).predictions
    with tempfile.TemporaryDirectory(prefix="plumbline-predictions-") as folder:
        return _PredictionFiles(request, part, Path(folder)).read(request.files)


@dataclass(frozen=True)
class _Part:
    """The rows of one block."""

    item: Texts
    entrant: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
    task: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
    values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]
    labels: LabelCells | None
    row: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
    file: int


# Arranges predictions in the order of their labels, one block per entrant and task; finds repeated and unknown items.
# Rows are sorted once and then looked up all at once.


@dataclass(frozen=True)
class SubmittedRows:
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
class SentPredictions:
    """The predictions of one entrant for one task, the first row that holds one, and how many items have none."""

    block: PredictionBlock
    first: int
    n_missing: int


class Matching:
    """The rows of one submission on their way to blocks."""

    def __init__(self, rows: SubmittedRows, files: Mapping[int, str], findings: Findings) -> None:
        self._rows = rows
        self._files = files
        self._findings = findings

    def with_labels(self, labels: Mapping[str, Labels], *, may_lack: bool) -> Iterator[SentPredictions]:
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
            yield SentPredictions(block, first, int(np.isnan(values[:, 0]).sum()))

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

    def with_own_labels(self, cells: LabelCells) -> Iterator[SentPredictions]:
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
            yield SentPredictions(block, int(rows.min()), int(np.isnan(values[:, 0]).sum()))

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


class _PredictionFiles:
    """The files of one submission on their way to blocks of predictions."""

    def __init__(self, request: ReadRequest, part: Predictions, folder: Path) -> None:
        self._request = request
        self._part = part
        self._findings = request.findings
        self._own_labels = part.labels == "submitted"
        self._values = ValueReader(part)
        self._labels = LabelReader(part) if self._own_labels else None
        self._tasks = TaskNames(request.manifest.task_ids() if self._own_labels else tuple(request.labels))
        self._entrants = EntrantNames(checked_entrant(request))
        self._files = OpenedFiles(self._wanted(), request.max_rows, self._findings, folder)
        self._parts: list[_Part] = []
        self._headers: dict[str, Sequence[str]] = {}
        self._n_values = 0

    def _wanted(self) -> WantedColumns:
        names = [ITEM, TASK, ENTRANT]
        labels = [] if self._labels is None else self._labels.wanted()
        texts = [] if self._labels is None else self._labels.texts()
        lists = [PREDICTION] if self._part.classes else []
        return WantedColumns([*names, *self._values.wanted(), *labels], [*names, *texts], lists)

    def read(self, files: Sequence[ReceivedFile]) -> Reading | None:
        for file, table in self._files.open_all(files):
            self._take(file, table)
        self._findings.extend(problems_of_case(self._entrants.words, ENTRANT))
        if self._own_labels:
            refuse_mixed_weights(self._headers, self._findings)
        if not self._parts:
            return None
        rows = self._rows()
        matched = list(self._match(Matching(rows, {file.position: file.name for file in files}, self._findings), rows))
        if self._findings.n_problems:
            return None
        return Reading(
            scores=_table(matched, rows),
            n_rows=self._files.n_rows,
            warnings=(*self._files.warnings, *self._warnings(matched)),
            facts=RunFacts(own_labels=self._own_labels),
            predictions=tuple(each.block for each in matched),
        )

    def _take(self, file: ReceivedFile, table: TableFile) -> None:
        problems = list(self._problems_of_header(table.header, file.name))
        self._findings.extend(problems)
        if problems:
            return
        self._headers[file.name] = table.header
        columns = self._values.columns(table.header)
        self._files.warn_of_ignored(file, table.header, self._files.wanted.columns)
        for block in self._files.blocks(file, table):
            self._parts.append(self._read(block, columns, file))
            self._n_values += self._parts[-1].values.size
            if self._n_values > MAX_VALUES:
                raise TooLarge(f"The submission has more than {MAX_VALUES:,} numbers.")

    def _problems_of_header(self, header: Sequence[str], file: str) -> Iterator[Problem]:
        if ITEM not in header:
            yield missing_column(ITEM, header, file)
        yield from self._tasks.problems_of_header(header, file)
        yield from self._entrants.problems_of_header(header, file)
        yield from self._values.problems_of_header(header, file)
        if self._labels is not None:
            yield from self._labels.problems_of_header(header, file)

    def _read(self, block: Block, columns: Sequence[str], file: ReceivedFile) -> _Part:
        cells = Cells(file.name, block.rows, block.columns, self._findings)
        return _Part(
            item=items_of(cells) if self._own_labels else cells.required_texts(ITEM),
            entrant=self._entrants.read(cells),
            task=self._tasks.read(cells),
            values=self._values.read(cells, columns),
            labels=None if self._labels is None else self._labels.read(cells),
            row=block.rows,
            file=file.position,
        )

    def _rows(self) -> SubmittedRows:
        parts, self._parts = self._parts, []
        own = [part.labels for part in parts if part.labels is not None]
        return SubmittedRows(
            entrants=self._entrants.words,
            tasks=self._tasks.words,
            item=pa.concat_arrays([part.item for part in parts]),
            entrant=np.concatenate([part.entrant for part in parts]),
            task=np.concatenate([part.task for part in parts]),
            values=np.concatenate([part.values for part in parts]),
            file=np.concatenate([np.full(len(part.row), part.file, dtype=np.int64) for part in parts]),
            row=np.concatenate([part.row for part in parts]),
            labels=join_cells(own) if own else None,
        )

    def _match(self, matching: Matching, rows: SubmittedRows) -> Iterator[SentPredictions]:
        # Rows of unknown tasks or entrants would show up as missing a second time.
        all_named = not ((rows.entrant == NONE) | (rows.task == NONE)).any()
        may_lack = self._part.missing == "failure" or not all_named
        if rows.labels is not None:
            if all_named:
                matching.refuse_absent(self._request.manifest.task_ids() or ())
            return matching.with_own_labels(rows.labels)
        if not may_lack:
            matching.refuse_absent(self._request.labels)
        return matching.with_labels(self._request.labels, may_lack=may_lack)

    def _warnings(self, matched: Sequence[SentPredictions]) -> Iterator[Problem]:
        for each in matched:
            name = clip_for_message(f"{each.block.entrant}, {each.block.task}")
            if each.n_missing:
                yield Problem(f"{name}: {_missing(each)}; each counts as a failure", column=ITEM)
            if each.block.labels is not None:
                what = f"{name}: the labels of this submission"
                yield from (Problem(text) for text in warn_of_labels(each.block.labels, self._part, what))


def _missing(matched: SentPredictions) -> str:
    return f"{matched.n_missing} of {len(matched.block.values)} items have no prediction"


def _table(matched: Sequence[SentPredictions], rows: SubmittedRows) -> ScoreTable:
    """Return a row for each entrant and task, without values: those are in the blocks."""
    first = np.array([each.first for each in matched], dtype=np.int64)
    reasons = tuple(dict.fromkeys(_missing(each) for each in matched if each.n_missing))
    codes = [reasons.index(_missing(each)) if each.n_missing else NONE for each in matched]
    return ScoreTable(
        entrant=Coded.of([each.block.entrant for each in matched]),
        task=Coded.of([each.block.task for each in matched]),
        columns=(),
        values=np.zeros((len(matched), 0)),
        leaked=np.zeros(len(matched), dtype=np.bool_),
        file=rows.file[first],
        row=rows.row[first],
        reason=Coded(reasons, np.array(codes, dtype=np.int64)) if reasons else None,
    )


MAX_VALUES = 20_000_000

MAX_BLOCKS = 10_000

_NO_ROWS: IntArray = np.empty(0, dtype=np.int64)
