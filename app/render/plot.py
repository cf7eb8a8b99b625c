"""Rows as a plot: lines with bands, bars or points, as geometry that a template draws as inline SVG.

Called by `app.render.drawings` for each plot that a table declares. The plot shows what the table under it says and
nothing else; it needs no script, follows the colours of the page, and prints.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from app.render.plot_axes import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Axis, Declared, Falling, Point, y_at
from app.render.plot_marks import LINE_HEIGHT, Level, Mark, levels_of, marks_of, spread, words_of
from app.render.text import format_number
from app.render.whisker import Scale
from app.values.table import Cell, Table

MAX_SERIES = 10
DASH = 6.0
NAMES = 0.35
RANK_ROOM = 0.5
MOST_RANKS = 12


@dataclass(frozen=True)
class Tick:
    """A named position on an axis."""

    at: float
    text: str


@dataclass(frozen=True)
class Series:
    """One line with its band, its points or its bars, as SVG paths; `number` chooses its colour.

    `dots` are where a line was measured, for lines of few points.
    """

    name: str
    number: int
    line: str
    band: str
    dots: str = ""


@dataclass(frozen=True)
class LinePlot:
    """Series on two axes. `n_hidden` counts those that did not fit; `diagonal` is a line of reference.

    `marks` are texts at points and curves, `levels` level lines with their words.
    """

    x_title: str
    y_title: str
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    series: tuple[Series, ...]
    n_hidden: int
    diagonal: str | None
    kind: str
    width: float = WIDTH
    height: float = HEIGHT
    marks: tuple[Mark, ...] = ()
    levels: tuple[Level, ...] = ()


def build_plot(table: Table, declared: Declared, numbers: Mapping[str, int]) -> LinePlot | None:
    """Return the lines, points or bars of a table's rows as declared; None when there is nothing to draw.

    `numbers` are the colours of the names, so that a name has one colour in all plots of a table.
    """
    groups = _groups(table, declared)
    points = [point for group in groups.values() for point in group]
    if not points:
        return None
    kind = str(declared["kind"])
    up = [value for point in points for value in (point.up, point.low, point.high) if value is not None]
    across = [point.across for point in points]
    if not up:
        return None
    # Bars are on both sides of their positions.
    half = _step(across) / 2 if kind == "bars" else 0.0
    x = Axis(
        _scale([min(across) - half, max(across) + half + _room(across, declared)], declared.get("x_range")),
        # One unit across is as long as one up where shares are compared with shares.
        LEFT + RIGHT + HEIGHT - TOP - BOTTOM if declared.get("square") else WIDTH,
    )
    # A bar's length is read from zero.
    y = _scale([*up, 0.0] if kind == "bars" else up, declared.get("y_range"))
    # Ranks are whole numbers, and the first of them has room above it.
    y = Falling(y.low - RANK_ROOM, y.high + RANK_ROOM) if declared.get("falls") else y
    is_whole = kind != "bars" and table.columns[table.index(declared["x"])].kind == "integer"
    shown = list(groups.items())[:MAX_SERIES]
    keys = {name: _key(name, group, declared) for name, group in shown}
    is_banded = len(shown) <= int(declared.get("bands_upto", MAX_SERIES))
    placed = {name: numbers.get(name, number) for number, (name, _) in enumerate(shown)}
    return LinePlot(
        x_title=_title(table, declared["x"]),
        y_title=_title(table, declared["y"]),
        # Not where names stand: nothing lies there.
        x_ticks=tuple(
            Tick(x.at(value), format_number(value, 0 if is_whole else _digits(x.scale)))
            for value in _ticks(x.scale, is_whole=is_whole)
            if value <= max(across) + half or declared.get("direct") != "end"
        ),
        y_ticks=tuple(
            Tick(y_at(y, value), format_number(value, _digits(y)))
            for value in _ticks(y, is_whole=isinstance(y, Falling))
        ),
        series=tuple(
            _series((keys[name], placed[name]), group, x, y, kind, is_banded=is_banded) for name, group in shown
        ),
        n_hidden=len(groups) - len(shown),
        diagonal=_diagonal(x, y) if declared.get("diagonal") else None,
        kind=kind,
        width=x.width,
        marks=spread(list(marks_of(declared, shown, placed, x, y)), TOP + LINE_HEIGHT, HEIGHT - BOTTOM - 4.0, x.width),
        levels=tuple(levels_of(declared, points, y)),
    )


def _ticks(scale: Scale, *, is_whole: bool) -> Sequence[float]:
    """Return the values that an axis names: of ranks and snapshots each, or of many the round ones and the first."""
    if not is_whole:
        return scale.ticks()
    lowest = 1 if isinstance(scale, Falling) else math.ceil(scale.low)
    numbers = range(max(math.ceil(scale.low), lowest), math.floor(scale.high) + 1)
    if len(numbers) <= MOST_RANKS:
        return list(numbers)
    whole = [value for value in scale.ticks() if value == round(value) and value - numbers[0] > 1.0]
    return [numbers[0], *whole]


def _room(across: Sequence[float], declared: Declared) -> float:
    """Return how far an axis goes on beyond the ends of the lines, for their names to stand there."""
    return NAMES * (max(across) - min(across)) if declared.get("direct") == "end" else 0.0


def series_numbers(table: Table, declared: Declared) -> Mapping[str, int]:
    """Return the colour of each name that a table's rows are drawn by; empty when there are too few colours."""
    by = declared.get("by")
    names = () if by is None else dict.fromkeys(str(row[table.index(by)]) for row in table.rows)
    return {name: number for number, name in enumerate(names)} if len(names) <= MAX_SERIES else {}


