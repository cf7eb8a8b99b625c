"""What the tests of pages share: the page of any table, and the sentences of a page."""

from app.render.html import render_page
from app.render.table_page import TablePage, TableView
from app.values.table import Table


def in_one_line(page: str) -> str:
    """Return a page with single spaces for its white space, as a browser shows its sentences."""
    return " ".join(page.split())


def page_of(table: Table) -> str:
    """Return the page that shows a table as it is."""
    view = TableView("small", "/benchmarks/small/tables/any", table)
    return render_page(TablePage(title=table.title, view=view, asked=())).decode()
