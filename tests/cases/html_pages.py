"""What the tests of pages share: the fields of a table's page around any table."""

from typing import Any

from app.render.drawings import build_drawings
from app.render.html import shown_columns
from app.values.table import Table


def in_one_line(page: str) -> str:
    """Return a page with single spaces for its white space, as a browser shows its sentences."""
    return " ".join(page.split())


def table_page(table: Table) -> dict[str, Any]:
    """Return the fields of a page that shows the table as it is."""
    return {
        "title": table.title,
        "slug": "small",
        "table": table,
        "columns": shown_columns(table, detail=False),
        "snapshot": None,
        "version": None,
        "trail": [],
        "links": [],
        "row_links": {},
        "sort": lambda name: f"?sort={name}",
        "permalink": "/",
        "drawings": build_drawings(table),
    }
