"""Tests of every ordered pair of entrants on the same examples at once: McNemar and paired t; pure."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from app.stats.arrays import FloatArray, IntArray, share
from app.stats.checks import InvalidArgument, require_finite, require_shape

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
