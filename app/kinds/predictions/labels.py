"""Labels, weights and groups: of a whole benchmark, put by its steward, or in the rows of a submission.

What `read_labels` refuses it never quotes: its problems say where, not what.
"""

import hashlib
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.errors import EvidenceRejected, Problem, TooLarge
from app.files.findings import Findings
from app.files.opened import SUFFIXES, OpenedFiles
from app.files.parquet import WantedColumns
from app.files.tables import Cells, NumberBounds, TableFile, Texts, local_codes
from app.files.uploads import Limits, ReceivedFile, SentFile, Unpacking
from app.kinds.labels import LabelReading, take_labels
from app.kinds.predictions.cells import ITEM, TASK, TaskNames, items_of
from app.kinds.predictions.declared import Predictions
from app.kinds.predictions.manifest_part import PredictionsPart
from app.manifest.model import Manifest, part_of
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.values.scores import NONE, Labels

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


def read_labels(manifest: Manifest, uploads: Sequence[SentFile], limits: Limits) -> LabelReading:
    """Read the labels that a steward puts. Raises EvidenceRejected with every problem and no label, and TooLarge."""
    part, findings = part_of(manifest, PredictionsPart).predictions, Findings()
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
        self._files = OpenedFiles(
            WantedColumns(columns, [ITEM, TASK, *self._reader.texts()]), max_rows, findings, folder
        )
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
        self._files.warn_of_ignored(file, table.header, self._files.wanted.columns)
        for block in self._files.blocks(file, table):
            secret = frozenset(self._reader.wanted())
            cells = Cells(file.name, block.rows, block.columns, self._findings, secret=secret)
            self._items.append(items_of(cells))
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


# Labels, weights and groups as the columns of one file have them.

LABEL, WEIGHT, GROUP = "label", "weight", "group"

WEIGHTS = NumberBounds(0.0)

RELEVANCES = NumberBounds(0.0, 50.0)

VALUES = NumberBounds()


@dataclass(frozen=True)
class LabelCells:
    """The label columns of some rows; `group` holds the groups' own names."""

    label: FloatArray
    weight: FloatArray | None
    group: Texts | None

    def take(self, rows: IntArray) -> "LabelCells":
        """Return some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        return LabelCells(self.label[rows], weight, None if self.group is None else self.group.take(pa.array(rows)))

    def as_labels(self, task: str, items: Sequence[str], rows: IntArray) -> Labels:
        """Return the rows as labels; groups are numbered in the order of the cells, `rows` is that of the files."""
        if self.group is None:
            return Labels(task, items, self.label, self.weight)
        group, row = local_codes(self.group)[1], np.argsort(np.argsort(rows, kind="stable"), kind="stable")
        return Labels(task, items, self.label, self.weight, group, row=row)


class LabelReader:
    """Reads the label columns of one benchmark."""

    def __init__(self, part: Predictions) -> None:
        self._part = part
        self._classes = None if part.classes is None else pa.array(part.classes, pa.string())

    def wanted(self) -> list[str]:
        """Return the columns that are read; groups only matter to a ranking."""
        return [LABEL, WEIGHT, GROUP] if self._part.kind == "ranking" else [LABEL, WEIGHT]

    def texts(self) -> list[str]:
        """Return the columns that hold names."""
        return [GROUP] if self._classes is None else [GROUP, LABEL]

    def problems_of_header(self, header: Sequence[str], file: str) -> Iterator[Problem]:
        """Yield which columns a file lacks."""
        required = [LABEL, GROUP] if self._part.kind == "ranking" else [LABEL]
        for column in required:
            if column not in header:
                yield Problem(f"the column {column} is missing", file, column=column)

    def read(self, cells: Cells) -> LabelCells:
        """Return the columns of a block; every wrong cell is a problem."""
        return LabelCells(
            label=self._read_label(cells),
            weight=cells.required_numbers(WEIGHT, WEIGHTS) if WEIGHT in cells.columns else None,
            group=cells.required_texts(GROUP) if GROUP in cells.columns else None,
        )

    def _read_label(self, cells: Cells) -> FloatArray:
        if self._classes is None:
            return cells.required_numbers(LABEL, RELEVANCES if self._part.kind == "ranking" else VALUES)
        class_numbers = pc.index_in(cells.texts(LABEL), value_set=self._classes)
        numbers: FloatArray = np.array(class_numbers.cast(pa.float64()).fill_null(np.nan))
        cells.refuse(LABEL, np.isnan(numbers), lambda _: "empty, or not one of the benchmark's classes")
        return numbers


def join_cells(parts: Sequence[LabelCells]) -> LabelCells:
    """Return the label columns of several blocks as one; a column must be in all of them or in none."""
    weights = [part.weight for part in parts if part.weight is not None]
    groups = [part.group for part in parts if part.group is not None]
    return LabelCells(
        label=np.concatenate([part.label for part in parts]),
        weight=np.concatenate(weights) if len(weights) == len(parts) else None,
        group=pa.concat_arrays(groups) if len(groups) == len(parts) else None,
    )


def refuse_mixed_weights(headers: Mapping[str, Sequence[str]], findings: Findings) -> None:
    """Add a problem for each file without weights where another one has them."""
    lacking = [file for file, header in headers.items() if WEIGHT not in header]
    if len(lacking) < len(headers):
        message = "the column weight is missing, which another file has"
        findings.extend(Problem(message, file, column=WEIGHT) for file in lacking)


# The public and the private part of labels that are a secret: which items are which.
# Which part an item is in follows from its name and a secret key, never from its position, so that whoever orders the
# file, or knows the order, knows nothing of the parts.

N_STRATA = 10
"""Strata of equal size into which values are divided; each is represented in both parts."""

FEWEST = 10
"""A part with fewer units is imprecise, and a single label matters too much in it."""


def choose_public(labels: Labels, part: Predictions, key: bytes, share: float) -> BoolArray:
    """Return which items of a task are public, [n_items]: a share of each stratum, chosen by a keyed hash of its name.

    Strata are classes, or tenths of the values; the groups of a ranking are whole in a part, named by their first item.
    A stratum of several units is in both parts; one of a single unit is where its hash says. All are public where the
    share is 1.
    """
    if share >= 1.0:
        return np.ones(len(labels), dtype=np.bool_)
    names, unit_of = _units(labels, part)
    places = np.array([_place(key, labels.task, name) for name in names])
    strata = _strata(labels, part, places)
    public = np.zeros(len(names), dtype=np.bool_)
    for stratum in np.unique(strata).tolist():
        members = np.flatnonzero(strata == stratum)
        ordered = members[np.argsort(places[members], kind="stable")]
        public[ordered[: _n_public(places[members], share)]] = True
    return public[unit_of]


def _n_public(places: FloatArray, share: float) -> int:
    if len(places) == 1:
        return int(places[0] < share)
    return int(np.clip(round(share * len(places)), 1, len(places) - 1))


def _place(key: bytes, task: str, name: str) -> float:
    """Return where a name falls between 0 and 1: uniform to whoever lacks the key."""
    message = json.dumps([task, name], ensure_ascii=False).encode()
    return int.from_bytes(blake2b(message, key=key, digest_size=8).digest()) / 2.0**64


def _units(labels: Labels, part: Predictions) -> tuple[list[str], IntArray]:
    """Return the names of what is kept together, and of each item the number of its unit."""
    if part.kind != "ranking" or labels.group is None:
        return list(labels.items), np.arange(len(labels))
    _, unit_of = np.unique(labels.group, return_inverse=True)
    names = [min(items) for items in items_by_group(labels).values()]
    return names, np.asarray(unit_of, dtype=np.int64)


def items_by_group(labels: Labels) -> Mapping[int, list[str]]:
    """Return the items of each group, by the group's number."""
    by_group: dict[int, list[str]] = {}
    numbers = np.zeros(len(labels), dtype=np.int64) if labels.group is None else labels.group
    for number, item in sorted(zip(numbers.tolist(), labels.items, strict=True)):
        by_group.setdefault(number, []).append(item)
    return by_group


