"""What stands in the heads of a table on a page, where it is shorter than in its data."""

from app.values.table import Column, Table
from tests.cases.html_pages import page_of


def test_the_unit_of_a_share_is_not_shown() -> None:
    """It is 1, which says nothing to whoever reads it beside a title; seconds are shown."""
    page = page_of(Table("any", "Any", (Column("rate", "Rate", unit="1"), Column("time", "Time", unit="s")), ()))

    assert "<small>1</small>" not in page
    assert "<small>s</small>" in page
