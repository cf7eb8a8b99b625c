"""Rows as a plot: lines with bands, bars or points, as geometry that a template draws as inline SVG. The plot shows
what the table under it says and nothing else; it needs no script, follows the colours of the page, and prints.

Why: docs/adr/041-pictures.md.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import quantiles
from typing import Any
from urllib.parse import urlencode

from app.render.text import format_number
from app.values.table import Cell, Table

MAX_SERIES = 10

DASH = 6.0

NAMES = 0.35

RANK_ROOM = 0.5

MOST_RANKS = 12

MOST_TICKS = 10


@dataclass(frozen=True)
class AxisTick:
    """A named position on an axis, or a level line with its words."""

    at: float
    text: str


@dataclass(frozen=True)
class PlotLine:
    """One line with its band, its points or its bars, as SVG paths; `number` chooses its colour.

    `dots` are where a line was measured, for lines of few points.
    """

    name: str
    number: int
    line: str
    band: str
    dots: str = ""


@dataclass(frozen=True)
class Mark:
    """A text at a point, and at what height the dot of it is, if it has one: the text may be moved.

    One that `is_end` comes after the end of its line.
    """

    x: float
    y: float
    text: str
    number: int = 0
    dot_y: float | None = None
    is_end: bool = False


WIDTH, HEIGHT = 640.0, 360.0


@dataclass(frozen=True)
class LinePlot:
    """Series on two axes. `n_hidden` counts those that did not fit; `diagonal` is a line of reference.

    `marks` are texts at points and curves, `levels` level lines with their words.
    """

    x_title: str
    y_title: str
    x_ticks: tuple[AxisTick, ...]
    y_ticks: tuple[AxisTick, ...]
    series: tuple[PlotLine, ...]
    n_hidden: int
    diagonal: str | None
    kind: str
    width: float = WIDTH
    height: float = HEIGHT
    marks: tuple[Mark, ...] = ()
    levels: tuple[AxisTick, ...] = ()


Declared = Mapping[str, Any]


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
    x = PlotAxis(
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
            AxisTick(x.at(value), format_number(value, 0 if is_whole else digits_on(x.scale)))
            for value in _ticks(x.scale, is_whole=is_whole)
            if value <= max(across) + half or declared.get("direct") != "end"
        ),
        y_ticks=tuple(
            AxisTick(y_at(y, value), format_number(value, digits_on(y)))
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


@dataclass(frozen=True)
class LinearScale:
    """A linear scale from values to horizontal positions in a drawing of WIDTH."""

    low: float
    high: float

    def at(self, value: float) -> float:
        """Return the position of a value, rounded to tenths; values beyond an end are at that end."""
        share = (value - self.low) / (self.high - self.low)
        return round(MARGIN + min(max(share, 0.0), 1.0) * (WHISKER_WIDTH - 2 * MARGIN), 1)

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


def _ticks(scale: LinearScale, *, is_whole: bool) -> Sequence[float]:
    """Return the values that an axis names: of ranks and snapshots each, or of many the round ones and the first."""
    if not is_whole:
        return scale.ticks()
    lowest = 1 if isinstance(scale, Falling) else math.ceil(scale.low)
    numbers = range(max(math.ceil(scale.low), lowest), math.floor(scale.high) + 1)
    if len(numbers) <= MOST_RANKS:
        return list(numbers)
    step = next(factor * 10**power for power in range(9) for factor in (1, 2, 5)
                if len(numbers) <= MOST_TICKS * factor * 10**power)  # fmt: skip
    return [numbers[0], *(value for value in numbers if value % step == 0 and value - numbers[0] > step / 2)]


def _room(across: Sequence[float], declared: Declared) -> float:
    """Return how far an axis goes on beyond the ends of the lines, for their names to stand there."""
    return NAMES * (max(across) - min(across)) if declared.get("direct") == "end" else 0.0


def series_numbers(table: Table, declared: Declared) -> Mapping[str, int]:
    """Return the colour of each name that a table's rows are drawn by; empty when there are too few colours."""
    by = declared.get("by")
    names = () if by is None else dict.fromkeys(str(row[table.index(by)]) for row in table.rows)
    return {name: number for number, name in enumerate(names)} if len(names) <= MAX_SERIES else {}


@dataclass(frozen=True)
class Point:
    """A row as it is drawn; `up` is None where a line is to break."""

    across: float
    up: float | None
    low: float | None
    high: float | None
    row: Mapping[str, Cell]


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


def _scale(values: Sequence[float], declared: Sequence[float] | None) -> LinearScale:
    low, high = (min(values), max(values)) if declared is None else (float(declared[0]), float(declared[1]))
    return scale_between(low, high)


