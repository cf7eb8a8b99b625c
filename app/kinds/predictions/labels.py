"""Labels, weights and groups: of a whole benchmark, put by its steward, or in the rows of a submission.

`read_labels` is called by `app.web.labels`. What it refuses it never quotes: its problems say where, not what.
"""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.errors import EvidenceRejected, Problem, TooLarge
from app.files.blocks import TableFile, Texts
from app.files.findings import Findings
from app.files.parquet_tables import Wanted
from app.files.uploads import Limits, ReceivedFile, Unpacking, Upload
from app.files.vocabulary import local_codes
from app.kinds.predictions.cells import RowCells
from app.kinds.predictions.declared import Predictions
from app.kinds.predictions.files import SUFFIXES, OpenedFiles
from app.kinds.predictions.label_cells import LABEL, WEIGHT, LabelCells, LabelReader, join_cells, refuse_mixed_weights
from app.kinds.predictions.names import ITEM, TASK, TaskNames
from app.manifest.manifest import Manifest
from app.stats.arrays import IntArray
from app.values.predictions import Labels
from app.values.scores import NONE

MAX_TASKS = 10_000


def warn_of_labels(labels: Labels, part: Predictions, what: str) -> Iterator[str]:
    """Yield what labels leave undefined; `what` names them."""
    if part.classes is None:
        return
    n_seen = _n_classes(labels)
    if n_seen == 1:
        yield f"{what} have one class only, so an AUC is undefined and shown as null"
    elif n_seen < len(part.classes):
        yield f"{what} have {n_seen} of the {len(part.classes)} classes; metrics of the others are undefined"


def _n_classes(labels: Labels) -> int:
    """Return how many classes there are among the items that count."""
    counted = labels.label if labels.weight is None else labels.label[labels.weight > 0]
    return len(np.unique(counted))


@dataclass(frozen=True)
class LabelReading:
    """The labels of every task, and what the steward should know."""

    labels: tuple[Labels, ...]
    sha256: str
    warnings: tuple[Problem, ...]


def read_labels(manifest: Manifest, part: Predictions, uploads: Sequence[Upload], limits: Limits) -> LabelReading:
    """Read the labels that a steward puts. Raises EvidenceRejected with every problem and no label, and TooLarge."""
    findings = Findings()
    with tempfile.TemporaryDirectory(prefix="plumbline-labels-") as folder:
        unpacking = Unpacking(limits, Path(folder), findings, SUFFIXES)
        unpacking.take_all(uploads)
        reader = _BenchmarkLabels(manifest, part, findings, limits.max_rows, Path(folder))
        labels = reader.read(unpacking.files)
        try:
            findings.raise_if_any([record.name for record in unpacking.records])
        except EvidenceRejected as error:
            raise _without_content(error) from None
    warnings = [*unpacking.warnings, *reader.warnings()]
    return LabelReading(labels, unpacking.records[0].sha256, tuple(replace(each, value=None) for each in warnings))


def _without_content(error: EvidenceRejected) -> EvidenceRejected:
    """Return the refusal without the content of any cell but names: a broken row may hold a label."""
    problems = [p if p.column in (ITEM, TASK) else replace(p, value=None) for p in error.problems]
    detail = error.detail.replace("The evidence has", "The labels have")
    return EvidenceRejected(detail, problems, n_problems=error.n_problems)


