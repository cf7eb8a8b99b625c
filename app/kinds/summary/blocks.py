"""One block of a summary table as numbers and codes, with a problem for every cell that is wrong.

Called by `app.kinds.summary.read`, block after block of every file; the names of the whole submission are
numbered here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.files.blocks import Block
from app.files.findings import Findings
from app.files.number_cells import Bounds, describe_wrong, read_numbers, wrong_cells
from app.files.uploads import ReceivedFile
from app.files.vocabulary import Vocabulary
from app.kinds.block_cells import Cells, empty_texts
from app.kinds.summary.columns import FileColumns, SummaryColumns
from app.kinds.summary.counts import ForecastCounts
from app.kinds.summary.leaks import LeakFlags
from app.kinds.summary.task_rules import TaskRules
from app.manifest.manifest import Manifest
from app.names import clip_for_message, complain_about_name, is_name
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.values.scores import NONE

MEASURED = Bounds(low=0.0, high=None, nan_is_empty=True)
MAX_RECORDED = 2000


@dataclass(frozen=True)
class Part:
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
    ) -> Part:
        """Return the rows of a block; a wrong cell becomes a problem and an empty value.

        `each` is the file of each row, where they are of several.
        """
        files = None if each is None else [one.name for one in each]
        cells = Cells(file.name, block.rows, columns.cells(block, self._findings), self._findings, files)
        entrants, tasks = self._read_entrants(cells), self._read_tasks(cells)
        self._check_definition(cells, tasks)
        leaked, unsaid = self._read_flags(cells, entrants, tasks)
        return Part(
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
        return f"{clip_for_message(text)} is not a task of {self._manifest.slug}{hint}"

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
            self._read_numbers(cells, name, Bounds(metric.min, metric.max))
            for name, metric in self._manifest.metrics.items()
        ]
        measured = {name: self._read_numbers(cells, column, MEASURED) for name, column in self._columns.measured}
        if "n_forecasts" in measured:
            self._check_counts(cells, dict(self._columns.measured)["n_forecasts"], measured["n_forecasts"], tasks)
        return np.column_stack([*metrics, *measured.values()])

    def _check_counts(self, cells: Cells, column: str, counts: FloatArray, tasks: IntArray) -> None:
        wrong = self._counts.wrong(counts, tasks)
        cells.refuse(column, wrong, lambda at: self._counts.complaint(float(counts[at]), int(tasks[at])))

    def _read_numbers(self, cells: Cells, column: str, bounds: Bounds) -> FloatArray:
        texts = cells.texts(column)
        numbers = read_numbers(texts)
        wrong = wrong_cells(numbers, bounds)
        cells.refuse(
            column, wrong, lambda position: describe_wrong(numbers.values[position], texts[position].as_py(), bounds)
        )
        return np.where(wrong, np.nan, numbers.values)

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


def column_of_data(cells: Cells) -> str:
    """Return the column that best says what data a row is about."""
    return next((name for name in ("dataset_config", "dataset_path") if name in cells.columns), "task")
