"""One run under several seeds, its rows moved to other items: flagged where chance cannot explain it, else not."""

import numpy as np
import pytest

from app.admission.forensics import look_within
from app.stats.arrays import FloatArray
from app.values.scores import Coded, ScoreTable

RNG = np.random.default_rng(11)
EASE = RNG.beta(2, 1, size=(7, 1, 50))
"""How easy each item of seven conditions is."""


def of_seeds(right: FloatArray) -> ScoreTable:
    """Return one entrant's rows from results [n_conditions, n_seeds, n_items], in another order than that."""
    shape, order = right.shape, RNG.permutation(right.size)
    condition, seed, item = (each.reshape(-1)[order] for each in np.indices(shape))
    zeros = np.zeros(right.size, dtype=np.int64)
    words = [tuple(f"{letter}{at:02}" for at in range(n)) for letter, n in (("c", shape[0]), ("q", shape[2]))]
    return ScoreTable(
        Coded(("A",), zeros), Coded(("t",), zeros), ("right",), right.reshape(-1)[order][:, None], zeros.astype(bool),
        zeros, zeros, condition=Coded(words[0], condition), seed=seed, item=Coded(words[1], item),
    )  # fmt: skip


def flags(right: FloatArray) -> list[str]:
    """Return the flags of the rows."""
    return [finding.flag for finding in look_within(of_seeds(right)).findings]


def honest(n_seeds: int = 5, n_conditions: int = 7) -> FloatArray:
    """Return the results of independent seeds, [n_conditions, n_seeds, n_items], on items that are unequally hard."""
    ease = EASE[:n_conditions]
    return (RNG.random((n_conditions, n_seeds, ease.shape[2])) < ease).astype(np.float64)


def turned(one: FloatArray, n_seeds: int = 5) -> FloatArray:
    """Return one seed's results [n_conditions, 1, n_items] under several seeds, each time some items further."""
    return np.concatenate([np.roll(one, 7 * at, axis=2) for at in range(n_seeds)], axis=1)


def test_a_run_whose_rows_were_moved_to_other_items_is_flagged() -> None:
    """Seven conditions, five seeds, each a rotation of the first one."""
    (finding,) = look_within(of_seeds(turned(honest(1)))).findings

    assert finding.flag == "shuffled_seeds"
    assert finding.sentence == (
        "A, 350 rows of seeds 0, 1, 2, 3, 4: as many of each in all 7 tasks and conditions, on other items"
    )


def test_the_same_in_one_condition_may_be_chance() -> None:
    """Of five seeds with the same number right in one condition there is one in about a thousand."""
    assert flags(turned(honest(1, 1))) == []
    assert flags(turned(honest(1, 1), n_seeds=40)) == ["shuffled_seeds"]


def test_seeds_that_are_the_same_item_by_item_are_said_to_be_that() -> None:
    """Nothing was moved."""
    assert flags(np.repeat(honest(1), 5, axis=1)) == ["same_seeds"]


def test_a_model_that_is_nearly_always_right_is_not_flagged() -> None:
    """One item of fifty wrong, whichever it is: half of two tosses are heads in every second case. That it is one for
    every seed in every condition is more even than chance.
    """
    right = np.ones((7, 5, 50))
    right[:, np.arange(5), np.arange(5)] = 0.0

    assert flags(right[:1]) == []
    assert flags(right) == ["steady_seeds"]


@pytest.mark.heavy
@pytest.mark.parametrize("n_seeds", [2, 5, 16])
def test_honest_seeds_are_not_flagged(n_seeds: int) -> None:
    """Two hundred honest runs, of unequal items."""
    assert [flags(honest(n_seeds)) for _ in range(200)] == [[]] * 200


def test_seeds_that_are_nearly_one_another_are_more_alike_than_chance_allows() -> None:
    """One seed's results moved to other items, and two of them turned over for each further seed."""
    rng = np.random.default_rng(5)
    moved = turned(honest(1))
    for seed in range(1, 5):
        at = rng.integers(0, 50, size=(7, 2))
        moved[np.arange(7)[:, None], seed, at] = 1.0 - moved[np.arange(7)[:, None], seed, at]

    assert flags(moved) == ["steady_seeds"]


def test_honest_seeds_are_as_different_as_chance_has_it() -> None:
    """However unequally hard the items are: 300 entrants, of whom chance would flag one in ten thousand."""
    assert [flags(honest(5)) for _ in range(300)] == [[]] * 300
