"""Columns that are declared with their cells, and registries to which more is added for a while."""

import pytest

from app.boards import coverage
from app.boards.columns import COLUMNS, BoardRow, board_table
from app.boards.methods.estimate import EstimateBoard
from app.values.frame import Frame, FrameField, with_interval
from app.values.registry import Registry
from app.values.table import Column

SPEC = EstimateBoard(name="b", method="estimate", metrics=["x"])
LENGTH: FrameField[str] = FrameField(Column("length", "Length", "integer"), len)


def test_a_cell_stands_in_the_column_that_it_was_declared_with() -> None:
    """Whatever the order of the fields."""
    shout: FrameField[str] = FrameField(Column("shout", "Shout", "text"), str.upper)
    for fields in ([LENGTH, shout], [shout, LENGTH]):
        table = Frame(fields).table("t", "T", ["ab", "c"])
        assert [dict(row) for row in table.records()] == [{"length": 2, "shout": "AB"}, {"length": 1, "shout": "C"}]


def test_an_interval_is_two_details_behind_its_number() -> None:
    """They have its glossary entry and digits, and neither its unit nor its direction."""
    column = Column("score", "Score", unit="s", direction="minimize", glossary="mean", digits=3)
    table = Frame(with_interval(column, lambda row: row)).table("t", "T", [(2.0, 1.0, 4.0)])
    point, low, high = table.columns

    assert point.interval == ("score_lower", "score_upper") == (low.name, high.name)
    assert low == Column("score_lower", "Score, low", detail=True, glossary="mean", digits=3)
    assert high == Column("score_upper", "Score, high", detail=True, glossary="mean", digits=3)
    assert table.rows == ((2.0, 1.0, 4.0),)


def test_a_board_begins_and_ends_as_every_board() -> None:
    """The method's own columns stand between the entrant and the ends of the rank."""
    rows = [(BoardRow("A", 1, 1, 2, True, 0.75, 0.5, 1), "abc"), (BoardRow("B"), "d")]
    table = board_table(SPEC, [LENGTH], rows, (), {})

    assert table.column_names()[:6] == ("rank", "entrant", "length", "rank_low", "rank_high", "may_be_first")
    assert table.column_names()[6:9] == ("first_p", "first_resamples_share", "group")
    assert [row[:9] for row in table.rows] == [(1, "A", 3, 1, 2, True, 0.75, 0.5, 1), (None, "B", 1, *[None] * 6)]
    assert table.column_names()[3:] == tuple(COLUMNS)
    assert set(COLUMNS).issuperset(field.column.name for field in coverage.FIELDS)


def test_a_column_of_every_board_is_there_for_a_while() -> None:
    """Inside the `with` block, and not behind it."""
    field: FrameField[BoardRow] = FrameField(Column("again", "Again", "text"), lambda place: place.entrant)
    with COLUMNS.also("again", field):
        assert board_table(SPEC, [], [(BoardRow("A"), None)], (), {}).rows[0][-1] == "A"

    assert "again" not in board_table(SPEC, [], [(BoardRow("A"), None)], (), {}).column_names()


def test_a_name_is_given_once() -> None:
    """A second thing of the same name would hide the first."""
    registry = Registry("colour", {"red": 1})

    with pytest.raises(ValueError, match="there is a colour red already"):
        registry.add("red", 2)
    assert dict(registry) == {"red": 1}
