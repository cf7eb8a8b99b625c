"""Tables as snapshots store them: what is packed comes back as it was, and what cannot be stored is refused."""

from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pytest
from scipy.special import stdtr, stdtrit

from app.errors import TableRejected
from app.store.packed_tables import RESTED, SQUARE_BY_LAW, pack_table, unpack_table
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


def compared(n: int, rng: np.random.Generator) -> Table:
    """Return a table of pairs by Student's t, as a board of means has it; one has no spread."""
    names, points = tuple(map(str, range(n))), rng.normal(size=n)
    differences = np.subtract.outer(points, points)
    errors = rng.uniform(0.1, 2.0, (n, n))
    errors = errors + errors.T
    errors[:, 0] = errors[0] = np.nan
    p_values = np.where(differences == 0.0, 1.0, 2.0 * stdtr(15, -np.abs(differences) / errors))
    margins = -stdtrit(15, 0.025) * errors
    numbers = map(CellColumn.of_numbers, (differences, differences - margins, differences + margins, p_values))
    who = [CellColumn(each, names) for each in (np.repeat(np.arange(n), n), np.tile(np.arange(n), n))]
    named = (Column("a", "A"), Column("b", "B"), Column("d", "D", interval=("low", "high")),
             Column("low", "Low"), Column("high", "High"), Column("p_value", "p"))  # fmt: skip
    return Table("pairwise/x", "X", named, ColumnarRows((*who, *numbers)))


def test_p_values_and_differences_cost_little_beside_the_interval_that_they_follow_from() -> None:
    """Of four columns of numbers only the interval's width is stored in full, to the last bit of each."""
    table = compared(60, np.random.default_rng(0))
    packed = pack_table(table)

    read = unpack_table(packed)

    assert packed.startswith(SQUARE_BY_LAW)
    assert len(packed) < 12 * 60 * 59 / 2
    for actual, expected in zip(read.rows.columns, table.rows.columns, strict=True):  # type: ignore[union-attr]
        assert actual.values.tobytes() == expected.values.astype(actual.values.dtype).tobytes()


BOARD = (Column("rank", "Rank", "integer"), Column("entrant", "Entrant", "text"), Column("score", "Score"),
         Column("mixed", "Mixed"), Column("note", "Note", "text"))  # fmt: skip


def test_rows_that_rest_on_others_come_back_as_they_were() -> None:
    """Entrants come, go, change places and columns; 1, 1.0 and True, and 0.0 and -0.0, stay different things."""
    earlier = ((1, "A", 0.5, 1, None), (2, "B", -0.0, 0.0, "\ud800"), (3, "C", None, True, "x"))
    later = (
        (1, "C", 0.25, 1, "x"),
        (2, "new", 5e-324, None, None),
        (3, "B", 0.0, -0.0, "\ud800"),
        (4, "A", None, 1.0, ""),
    )
    base, table = (Table("leaderboard/x", "X", BOARD, rows, ("n",), {"k": 1}) for rows in (earlier, later))
    narrow = Table("leaderboard/x", "X", BOARD[:2], ((1, "A"), (2, "B")))
    nobody = Table("leaderboard/x", "X", COLUMNS, ((0.5, "x"),))
    empty = Table("leaderboard/x", "X", BOARD, ())

    assert unpack_table(pack_table(empty, base)) == empty
    for of, on in [(table, base), (base, table), (table, narrow), (narrow, table), (nobody, table), (table, nobody)]:
        packed = pack_table(of, on)
        read = unpack_table(packed, lambda on=on: on)  # type: ignore[misc]
        assert packed.startswith(RESTED)
        assert read == of
        assert repr(read.rows) == repr(of.rows)


def test_what_stayed_the_same_on_a_board_takes_next_to_nothing() -> None:
    """The same entrants on a board, one more before them all: a tenth of the bytes."""
    rng = np.random.default_rng(0)
    rows = tuple((at + 1, f"entrant {rng.random()}", rng.random(), rng.random(), "a note") for at in range(200))
    more: tuple[tuple[Any, ...], ...] = ((1, "new", 0.5, 0.5, None), *((rank + 1, *cells) for rank, *cells in rows))
    base, table = (Table("leaderboard/x", "X", BOARD, each) for each in (rows, more))

    assert len(pack_table(table, base)) < 0.15 * len(pack_table(table))
