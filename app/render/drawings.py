"""The plots that a table declares, each drawn once for every task, class or entrant by which it is split.
`meta["plot"]` is a mapping or a list of them; `facet` names the columns whose combinations have a plot each,
`facet_words` the words before the values of such a column, and `by` the column whose values are the series within a
plot; where it `is_paged`, further plots hold those that do not fit.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import floor, log10
from typing import Literal

from app.render.plot import (
    BOTTOM,
    HEIGHT,
    LEFT,
    MAX_SERIES,
    RIGHT,
    SHADES,
    TOP,
    WIDTH,
    Declared,
    Heatmap,
    LinearScale,
    LinePlot,
    PlotAxis,
    build_heatmap,
    build_plot,
    digits_on,
    scale_between,
    series_numbers,
    y_at,
)
from app.render.text import compact, format_number
from app.values.table import Cell, Column, Table

MAX_DRAWN = 12


# A picture as shapes in the units of its drawing; a template writes them as SVG, in a page or as a file.
#
# A shape's look is a class of the stylesheet, so that a picture follows the colours of the page.

Tag = Literal["path", "circle", "rect", "text"]


@dataclass(frozen=True)
class Shape:
    """One element of SVG: its attributes, its text where it is one, and what is shown where a pointer rests on it."""

    tag: Tag
    look: str
    attributes: Mapping[str, str | float]
    text: str = ""
    hint: str = ""


@dataclass(frozen=True)
class Figure:
    """Shapes on a drawing of this size; `words` describe it to a screen reader, `n_more` are left out."""

    width: float
    height: float
    words: str
    shapes: tuple[Shape, ...] = field(default_factory=tuple)
    n_more: int = 0


def draw_bars(table: Table, declared: Declared) -> Figure | None:
    """Return the first rows that have a value, in their order; `marked` names a flag whose rows stand out."""
    value, label = table.index(declared["x"]), table.index(declared["label"])
    marked = table.index(declared["marked"]) if "marked" in declared else None
    rows = [row for row in table.rows if number(row[value]) is not None]
    if not rows:
        return None
    shown = rows[:MOST_ROWS]
    values = [number(row[value]) or 0.0 for row in shown]
    low, high = min(0.0, *values), max(0.0, *values)
    unit = SCALE / ((high - low) or 1.0)
    left = room_for([str(row[label]) for row in shown]) + NUMBER
    zero = left - low * unit
    column = table.columns[value]
    digits = 0 if column.kind == "integer" else 3 if column.digits is None else column.digits
    shapes = [path("axis-line", f"M{zero:g} {BARS_TOP:g}V{BARS_TOP + LINE * len(shown):g}")]
    for at, row in enumerate(shown):
        y, length = BARS_TOP + LINE * at, values[at] * unit
        look = "bar marked" if marked is not None and row[marked] is True else "bar"
        name = clipped(str(row[label]))
        shapes += [words(name, left - NUMBER - 6.0, y + 14.0, "end"),
                   words(format_number(values[at], digits), left - 8.0, y + 14.0, "end", "tick"),
                   path(look, f"M{zero:g} {y + 4:g}h{length:.1f}v{LINE - 8:g}h{-length:.1f}z")]  # fmt: skip
    description = f"{table.title}: {column.title} by {table.columns[label].title}; the table below has every number"
    return Figure(
        left + SCALE + 8.0, BARS_TOP + LINE * len(shown) + 6.0, description, tuple(shapes), len(rows) - len(shown)
    )


def draw_ranks(table: Table, declared: Declared) -> Figure | None:
    """Return the first rows: names, dots with intervals, and bars over those that share a letter of `groups`."""
    rows = [row for row in table.rows if number(row[table.index(declared["x"])]) is not None][:MOST_RANK_ROWS]
    if len(rows) < 2:
        return None
    names = [str(row[table.index(declared["label"])]) for row in rows]
    left = room_for(names)
    marks = [_mark(table, row, declared) for row in rows]
    low, high = min(mark[1] for mark in marks), max(mark[2] for mark in marks)
    scale = scale_between(low, high)
    letters = [str(row[table.index(declared["groups"])] or "") for row in rows]
    shown = [letter for letter in sorted(set("".join(letters))) if sum(letter in own for own in letters) > 1]
    shapes = [*_axis(scale, left, len(rows))]
    for at, (name, mark) in enumerate(zip(names, marks, strict=True)):
        shapes += _row(clipped(name), mark, scale, left, RANKS_TOP + LINE * (at + 0.5))
    for place, letter in enumerate(shown):
        shapes += _bar(letters, letter, left + RANKS_SCALE + 16.0 + BAR * place)
    width = left + RANKS_SCALE + 24.0 + BAR * len(shown)
    description = f"{table.title}: who shares a bar is not separable; the table below has every number"
    return Figure(width, RANKS_TOP + LINE * len(rows) + 8.0, description, tuple(shapes), len(table.rows) - len(rows))


def draw_squares(table: Table, declared: Declared) -> Figure | None:
    """Return a row for each entrant and a column for each task, in the order of the rows; None for too many."""
    entrant, task, share, state = (table.index(declared[key]) for key in ("y", "x", "share", "state"))
    rows = {name: at for at, name in enumerate(dict.fromkeys(str(row[entrant]) for row in table.rows))}
    columns = {name: at for at, name in enumerate(dict.fromkeys(str(row[task]) for row in table.rows))}
    if not rows or len(rows) * len(columns) > MOST_SQUARES:
        return None
    left = LETTER * max(len(clipped(name, NAME)) for name in rows) + 8.0
    top = LETTER * max(len(clipped(name, NAME)) for name in columns) + 8.0 if len(columns) > 1 else 22.0
    drawn: dict[str, str] = {}
    for row in table.rows:
        x, y = left + SIDE * columns[str(row[task])], top + SIDE * rows[str(row[entrant])]
        for look in _looks(row[share], str(row[state])):
            drawn[look] = drawn.get(look, "") + _square(look, x, y)
    shapes = [path(look, lines) for look, lines in sorted(drawn.items())]
    shapes += [
        words(clipped(name, NAME), left - 4.0, top + SIDE * at + 8.5, "end", "small") for name, at in rows.items()
    ]
    shapes += [_upright(clipped(name, NAME), left + SIDE * at + 8.0, top - 4.0) for name, at in columns.items()]
    bottom = top + SIDE * len(rows)
    key, right = _key({look: STATE_OF_LOOK[look] for look in sorted(drawn.keys() & STATE_OF_LOOK)}, bottom + 12.0)
    width = max(left + SIDE * len(columns) + 8.0, right, 120.0)
    description = f"{table.title}: more colour is a better place on its task; the table has every number"
    return Figure(width, bottom + 30.0, description, (*shapes, *key))


def draw_tradeoff(table: Table, declared: Declared) -> Figure | None:
    """Return the dots of the rows that have both numbers; None where fewer than two do."""
    spots = list(_spots(table, declared))
    if len(spots) < 2:
        return None
    x_column, y_column = (table.columns[table.index(declared[key])] for key in ("x", "y"))
    above = [spot.x for spot in spots if spot.x > 0.0]
    is_log = bool(above) and min(spot.x for spot in spots) >= 0.0 and max(above) > LOG_FROM * min(above)
    # What costs nothing has no logarithm: it stands a power of ten before the least that costs anything.
    nothing = floor(log10(min(above))) - 1.0 if is_log and len(above) < len(spots) else None
    placed = [log10(spot.x) if is_log and spot.x > 0.0 else spot.x if nothing is None else nothing for spot in spots]
    y, aside = _scale(_near_ends(spots)), _Aside.of(spots, x_column)
    x = PlotAxis(aside.widened(_scale(placed)), WIDTH)
    at = [(x.at(value), y_at(y, spot.y)) for value, spot in zip(placed, spots, strict=True)]
    days = table.meta.get("shown_as", {}).get(declared["x"], {})
    across = list(_costs(x.scale, min(placed), nothing, is_log=is_log, is_years=bool(days)))
    shapes = [*_axes(x, y, x_column, y_column, across)]
    shapes += _leaders(named := aside.names(at, spots))
    shapes += [path("reach", f"M{cx:g} {y_at(y, spot.low):g}V{y_at(y, spot.high):g}")
               for (cx, _), spot in zip(at, spots, strict=True) if spot.high > spot.low]  # fmt: skip
    front = sorted(place for place, spot in zip(at, spots, strict=True) if spot.is_front)
    shapes += [path("front", "M" + "L".join(f"{cx:g} {cy:g}" for cx, cy in front))] if len(front) > 1 else []
    for (cx, cy), spot in zip(at, spots, strict=True):
        cost = days.get(f"{spot.x:,.3f}", compact(spot.x, 4))
        hint = f"{spot.name}: {y_column.title} {spot.y:.4g}, {x_column.title} {cost}"
        shapes.append(dot("c0" if spot.is_front else "c9", cx, cy, 4.5 if spot.is_front else 3.5, hint))
    shapes += [words(text, *where, aside.anchor, "mark") for text, where, _ in named]
    description = f"{y_column.title} by {x_column.title}; the line is the front, and the table below has every number"
    return Figure(WIDTH, HEIGHT, description, tuple(shapes), len(table.rows) - len(spots))


FIGURES: Mapping[str, Callable[[Table, Declared], Figure | None]] = {
    "bars_by_name": draw_bars,
    "ranks": draw_ranks,
    "squares": draw_squares,
    "tradeoff": draw_tradeoff,
}
"""The pictures other than plots with two axes, by the kind under which a table declares them."""


@dataclass(frozen=True)
class Drawing:
    """One plot, heatmap or figure, with its title ("" for the only one of its table)."""

    title: str
    lines: LinePlot | None = None
    heatmap: Heatmap | None = None
    figure: Figure | None = None

    @property
    def size(self) -> tuple[float, float]:
        """Return how wide and how high the picture is."""
        drawn = self.lines or self.figure
        return (0.0, 0.0) if drawn is None else (drawn.width, drawn.height)

    @property
    def is_saved(self) -> bool:
        """Say whether it can be saved as a picture; a heatmap is a table."""
        return self.heatmap is None


@dataclass(frozen=True)
class Drawings:
    """The drawings of a table that are shown, and how many more there are."""

    shown: Sequence[Drawing] = ()
    n_more: int = 0


def build_drawings(table: Table) -> Drawings:
    """Return the drawings that a table declares, without empty ones, at most MAX_DRAWN of them."""
    facets = [(declared, title, part) for declared in _declared(table) for title, part in _facets(table, declared)]
    numbers: Mapping[str, int] = {}
    drawings: list[Drawing] = []
    n_more = 0
    for declared, title, part in facets:
        if len(drawings) == MAX_DRAWN:
            n_more += 1
            continue
        numbers = series_numbers(table, declared)
        drawing = _draw(part, declared, title, numbers)
        drawings += [drawing] if drawing else []
    return Drawings(drawings, n_more)


def _declared(table: Table) -> Sequence[Declared]:
    plots = table.meta.get("plot", ())
    return [plots] if isinstance(plots, Mapping) else list(plots)


def _facets(table: Table, declared: Declared) -> Iterator[tuple[str, Table]]:
    """Yield the rows of each combination with its title; a column with one value alone is not named."""
    at = [table.index(name) for name in declared.get("facet", ())]
    varying = [position for position in at if len({row[position] for row in table.rows}) > 1]
    before = [declared.get("facet_words", {}).get(table.columns[position].name, "") for position in varying]
    rows: dict[tuple[str, ...], list[int]] = {}
    for number, row in enumerate(table.rows):
        rows.setdefault(tuple(str(row[position]) for position in varying), []).append(number)
    parts = [(values, page) for values, numbers in rows.items() for page in _pages(table, declared, numbers)]
    for values, numbers in parts:
        words = (f"{word} {value}".strip() for word, value in zip(before, values, strict=True))
        title = ", ".join((*([declared["title"]] if "title" in declared else []), *words))
        yield title, replace(table, rows=tuple(table.rows[number] for number in numbers))


def _pages(table: Table, declared: Declared, numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield the rows of one plot; where it `is_paged` as many series to each as there are colours."""
    if not declared.get("is_paged"):
        yield numbers
        return
    at = table.index(declared["by"])
    names = list(dict.fromkeys(str(table.rows[number][at]) for number in numbers))
    for start in range(0, len(names), MAX_SERIES):
        page = set(names[start : start + MAX_SERIES])
        yield [number for number in numbers if str(table.rows[number][at]) in page]


