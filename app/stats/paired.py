"""Paired differences between two conditions: which episodes form pairs, and how a registered claim is decided.

Called by `app.boards.claims`; pure. A pair shares seed and item; the cluster of a difference is its seed.
"""

from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np

from app.stats.aggregate import Interval
from app.stats.arrays import FloatArray, IntArray
from app.stats.checks import (
    InvalidArgument,
    require_count,
    require_finite,
    require_integers,
    require_level,
    require_number,
    require_shape,
    require_word,
)

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


def minimum_detectable_difference(replicates: FloatArray, level: float) -> float:
    """Return the smallest true difference that this design would detect with 80 % power, in the metric's unit.

    It is (z_{1−α/2} + z_{0.8}) times the standard error, which is the standard deviation of replicates [n_resamples].
    Raises InvalidArgument for a level outside (0, 1), for fewer than two replicates, and for one that is not finite.
    Source: Bloom 1995, Minimum detectable effects: the multiplier and its table.

    >>> round(minimum_detectable_difference(np.array([-1.0, 0.0, 1.0]), 0.95), 3)
    2.802
    """
    require_level(level)
    require_shape("replicates", replicates, "n_resamples")
    require_count("the number of replicates", len(replicates), least=2)
    require_finite("replicates", replicates)
    normal = NormalDist()
    factor = normal.inv_cdf((1.0 + level) / 2.0) + normal.inv_cdf(POWER)
    return factor * float(np.std(replicates, ddof=1))


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
