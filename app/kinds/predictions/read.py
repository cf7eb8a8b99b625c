"""Evidence kind predictions: one number, a list or a column per class for each item, scored against labels.

Called by `app.kinds.reader`. Columns: `item`, `task` where there are several, `entrant` where the form does not
name it, then `prediction` or `p_<class>` for each class; `label`, `weight`, `group` where submitters bring their own.
"""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from app.errors import Problem, TooLarge
from app.files.blocks import Block, TableFile, Texts
from app.files.headers import missing_column
from app.files.parquet_tables import Wanted
from app.files.repeats import problems_of_case
from app.files.uploads import ReceivedFile
from app.kinds.predictions.cells import RowCells
from app.kinds.predictions.declared import Predictions
from app.kinds.predictions.files import OpenedFiles
from app.kinds.predictions.label_cells import LabelCells, LabelReader, join_cells, refuse_mixed_weights
from app.kinds.predictions.labels import warn_of_labels
from app.kinds.predictions.manifest_part import PredictionsPart
from app.kinds.predictions.matching import MAX_VALUES, Matched, Matching, Rows
from app.kinds.predictions.names import ENTRANT, ITEM, TASK, EntrantNames, TaskNames
from app.kinds.predictions.values import PREDICTION, ValueReader
from app.kinds.reading import Reading, Request, checked_entrant
from app.manifest.manifest import part_of
from app.names import clip_for_message
from app.values.facts import RunFacts
from app.values.scores import NONE, Coded, ScoreTable


def read_predictions(request: Request) -> Reading | None:
    """Read every file; None when there is a problem in any, all of them in its findings. Raises TooLarge."""
    part = part_of(request.manifest, PredictionsPart).predictions
    with tempfile.TemporaryDirectory(prefix="plumbline-predictions-") as folder:
        return _Submission(request, part, Path(folder)).read(request.files)


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


class _Submission:
    """The files of one submission on their way to blocks of predictions."""

    def __init__(self, request: Request, part: Predictions, folder: Path) -> None:
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

    def _wanted(self) -> Wanted:
        names = [ITEM, TASK, ENTRANT]
        labels = [] if self._labels is None else self._labels.wanted()
        texts = [] if self._labels is None else self._labels.texts()
        lists = [PREDICTION] if self._part.classes else []
        return Wanted([*names, *self._values.wanted(), *labels], [*names, *texts], lists)

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
        cells = RowCells(file.name, block.rows, block.columns, self._findings)
        return _Part(
            item=cells.items(ITEM) if self._own_labels else cells.required_texts(ITEM),
            entrant=self._entrants.read(cells),
            task=self._tasks.read(cells),
            values=self._values.read(cells, columns),
            labels=None if self._labels is None else self._labels.read(cells),
            row=block.rows,
            file=file.position,
        )

    def _rows(self) -> Rows:
        parts, self._parts = self._parts, []
        own = [part.labels for part in parts if part.labels is not None]
        return Rows(
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

    def _match(self, matching: Matching, rows: Rows) -> Iterator[Matched]:
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

    def _warnings(self, matched: Sequence[Matched]) -> Iterator[Problem]:
        for each in matched:
            name = clip_for_message(f"{each.block.entrant}, {each.block.task}")
            if each.n_missing:
                yield Problem(f"{name}: {_missing(each)}; each counts as a failure", column=ITEM)
            if each.block.labels is not None:
                what = f"{name}: the labels of this submission"
                yield from (Problem(text) for text in warn_of_labels(each.block.labels, self._part, what))


def _missing(matched: Matched) -> str:
    return f"{matched.n_missing} of {len(matched.block.values)} items have no prediction"


def _table(matched: Sequence[Matched], rows: Rows) -> ScoreTable:
    """Return a row for each entrant and task, without values: those are in the blocks."""
    first = np.array([each.first for each in matched], dtype=np.int64)
    reasons = tuple(dict.fromkeys(_missing(each) for each in matched if each.n_missing))
    codes = [reasons.index(_missing(each)) if each.n_missing else NONE for each in matched]
    return ScoreTable(
        entrant=_coded([each.block.entrant for each in matched]),
        task=_coded([each.block.task for each in matched]),
        columns=(),
        values=np.zeros((len(matched), 0)),
        leaked=np.zeros(len(matched), dtype=np.bool_),
        file=rows.file[first],
        row=rows.row[first],
        reason=Coded(reasons, np.array(codes, dtype=np.int64)) if reasons else None,
    )


def _coded(words: Sequence[str]) -> Coded:
    numbers: dict[str, int] = {}
    codes = [numbers.setdefault(word, len(numbers)) for word in words]
    return Coded(tuple(numbers), np.array(codes, dtype=np.int64))
