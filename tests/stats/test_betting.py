"""Intervals by betting: they hold where others are known to fail, at every look, whatever the order and the unit."""

import numpy as np
import pytest

from app.stats.arrays import FloatArray, InvalidArgument
from app.stats.betting import betting_interval
from app.stats.spreads import SHARE, Range


@pytest.mark.parametrize(("rate", "fails"), [(0.9, 0.1), (0.8, 0.2), (0.99, 0.02), (0.5, 0.0)])
@pytest.mark.parametrize("n_units", [3, 8, 30])
def test_they_hold_where_a_rare_unit_fails(rate: float, fails: float, n_units: int) -> None:
    """In 95 of 100 of 400 data sets, less three standard errors; a calibrated interval of 5 seeds holds in 52."""
    rng = np.random.default_rng([1, n_units])
    rates = np.where(rng.random((n_units, 400)) < fails, 0.0, rate)
    low, high = betting_interval(rng.binomial(20, rates) / 20.0, np.ones(n_units), SHARE, 0.95)
    truth = (1.0 - fails) * rate

    assert ((low <= truth) & (truth <= high)).mean() >= 0.95 - 3.0 * 0.011


def test_no_look_of_forty_leaves_the_truth_out_more_often_than_said() -> None:
    """Of 500 growing data sets of 0/1 units."""
    values = (np.random.default_rng(2).random((40, 500)) < 0.8).astype(np.float64)
    held = np.ones(500, dtype=np.bool_)
    for n_units in range(1, 41):
        low, high = betting_interval(values[:n_units], np.ones(n_units), SHARE, 0.95)
        held &= (low <= 0.8) & (high >= 0.8)

    assert held.mean() >= 0.95


def test_order_unit_and_direction_change_nothing() -> None:
    """Units in another order give the same interval, other units a scaled one, and 1 − x its mirror image."""
    rng = np.random.default_rng(3)
    values, weights, order = rng.beta(8.0, 2.0, (9, 4)), rng.integers(1, 9, 9).astype(np.float64), rng.permutation(9)
    low, high = betting_interval(values, weights, SHARE, 0.95)
    means = weights @ values / weights.sum()

    assert ((low >= 0.0) & (low < means) & (means < high) & (high <= 1.0)).all()
    np.testing.assert_allclose(betting_interval(values[order], weights[order], SHARE, 0.95), (low, high), atol=2e-6)
    scaled = betting_interval(5.0 - 10.0 * values, 3.0 * weights, Range(-5.0, 5.0), 0.95)
    np.testing.assert_allclose(scaled, (5.0 - 10.0 * high, 5.0 - 10.0 * low), atol=2e-5)


@pytest.mark.parametrize(
    ("value", "weight", "within", "words"),
    [(0.5, 1.0, Range(0.0), "expected ends"), (2.0, 1.0, SHARE, "expected ends"), (0.5, 0.0, SHARE, "all zero")],
)
def test_what_has_no_such_interval_is_refused(value: float, weight: float, within: Range, words: str) -> None:
    """With what is allowed."""
    with pytest.raises(InvalidArgument, match=words):
        betting_interval(np.array([[value]]), np.array([weight]), within, 0.95)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.ones((0, 2)), r"values has the shape \(0, 2\); expected \[n_units >= 1, 2\]"),
        (np.ones(3), r"values has the shape \(3,\); expected \[n_units >= 1, 3\]"),
        (np.array([[0.5], [np.nan]]), r"values holds NaN, first at \(1, 0\); expected finite numbers"),
    ],
)
def test_values_that_are_no_units_are_refused_by_their_shape(values: FloatArray, words: str) -> None:
    """Nobody is told of weights where the values are what is wrong."""
    with pytest.raises(InvalidArgument, match=words):
        betting_interval(values, np.ones(len(values)), SHARE, 0.95)