def scale_between(low: float, high: float) -> LinearScale:
    """Return the scale of values between these; where all of them are the same, with room on both sides."""
    return LinearScale(low, high) if high > low else LinearScale(low - 0.5, high + 0.5)


def _title(table: Table, name: str) -> str:
    column = table.columns[table.index(name)]
    return f"{column.title} ({column.unit})" if column.unit else column.title


def digits_on(scale: LinearScale) -> int:
    """Return how many decimals tell the round values of a scale apart."""
    if isinstance(scale, Falling):
        return 0
    span = scale.high - scale.low
    return next((digits for digits in range(6) if span * 10**digits >= 4), 6)


@dataclass(frozen=True)
class PlotAxis:
    """The horizontal axis of a drawing of this width."""

    scale: LinearScale
    width: float

    def at(self, value: float) -> float:
        """Return the position of a value, at the end of the axis where it lies beyond."""
        share = (min(max(value, self.scale.low), self.scale.high) - self.scale.low) / (self.scale.high - self.scale.low)
        return round(LEFT + share * (self.width - LEFT - RIGHT), 1)


def _series(
    named: tuple[str, int], points: Sequence[Point], x: PlotAxis, y: LinearScale, kind: str, *, is_banded: bool
) -> PlotLine:
    runs: list[list[tuple[float, float]]] = [[]]
    for point in points:
        if point.up is None:
            runs.append([])
        else:
            runs[-1].append((x.at(point.across), y_at(y, point.up)))
    placed = [at for run in runs for at in run]
    if kind == "bars":
        return PlotLine(*named, _bars(placed, y_at(y, max(y.low, 0.0))), "")
    dots = "".join(f"M{across:g} {up:g}h.01" for across, up in placed)
    if kind == "points":
        return PlotLine(*named, dots, "")
    is_dotted = isinstance(y, Falling)
    return PlotLine(*named, "".join(map(_line, runs)), _band(points, x, y) if is_banded else "", dots * is_dotted)


def _line(run: Sequence[tuple[float, float]]) -> str:
    """Return the path of points that follow each other; one alone is a dash, which can be seen."""
    if len(run) == 1:
        return f"M{run[0][0] - DASH / 2:g} {run[0][1]:g}h{DASH:g}"
    return "M" + "L".join(f"{across:g} {up:g}" for across, up in run) if run else ""


def _band(points: Sequence[Point], x: PlotAxis, y: LinearScale) -> str:
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


def _diagonal(x: PlotAxis, y: LinearScale) -> str | None:
    low, high = max(x.scale.low, y.low), min(x.scale.high, y.high)
    return f"M{x.at(low):g} {y_at(y, low):g}L{x.at(high):g} {y_at(y, high):g}" if high > low else None


# What is written into a plot: names at the curves, counts at the points, the operating point, level lines.

LINE_HEIGHT = 14.0

GAP, LETTER = 6.0, 6.5
"""How far a text is from its point, and about how wide a letter is."""

MOST_LEVELS = 3
"""With more level lines than this the plot is illegible, and none is drawn."""

Row = Mapping[str, Any]


def words_of(entries: Sequence[Row], row: Row) -> str:
    """Return the text of the entry that matches a row in its other keys; "" if none does."""
    return next((str(entry["text"]) for entry in _entries_of(entries, row, ("text",))), "")


def _entries_of(entries: Sequence[Row], row: Row, own_keys: Sequence[str]) -> Iterator[Row]:
    """Yield the entries whose keys a row has, but for those that say something of their own."""
    for entry in entries:
        if all(row.get(key) == value for key, value in entry.items() if key not in own_keys):
            yield entry


def spread(marks: Sequence[Mark], low: float, high: float, width: float) -> tuple[Mark, ...]:
    """Move texts apart that would lie on each other, downwards in their order, within the drawing's ends."""
    placed: list[Mark] = []
    for mark in sorted(marks, key=lambda mark: mark.y):
        beside = [other.y for other in placed if mark.text and _overlap(_reach(mark, width), _reach(other, width))]
        lowest = max(beside, default=low - LINE_HEIGHT)
        placed.append(replace(mark, y=max(mark.y, lowest + LINE_HEIGHT)))
    return tuple(_lifted(placed, high, width))


def _lifted(marks: Sequence[Mark], high: float, width: float) -> list[Mark]:
    """Move texts up that have come to lie beyond the end, and those above them that are then in the way."""
    placed: list[Mark] = []
    for mark in sorted(marks, key=lambda mark: -mark.y):
        below = [other.y for other in placed if mark.text and _overlap(_reach(mark, width), _reach(other, width))]
        highest = min(below, default=high + LINE_HEIGHT)
        placed.append(replace(mark, y=round(min(mark.y, highest - LINE_HEIGHT), 1)))
    return placed[::-1]


