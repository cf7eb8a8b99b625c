"""What a board is about whose grid is open: what at least half of the owners have, by the definition itself."""

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from app.boards.coverage import Coverage, are_common, commonly_held
from app.boards.example import measured
from app.boards.measured import Measurement
from app.boards.methods.estimate import measured_roster
from app.kinds.episodes.coverage import open_items
from tests.cases.admission import grid, table

OWNERS = ["a", "a", "b", "c", "d", "d"]


def by_definition(counts: np.ndarray, owners: list[str]) -> list[int]:
    """Return of each cell the largest number that at least half of the owners reach with one of their entrants."""
    names = sorted(set(owners))
    best = [[max(row[cell] for row, own in zip(counts.tolist(), owners, strict=True) if own == name) for name in names]
            for cell in range(counts.shape[1])]  # fmt: skip
    held = [max(n for n in [0, *cell] if 2 * sum(each >= n for each in cell) >= len(names)) for cell in best]
    return held if any(held) else [max(cell) for cell in best]


@pytest.mark.parametrize("seed", range(8))
def test_counts_are_what_half_of_the_owners_have(seed: int) -> None:
    """Of six entrants of four owners in five cells."""
    counts = np.random.default_rng(seed).integers(0, 4, size=(6, 5))

    assert commonly_held(counts, OWNERS).tolist() == by_definition(counts, OWNERS)
    assert are_common(counts > 0, OWNERS).tolist() == [n > 0 for n in by_definition((counts > 0).astype(int), OWNERS)]


@pytest.mark.parametrize("order", list(itertools.permutations(range(6)))[::120])
def test_the_order_of_entrants_changes_nothing(order: tuple[int, ...]) -> None:
    """Nor which of an owner's entrants is named first."""
    counts = np.random.default_rng(3).integers(0, 4, size=(6, 5))
    owners = [OWNERS[at] for at in order]

    assert commonly_held(counts[list(order)], owners).tolist() == commonly_held(counts, OWNERS).tolist()


def test_where_nothing_is_held_by_half_everything_counts() -> None:
    """Three owners who have nothing in common are all asked for what any of them has."""
    assert commonly_held(np.diag([1, 2, 3]), ["a", "b", "c"]).tolist() == [1, 2, 3]


def with_items(name: str, items: str, n: int = 20) -> Measurement:
    """Return an entrant that was measured on some items."""
    return replace(measured(name, 0.5), coverage=Coverage(n, n), held=(("t", "", n),), items=items)


@pytest.mark.parametrize(
    ("items", "owners", "behind"),
    [
        (("same", "same", "own"), "abc", ("C",)),
        (("same", "same", ""), "abc", ("C",)),
        (("same", "own", "own"), "abb", ()),
        (("same", "same", "own", "own"), "abcd", ()),
        (("one", "two", "three"), "abc", ()),
        (("same", "own"), "ab", ()),
    ],
)
def test_as_many_items_that_are_not_the_usual_ones_are_behind(
    items: Sequence[str], owners: str, behind: tuple[str, ...]
) -> None:
    """Usual is what at least half of the owners have, two or more of them; of an even split nobody knows."""
    entrants = [with_items(name, own) for name, own in zip("ABCD", items, strict=False)]

    assert sum(measured_roster(entrants, owners).behind, ()) == behind


def test_items_are_compared_by_name_unless_seeds_name_them() -> None:
    """The same episodes have one digest, others another; initial states that follow the seed have none."""
    rows = grid(range(2))
    usual, own, of_seeds = (table([(*row[:4], name(row)) for row in rows]) for name in (
        lambda row: row[4], lambda row: f"easy {row[4]}", lambda row: f"{row[3]} {row[4]}"))  # fmt: skip

    assert open_items(usual, ["place"]) == open_items(table(grid((5,))), ["place"]) != ""
    assert open_items(usual, ["place"]) != open_items(own, ["place"])
    assert open_items(of_seeds, ["place"]) == ""