def _draw(part: Table, declared: Declared, title: str, numbers: Mapping[str, int]) -> Drawing | None:
    if declared["kind"] == "heatmap":
        heatmap = build_heatmap(part, declared)
        return None if heatmap is None else Drawing(title, heatmap=heatmap)
    if declared["kind"] in FIGURES:
        figure = FIGURES[declared["kind"]](part, declared)
        return None if figure is None else Drawing(title, figure=figure)
    lines = build_plot(part, declared, numbers)
    return None if lines is None else Drawing(title, lines=lines)


LINE, LETTER = 20.0, 6.6
"""The height of a line of text, and the width of a letter at twelve pixels, as wide as common fonts are at most."""

MOST_LETTERS = 36


def path(look: str, drawn: str, hint: str = "") -> Shape:
    """Return a line or an area."""
    return Shape("path", look, {"d": drawn}, hint=hint)


def dot(look: str, x: float, y: float, radius: float = 4.0, hint: str = "") -> Shape:
    """Return a dot."""
    return Shape("circle", look, {"cx": round(x, 1), "cy": round(y, 1), "r": radius}, hint=hint)


def words(text: str, x: float, y: float, anchor: str = "start", look: str = "label") -> Shape:
    """Return a text that begins, is centred or ends at a place."""
    return Shape("text", look, {"x": round(x, 1), "y": round(y, 1), "text-anchor": anchor}, text)