def _reach(mark: Mark, width: float) -> tuple[float, float]:
    """Return from where to where a text is written: to the left of its point in the right half, else to its right."""
    length = GAP + len(mark.text) * LETTER
    is_left = mark.x * 2 > width and not mark.is_end
    return (mark.x - length, mark.x) if is_left else (mark.x, mark.x + length)


def _overlap(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def marks_of(
    declared: Declared,
    shown: Sequence[tuple[str, Sequence[Point]]],
    numbers: Mapping[str, int],
    x: PlotAxis,
    y: LinearScale,
) -> Iterator[Mark]:
    """Yield the names at the curves, the counts at the points, and the points that are marked."""
    for name, points in shown:
        drawn_points = [point for point in points if point.up is not None]
        if not drawn_points:
            continue
        if declared.get("direct"):
            is_end = declared["direct"] == "end"
            middle = drawn_points[-1] if is_end else drawn_points[len(drawn_points) // 2]
            words = words_of(declared.get("words", ()), middle.row)
            text = ", ".join(each for each in (name if len(shown) > 1 or not words else "", words) if each)
            yield replace(_mark(middle, text, numbers[name], x, y), is_end=is_end)
        for entry in _entries_of(declared.get("points", ()), drawn_points[0].row, ("x", "y", "text")):
            # What each dot is would hide the curves where there are several: the table says it.
            text = str(entry["text"]) if len(shown) == 1 else ""
            up = y_at(y, float(entry["y"]))
            yield Mark(x.at(float(entry["x"])), up, text, numbers[name], up)
        if "count" in declared and len(shown) == 1:
            yield from (_mark(point, f"{point.row[declared['count']]:,}", numbers[name], x, y, is_dot=True)
                        for point in drawn_points)  # fmt: skip


def _mark(point: Point, text: str, number: int, x: PlotAxis, y: LinearScale, *, is_dot: bool = False) -> Mark:
    up = y_at(y, point.up or 0.0)
    return Mark(x.at(point.across), up, text, number, up if is_dot else None)


def levels_of(declared: Declared, points: Sequence[Point], y: LinearScale) -> Iterator[AxisTick]:
    """Yield each level line that belongs to a row of the plot, once; none where there are many."""
    levels = {}
    for entry in declared.get("levels", ()):
        keys = {key: value for key, value in entry.items() if key not in ("at", "text")}
        if any(all(point.row.get(key) == value for key, value in keys.items()) for point in points):
            levels[str(entry["text"])] = AxisTick(y_at(y, float(entry["at"])), str(entry["text"]))
    yield from levels.values() if len(levels) <= MOST_LEVELS else ()


# Where the values of a table's rows lie in a drawing.

LEFT, RIGHT, TOP, BOTTOM = 56.0, 12.0, 12.0, 44.0


@dataclass(frozen=True)
class Falling(LinearScale):
    """A scale whose smallest value is on top, as ranks are read."""


def y_at(scale: LinearScale, value: float) -> float:
    """Return the position of a value up, at the end of the axis where it lies beyond."""
    share = (min(max(value, scale.low), scale.high) - scale.low) / (scale.high - scale.low)
    share = 1.0 - share if isinstance(scale, Falling) else share
    return round(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM), 1)


# Whiskers: points with intervals on one scale per column, so that they compare down the column. Positions are in
# pixels.

WHISKER_WIDTH = 132.0

MARGIN = 8.0

MIDDLE = 9

MIN_TO_CLIP = 8

WhiskerMark = tuple[float, float, float]


@dataclass(frozen=True)
class Whisker:
    """One drawing: the position of the point (None when it is beyond the scale) and the path of its interval."""

    point: float | None
    path: str


def column_scale(marks: Sequence[WhiskerMark]) -> LinearScale | None:
    """Return the scale of a column's (point, low, high), or None where no interval has a length.

    That of a baseline, which is compared with itself, has none: alone it is nothing to draw. Points far from the
    others (Tukey's fences) do not stretch the scale: they would press all the others together. They are drawn as
    arrows at its end, and their numbers are beside them.
    """
    if not any(low < high for _, low, high in marks):
        return None
    near = _without_outliers(marks)
    low, high = min(mark[1] for mark in near), max(mark[2] for mark in near)
    low, high = min(low, *(mark[0] for mark in near), high), max(high, *(mark[0] for mark in near), low)
    return scale_between(low, high)


def _without_outliers(marks: Sequence[WhiskerMark]) -> Sequence[WhiskerMark]:
    if len(marks) < MIN_TO_CLIP:
        return marks
    first, _, third = quantiles((mark[0] for mark in marks), method="inclusive")
    reach = 1.5 * (third - first)
    near = [mark for mark in marks if first - reach <= mark[0] <= third + reach]
    return near if reach > 0.0 else marks


def whisker(scale: LinearScale, point: float, low: float, high: float) -> Whisker:
    """Place one point and its interval on the column's scale; an end beyond it becomes an arrow."""
    left, right = scale.at(low), scale.at(high)
    line = f"M{left:g} {MIDDLE}H{right:g}"
    ends = _end(scale, low, inward=4) + _end(scale, high, inward=-4)
    return Whisker(scale.at(point) if scale.holds(point) else None, line + ends)


def _end(scale: LinearScale, value: float, *, inward: int) -> str:
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


# Rows as a heatmap: one value by row and column, shaded beside its number.

MAX_CELLS = 4000

SHADES = 8
"""The darkest of the shades of a heat map, from 0, as the stylesheet has them."""

MAX_NAMED, MAX_LETTERS = 40, 60

# Of more columns, or longer names, the names stand upright over their columns.
MAX_FLAT, MAX_FLAT_LETTERS = 12, 16


@dataclass(frozen=True)
class HeatCell:
    """One cell of a heatmap: its text and a shade from 0 to 8; `note` is read out in full.

    `address` is where its rows are, relative to the table's own; None where they are nowhere else.
    """

    text: str
    shade: int
    note: str
    address: str | None = None


@dataclass(frozen=True)
class Heatmap:
    """Rows by columns; a cell is None where the table has no row."""

    row_title: str
    column_title: str
    value_title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[HeatCell | None, ...]], ...]

    @property
    def is_named(self) -> bool:
        """Say whether the columns' names fit over them; otherwise numbers are used for them."""
        return self._fit(MAX_NAMED, MAX_LETTERS)

    @property
    def is_upright(self) -> bool:
        """Say whether the columns' names stand upright, because flat they would not fit."""
        return self.is_named and not self._fit(MAX_FLAT, MAX_FLAT_LETTERS)

    def _fit(self, most: int, letters: int) -> bool:
        return len(self.columns) <= most and all(len(name) <= letters for name in self.columns)

    @property
    def is_linked(self) -> bool:
        """Say whether its cells lead to the rows behind them."""
        return any(cell is not None and cell.address is not None for _, cells in self.rows for cell in cells)


