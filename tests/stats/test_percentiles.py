"""Percentile ends read off replicates in order: those of numpy's own quantiles, to the last bit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from app.stats.arrays import FloatArray
from app.stats.pairs import skill
from app.stats.resample import MonotoneScale, ends_of, order_replicates, percentile_interval

LEVELS = (0.95, 1 / 3, 0.999)


def numpys(replicates: FloatArray, level: float) -> FloatArray:
    """Return the ends that numpy's quantiles give."""
    tail = (1.0 - level) / 2.0
    return np.asarray(np.quantile(replicates, [tail, 1.0 - tail], axis=0))


def drawn(n_resamples: int) -> FloatArray:
    """Return a column of numbers, one of ties, one of a single value and one with a NaN."""
    rng = np.random.default_rng(n_resamples)
    columns = [rng.normal(size=n_resamples), rng.integers(0, 3, n_resamples) / 3, np.full(n_resamples, 0.1)]
    return np.column_stack([*columns, [np.nan, *rng.normal(size=n_resamples - 1)]])


def test_an_end_halfway_between_two_replicates_is_numpys_to_the_last_bit() -> None:
    """Whichever of the two it is computed from: two hundred entrants, of whom some would differ."""
    replicates = np.random.default_rng(1).normal(size=(3, 200))

    assert_array_equal(np.array(percentile_interval(replicates, 0.5)), numpys(replicates, 0.5))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n_resamples", [1, 2, 3, 1000])
def test_the_ends_are_numpys_quantiles(n_resamples: int, level: float) -> None:
    """Of few and many resamples, with ties, and undefined where one resample is."""
    assert_array_equal(np.array(percentile_interval(drawn(n_resamples), level)), numpys(drawn(n_resamples), level))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n_resamples", [2, 1000])
def test_the_ends_on_a_scale_are_those_of_all_replicates_on_it(n_resamples: int, level: float) -> None:
    """A scale that falls, and its mirror image, of which only the replicates beside the ends are made."""
    ordered = order_replicates(drawn(n_resamples))

    falling = ends_of(ordered, level, MonotoneScale(skill, falls=True))
    rising = ends_of(ordered, level, MonotoneScale(lambda means: skill(-means), falls=False))

    assert_array_equal(np.array(falling), numpys(skill(drawn(n_resamples)), level))
    assert_array_equal(np.array(rising), numpys(skill(-drawn(n_resamples)), level))
