"""Text cells as numbers, a column at a time, with a message for each that is not a number.

Called by `app.kinds.summary.read` for metrics and measured quantities.
"""

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from app.files.blocks import Texts
from app.stats.arrays import BoolArray, FloatArray
from app.values.magnitude import BEYOND, LARGEST

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?i:nan|inf|infinity)", re.ASCII)
_NAN = float("nan")


@dataclass(frozen=True)
class Bounds:
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


def wrong_cells(numbers: Numbers, bounds: Bounds) -> BoolArray:
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


def describe_wrong(value: float, text: str, bounds: Bounds) -> str:
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
