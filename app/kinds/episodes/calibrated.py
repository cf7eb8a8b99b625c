"""The calibrated intervals of one entrant's episodes: means and interquartile means, over one task or several.

Called by `app.kinds.episodes.measure`; pure. Units are seeds. Tasks that share no seed are independent; where a seed of
the same name was run on several, its influences on them are added.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.stats.arrays import FloatArray, IntArray
from app.stats.averaged_spreads import averaged_spread, side_by_side
from app.stats.calibrated import ALL_EQUAL, Calibrated, calibrate, over_parts
from app.stats.calibrated_trims import calibrated_iqm, iqm_bias, iqm_lean, iqm_spread
from app.stats.spreads import (
    SEEDS_SUPPORT,
    SHARE,
    Range,
    Spread,
    cluster_spread,
    influence_spread,
    support_of_values,
)


@dataclass(frozen=True)
class SeedScores:
    """The scores of one task, [n_episodes], with the seed of each."""

    values: FloatArray
    seeds: IntArray


@dataclass(frozen=True)
class ScoreMean:
    """A statistic that is the mean of a function of the scores, and the range of that function."""

    of: Callable[[FloatArray], FloatArray]
    within: Range


def plain_mean(within: Range) -> ScoreMean:
    """Return the mean of the scores themselves."""
    return ScoreMean(lambda values: values, within)


def below_threshold(threshold: float, within: Range) -> ScoreMean:
    """Return the optimality gap: the mean shortfall of scores below a threshold."""
    low, high = max(threshold - within.high, 0.0), max(threshold - within.low, 0.0)
    return ScoreMean(lambda values: np.maximum(threshold - values, 0.0), Range(low, high))


def area_of_profile(grid: FloatArray) -> ScoreMean:
    """Return the area under the performance profile, as the mean of each score's contribution."""
    width = grid[-1] - grid[0]

    def area(values: FloatArray) -> FloatArray:
        above = (values[:, None] > grid[None, :]).astype(np.float64)
        areas: FloatArray = np.trapezoid(above, grid, axis=-1) / width
        return areas

    return ScoreMean(area, SHARE)


def mean_over_tasks(tasks: Sequence[SeedScores], weights: FloatArray, mean: ScoreMean, level: float) -> Calibrated:
    """Return the interval of Σ weight × mean of a task; the weights sum to one."""
    spreads = [_spread(mean.of(task.values), task.seeds) for task in tasks]
    within = mean.within.holding(*(float(end) for task in tasks for end in _ends(mean.of(task.values))))
    if len(tasks) == 1:
        return calibrate(spreads[0], within, level)
    points = np.array([float(spread.point) for spread in spreads])
    if _share_seeds(tasks):
        return calibrate(_joint(tasks, weights, mean, spreads), within, level)
    parts = [calibrate(spread, within, level) for spread in spreads]
    if any(part.low is None for part in parts):
        return over_parts(points, parts, weights)
    return calibrate(averaged_spread(side_by_side(spreads, support=SEEDS_SUPPORT), weights), within, level)


def iqm_over_tasks(tasks: Sequence[SeedScores], weights: FloatArray, within: Range, level: float) -> Calibrated:
    """Return the interval of Σ weight × interquartile mean of a task.

    For tasks that share seeds the ends are averaged, which is valid however correlated they are. One-sided bias of a
    task's mean does not average out, so the interval reaches further on that side, but never outside the range.
    """
    held = within.holding(*(float(end) for task in tasks for end in _ends(task.values)))
    intervals = [calibrated_iqm(task.values, task.seeds, within=held, level=level) for task in tasks]
    if len(tasks) == 1:
        return intervals[0]
    points = np.array([_iqm(task.values) for task in tasks])
    leans = np.array([iqm_lean(task.values, task.seeds, within=held) for task in tasks])
    if not _share_seeds(tasks):
        spreads = [spread for task in tasks if (spread := iqm_spread(task.values, task.seeds)) is not None]
        if len(spreads) == len(tasks) and all(each.low is not None for each in intervals):
            average = calibrate(averaged_spread(side_by_side(spreads), weights), held, level)
            bias = float(weights @ np.array([iqm_bias(task.values, task.seeds) for task in tasks]))
            return _inside(_further(average, max(-bias, 0.0), max(bias, 0.0)), held)
        return _inside(over_parts(points, intervals, weights, leans), held)
    lows = [each.low for each in intervals if each.low is not None]
    highs = [each.high for each in intervals if each.high is not None]
    n_units = float(len(np.unique(np.concatenate([task.seeds for task in tasks]))))
    if len(lows) < len(intervals) or len(highs) < len(intervals):
        reason = next((each.reason for each in intervals if each.low is None), ALL_EQUAL)
        return Calibrated(None, None, None, n_units, reason)
    added = Calibrated(float(weights @ np.array(lows)), float(weights @ np.array(highs)), intervals[0].how, n_units)
    below, above = (float(weights @ leans[:, side]) for side in (0, 1))
    return _inside(_further(added, below, above), held)


