"""The bands of performance profiles: calibrated shares above each threshold, beside the compatible ends."""

import numpy as np
import pytest

from app.kinds.episodes.measure import SeedScores, calibrated_band, mean_over_tasks, plain_mean, profile_rows
from app.stats.spreads import SHARE

SEEDS = np.repeat(np.arange(5), 10)
VALUES = np.random.default_rng(3).random(50).round(1)
GRID = np.array([0.0, 0.35, 1.0])


def test_the_band_is_the_interval_of_each_share() -> None:
    """Above 0.35 succeeds or not: the same interval as of a success rate within seeds."""
    low, high = calibrated_band(SeedScores(VALUES, SEEDS), GRID, 0.95)
    of_one = SeedScores((VALUES > 0.35).astype(np.float64), SEEDS)
    rate = mean_over_tasks([of_one], np.ones(1), plain_mean(SHARE), 0.95)

    assert (low[1], high[1]) == pytest.approx((rate.low, rate.high))


def test_a_share_of_none_is_no_certainty() -> None:
    """Nobody of five seeds is above 1: the band ends at 0 and has a width, where percentiles have none."""
    low, high = calibrated_band(SeedScores(VALUES, SEEDS), GRID, 0.95)

    assert low[2] == 0.0
    assert high[2] > 0.3


def test_one_seed_has_no_band() -> None:
    """Its shares stand without ends."""
    one = SeedScores(VALUES, np.zeros(50, dtype=np.int64))
    rows = list(profile_rows("success", GRID, np.array([0.9, 0.6, 0.0]), None, one, 0.95))

    assert rows[1] == ("success", 0.35, 0.6, None, None, None, None)
