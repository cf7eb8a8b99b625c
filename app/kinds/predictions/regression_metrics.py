"""The metrics of predicted values. Read by `app.kinds.predictions.metrics`."""

from collections.abc import Iterator

import numpy as np

from app.kinds.predictions.metric_type import Closed, PredictionMetric, mean_of
from app.kinds.predictions.task import TaskPredictions
from app.kinds.predictions.weighted import Weighted
from app.stats.arrays import FloatArray, share
from app.stats.calibrated import Calibrated
from app.stats.calibrated_areas import calibrated_root_mean_square
from app.stats.closed_intervals import chi_squared
from app.stats.regression import default_rmse
from app.stats.spreads import Range
from app.values.glossary_entry import Entry


def squared_error(task: TaskPredictions) -> FloatArray:
    """Return the squared residual of each example."""
    return (task.predicted - task.label) ** 2


def _absolute_error(task: TaskPredictions) -> FloatArray:
    return np.abs(task.predicted - task.label)


def _deviation(task: TaskPredictions) -> FloatArray:
    return task.label - float(np.average(task.label, weights=task.item_weights))


def _squared_deviation(task: TaskPredictions) -> FloatArray:
    return _deviation(task) ** 2


def _rmse(weighted: Weighted) -> FloatArray:
    return np.sqrt(weighted.mean(squared_error))


def _r2(weighted: Weighted) -> FloatArray:
    spread = weighted.mean(_squared_deviation) - weighted.mean(_deviation) ** 2
    return 1.0 - share(weighted.mean(squared_error), spread)


def _default_rmse(task: TaskPredictions) -> float | None:
    return default_rmse(task.label, task.item_weights)


def _around_rmse(task: TaskPredictions, point: float, level: float) -> Iterator[Closed]:
    yield Closed("X2", "χ², residuals taken for normal", level, chi_squared(point, len(task), level))


def _calibrated_rmse(task: TaskPredictions, level: float) -> Calibrated:
    return calibrated_root_mean_square(squared_error(task), task.item_weights, level)


VALUE_METRICS = (
    PredictionMetric(
        name="rmse",
        tasks=frozenset({"regression"}),
        direction="minimize",
        score=_rmse,
        words="RMSE",
        default=_default_rmse,
        closed=_around_rmse,
        within=Range(low=0.0),
        calibrated=_calibrated_rmse,
        entry=Entry(
            "rmse",
            "RMSE",
            "The root of the mean squared error, in the unit of what is predicted; lower is better. Large errors count "
            "more than in proportion.",
            "√(mean of (truth − prediction)²)",
        ),
    ),
    PredictionMetric(
        name="mae",
        tasks=frozenset({"regression"}),
        direction="minimize",
        within=Range(low=0.0),
        score=mean_of(_absolute_error),
        words="MAE",
        entry=Entry(
            "mae",
            "MAE",
            "The mean size of the errors, in the unit of what is predicted; lower is better. Every unit of error "
            "counts alike, so it is moved less by a few large ones than the RMSE.",
            "mean of |truth − prediction|",
        ),
    ),
    PredictionMetric(
        name="r2",
        tasks=frozenset({"regression"}),
        direction="maximize",
        within=Range(high=1.0),
        score=_r2,
        words="R²",
        entry=Entry(
            "r2",
            "R²",
            "The share of the variation of the truth that the predictions explain; higher is better. 0 is as good as "
            "always predicting the mean, below 0 is worse. Where all labels are equal there is none.",
            "1 − Σ (truth − prediction)² / Σ (truth − mean)²",
        ),
    ),
)
