"""Where the values of a table's rows lie in a drawing. Called by `app.render.plot` and `app.render.plot_marks`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.render.whisker import Scale
from app.values.table import Cell

WIDTH, HEIGHT = 640.0, 360.0
LEFT, RIGHT, TOP, BOTTOM = 56.0, 12.0, 12.0, 44.0

Declared = Mapping[str, Any]


@dataclass(frozen=True)
class Point:
    """A row as it is drawn; `up` is None where a line is to break."""

    across: float
    up: float | None
    low: float | None
    high: float | None
    row: Mapping[str, Cell]


@dataclass(frozen=True)
class Axis:
    """The horizontal axis of a drawing of this width."""

    scale: Scale
    width: float

    def at(self, value: float) -> float:
        """Return the position of a value, at the end of the axis where it lies beyond."""
        share = (min(max(value, self.scale.low), self.scale.high) - self.scale.low) / (self.scale.high - self.scale.low)
        return round(LEFT + share * (self.width - LEFT - RIGHT), 1)


@dataclass(frozen=True)
class Falling(Scale):
    """A scale whose smallest value is on top, as ranks are read."""


def y_at(scale: Scale, value: float) -> float:
    """Return the position of a value up, at the end of the axis where it lies beyond."""
    share = (min(max(value, scale.low), scale.high) - scale.low) / (scale.high - scale.low)
    share = 1.0 - share if isinstance(scale, Falling) else share
    return round(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM), 1)