def clipped(name: str, most: int = MOST_LETTERS) -> str:
    """Return a name as long as there is room for: its end tells names of one family apart, so the middle goes.

    >>> clipped("an-organisation/a-model-v1", 15)
    'an-orga…odel-v1'
    """
    if len(name) <= most:
        return name
    left = most // 2
    return f"{name[:left]}…{name[left - most + 1 :]}"


def room_for(names: list[str]) -> float:
    """Return how wide the longest of some names is, as far as it is written."""
    return LETTER * max((len(clipped(name)) for name in names), default=0) + 10.0


def number(cell: Cell) -> float | None:
    """Return a number in a cell, None for anything else."""
    return float(cell) if isinstance(cell, int | float) and not isinstance(cell, bool) else None


MOST_ROWS = 60


# Values by name as bars from zero, those that count most marked: differences task by task, coverage of tasks.

SCALE, NUMBER, BARS_TOP = 320.0, 64.0, 6.0


# Who cannot be told apart: scores with intervals on one scale, and beside them a bar for each letter that is shared.
#
# What a critical-difference diagram shows, upright, so that names have room.

MOST_RANK_ROWS = 40

RANKS_SCALE, BAR, RANKS_TOP = 300.0, 11.0, 26.0


def _mark(table: Table, row: Sequence[Cell], declared: Declared) -> tuple[float, float, float]:
    point, low, high = (number(row[table.index(declared[key])]) for key in ("x", "low", "high"))
    middle = 0.0 if point is None else point
    return middle, middle if low is None else min(low, middle), middle if high is None else max(high, middle)


