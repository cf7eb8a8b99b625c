"""Sums over examples under many weightings at once.

Called by `app.boards`; pure. Values are not checked, because that would be repeated for each weighting: a sum over NaN
is NaN. Negative weights are refused where weights enter.
"""

import numpy as np

from app.stats.arrays import BoolArray, Counts, FloatArray, IntArray, Weights
from app.stats.checks import require_shape
from app.stats.compiled import compiled

NEAR = 4096
"""Examples per block: their values stay in the processor's cache while every weighting is applied."""


def flag_sums(weights: Weights, flags: BoolArray) -> FloatArray:
    """Return the weight of the examples with each flag, [n_weightings, n_flags], from flags [n_flags, n_examples].

    `weights` are [n_weightings, n_examples]. Bootstrap counts are summed as integers, without a copy.
    Raises InvalidArgument for flags of another number of examples.
    Source: the product weights × flagsᵀ.

    >>> flag_sums(np.array([[1.0, 2.0], [0.0, 0.5]]), np.array([[True, True], [False, True]])).tolist()
    [[3.0, 2.0], [0.5, 0.5]]
    """
    require_shape("weights", weights, "n_weightings", "n_examples")
    require_shape("flags", flags, "n_flags", weights.shape[1])
    if weights.dtype != np.uint8:
        return weights.astype(np.float64, copy=False) @ flags.T.astype(np.float64)
    counted = np.empty((len(weights), len(flags)), dtype=np.int64)
    compiled(_count_flagged)(weights, flags.view(np.uint8), counted)
    return counted.astype(np.float64)


def weighted_sums(weights: Weights, values: FloatArray) -> FloatArray:
    """Return Σ weight × value, [n_weightings, n_values], from values [n_values, n_examples].

    `weights` are [n_weightings, n_examples]. Bootstrap counts are used as bytes: a matrix product would need eight
    times their memory. A NaN makes the sums of its row of values NaN.
    Raises InvalidArgument for values of another number of examples.
    Source: the product weights × valuesᵀ.

    >>> weighted_sums(np.array([[1.0, 2.0], [0.0, 0.5]]), np.array([[10.0, 100.0]])).tolist()
    [[210.0], [50.0]]
    """
    require_shape("weights", weights, "n_weightings", "n_examples")
    require_shape("values", values, "n_values", weights.shape[1])
    if weights.dtype != np.uint8:
        products: FloatArray = weights.astype(np.float64, copy=False) @ values.T
        return products
    sums = np.zeros((len(weights), len(values)))
    compiled(_add_weighted, reorders_sums=True)(weights, values, sums)
    return sums


def _count_flagged(counts: Counts, flags: Counts, counted: IntArray) -> None:
    for row in range(counts.shape[0]):
        for flag in range(flags.shape[0]):
            total = 0
            for at in range(counts.shape[1]):
                total += int(counts[row, at]) * int(flags[flag, at])
            counted[row, flag] = total


def _add_weighted(counts: Counts, values: FloatArray, sums: FloatArray) -> None:
    for start in range(0, counts.shape[1], NEAR):
        for row in range(counts.shape[0]):
            near_counts = counts[row, start : start + NEAR]
            for of in range(values.shape[0]):
                near_values = values[of, start : start + NEAR]
                total = 0.0
                for at in range(len(near_counts)):
                    total += near_counts[at] * near_values[at]
                sums[row, of] += total
