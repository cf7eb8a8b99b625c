"""How a reader asked to see a table: sorted by a column, with or without its detail columns.

Called by the web for HTML; pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import urlencode

from app.errors import FieldRejected, Problem
from app.names import clip_for_message
from app.render.base_page import Links
from app.render.paging import EVERY
from app.values.table import Cell, Column, Table

ORDERS = ("asc", "desc")


@dataclass(frozen=True)
class Look:
    """What a query says of how rows are shown, whichever rows they are: their order, their columns, all at once.

    >>> Look([("q", "gr"), ("sort", "rank"), ("order", "desc"), ("page", "2")]).order
    [('sort', 'rank'), ('order', 'desc')]
    """

    asked: Links

    @property
    def sorted_by(self) -> str | None:
        """Return the column by which the rows are sorted, where one was asked for."""
        return self._query.get("sort") or None

    @property
    def descending(self) -> bool:
        """Say whether the largest comes first. Raises FieldRejected for an order that there is not."""
        return is_descending(self._query.get("order"))

    @property
    def columns(self) -> Links:
        """Return the columns that were asked for by name, as in the query."""
        return [(name, value) for name, value in self.asked if name == "column" and value]

    @property
    def has_detail(self) -> bool:
        """Say whether every column is shown."""
        return self._query.get("detail") == "1" and not self.columns

    @property
    def order(self) -> Links:
        """Return the order, and whether all rows are on one page; a page's number is about the rows shown now."""
        names = ("sort", "order") if self.sorted_by else ()
        sorted_so = [(name, self._query[name]) for name in names if self._query.get(name)]
        return [*sorted_so, ("page", EVERY)] if self._query.get("page") == EVERY else sorted_so

    @property
    def all_but_columns(self) -> Links:
        """Return what stays when columns are chosen."""
        return [*self.order, ("detail", "1")] if self.has_detail else self.order

    def toggle(self, rows: Links) -> tuple[str, str]:
        """Return the link to every column of the same rows, or back to the usual ones."""
        if self.has_detail:
            return "Fewer columns", "?" + urlencode([*rows, *self.order])
        return "All columns", "?" + urlencode([*rows, *self.order, ("detail", "1")])

    @cached_property
    def _query(self) -> dict[str, str]:
        return dict(self.asked)


def sort_table(table: Table, column: str | None, *, descending: bool) -> Table:
    """Return the table sorted by a column, nulls last. Raises FieldRejected for an unknown column.

    One that could not be computed has no columns, and stays as it is: it says why.
    """
    if column is None or not table.columns:
        return table
    if column not in table.column_names():
        known = ", ".join(table.column_names())
        problem = Problem(f"expected one of {known}", column="sort", value=clip_for_message(column))
        raise FieldRejected("The table cannot be sorted by that column.", [problem])
    at = table.index(column)
    known_rows = [row for row in table.rows if row[at] is not None]
    unknown = [row for row in table.rows if row[at] is None]
    ordered = sorted(known_rows, key=lambda row: _sort_key(row[at]), reverse=descending)
    return replace(table, rows=(*ordered, *unknown))


def only_columns(table: Table, names: Sequence[str]) -> Table:
    """Return some columns of a table, in its order; all of them where none is named. Raises FieldRejected."""
    if not names or not table.columns:
        return table
    known = table.column_names()
    problems = [
        Problem(f"expected one of {', '.join(known)}", column="column", value=clip_for_message(name))
        for name in names
        if name not in known
    ]
    if problems:
        raise FieldRejected("The table has no such column.", problems)
    at = [place for place, name in enumerate(known) if name in names]
    columns = tuple(table.columns[place] for place in at)
    # The ends of an interval may be among those that are left out.
    kept = tuple(c if set(c.interval or ()) <= set(names) else replace(c, interval=None) for c in columns)
    return replace(table, columns=kept, rows=tuple(tuple(row[place] for place in at) for row in table.rows))


def is_descending(order: str | None) -> bool:
    """Say whether the largest comes first. Raises FieldRejected for an order that is neither."""
    if order and order not in ORDERS:
        problem = Problem(f"expected {' or '.join(ORDERS)}", column="order", value=clip_for_message(order))
        raise FieldRejected("The table cannot be sorted in that order.", [problem])
    return order == "desc"


def sort_address(query: Sequence[tuple[str, str]], column: Column) -> str:
    """Return the query that sorts by a column: its better end first, and the other way round the second time."""
    first = "desc" if column.direction == "maximize" or column.kind == "flag" else "asc"
    other = {"asc": "desc", "desc": "asc"}
    now = dict(query)
    order = other[first] if now.get("sort") == column.name and now.get("order", "asc") == first else first
    # In another order other rows are on the page that is shown.
    kept = [(n, v) for n, v in query if v and (n not in ("sort", "order", "page") or (n, v) == ("page", EVERY))]
    return "?" + urlencode([*kept, ("sort", column.name), ("order", order)])


def _sort_key(cell: Cell) -> tuple[float, str]:
    return (0.0, cell.lower()) if isinstance(cell, str) else (float(cell or 0), "")
