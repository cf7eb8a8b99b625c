"""Evidence kind evaluation_summary: any table with a row per entrant and task, as a ScoreTable.

Called by `app.kinds.reader`. The preset fev differs only in what the manifest says and in older column names.
"""

import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.errors import Problem, TooLarge
from app.files.blocks import TableFile
from app.files.headers import missing_column
from app.files.parquet_tables import PARQUET, Wanted, open_parquet
from app.files.repeats import problems_of_case, refuse_repeats
from app.files.tables import open_all, open_table
from app.files.uploads import ReceivedFile
from app.files.vocabulary import Vocabulary, coded
from app.harnesses.contract import Harness, HarnessRun, sound_rows
from app.harnesses.known import split_harnesses
from app.harnesses.tables import HarnessTable, harness_tables
from app.kinds.reading import Reading, Request, checked_entrant
from app.kinds.summary.blocks import BlockReader, Part
from app.kinds.summary.columns import FileColumns, SummaryColumns, columns_of
from app.kinds.summary.old_fev import is_old
from app.stats.arrays import IntArray
from app.values.counts import count
from app.values.scores import NONE, OVERLAP_UNSAID, Coded, ScoreTable
from app.values.table import Table

# What the Hugging Face Hub keeps results in: `.eval_results/*.yaml` and model cards.
HUB_SUFFIXES = (".yaml", ".yml", ".md")


def read_evaluation_summary(request: Request) -> Reading | None:
    """Read every file; None when there is a problem in any, all of them in its findings. Raises TooLarge."""
    entrant = checked_entrant(request)
    with tempfile.TemporaryDirectory(prefix="plumbline-summary-") as folder:
        return _Submission(request, entrant, Path(folder)).read(request.files)


@dataclass(frozen=True)
class _Batch:
    """Rows of a harness that were read together, and their files."""

    columns: FileColumns
    part: Part
    files: tuple[str, ...]


class _Submission:
    """The files of one submission on their way to one table."""

    def __init__(self, request: Request, entrant: str | None, folder: Path) -> None:
        self._columns = columns_of(request.manifest)
        self._entrant = entrant
        self._folder = folder
        self._max_rows = request.max_rows
        self._findings = request.findings
        self._warnings: list[Problem] = []
        self._reader = BlockReader(request.manifest, self._columns, entrant, request.findings)
        self._parts: list[Part] = []
        self._stated: list[Table] = []
        self._n_rows: dict[int, int] = {}

    def read(self, files: Sequence[ReceivedFile]) -> Reading | None:
        harnesses, others = split_harnesses(files)
        for harness, own in harnesses:
            self._take_harness(harness, own)
        for file, table in open_all(others, self._max_rows, self._open):
            self._take_table(file, table)
        self._findings.extend(problems_of_case(self._reader.entrants.words, self._columns.entrant))
        if not self._parts:
            return None
        self._warn_of_silent_flags()
        self._warn_of_old_releases()
        scores = _table(self._parts, self._reader, self._columns)
        names = {file.position: file.name for file in files}
        refuse_repeats(scores, names, self._columns.task, self._findings)
        if self._findings.n_problems:
            return None
        return Reading(scores, self._n_rows, tuple(self._warnings), attachments=tuple(self._stated))

    def _open(self, file: ReceivedFile, n_earlier: int) -> TableFile | None:
        if file.suffix in HUB_SUFFIXES:
            self._take_no_results(file)
            return None
        if file.suffix != PARQUET:
            return open_table(file, self._findings, self._warnings, self._max_rows, n_earlier)
        wanted = Wanted(self._columns.sources(), as_text=True)
        return open_parquet(file, wanted, self._findings, self._max_rows, self._folder)

    def _take_harness(self, harness: Harness, files: Sequence[ReceivedFile]) -> None:
        """Take the summaries that a harness wrote, file by file."""
        if harness.summary is None:
            return
        run = HarnessRun(files, self._findings)
        names = (self._columns.entrant or "entrant", self._columns.task or "task")
        tables = harness_tables(sound_rows(run, harness.summary(run)), *names)
        taken = [self._take_batch(table) for table in tables if not harness.is_mixed or self._has_metrics(table)]
        self._refuse_missing(taken)
        self._warnings += run.warnings
        stated = run.table(harness.title)
        self._stated += [] if stated is None else [stated]

    def _take_no_results(self, file: ReceivedFile) -> None:
        """Refuse a file that was sent for the results it lacks; in an archive it may be a README of the folder."""
        message = "holds no evaluation results: neither a list with dataset and value nor a card with model-index"
        if file.is_member:
            self._warnings.append(Problem(f"{message}; it was ignored", file=file.name))
        else:
            self._findings.add(Problem(message, file=file.name))

    def _has_metrics(self, table: HarnessTable) -> bool:
        return bool(FileColumns(self._columns, table.header, table.files[0].name).metrics)

    def _take_batch(self, table: HarnessTable) -> _Batch:
        """Take the rows of a harness's files that have the same columns; those that nobody reads are no surprise."""
        first, *_ = table.files
        columns = FileColumns(self._columns, table.header, first.name)
        (block,) = table.blocks(columns.sources)
        for file in table.files:
            self._count(file, 1)
        part = self._reader.read(block, columns, first, table.files)
        self._parts.append(part)
        return _Batch(columns, part, tuple(dict.fromkeys(file.name for file in table.files)))

    def _refuse_missing(self, batches: Sequence[_Batch]) -> None:
        """Refuse what a run lacks. Tasks have metrics of their own: one that other results have is absent there."""
        held = {metric for batch in batches for metric in batch.columns.metrics}
        for batch in batches:
            elsewhere = held if batch.columns.metrics else set()
            for name in batch.files:
                self._findings.extend(self._problems_of_missing(batch.columns, name, [batch.part], elsewhere))

    def _take_table(self, file: ReceivedFile, table: TableFile) -> None:
        """Take a table."""
        columns = FileColumns(self._columns, table.header, file.name)
        n_problems = self._findings.n_problems
        parts = []
        for block in table.blocks(columns.sources):
            self._count(file, len(block))
            parts.append(self._reader.read(block, columns, file))
        if not self._n_rows.get(file.position) and self._findings.n_problems == n_problems:
            self._findings.add(Problem("the file contains no rows", file=file.name))
        self._findings.extend(self._problems_of_missing(columns, file.name, parts))
        self._warnings += self._warnings_of(columns, file.name)
        self._parts += parts

    def _warn_of_silent_flags(self) -> None:
        """Say that a flag is missing. It costs nothing to leave out, and no more to set to False."""
        if self._reader.n_silent:
            silent = f"{count(self._reader.n_silent, 'row')} without a value"
            message = f"{silent}: as in fev, errors there are not replaced, and the overlap counts what is known"
            self._warnings.append(Problem(message, column=self._columns.leaked))

    def _warn_of_old_releases(self) -> None:
        versions = self._reader.recorded.get("fev_version")
        old = [word for word in versions.words if is_old(word)] if self._columns.is_fev and versions else []
        if old:
            message = (
                f"fev says that results of releases before 0.6.0 may not be comparable: {', '.join(sorted(old)[:20])}"
            )
            self._warnings.append(Problem(message, column="fev_version"))

    def _count(self, file: ReceivedFile, n_rows: int) -> None:
        self._n_rows[file.position] = self._n_rows.get(file.position, 0) + n_rows
        if sum(self._n_rows.values()) > self._max_rows:
            raise TooLarge(f"The submission has more than {self._max_rows:,} rows.")

    def _problems_of_missing(
        self, columns: FileColumns, file: str, parts: Sequence[Part], elsewhere: Collection[str] = ()
    ) -> Iterator[Problem]:
        """Yield the columns that a file lacks; not for a file of another benchmark, of which every row says so."""
        tasks = np.concatenate([part.task for part in parts]) if parts else np.zeros(0, dtype=np.int64)
        if columns.has(self._columns.task) and len(tasks) and (tasks == NONE).all():
            return
        if self._columns.entrant is None and self._entrant is None:
            yield Problem("no entrant; send the form field entrant", file=file)
        for column in [name for name in self._required(columns) if name not in elsewhere]:
            yield missing_column(column, columns.header, file)
        for column in self._reader.rules.expected:
            if not columns.has(column) and self._reader.rules.missing_matters(column, tasks):
                yield Problem(f"the column {column}, a part of the task's definition, is missing", file, column=column)

    def _required(self, file_columns: FileColumns) -> list[str]:
        columns = self._columns
        named = columns.entrant if self._entrant is None else None
        # Files of fev 0.1 have no flags.
        leaked = None if columns.is_fev else columns.leaked
        # Nor have those before 0.6 names of their tasks: what they say of the data identifies them.
        task = None if columns.is_fev and self._reader.rules.expected else columns.task
        required = [named, task, leaked, *columns.metrics]
        return [column for column in required if column is not None and not file_columns.has(column)]

    def _warnings_of(self, file_columns: FileColumns, file: str) -> list[Problem]:
        columns = self._columns
        absent = {name: column for name, column in columns.measured if not file_columns.has(column)}
        if columns.is_fev and columns.leaked is not None and not file_columns.has(columns.leaked):
            absent["whether a model has seen a task's data"] = columns.leaked
        warnings = [
            Problem(f"no column {column}: {name} is unknown", file=file, column=column)
            for name, column in absent.items()
        ]
        ignored = file_columns.warning()
        return warnings + ([] if ignored is None else [ignored])


