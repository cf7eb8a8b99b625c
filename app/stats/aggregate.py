"""Aggregates of a sample, computed from its distinct values and how often each occurs.

Called by `app.boards`; pure. `distinct` is ascending [n_distinct] in the metric's unit, `counts` [n_resamples,
n_distinct] with at least one item in each row; every aggregate returns [n_resamples], or one column for each threshold,
in the unit and the direction of the scores unless it says otherwise. No aggregate accepts NaN: the caller has already
counted items without a score, and left them out or given them the worst value.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from app.stats.arrays import FloatArray
from app.stats.checks import (
    InvalidArgument,
    require_ascending,
    require_count,
    require_finite,
    require_level,
    require_number,
    require_shape,
)
from app.stats.cluster import MIN_CLUSTERS, Sample
from app.stats.interval import percentile_interval

Aggregate = Callable[[FloatArray, FloatArray], FloatArray]
TOO_FEW_CLUSTERS = "too_few_clusters"


def mean(distinct: FloatArray, counts: FloatArray) -> FloatArray:
    """Return the arithmetic mean of each resample, [n_resamples]; `distinct` may be in any order.

    Raises InvalidArgument for mismatched shapes, a value that is not finite, and a resample without an item.
    Source: Σ count × value / Σ count, the definition of the mean.

    >>> mean(np.array([0.0, 1.0]), np.array([[1.0, 3.0], [4.0, 0.0]])).tolist()
    [0.75, 0.0]
    """
    n_items = require_items(distinct, counts)[:, 0]
    averages: FloatArray = (counts @ distinct) / n_items
    return averages


def interquartile_mean(distinct: FloatArray, counts: FloatArray) -> FloatArray:
    """Return the mean of the items left after dropping floor(n / 4) from each end of the sorted sample.

    It is `scipy.stats.trim_mean(x, 0.25)` of each resample, [n_resamples].
    Raises InvalidArgument as `mean` does, and for distinct values that do not ascend.
    Source: Agarwal et al. 2021, Deep reinforcement learning at the edge of the statistical precipice, section 4.3.

    >>> interquartile_mean(np.array([0.0, 1.0, 2.0, 100.0]), np.ones((1, 4))).tolist()
    [1.5]
    """
    n_items = require_items(distinct, counts)
    require_ascending("distinct", distinct)
    dropped = np.floor(n_items / 4)
    upto = np.cumsum(counts, axis=1)
    kept = np.minimum(upto, n_items - dropped) - np.maximum(upto - counts, dropped)
    middle: FloatArray = (np.maximum(kept, 0.0) @ distinct) / (n_items - 2 * dropped)[:, 0]
    return middle


def weighted_trimmed_mean(distinct: FloatArray, weights: FloatArray, cut: float) -> FloatArray:
    """Return the mean of what is left after removing a share `cut` of the total weight from each end, [n_resamples].

    `weights` [n_resamples, n_distinct] are not negative, with a positive sum in each row; only their proportions
    matter. With unit weights and cut = floor(n / 4) / n this equals `interquartile_mean`, with cut 0 the mean.
    Raises InvalidArgument as `interquartile_mean` does, and for a cut outside [0, 0.5).
    Source: Stigler 1973, The asymptotic distribution of the trimmed mean: ∫ Q(u) du over (cut, 1 − cut), divided by 1 −
    2 cut, with Q the quantile function of the weighted sample.

    >>> weighted_trimmed_mean(np.array([0.0, 1.0, 2.0, 100.0]), np.full((1, 4), 1.0), 0.25).tolist()
    [1.5]
    """
    require_number("cut", cut, 0.0, np.nextafter(0.5, 0.0))
    total = require_items(distinct, weights)
    require_ascending("distinct", distinct)
    upto = np.cumsum(weights, axis=1)
    kept = np.minimum(upto, total * (1.0 - cut)) - np.maximum(upto - weights, total * cut)
    kept = np.maximum(kept, 0.0)
    # A constant sample keeps its exact value, free of rounding.
    middle: FloatArray = distinct[0] + (kept @ (distinct - distinct[0])) / kept.sum(axis=1)
    return middle


def optimality_gap(threshold: float) -> Aggregate:
    """Return the aggregate mean(max(threshold − x, 0)): how far scores fall short of the threshold; lower is better.

    It is in the unit of the scores, and zero when every score reaches the threshold.
    Raises InvalidArgument for a threshold that is not finite; the aggregate raises as `mean` does.
    Source: Agarwal et al. 2021, section 4.3.

    >>> optimality_gap(1.0)(np.array([0.5, 2.0]), np.array([[1.0, 1.0]])).tolist()
    [0.25]
    """
    require_number("threshold", threshold)

    def gap(distinct: FloatArray, counts: FloatArray) -> FloatArray:
        return mean(np.maximum(threshold - distinct, 0.0), counts)

    return gap


@dataclass(frozen=True)
class Interval:
    """A number with its interval. Where there is no interval, `low` and `high` are None and `reason` says why.

    `is_degenerate` means that all replicates are equal: the interval has zero width because nothing varies.
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
    """Return each aggregate of the sample with its percentile interval, all from the same resamples.

    `batches` are count matrices from one of the draws in `app.stats.cluster`. A sample with fewer than `min_clusters`
    clusters gets no interval and draws nothing, because one cluster carries no information about the spread. CHAMBER
    itself accepts a single cluster; that is used only to check the summaries it prints. Points and ends are in the
    aggregate's own unit.
    Raises InvalidArgument for a level outside (0, 1), for `min_clusters` below 1, and for batches without a resample.
    Source: Davison & Hinkley 1997, section 3.8, for the draws; Efron & Tibshirani 1993, section 13.3, for the ends.

    >>> from app.stats.cluster import group_sample
    >>> sample = group_sample(np.array([0.0, 1.0]), np.array([7, 8]))
    >>> interval = estimate(sample, {"mean": mean}, [np.array([[2.0, 0.0], [0.0, 2.0]])], level=0.5)["mean"]
    >>> (interval.point, interval.low, interval.high)
    (0.5, 0.25, 0.75)
    """
    require_level(level)
    require_count("min_clusters", min_clusters)
    points = {name: float(of(sample.distinct, sample.counts)[0]) for name, of in aggregates.items()}
    if len(sample.sizes) < min_clusters:
        return {name: Interval(point, None, None, TOO_FEW_CLUSTERS, False, None) for name, point in points.items()}
    parts: dict[str, list[FloatArray]] = {name: [] for name in aggregates}
    for counts in batches:
        for name, of in aggregates.items():
            parts[name].append(of(sample.distinct, counts))
    if not all(parts.values()):
        raise InvalidArgument("batches has no resample; expected one at least")
    return {name: _interval(points[name], np.concatenate(drawn), level) for name, drawn in parts.items()}


def _interval(point: float, replicates: FloatArray, level: float) -> Interval:
    low, high = percentile_interval(replicates[:, None], level)
    same = bool((replicates == replicates[0]).all())
    return Interval(point, float(low[0]), float(high[0]), None, same, replicates)


def require_items(distinct: FloatArray, counts: FloatArray) -> FloatArray:
    """Check the two arguments of an aggregate and return the number of items in each resample, [n_resamples, 1].

    `distinct` [n_distinct] is in any unit, `counts` is [n_resamples, n_distinct].
    Raises InvalidArgument for mismatched shapes, for a value that is not finite, and for a resample without an item.
    Source: the row sums of `counts`.

    >>> require_items(np.array([0.5, 2.0]), np.array([[1.0, 2.0]])).tolist()
    [[3.0]]
    """
    require_shape("distinct", distinct, "[n_distinct]")
    require_finite("distinct", distinct)
    require_shape("counts", counts, "n_resamples", len(distinct))
    n_items: FloatArray = counts.sum(axis=1, keepdims=True)
    if not (n_items > 0).all():
        raise InvalidArgument("counts has a resample without an item; expected one item at least in each")
    return n_items
