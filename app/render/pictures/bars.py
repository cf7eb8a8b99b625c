"""Values by name as bars from zero, those that count most marked: differences task by task, coverage of tasks.

Called by `app.render.drawings`.
"""

from app.render.pictures.figure import LINE, Figure, clipped, number, path, room_for, words
from app.render.plot_axes import Declared
from app.render.text import format_number
from app.values.table import Table

MOST_ROWS = 60
SCALE, NUMBER, TOP = 320.0, 64.0, 6.0


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
    shapes = [path("axis-line", f"M{zero:g} {TOP:g}V{TOP + LINE * len(shown):g}")]
    for at, row in enumerate(shown):
        y, length = TOP + LINE * at, values[at] * unit
        look = "bar marked" if marked is not None and row[marked] is True else "bar"
        name = clipped(str(row[label]))
        shapes += [words(name, left - NUMBER - 6.0, y + 14.0, "end"),
                   words(format_number(values[at], digits), left - 8.0, y + 14.0, "end", "tick"),
                   path(look, f"M{zero:g} {y + 4:g}h{length:.1f}v{LINE - 8:g}h{-length:.1f}z")]  # fmt: skip
    description = f"{table.title}: {column.title} by {table.columns[label].title}; the table below has every number"
    return Figure(left + SCALE + 8.0, TOP + LINE * len(shown) + 6.0, description, tuple(shapes), len(rows) - len(shown))
