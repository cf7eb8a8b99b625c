"""The bands of performance profiles: calibrated shares above each threshold, beside the compatible ends."""

import numpy as np
import pytest

from app.kinds.episodes.measure import SeedScores, calibrated_band, mean_over_tasks, plain_mean, profile_rows
from app.stats.arrays import FloatArray
from app.stats.spreads import SHARE, Range

SEEDS = np.repeat(np.arange(5), 10)
VALUES = np.random.default_rng(3).random(50).round(1)
GRID = np.array([0.0, 0.35, 1.0])


def test_the_band_is_the_interval_of_each_share() -> None:
    """Above 0.35 succeeds or not: the same interval as of a success rate within seeds."""
    low, high = calibrated_band(SeedScores(VALUES, SEEDS), GRID, SHARE, 0.95)
    of_one = SeedScores((VALUES > 0.35).astype(np.float64), SEEDS)
    rate = mean_over_tasks([of_one], np.ones(1), plain_mean(SHARE), 0.95)

    assert (low[1], high[1]) == pytest.approx((rate.low, rate.high))


def test_a_share_of_none_is_no_certainty() -> None:
    """Nobody of five seeds is above 1: the band ends at 0 and has a width, where percentiles have none."""
    low, high = calibrated_band(SeedScores(VALUES, SEEDS), GRID, Range(0.0, 2.0), 0.95)

    assert low[2] == 0.0
    assert high[2] > 0.3


def test_one_seed_has_no_band() -> None:
    """Its shares stand without ends."""
    one = SeedScores(VALUES, np.zeros(50, dtype=np.int64))
    ours = calibrated_band(one, GRID, SHARE, 0.95)
    rows = list(profile_rows("success", GRID, np.array([0.9, 0.6, 0.0]), None, ours))

    assert rows[1] == ("success", 0.35, 0.6, None, None, None, None)


@pytest.mark.parametrize(
    ("scored", "known"),
    [
        (VALUES, [False, True, True, False, False]),
        (np.where(SEEDS == 2, -0.5, VALUES), [True, True, True, False, False]),
        (np.where(SEEDS == 2, 1.2, VALUES), [False, True, True, True, False]),
    ],
)
def test_a_share_that_the_range_alone_says_has_no_interval(scored: FloatArray, known: list[bool]) -> None:
    """No success rate is above 1, whatever was seen; a score beyond the declared end shows that it is none."""
    grid = np.array([-0.1, 0.0, 0.35, 1.0, 1.5])
    low, high = calibrated_band(SeedScores(scored, SEEDS), grid, SHARE, 0.95)

    assert (~np.isnan(low)).tolist() == (~np.isnan(high)).tolist() == known
