"""Pages: a template and what it shows. Called by `app.web.pages`."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup

from app.render.whisker import Scale, Whisker, column_scale, whisker
from app.table import Cell, Column, Table

ROOT = Path(__file__).resolve().parents[2]
MINUS, DASH = "−", "–"


@dataclass(frozen=True)
class ShownColumn:
    """A column as HTML shows it: its position, its interval's positions and the scale of its whiskers."""

    column: Column
    at: int
    low_at: int | None
    high_at: int | None
    scale: Scale | None

    def text(self, row: Sequence[Cell]) -> str:
        """Return the cell's text; ranks carry their interval."""
        shown = format_cell(self.column, row[self.at])
        if self.column.name == "rank" and self.low_at is not None and self.high_at is not None:
            low, high = row[self.low_at], row[self.high_at]
            if low is not None:
                return f"{shown} ({low}{DASH}{high})" if low != high else f"{shown} ({low})"
        return shown

    def interval_text(self, row: Sequence[Cell]) -> str | None:
        """Return the interval as text, where there is one to draw."""
        if self.scale is None or self.low_at is None or self.high_at is None or row[self.low_at] is None:
            return None
        return f"{format_cell(self.column, row[self.low_at])} to {format_cell(self.column, row[self.high_at])}"

    def whisker(self, row: Sequence[Cell]) -> Whisker | None:
        """Return the drawing of the cell, or None without an interval."""
        if self.interval_text(row) is None or self.scale is None or self.low_at is None or self.high_at is None:
            return None
        return whisker(self.scale, _number(row[self.at]), _number(row[self.low_at]), _number(row[self.high_at]))


def shown_columns(table: Table, *, detail: bool) -> list[ShownColumn]:
    """Return the columns that HTML shows; interval ends stand inside the column of their point."""
    ends = {name for column in table.columns for name in column.interval or ()}
    chosen = [c for c in table.columns if detail or (not c.detail and c.name not in ends)]
    return [_shown(table, column) for column in chosen]


def _shown(table: Table, column: Column) -> ShownColumn:
    if column.interval is None:
        return ShownColumn(column, table.index(column.name), None, None, None)
    low, high = (table.index(name) for name in column.interval)
    at = table.index(column.name)
    values = [None if cell is None else _number(cell) for row in table.rows for cell in (row[at], row[low], row[high])]
    scale = None if column.kind == "integer" else column_scale(values)
    return ShownColumn(column, at, low, high, scale)


def _number(cell: Cell) -> float:
    if isinstance(cell, (int, float)):
        return float(cell)
    raise TypeError(f"a numeric column holds {cell!r}")


def format_cell(column: Column, cell: Cell) -> str:
    """Return a cell as people read it: a dash for null, true minus signs, fixed digits."""
    if cell is None:
        return DASH
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return f"{cell:,.{3 if column.digits is None else column.digits}f}".replace("-", MINUS)
    return f"{cell:,}".replace("-", MINUS) if isinstance(cell, int) else cell


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(ROOT / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["markdown"] = markdown
    environment.globals["stylesheet"] = f"/static/plumbline.{_stylesheet_digest()}.css"
    return environment


@cache
def stylesheet() -> bytes:
    """Return the one stylesheet."""
    return (ROOT / "static" / "plumbline.css").read_bytes()


@cache
def _stylesheet_digest() -> str:
    return hashlib.sha256(stylesheet()).hexdigest()[:12]


def markdown(text: str) -> Markup:
    """Return Markdown as HTML without anything that could run or load."""
    return Markup(nh3.clean(MarkdownIt("commonmark", {"html": False}).render(text), link_rel="nofollow noopener"))  # noqa: S704 - cleaned by nh3


def render(template: str, **shown: Any) -> bytes:
    """Return a page. A variable that a template needs and does not get is an error."""
    return _environment().get_template(template).render(**shown).encode()
