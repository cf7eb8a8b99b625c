"""A picture as shapes in the units of its drawing; a template writes them as SVG, in a page or as a file.

Made by the other modules of this package, asked for by `app.render.drawings`. A shape's look is a class of the
stylesheet, so that a picture follows the colours of the page.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from app.values.table import Cell

LINE, LETTER = 20.0, 6.6
"""The height of a line of text, and the width of a letter at twelve pixels, as wide as common fonts are at most."""
MOST_LETTERS = 36
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
    """Shapes on a drawing of this size; `words` say what it shows to whoever does not see it, `n_more` are left out."""

    width: float
    height: float
    words: str
    shapes: tuple[Shape, ...] = field(default_factory=tuple)
    n_more: int = 0


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
