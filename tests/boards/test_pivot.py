"""Rows as tasks × entrants: whether they lie in order, or anyhow, the cells are the same."""

import numpy as np

from app.boards.cells import ArrayPlaces, Pivot, WholePlaces
from app.stats.arrays import FloatArray
from app.values.scores import Coded, ScoreTable

TASKS, ENTRANTS = ("t0", "t1", "t2"), ("a", "b")


def whole() -> ScoreTable:
    """Return every task of every entrant, in order."""
    return ScoreTable(
        entrant=Coded(ENTRANTS, np.repeat(np.arange(2), 3)),
        task=Coded(TASKS, np.tile(np.arange(3), 2)),
        columns=("error",),
        values=np.arange(6.0)[:, None],
        leaked=np.zeros(6, dtype=np.bool_),
        file=np.zeros(6, dtype=np.int64),
        row=np.arange(6),
    )


def cells(rows: ScoreTable, tasks: tuple[str, ...], entrants: tuple[str, ...]) -> FloatArray:
    """Return the one column as a square."""
    return Pivot(rows).places(tasks, entrants).pivot(rows.value("error"), np.nan)


def test_rows_in_order_are_the_same_cells_as_rows_in_any_other() -> None:
    """Of all tasks, of some, and in another order than that of their words."""
    rows, shuffled = whole(), whole().take(np.array([4, 0, 5, 2, 1, 3]))
    assert (Pivot(rows).is_whole, Pivot(shuffled).is_whole) == (True, False)

    for tasks, entrants in ((TASKS, ENTRANTS), (("t2", "t0"), ENTRANTS), (TASKS, ("b", "a"))):
        square = cells(rows, tasks, entrants)
        assert square.tobytes() == cells(shuffled, tasks, entrants).tobytes()
        assert square.flags.c_contiguous
        assert Pivot(rows).with_rows(tasks) == Pivot(shuffled).with_rows(tasks) == ENTRANTS


def test_rows_of_which_one_is_gone_or_twice_there_are_not_taken_as_whole() -> None:
    """As many rows as cells are no whole grid where one cell has two of them."""
    twice = whole().take(np.array([0, 1, 2, 3, 4, 4]))

    assert isinstance(Pivot(whole()).places(TASKS, ENTRANTS), WholePlaces)
    assert isinstance(Pivot(whole().take(np.arange(5))).places(TASKS, ENTRANTS), ArrayPlaces)
    assert isinstance(Pivot(twice).places(TASKS, ENTRANTS), ArrayPlaces)
    assert np.isnan(cells(twice, TASKS, ENTRANTS)[2, 1])


def test_flags_that_are_all_the_same_take_no_memory() -> None:
    """They are the square that any others are; one that differs is where it belongs."""
    places = Pivot(whole()).places(TASKS, ENTRANTS)
    assert isinstance(places, WholePlaces)
    nobody, somebody = np.zeros(6, dtype=np.bool_), np.arange(6) == 1

    same, other = (places.pivot(flags, empty=False) for flags in (nobody, somebody))

    assert (same.shape, same.strides, bool(same.any())) == ((3, 2), (0, 0), False)
    assert np.argwhere(other).tolist() == [[1, 0]]