def _across(scale: LinearScale, value: float, left: float) -> float:
    return round(left + 8.0 + (value - scale.low) / (scale.high - scale.low) * (RANKS_SCALE - 16.0), 1)


def _axis(scale: LinearScale, left: float, n_rows: int) -> list[Shape]:
    shapes = []
    for tick in scale.ticks():
        x = _across(scale, tick, left)
        shapes += [path("rule", f"M{x:g} {RANKS_TOP - 4:g}V{RANKS_TOP + LINE * n_rows:g}"),
                   words(_tick(tick, scale), x, RANKS_TOP - 10.0, "middle", "tick")]  # fmt: skip
    return shapes


def _row(name: str, mark: tuple[float, float, float], scale: LinearScale, left: float, y: float) -> list[Shape]:
    x, low, high = (_across(scale, value, left) for value in mark)
    return [
        words(name, left - 4.0, y + 4.0, "end"),
        path("reach", f"M{low:g} {y:g}H{high:g}"),
        dot("c0", x, y, 3.5, f"{name}: {mark[0]:.4g} ({mark[1]:.4g} to {mark[2]:.4g})"),
    ]


def _bar(letters: Sequence[str], letter: str, x: float) -> list[Shape]:
    """Return the bar of a letter, under the letter; it is broken where somebody between does not share it."""
    drawn = ""
    own = [at for at, has in enumerate(letters) if letter in has]
    for at in own:
        y = RANKS_TOP + LINE * at
        drawn += f"M{x:g} {y + 3:g}v{LINE - (0 if at + 1 in own else 6):g}"
    name = words(letter, x, RANKS_TOP + LINE * own[0] - 1.0, "middle", "tick small")
    return [name, path("together", drawn, f"group {letter}")]


# Entrants by tasks as squares: the place on each task as a shade, and what failed, lacks, is imputed or was leaked.
#
# A square is nine pixels, so that 324 by 41 are one picture; a class has one path, so that it is small.

SIDE = 10.0

MOST_SQUARES = 60_000

LOOK_OF_STATE = {"no value": "lost", "absent": "gone", "imputed": "filled", "leaked": "leaked"}

