"""Bootstraps of episodes within seeds: draws, aggregates with intervals, matched pairs, performance profiles.

The cluster is the seed. A statistic of a resample needs only how often each distinct value of the sample occurs in it,
so all replicates together are a count matrix [n_resamples, n_distinct].
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from app.stats.arrays import (
    FloatArray,
    IntArray,
    InvalidArgument,
    require_ascending,
    require_count,
    require_finite,
    require_integers,
    require_level,
    require_number,
    require_shape,
    require_word,
)
from app.stats.resample import count_items, percentile_interval

MIN_CLUSTERS = 2

FEW_DISTINCT = 8

BATCH_CELLS = 4_000_000
"""Most indices or counts in memory at once, about 32 MB of them."""


@dataclass(frozen=True)
class Sample:
    """Scores grouped by cluster: `distinct` values in ascending order, and each item's index into them.

    `distinct` is [n_distinct] in the metric's unit. `place` is [n_items], with the items of one cluster adjacent;
    `sizes` is [n_clusters] and sums to n_items.
    Raises InvalidArgument where this does not hold, for a value that is not finite, and for an empty sample or cluster.
    Source: the sufficient statistics of any two-level bootstrap whose statistic ignores the order of items.

    >>> Sample(np.array([0.0, 1.0]), np.array([0, 1, 1]), np.array([2, 1])).counts.tolist()
    [[1.0, 2.0]]
    """

    distinct: FloatArray
    place: IntArray
    sizes: IntArray

    def __post_init__(self) -> None:
        require_shape("distinct", self.distinct, "[n_distinct]")
        require_finite("distinct", self.distinct)
        require_ascending("distinct", self.distinct)
        require_shape("place", self.place, "[n_items]")
        require_integers("place", self.place, low=0, high=len(self.distinct) - 1)
        require_shape("sizes", self.sizes, "[n_clusters]")
        require_integers("sizes", self.sizes, low=1)
        if self.sizes.sum() != len(self.place):
            raise InvalidArgument(f"sizes sum to {self.sizes.sum()}; expected {len(self.place)}, the number of items")

    @property
    def counts(self) -> FloatArray:
        """Return how often each distinct value occurs, [1, n_distinct]: the weights of the point estimate."""
        return np.bincount(self.place, minlength=len(self.distinct))[None, :].astype(np.float64)


def group_sample(values: FloatArray, clusters: IntArray) -> Sample:
    """Return a sample with clusters in ascending order of their numbers and items in the given order within each.

    `values` and `clusters` are [n_items]. So a draw depends only on the order of the cluster numbers, not on their
    values.
    Raises InvalidArgument for no item, arrays of different lengths, a value that is not finite (an item without a score
    does not belong in the sample), and clusters that are not integers.
    Source: none; it sorts and counts.

    >>> group_sample(np.array([0.5, 1.0, 0.0]), np.array([8, 7, 8])).sizes.tolist()
    [1, 2]
    """
    require_shape("values", values, "[n_items]")
    require_finite("values", values)
    require_shape("clusters", clusters, len(values))
    require_integers("clusters", clusters)
    order = np.argsort(clusters, kind="stable")
    _, sizes = np.unique(clusters, return_counts=True)
    distinct, place = np.unique(values[order], return_inverse=True)
    return Sample(distinct, place.reshape(-1).astype(np.int64), sizes.astype(np.int64))


def draw_clusters(
    sample: Sample, n_resamples: int, rng: np.random.Generator, *, batch_cells: int = BATCH_CELLS
) -> Iterator[FloatArray]:
    """Yield count matrices [<= batch, n_distinct] of the two-level bootstrap: seeds, then episodes in each drawn seed.

    A cluster of n items that is drawn c times contributes c × n item draws. Where there are few distinct values, their
    counts come straight from the multinomial distribution, which is the same bootstrap; otherwise items are drawn one
    by one. The draws do not depend on `batch_cells`, and no count is NaN.
    Raises InvalidArgument unless `n_resamples` and `batch_cells` are whole numbers of at least 1.
    Source: Davison & Hinkley 1997, section 3.8.

    >>> sample = group_sample(np.array([0.0, 1.0, 1.0]), np.array([7, 8, 8]))
    >>> np.concatenate(list(draw_clusters(sample, 4, np.random.default_rng(1)))).shape
    (4, 2)
    """
    require_count("n_resamples", n_resamples)
    require_count("batch_cells", batch_cells)
    return _draw_clusters(sample, n_resamples, rng, batch_cells)


def _draw_clusters(
    sample: Sample, n_resamples: int, rng: np.random.Generator, batch_cells: int
) -> Iterator[FloatArray]:
    if len(sample.distinct) <= FEW_DISTINCT:
        yield _draw_multinomial(sample, n_resamples, rng)
    else:
        yield from _draw_items(sample, n_resamples, rng, batch_cells)


def _draw_multinomial(sample: Sample, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    n_clusters, n_distinct = len(sample.sizes), len(sample.distinct)
    drawn = rng.multinomial(n_clusters, np.full(n_clusters, 1.0 / n_clusters), size=n_resamples)
    cluster = np.repeat(np.arange(n_clusters), sample.sizes)
    table = np.bincount(cluster * n_distinct + sample.place, minlength=n_clusters * n_distinct)
    counts = np.zeros((n_resamples, n_distinct))
    for at, (size, row) in enumerate(zip(sample.sizes, table.reshape(n_clusters, n_distinct), strict=True)):
        counts += rng.multinomial(drawn[:, at] * size, row / size)
    return counts


def _draw_items(sample: Sample, n_resamples: int, rng: np.random.Generator, batch_cells: int) -> Iterator[FloatArray]:
    n_clusters = len(sample.sizes)
    drawn = rng.integers(0, n_clusters, size=(n_resamples, n_clusters))
    batch = max(1, batch_cells // len(sample.place))
    for start in range(0, n_resamples, batch):
        part = drawn[start : start + batch]
        sizes = sample.sizes[part].ravel()
        within = rng.integers(0, np.repeat(sizes, sizes))
        yield _count(sample, part, within)


def draw_iid(sample: Sample, n_resamples: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Yield the counts of the pooled bootstrap, which treats episodes of one seed as independent: never for ranks.

    There is one batch, [n_resamples, n_distinct]; each row sums to n_items, and no count is NaN.
    Raises InvalidArgument unless `n_resamples` is a whole number of at least 1.
    Source: Efron & Tibshirani 1993, section 6.2; docs/statistics.md shows its coverage for episodes within seeds.

    >>> sample = group_sample(np.array([0.0, 1.0, 1.0]), np.array([7, 8, 8]))
    >>> next(draw_iid(sample, 2, np.random.default_rng(1))).sum(axis=1).tolist()
    [3.0, 3.0]
    """
    require_count("n_resamples", n_resamples)
    shares = sample.counts[0] / len(sample.place)
    return iter([rng.multinomial(len(sample.place), shares, size=n_resamples).astype(np.float64)])


