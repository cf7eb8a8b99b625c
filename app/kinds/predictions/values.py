"""What a row predicts: one number, a list, or one column per class, read a block at a time.

Called by `app.kinds.predictions.read`. A class's column is `p_` and the class, so that a class may be called `item`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.errors import Problem
from app.files.blocks import Texts
from app.files.headers import missing_column
from app.kinds.predictions.cells import NumberRule, RowCells, breaks, to_numbers
from app.kinds.predictions.declared import Predictions
from app.names import clip_for_message
from app.stats.arrays import BoolArray, FloatArray
from app.values.magnitude import LARGEST

PREDICTION, CLASS_PREFIX = "prediction", "p_"
# A softmax in single precision ends so much beyond zero and one.
ROUNDING = 1e-6
PROBABILITY = NumberRule("a probability", 0.0, 1.0, ROUNDING)
NUMBER = NumberRule("a prediction", -LARGEST, LARGEST)
_SHOWN = 20


@dataclass(frozen=True)
class Cells:
    """Numbers read from a block, [n_rows, n_columns], and which of them were empty."""

    values: FloatArray
    empty: BoolArray


class ValueReader:
    """Reads what the rows of one benchmark predict."""

    def __init__(self, part: Predictions) -> None:
        self._part = part
        self._classes = tuple(part.classes or ())
        self._rule = PROBABILITY if self._classes else NUMBER

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
                listed = ", ".join(self._classes[:_SHOWN]) + (", …" if len(self._classes) > _SHOWN else "")
                message = f"there is no class of this name; the classes are {listed}"
                yield Problem(message, file, 1, clip_for_message(name))

    @property
    def _positive(self) -> int:
        number = self._part.positive_number
        return 0 if number is None else number

    def read(self, cells: RowCells, columns: Sequence[str]) -> FloatArray:
        """Return [n_rows, n_columns]; a row of NaN predicts nothing. Every wrong cell is a problem."""
        read = self._read_cells(cells, columns)
        self._refuse_gaps(cells, columns, read.empty)
        if len(self._classes) > 1 and read.values.shape[1] == len(self._classes):
            self._refuse_sums(cells, columns[0], read.values)
            if self._part.n_columns == 1:
                return read.values[:, [self._positive]]
        return read.values

    def _read_cells(self, cells: RowCells, columns: Sequence[str]) -> Cells:
        if columns[0] != PREDICTION:
            # A binary file may hold the positive class alone.
            read = [cells.numbers(column, self._rule) for column in columns]
            return Cells(
                np.column_stack([each.values for each in read]), np.column_stack([each.empty for each in read])
            )
        is_list = _are_lists(cells.columns[PREDICTION]) if self._classes else np.zeros(len(cells), dtype=np.bool_)
        if is_list.any():
            return self._read_lists(cells, is_list)
        numbers = cells.numbers(PREDICTION, self._rule)
        if self._part.n_columns > 1:
            wanted = f"a list of {len(self._classes)} probabilities, or a column {CLASS_PREFIX}… for each class"
            cells.refuse(PREDICTION, ~numbers.empty, lambda _: f"one number for several classes; send {wanted}")
            shape = (len(cells), self._part.n_columns)
            return Cells(np.full(shape, np.nan), np.broadcast_to(numbers.empty[:, None], shape))
        return Cells(numbers.values[:, None], numbers.empty[:, None])

    def _read_lists(self, cells: RowCells, is_list: BoolArray) -> Cells:
        """Read lists of one probability per class; in a column of lists every cell that is not empty is one."""
        n_classes = len(self._classes)
        column = cells.columns[PREDICTION]
        empty = np.asarray(pc.is_null(column))
        long_enough = is_list & (_list_lengths(column) == n_classes)
        message = f"expected a list of {n_classes} probabilities, in the order of the manifest's classes"
        cells.refuse(PREDICTION, ~long_enough & ~empty, lambda _: message)
        values = np.full((len(cells), n_classes), np.nan)
        values[long_enough] = self._numbers_of(cells, column, long_enough)
        return Cells(values, np.broadcast_to(empty[:, None], values.shape))

    def _numbers_of(self, cells: RowCells, column: Texts, which: BoolArray) -> FloatArray:
        numbers = to_numbers(_list_elements(column.filter(pa.array(which))))
        wrong: BoolArray = breaks(numbers, self._rule) | numbers.empty
        of_row = np.zeros(len(cells), dtype=np.bool_)
        of_row[which] = wrong.reshape(-1, len(self._classes)).any(axis=1)
        cells.refuse(PREDICTION, of_row, lambda _: "a probability is a number from 0 to 1; one of the list is not")
        return np.where(wrong, np.nan, self._rule.cut(numbers.values)).reshape(-1, len(self._classes))

    def _refuse_gaps(self, cells: RowCells, columns: Sequence[str], empty: BoolArray) -> None:
        nothing: BoolArray = np.asarray(empty.all(axis=1))
        if self._part.missing == "refuse":
            cells.refuse(columns[0], nothing, lambda _: "the prediction is empty")
        some: BoolArray = np.logical_and(empty.any(axis=1), ~nothing)
        if some.any():
            for at, column in enumerate(columns):
                cells.refuse(column, some & empty[:, at], lambda _: "empty, while other classes have a probability")

    def _refuse_sums(self, cells: RowCells, column: str, values: FloatArray) -> None:
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
