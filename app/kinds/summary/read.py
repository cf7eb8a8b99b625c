"""Evidence kind evaluation_summary: any table with a row per entrant and task, as a ScoreTable. The preset fev differs
only in what the manifest says and in older column names.
"""

import ast
import json
import re
import tempfile
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.boards.methods.skill_score import SkillScore
from app.errors import Problem
from app.files.findings import Findings, missing_column, problems_of_case, refuse_repeats
from app.files.opened import OpenedFiles
from app.files.parquet import WantedColumns
from app.files.tables import (
    FLAGS,
    Block,
    Cells,
    NumberBounds,
    TableFile,
    Texts,
    Vocabulary,
    depth_of,
    empty_texts,
    local_codes,
    number_of,
)
from app.files.uploads import ReceivedFile
from app.harnesses.contract import Harness, HarnessRun, HarnessTable, harness_tables, sound_rows
from app.harnesses.registry import split_harnesses
from app.kinds.contract import Reading, ReadRequest, checked_entrant
from app.kinds.summary.manifest_part import SummaryPart
from app.manifest.model import Manifest, OpenTasks, part_of
from app.names import clip_for_message, complain_about_name, count, first_few, is_name, sentences
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.values.scores import NONE, OVERLAP_UNSAID, Coded, ScoreTable
from app.values.table import Table

# What the Hugging Face Hub keeps results in: `.eval_results/*.yaml` and model cards.
HUB_SUFFIXES = (".yaml", ".yml", ".md")


def read_evaluation_summary(request: ReadRequest) -> Reading | None:
    """Read every file; None when there is a problem in any, all of them in its findings. Raises TooLarge."""
    entrant = checked_entrant(request)
    with tempfile.TemporaryDirectory(prefix="plumbline-summary-") as folder:
        return _SentSummaries(request, entrant, Path(folder)).read(request.files)


@dataclass(frozen=True)
class BlockPart:
    """The rows of one block; names are numbers of the reader's vocabularies, `file` the place of all or of each.

    `unsaid` marks rows that do not say whether their entrant has seen the task's data; they are not `leaked`.
    """

    entrant: IntArray
    task: IntArray
    values: FloatArray
    leaked: BoolArray
    unsaid: BoolArray
    row: IntArray
    file: int | IntArray
    recorded: Mapping[str, IntArray]


@dataclass(frozen=True)
class SummaryColumns:
    """The columns that a benchmark reads; `measured` pairs the name of a quantity with its column."""

    entrant: str | None
    task: str | None
    leaked: str | None
    metrics: tuple[str, ...]
    measured: tuple[tuple[str, str], ...]
    where: tuple[str, ...]
    recorded: tuple[str, ...]
    renames: Mapping[str, str]
    redundant: frozenset[str]
    is_fev: bool = False

    def value_names(self) -> tuple[str, ...]:
        """Return the columns of the ScoreTable: metrics, then measured quantities."""
        return (*self.metrics, *(name for name, _ in self.measured))

    def wanted(self) -> tuple[str, ...]:
        """Return every column that is read, once, under its present name."""
        named = [self.entrant, self.task, self.leaked, *self.metrics, *(column for _, column in self.measured)]
        return tuple(dict.fromkeys(name for name in (*named, *self.where, *self.recorded) if name is not None))

    def sources(self) -> tuple[str, ...]:
        """Return every column that is read, under its present and its deprecated names."""
        wanted = self.wanted()
        old = [LENGTH] if self.is_fev else []
        return (*wanted, *(old for old, new in self.renames.items() if new in wanted and old not in wanted), *old)