def _further(interval: Calibrated, below: float, above: float) -> Calibrated:
    """Return the interval widened for a number with these one-sided biases."""
    if interval.low is None or interval.high is None:
        return interval
    return replace(interval, low=interval.low - above, high=interval.high + below)


def _inside(interval: Calibrated, within: Range) -> Calibrated:
    if interval.low is None or interval.high is None:
        return interval
    return replace(interval, low=max(interval.low, within.low), high=min(interval.high, within.high))


def _joint(tasks: Sequence[SeedScores], weights: FloatArray, mean: ScoreMean, spreads: Sequence[Spread]) -> Spread:
    """Return the spread of the average, in which a seed's influence is its sum over all of its tasks.

    It has no more degrees of freedom than tasks without common seeds would have. Averaged over tasks a seed has hardly
    any noise from its own episodes, so it counts as a single value (`support_of_values`).
    Source: Satterthwaite 1946.
    """
    seeds = np.unique(np.concatenate([task.seeds for task in tasks]))
    influence = np.zeros(len(seeds))
    for task, weight, spread in zip(tasks, weights.tolist(), spreads, strict=True):
        moved = (mean.of(task.values) - float(spread.point)) / len(task.values)
        influence += weight * np.bincount(np.searchsorted(seeds, task.seeds), moved, minlength=len(seeds))
    point = float(weights @ np.array([float(spread.point) for spread in spreads]))
    least = float(np.linalg.norm(weights * np.array([float(spread.least) for spread in spreads])))
    n_units = np.array(float(len(seeds)))
    freedom = np.array(min(float(len(seeds)) - 1.0, _freedom_apart(weights, spreads)))
    joint = influence_spread(np.array(point), influence, n_units, freedom, least)
    return replace(joint, support=support_of_values(len(seeds)))


def _freedom_apart(weights: FloatArray, spreads: Sequence[Spread]) -> float:
    """Return the degrees of freedom of the average if tasks shared no seed; infinite where none has a spread."""
    parts = [(float(spread.error), float(spread.df)) for spread in spreads]
    shares = (weights * np.array([error if df > 0.0 else 0.0 for error, df in parts])) ** 2
    freedom = np.array([max(df, 1.0) for _, df in parts])
    return float(shares.sum() ** 2 / (shares**2 / freedom).sum()) if shares.sum() > 0.0 else np.inf


def _spread(values: FloatArray, seeds: IntArray) -> Spread:
    _, place = np.unique(seeds, return_inverse=True)
    sums = (np.bincount(place, of).astype(np.float64) for of in (values, np.ones(len(values)), values**2))
    totals, sizes, squares = sums
    return cluster_spread(totals, sizes, squares)


def _share_seeds(tasks: Sequence[SeedScores]) -> bool:
    distinct = [np.unique(task.seeds) for task in tasks]
    return len(np.unique(np.concatenate(distinct))) < sum(map(len, distinct))


def _ends(values: FloatArray) -> tuple[float, float]:
    return float(values.min()), float(values.max())


def _iqm(values: FloatArray) -> float:
    dropped = len(values) // 4
    return float(np.sort(values)[dropped : len(values) - dropped].mean())