STATE_OF_LOOK = {look: state for state, look in LOOK_OF_STATE.items()}

PLACES = "last to first on the task"

NAME = 30


def _key(signs: Mapping[str, str], y: float) -> tuple[list[Shape], float]:
    """Return the key to shades and signs, in one line, and where it ends: a saved picture has no other words."""
    shades = [path(f"q{shade}", _square("", 4.0 + SIDE * at, y)) for at, shade in enumerate((0, 4, SHADES))]
    shapes, x = [*shades, words(PLACES, 8.0 + 3 * SIDE, y + 8.5)], 8.0 + 3 * SIDE + _wide(PLACES)
    for look, meaning in signs.items():
        shapes += [path(look, _square(look, x, y)), words(meaning, x + SIDE + 4.0, y + 8.5)]
        x += SIDE + 4.0 + _wide(meaning)
    return shapes, x


def _wide(text: str) -> float:
    return LETTER * len(text) + 12.0


def _looks(share: object, state: str) -> list[str]:
    """Return the classes of a square: a shade for its place, and a sign for what is not as asked."""
    shade = [f"q{round(float(share) * SHADES)}"] if isinstance(share, int | float) else []
    return [*shade, *([LOOK_OF_STATE[state]] if state in LOOK_OF_STATE else [])]


def _square(look: str, x: float, y: float) -> str:
    inner = SIDE - 1.0
    if look == "lost":
        return f"M{x + 2:g} {y + 2:g}l5 5m0 -5l-5 5"
    if look == "filled":
        return f"M{x + 2:g} {y + 7:g}l5 -5"
    if look == "leaked":
        return f"M{x + 3.5:g} {y + 3.5:g}h2v2h-2z"
    if look == "gone":
        return f"M{x + 1:g} {y + 1:g}h{inner - 2:g}v{inner - 2:g}h-{inner - 2:g}z"
    return f"M{x:g} {y:g}h{inner:g}v{inner:g}h-{inner:g}z"


def _upright(name: str, x: float, y: float) -> Shape:
    return Shape("text", "small", {"transform": f"translate({x:g} {y:g}) rotate(-90)"}, name)


# Score against cost: every row as a dot with its intervals, and the front of those that nobody beats in both.

MILLION = 1e6

LOG_FROM = 50.0
"""Costs that differ by more than this factor are on a scale of powers of ten."""

TRADEOFF_NAME = 24

LABEL_HEIGHT = 14.0

FRONT_ROOM, FRONT_GAP = 24.0, 14.0


@dataclass(frozen=True)
class Spot:
    """An entrant: its name, where it is, the ends of its interval upwards, and whether it is on the front."""

    name: str
    x: float
    y: float
    low: float
    high: float
    is_front: bool


def _spots(table: Table, declared: Declared) -> Iterator[Spot]:
    names = (declared["x"], declared["y"], declared.get("low"), declared.get("high"))
    ats = [None if name is None else table.index(name) for name in names]
    label, front = table.index(declared["label"]), table.index(declared["front"])
    for row in table.rows:
        x, y, low, high = (None if at is None else number(row[at]) for at in ats)
        if x is not None and y is not None:
            ends = (y if low is None else min(low, y), y if high is None else max(high, y))
            yield Spot(str(row[label]), x, y, *ends, is_front=row[front] is True)


def _scale(values: Sequence[float]) -> LinearScale:
    low, high = min(values), max(values)
    gap = 0.04 * (high - low) or 0.5
    return LinearScale(low - gap, high + gap)


def _axes(
    x: PlotAxis, y: LinearScale, x_column: Column, y_column: Column, across: Sequence[tuple[float, str]]
) -> Iterator[Shape]:
    for tick in y.ticks():
        yield path("rule", f"M{LEFT:g} {y_at(y, tick):g}H{WIDTH - RIGHT:g}")
        yield words(_tick(tick, y), LEFT - 6.0, y_at(y, tick) + 4.0, "end", "tick")
    for tick, shown in across:
        at = x.at(tick)
        yield path("rule", f"M{at:g} {TOP:g}V{HEIGHT - BOTTOM:g}")
        anchor = "end" if at + LETTER * len(shown) / 2 > WIDTH else "middle"
        yield words(shown, WIDTH - 2.0 if anchor == "end" else at, HEIGHT - BOTTOM + 16.0, anchor, "tick")
    yield words(_title(x_column), (WIDTH + LEFT) / 2, HEIGHT - 6.0, "middle", "tick")
    yield words(_title(y_column), LEFT, TOP - 1.0, "start", "tick")


