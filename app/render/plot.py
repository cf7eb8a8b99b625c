"""A table as a plot: lines with bands, bars, points, or a heatmap, as geometry that a template draws as inline SVG.

Called by the page of a table whose `meta["plot"]` says which columns are what. The plot shows what the table under it
says and nothing else; it needs no script, follows the colours of the page, and prints.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from app.render.text import format_number
from app.render.whisker import Scale
from app.table import Cell, Table

WIDTH, HEIGHT = 640.0, 360.0
LEFT, RIGHT, TOP, BOTTOM = 56.0, 12.0, 12.0, 44.0
MAX_SERIES = 10
MAX_CELLS = 4000
SHADES = 8


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


@dataclass(frozen=True)
class HeatCell:
    """One cell of a heatmap: its text and a shade from 0 to 8; `note` is read out in full."""

    text: str
    shade: int
    note: str


@dataclass(frozen=True)
class Heatmap:
    """Rows by columns; a cell is None where the table has no row."""

    row_title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[HeatCell | None, ...]], ...]


def build_plot(table: Table) -> LinePlot | None:
    """Return the lines, points or bars that a table declares; None when it declares none, or has nothing to draw."""
    declared = table.meta.get("plot")
    if not isinstance(declared, Mapping) or declared["kind"] == "heatmap":
        return None
    groups = _groups(table, declared)
    points = [point for group in groups.values() for point in group]
    if not points:
        return None
    x = _scale([point[0] for point in points], declared.get("x_range"))
    y = _scale([value for point in points for value in point[1:] if value is not None], declared.get("y_range"))
    shown = list(groups.items())[:MAX_SERIES]
    kind = str(declared["kind"])
    return LinePlot(
        x_title=_title(table, declared["x"]),
        y_title=_title(table, declared["y"]),
        x_ticks=tuple(Tick(_x(x, value), format_number(value, _digits(x))) for value in x.ticks()),
        y_ticks=tuple(Tick(_y(y, value), format_number(value, _digits(y))) for value in y.ticks()),
        series=tuple(
            _series(name, number, group, x, y, declared["kind"]) for number, (name, group) in enumerate(shown)
        ),
        n_hidden=len(groups) - len(shown),
        diagonal=_diagonal(x, y) if declared.get("diagonal") else None,
        kind=kind,
    )


def build_heatmap(table: Table) -> Heatmap | None:
    """Return the heatmap that a table declares; None when it declares none, or is too large to read."""
    declared = table.meta.get("plot")
    if not isinstance(declared, Mapping) or declared["kind"] != "heatmap" or not table.rows:
        return None
    column, row, value = (table.index(declared[key]) for key in ("x", "y", "value"))
    columns = tuple(dict.fromkeys(str(r[column]) for r in table.rows))
    shown_as = table.meta.get("shown_as", {}).get(declared["x"], {})
    rows = tuple(dict.fromkeys(str(r[row]) for r in table.rows))
    if len(columns) * len(rows) > MAX_CELLS:
        return None
    numbers = [number for r in table.rows if (number := _number(r, value)) is not None]
    highest = max([*numbers, float(declared.get("highest", 0.0))]) or 1.0
    cells = {(str(r[row]), str(r[column])): _heat_cell(table, r, value, highest) for r in table.rows}
    return Heatmap(
        row_title=table.columns[row].title,
        columns=tuple(shown_as.get(name, name) for name in columns),
        rows=tuple((name, tuple(cells.get((name, other)) for other in columns)) for name in rows),
    )


Point = tuple[float, float, float | None, float | None]


def _groups(table: Table, declared: Mapping[str, str]) -> dict[str, list[Point]]:
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
    steps = [later[0] - earlier[0] for earlier, later in pairwise(placed)]
    half = max(0.4 * min((step for step in steps if step > 0), default=20.0), 0.5)
    return "".join(f"M{at - half:g} {floor:g}V{up:g}H{at + half:g}V{floor:g}Z" for at, up in placed)


def _diagonal(x: Scale, y: Scale) -> str | None:
    low, high = max(x.low, y.low), min(x.high, y.high)
    return f"M{_x(x, low):g} {_y(y, low):g}L{_x(x, high):g} {_y(y, high):g}" if high > low else None


def _heat_cell(table: Table, row: Sequence[Cell], value: int, highest: float) -> HeatCell:
    number = row[value]
    column = table.columns[value]
    if not isinstance(number, int | float):
        return HeatCell("–", 0, "none")
    digits = 0 if isinstance(number, int) else (2 if column.digits is None else column.digits)
    text = format_number(number, digits)
    share = min(max(float(number) / highest, 0.0), 1.0)
    # Zero is blank, and anything above it has at least the palest shade.
    shade = 0 if share == 0.0 else max(1, round(share * SHADES))
    return HeatCell(text, shade, f"{column.title} {text}")
