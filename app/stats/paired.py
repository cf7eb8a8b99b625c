"""Paired differences between two conditions: which episodes pair up, and what a registered claim comes to.

Called by `app.leaderboards.claims`; pure. A pair shares seed and item; the cluster of a difference is its seed.
"""

from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np

from app.stats.aggregate import Interval
from app.stats.arrays import FloatArray, IntArray

Verdict = Literal["supported", "not supported", "inconclusive"]
POWER = 0.8


@dataclass(frozen=True)
class Pairs:
    """Differences first − second, [n_pairs], with the cluster of each; and how many on either side have no partner."""

    difference: FloatArray
    cluster: IntArray
    n_unmatched_first: int
    n_unmatched_second: int


def match_pairs(
    first: FloatArray, first_keys: IntArray, second: FloatArray, second_keys: IntArray, clusters: IntArray
) -> Pairs:
    """Pair two conditions by key. Keys are numbers from 0, each at most once a side; `clusters` is [n_keys].

    Raises ValueError for a key that occurs twice on one side: one of them would silently win.
    """
    for keys in (first_keys, second_keys):
        if len(np.unique(keys)) != len(keys):
            raise ValueError("a key occurs twice in one condition")
    shared, at_first, at_second = np.intersect1d(first_keys, second_keys, return_indices=True)
    return Pairs(
        difference=first[at_first] - second[at_second],
        cluster=clusters[shared],
        n_unmatched_first=len(first_keys) - len(shared),
        n_unmatched_second=len(second_keys) - len(shared),
    )


def minimum_detectable_difference(replicates: FloatArray, level: float) -> float:
    """Return the smallest true difference that this design would find with 80 % power, in the metric's unit.

    It is (z_{1−α/2} + z_{0.8}) times the standard error, which is the replicates' standard deviation.
    Source: Bloom 1995, Minimum detectable effects.
    """
    normal = NormalDist()
    factor = normal.inv_cdf((1.0 + level) / 2.0) + normal.inv_cdf(POWER)
    return factor * float(np.std(replicates, ddof=1))


def decide(difference: Interval, threshold: float, direction: Literal["greater", "less"]) -> Verdict:
    """Return what a claim "the difference is at least (or at most) the threshold" comes to.

    Supported when the whole interval is at the threshold or beyond, which is the gap rule. Not supported when the
    whole interval falls short of it. Anything else, also a missing interval, is inconclusive.
    """
    if difference.low is None or difference.high is None:
        return "inconclusive"
    low, high = difference.low, difference.high
    if direction == "less":
        low, high, threshold = -high, -low, -threshold
    if low >= threshold:
        return "supported"
    return "not supported" if high < threshold else "inconclusive"