def chamber_generator(root_seed: int, name: str) -> np.random.Generator:
    """Return CHAMBER's generator for a named substream, seeded by the root seed and a hash of the name.

    The spawn key is the 16-byte BLAKE2b hash of the name, read as two big-endian integers.
    Raises InvalidArgument for a root seed that is not a whole number from 0.
    Source: CHAMBER's own substreams; numpy's SeedSequence.

    >>> chamber_generator(0, "evaluation.bundle_bootstrap").integers(0, 100, size=3).tolist()
    [13, 20, 62]
    """
    require_count("root_seed", root_seed, least=0)
    digest = hashlib.blake2b(name.encode(), digest_size=16).digest()
    halves = (int.from_bytes(digest[:8], "big"), int.from_bytes(digest[8:], "big"))
    return np.random.default_rng(np.random.SeedSequence(entropy=root_seed, spawn_key=halves))


def draw_chamber(sample: Sample, n_resamples: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Yield the counts that CHAMBER's own loop draws, in its order: the seeds, then the episodes of each drawn seed.

    Batches are [<= batch, n_distinct], of a single row where cluster sizes differ; each row sums to the total size of
    its drawn seeds, and no count is NaN.
    Raises InvalidArgument unless `n_resamples` is a whole number of at least 1.
    Source: CHAMBER's own loop; Davison & Hinkley 1997, section 3.8.

    >>> sample = group_sample(np.array([0.0, 1.0, 1.0, 1.0]), np.array([7, 7, 8, 8]))
    >>> np.concatenate(list(draw_chamber(sample, 3, chamber_generator(0, "a")))).sum(axis=1).tolist()
    [4.0, 4.0, 4.0]
    """
    require_count("n_resamples", n_resamples)
    return _draw_chamber(sample, n_resamples, rng)


def _draw_chamber(sample: Sample, n_resamples: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    n_clusters, are_equal = len(sample.sizes), bool((sample.sizes == sample.sizes[0]).all())
    n_most = n_clusters * (1 + int(sample.sizes.max()))
    batch = max(1, BATCH_CELLS // n_most)
    for start in range(0, n_resamples, batch):
        counts = _chamber_counts(sample, min(batch, n_resamples - start), n_most, rng)
        # The last digits of row sums depend on the number of rows.
        yield from [counts] if are_equal else np.split(counts, len(counts))


def _chamber_counts(sample: Sample, n_rows: int, n_most: int, rng: np.random.Generator) -> FloatArray:
    counts = np.zeros((n_rows, len(sample.distinct)))
    firsts = np.cumsum(sample.sizes) - sample.sizes
    if count_items(rng, n_rows * n_most, firsts, sample.sizes, sample.place, counts):
        return counts
    for row in range(n_rows):
        drawn = rng.integers(0, len(firsts), size=len(firsts))[None, :]
        sizes = sample.sizes[drawn].ravel()
        counts[row] = _count(sample, drawn, rng.integers(0, np.repeat(sizes, sizes)))
    return counts


def _count(sample: Sample, drawn: IntArray, within: IntArray) -> FloatArray:
    """Count the values of drawn items: `drawn` is [n_rows, n_clusters], `within` the items in each, in a row."""
    n_rows, n_distinct = len(drawn), len(sample.distinct)
    firsts = np.concatenate([[0], np.cumsum(sample.sizes)[:-1]])
    sizes = sample.sizes[drawn]
    items = np.repeat(firsts[drawn].ravel(), sizes.ravel()) + within
    row = np.repeat(np.arange(n_rows), sizes.sum(axis=1))
    counts = np.bincount(row * n_distinct + sample.place[items], minlength=n_rows * n_distinct)
    return counts.reshape(n_rows, n_distinct).astype(np.float64)


# Aggregates of a sample, computed from its distinct values and how often each occurs. `distinct` is ascending
# [n_distinct] in the metric's unit, `counts` [n_resamples, n_distinct] with at least one item in each row; every
# aggregate returns [n_resamples], or one column for each threshold, in the unit and the direction of the scores
# unless it says otherwise. No aggregate accepts NaN: the caller has already counted items without a score, and left
# them out or given them the worst value.

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

    It is `scipy.stats.trim_mean(x, 0.25)` of each resample, [n_resamples], and never null: no sample is empty.
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
    matter. With unit weights and cut = floor(n / 4) / n this equals `interquartile_mean`, with cut 0 the mean. None of
    the means is null.
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


# Paired differences between two conditions: which episodes form pairs, and how a registered claim is decided. A pair
# shares seed and item; the cluster of a difference is its seed.

Verdict = Literal["supported", "not supported", "inconclusive"]

POWER = 0.8


@dataclass(frozen=True)
class Pairs:
    """Differences first − second, [n_pairs], with the cluster of each, and how many items are unpaired on each side."""

    difference: FloatArray
    cluster: IntArray
    n_unmatched_first: int
    n_unmatched_second: int


def match_pairs(
    first: FloatArray, first_keys: IntArray, second: FloatArray, second_keys: IntArray, clusters: IntArray
) -> Pairs:
    """Pair two conditions by key. Keys index `clusters` [n_keys]; each occurs at most once on either side.

    `first` and `first_keys` are [n_first], `second` and `second_keys` [n_second]; either may be empty. The pairs come
    in the order of their keys, differences in the unit of the values.
    Raises InvalidArgument for a key that occurs twice on one side, as one of them would silently win; for a key outside
    `clusters`; for arrays of different lengths; and for a value that is not finite: an item without a score has no
    pair, and the caller counts it.
    Source: Davison & Hinkley 1997, section 3.8, for the cluster.

    >>> keys, others = np.array([0, 1]), np.array([1, 2])
    >>> pairs = match_pairs(np.array([1.0, 0.5]), keys, np.array([0.25, 1.0]), others, np.array([7, 7, 8]))
    >>> (pairs.difference.tolist(), pairs.cluster.tolist(), pairs.n_unmatched_first, pairs.n_unmatched_second)
    ([0.25], [7], 1, 1)
    """
    require_shape("clusters", clusters, "n_keys")
    for side, values, keys in (("first", first, first_keys), ("second", second, second_keys)):
        _require_side(side, values, keys, len(clusters))
    shared, at_first, at_second = np.intersect1d(first_keys, second_keys, return_indices=True)
    return Pairs(
        difference=first[at_first] - second[at_second],
        cluster=clusters[shared],
        n_unmatched_first=len(first_keys) - len(shared),
        n_unmatched_second=len(second_keys) - len(shared),
    )


def decide(difference: Interval, threshold: float, direction: Literal["greater", "less"]) -> Verdict:
    """Return the verdict on the claim "the difference is at least (or at most) the threshold".

    Supported when the whole interval is at or beyond the threshold, which is the gap rule. Not supported when the whole
    interval falls short of it. Anything else, including a missing interval, is inconclusive. The threshold has the unit
    and the sign of the difference.
    Raises InvalidArgument for a threshold or an end that is not finite, and for any other direction.
    Source: CHAMBER's gap rule.

    >>> decide(Interval(0.3, 0.2, 0.4, None, False, None), 0.2, "greater")
    'supported'
    """
    require_number("threshold", threshold)
    require_word("direction", direction, ("greater", "less"))
    if difference.low is None or difference.high is None:
        return "inconclusive"
    low, high = difference.low, difference.high
    require_number("low", low)
    require_number("high", high)
    if direction == "less":
        low, high, threshold = -high, -low, -threshold
    if low >= threshold:
        return "supported"
    return "not supported" if high < threshold else "inconclusive"


def _require_side(side: str, values: FloatArray, keys: IntArray, n_keys: int) -> None:
    require_shape(side, values, "n_values")
    require_finite(side, values)
    require_shape(f"{side}_keys", keys, len(values))
    require_integers(f"{side}_keys", keys, low=0, high=n_keys - 1)
    if len(np.unique(keys)) != len(keys):
        raise InvalidArgument(f"{side}_keys: a key occurs twice in one condition")


# Performance profiles: the share of items that score above each threshold.
#
# `distinct` [n_distinct] and `counts` [n_resamples, n_distinct] are those of `app.stats.cluster`.


def share_above(thresholds: FloatArray) -> Aggregate:
    """Return the performance profile: the share strictly above each threshold, [n_resamples, n_thresholds].

    A higher profile is better where larger scores are.
    Raises InvalidArgument for no threshold and for one that is not finite; the aggregate raises as `mean` does.
    Source: Agarwal et al. 2021, section 4.2; Dolan & Moré 2002 for profiles.

    >>> share_above(np.array([0.0, 1.0]))(np.array([0.0, 2.0]), np.array([[1.0, 1.0]])).tolist()
    [[0.5, 0.5]]
    """
    require_shape("thresholds", thresholds, "[n_thresholds]")
    require_finite("thresholds", thresholds)

    def shares(distinct: FloatArray, counts: FloatArray) -> FloatArray:
        n_items = require_items(distinct, counts)
        above = (distinct[:, None] > thresholds[None, :]).astype(np.float64)
        above_each: FloatArray = (counts @ above) / n_items
        return above_each

    return shares


def profile_area(thresholds: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the area under a profile over the grid's width, [n_resamples], by the trapezoidal rule.

    `thresholds` is [n_thresholds], `shares` [n_resamples, n_thresholds]; the area is within [0, 1], larger being
    better. A NaN share makes the area NaN.
    Raises InvalidArgument for fewer than two thresholds, for thresholds that do not ascend, and for shares of a
    different shape.
    Source: Agarwal et al. 2021, section 4.2, for the profile.

    >>> profile_area(np.array([0.0, 1.0, 2.0]), np.array([[1.0, 0.5, 0.0]])).tolist()
    [0.5]
    """
    require_shape("thresholds", thresholds, "n_thresholds")
    require_count("the number of thresholds", len(thresholds), least=2)
    require_finite("thresholds", thresholds)
    require_ascending("thresholds", thresholds)
    require_shape("shares", shares, "n_resamples", len(thresholds))
    area: FloatArray = np.trapezoid(shares, thresholds, axis=-1) / (thresholds[-1] - thresholds[0])
    return area


def area_above(thresholds: FloatArray) -> Aggregate:
    """Return the aggregate that is the area under the performance profile divided by the grid's width, in [0, 1].

    A value that is NaN is above no threshold [n_thresholds].
    Raises InvalidArgument as `share_above` does, and the aggregate as `profile_area` does.
    Source: Agarwal et al. 2021, section 4.2.

    >>> area_above(np.array([0.0, 1.0]))(np.array([0.0, 2.0]), np.array([[1.0, 1.0]])).tolist()
    [0.5]
    """
    shares = share_above(thresholds)

    def area(distinct: FloatArray, counts: FloatArray) -> FloatArray:
        return profile_area(thresholds, shares(distinct, counts))

    return area


def profile_band(
    sample: Sample, thresholds: FloatArray, batches: Iterable[FloatArray], *, level: float
) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Return the profile with its pointwise band (share, low, high), [n_thresholds] each; None below two clusters.

    Raises InvalidArgument for a level outside (0, 1), for batches without a resample, and as `share_above` does.
    Source: Agarwal et al. 2021, section 4.2; the band is `percentile_interval` at each threshold separately.

    >>> from app.stats.cluster import group_sample
    >>> sample = group_sample(np.array([0.0, 1.0]), np.array([7, 8]))
    >>> band = profile_band(sample, np.array([0.5]), [np.array([[2.0, 0.0], [0.0, 2.0]])], level=0.5)
    >>> [ends.tolist() for ends in band or ()]
    [[0.5], [0.25], [0.75]]
    """
    require_level(level)
    if len(sample.sizes) < MIN_CLUSTERS:
        return None
    shares = share_above(thresholds)
    drawn = [shares(sample.distinct, counts) for counts in batches]
    if not drawn:
        raise InvalidArgument("batches has no resample; expected one at least")
    low, high = percentile_interval(np.concatenate(drawn), level)
    return shares(sample.distinct, sample.counts)[0], low, high
