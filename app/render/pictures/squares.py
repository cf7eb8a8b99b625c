"""Entrants by tasks as squares: the place on each task as a shade, and what failed, lacks, is imputed or was leaked.

A square is nine pixels, so that 324 by 41 are one picture; a class has one path, so that it is small.
Called by `app.render.drawings`.
"""

from collections.abc import Mapping

from app.render.pictures.figure import LETTER, Figure, Shape, clipped, path, words
from app.render.plot_axes import Declared
from app.values.table import Table

SIDE = 10.0
MOST_SQUARES = 60_000
SHADES = 8
LOOK_OF_STATE = {"no value": "lost", "absent": "gone", "imputed": "filled", "leaked": "leaked"}
STATE_OF_LOOK = {look: state for state, look in LOOK_OF_STATE.items()}
PLACES = "last to first on the task"
NAME = 30


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


def _key(signs: Mapping[str, str], y: float) -> tuple[list[Shape], float]:
    """Return what shades and signs mean, in one line, and where it ends: a saved picture has no other words."""
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