def _strata(labels: Labels, part: Predictions, places: FloatArray) -> IntArray:
    if part.kind == "classification":
        return labels.label.astype(np.int64)
    if part.kind == "ranking":
        return np.zeros(len(places), dtype=np.int64)
    # Ties between equal values are broken by their hash, never by their position.
    rank = np.empty(len(labels), dtype=np.int64)
    rank[np.lexsort((places, labels.label))] = np.arange(len(labels))
    return rank * N_STRATA // len(labels)


def warn_of_parts(labels: Labels, part: Predictions) -> Iterator[str]:
    """Yield warnings for the steward about what is undefined on the parts of a task."""
    if labels.public is None or labels.public.all():
        return
    for name, chosen_items in (("public", labels.public), ("private", ~labels.public)):
        chosen = take_labels(labels, chosen_items)
        n_units = len(chosen) if chosen.group is None else len(np.unique(chosen.group))
        if n_units < FEWEST:
            yield f"the {name} part of task {labels.task} has only {n_units} {part.units}"
        absent = sorted(set(np.unique(labels.label).tolist()) - set(np.unique(chosen.label).tolist()))
        if part.classes is not None and absent:
            yield f"the {name} part of task {labels.task} lacks {len(absent)} of the classes, each of a single item"


# The digest of labels, by which their steward is committed to them (`app.kinds.labels.Opening`).


def labels_digest(labels: Sequence[Labels], part: Predictions) -> str:
    """Return the SHA-256 over a line of JSON for each item: [task, item, label, weight, first item of its group].

    Lines stand in the order of their text within a task, so that another order of the file is the same. A class is
    written by its name, a number as the shortest digits that give it again; what there is none of is null.
    """
    digest = hashlib.sha256()
    for each in sorted(labels, key=lambda one: one.task):
        for line in sorted(_lines(each, part)):
            digest.update(line.encode() + b"\n")
    return digest.hexdigest()


def _lines(labels: Labels, part: Predictions) -> list[str]:
    first = {number: items[0] for number, items in items_by_group(labels).items()} if labels.group is not None else {}
    weights = np.full(len(labels), np.nan) if labels.weight is None else labels.weight
    groups = [None] * len(labels) if labels.group is None else labels.group.tolist()
    rows = zip(labels.items, labels.label.tolist(), weights.tolist(), groups, strict=True)
    return [
        json.dumps([labels.task, item, _label(part, label), None if np.isnan(weight) else weight, first.get(group)])
        for item, label, weight, group in rows
    ]


def _label(part: Predictions, label: float) -> str | float:
    return float(label) if part.classes is None else part.classes[int(label)]
