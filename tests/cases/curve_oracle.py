"""Metrics at a constraint by their definition, one curve at a time: what the product's are compared with."""

import numpy as np

from app.stats.curves import ThresholdCurve


def metric_at(curve: ThresholdCurve, metric: str, given: str, at: float) -> tuple[float, float] | None:
    """Return a metric and its threshold where another one meets a constraint; None where no threshold does.

    Conservative and without interpolation, along ascending thresholds: the last point whose recall (or volume) is at
    least the constraint, the first whose precision is, the first whose false positive rate is at most it.
    """
    values = getattr(curve, given)
    meets = values <= at if given == "false_positive_rate" else values >= at
    result = np.flatnonzero(meets)
    if not curve.has_both or not len(result):
        return None
    place = int(result[-1] if given in ("recall", "volume") else result[0])
    return float(getattr(curve, metric)[place]), float(curve.threshold[place])


def roc_area(curve: ThresholdCurve) -> float | None:
    """Return the area under the ROC curve by the trapezoidal rule, without its convex hull; None with one class only.

    It is the probability that a positive scores above a negative, ties counting half; larger is better.
    Source: Hanley & McNeil 1982, for the probability; Fawcett 2006, algorithm 2, for the trapezoids.

    >>> roc_area(threshold_curve(np.array([0.1, 0.5, 0.5, 0.9]), np.array([False, False, True, True])))
    0.875
    """
    if not curve.has_both:
        return None
    return float(-np.trapezoid(curve.recall, curve.false_positive_rate))


def precision_recall_area(curve: ThresholdCurve) -> float | None:
    """Return the area under precision by recall by the lower trapezoidal rule; None with one class only.

    Larger is better.
    Source: Boyd, Eng & Page 2013, Area under the precision-recall curve: the lower trapezoid estimator.

    >>> precision_recall_area(threshold_curve(np.array([0.1, 0.5, 0.7]), np.array([True, False, True])))
    0.7916666666666666
    """
    if not curve.has_both:
        return None
    return float(-np.trapezoid(curve.precision, curve.recall))


def average_precision(curve: ThresholdCurve) -> float | None:
    """Return Σ (gain in recall) × precision, with the precision before the gain, as YDF takes it; None with one class.

    scikit-learn takes the precision after it, which is never larger on average. Larger is better.
    Source: YDF 0.16, its rule of AP; `sklearn.metrics.average_precision_score` for the other one.

    >>> average_precision(threshold_curve(np.array([0.1, 0.5, 0.7]), np.array([True, False, True])))
    0.75
    """
    if not curve.has_both:
        return None
    gained = -np.diff(curve.recall)
    return float(np.sum(gained * curve.precision[1:]))