def build_heatmap(table: Table, declared: Declared) -> Heatmap | None:
    """Return the heatmap of a table's rows as declared; None when it is empty, or too large to read.

    `declared["link"]` names the table that has the rows behind a cell, and the columns whose values narrow it to them;
    `declared["without"]` the values of a column whose rows are not drawn.
    """
    table = _drawn_part(table, declared.get("without", {}))
    column, row, value = (table.index(declared[key]) for key in ("x", "y", "value"))
    columns = tuple(dict.fromkeys(str(r[column]) for r in table.rows))
    rows = tuple(dict.fromkeys(str(r[row]) for r in table.rows))
    if not table.rows or len(columns) * len(rows) > MAX_CELLS:
        return None
    shown_as, rows_as = (table.meta.get("shown_as", {}).get(declared[key], {}) for key in ("x", "y"))
    numbers = [float(number) for r in table.rows if isinstance(number := r[value], int | float)]
    highest = max([*numbers, float(declared.get("highest", 0.0))]) or 1.0
    cells = {
        (str(r[row]), str(r[column])): replace(_cell(table, r, value, highest), address=_address(table, r, declared))
        for r in table.rows
    }
    return Heatmap(
        row_title=table.columns[row].title,
        column_title=table.columns[column].title,
        value_title=table.columns[value].title,
        columns=tuple(shown_as.get(name, name) for name in columns),
        rows=tuple((rows_as.get(name, name), tuple(cells.get((name, other)) for other in columns)) for name in rows),
    )


def _drawn_part(table: Table, without: Mapping[str, Sequence[str]]) -> Table:
    left_out = [(table.index(column), frozenset(values)) for column, values in without.items()]
    return replace(table, rows=tuple(r for r in table.rows if not any(r[at] in values for at, values in left_out)))


def _address(table: Table, row: Sequence[Cell], declared: Declared) -> str | None:
    if "link" not in declared:
        return None
    asked: Mapping[str, str] = declared["link"]["narrow"]
    shown_as = table.meta.get("shown_as", {})
    values = {name: str(row[table.index(column)]) for name, column in asked.items()}
    named = {name: shown_as.get(asked[name], {}).get(value, value) for name, value in values.items()}
    return f"{declared['link']['table']}?{urlencode(named)}"


def _cell(table: Table, row: Sequence[Cell], value: int, highest: float) -> HeatCell:
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
