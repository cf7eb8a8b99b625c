"""Columns of a stranger's table: blocks of texts, and the numbers, flags and words that are made of them.

The common form of every kind of table file: a header, then blocks of records with their row numbers. A cell is text,
or null when it is empty.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.errors import Problem
from app.files.findings import Findings
from app.names import clip_for_message
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.values.scores import NONE, Coded

MAX_COLUMNS = 2000

Texts = Any
"""A pyarrow array of strings; pyarrow ships no complete type information."""


@dataclass(frozen=True)
class Block:
    """Some records of a table: `rows` are their numbers, `columns` their cells, each of equal length."""

    rows: IntArray
    columns: Mapping[str, Texts]

    def __len__(self) -> int:
        return len(self.rows)


class TableFile(Protocol):
    """A table on disk. `header` names its columns without those that have no name."""

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the columns, in the file's order."""

    @property
    def n_counted(self) -> int:
        """How many records it is known to have before they are read; 0 where they are counted as they are read."""

    def blocks(self, wanted: Sequence[str]) -> Iterator[Block]:
        """Yield the records with the wanted columns, all of which are in the header."""


# Text cells as numbers, a column at a time, with a message for each that is not a number.

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?i:nan|inf|infinity)", re.ASCII)

_NAN = float("nan")


@dataclass(frozen=True)
class NumberBounds:
    """What a column's numbers may be. `nan_is_empty`: the text NaN means a missing value."""

    low: float | None
    high: float | None
    nan_is_empty: bool = False


@dataclass(frozen=True)
class Numbers:
    """The cells of a column: `values` is NaN where `empty` or wrong; `is_text` marks cells that are no number."""

    values: FloatArray
    empty: BoolArray
    is_text: BoolArray


def read_numbers(texts: Texts) -> Numbers:
    """Read a column of text as numbers; NaN and infinities are read as such."""
    empty = np.asarray(pc.is_null(texts))
    try:
        values = np.array(pc.cast(texts, pa.float64()).fill_null(_NAN))
    except pa.ArrowInvalid:
        return _read_one_by_one(texts, empty)
    return Numbers(values, empty, _nan_by_another_name(texts, values) & ~empty)


def _nan_by_another_name(texts: Texts, values: FloatArray) -> BoolArray:
    """Say which cells are read as NaN though no program that writes tables says it so: C's `nan(…)`."""
    is_nan = np.isnan(values)
    if not is_nan.any():
        return is_nan
    has_parenthesis: BoolArray = np.asarray(pc.match_substring(texts.fill_null(""), "("))
    return is_nan & has_parenthesis


def _read_one_by_one(texts: Texts, empty: BoolArray) -> Numbers:
    stripped = [(text or "").strip() for text in texts.to_pylist()]
    is_number = np.array([_NUMBER.fullmatch(text) is not None for text in stripped], dtype=np.bool_)
    values = np.array([float(t) if ok else _NAN for t, ok in zip(stripped, is_number.tolist(), strict=True)])
    return Numbers(values, empty, ~is_number & ~empty)


def wrong_cells(numbers: Numbers, bounds: NumberBounds) -> BoolArray:
    """Say which cells hold something that the bounds do not allow; an empty cell is never wrong."""
    values = numbers.values
    wrong = numbers.is_text | (np.abs(values) > LARGEST)
    if not bounds.nan_is_empty:
        wrong |= np.isnan(values) & ~numbers.empty
    if bounds.low is not None:
        wrong |= values < bounds.low
    if bounds.high is not None:
        wrong |= values > bounds.high
    return wrong


def describe_wrong(value: float, text: str, bounds: NumberBounds) -> str:
    """Say what is wrong with one cell."""
    if _NUMBER.fullmatch(text.strip()) is None:
        hint = "; write decimals with a point" if re.fullmatch(r"\s*-?\d+,\d+\s*", text) else ""
        return f"not a number{hint}"
    if np.isnan(value):
        return "NaN is not a score; leave the cell empty when there is none"
    if np.isinf(value):
        return f"the number is infinite or too large for a 64-bit float; at most {LARGEST:g} in size is allowed"
    if abs(value) > LARGEST:
        return BEYOND
    if bounds.low is not None and value < bounds.low:
        return "negative; it must be at least 0" if bounds.low == 0 else f"below {bounds.low:g}, the smallest allowed"
    return f"above {bounds.high:g}, the largest allowed"


