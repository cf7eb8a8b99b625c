"""Cells of prediction and label files, a block at a time: names, texts and numbers, with a problem for each wrong one.

Cells of a CSV file are texts; those of a Parquet file may be numbers or lists. A message never holds a cell's content:
that is the problem's `value`, which columns that are secret leave out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.errors import Problem
from app.files.findings import Findings, missing_column
from app.files.tables import Cells, NumberBounds, Texts, Vocabulary, read_numbers
from app.kinds.predictions.declared import Predictions
from app.names import MAX_NAME, clip_for_message, complain_about_name, first_few, is_name
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.values.scores import NONE

# ASCII in print, single spaces inside.
_PLAIN_NAME = "^[!-~]+(?: [!-~]+)*$"


def _are_names(texts: Texts) -> BoolArray:
    """Say which cells hold a name. Millions of plain ones are known by a pattern, and only the others one by one."""
    plain = pc.and_(pc.match_substring_regex(texts, _PLAIN_NAME), pc.less_equal(pc.utf8_length(texts), MAX_NAME))
    allowed = np.array(plain.fill_null(False))
    for at in np.flatnonzero(~allowed).tolist():
        text = texts[at].as_py()
        allowed[at] = text is not None and is_name(text)
    return allowed


# Which item, task and entrant a row of predictions or labels is about.

ITEM, TASK, ENTRANT = "item", "task", "entrant"

_SHOWN = 20


def items_of(cells: Cells) -> Texts:
    """Return the items of rows; a name that is not allowed is a problem."""
    texts = cells.texts(ITEM)
    cells.refuse(ITEM, ~_are_names(texts), lambda at: complain_about_name(texts[at].as_py()))
    return texts


class TaskNames:
    """The tasks of rows; with one known task its column may be left out. `known` None: any name is a task."""

    def __init__(self, known: Sequence[str] | None) -> None:
        self._known = known
        self._vocabulary = Vocabulary(is_name) if known is None else Vocabulary(lambda _: False, known)

    @property
    def words(self) -> tuple[str, ...]:
        """Every task, by its number."""
        return self._vocabulary.words

    def problems_of_header(self, header: Sequence[str], file: str) -> Iterator[Problem]:
        """Yield that a file does not say its tasks where there are several."""
        if TASK not in header and (self._known is None or len(self._known) != 1):
            yield missing_column(TASK, header, file)

    def read(self, cells: Cells) -> IntArray:
        """Return each row's task, NONE where it is unknown, which is a problem."""
        if TASK not in cells.columns:
            return np.zeros(len(cells), dtype=np.int64)
        texts = cells.texts(TASK)
        codes = self._vocabulary.encode(texts)
        cells.refuse(TASK, codes == NONE, lambda at: self._complaint(texts[at].as_py(), cells.findings))
        return codes

    def _complaint(self, text: str | None, findings: Findings) -> str:
        if text is None:
            return "the cell is empty"
        if self._known is None:
            return complain_about_name(text)
        return findings.unknown("not a task of this benchmark with labels", text, self._known)


class EntrantNames:
    """The entrants of rows; `field` is the form field, which names the entrant of rows that do not."""

    def __init__(self, field: str | None) -> None:
        self._field = field
        self._vocabulary = Vocabulary(is_name, () if field is None else (field,))

    @property
    def words(self) -> tuple[str, ...]:
        """Every entrant, by its number."""
        return self._vocabulary.words

    def problems_of_header(self, header: Sequence[str], file: str) -> Iterator[Problem]:
        """Yield that nothing says whose predictions these are."""
        if ENTRANT not in header and self._field is None:
            message = f"no entrant; send the form field {ENTRANT}, or a column {ENTRANT}"
            yield Problem(message, file, column=ENTRANT)

    def read(self, cells: Cells) -> IntArray:
        """Return each row's entrant, NONE where its name is not allowed, which is a problem."""
        if ENTRANT not in cells.columns:
            return np.zeros(len(cells), dtype=np.int64)
        texts = cells.texts(ENTRANT)
        texts = texts if self._field is None else texts.fill_null(self._field)
        codes = self._vocabulary.encode(texts)
        cells.refuse(ENTRANT, codes == NONE, lambda at: complain_about_name(texts[at].as_py()))
        if self._field is not None:
            cells.refuse(
                ENTRANT, codes > 0, lambda _: f"the form field entrant says {clip_for_message(str(self._field))}"
            )
        return codes


