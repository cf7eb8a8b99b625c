"""Metrics of one class against the rest: the same function for two classes, an average over several, and a report.

Called by `classification_metrics`, `constrained` and `report_classification`; pure. Results are [n_weightings], NaN
where undefined; larger is better but for `brier`.
"""

from collections.abc import Callable
from functools import cache

import numpy as np

from app.kinds.predictions.metric_type import Score
from app.kinds.predictions.task import TaskPredictions
from app.kinds.predictions.weighted import UnitValues, Weighted
from app.stats.arrays import FloatArray, share

OfClass = Callable[[Weighted, int], FloatArray]


def auc(weighted: Weighted, at: int) -> FloatArray:
    """Return the area under the ROC curve of one class."""
    return weighted.areas(at).roc


def pr_auc(weighted: Weighted, at: int) -> FloatArray:
    """Return the area under precision by recall of one class, in which ties gain nothing."""
    return weighted.precision_recall(at)


def pr_auc_ydf(weighted: Weighted, at: int) -> FloatArray:
    """Return the area under precision by recall of one class as YDF takes it, with a straight line across each tie."""
    return weighted.areas(at).precision_recall


def ap(weighted: Weighted, at: int) -> FloatArray:
    """Return the average precision of one class, with the precision after each gain: ties count as one step."""
    return weighted.areas(at).average_precision_after


def ap_ydf(weighted: Weighted, at: int) -> FloatArray:
    """Return the average precision of one class as YDF takes it, with the precision before each gain."""
    return weighted.areas(at).average_precision


def best_accuracy(weighted: Weighted, at: int) -> FloatArray:
    """Return the largest accuracy at any threshold, including the one that predicts nothing positive."""
    areas = weighted.areas(at)
    return share(areas.most_right, areas.total)


def precision_or_zero(weighted: Weighted, at: int) -> FloatArray:
    """Return the precision of one class, zero where it occurs but is never predicted, which must not pay."""
    counts = weighted.counts
    never_called = (counts.called[:, at] <= 0) & (counts.actual[:, at] > 0)
    return np.where(never_called, 0.0, precision(weighted, at))


def recall_or_zero(weighted: Weighted, at: int) -> FloatArray:
    """Return the recall of one class, zero where it is predicted but does not occur, as in scikit-learn."""
    counts = weighted.counts
    without_examples = (counts.actual[:, at] <= 0) & (counts.called[:, at] > 0)
    return np.where(without_examples, 0.0, recall(weighted, at))


def precision(weighted: Weighted, at: int) -> FloatArray:
    """Return the share of the examples predicted as a class that belong to it."""
    return share(weighted.counts.right[:, at], weighted.counts.called[:, at])


def recall(weighted: Weighted, at: int) -> FloatArray:
    """Return the share of the examples of a class that are predicted as it."""
    return share(weighted.counts.right[:, at], weighted.counts.actual[:, at])


def f1(weighted: Weighted, at: int) -> FloatArray:
    """Return the harmonic mean of precision and recall of one class."""
    counts = weighted.counts
    return share(2 * counts.right[:, at], counts.called[:, at] + counts.actual[:, at])


def brier(weighted: Weighted, at: int) -> FloatArray:
    """Return the mean squared distance of the probability of one class from the truth; smaller is better."""
    return weighted.mean(_squared_distance(at))


@cache
def _squared_distance(at: int) -> UnitValues:
    """Return the same function for a class each time, by which a mean that is known is found."""

    def squared(task: TaskPredictions) -> FloatArray:
        distance: FloatArray = (task.probabilities[:, at] - (task.class_number == at)) ** 2
        return distance

    return squared


def over_classes(of: OfClass) -> Score:
    """Return the mean over the classes of which the metric is defined, NaN where it is of none."""

    def score(weighted: Weighted) -> FloatArray:
        values = np.column_stack([of(weighted, at) for at in range(weighted.n_classes)])
        known = ~np.isnan(values)
        return share(np.where(known, values, 0.0).sum(axis=1), known.sum(axis=1).astype(np.float64))

    return score
