"""Sums over examples under many weightings at once. Called by `app.leaderboards`; pure."""

import numpy as np
from numpy.typing import NDArray

from app.stats.compiled import compiled

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Weights = NDArray[np.uint8] | FloatArray


def flag_sums(weights: Weights, flags: BoolArray) -> FloatArray:
    """Return the weight of the examples of each flag, [n_weightings, n_flags], from flags [n_flags, n_examples].

    Counts of a bootstrap are added as integers, which needs no copy of them.
    """
    if weights.dtype != np.uint8:
        return weights.astype(np.float64) @ flags.T.astype(np.float64)
    counted = np.empty((len(weights), len(flags)), dtype=np.int64)
    compiled(_count_flagged)(weights, flags.view(np.uint8), counted)
    return counted.astype(np.float64)


def _count_flagged(counts: NDArray[np.uint8], flags: NDArray[np.uint8], counted: NDArray[np.int64]) -> None:
    for row in range(counts.shape[0]):
        for flag in range(flags.shape[0]):
            total = 0
            for at in range(counts.shape[1]):
                total += counts[row, at] * flags[flag, at]
            counted[row, flag] = total
