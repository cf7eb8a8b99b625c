"""The cells of one block of a prediction or label file as texts and numbers, with a problem for each wrong one.

Called by `app.kinds.predictions.values` and `app.kinds.predictions.labels`. Cells of a CSV file are texts; those
of a Parquet file may be numbers or lists. A message never holds a cell's content: that is the problem's `value`, which
columns that are secret leave out.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.errors import Problem
from app.files.blocks import Texts
from app.files.findings import Findings
from app.files.number_cells import Numbers, read_numbers
from app.names import MAX_NAME, clip_for_message, complain_about_name, is_name
from app.stats.arrays import BoolArray, FloatArray, IntArray

# ASCII in print, single spaces inside.
_PLAIN_NAME = "^[!-~]+(?: [!-~]+)*$"
_DECIMAL_COMMA = re.compile(r"\s*-?\d+,\d+\s*")


@dataclass(frozen=True)
class NumberRule:
    """What the numbers of a column are, and between which bounds; beyond them by at most `tolerance` is cut to them."""

    what: str
    low: float | None = None
    high: float | None = None
    tolerance: float = 0.0

    def complaint(self, value: float) -> str:
        """Say what is wrong with a number that breaks the rule."""
        if np.isnan(value):
            return f"NaN is not {self.what}"
        if np.isinf(value):
            return f"{self.what} is a finite number; this one is infinite or too large for a 64-bit float"
        if self.low is not None and value < self.low:
            return f"{self.what} is at least {self.low:g}{self._cut}"
        return f"{self.what} is at most {self.high:g}{self._cut}"

    @property
    def _cut(self) -> str:
        return f"; rounding beyond it by up to {self.tolerance:g} is cut" if self.tolerance else ""

    def cut(self, values: FloatArray) -> FloatArray:
        """Return numbers within the tolerance as they count."""
        if not self.tolerance:
            return values
        within: FloatArray = np.clip(values, self.low, self.high)
        return within


@dataclass(frozen=True)
class RowCells:
    """The wanted columns of a block. `secret` columns are never quoted."""

    file: str
    rows: IntArray
    columns: Mapping[str, Texts]
    findings: Findings
    secret: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.rows)

    def texts(self, column: str) -> Texts:
        """Return a column of names as texts."""
        cells = self.columns[column]
        return cells if pa.types.is_string(cells.type) else cells.cast(pa.string())

    def refuse(
        self,
        column: str,
        wrong: BoolArray,
        message: Callable[[int], str],
        value: Callable[[int], str] | None = None,
    ) -> None:
        """Add a problem for each wrong row of a column; `message` and `value` are given its position."""

        def describe(position: int) -> Problem:
            shown = value(position) if value is not None else self._shown(column, position)
            return Problem(message(position), self.file, int(self.rows[position]), column, shown)

        self.findings.add_each(np.flatnonzero(wrong).tolist(), describe)

    def _shown(self, column: str, position: int) -> str | None:
        content = None if column in self.secret else self.columns[column][position].as_py()
        return None if content is None else clip_for_message(str(content))

    def numbers(self, column: str, rule: NumberRule) -> Numbers:
        """Read a column of numbers; each that is wrong is a problem and NaN, an empty cell is neither."""
        numbers = to_numbers(self.columns[column])
        wrong = breaks(numbers, rule)
        self.refuse(column, wrong, lambda at: self._complaint(column, numbers, rule, at))
        return Numbers(np.where(wrong, np.nan, rule.cut(numbers.values)), numbers.empty, numbers.is_text)

    def _complaint(self, column: str, numbers: Numbers, rule: NumberRule, position: int) -> str:
        if not numbers.is_text[position]:
            return rule.complaint(float(numbers.values[position]))
        text = str(self.columns[column][position].as_py())
        return "not a number" + ("; write decimals with a point" if _DECIMAL_COMMA.fullmatch(text) else "")

    def required_numbers(self, column: str, rule: NumberRule) -> FloatArray:
        """Read a column of numbers in which no cell may be empty."""
        numbers = self.numbers(column, rule)
        self.refuse(column, numbers.empty, lambda _: "the cell is empty")
        return numbers.values

    def required_texts(self, column: str) -> Texts:
        """Return a column of names in which no cell may be empty."""
        texts = self.texts(column)
        self.refuse(column, np.asarray(pc.is_null(texts)), lambda _: "the cell is empty")
        return texts

    def items(self, column: str) -> Texts:
        """Return a column of items; a name that is not allowed is a problem."""
        texts = self.texts(column)
        self.refuse(column, ~_are_names(texts), lambda at: complain_about_name(texts[at].as_py()))
        return texts


def to_numbers(cells: Texts) -> Numbers:
    """Read cells of any kind as numbers."""
    if pa.types.is_string(cells.type):
        return read_numbers(pc.utf8_trim_whitespace(cells))
    empty = np.asarray(pc.is_null(cells))
    values = np.array(cells.cast(pa.float64(), safe=False).fill_null(np.nan))
    return Numbers(values, empty, np.zeros(len(values), dtype=np.bool_))


def breaks(numbers: Numbers, rule: NumberRule) -> BoolArray:
    """Say which cells hold something that is no finite number within the bounds; an empty cell does not."""
    wrong: BoolArray = ~np.isfinite(numbers.values) & ~numbers.empty
    if rule.low is not None:
        wrong |= numbers.values < rule.low - rule.tolerance
    if rule.high is not None:
        wrong |= numbers.values > rule.high + rule.tolerance
    return wrong


def _are_names(texts: Texts) -> BoolArray:
    """Say which cells hold a name. Millions of plain ones are known by a pattern, and only the others one by one."""
    plain = pc.and_(pc.match_substring_regex(texts, _PLAIN_NAME), pc.less_equal(pc.utf8_length(texts), MAX_NAME))
    allowed = np.array(plain.fill_null(False))
    for at in np.flatnonzero(~allowed).tolist():
        text = texts[at].as_py()
        allowed[at] = text is not None and is_name(text)
    return allowed
