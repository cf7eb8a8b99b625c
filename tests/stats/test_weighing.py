"""Values that do not count alike, as values that do."""

import numpy as np
import pytest

from app.stats.arrays import InvalidArgument
from app.stats.spreads import weigh

RNG = np.random.default_rng(3)
VALUES = 5.0 + RNG.normal(size=(400, 2))
WEIGHTS = RNG.uniform(0.2, 3.0, size=400)


def test_the_plain_mean_is_the_weighted_mean() -> None:
    """By definition, column by column."""
    assert weigh(VALUES, WEIGHTS).mean(axis=0) == pytest.approx(np.average(VALUES, axis=0, weights=WEIGHTS))


def test_equal_weights_change_nothing() -> None:
    """Whatever their size: only their shares count."""
    assert np.allclose(weigh(VALUES, np.full(400, 7.0)), VALUES)


@pytest.mark.heavy
def test_the_spread_is_that_of_resampled_weighted_means() -> None:
    """Against the brute force: units drawn with their weights, the weighted mean of each draw."""
    drawn = RNG.integers(0, 400, size=(4000, 400))
    weighted = np.stack([np.average(VALUES[at], axis=0, weights=WEIGHTS[at]) for at in drawn])
    ours = weigh(VALUES, WEIGHTS)[drawn].mean(axis=1)

    assert ours.std(axis=0) == pytest.approx(weighted.std(axis=0), rel=0.03)


def test_a_missing_value_takes_its_weight_with_it() -> None:
    """The mean over the others is theirs, and the value stays missing."""
    values = np.array([[1.0], [np.nan], [3.0]])
    weighed = weigh(values, np.array([3.0, 5.0, 1.0]))

    assert np.isnan(weighed[1, 0])
    assert np.nanmean(weighed) == pytest.approx(1.5)


@pytest.mark.parametrize("weights", [[-1.0, 2.0], [0.0, 0.0]], ids=["negative", "nothing"])
def test_weights_that_cannot_be_meant_are_refused(weights: list[float]) -> None:
    """A mean needs weights that say how much of it a unit is."""
    with pytest.raises(InvalidArgument, match="weights"):
        weigh(np.zeros((2, 1)), np.array(weights))
