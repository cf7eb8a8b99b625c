"""Whiskers: points with intervals on one scale per column, so that they compare down the column.

Called by `app.render.html`; geometry only, the drawing is a template macro.
"""

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 140.0
MARGIN = 5.0


@dataclass(frozen=True)
class Scale:
    """A linear scale from values to horizontal positions in a drawing of WIDTH."""

    low: float
    high: float

    def at(self, value: float) -> float:
        """Return the position of a value, rounded to tenths."""
        share = (value - self.low) / (self.high - self.low)
        return round(MARGIN + share * (WIDTH - 2 * MARGIN), 1)

    def reference(self) -> float | None:
        """Return where zero lies, when it is inside the scale."""
        return self.at(0.0) if self.low < 0.0 < self.high else None


@dataclass(frozen=True)
class Whisker:
    """One drawing: positions of the point and its ends, and of zero."""

    point: float
    low: float
    high: float
    zero: float | None


def column_scale(values: Sequence[float | None]) -> Scale | None:
    """Return the scale that shows every value, or None when there is none."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    low, high = min(known), max(known)
    return Scale(low, high) if high > low else Scale(low - 0.5, high + 0.5)


def whisker(scale: Scale, point: float, low: float, high: float) -> Whisker:
    """Place one point and its interval on the column's scale."""
    return Whisker(scale.at(point), scale.at(low), scale.at(high), scale.reference())
