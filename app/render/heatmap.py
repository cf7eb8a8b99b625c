"""Rows as a heatmap: one value by row and column, shaded beside its number.

Called by `app.render.drawings` for each heatmap that a table declares; the drawing is a template macro.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from app.render.plot_axes import Declared
from app.render.text import format_number
from app.values.table import Cell, Table

MAX_CELLS = 4000
SHADES = 8
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
