"""Rows as a plot: lines with bands, bars or points, as geometry that a template draws as inline SVG.

Called by `app.render.drawings` for each plot that a table declares. The plot shows what the table under it says and
nothing else; it needs no script, follows the colours of the page, and prints.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from app.render.text import format_number
from app.render.whisker import Scale
from app.values.table import Cell, Table

WIDTH, HEIGHT = 640.0, 360.0
LEFT, RIGHT, TOP, BOTTOM = 56.0, 12.0, 12.0, 44.0
MAX_SERIES = 10

Declared = Mapping[str, Any]
Point = tuple[float, float, float | None, float | None]


@dataclass(frozen=True)
class Tick:
    """A named position on an axis."""

    at: float
    text: str


@dataclass(frozen=True)
class Series:
    """One line with its band, its points or its bars, as SVG paths; `number` chooses its colour."""

    name: str
    number: int
    line: str
    band: str


@dataclass(frozen=True)
class LinePlot:
    """Series on two axes. `n_hidden` counts those that did not fit; `diagonal` is a line of reference."""

    x_title: str
    y_title: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    series: tuple[Series, ...]
    n_hidden: int
    diagonal: str | None
    kind: str


def build_plot(table: Table, declared: Declared, numbers: Mapping[str, int]) -> LinePlot | None:
    """Return the lines, points or bars of a table's rows as declared; None when there is nothing to draw.

    `numbers` are the colours of the names, so that a name has one colour in all plots of a table.
    """
    groups = _groups(table, declared)
    points = [point for group in groups.values() for point in group]
    if not points:
        return None
    kind = str(declared["kind"])
    up = [value for point in points for value in point[1:] if value is not None]
    across = [point[0] for point in points]
    # Bars stand on both sides of their positions.
    half = _step(across) / 2 if kind == "bars" else 0.0
    x = _scale([min(across) - half, max(across) + half], declared.get("x_range"))
    # A bar's length is read from zero.
    y = _scale([*up, 0.0] if kind == "bars" else up, declared.get("y_range"))
    shown = list(groups.items())[:MAX_SERIES]
    return LinePlot(
        x_title=_title(table, declared["x"]),
        y_title=_title(table, declared["y"]),
        x_ticks=tuple(Tick(_x(x, value), format_number(value, _digits(x))) for value in x.ticks()),
        y_ticks=tuple(Tick(_y(y, value), format_number(value, _digits(y))) for value in y.ticks()),
        series=tuple(
            _series(name, numbers.get(name, number), group, x, y, kind) for number, (name, group) in enumerate(shown)
        ),
        n_hidden=len(groups) - len(shown),
        diagonal=_diagonal(x, y) if declared.get("diagonal") else None,
        kind=kind,
    )


def series_numbers(table: Table, declared: Declared) -> Mapping[str, int]:
    """Return the colour of each name that a table's rows are drawn by; empty when there are too few colours."""
    by = declared.get("by")
    names = () if by is None else dict.fromkeys(str(row[table.index(by)]) for row in table.rows)
    return {name: number for number, name in enumerate(names)} if len(names) <= MAX_SERIES else {}


def _groups(table: Table, declared: Declared) -> dict[str, list[Point]]:
    names = (declared["x"], declared["y"], declared.get("low"), declared.get("high"), declared.get("by"))
    x, y, low, high, by = (None if name is None else table.index(name) for name in names)
    groups: dict[str, list[Point]] = {}
    for row in table.rows:
        across, up = _number(row, x), _number(row, y)
        if across is not None and up is not None:
            name = "" if by is None else str(row[by])
            groups.setdefault(name, []).append((across, up, _number(row, low), _number(row, high)))
    return groups


def _number(row: Sequence[Cell], at: int | None) -> float | None:
    value = None if at is None else row[at]
    return float(value) if isinstance(value, int | float) else None


def _scale(values: Sequence[float], declared: Sequence[float] | None) -> Scale:
    low, high = (min(values), max(values)) if declared is None else (float(declared[0]), float(declared[1]))
    return Scale(low, high) if high > low else Scale(low - 0.5, high + 0.5)


def _title(table: Table, name: str) -> str:
    column = table.columns[table.index(name)]
    return f"{column.title} ({column.unit})" if column.unit else column.title


def _digits(scale: Scale) -> int:
    span = scale.high - scale.low
    return next((digits for digits in range(6) if span * 10**digits >= 4), 6)


def _x(scale: Scale, value: float) -> float:
    share = (min(max(value, scale.low), scale.high) - scale.low) / (scale.high - scale.low)
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)


def _y(scale: Scale, value: float) -> float:
    share = (min(max(value, scale.low), scale.high) - scale.low) / (scale.high - scale.low)
    return round(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM), 1)


def _series(name: str, number: int, points: Sequence[Point], x: Scale, y: Scale, kind: str) -> Series:
    placed = [(_x(x, across), _y(y, up)) for across, up, _, _ in points]
    if kind == "bars":
        return Series(name, number, _bars(placed, _y(y, max(y.low, 0.0))), "")
    if kind == "points":
        return Series(name, number, "".join(f"M{across:g} {up:g}h.01" for across, up in placed), "")
    return Series(name, number, "M" + "L".join(f"{across:g} {up:g}" for across, up in placed), _band(points, x, y))


def _band(points: Sequence[Point], x: Scale, y: Scale) -> str:
    ends = [(_x(x, across), _y(y, low), _y(y, high)) for across, _, low, high in points if None not in (low, high)
            and low is not None and high is not None]  # fmt: skip
    if not ends:
        return ""
    there = "L".join(f"{across:g} {low:g}" for across, low, _ in ends)
    back = "L".join(f"{across:g} {high:g}" for across, _, high in reversed(ends))
    return f"M{there}L{back}Z"


def _bars(placed: Sequence[tuple[float, float]], floor: float) -> str:
    half = max(0.4 * (_step([at for at, _ in placed]) or 50.0), 0.5)
    return "".join(f"M{at - half:g} {floor:g}V{up:g}H{at + half:g}V{floor:g}Z" for at, up in placed)


def _step(positions: Sequence[float]) -> float:
    """Return the smallest distance of two neighbours, 0 when there are no two."""
    ordered = sorted(positions)
    return min((later - earlier for earlier, later in pairwise(ordered) if later > earlier), default=0.0)


def _diagonal(x: Scale, y: Scale) -> str | None:
    low, high = max(x.low, y.low), min(x.high, y.high)
    return f"M{_x(x, low):g} {_y(y, low):g}L{_x(x, high):g} {_y(y, high):g}" if high > low else None