def _costs(
    scale: LinearScale, least: float, nothing: float | None, *, is_log: bool, is_years: bool
) -> Iterator[tuple[float, str]]:
    """Yield the ticks of the costs: none before the least of them, where names stand, nor below nothing."""
    if is_log:
        if nothing is not None:
            yield nothing, "0"
        decades = [power for power in range(-12, 16) if scale.low <= power <= scale.high and power > (nothing or -99.0)]
        yield from ((power, compact(10.0**power, 6)) for power in decades)
        return
    for tick in scale.ticks():
        if tick >= 0.0 or least < 0.0:
            yield tick, _month(tick) if is_years else compact(tick, 6) if abs(tick) >= MILLION else _tick(tick, scale)


def _month(year: float) -> str:
    """Return a year with its fraction as 2025, or 2025-07."""
    months = round(year * 12)
    return f"{months // 12}" if months % 12 == 0 else f"{months // 12}-{months % 12 + 1:02}"


def _tick(value: float, scale: LinearScale) -> str:
    return format_number(value, digits_on(scale))


def _title(column: Column) -> str:
    better = {"minimize": " (lower is better)", "maximize": " (higher is better)"}.get(column.direction or "", "")
    return f"{column.title}{f', {column.unit}' if column.unit else ''}{better}"


Named = tuple[str, tuple[float, float], tuple[float, float]]
"""A name, where it is written, and the dot that it belongs to."""


@dataclass(frozen=True)
class _Aside:
    """Where the names of the front stand: in a column beyond its cheapest dot, where by definition nobody else is.

    `share` is how much of the drawing it takes; `is_left`: less is better across, so the column is on the left.
    """

    share: float
    is_left: bool

    @classmethod
    def of(cls, spots: Sequence[Spot], x_column: Column) -> "_Aside":
        longest = max((len(clipped(spot.name, TRADEOFF_NAME)) for spot in spots if spot.is_front), default=0)
        return cls((LETTER * longest + FRONT_ROOM) / (WIDTH - LEFT - RIGHT), x_column.direction != "maximize")

    @property
    def anchor(self) -> str:
        return "end" if self.is_left else "start"

    def widened(self, scale: LinearScale) -> LinearScale:
        """Return the scale with room for the column beside the dots."""
        more = (scale.high - scale.low) * self.share / (1.0 - self.share)
        return LinearScale(scale.low - more, scale.high) if self.is_left else LinearScale(scale.low, scale.high + more)

    def names(self, at: Sequence[tuple[float, float]], spots: Sequence[Spot]) -> list[Named]:
        """Return the names of the front from the top down, a line of text apart; what has no room is in the table."""
        # Copies are at one place: their names decide, which no two share.
        front = sorted((cy, cx, spot.name) for (cx, cy), spot in zip(at, spots, strict=True) if spot.is_front)
        if not front:
            return []
        edge = [cx for _, cx, _ in front]
        x = min(edge) - FRONT_GAP if self.is_left else max(edge) + FRONT_GAP
        named: list[Named] = []
        y = TOP + LABEL_HEIGHT
        over = max(0.0, y + LABEL_HEIGHT * len(front) - (HEIGHT - BOTTOM))
        for place, (cy, cx, name) in enumerate(front):
            latest = HEIGHT - BOTTOM - LABEL_HEIGHT * (len(front) - place) + over
            y = max(y, min(cy, latest))
            if y <= HEIGHT - BOTTOM:
                named.append((clipped(name, TRADEOFF_NAME), (x, y + 4.0), (cx, cy)))
            y += LABEL_HEIGHT
        return named


def _leaders(named: Sequence[Named]) -> Iterator[Shape]:
    """Yield a thin line from each name to its dot."""
    for _, (x, y), (cx, cy) in named:
        yield path("leader", f"M{x + (3.0 if x < cx else -3.0):g} {y - 4.0:g}L{cx:g} {cy:g}")


def _near_ends(spots: Sequence[Spot]) -> list[float]:
    """Return the ends of intervals within the scale: one far beyond the dots would press them together."""
    low, high = min(spot.y for spot in spots), max(spot.y for spot in spots)
    reach = 0.5 * (high - low) or 0.5
    return [min(max(end, low - reach), high + reach) for spot in spots for end in (spot.low, spot.high)]