class FileColumns:
    """The columns of one file: where each wanted one is, under its present or its deprecated name."""

    def __init__(self, columns: SummaryColumns, header: Sequence[str], file: str) -> None:
        self._old_names = {new: old for old, new in columns.renames.items() if old in header}
        self.header = tuple(header)
        self._header = frozenset(header)
        self._file = file
        self._has_lengths = columns.is_fev and {LENGTH, HORIZON} <= self._header
        self.wanted = tuple(name for name in columns.wanted() if self.has(name))
        self.metrics = tuple(metric for metric in columns.metrics if self.has(metric))
        self.sources = tuple(dict.fromkeys(source for name in self.wanted for source in self._sources(name)))

    def has(self, column: str | None) -> bool:
        """Say whether the file has a column under any of its names."""
        if column == SHORTEST and self._has_lengths:
            return True
        return column is not None and (column in self._header or column in self._old_names)

    def cells(self, block: Block, findings: Findings) -> dict[str, Texts]:
        """Return the wanted columns of a block under their present names; a row with both names is a problem."""
        return {column: self._cells_of(column, block, findings) for column in self.wanted}

    def _sources(self, column: str) -> Iterator[str]:
        if column in self._header:
            yield column
        elif column == SHORTEST and self._has_lengths:
            yield LENGTH
        if column in self._old_names:
            yield self._old_names[column]

    def _cells_of(self, column: str, block: Block, findings: Findings) -> Texts:
        names = list(self._sources(column))
        if names == [LENGTH]:
            return shortest_contexts(*(block.columns[name] for name in (LENGTH, HORIZON)))
        if len(names) == 1:
            return block.columns[names[0]]
        new, old = (block.columns[name] for name in names)
        both = np.flatnonzero(pc.and_(pc.is_valid(new), pc.is_valid(old))).tolist()
        message = f"a deprecated name of {column}, which the row has too; send one of them"

        def describe(position: int) -> Problem:
            value = clip_for_message(old[position].as_py())
            return Problem(message, self._file, int(block.rows[position]), names[1], value)

        findings.add_each(both, describe)
        return pc.coalesce(new, old)


@dataclass(frozen=True)
class _Batch:
    """Rows of a harness that were read together, and their files."""

    columns: FileColumns
    part: BlockPart
    files: tuple[str, ...]


