"""Threshold curves of a binary classifier: ROC, precision and recall, and their areas.

Called when predictions are measured; pure. Positive means that the score is above the threshold. Scores are
[n_examples], `is_positive` says which label each has, `weights` count examples; everything is in float64. With only one
class there is no area: None.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.stats.arrays import BoolArray, FloatArray, share
from app.stats.checks import require_finite, require_shape, require_weights


@dataclass(frozen=True)
class ThresholdCurve:
    """Counts at ascending thresholds, each [n_thresholds]: the first predicts all positive, the last none."""

    threshold: FloatArray
    true_positive: FloatArray
    false_positive: FloatArray
    true_negative: FloatArray
    false_negative: FloatArray

    @property
    def recall(self) -> FloatArray:
        """Return the share of positives predicted positive; NaN without a positive."""
        return share(self.true_positive, self.true_positive + self.false_negative)

    @property
    def false_positive_rate(self) -> FloatArray:
        """Return the share of negatives predicted positive; NaN without a negative."""
        return share(self.false_positive, self.false_positive + self.true_negative)

    @property
    def precision(self) -> FloatArray:
        """Return the share of predicted positives that are positive; 1 where nothing is predicted positive."""
        called = self.true_positive + self.false_positive
        return np.where(called > 0, share(self.true_positive, called), 1.0)

    @property
    def volume(self) -> FloatArray:
        """Return the share of examples predicted positive."""
        called = self.true_positive + self.false_positive
        return share(called, called + self.true_negative + self.false_negative)

    @property
    def accuracy(self) -> FloatArray:
        """Return the share of examples predicted correctly."""
        right = self.true_positive + self.true_negative
        return share(right, right + self.false_positive + self.false_negative)

    @property
    def has_both(self) -> bool:
        """Say whether there are positives and negatives: without both there is no curve."""
        positives = self.true_positive[0] + self.false_negative[0]
        return bool(positives > 0 and self.false_positive[0] + self.true_negative[0] > 0)


def threshold_curve(scores: FloatArray, is_positive: BoolArray, weights: FloatArray | None = None) -> ThresholdCurve:
    """Return the counts at each distinct score, and below all of them.

    `scores`, `is_positive` and `weights` are [n_examples]; without weights every example counts one. Without examples
    there is only the threshold −∞, and no area.
    Raises InvalidArgument for a score that is not finite, arrays of different lengths, and a negative weight.
    Source: Fawcett 2006, An introduction to ROC analysis, algorithm 1, without interpolation.

    >>> curve = threshold_curve(np.array([0.2, 0.7]), np.array([False, True]))
    >>> (curve.threshold.tolist(), curve.true_positive.tolist(), curve.false_positive.tolist())
    ([-inf, 0.2, 0.7], [1.0, 1.0, 0.0], [1.0, 0.0, 0.0])
    """
    require_shape("scores", scores, "n_examples")
    require_finite("scores", scores)
    require_shape("is_positive", is_positive, len(scores))
    weights = np.ones(len(scores)) if weights is None else weights
    require_shape("weights", weights, len(scores))
    require_weights("weights", weights)
    distinct, place = np.unique(scores, return_inverse=True)
    positive = np.bincount(place, weights * is_positive, minlength=len(distinct))
    negative = np.bincount(place, weights * ~is_positive, minlength=len(distinct))
    return ThresholdCurve(
        threshold=np.concatenate([[-np.inf], distinct]),
        true_positive=_called(positive),
        false_positive=_called(negative),
        true_negative=np.concatenate([[0.0], np.cumsum(negative)]),
        false_negative=np.concatenate([[0.0], np.cumsum(positive)]),
    )


def _called(weights: NDArray[Any]) -> FloatArray:
    """Return the weight above each threshold, summed from the top, so that above the highest it is exactly zero."""
    return np.concatenate([np.cumsum(weights[::-1])[::-1], [0.0]])
