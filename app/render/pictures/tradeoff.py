"""Score against cost: every row as a dot with its intervals, and the front of those that nobody beats in both.

Called by `app.render.drawings`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log10

from app.render.pictures.figure import LETTER, Figure, Shape, clipped, dot, number, path, words
from app.render.plot_axes import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Declared
from app.render.text import format_number
from app.render.whisker import Scale
from app.values.table import Column, Table

LOG_FROM = 50.0
"""Costs that differ by more than this factor are on a scale of powers of ten."""
NAME = 24
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


def draw_tradeoff(table: Table, declared: Declared) -> Figure | None:
    """Return the dots of the rows that have both numbers; None where fewer than two do."""
    spots = list(_spots(table, declared))
    if len(spots) < 2:
        return None
    x_column, y_column = (table.columns[table.index(declared[key])] for key in ("x", "y"))
    is_log = min(spot.x for spot in spots) > 0 and max(s.x for s in spots) > LOG_FROM * min(s.x for s in spots)
    placed = [log10(spot.x) if is_log else spot.x for spot in spots]
    x, y = _scale(placed), _scale(_near_ends(spots))
    aside = _Aside.of(spots, x_column)
    x = aside.widened(x)
    at = [(_across(x, value), _up(y, spot.y)) for value, spot in zip(placed, spots, strict=True)]
    shapes = [*_axes(x, y, x_column, y_column, is_log)]
    shapes += _leaders(named := aside.names(at, spots))
    shapes += [path("reach", f"M{cx:g} {_up(y, spot.low):g}V{_up(y, spot.high):g}")
               for (cx, _), spot in zip(at, spots, strict=True) if spot.high > spot.low]  # fmt: skip
    front = sorted(place for place, spot in zip(at, spots, strict=True) if spot.is_front)
    shapes += [path("front", "M" + "L".join(f"{cx:g} {cy:g}" for cx, cy in front))] if len(front) > 1 else []
    for (cx, cy), spot in zip(at, spots, strict=True):
        hint = f"{spot.name}: {y_column.title} {spot.y:.4g}, {x_column.title} {spot.x:.4g}"
        shapes.append(dot("c0" if spot.is_front else "c9", cx, cy, 4.5 if spot.is_front else 3.5, hint))
    shapes += [words(text, *where, aside.anchor, "mark") for text, where, _ in named]
    description = f"{y_column.title} by {x_column.title}; the line is the front, and the table below has every number"
    return Figure(WIDTH, HEIGHT, description, tuple(shapes), len(table.rows) - len(spots))


def _spots(table: Table, declared: Declared) -> Iterator[Spot]:
    names = (declared["x"], declared["y"], declared.get("low"), declared.get("high"))
    ats = [None if name is None else table.index(name) for name in names]
    label, front = table.index(declared["label"]), table.index(declared["front"])
    for row in table.rows:
        x, y, low, high = (None if at is None else number(row[at]) for at in ats)
        if x is not None and y is not None:
            ends = (y if low is None else min(low, y), y if high is None else max(high, y))
            yield Spot(str(row[label]), x, y, *ends, is_front=row[front] is True)


def _scale(values: Sequence[float]) -> Scale:
    low, high = min(values), max(values)
    gap = 0.04 * (high - low) or 0.5
    return Scale(low - gap, high + gap)


def _across(scale: Scale, value: float) -> float:
    return round(LEFT + (value - scale.low) / (scale.high - scale.low) * (WIDTH - LEFT - RIGHT), 1)


def _up(scale: Scale, value: float) -> float:
    held = min(max(value, scale.low), scale.high)
    return round(HEIGHT - BOTTOM - (held - scale.low) / (scale.high - scale.low) * (HEIGHT - TOP - BOTTOM), 1)


def _axes(x: Scale, y: Scale, x_column: Column, y_column: Column, is_log: bool) -> Iterator[Shape]:
    for tick in y.ticks():
        yield path("rule", f"M{LEFT:g} {_up(y, tick):g}H{WIDTH - RIGHT:g}")
        yield words(_tick(tick, y), LEFT - 6.0, _up(y, tick) + 4.0, "end", "tick")
    for tick in _decades(x) if is_log else x.ticks():
        yield path("rule", f"M{_across(x, tick):g} {TOP:g}V{HEIGHT - BOTTOM:g}")
        shown = f"{10**tick:,.6g}" if is_log else _tick(tick, x)
        yield words(shown, _across(x, tick), HEIGHT - BOTTOM + 16.0, "middle", "tick")
    yield words(_title(x_column), (WIDTH + LEFT) / 2, HEIGHT - 6.0, "middle", "tick")
    yield words(_title(y_column), LEFT, TOP - 1.0, "start", "tick")


def _decades(scale: Scale) -> list[float]:
    return [power for power in range(-12, 16) if scale.low <= power <= scale.high]


def _tick(value: float, scale: Scale) -> str:
    digits = next((digits for digits in range(6) if (scale.high - scale.low) * 10**digits >= 4), 6)
    return format_number(value, digits)


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
        longest = max((len(clipped(spot.name, NAME)) for spot in spots if spot.is_front), default=0)
        return cls((LETTER * longest + FRONT_ROOM) / (WIDTH - LEFT - RIGHT), x_column.direction != "maximize")

    @property
    def anchor(self) -> str:
        return "end" if self.is_left else "start"

    def widened(self, scale: Scale) -> Scale:
        """Return the scale with room for the column beside the dots."""
        more = (scale.high - scale.low) * self.share / (1.0 - self.share)
        return Scale(scale.low - more, scale.high) if self.is_left else Scale(scale.low, scale.high + more)

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
                named.append((clipped(name, NAME), (x, y + 4.0), (cx, cy)))
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