# How cells are read as true or false. Read by the kinds of evidence.

# With gaps, pandas writes a column of flags as 1.0 and 0.0.
FLAGS: Mapping[str, bool] = {
    **dict.fromkeys(("True", "true", "TRUE", "1", "1.0"), True),
    **dict.fromkeys(("False", "false", "FALSE", "0", "0.0"), False),
}


# Names to numbers, block by block: the words of a whole submission in the order of their first appearance. A name
# that is not allowed gets no number and is not kept.


def local_codes(texts: Texts) -> tuple[list[str], IntArray]:
    """Return the distinct texts of a column and each cell's position among them, NONE where it is empty."""
    encoded = texts.dictionary_encode()
    codes = np.asarray(encoded.indices.cast(pa.int64()).fill_null(NONE))
    return encoded.dictionary.to_pylist(), codes


class Vocabulary:
    """Words and their numbers. `allows` decides whether a new word gets one."""

    def __init__(self, allows: Callable[[str], bool], words: Iterable[str] = ()) -> None:
        self._allows = allows
        self._numbers = {word: number for number, word in enumerate(words)}

    @property
    def words(self) -> tuple[str, ...]:
        """Every word, by its number."""
        return tuple(self._numbers)

    def encode(self, texts: Texts) -> IntArray:
        """Return each cell's number, NONE where the cell is empty or its word is not allowed."""
        words, codes = local_codes(texts)
        lookup = np.array([*(self._number(word) for word in words), NONE], dtype=np.int64)
        return lookup[codes]

    def _number(self, word: str) -> int:
        number = self._numbers.get(word)
        if number is None:
            if not self._allows(word):
                return NONE
            number = self._numbers[word] = len(self._numbers)
        return number


def coded(words: tuple[str, ...], codes: IntArray) -> Coded:
    """Return a column with only the words that occur in it."""
    used = np.unique(codes[codes != NONE])
    numbers = np.full(len(words) + 1, NONE, dtype=np.int64)
    numbers[used] = np.arange(len(used))
    return Coded(tuple(words[code] for code in used.tolist()), numbers[codes])


# The largest number accepted, for every kind of evidence, and its wording in a refusal. Beyond the limit no score,
# time, count, weight or claim means anything; within it sums of fourth powers are finite, so no row can leave a board
# without numbers.

LARGEST = 1e50

BEYOND = f"larger in size than {LARGEST:g}, the most that a number may be here"


def is_storable(number: float) -> bool:
    """Say whether a number is accepted: finite, and at most LARGEST in absolute value."""
    return -LARGEST <= number <= LARGEST


# The wanted columns of one block of a table, and where its problems go. For kinds that read block by block.


@dataclass(frozen=True)
class Cells:
    """The wanted columns of a block, and where its problems go; `files` names the file of each row of several."""

    file: str
    rows: IntArray
    columns: Mapping[str, Texts]
    findings: Findings
    files: Sequence[str] | None = None

    def texts(self, column: str) -> Texts:
        """Return a column; one that the file lacks is empty."""
        return self.columns[column] if column in self.columns else empty_texts(len(self.rows))

    def refuse(self, column: str, wrong: BoolArray, message: Callable[[int], str]) -> None:
        """Add a problem for each wrong cell of a column; `message` is given its position."""

        def describe(position: int) -> Problem:
            text = self.texts(column)[position].as_py()
            value = None if text is None else clip_for_message(text)
            file = self.file if self.files is None else self.files[position]
            return Problem(message(position), file, int(self.rows[position]), column, value)

        self.findings.add_each(np.flatnonzero(wrong).tolist(), describe)


def empty_texts(n_rows: int) -> Texts:
    """Return a column in which every cell is empty."""
    return pa.nulls(n_rows, pa.string())
