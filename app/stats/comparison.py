"""Tests between two entrants on the same examples: McNemar, paired t, and several of them at once; pure."""

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest, t

FloatArray = NDArray[np.float64]
MOST_NEEDED = 10**12


def mcnemar(n_first_only: int, n_second_only: int) -> float:
    """Return the one-sided exact p-value that the first is the better one: P(X ≥ n₁₂), X ~ Bin(n₁₂ + n₂₁, ½).

    `n_first_only` examples are right for the first alone. 1 where the two never differ. Source: McNemar 1947; YDF
    leaves the observed count itself out, which makes its values too small.
    """
    n_different = n_first_only + n_second_only
    return 1.0 if not n_different else float(binomtest(n_first_only, n_different, 0.5, alternative="greater").pvalue)


def paired_t(differences: FloatArray) -> float | None:
    """Return the one-sided p-value that the mean of the differences [n_pairs] is above zero; None without a spread.

    The standard deviation is the sample's, with n − 1.
    """
    n_pairs = len(differences)
    deviation = float(np.std(differences, ddof=1)) if n_pairs > 1 else 0.0
    if deviation == 0.0:
        return None
    return float(t.sf(float(np.mean(differences)) / (deviation / math.sqrt(n_pairs)), n_pairs - 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values adjusted for being several, in their order. Source: Holm 1979."""
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, at in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[at]))
        adjusted[at] = highest
    return adjusted


def examples_needed(
    mean: float, deviation: float, level: float, power: float = 0.8, *, two_sided: bool = True
) -> int | None:
    """Return how many pairs would show a difference of this mean and deviation with this power; None for no difference.

    n = ((z_{1−α/2} + z_power) × deviation / mean)², for a one-sided test z_{1−α}. A difference that would need more
    than MOST_NEEDED is none that anyone could show. Source: Chow, Shao & Wang 2008, section 3.1.
    """
    normal = NormalDist()
    factor = normal.inv_cdf((1 + level) / 2 if two_sided else level) + normal.inv_cdf(power)
    if factor * deviation >= math.sqrt(MOST_NEEDED) * abs(mean):
        return None
    return math.ceil((factor * deviation / mean) ** 2)
