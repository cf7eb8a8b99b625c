"""Who cannot be told apart: scores with intervals on one scale, and beside them a bar for each letter that is shared.

What a critical-difference diagram shows, upright, so that names have room. Called by `app.render.drawings`.
"""

from collections.abc import Sequence

from app.render.pictures.figure import LINE, Figure, Shape, clipped, dot, number, path, room_for, words
from app.render.plot_axes import Declared
from app.render.text import format_number
from app.render.whisker import Scale
from app.values.table import Cell, Table

MOST_ROWS = 40
SCALE, BAR, TOP = 300.0, 11.0, 26.0


def draw_ranks(table: Table, declared: Declared) -> Figure | None:
    """Return the first rows: names, dots with intervals, and bars over those that share a letter of `groups`."""
    rows = [row for row in table.rows if number(row[table.index(declared["x"])]) is not None][:MOST_ROWS]
    if len(rows) < 2:
        return None
    names = [str(row[table.index(declared["label"])]) for row in rows]
    left = room_for(names)
    marks = [_mark(table, row, declared) for row in rows]
    low, high = min(mark[1] for mark in marks), max(mark[2] for mark in marks)
    scale = Scale(low, high) if high > low else Scale(low - 0.5, high + 0.5)
    letters = [str(row[table.index(declared["groups"])] or "") for row in rows]
    shown = [letter for letter in sorted(set("".join(letters))) if sum(letter in own for own in letters) > 1]
    shapes = [*_axis(scale, left, len(rows))]
    for at, (name, mark) in enumerate(zip(names, marks, strict=True)):
        shapes += _row(clipped(name), mark, scale, left, TOP + LINE * (at + 0.5))
    for place, letter in enumerate(shown):
        shapes += _bar(letters, letter, left + SCALE + 16.0 + BAR * place)
    width = left + SCALE + 24.0 + BAR * len(shown)
    description = f"{table.title}: who shares a bar is not separable; the table below has every number"
    return Figure(width, TOP + LINE * len(rows) + 8.0, description, tuple(shapes), len(table.rows) - len(rows))


def _mark(table: Table, row: Sequence[Cell], declared: Declared) -> tuple[float, float, float]:
    point, low, high = (number(row[table.index(declared[key])]) for key in ("x", "low", "high"))
    middle = 0.0 if point is None else point
    return middle, middle if low is None else min(low, middle), middle if high is None else max(high, middle)


def _across(scale: Scale, value: float, left: float) -> float:
    return round(left + 8.0 + (value - scale.low) / (scale.high - scale.low) * (SCALE - 16.0), 1)


def _axis(scale: Scale, left: float, n_rows: int) -> list[Shape]:
    shapes = []
    digits = next((digits for digits in range(6) if (scale.high - scale.low) * 10**digits >= 4), 6)
    for tick in scale.ticks():
        x = _across(scale, tick, left)
        shapes += [path("rule", f"M{x:g} {TOP - 4:g}V{TOP + LINE * n_rows:g}"),
                   words(format_number(tick, digits), x, TOP - 10.0, "middle", "tick")]  # fmt: skip
    return shapes


def _row(name: str, mark: tuple[float, float, float], scale: Scale, left: float, y: float) -> list[Shape]:
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
        y = TOP + LINE * at
        drawn += f"M{x:g} {y + 3:g}v{LINE - (0 if at + 1 in own else 6):g}"
    name = words(letter, x, TOP + LINE * own[0] - 1.0, "middle", "tick small")
    return [name, path("together", drawn, f"group {letter}")]