def _table(parts: Sequence[Part], reader: BlockReader, columns: SummaryColumns) -> ScoreTable:
    values, names = np.concatenate([part.values for part in parts]), columns.value_names()
    unsaid = np.concatenate([part.unsaid for part in parts])
    if unsaid.any():
        values, names = np.column_stack([values, np.where(unsaid, 1.0, np.nan)]), (*names, OVERLAP_UNSAID)
    return ScoreTable(
        entrant=coded(reader.entrants.words, np.concatenate([part.entrant for part in parts])),
        task=coded(reader.tasks.words, np.concatenate([part.task for part in parts])),
        columns=names,
        values=values,
        leaked=np.concatenate([part.leaked for part in parts]),
        file=np.concatenate([np.broadcast_to(np.asarray(part.file, np.int64), len(part.row)) for part in parts]),
        row=np.concatenate([part.row for part in parts]),
        reason=_reasons(np.isnan(values[:, : len(columns.metrics)]), columns.metrics),
        recorded=_recorded(parts, reader.recorded),
    )


def _reasons(empty: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], metrics: Sequence[str]) -> Coded | None:
    """Say of each row which metrics are empty; None when none is in any row."""
    rows = np.flatnonzero(empty.any(axis=1))
    if not len(rows):
        return None
    patterns, inverse = np.unique(empty[rows], axis=0, return_inverse=True)
    words = tuple(
        f"empty in the file: {', '.join(m for m, is_empty in zip(metrics, pattern, strict=True) if is_empty)}"
        for pattern in patterns.tolist()
    )
    codes: IntArray = np.full(len(empty), NONE, dtype=np.int64)
    codes[rows] = inverse.reshape(-1)
    return Coded(words, codes)


def _recorded(parts: Sequence[Part], vocabularies: Mapping[str, Vocabulary]) -> dict[str, Coded]:
    return {
        name: coded(vocabulary.words, np.concatenate([part.recorded[name] for part in parts]))
        for name, vocabulary in vocabularies.items()
    }
