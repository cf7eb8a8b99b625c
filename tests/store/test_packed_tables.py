"""Tables as snapshots store them: what is packed comes back as it was, and what cannot be stored is refused."""

from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pytest

from app.errors import TableRejected
from app.store.packed_tables import pack_table, unpack_table
from app.values.table import CellColumn, Column, ColumnarRows, Table, rows_without

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
    actual = unpack_table(pack_table(table(*rows)))
    assert actual == table(*rows)
    assert repr(actual.rows) == repr(rows)


def test_a_cell_that_is_no_plain_value_is_refused() -> None:
    """A date is a fault of what made the table, and is not stored as something else."""
    with pytest.raises(TypeError, match="holds a date"):
        pack_table(table((1.0, date(2026, 1, 1))))


@pytest.mark.parametrize("largest", [1.0, 1.7e308, -1.7e308], ids=["small", "large", "below"])
@pytest.mark.parametrize("infinite", [float("inf"), float("-inf"), float("nan")])
def test_one_number_that_is_not_finite_is_refused_among_others(largest: float, infinite: float) -> None:
    """Wherever it stands, also beside another that it would cancel; a sum that is infinite is nobody's fault."""
    kept = [(largest, None), (largest, 1), (largest, -largest)]
    assert len(table(*kept).rows) == 3
    for cells in ((infinite, 0.5), (0.5, infinite), (infinite, -infinite)):
        with pytest.raises(TableRejected):
            table(*kept, cells)


def test_rows_that_are_columns_come_back_as_they_were() -> None:
    """Each number keeps every bit, what is not finite is None, and whoever looks sees rows."""
    numbers = np.array([[5e-324, -0.0], [np.nan, np.inf]])
    words = CellColumn(np.array([0, 1, 2, 1]), ("\ud800", None, True))
    created = Table("pairwise/x", "X", COLUMNS, ColumnarRows((CellColumn.of_numbers(numbers), words)), ("A note.",))

    actual = unpack_table(pack_table(created))

    assert actual == created
    assert repr(actual.rows) == "((5e-324, '\\ud800'), (-0.0, None), (None, True), (None, None))"
    assert actual.rows[1:2] == ((-0.0, None),)
    assert len(actual.rows) == 4


def test_rows_that_are_columns_are_refused_as_others_are() -> None:
    """An infinite number is in no table, nor is a column too many, nor a cell that is no plain value."""
    infinite, dated = CellColumn(np.array([np.inf])), CellColumn(np.array([0]), (date(2026, 1, 1),))  # type: ignore[arg-type]
    for columns in ((infinite, infinite), (dated,)):
        with pytest.raises(TableRejected):
            Table("pairwise/x", "X", COLUMNS, ColumnarRows(columns))
    with pytest.raises(TypeError, match="holds a date"):
        pack_table(Table("pairwise/x", "X", COLUMNS, ColumnarRows((dated, dated))))


def test_columns_of_several_parts_are_the_rows_one_after_the_other() -> None:
    """Behind the name of each part; 1, 1.0 and True stay three things, and a part without a number has none."""
    parts = [[(1, 0.5, None, "x")], [], [(1.0, None, None, "y"), (True, None, 2.5, "x")]]
    columnar = [ColumnarRows.of_rows(part) for part in parts]
    expected = [("a", 1, 0.5, None, "x"), ("c", 1.0, None, None, "y"), ("c", True, None, 2.5, "x")]

    assert repr(list(ColumnarRows.of_parts("abc", columnar))) == repr(expected)
    assert repr(list(ColumnarRows.of_parts("abc", [columnar[0], *parts[1:]]))) == repr(expected)
    assert list(rows_without(columnar[2], 2)) == [(1.0, None, None, "y")]


def square(names: tuple[str, ...], rng: np.random.Generator) -> Table:
    """Return a table of all pairs whose halves mirror each other but for a few cells, with what numbers can be."""
    n = len(names)
    point = np.subtract.outer(rng.normal(size=n), rng.normal(size=n)) if n % 2 else rng.normal(size=(n, n))
    point[rng.random((n, n)) < 0.2] = rng.choice([np.nan, -0.0, 5e-324, 1.7e308])
    who = [CellColumn(each, names) for each in (np.repeat(np.arange(n), n), np.tile(np.arange(n), n))]
    flags = CellColumn(rng.integers(0, 3, n * n), (True, False, None))
    numbers = [
        CellColumn.of_numbers(each) for each in (point, point - 1.0, point + 1.0, np.tril(point) - np.triu(point).T)
    ]
    columns = tuple(Column(name, name) for name in ("a", "b", "d", "low", "high", "other", "flag"))
    return Table("pairwise/x", "X", columns, ColumnarRows((*who, *numbers, flags)), ("A note.",), {"k": 1})


@pytest.mark.parametrize(("names", "earlier"), [("ab", "ab"), ("abcde", "cbax"), ("xyzw", "ab"), ("abcdefg", "abcdef")])
def test_pairs_keep_every_bit_whatever_they_rest_on(names: str, earlier: str) -> None:
    """Entrants come, go and change places; what a table rests on costs bytes at worst."""
    rng = np.random.default_rng(len(names))
    table, base = square(tuple(names), rng), square(tuple(earlier), rng)

    for read in (unpack_table(pack_table(table)), unpack_table(pack_table(table, base), lambda: base)):
        assert read == table
        assert repr(read.rows) == repr(table.rows)
        for actual, expected in zip(read.rows.columns, table.rows.columns, strict=True):  # type: ignore[union-attr]
            assert actual.values.tobytes() == expected.values.astype(actual.values.dtype).tobytes()


def test_what_stayed_the_same_between_two_tables_of_pairs_takes_next_to_nothing() -> None:
    """One entrant more among thirty: a tenth of the bytes."""
    rng = np.random.default_rng(0)
    names = tuple(map(str, range(31)))
    table = square(names, rng)
    rows = table.rows
    assert isinstance(rows, ColumnarRows)
    kept = np.arange(31 * 31).reshape(31, 31)[:30, :30].ravel()
    who = [CellColumn(each, names[:30]) for each in (np.repeat(np.arange(30), 30), np.tile(np.arange(30), 30))]
    parts = [CellColumn(cells.values[kept], cells.words) for cells in rows.columns[2:]]
    base = replace(table, rows=ColumnarRows((*who, *parts)))

    assert len(pack_table(table, base)) < 0.25 * len(pack_table(table))