class _BenchmarkLabels:
    """The files of labels on their way to one Labels per task."""

    def __init__(self, manifest: Manifest, part: Predictions, findings: Findings, max_rows: int, folder: Path) -> None:
        self._part = part
        self._manifest = manifest
        self._findings = findings
        self._reader = LabelReader(part)
        self._tasks = TaskNames(manifest.task_ids())
        columns = [ITEM, TASK, *self._reader.wanted()]
        self._files = OpenedFiles(Wanted(columns, [ITEM, TASK, *self._reader.texts()]), max_rows, findings, folder)
        self._items: list[Texts] = []
        self._task_codes: list[IntArray] = []
        self._cells: list[LabelCells] = []
        self._places: list[tuple[str, IntArray]] = []
        self._headers: dict[str, Sequence[str]] = {}
        self._warnings: list[Problem] = []

    def warnings(self) -> list[Problem]:
        return [*self._files.warnings, *self._warnings]

    def read(self, files: Sequence[ReceivedFile]) -> tuple[Labels, ...]:
        for file, table in self._files.open_all(files):
            self._take(file, table)
        refuse_mixed_weights(self._headers, self._findings)
        if not self._items or self._findings.n_problems:
            return ()
        labels = tuple(self._of_each_task())
        absent = sorted(set(self._manifest.task_ids() or ()) - {each.task for each in labels})
        for task in absent:
            self._findings.add(
                Problem("the task has no labels; they are put once, for every task", None, None, TASK, task)
            )
        return labels

    def _take(self, file: ReceivedFile, table: TableFile) -> None:
        problems = [
            *([] if ITEM in table.header else [Problem(f"the column {ITEM} is missing", file.name, column=ITEM)]),
            *self._tasks.problems_of_header(table.header, file.name),
            *self._reader.problems_of_header(table.header, file.name),
        ]
        self._findings.extend(problems)
        if problems:
            return
        self._headers[file.name] = table.header
        for block in self._files.blocks(file, table):
            secret = frozenset(self._reader.wanted())
            cells = RowCells(file.name, block.rows, block.columns, self._findings, secret)
            self._items.append(cells.items(ITEM))
            self._task_codes.append(self._tasks.read(cells))
            self._cells.append(self._reader.read(cells))
            self._places.append((file.name, block.rows))

    def _of_each_task(self) -> Iterator[Labels]:
        items, cells = pa.concat_arrays(self._items), join_cells(self._cells)
        tasks = np.concatenate(self._task_codes)
        present = np.unique(tasks[tasks != NONE]).tolist()
        if len(present) > MAX_TASKS:
            raise TooLarge(f"The labels have more than {MAX_TASKS:,} tasks.")
        order = np.argsort(tasks, kind="stable")
        bounds = np.searchsorted(tasks[order], [*present, len(self._tasks.words)])
        for code, start, end in zip(present, bounds, bounds[1:], strict=False):
            rows = order[start:end]
            mine = items.take(pa.array(rows))
            self._refuse_repeats(mine, rows)
            by_name = _by_name(mine, cells.take(rows).group)
            rows, mine = rows[by_name], mine.take(pa.array(by_name))
            labels = cells.take(rows).as_labels(self._tasks.words[code], tuple(mine.to_pylist()), rows)
            self._judge(labels)
            yield labels

    def _refuse_repeats(self, items: Texts, rows: IntArray) -> None:
        first = first_with_the_same(local_codes(items)[1])
        repeated = np.flatnonzero(first != np.arange(len(first)))

        def describe(position: int) -> Problem:
            file, row = self._place(int(rows[position]))
            earlier = self._place(int(rows[first[position]]))
            message = f"the item has a label already, in row {earlier[1]} of {earlier[0]}"
            return Problem(message, file, row, ITEM, items[position].as_py())

        self._findings.add_each(repeated.tolist(), describe)

    def _place(self, position: int) -> tuple[str, int]:
        for file, rows in self._places:
            if position < len(rows):
                return file, int(rows[position])
            position -= len(rows)
        raise IndexError(position)

    def _judge(self, labels: Labels) -> None:
        what = f"the labels of task {labels.task}"
        if labels.weight is not None and not labels.weight.any():
            self._findings.add(Problem(f"{what} have no weight above 0", column=WEIGHT))
            return
        if self._part.classes is not None and _n_classes(labels) == 1:
            self._findings.add(
                Problem(f"{what} have one class only, so there is nothing to discriminate", column=LABEL)
            )
            return
        self._warnings += [Problem(text, column=LABEL) for text in warn_of_labels(labels, self._part, what)]


def _by_name(items: Texts, groups: Texts | None) -> IntArray:
    """Return the order of items by their names, of a ranking group by group: that of the file changes no draw."""
    keys = {"item": items} if groups is None else {"group": groups, "item": items}
    order = pc.sort_indices(pa.table(keys), sort_keys=[(name, "ascending") for name in keys])
    return np.asarray(order).astype(np.int64)


def first_with_the_same(codes: IntArray) -> IntArray:
    """Return for each position the first one with the same code; codes are from 0."""
    first: IntArray = np.full(codes.max(initial=-1) + 1, NONE, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return first[codes]
