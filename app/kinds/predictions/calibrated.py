"""The calibrated interval of one metric of one task, by the closed form that the metric has, else from its replicates.

Called by `app.kinds.predictions.measure`; pure. Units are examples, or groups of a ranking.
"""

import numpy as np

from app.kinds.predictions.metric import MeanOf
from app.kinds.predictions.metrics import find_metric
from app.kinds.predictions.task import TaskPredictions
from app.stats.arrays import FloatArray
from app.stats.calibrated import TOO_FEW_UNITS, Calibrated, calibrate
from app.stats.calibrated_areas import replicate_spread
from app.stats.spreads import SHARE, Range, mean_spread


def calibrated_metric(
    name: str, task: TaskPredictions, point: float | None, drawn: FloatArray | None, level: float
) -> Calibrated | None:
    """Return the interval of a metric; None for a name of the reports alone, and where the metric is undefined.

    `drawn` are its replicates [n_resamples], NaN where undefined. What is shown beside a metric has a name like
    `ap:ydf`, the metric being `ap_ydf`.
    """
    metric = find_metric(name) or find_metric(name.replace(":", "_"))
    if metric is None or point is None:
        return None
    if metric.calibrated is not None:
        return metric.calibrated(task, level)
    within = metric.within.holding(point)
    if isinstance(metric.score, MeanOf):
        values = np.asarray(metric.score.values(task), dtype=np.float64)
        return calibrate(mean_spread(values, task.unit_weights), within, level)
    return _from_replicates(task, point, drawn, within, level)


def _from_replicates(
    task: TaskPredictions, point: float, drawn: FloatArray | None, within: Range, level: float
) -> Calibrated:
    n_units = _n_units(task)
    if drawn is None or np.isnan(drawn).all():
        return Calibrated(None, None, None, n_units, TOO_FEW_UNITS)
    return calibrate(replicate_spread(point, drawn, n_units, is_share=within == SHARE), within, level)


def _n_units(task: TaskPredictions) -> float:
    """Return on how many units such a metric rests: of two classes on the smaller one, as weights count them."""
    weights = task.unit_weights
    if task.part.kind == "classification" and len(task.classes) == 2:
        return max(1.0, min(_kish(weights[task.class_number == at]) for at in (0, 1)))
    return max(1.0, _kish(weights))


def _kish(weights: FloatArray) -> float:
    if not weights.any():
        return 0.0
    shares = weights / weights.max()
    return float(shares.sum() ** 2 / (shares**2).sum())
