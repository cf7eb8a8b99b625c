"""Pairs that were compared before are not compared again, and come out the same to the last digit."""

from functools import partial

import numpy as np
import pytest

from app.boards.remembered import remembered_pairs
from app.stats.arrays import BoolArray
from app.stats.pairs import PairStatistics, compare_pairs
from app.stats.resample import Resamples

CLIP = (0.01, 100.0)


def errors_of(n_tasks: int, n_entrants: int) -> np.ndarray:
    """Return errors of entrants; the first ones are the same however many there are."""
    columns = [np.exp(np.random.default_rng(entrant).normal(size=n_tasks)) for entrant in range(n_entrants)]
    return np.column_stack(columns)


def draws(n_tasks: int, rng_seed: int = 1) -> Resamples:
    """Return the resamples of a board."""
    return Resamples(n_tasks, 200, lambda: np.random.default_rng(rng_seed))


def compared(
    errors: np.ndarray, resamples: Resamples, board: str | None, clip: tuple[float, float] = CLIP
) -> PairStatistics:
    """Compare every pair; of a board only what is not remembered of it."""
    compare = partial(compare_pairs, errors, resamples, clip=clip, level=0.95)
    if board is None:
        return compare()
    return remembered_pairs((board,), errors, resamples, lambda wanted: compare(wanted=wanted))


def assert_same(first: PairStatistics, second: PairStatistics) -> None:
    """Hold two results together, bit by bit."""
    for name in vars(first):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)


@pytest.mark.heavy
@pytest.mark.parametrize("clip", [CLIP, (0.1, 100.0)], ids=["mirrored", "both orders"])
@pytest.mark.parametrize("n_tasks", [7, 100, 1000])
def test_a_board_that_grew_is_the_board_computed_anew(n_tasks: int, clip: tuple[float, float]) -> None:
    """With entrants added one at a time and in another order, every number is bit for bit what it is from nothing."""
    errors = errors_of(n_tasks, 40)
    for n_entrants in (3, 4, 5, 25, 40):
        order = np.random.default_rng(n_entrants).permutation(n_entrants)
        grown = compared(errors[:, order], draws(n_tasks), f"grown/{clip}", clip)
        assert_same(grown, compared(errors[:, order], draws(n_tasks), None, clip))


def test_only_new_pairs_are_compared() -> None:
    """One more entrant among thirty is thirty-one pairs in both orders, not all."""
    errors, asked = errors_of(50, 31), list[int]()

    def compare(n_entrants: int, wanted: BoolArray) -> PairStatistics:
        asked.append(int(wanted.sum()))
        return compare_pairs(errors[:, :n_entrants], draws(50), clip=CLIP, level=0.95, wanted=wanted)

    for n_entrants in (30, 31):
        remembered_pairs(("b",), errors[:, :n_entrants], draws(50), partial(compare, n_entrants))

    assert asked == [30 * 30, 31 + 30]


@pytest.mark.parametrize("changed", ["errors", "draws", "board"])
def test_what_changed_is_compared_again(changed: str) -> None:
    """Other errors, other draws and another board are not known."""
    errors = errors_of(50, 10)
    compared(errors, draws(50), "c")
    other = errors * np.linspace(1, 2, 50)[:, None] ** np.arange(10) if changed == "errors" else errors
    resamples = draws(50, rng_seed=2) if changed == "draws" else draws(50)
    again = compared(other, resamples, "d" if changed == "board" else "c")

    assert_same(again, compared(other, resamples, None))