def _key(name: str, points: Sequence[Point], declared: Declared) -> str:
    """Return the name of a series with its words, where these do not stand at the curve."""
    words = "" if declared.get("direct") else words_of(declared.get("words", ()), points[0].row)
    return f"{name}, {words}" if words else name


def _groups(table: Table, declared: Declared) -> dict[str, list[Point]]:
    names = (declared["x"], declared["y"], declared.get("low"), declared.get("high"), declared.get("by"))
    x, y, low, high, by = (None if name is None else table.index(name) for name in names)
    groups: dict[str, list[Point]] = {}
    for row in table.rows:
        across, up = _number(row, x), _number(row, y)
        if across is not None and (up is not None or declared.get("gaps")):
            name = "" if by is None else str(row[by])
            cells = dict(zip(table.column_names(), row, strict=True))
            groups.setdefault(name, []).append(Point(across, up, _number(row, low), _number(row, high), cells))
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
    if isinstance(scale, Falling):
        return 0
    span = scale.high - scale.low
    return next((digits for digits in range(6) if span * 10**digits >= 4), 6)


def _series(
    named: tuple[str, int], points: Sequence[Point], x: Axis, y: Scale, kind: str, *, is_banded: bool
) -> Series:
    runs: list[list[tuple[float, float]]] = [[]]
    for point in points:
        if point.up is None:
            runs.append([])
        else:
            runs[-1].append((x.at(point.across), y_at(y, point.up)))
    placed = [at for run in runs for at in run]
    if kind == "bars":
        return Series(*named, _bars(placed, y_at(y, max(y.low, 0.0))), "")
    dots = "".join(f"M{across:g} {up:g}h.01" for across, up in placed)
    if kind == "points":
        return Series(*named, dots, "")
    is_dotted = isinstance(y, Falling)
    return Series(*named, "".join(map(_line, runs)), _band(points, x, y) if is_banded else "", dots * is_dotted)


def _line(run: Sequence[tuple[float, float]]) -> str:
    """Return the path of points that follow each other; one alone is a dash, which can be seen."""
    if len(run) == 1:
        return f"M{run[0][0] - DASH / 2:g} {run[0][1]:g}h{DASH:g}"
    return "M" + "L".join(f"{across:g} {up:g}" for across, up in run) if run else ""


def _band(points: Sequence[Point], x: Axis, y: Scale) -> str:
    ends = [
        (x.at(point.across), y_at(y, point.low), y_at(y, point.high))
        for point in points
        if point.low is not None and point.high is not None
    ]
    if not ends:
        return ""
    forth = "L".join(f"{across:g} {low:g}" for across, low, _ in ends)
    back = "L".join(f"{across:g} {high:g}" for across, _, high in reversed(ends))
    return f"M{forth}L{back}Z"


def _bars(placed: Sequence[tuple[float, float]], floor: float) -> str:
    half = max(0.4 * (_step([at for at, _ in placed]) or 50.0), 0.5)
    return "".join(f"M{at - half:g} {floor:g}V{up:g}H{at + half:g}V{floor:g}Z" for at, up in placed)


def _step(positions: Sequence[float]) -> float:
    """Return the smallest distance of two neighbours, 0 when there are no two."""
    ordered = sorted(positions)
    return min((later - earlier for earlier, later in pairwise(ordered) if later > earlier), default=0.0)


def _diagonal(x: Axis, y: Scale) -> str | None:
    low, high = max(x.scale.low, y.low), min(x.scale.high, y.high)
    return f"M{x.at(low):g} {y_at(y, low):g}L{x.at(high):g} {y_at(y, high):g}" if high > low else None