# What a row predicts: one number, a list, or one column per class, read a block at a time. A class's column is `p_`
# and the class, so that a class may be called `item`.

PREDICTION, CLASS_PREFIX = "prediction", "p_"

# A softmax in single precision ends so much beyond zero and one.
ROUNDING = 1e-6

PROBABILITY = NumberBounds(0.0, 1.0, tolerance=ROUNDING)

NUMBER = NumberBounds()


@dataclass(frozen=True)
class NumberCells:
    """Numbers read from a block, [n_rows, n_columns], and which of them were empty."""

    values: FloatArray
    empty: BoolArray


class ValueReader:
    """Reads what the rows of one benchmark predict."""

    def __init__(self, part: Predictions) -> None:
        self._part = part
        self._classes = tuple(part.classes or ())
        self._bounds = PROBABILITY if self._classes else NUMBER

    def wanted(self) -> list[str]:
        """Return every column that can hold a prediction."""
        return [PREDICTION, *(CLASS_PREFIX + name for name in self._classes)]

    def columns(self, header: Sequence[str]) -> list[str]:
        """Return the columns of one file that hold its predictions."""
        return [name for name in self.wanted() if name in header]

    def problems_of_header(self, header: Sequence[str], file: str) -> Iterator[Problem]:
        """Yield which columns a file lacks or has too many."""
        known = self.columns(header)
        if PREDICTION in known and len(known) > 1:
            yield Problem(f"send either {PREDICTION} or a column per class", file, 1, known[1])
        elif not known and self._part.n_columns == 1:
            or_class = f" (or {CLASS_PREFIX}{self._classes[self._positive]})" if self._classes else ""
            yield missing_column(PREDICTION, header, file, what=f"the column {PREDICTION}{or_class} is missing")
        elif PREDICTION not in known:
            needed = [self._classes[self._positive]] if self._part.n_columns == 1 else self._classes
            for name in needed:
                if CLASS_PREFIX + name not in known:
                    yield missing_column(CLASS_PREFIX + name, header, file)
        for name in header if self._classes else ():
            if name.startswith(CLASS_PREFIX) and name not in known:
                message = f"there is no class of this name; the classes are {first_few(self._classes, _SHOWN)}"
                yield Problem(message, file, 1, clip_for_message(name))

    @property
    def _positive(self) -> int:
        number = self._part.positive_number
        return 0 if number is None else number

    def read(self, cells: Cells, columns: Sequence[str]) -> FloatArray:
        """Return [n_rows, n_columns]; a row of NaN predicts nothing. Every wrong cell is a problem."""
        read = self._read_cells(cells, columns)
        self._refuse_gaps(cells, columns, read.empty)
        if len(self._classes) > 1 and read.values.shape[1] == len(self._classes):
            self._refuse_sums(cells, columns[0], read.values)
            if self._part.n_columns == 1:
                return read.values[:, [self._positive]]
        return read.values

    def _read_cells(self, cells: Cells, columns: Sequence[str]) -> NumberCells:
        if columns[0] != PREDICTION:
            # A binary file may hold the positive class alone.
            read = [cells.numbers(column, self._bounds) for column in columns]
            return NumberCells(
                np.column_stack([each.values for each in read]), np.column_stack([each.empty for each in read])
            )
        is_list = _are_lists(cells.columns[PREDICTION]) if self._classes else np.zeros(len(cells), dtype=np.bool_)
        if is_list.any():
            return self._read_lists(cells, is_list)
        numbers = cells.numbers(PREDICTION, self._bounds)
        if self._part.n_columns > 1:
            wanted = f"a list of {len(self._classes)} probabilities, or a column {CLASS_PREFIX}… for each class"
            cells.refuse(PREDICTION, ~numbers.empty, lambda _: f"one number for several classes; send {wanted}")
            shape = (len(cells), self._part.n_columns)
            return NumberCells(np.full(shape, np.nan), np.broadcast_to(numbers.empty[:, None], shape))
        return NumberCells(numbers.values[:, None], numbers.empty[:, None])

    def _read_lists(self, cells: Cells, is_list: BoolArray) -> NumberCells:
        """Read lists of one probability per class; in a column of lists every cell that is not empty is one."""
        n_classes = len(self._classes)
        column = cells.columns[PREDICTION]
        empty = np.asarray(pc.is_null(column))
        long_enough = is_list & (_list_lengths(column) == n_classes)
        message = f"expected a list of {n_classes} probabilities, in the order of the manifest's classes"
        cells.refuse(PREDICTION, ~long_enough & ~empty, lambda _: message)
        values = np.full((len(cells), n_classes), np.nan)
        values[long_enough] = self._numbers_of(cells, column, long_enough)
        return NumberCells(values, np.broadcast_to(empty[:, None], values.shape))

    def _numbers_of(self, cells: Cells, column: Texts, which: BoolArray) -> FloatArray:
        numbers = read_numbers(_list_elements(column.filter(pa.array(which))))
        wrong: BoolArray = self._bounds.wrong(numbers) | numbers.empty
        of_row = np.zeros(len(cells), dtype=np.bool_)
        of_row[which] = wrong.reshape(-1, len(self._classes)).any(axis=1)
        cells.refuse(PREDICTION, of_row, lambda _: "a probability is a number from 0 to 1; one of the list is not")
        return np.where(wrong, np.nan, self._bounds.cut(numbers.values)).reshape(-1, len(self._classes))

    def _refuse_gaps(self, cells: Cells, columns: Sequence[str], empty: BoolArray) -> None:
        nothing: BoolArray = np.asarray(empty.all(axis=1))
        if self._part.missing == "refuse":
            cells.refuse(columns[0], nothing, lambda _: "the prediction is empty")
        some: BoolArray = np.logical_and(empty.any(axis=1), ~nothing)
        if some.any():
            for at, column in enumerate(columns):
                cells.refuse(column, some & empty[:, at], lambda _: "empty, while other classes have a probability")

    def _refuse_sums(self, cells: Cells, column: str, values: FloatArray) -> None:
        totals: FloatArray = values.sum(axis=1)
        tolerance = self._part.sum_tolerance
        cells.refuse(
            column,
            np.abs(totals - 1.0) > tolerance,
            lambda at: f"the probabilities sum to {totals[at]:.6g}; they must sum to 1 within {tolerance:g}",
            lambda at: f"{totals[at]:.17g}",
        )


