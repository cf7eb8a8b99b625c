"""Columns that are declared with their cells."""

from app.values.frame import Frame, FrameField
from app.values.table import Column

LENGTH: FrameField[str] = FrameField(Column("length", "Length", "integer"), len)


def test_a_cell_stands_in_the_column_that_it_was_declared_with() -> None:
    """Whatever the order of the fields."""
    shout: FrameField[str] = FrameField(Column("shout", "Shout", "text"), str.upper)
    for fields in ([LENGTH, shout], [shout, LENGTH]):
        table = Frame(fields).table("t", "T", ["ab", "c"])
        assert [dict(row) for row in table.records()] == [{"length": 2, "shout": "AB"}, {"length": 1, "shout": "C"}]
