"""What is written into a plot: names at the curves, counts at the points, the operating point, level lines.

Called by `app.render.plot`, with positions that are in the units of the drawing already.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.render.plot_axes import Axis, Declared, Point, y_at
from app.render.whisker import Scale

LINE_HEIGHT = 14.0
CLOSE = 60.0
"""Texts nearer to each other across than this are moved apart."""
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Mark:
    """A text at a point, and at what height the dot of it is, if it has one: the text may be moved.

    One that `is_end` stands behind the end of its line.
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
    found = (entry for entry in entries if all(row.get(key) == value for key, value in entry.items() if key != "text"))
    return next((str(entry["text"]) for entry in found), "")


def spread(marks: Sequence[Mark], low: float, high: float) -> tuple[Mark, ...]:
    """Move texts apart that would lie on each other, downwards in their order, within the drawing's ends."""
    placed: list[Mark] = []
    for mark in sorted(marks, key=lambda mark: mark.y):
        above = [other.y for other in placed if abs(other.x - mark.x) < CLOSE]
        lowest = max(above, default=low - LINE_HEIGHT)
        placed.append(replace(mark, y=max(mark.y, lowest + LINE_HEIGHT)))
    beyond = max((mark.y for mark in placed), default=high) - high
    return tuple(replace(mark, y=round(mark.y - max(0.0, beyond), 1)) for mark in placed)


def marks_of(
    declared: Declared, shown: Sequence[tuple[str, Sequence[Point]]], numbers: Mapping[str, int], x: Axis, y: Scale
) -> Iterator[Mark]:
    """Yield the names at the curves, the counts at the points, and the points that are marked."""
    for name, points in shown:
        there = [point for point in points if point.up is not None]
        if not there:
            continue
        if declared.get("direct"):
            is_end = declared["direct"] == "end"
            middle = there[-1] if is_end else there[len(there) // 2]
            words = words_of(declared.get("words", ()), middle.row)
            text = ", ".join(each for each in (name if len(shown) > 1 or not words else "", words) if each)
            yield replace(_mark(middle, text, numbers[name], x, y), is_end=is_end)
        if "mark" in declared:
            column, nearest = declared["mark"]["column"], float(declared["mark"]["nearest"])
            known = [(abs(value - nearest), point) for point in there
                     if isinstance(value := point.row[column], int | float)]  # fmt: skip
            for _, point in sorted(known, key=lambda each: each[0])[:1]:
                yield _mark(point, f"{float(str(point.row[column])):.2f}", numbers[name], x, y, is_dot=True)
        if "count" in declared and len(shown) == 1:
            yield from (_mark(point, f"{point.row[declared['count']]:,}", numbers[name], x, y, is_dot=True)
                        for point in there)  # fmt: skip


def _mark(point: Point, text: str, number: int, x: Axis, y: Scale, *, is_dot: bool = False) -> Mark:
    up = y_at(y, point.up or 0.0)
    return Mark(x.at(point.across), up, text, number, up if is_dot else None)


def levels_of(declared: Declared, points: Sequence[Point], y: Scale) -> Iterator[Level]:
    """Yield each level line that belongs to a row of the plot, once."""
    found = {}
    for entry in declared.get("levels", ()):
        keys = {key: value for key, value in entry.items() if key not in ("at", "text")}
        if any(all(point.row.get(key) == value for key, value in keys.items()) for point in points):
            found[str(entry["text"])] = Level(y_at(y, float(entry["at"])), str(entry["text"]))
    yield from found.values()