def _are_lists(column: Texts) -> BoolArray:
    if not pa.types.is_string(column.type):
        valid: BoolArray = np.asarray(pc.is_valid(column))
        return valid if pa.types.is_list(column.type) else np.zeros_like(valid)
    opened: BoolArray = np.asarray(pc.starts_with(pc.utf8_ltrim_whitespace(column), "[").fill_null(False))
    return opened


def _list_lengths(column: Texts) -> FloatArray:
    """Return the length of each list, NaN where the cell is none."""
    if pa.types.is_list(column.type):
        return np.array(pc.list_value_length(column).cast(pa.float64()).fill_null(np.nan))
    trimmed = pc.utf8_trim_whitespace(column)
    closed = pc.and_(pc.ends_with(trimmed, "]"), pc.equal(pc.count_substring_regex(trimmed, r"[\[\]]"), 2))
    n_commas = pc.count_substring(trimmed, ",").cast(pa.float64())
    return np.array(pc.if_else(closed, pc.add(n_commas, 1.0), np.nan).fill_null(np.nan))


def _list_elements(column: Texts) -> Texts:
    if pa.types.is_list(column.type):
        return pc.list_flatten(column)
    inner = pc.utf8_slice_codeunits(pc.utf8_trim_whitespace(column), 1, -1)
    texts = pc.utf8_trim_whitespace(pc.list_flatten(pc.split_pattern(inner, ",")))
    return pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)
