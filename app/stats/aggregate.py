"""Aggregates of a sample as functions of its distinct values and of how often each occurs.

Called by `app.leaderboards`; pure. `distinct` is ascending [n_distinct], `counts` [n_resamples, n_distinct] with at
least one item in each row; every function returns [n_resamples], or one column for each threshold.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from app.stats.arrays import FloatArray
from app.stats.cluster import MIN_CLUSTERS, Sample
from app.stats.interval import percentile_interval

Aggregate = Callable[[FloatArray, FloatArray], FloatArray]

TOO_FEW_CLUSTERS = "too_few_clusters"


def mean(distinct: FloatArray, counts: FloatArray) -> FloatArray:
    """Return the arithmetic mean."""
    averages: FloatArray = (counts @ distinct) / counts.sum(axis=1)
    return averages


def interquartile_mean(distinct: FloatArray, counts: FloatArray) -> FloatArray:
    """Return the mean of what is left when floor(n / 4) items are dropped from each end of the sorted sample.

    It is `scipy.stats.trim_mean(x, 0.25)`. Source: Agarwal et al. 2021, Deep reinforcement learning at the edge of
    the statistical precipice, section 4.3.
    """
    n_items = counts.sum(axis=1, keepdims=True)
    dropped = np.floor(n_items / 4)
    upto = np.cumsum(counts, axis=1)
    kept = np.minimum(upto, n_items - dropped) - np.maximum(upto - counts, dropped)
    middle: FloatArray = (np.maximum(kept, 0.0) @ distinct) / (n_items - 2 * dropped)[:, 0]
    return middle


def optimality_gap(threshold: float) -> Aggregate:
    """Return the aggregate mean(max(threshold − x, 0)): how far scores stay below the threshold; lower is better."""

    def gap(distinct: FloatArray, counts: FloatArray) -> FloatArray:
        return mean(np.maximum(threshold - distinct, 0.0), counts)

    return gap


def share_above(thresholds: FloatArray) -> Aggregate:
    """Return the performance profile: the share strictly above each threshold, [n_resamples, n_thresholds]."""

    def shares(distinct: FloatArray, counts: FloatArray) -> FloatArray:
        above = (distinct[:, None] > thresholds[None, :]).astype(np.float64)
        above_each: FloatArray = (counts @ above) / counts.sum(axis=1, keepdims=True)
        return above_each

    return shares


def profile_area(thresholds: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the area under a profile over the grid's width, [n_resamples], by the trapezoidal rule."""
    area: FloatArray = np.trapezoid(shares, thresholds, axis=-1) / (thresholds[-1] - thresholds[0])
    return area


def area_above(thresholds: FloatArray) -> Aggregate:
    """Return the aggregate that is the area under the performance profile, in units of its full height."""
    shares = share_above(thresholds)

    def area(distinct: FloatArray, counts: FloatArray) -> FloatArray:
        return profile_area(thresholds, shares(distinct, counts))

    return area


@dataclass(frozen=True)
class Interval:
    """A number with its interval. Without one `low` and `high` are None and `reason` says why.

    `is_degenerate` says that every replicate is the same: the interval has no width because nothing varies.
    `replicates` is [n_resamples], None without an interval.
    """

    point: float
    low: float | None
    high: float | None
    reason: str | None
    is_degenerate: bool
    replicates: FloatArray | None


def estimate(
    sample: Sample,
    aggregates: Mapping[str, Aggregate],
    batches: Iterable[FloatArray],
    *,
    level: float,
    min_clusters: int = MIN_CLUSTERS,
) -> dict[str, Interval]:
    """Return each aggregate of the sample with its percentile interval; all share the batches' resamples.

    `batches` are count matrices of one of the draws of `app.stats.cluster`; they are not drawn when the sample has
    fewer than `min_clusters`, because one cluster carries no spread: the interval is None then. CHAMBER itself goes
    down to one, which only its own summaries are compared with.
    """
    points = {name: float(of(sample.distinct, sample.counts)[0]) for name, of in aggregates.items()}
    if len(sample.sizes) < min_clusters:
        return {name: Interval(point, None, None, TOO_FEW_CLUSTERS, False, None) for name, point in points.items()}
    parts: dict[str, list[FloatArray]] = {name: [] for name in aggregates}
    for counts in batches:
        for name, of in aggregates.items():
            parts[name].append(of(sample.distinct, counts))
    return {name: _interval(points[name], np.concatenate(drawn), level) for name, drawn in parts.items()}


def _interval(point: float, replicates: FloatArray, level: float) -> Interval:
    low, high = percentile_interval(replicates[:, None], level)
    same = bool((replicates == replicates[0]).all())
    return Interval(point, float(low[0]), float(high[0]), None, same, replicates)


def profile_band(
    sample: Sample, thresholds: FloatArray, batches: Iterable[FloatArray], *, level: float
) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Return the profile's share, low and high at each threshold, pointwise; None with fewer than two clusters."""
    if len(sample.sizes) < MIN_CLUSTERS:
        return None
    shares = share_above(thresholds)
    drawn = np.concatenate([shares(sample.distinct, counts) for counts in batches])
    low, high = percentile_interval(drawn, level)
    return shares(sample.distinct, sample.counts)[0], low, high
