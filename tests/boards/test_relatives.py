"""The nearest other of each row: found in any order, unmoved by scale, and by the definition itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import median_abs_deviation

from app.boards.evidence import BoardEvidence, board_of
from app.boards.example import benchmark, rows
from app.boards.methods.mean import Mean
from app.boards.relatives import ALL_PAIRS, LEAST_COMMON, nearest_others
from app.stats.arrays import FloatArray


def values_of(seed: int, n_units: int = 12, n_entrants: int = 7) -> FloatArray:
    """Return values [n_units, n_entrants] of any entrants, some of them missing."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n_units, 1)) + rng.normal(size=(n_units, n_entrants))
    return np.where(rng.random(values.shape) < 0.05, np.nan, values)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000))
def test_it_is_the_least_median_deviation_of_the_differences(seed: int) -> None:
    """As scipy has it, over the units that both have; none with too few of them."""
    values = values_of(seed, 9 + seed % 9)
    found = nearest_others(values)
    n_known = np.isfinite(values).sum(axis=0)
    for own in range(values.shape[1]):
        spreads = {}
        for other in range(values.shape[1]):
            apart = values[:, own] - values[:, other]
            apart = apart[np.isfinite(apart)]
            if own != other and n_known[other] >= LEAST_COMMON and len(apart) >= max(LEAST_COMMON, n_known[own] / 2):
                spreads[other] = float(median_abs_deviation(apart, scale="normal"))
        if n_known[own] < LEAST_COMMON or not spreads:
            assert (found.at[own], found.spread[own]) == (-1, np.inf)
        else:
            assert found.spread[own] == pytest.approx(min(spreads.values()))
            assert spreads[int(found.at[own])] == pytest.approx(min(spreads.values()))


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000))
def test_it_is_the_same_in_any_order_and_under_any_shift(seed: int) -> None:
    """Of entrants and of units, and where each entrant's values are all moved by as much."""
    rng, values = np.random.default_rng(seed), values_of(seed)
    order, found = rng.permutation(values.shape[1]), nearest_others(values)
    moved = nearest_others((values + rng.normal(size=values.shape[1]))[rng.permutation(len(values))][:, order])

    assert moved.spread == pytest.approx(found.spread[order])


@pytest.mark.parametrize("n_entrants", [5, ALL_PAIRS + 400])
def test_a_copy_with_half_of_its_values_changed_is_found_among_few_and_many(n_entrants: int) -> None:
    """Among many not all pairs are compared, and the copy is beside its original all the same."""
    rng, values = np.random.default_rng(5), values_of(4, 40, n_entrants)
    values[:, 1] = values[:, 3] + 0.01 * rng.normal(size=40)
    values[:19, 1] += 1.0

    assert nearest_others(values).at[[1, 3]].tolist() == [3, 1]


@pytest.mark.parametrize("values", [np.repeat([0.0, 1.0], 10), np.full(20, 0.3), np.r_[np.arange(7.0), [np.nan] * 13]])
def test_whose_values_repeat_or_are_few_is_near_nobody(values: FloatArray) -> None:
    """Yes and no are equal by chance."""
    rng = np.random.default_rng(5)

    assert nearest_others(np.stack([values, values, *rng.normal(size=(3, 20))], axis=1)).at[:2].tolist() == [-1, -1]


def test_a_row_shows_whom_it_is_near_by_ratios_where_values_are_positive() -> None:
    """A hundredth better than the leader on every task, more or less: about one per cent, on a board in the order of
    its ranks. One value of zero, or below, changes nothing but itself.
    """
    rng = np.random.default_rng(5)
    spec = Mean(name="main", method="mean", metric="error", missing="drop")
    leader, other = rng.lognormal(size=(2, 40))
    copy = leader * (0.99 + 0.01 * rng.normal(size=40))
    copy[7] = 0.0
    tasks = [f"t{at}" for at in range(40)]
    declared = benchmark(spec).model_copy(update={"tasks": [type(benchmark(spec).tasks[0])(id=task) for task in tasks]})  # type: ignore[index]
    table = rows({"leader": leader.tolist(), "copy": copy.tolist(), "other": other.tolist()})
    names = type(table.task)(tuple(tasks), table.task.codes)
    evidence = BoardEvidence.of_rows(declared, type(table)(**{**vars(table), "task": names, "item": names}))
    board = board_of(evidence, spec).leaderboard
    near = {row["entrant"]: (row["nearest"], row["nearest_spread"]) for row in board.records()}

    assert (near["leader"][0], near["copy"][0]) == ("copy", "leader")
    assert near["leader"][1] == near["copy"][1] == pytest.approx(0.01, abs=0.004)
    assert float(str(near["other"][1])) > 0.5
    assert board.meta["nearest"] == {"scale": "log", "metrics": ["error"]}
