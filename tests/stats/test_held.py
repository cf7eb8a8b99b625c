"""Calibrated intervals hold the truth where others of their kind do not, by simulation with seeds used nowhere else."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import ndtr, stdtrit

from app.boards.measured import Estimate
from app.kinds.predictions.measure import Spreading, calibrated_average
from app.stats.arrays import FloatArray
from app.stats.calibrated import Ends, calibrate, intervals
from app.stats.curves import area_spread, root_mean_squares
from app.stats.spreads import SHARE, Range, averaged_spread, cluster_spread, grouped_spread, mean_spread, task_spread

N_DATASETS, LEVEL, ENOUGH = 20_000, 0.95, 0.935
Draw = Callable[[np.random.Generator], tuple[float, Ends]]


def heavy_residuals(rng: np.random.Generator) -> tuple[float, Ends]:
    """Root mean squares of sixteen errors with the tails of Student's t with five degrees of freedom."""
    errors = rng.standard_t(5, size=(N_DATASETS, 16)) / np.sqrt(5 / 3)
    return 1.0, root_mean_squares(errors**2, None, LEVEL)


def skewed_tasks(rng: np.random.Generator) -> tuple[float, Ends]:
    """Means over ten tasks of exponential scores, without a range."""
    return 1.0, intervals(mean_spread(rng.exponential(size=(N_DATASETS, 10))), Range(), LEVEL)


def hidden_tasks(rng: np.random.Generator) -> tuple[float, Ends]:
    """Means over ten tasks of which one in ten is far off: in a third of the data sets none is."""
    is_far = rng.random((N_DATASETS, 10)) < 0.1
    values = np.where(is_far, rng.normal(-1.5, 0.5, is_far.shape), rng.normal(-0.2, 0.2, is_far.shape))
    return -0.33, intervals(task_spread(values), Range(), LEVEL)


def hidden_tasks_from_zero(rng: np.random.Generator) -> tuple[float, Ends]:
    """The same far above the others, of errors, which have a lower end alone."""
    is_far = rng.random((N_DATASETS, 10)) < 0.1
    values = np.abs(np.where(is_far, rng.normal(3.3, 0.3, is_far.shape), rng.normal(2.0, 0.2, is_far.shape)))
    return 2.13, intervals(task_spread(values), Range(low=0.0), LEVEL)


def tasks_near_the_end(rng: np.random.Generator) -> tuple[float, Ends]:
    """Means over ten tasks within 0 and 1 of which nearly all are near 1."""
    return 0.97, intervals(task_spread(rng.beta(0.97 * 7 / 3, 0.03 * 7 / 3, size=(N_DATASETS, 10))), SHARE, LEVEL)


def groups_of_tasks(rng: np.random.Generator) -> tuple[float, Ends]:
    """Means over groups of twelve and of two tasks, of which the two vary more: they often lie together by chance."""
    large, small = rng.beta(9, 1, size=(N_DATASETS, 12)), rng.beta(3, 7, size=(N_DATASETS, 2))
    spread = grouped_spread(np.concatenate([large, small], axis=1), [12, 2], np.full(2, 0.5))
    return 0.6, intervals(spread, SHARE, LEVEL)


def unequal_weights(rng: np.random.Generator) -> tuple[float, Ends]:
    """Areas of one half under the ROC curve of fifty examples, of which few weigh much."""
    is_positive = np.arange(50) < 15
    result = [calibrate(area_spread(rng.normal(size=50), is_positive, rng.lognormal(size=50)), SHARE, LEVEL)
             for _ in range(1_000)]  # fmt: skip
    low, high = (np.array(ends, dtype=np.float64) for ends in zip(*((f.low, f.high) for f in result), strict=True))
    return 0.5, (low, high)


def seeds_of_many_tasks(rng: np.random.Generator) -> tuple[float, Ends]:
    """Averages over forty tasks with five seeds of their own, nearly all of whose twenty episodes succeed."""
    rates = rng.beta(0.97 * 7 / 3, 0.03 * 7 / 3, size=(4_000, 40, 5))
    counts = rng.binomial(20, rates).astype(np.float64)
    parts = cluster_spread(counts, np.full(counts.shape, 20.0), counts)
    return 0.97, intervals(averaged_spread(parts, np.full(40, 1 / 40)), SHARE, LEVEL)


def areas_of_many_tasks(rng: np.random.Generator) -> tuple[float, Ends]:
    """Averages of the areas of forty tasks of fifty examples, each near 1."""
    is_positive, weights, ends = np.arange(50) < 15, np.full(40, 1 / 40), []
    for _ in range(100):
        spreads = [area_spread(rng.normal(size=50) + 2.66 * is_positive, is_positive, np.ones(50)) for _ in range(40)]
        parts = [Estimate(float(one.point), calibrated=calibrate(one, SHARE, LEVEL)) for one in spreads]
        average = calibrated_average(parts, [Spreading(one, SHARE) for one in spreads], weights, LEVEL)
        assert average is not None
        ends.append((average.low, average.high))
    low, high = np.array(ends, dtype=np.float64).T
    return float(ndtr(2.66 / np.sqrt(2.0))), (low, high)


@pytest.mark.heavy
@pytest.mark.parametrize(
    "draw",
    [
        heavy_residuals,
        skewed_tasks,
        hidden_tasks,
        hidden_tasks_from_zero,
        tasks_near_the_end,
        groups_of_tasks,
        unequal_weights,
        seeds_of_many_tasks,
        areas_of_many_tasks,
    ],
)
def test_an_interval_holds_the_truth_as_often_as_it_says(draw: Draw) -> None:
    """In worlds in which the plain forms hold 84 to 93 %."""
    truth, (low, high) = draw(np.random.default_rng(14))

    assert ((low <= truth) & (truth <= high)).mean() >= ENOUGH


@pytest.mark.parametrize("value", [3.3, 1000.0, 1e6])
def test_rounding_is_no_width(value: float) -> None:
    """All items equal, at the end of an open range: the weighted average of three tasks had 1e-15 of its size."""
    n_items, weights = np.full((3, 4), 2.0), np.array([0.1, 5.0, 1000.0])
    parts = cluster_spread(n_items * value, n_items, n_items * value**2)
    for shares in (weights / weights.sum(), weights[::-1] / weights.sum()):
        low, high = intervals(averaged_spread(parts, shares), Range(high=value * (1.0 + 1e-15)), LEVEL)

        assert np.isnan(low)
        assert np.isnan(high)


def test_unweighted_areas_are_what_they_were_without_the_allowance_for_weights() -> None:
    """Equal weights, of any unit: the interval of the n examples that there are."""
    scores: FloatArray = np.random.default_rng(1).normal(size=20)
    is_positive = np.arange(20) < 8
    spread = area_spread(scores, is_positive, np.full(20, 7.0))

    assert float(spread.df) == pytest.approx(18.0)
    assert float(spread.n_units) == pytest.approx(8.0)


@pytest.mark.parametrize("sizes", [(2, 1, 1, 1), (3, 1, 1, 1, 1, 1, 1), (8, 6, 2, 2, 8, 3, 1)])
def test_groups_of_one_unit_are_known_no_better_than_what_their_variance_comes_from(sizes: tuple[int, ...]) -> None:
    """As independent estimates of their own, groups of one beside one of two left 79 % of 95 % intervals right."""
    drawn = np.random.default_rng(3).normal(size=(4000, sum(sizes)))
    spread = grouped_spread(drawn, sizes, np.full(len(sizes), 1 / len(sizes)))

    assert np.mean(np.abs(spread.point) <= -stdtrit(spread.df, 0.025) * spread.error) >= 0.935
