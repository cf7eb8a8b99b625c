"""Tables as snapshots store them: what is packed comes back as it was, and what cannot be stored is refused."""

import json
import zlib
from datetime import date
from typing import Any

import pytest

from app.store.snapshots import pack_table
from app.values.table import Column, Table

COLUMNS = (Column("a", "A"), Column("b", "B", "text"))


def table(*rows: tuple[Any, ...]) -> Table:
    """Return a table of two columns, whose title looks like the place of the rows."""
    return Table("leaderboard/x", '"rows":null', COLUMNS, rows, ("A note.",), {"rows": None})


@pytest.mark.parametrize(
    "rows",
    [
        (),
        ((1e-5, "é\u2028\x1f"), (5e-324, None), (-0.0, "x"), (1e50, "y"), (0.1 + 0.2, "z")),
        ((1 << 70, True),),
        ((1.0, "\ud800"),),
    ],
    ids=["none", "numbers", "large", "half a pair"],
)
def test_a_packed_table_comes_back_as_it_was(rows: tuple[tuple[Any, ...], ...]) -> None:
    """Each number keeps every digit, each text each character, and nothing moves."""
    found = Table.from_json(json.loads(zlib.decompress(pack_table(table(*rows)))))
    assert found == table(*rows)
    assert repr(found.rows) == repr(rows)


def test_a_cell_that_is_no_plain_value_is_refused() -> None:
    """A date is a fault of what made the table, and is not stored as something else."""
    with pytest.raises(TypeError, match="holds a date"):
        pack_table(table((1.0, date(2026, 1, 1))))
