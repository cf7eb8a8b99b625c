"""Tests of every ordered pair of entrants on the same examples at once: McNemar and paired t; pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from app.stats.arrays import (
    FloatArray,
    IntArray,
    InvalidArgument,
    require_finite,
    require_level,
    require_number,
    require_shape,
    share,
)

BLOCK_UNITS = 100_000

ROUNDING = 1e-13


@dataclass(frozen=True)
class PairTests:
    """For entrant a in the row and b in the column, [n_entrants, n_entrants]: one-sided tests that a is better.

    `mean` and `deviation` describe the paired differences, positive in favour of a; `p_value` is NaN for a t-test whose
    differences do not vary. `only` counts, for McNemar, the examples that only a predicts correctly; None for paired t.
    """

    mean: FloatArray
    deviation: FloatArray
    p_value: FloatArray
    only: IntArray | None


def mcnemar_pairs(is_right: NDArray[Any]) -> PairTests:
    """Return the exact one-sided McNemar test of every pair, from [n_examples, n_entrants] of 1 (correct) and 0.

    The p-value is P(X ≥ n₁₂), X ~ Bin(n₁₂ + n₂₁, ½); 1 where the two never differ. `deviation` is the standard
    deviation of the differences, with divisor n − 1.
    Raises InvalidArgument for no example and for anything but zeros and ones, including NaN: a failed example is 0.
    Source: McNemar 1947; Agresti 2013, Categorical data analysis, section 11.1. YDF computes P(X > n₁₂), which makes
    its values too small.

    >>> tests = mcnemar_pairs(np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0]]))
    >>> (tests.p_value.tolist(), tests.only.tolist())
    ([[1.0, 0.25], [1.0, 1.0]], [[0, 2], [0, 0]])
    """
    require_shape("is_right", is_right, "[n_examples]", "n_entrants")
    if not ((is_right == 0) | (is_right == 1)).all():
        raise InvalidArgument("is_right holds something else than zeros and ones")
    n_examples = len(is_right)
    both = _both(np.packbits(np.ascontiguousarray(is_right.T, dtype=np.bool_), axis=1))
    only = np.diag(both)[:, None] - both
    different = only + only.T
    p_value = np.where(different > 0, scipy.stats.binom.sf(only - 1, different, 0.5), 1.0)
    mean = (only - only.T) / n_examples
    spread = np.maximum(different - n_examples * mean**2, 0.0) / max(n_examples - 1, 1)
    return PairTests(mean, np.sqrt(spread), p_value, only)


def _both(bits: NDArray[np.uint8]) -> IntArray:
    """Return how many examples both entrants have correct, [n_entrants, n_entrants], from eight examples per byte."""
    both = np.empty((len(bits), len(bits)), dtype=np.int64)
    for at, own in enumerate(bits):
        both[at, : at + 1] = np.bitwise_count(bits[: at + 1] & own).sum(axis=1, dtype=np.int64)
        both[: at + 1, at] = both[at, : at + 1]
    return both


def paired_t_pairs(scores: FloatArray) -> PairTests:
    """Return the one-sided paired t-test of every pair, from scores [n_units, n_entrants], larger being better.

    The standard deviation has the divisor n − 1; the p-value is NaN where differences do not vary and for a single
    unit.
    Raises InvalidArgument for no unit and for a score that is not finite: the caller decides about missing scores.
    Source: Student 1908, the test of paired differences; `scipy.stats.ttest_rel` with `alternative="greater"`.

    >>> float(paired_t_pairs(np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])).p_value[0, 1].round(4))
    0.0371
    """
    require_shape("scores", scores, "[n_units]", "n_entrants")
    require_finite("scores", scores)
    n_units, n_entrants = scores.shape
    totals, products = np.zeros(n_entrants), np.zeros((n_entrants, n_entrants))
    # Centring each unit leaves differences unchanged and keeps the sums precise.
    for start in range(0, n_units, BLOCK_UNITS):
        part = scores[start : start + BLOCK_UNITS]
        part = part - part.mean(axis=1, keepdims=True)
        totals += part.sum(axis=0)
        products += part.T @ part
    mean = (totals[:, None] - totals[None, :]) / n_units
    own = np.diag(products)[:, None] + np.diag(products)[None, :]
    squares = own - 2 * products - n_units * mean**2
    # For equal columns, what remains is rounding and not a spread.
    deviation = np.sqrt(np.where(squares > ROUNDING * own, squares, 0.0) / max(n_units - 1, 1))
    ratio = share(mean * np.sqrt(n_units), deviation)
    return PairTests(mean, deviation, scipy.stats.t.sf(ratio, n_units - 1), None)


# Companions to tests of two entrants: correction for multiple tests, and the sample size a test would need; pure.

MOST_NEEDED = 10**12


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for multiple testing, in the same order; an empty list for an empty one.

    Raises InvalidArgument for a p-value outside [0, 1], or NaN: a test without a p-value must be left out of the
    family.
    Source: Holm 1979, A simple sequentially rejective multiple test procedure.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    for p_value in p_values:
        require_number("p_values", p_value, 0.0, 1.0)
    values = np.array(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    adjusted = np.empty(len(values))
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, np.arange(len(values), 0, -1) * values[order]))
    return adjusted.tolist()


def examples_needed(
    mean: float, deviation: float, level: float, power: float = 0.8, *, two_sided: bool = True
) -> int | None:
    """Return how many pairs are needed to detect a difference of this mean and deviation; None if the mean is zero.

    n = ((z_{1−α/2} + z_power) × deviation / mean)², with z_{1−α} for a one-sided test. Also None above MOST_NEEDED,
    which nobody could collect. Mean and deviation are in the same unit; n counts pairs.
    Raises InvalidArgument for a level or power outside (0, 1), a mean that is not finite, and a negative deviation.
    Source: Chow, Shao & Wang 2008, Sample size calculations in clinical research, section 3.1.

    >>> examples_needed(0.5, 1.0, 0.95)
    32
    """
    require_level(level)
    require_level(power)
    require_number("mean", mean)
    require_number("deviation", deviation, 0.0)
    factor = _factor(level, power, two_sided=two_sided)
    if factor * deviation >= math.sqrt(MOST_NEEDED) * abs(mean):
        return None
    return math.ceil((factor * deviation / mean) ** 2)


def examples_needed_of_all(
    means: FloatArray, deviations: FloatArray, level: float, power: float = 0.8, *, two_sided: bool = True
) -> FloatArray:
    """Return `examples_needed` for each mean and deviation, [n_pairs], with NaN for None.

    Both are in the same unit. Also NaN for a deviation of zero or NaN, which does not determine a sample size.
    Raises InvalidArgument for a level or power outside (0, 1).
    Source: as for `examples_needed`.

    >>> examples_needed_of_all(np.array([0.5, 0.5]), np.array([1.0, np.nan]), 0.95).tolist()
    [32.0, nan]
    """
    require_level(level)
    require_level(power)
    factor = _factor(level, power, two_sided=two_sided)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        is_shown = (deviations > 0.0) & ~(factor * deviations >= math.sqrt(MOST_NEEDED) * np.abs(means))
        return np.where(is_shown, np.ceil((factor * deviations / means) ** 2), np.nan)


def _factor(level: float, power: float, *, two_sided: bool) -> float:
    normal = NormalDist()
    return normal.inv_cdf((1 + level) / 2 if two_sided else level) + normal.inv_cdf(power)
