"""What is written into a plot: names at the curves, counts at the points, the operating point, level lines.

Called by `app.render.plot`, with positions that are in the units of the drawing already.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.render.plot_axes import Axis, Declared, Point, y_at
from app.render.whisker import Scale

LINE_HEIGHT = 14.0
GAP, LETTER = 6.0, 6.5
"""How far a text is from its point, and about how wide a letter is."""
MOST_LEVELS = 3
"""With more level lines than this the plot is illegible, and none is drawn."""
Row = Mapping[str, Any]


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


@dataclass(frozen=True)
class Level:
    """A level line with its words."""

    y: float
    text: str


def words_of(entries: Sequence[Row], row: Row) -> str:
    """Return the text of the entry whose other keys a row has, "" where there is none."""
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
    declared: Declared, shown: Sequence[tuple[str, Sequence[Point]]], numbers: Mapping[str, int], x: Axis, y: Scale
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


def _mark(point: Point, text: str, number: int, x: Axis, y: Scale, *, is_dot: bool = False) -> Mark:
    up = y_at(y, point.up or 0.0)
    return Mark(x.at(point.across), up, text, number, up if is_dot else None)


def levels_of(declared: Declared, points: Sequence[Point], y: Scale) -> Iterator[Level]:
    """Yield each level line that belongs to a row of the plot, once; none where there are many."""
    levels = {}
    for entry in declared.get("levels", ()):
        keys = {key: value for key, value in entry.items() if key not in ("at", "text")}
        if any(all(point.row.get(key) == value for key, value in keys.items()) for point in points):
            levels[str(entry["text"])] = Level(y_at(y, float(entry["at"])), str(entry["text"]))
    yield from levels.values() if len(levels) <= MOST_LEVELS else ()