class _SentSummaries:
    """The files of one submission on their way to one table."""

    def __init__(self, request: ReadRequest, entrant: str | None, folder: Path) -> None:
        self._columns = columns_of(request.manifest)
        self._entrant = entrant
        self._findings = request.findings
        wanted = WantedColumns(self._columns.sources(), as_text=True)
        self._files = OpenedFiles(wanted, request.max_rows, request.findings, folder)
        self._reader = BlockReader(request.manifest, self._columns, entrant, request.findings)
        self._parts: list[BlockPart] = []
        self._stated: list[Table] = []

    def read(self, files: Sequence[ReceivedFile]) -> Reading | None:
        harnesses, others = split_harnesses(files)
        for harness, own in harnesses:
            self._take_harness(harness, own)
        for file in others:
            if file.suffix in HUB_SUFFIXES:
                self._take_no_results(file)
        for file, table in self._files.open_all([file for file in others if file.suffix not in HUB_SUFFIXES]):
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
        return Reading(scores, self._files.n_rows, tuple(self._files.warnings), attachments=tuple(self._stated))

    def _take_harness(self, harness: Harness, files: Sequence[ReceivedFile]) -> None:
        """Take the summaries that a harness wrote, file by file."""
        if harness.summary is None:
            return
        run = HarnessRun(files, self._findings)
        names = (self._columns.entrant or "entrant", self._columns.task or "task")
        tables = harness_tables(sound_rows(run, harness.summary(run)), *names)
        taken = [self._take_batch(table) for table in tables if not harness.is_mixed or self._has_metrics(table)]
        self._refuse_missing(taken)
        self._files.warnings += run.warnings
        stated = run.table(harness.title)
        self._stated += [] if stated is None else [stated]

    def _take_no_results(self, file: ReceivedFile) -> None:
        """Refuse a file that was sent for the results it lacks; in an archive it may be a README of the folder."""
        message = "holds no evaluation results: neither a list with dataset and value nor a card with model-index"
        if file.is_member:
            self._files.warnings.append(Problem(f"{message}; it was ignored", file=file.name))
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
            self._files.count(file, 1)
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
        parts = [self._reader.read(block, columns, file) for block in self._files.blocks(file, table)]
        self._findings.extend(self._problems_of_missing(columns, file.name, parts))
        self._files.warnings += self._warnings_of_absent(columns, file.name)
        self._files.warn_of_ignored(file, table.header, {*columns.sources, *self._columns.redundant})
        self._parts += parts

    def _warn_of_silent_flags(self) -> None:
        """Say that a flag is missing. It costs nothing to leave out, and no more to set to False."""
        if self._reader.n_silent:
            silent = f"{count(self._reader.n_silent, 'row')} without a value"
            message = f"{silent}: as in fev, errors there are not replaced, and the overlap counts what is known"
            self._files.warnings.append(Problem(message, column=self._columns.leaked))

    def _warn_of_old_releases(self) -> None:
        versions = self._reader.recorded.get("fev_version")
        old = [word for word in versions.words if is_old(word)] if self._columns.is_fev and versions else []
        if old:
            shown = first_few(sorted(old), 20)
            message = f"fev says that results of releases before 0.6.0 may not be comparable: {shown}"
            self._files.warnings.append(Problem(message, column="fev_version"))

    def _problems_of_missing(
        self, columns: FileColumns, file: str, parts: Sequence[BlockPart], elsewhere: Collection[str] = ()
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

    def _warnings_of_absent(self, file_columns: FileColumns, file: str) -> list[Problem]:
        columns = self._columns
        absent = {name: column for name, column in columns.measured if not file_columns.has(column)}
        if columns.is_fev and columns.leaked is not None and not file_columns.has(columns.leaked):
            absent["whether a model has seen a task's data"] = columns.leaked
        return [
            Problem(f"no column {column}: {name} is unknown", file=file, column=column)
            for name, column in absent.items()
        ]


class BlockReader:
    """Reads the blocks of one submission. `entrant` names the entrant of rows that do not say it.

    `n_silent` counts the rows so far that do not say whether the entrant has seen the task's data.
    """

    def __init__(self, manifest: Manifest, columns: SummaryColumns, entrant: str | None, findings: Findings) -> None:
        self._manifest = manifest
        self._columns = columns
        self._entrant = entrant
        self._findings = findings
        self.rules = TaskRules(manifest)
        self.entrants = Vocabulary(is_name)
        known = manifest.task_ids()
        self.tasks = Vocabulary(is_name) if known is None else Vocabulary(lambda _: False, known)
        self._flags = LeakFlags(manifest)
        self._counts = ForecastCounts(manifest, self.tasks)
        self.n_silent = 0
        self.recorded = {name: Vocabulary(lambda text: len(text) <= MAX_RECORDED) for name in columns.recorded}

    def read(
        self, block: Block, columns: FileColumns, file: ReceivedFile, each: Sequence[ReceivedFile] | None = None
    ) -> BlockPart:
        """Return the rows of a block; a wrong cell becomes a problem and an empty value.

        `each` is the file of each row, where they are of several.
        """
        files = None if each is None else [one.name for one in each]
        cells = Cells(file.name, block.rows, columns.cells(block, self._findings), self._findings, files)
        entrants, tasks = self._read_entrants(cells), self._read_tasks(cells)
        self._check_definition(cells, tasks)
        leaked, unsaid = self._read_flags(cells, entrants, tasks)
        return BlockPart(
            entrant=entrants,
            task=tasks,
            values=self._read_values(cells, tasks),
            leaked=leaked,
            unsaid=unsaid,
            row=block.rows,
            file=file.position if each is None else np.array([one.position for one in each], dtype=np.int64),
            recorded={name: self._read_recorded(cells, name) for name in self._columns.recorded},
        )

    def _read_entrants(self, cells: Cells) -> IntArray:
        column = self._columns.entrant
        if column is None or column not in cells.columns:
            return np.full(len(cells.rows), NONE if self._entrant is None else self._number_of_field(), dtype=np.int64)
        texts = cells.columns[column]
        if self._entrant is not None:
            texts = texts.fill_null(self._entrant)
        codes = self.entrants.encode(texts)
        cells.refuse(column, codes == NONE, lambda position: complain_about_name(texts[position].as_py()))
        if self._entrant is not None:
            others = (codes != NONE) & (codes != self._number_of_field())
            cells.refuse(column, others, lambda _: f"the form field entrant says {self._entrant}")
        return codes

    def _number_of_field(self) -> int:
        return int(self.entrants.encode(empty_texts(1).fill_null(self._entrant))[0])

    def _read_tasks(self, cells: Cells) -> IntArray:
        column = self._columns.task
        if column not in cells.columns and self._columns.is_fev and self.rules.expected:
            return self._find_tasks(cells)
        if column is None:
            return np.zeros(len(cells.rows), dtype=np.int64)
        codes = self.tasks.encode(cells.texts(column))
        if column in cells.columns:
            cells.refuse(column, codes == NONE, lambda position: self._complaint_about_task(cells, column, position))
        return codes

    def _find_tasks(self, cells: Cells) -> IntArray:
        """Return the tasks of rows of an old release, which say how they are defined and not what they are called."""
        codes = self.rules.find(cells.columns, len(cells.rows))
        cells.refuse(
            column_of_data(cells), codes == NONE, lambda position: self._complaint_about_definition(cells, position)
        )
        return codes

    def _complaint_about_definition(self, cells: Cells, position: int) -> str:
        row = {name: cells.columns[name][position].as_py() for name in self.rules.expected if name in cells.columns}
        foreign = list(self.rules.foreign(row))
        hint = f"; none has {', '.join(foreign)}" if foreign else ""
        return (
            f"the row's columns match no single task of {self._manifest.slug}, and it has no {self._columns.task}{hint}"
        )

    def _complaint_about_task(self, cells: Cells, column: str, position: int) -> str:
        text = cells.texts(column)[position].as_py()
        if text is None or self._manifest.task_ids() is None:
            return complain_about_name(text)
        row = {name: cells.columns[name][position].as_py() for name in self.rules.expected if name in cells.columns}
        foreign = list(self.rules.foreign(row))
        hint = f"; nor has any of its tasks {', '.join(foreign)}" if foreign else ""
        what = f"{clip_for_message(text)} is not a task of {self._manifest.slug}{hint}"
        return self._findings.unknown(what, text, self._manifest.task_ids() or ())

    def _check_definition(self, cells: Cells, tasks: IntArray) -> None:
        for column in self.rules.expected:
            if column in cells.columns:
                wrong = self.rules.differing(column, cells.columns[column], tasks)
                self._refuse_differing(cells, column, wrong, tasks)

    def _refuse_differing(self, cells: Cells, column: str, wrong: BoolArray, tasks: IntArray) -> None:
        def message(position: int) -> str:
            task, text = int(tasks[position]), cells.columns[column][position].as_py()
            shown = "an empty cell" if text is None else clip_for_message(text)
            expected = self.rules.show(column, task)
            return f"{shown} is not the {column} of task {self.tasks.words[task]}; expected {expected}"

        cells.refuse(column, wrong, message)

    def _read_values(self, cells: Cells, tasks: IntArray) -> FloatArray:
        metrics = [
            cells.numbers(name, NumberBounds(metric.min, metric.max)).values
            for name, metric in self._manifest.metrics.items()
        ]
        measured = {name: cells.numbers(column, MEASURED).values for name, column in self._columns.measured}
        if "n_forecasts" in measured:
            self._check_counts(cells, dict(self._columns.measured)["n_forecasts"], measured["n_forecasts"], tasks)
        return np.column_stack([*metrics, *measured.values()])

    def _check_counts(self, cells: Cells, column: str, counts: FloatArray, tasks: IntArray) -> None:
        wrong = self._counts.wrong(counts, tasks)
        cells.refuse(column, wrong, lambda at: self._counts.complaint(float(counts[at]), int(tasks[at])))

    def _read_flags(self, cells: Cells, entrants: IntArray, tasks: IntArray) -> tuple[BoolArray, BoolArray]:
        """Return which rows say that their entrant has seen the data, and which do not say it though it was asked."""
        column = self._columns.leaked
        if column is None or column not in cells.columns:
            return np.zeros(len(cells.rows), dtype=np.bool_), np.full(len(cells.rows), column is not None)
        flags = self._flags.read(cells.columns[column])
        cells.refuse(column, flags.wrong, lambda _: self._flags.complaint)
        self.n_silent += int(flags.empty.sum())
        spoiled = self._flags.spoiled(flags.leaked, self.entrants.words, entrants, self.tasks.words, tasks)
        cells.refuse(column, spoiled, lambda at: self._flags.complaint_about_model(self.entrants.words[entrants[at]]))
        return flags.leaked, flags.empty

    def _read_recorded(self, cells: Cells, column: str) -> IntArray:
        texts = cells.texts(column)
        codes = self.recorded[column].encode(texts)
        too_long = (codes == NONE) & np.asarray(texts.is_valid())
        cells.refuse(column, too_long, lambda _: f"the text has more than {MAX_RECORDED} characters")
        return codes


def _table(parts: Sequence[BlockPart], reader: BlockReader, columns: SummaryColumns) -> ScoreTable:
    values, names = np.concatenate([part.values for part in parts]), columns.value_names()
    unsaid = np.concatenate([part.unsaid for part in parts])
    if unsaid.any():
        values, names = np.column_stack([values, np.where(unsaid, 1.0, np.nan)]), (*names, OVERLAP_UNSAID)
    return ScoreTable(
        entrant=Coded(reader.entrants.words, np.concatenate([part.entrant for part in parts])).used(),
        task=Coded(reader.tasks.words, np.concatenate([part.task for part in parts])).used(),
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


def _recorded(parts: Sequence[BlockPart], vocabularies: Mapping[str, Vocabulary]) -> dict[str, Coded]:
    return {
        name: Coded(vocabulary.words, np.concatenate([part.recorded[name] for part in parts])).used()
        for name, vocabulary in vocabularies.items()
    }


# One block of a summary table as numbers and codes, with a problem for every cell that is wrong.

MEASURED = NumberBounds(low=0.0, nan_is_empty=True)

MAX_RECORDED = 2000


def column_of_data(cells: Cells) -> str:
    """Return the column that best says what data a row is about."""
    return next((name for name in ("dataset_config", "dataset_path") if name in cells.columns), "task")


FEV_RENAMES = {
    "num_rolling_windows": "num_windows",
    "rolling_step_size": "window_step_size",
    "cutoff": "initial_cutoff",
    "target_column": "target",
    "multiple_target_columns": "generate_univariate_targets_from",
}

# Never used by any release, or without a counterpart.
FORGOTTEN = frozenset({"dataset_name", "lead_time", "excluded_columns"})


# Which columns of a summary table hold what, under which names a file may call them, and which it lacks. Source of
# the renames: fev, whose older releases used the other names.

# Repeats the column of the task's own metric; a benchmark over it declares it as a metric.
FEV_REDUNDANT = frozenset({"test_error"}) | FORGOTTEN


def columns_of(manifest: Manifest) -> SummaryColumns:
    """Return what the manifest says about its columns."""
    part = part_of(manifest, SummaryPart)
    declared = part.columns
    measured = {
        "training_time_s": declared.training_time_s,
        "inference_time_s": declared.inference_time_s,
        "n_forecasts": declared.n_forecasts,
    }
    tasks = [] if isinstance(manifest.tasks, OpenTasks) else manifest.tasks
    return SummaryColumns(
        entrant=declared.entrant,
        task=declared.task,
        leaked=declared.leaked,
        metrics=tuple(manifest.metrics),
        measured=tuple((name, column) for name, column in measured.items() if column is not None),
        where=tuple(dict.fromkeys(name for task in tasks for name in task.where)),
        recorded=tuple(declared.recorded),
        renames={**(FEV_RENAMES if part.preset == "fev" else {}), **_sources(manifest)},
        redundant=FEV_REDUNDANT if part.preset == "fev" else frozenset(),
        is_fev=part.preset == "fev",
    )


def _sources(manifest: Manifest) -> dict[str, str]:
    """Return the metric of each column that a manifest names with `from`."""
    return {metric.source: name for name, metric in manifest.metrics.items() if metric.source not in (None, name)}


# The columns of a row that must repeat its task's definition, checked a block at a time. Rows of unknown tasks are
# left out here: with a task that the benchmark does not have there is no value to compare with.

ROUNDED = "quantile_levels"

_MOST_REMEMBERED = 50_000

_LONGEST_REMEMBERED = 2000

_SHOWN_VALUES = 60


@dataclass(frozen=True)
class Expected:
    """One column of the task definitions: the distinct values, and which of them each task has (NONE: any)."""

    column: str
    values: tuple[Any, ...]
    of_task: IntArray


class TaskRules:
    """What the columns of a closed task list must say; of an open list, nothing."""

    def __init__(self, manifest: Manifest) -> None:
        tasks = () if isinstance(manifest.tasks, OpenTasks) else manifest.tasks
        self._is_fev = part_of(manifest, SummaryPart).preset == "fev"
        self._rounded = ROUNDED if self._is_fev else None
        self._wheres = [task.where for task in tasks]
        self._answers: dict[tuple[str, int, str | None], bool] = {}
        names = dict.fromkeys(name for task in tasks for name in task.where)
        self.expected = {name: _expected(name, [task.where for task in tasks]) for name in names}

    def differing(self, column: str, texts: Texts, tasks: IntArray) -> BoolArray:
        """Say which rows of known tasks differ from their task in one column."""
        expected = self.expected[column]
        wanted = np.where(tasks == NONE, NONE, expected.of_task[tasks])
        words, codes = local_codes(texts)
        # Each pair of a wanted and a found value is judged once, however many rows have it.
        pairs, inverse = np.unique(wanted * (len(words) + 1) + codes + 1, return_inverse=True)
        texts_of_codes: list[str | None] = [None, *words]
        verdicts = [
            value != NONE and not self._says(expected, value, texts_of_codes[code])
            for value, code in (divmod(pair, len(texts_of_codes)) for pair in pairs.tolist())
        ]
        return np.array(verdicts, dtype=np.bool_)[inverse]

    def missing_matters(self, column: str, tasks: IntArray) -> bool:
        """Say whether a file without this column contradicts any of its tasks."""
        wheres = (self._wheres[task] for task in np.unique(tasks[tasks != NONE]).tolist())
        return any(where.get(column) is not None and not self._implies_value(column, where) for where in wheres)

    def _implies_value(self, column: str, where: Mapping[str, Any]) -> bool:
        return self._is_fev and implies_value(column, where)

    def find(self, cells: Mapping[str, Texts], n_rows: int) -> IntArray:
        """Return the one task that each row of a file without task names defines, NONE where none or several do so."""
        columns = [name for name in self.expected if name in cells]
        task_of_row: dict[tuple[str | None, ...], int] = {}
        rows = list(zip(*(cells[name].to_pylist() for name in columns), strict=True)) or [()] * n_rows
        for row in rows:
            if row not in task_of_row:
                task_of_row[row] = self._the_task(dict(zip(columns, row, strict=True)))
        return np.array([task_of_row[row] for row in rows], dtype=np.int64)

    def _the_task(self, row: Mapping[str, str | None]) -> int:
        fitting = [task for task, where in enumerate(self._wheres) if self._fits(task, where, row)]
        return fitting[0] if len(fitting) == 1 else NONE

    def _fits(self, task: int, where: Mapping[str, Any], row: Mapping[str, str | None]) -> bool:
        for column, expected in self.expected.items():
            value = int(expected.of_task[task])
            if value == NONE or (column not in row and (where[column] is None or self._implies_value(column, where))):
                continue
            if column not in row or not self._says(expected, value, row[column]):
                return False
        return True

    def show(self, column: str, task: int) -> str:
        """Return the value that a task has, as text for a message."""
        expected = self.expected[column]
        return clip_for_message(show(expected.values[expected.of_task[task]]), 200)

    def foreign(self, cells: Mapping[str, str | None]) -> Iterator[str]:
        """Yield each column, with the cell of a row of an unknown task, that no task has so."""
        for column, text in cells.items():
            expected = self.expected[column]
            if not any(self._says(expected, value, text) for value in range(len(expected.values))):
                yield f"{column} {clip_for_message(text or 'empty', _SHOWN_VALUES)}"

    def _says(self, expected: Expected, value: int, text: str | None) -> bool:
        wanted, rounded = expected.values[value], expected.column == self._rounded
        if rounded and text is None:
            # fev reads no levels as an empty list.
            return bool(wanted == [])
        if text is not None and len(text) > _LONGEST_REMEMBERED:
            return says(text, wanted, rounded=rounded)
        key = (expected.column, value, text)
        if key not in self._answers:
            if len(self._answers) >= _MOST_REMEMBERED:
                self._answers.clear()
            self._answers[key] = says(text, wanted, rounded=rounded)
        return self._answers[key]


def _expected(column: str, wheres: list[dict[str, Any]]) -> Expected:
    numbers: dict[Hashable, int] = {}
    values: list[Any] = []
    of_task = np.full(len(wheres), NONE, dtype=np.int64)
    for task, where in enumerate(wheres):
        if column in where:
            key = _key_of(where[column])
            if key not in numbers:
                numbers[key] = len(values)
                values.append(where[column])
            of_task[task] = numbers[key]
    return Expected(column, tuple(values), of_task)


def _key_of(value: Any) -> Hashable:
    """Return what only equal values of one type share: 1, 1.0, true and "1" are four values."""
    if value is None or isinstance(value, str | bool | int | float):
        return type(value), value
    return json.dumps(value, sort_keys=True, default=str)


# Whether a cell says the value that a task's definition has, whatever way the submitter's program writes it. A list
# may be JSON or Python's notation, an integer may end in .0 as pandas writes it beside gaps, and nothing may be an
# empty cell, NaN or None.

MAX_TEXT = 20_000

MAX_DEPTH = 10

LEVEL_PLACES = 4

_NOTHING = frozenset({"", "nan", "none", "null", "<na>", "nat"})

_WHOLE = re.compile(r"[-+]?\d{1,18}(?:\.0*)?", re.ASCII)

_FLAGS = {"true": True, "1": True, "false": False, "0": False}


class Unreadable(ValueError):
    """A cell that holds no list or mapping."""


def says(text: str | None, expected: Any, *, rounded: bool = False) -> bool:
    """Say whether a cell has the expected value. `rounded`: floats agree when they do to LEVEL_PLACES."""
    if expected is None:
        return text is None or text.strip().lower() in _NOTHING
    if text is None:
        return False
    if isinstance(expected, str):
        return text == expected
    if isinstance(expected, bool):
        return _FLAGS.get(text.strip().lower()) is expected
    if isinstance(expected, int):
        return _WHOLE.fullmatch(text.strip()) is not None and int(text.partition(".")[0]) == expected
    if isinstance(expected, float):
        return number_of(text) == expected
    return _says_structure(text, expected, rounded=rounded)


def show(expected: Any) -> str:
    """Return an expected value as a submitter would write it in a cell."""
    if expected is None:
        return "an empty cell"
    return expected if isinstance(expected, str) else json.dumps(expected, ensure_ascii=False)


def _says_structure(text: str, expected: Any, *, rounded: bool) -> bool:
    try:
        value = _parse(text)
    except Unreadable:
        return False
    return bool(_normal(value, rounded=rounded) == _normal(expected, rounded=rounded))


def _parse(text: str) -> Any:
    # Bounded before parsing: both parsers recurse.
    if len(text) > MAX_TEXT or depth_of(text) > MAX_DEPTH:
        raise Unreadable
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise Unreadable from error


def _normal(value: Any, *, rounded: bool) -> Any:
    """Return a value in which equal means the same: tuples as lists, levels rounded."""
    if isinstance(value, list | tuple):
        return [_normal(part, rounded=rounded) for part in value]
    if isinstance(value, dict):
        return {key: _normal(part, rounded=rounded) for key, part in value.items()}
    if isinstance(value, float) and rounded:
        return round(value, LEVEL_PLACES)
    return value


# Whether rows say that their entrant has seen the task's data, as fev and pandas write it.
#
# The model whose errors replace those of entrants that have seen data may not have seen any itself: fev refuses to
# make a leaderboard of such rows, and here they are refused where they stand, so that the boards go on without them.

NEITHER = "neither True nor False (1 and 0 are accepted too)"


@dataclass(frozen=True)
class Flags:
    """The flags of some rows, each [n_rows]; an empty or a wrong one counts as not leaked."""

    leaked: BoolArray
    empty: BoolArray
    wrong: BoolArray


class LeakFlags:
    """How the flags of one benchmark are read; only those of fev may be empty."""

    def __init__(self, manifest: Manifest) -> None:
        self._may_be_empty = part_of(manifest, SummaryPart).preset == "fev"
        self._boards = [
            board
            for board in manifest.leaderboards
            if isinstance(board, SkillScore) and board.leakage_model is not None
        ]
        self.complaint = NEITHER

    def read(self, texts: Texts) -> Flags:
        """Return the flags of a column."""
        words, codes = local_codes(texts)
        known = np.array([*(word in FLAGS for word in words), self._may_be_empty])
        leaked = np.array([*(FLAGS.get(word, False) for word in words), False])
        return Flags(leaked[codes], (codes == NONE) & self._may_be_empty, ~known[codes])

    def spoiled(
        self, leaked: BoolArray, names: Sequence[str], entrants: IntArray, task_names: Sequence[str], tasks: IntArray
    ) -> BoolArray:
        """Say which rows are of a leakage model that has seen the data of a task of its board."""
        spoiled = np.zeros(len(leaked), dtype=np.bool_)
        for board in self._boards:
            model = [at for at, name in enumerate(names) if name == board.leakage_model]
            spoiled |= leaked & np.isin(entrants, model) & _on(board.tasks, task_names, tasks)
        return spoiled

    def complaint_about_model(self, name: str) -> str:
        """Return why a leakage model's flag is refused."""
        boards = sentences([board.name for board in self._boards if board.leakage_model == name])
        return (
            f"{name} is the leakage model of {boards}: its errors replace those of models that have seen the task's "
            "data, so it may not have seen any"
        )


def _on(wanted: Collection[str] | None, names: Sequence[str], tasks: IntArray) -> BoolArray:
    if wanted is None:
        return np.ones(len(tasks), dtype=np.bool_)
    return np.isin(tasks, [at for at, name in enumerate(names) if name in wanted])


# What result files of fev before 0.6 say otherwise than later ones.
#
# They have no task_name, one window a row, `min_ts_length` (horizon included) for `min_context_length`, and no
# columns for what no task of theirs could have. Source: `fev.Task` and `evaluation_summary` of the releases 0.1 to
# 0.5.

# The value that a row without the column has.
UNSAID: Mapping[str, Any] = {"num_windows": 1, "known_dynamic_columns": [], "static_columns": []}

STEP, WINDOWS = "window_step_size", "num_windows"

SHORTEST, LENGTH, HORIZON = "min_context_length", "min_ts_length", "horizon"

FIRST_OF_TODAY = (0, 6)

_WHOLE_NUMBER = re.compile(r"(\d{1,12})(?:\.0*)?", re.ASCII)

_VERSION = re.compile(r"(\d{1,6})\.(\d{1,6})")


def implies_value(column: str, where: Mapping[str, Any]) -> bool:
    """Say whether a row without the column has the value of a task's definition all the same."""
    if column == STEP:
        return bool(where.get(WINDOWS, 1) == 1)
    return column in UNSAID and bool(where.get(column) == UNSAID[column])


def shortest_contexts(lengths: Texts, horizons: Texts) -> Texts:
    """Return the shortest contexts of the shortest series that were used; what is no whole number stays as it is."""
    pairs = zip(lengths.to_pylist(), horizons.to_pylist(), strict=True)
    return pa.array([_shortest(length, horizon) for length, horizon in pairs], pa.string())


def _shortest(length: str | None, horizon: str | None) -> str | None:
    numbers = [_WHOLE_NUMBER.fullmatch((text or "").strip()) for text in (length, horizon)]
    if numbers[0] is None or numbers[1] is None:
        return length
    return str(max(int(numbers[0][1]) - int(numbers[1][1]), 1))


def is_old(version: str) -> bool:
    """Say whether a release is one whose results fev itself says may not be comparable with today's."""
    parts = _VERSION.match(version)
    return parts is not None and (int(parts[1]), int(parts[2])) < FIRST_OF_TODAY


# How many forecasts a row says that it made, compared with what its task asks for.
#
# A count is a property of the task: one that differs would change the times per forecast of everybody.

WHOLE = "a count of forecasts is a whole number, at least 1"


class ForecastCounts:
    """The counts that the manifest declares, by the reader's numbers of its tasks."""

    def __init__(self, manifest: Manifest, tasks: Vocabulary) -> None:
        listed = [] if isinstance(manifest.tasks, OpenTasks) else manifest.tasks
        known = {task.id: float(task.n_forecasts) for task in listed if task.n_forecasts is not None}
        words = tasks.words if listed else ()
        self._of_task = np.array([*(known.get(word, np.nan) for word in words), np.nan])

    def wrong(self, counts: FloatArray, tasks: IntArray) -> BoolArray:
        """Say which counts [n_rows] are none, or not their task's; NaN is a row that does not say it."""
        is_stated = ~np.isnan(counts)
        wanted = self._of_task[self._known(tasks)]
        wrong: BoolArray = is_stated & (
            (counts < 1) | (counts != np.floor(counts)) | (~np.isnan(wanted) & (counts != wanted))
        )
        return wrong

    def complaint(self, count: float, task: int) -> str:
        """Return what is wrong with a wrong count."""
        if count < 1 or count != np.floor(count):
            return WHOLE
        return f"{count:.0f} is not the count of forecasts of this task; the manifest says {self._of_task[task]:.0f}"

    def _known(self, tasks: IntArray) -> IntArray:
        """Return the tasks' positions, those of an open or unknown task at the end, where there is no count."""
        at: IntArray = np.where((tasks == NONE) | (tasks >= len(self._of_task)), len(self._of_task) - 1, tasks)
        return at
