"""Whiskers: points with intervals on one scale per column, so that they compare down the column.

Called by `app.render.columns`; geometry only, the drawing is a template macro. Positions are in pixels.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import quantiles

WIDTH = 132.0
MARGIN = 8.0
MIDDLE = 9
MIN_TO_CLIP = 8
Mark = tuple[float, float, float]


@dataclass(frozen=True)
class Scale:
    """A linear scale from values to horizontal positions in a drawing of WIDTH."""

    low: float
    high: float

    def at(self, value: float) -> float:
        """Return the position of a value, rounded to tenths; values beyond an end are at that end."""
        share = (value - self.low) / (self.high - self.low)
        return round(MARGIN + min(max(share, 0.0), 1.0) * (WIDTH - 2 * MARGIN), 1)

    def holds(self, value: float) -> bool:
        """Say whether a value is inside the scale."""
        return self.low <= value <= self.high

    def ticks(self) -> list[float]:
        """Return the round values that the axis names, at least two where the scale allows it."""
        for step in _round_steps((self.high - self.low) / 2.0):
            first = math.ceil(self.low / step - 1e-9)
            last = math.floor(self.high / step + 1e-9)
            if last - first >= 1:
                return [position * step for position in range(first, last + 1)]
        return []


@dataclass(frozen=True)
class Whisker:
    """One drawing: the position of the point (None when it is beyond the scale) and the path of its interval."""

    point: float | None
    path: str


def column_scale(marks: Sequence[Mark]) -> Scale | None:
    """Return the scale of a column's (point, low, high), or None when there is none.

    Points far from the others (Tukey's fences) do not stretch the scale: they would press all the others
    together. They are drawn as arrows at its end, and their numbers are beside them.
    """
    if not marks:
        return None
    near = _without_outliers(marks)
    low, high = min(mark[1] for mark in near), max(mark[2] for mark in near)
    low, high = min(low, *(mark[0] for mark in near), high), max(high, *(mark[0] for mark in near), low)
    return Scale(low, high) if high > low else Scale(low - 0.5, high + 0.5)


def _without_outliers(marks: Sequence[Mark]) -> Sequence[Mark]:
    if len(marks) < MIN_TO_CLIP:
        return marks
    first, _, third = quantiles((mark[0] for mark in marks), method="inclusive")
    reach = 1.5 * (third - first)
    near = [mark for mark in marks if first - reach <= mark[0] <= third + reach]
    return near if reach > 0.0 else marks


def whisker(scale: Scale, point: float, low: float, high: float) -> Whisker:
    """Place one point and its interval on the column's scale; an end beyond it becomes an arrow."""
    left, right = scale.at(low), scale.at(high)
    line = f"M{left:g} {MIDDLE}H{right:g}"
    ends = _end(scale, low, inward=4) + _end(scale, high, inward=-4)
    return Whisker(scale.at(point) if scale.holds(point) else None, line + ends)


def _end(scale: Scale, value: float, *, inward: int) -> str:
    at = scale.at(value)
    # Bounds equal the ends of the scale up to rounding; only what is truly beyond is an arrow.
    beyond = scale.low - value if inward > 0 else value - scale.high
    if beyond > 1e-9 * (scale.high - scale.low):
        return f"M{at + inward:g} {MIDDLE - 4}L{at:g} {MIDDLE}L{at + inward:g} {MIDDLE + 4}"
    return f"M{at:g} {MIDDLE - 3}v6"


def _round_steps(span: float) -> Sequence[float]:
    """Return 1, 2 and 5 times powers of ten at most as large as `span`, the largest first."""
    power = math.floor(math.log10(span))
    steps = [base * 10.0**exponent for exponent in (power, power - 1) for base in (5.0, 2.0, 1.0)]
    return [step for step in steps if step <= span * (1.0 + 1e-9)]
