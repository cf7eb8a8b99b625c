"""Filter, order, columns and pages compose: a form or a link that changes one of them keeps the others."""

from dataclasses import replace
from urllib.parse import parse_qsl

from app.render.html import render_page
from app.render.table_page import TablePage, TableView, choices, sort_table
from app.values.table import Column, Table

COLUMNS = (
    Column("rank", "Rank", "integer"),
    Column("entrant", "Entrant", "text"),
    Column("score", "Score"),
    Column("units", "Units", detail=True),
)
BOARD = Table("leaderboard/x", "X", COLUMNS, ((1, "A", 0.5, 3), (2, "B", 0.4, 3)))
VIEW = TableView("b", "/benchmarks/b/leaderboards/x", BOARD)
SORTED = (("sort", "score"), ("order", "desc"))


def page(*asked: tuple[str, str], view: TableView = VIEW) -> TablePage:
    """Return the page of a board as a query asks for it."""
    return TablePage(title="X", view=view, asked=asked)


def toggle(*asked: tuple[str, str]) -> tuple[str, list[tuple[str, str]]]:
    """Return the words and the query of the link to other columns."""
    words, address = page(*asked).toggle
    return words, parse_qsl(address[1:])


def test_a_form_keeps_the_order_the_columns_and_that_all_rows_are_shown() -> None:
    """Which page it was is left out: it was of other rows."""
    shown = page(*SORTED, ("column", "score"), ("column", "units"), ("page", "all"), ("q", "a"))

    assert shown.shown_so == [*SORTED, ("page", "all"), ("column", "score"), ("column", "units")]
    assert page(*SORTED, ("page", "1"), ("detail", "1")).shown_so == [*SORTED, ("detail", "1")]
    assert page(("order", "desc")).shown_so == []


def test_all_columns_are_in_the_order_that_was_asked_for() -> None:
    """And back to the usual ones."""
    assert toggle(*SORTED, ("q", "a")) == ("All columns", [("q", "a"), *SORTED, ("detail", "1")])
    assert toggle(*SORTED, ("detail", "1")) == ("Fewer columns", [*SORTED])


def test_an_order_leaves_out_what_was_not_filled_in() -> None:
    """A form without scripts sends its empty fields too; a link from its answer need not."""
    address = page(("q", "a"), ("open_weights", ""), ("column", "score"), ("page", "1")).sort("score")

    assert parse_qsl(address[1:], keep_blank_values=True) == [
        ("q", "a"), ("column", "score"), ("sort", "score"), ("order", "asc"),
    ]  # fmt: skip


def test_a_board_that_a_choice_leaves_empty_says_why_in_any_order() -> None:
    """It has no columns, so none to sort by, which is no mistake of its reader."""
    empty = Table("explore/x", "X", (), (), ("It cannot be computed.",))

    assert sort_table(empty, "score", descending=True) == empty
    assert "It cannot be computed." in render_page(page(*SORTED, view=replace(VIEW, table=empty))).decode()


def test_a_form_that_narrows_a_table_sends_the_order_along() -> None:
    """As fields that nobody sees, so that it works without scripts."""
    text = render_page(page(*SORTED, view=replace(VIEW, choices=choices(BOARD, {})))).decode()

    for name, value in SORTED:
        assert f'<input type="hidden" name="{name}" value="{value}">' in text
