"""Precision at a given volume (share predicted positive) under many weightings. Called by `app.kinds.predictions`."""

from dataclasses import dataclass

import numpy as np

from app.stats.arrays import BoolArray, FloatArray, Weights, share
from app.stats.checks import (
    require_finite,
    require_number,
    require_shape,
)
from app.stats.resampled_calls import sums_from_each_on
from app.stats.resampled_curves import NOTHING_CALLED, ROUNDING, Int32Array


@dataclass(frozen=True)
class SortedVolume:
    """All examples by ascending score: their indices, where each distinct score begins, and which are positive."""

    example: Int32Array
    starts: Int32Array
    is_positive: BoolArray


def sort_volume(scores: FloatArray, is_positive: BoolArray) -> SortedVolume:
    """Sort all scores [n_examples] once for every weighting.

    Raises InvalidArgument for a score that is not finite, no example, and another number of labels.
    Source: none; it sorts.

    >>> sort_volume(np.array([0.5, 0.1, 0.5]), np.array([True, False, False])).starts.tolist()
    [0, 1]
    """
    require_shape("scores", scores, "[n_examples]")
    require_finite("scores", scores)
    require_shape("is_positive", is_positive, len(scores))
    order = np.argsort(scores, kind="stable")
    starts = np.unique(scores[order], return_index=True)[1]
    return SortedVolume(order.astype(np.int32), starts.astype(np.int32), is_positive[order])


def precision_at_volume(scores: SortedVolume, weights: Weights, at: float) -> FloatArray:
    """Return the precision at the highest threshold that still predicts at least the share `at` positive.

    The result is [n_weightings], larger being better; NaN where only one class has weight.
    Raises InvalidArgument for weightings of another number of examples, and for `at` outside [0, 1].
    Source: YDF 0.16, precision at volume, conservative and without interpolation.

    >>> scores = sort_volume(np.array([0.1, 0.5, 0.7]), np.array([True, False, True]))
    >>> precision_at_volume(scores, np.ones((1, 3)), 0.6).tolist()
    [0.5]
    """
    require_shape("weights", weights, "n_weightings", len(scores.example))
    require_number("at", at, 0.0, 1.0)
    each = np.take(weights, scores.example, axis=1).astype(np.float64)
    called = sums_from_each_on(np.add.reduceat(each, scores.starts, axis=1), np.float64)
    true = sums_from_each_on(np.add.reduceat(each * scores.is_positive, scores.starts, axis=1), np.float64)
    last = np.maximum((share(called, called[:, :1]) >= at - ROUNDING).sum(axis=1) - 1, 0)
    rows = np.arange(len(called))
    has_both = (true[:, 0] > 0) & (true[:, 0] < called[:, 0])
    if at <= 0.0:
        return np.where(has_both, NOTHING_CALLED, np.nan)
    return np.where(has_both, share(true[rows, last], called[rows, last]), np.nan)
