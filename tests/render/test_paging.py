"""Long tables page by page: which rows, where the others are, and what is refused."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qsl

import pytest

from app.errors import FieldRejected
from app.render.html import render_page
from app.render.table_page import ROWS, TablePage, TableView
from app.values.table import Column, Table
from app.web.requests import OF_TABLES

N_ROWS = 10 * ROWS


def page(*asked: tuple[str, str], n_rows: int = N_ROWS) -> TablePage:
    """Return the page of a board of so many entrants."""
    columns = (Column("rank", "Rank", "integer"), Column("entrant", "Entrant", "text"))
    rows = tuple((at + 1, f"Model {at:05}") for at in range(n_rows))
    view = TableView("b", "/benchmarks/b/leaderboards/x", Table("leaderboard/x", "X", columns, rows))
    return TablePage(title="X", view=view, asked=asked)


def names(rows: Sequence[Sequence[Any]]) -> list[Any]:
    """Return the entrants of some rows."""
    return [row[1] for row in rows]


def test_a_long_table_is_shown_page_by_page() -> None:
    """The first page has the first rows, the last one the last; what was sorted stays sorted on the next."""
    last = page(("sort", "rank"), ("order", "desc"), ("page", "10"))

    assert names(page().rows) == [f"Model {at:05}" for at in range(ROWS)]
    assert names(last.rows)[-1] == "Model 00000"
    assert last.caption == "Rows 1,801 to 2,000 of 2,000; the CSV has all of them"
    assert last.paging is not None
    assert last.paging.links == [
        ("Previous rows", "?sort=rank&order=desc&page=9"), ("All 2,000 rows", "?sort=rank&order=desc&page=all"),
    ]  # fmt: skip


def test_all_rows_of_a_long_table_are_shown_on_request() -> None:
    """Who asks for all of them has them, and a short table is never cut."""
    assert (len(page(("page", "all")).rows), page(("page", "all")).paging) == (N_ROWS, None)
    assert (len(page(n_rows=ROWS).rows), page(n_rows=ROWS).paging) == (ROWS, None)


@pytest.mark.parametrize("wanted", ["0", "11", "-1", "two", "1e3", "\u0663", "9" * 30])
def test_a_page_that_there_is_not_is_refused(wanted: str) -> None:
    """The refusal names the value and what is allowed."""
    with pytest.raises(FieldRejected) as refused:
        page(("page", wanted))

    assert refused.value.problems[0].message == "expected 1 to 10 or all"


def test_the_first_page_names_the_others() -> None:
    """A reader finds the rest below the rows, and the page holds no more rows than it says."""
    text = render_page(page()).decode()

    assert '<a href="?page=2">Next rows</a>' in text
    assert text.count("Model 0") < 3 * ROWS


def test_the_web_knows_every_parameter_of_the_links_to_other_rows() -> None:
    """A link that a page offers is not refused as a misspelt one."""
    paging = page(("sort", "rank")).paging
    assert paging is not None
    named = {name for _, address in paging.links for name, _ in parse_qsl(address[1:])}

    assert named == {"sort", "page"}
    assert named <= OF_TABLES
