"""The calibrated interval of a metric of one task, by the closed form that it has, else from its replicates, and of its
average over several.

Called by `app.kinds.predictions.measure`; pure. Units are examples, or groups of a ranking.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.boards.measured import Estimate
from app.kinds.predictions.metric_type import MeanOf, PredictionMetric
from app.kinds.predictions.metrics import find_metric
from app.kinds.predictions.task import TaskPredictions
from app.stats.arrays import FloatArray
from app.stats.averaged_spreads import averaged_spread, side_by_side
from app.stats.calibrated import TOO_FEW_UNITS, Calibrated, calibrate, over_parts
from app.stats.calibrated_areas import replicate_spread
from app.stats.closed_intervals import effective_number
from app.stats.spreads import SHARE, Range, Spread, mean_spread


@dataclass(frozen=True)
class Spreading:
    """The spread of a metric of one task, and the range of the metric."""

    spread: Spread
    within: Range


def spreading_of(name: str, task: TaskPredictions, point: float | None, drawn: FloatArray | None) -> Spreading | None:
    """Return the spread of a metric; None for a name of the reports alone, of what is undefined or has no replicates,
    and for a metric whose interval is not made of its spread.

    `drawn` are its replicates [n_resamples], NaN where undefined. What is shown beside a metric has a name like
    `ap:ydf`, the metric being `ap_ydf`.
    """
    metric = _metric(name)
    if metric is None or point is None or metric.calibrated is not None:
        return None
    within = metric.within.holding(point)
    if metric.spread is not None:
        spread = metric.spread(task)
        return None if spread is None else Spreading(spread, within)
    if isinstance(metric.score, MeanOf):
        values = np.asarray(metric.score.values(task), dtype=np.float64)
        return Spreading(mean_spread(values, task.unit_weights), within)
    if drawn is None or np.isnan(drawn).all():
        return None
    return Spreading(replicate_spread(point, drawn, _n_units(task), is_share=within == SHARE), within)


def calibrated_metric(
    name: str, task: TaskPredictions, point: float | None, spreading: Spreading | None, level: float
) -> Calibrated | None:
    """Return the interval of a metric; None for a name of the reports alone, and where the metric is undefined."""
    metric = _metric(name)
    if metric is None or point is None:
        return None
    if metric.calibrated is not None:
        return metric.calibrated(task, level)
    if spreading is not None:
        return calibrate(spreading.spread, spreading.within, level)
    return None if metric.spread is not None else Calibrated(None, None, None, _n_units(task), TOO_FEW_UNITS)


def calibrated_average(
    estimates: Sequence[Estimate], spreadings: Sequence[Spreading | None], weights: FloatArray, level: float
) -> Calibrated | None:
    """Return the interval of Σ weight × metric over tasks; None where a task's metric has none to be looked for.

    If all metrics have spreads, these are averaged: near an end of the range single-task intervals are asymmetric, and
    averaging their ends would keep that for an average of many.
    Source: `bench.interval_coverage`.
    """
    parts = [each.calibrated for each in estimates if each.calibrated is not None]
    known = [each for each in spreadings if each is not None]
    if len(parts) < len(estimates):
        return None
    if len(known) < len(spreadings) or any(part.low is None for part in parts):
        return over_parts(np.array([each.point for each in estimates], dtype=np.float64), parts, weights)
    within = Range(min(each.within.low for each in known), max(each.within.high for each in known))
    return calibrate(averaged_spread(side_by_side([each.spread for each in known]), weights), within, level)


def _metric(name: str) -> PredictionMetric | None:
    return find_metric(name) or find_metric(name.replace(":", "_"))


def _n_units(task: TaskPredictions) -> float:
    """Return the effective number of units of such a metric: of two classes, that of the smaller one."""
    weights = task.unit_weights
    if task.part.kind == "classification" and len(task.classes) == 2:
        return max(1.0, min(effective_number(weights[task.class_number == at]) for at in (0, 1)))
    return max(1.0, effective_number(weights))
