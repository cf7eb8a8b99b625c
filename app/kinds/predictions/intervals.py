"""Every interval of one entrant's metrics on one task, each with the tag that the glossary gives its method.

Called by `app.kinds.predictions.measure`; pure.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from app.boards.measured import Estimate
from app.kinds.predictions.scores import unit_weights
from app.kinds.predictions.task import TaskPredictions
from app.stats.classification import constant_predictor
from app.stats.closed_intervals import (
    YDF_LABEL,
    Interval,
    chi_squared,
    clopper_pearson_ydf,
    hanley_mcneil,
    logistic,
    wilson,
)
from app.stats.regression import default_rmse
from app.values.table import Cell, Column

YDF_LEVEL = 0.9
COLUMNS = (
    Column("entrant", "Entrant", "text"),
    Column("task", "Task", "text"),
    Column("metric", "Metric", "text", glossary="estimate"),
    Column("value", "Value", interval=("value_lower", "value_upper"), glossary="estimate", digits=4),
    Column("value_lower", "Value, low", detail=True, digits=4),
    Column("value_upper", "Value, high", detail=True, digits=4),
    Column("interval", "Tag", "text", glossary="interval_tags"),
    Column("how", "Interval", "text", glossary="interval_tags"),
    Column("level", "Level", digits=2),
    Column("default", "Constant predictor", optional=True, glossary="default_metrics", digits=4),
    Column("n_units", "Units", "integer", glossary="counts"),
    Column("note", "Note", "text", optional=True),
)


def interval_rows(task: TaskPredictions, level: float, estimates: Mapping[str, Estimate]) -> Iterator[tuple[Cell, ...]]:
    """Yield a row for each metric and interval, the bootstrap first; `n_units` are examples, or groups of a ranking."""
    n_units = len(unit_weights(task))
    unit = "groups" if task.part.kind == "ranking" else "examples"
    for metric, each in estimates.items():
        default = _default(task, metric)
        note = None if each.reason is None else each.reason.replace("_", " ")
        how = f"percentile bootstrap over {unit}"
        yield (task.task, metric, each.point, each.low, each.high, "B", how, level, default, n_units, note)
        if each.point is None:
            continue
        for tag, how, of, ends in _closed(task, metric, each.point, level):
            low, high = ends or (None, None)
            note = None if ends is not None else "undefined at this value"
            yield (task.task, metric, each.point, low, high, tag, how, of, default, n_units, note)


def _closed(
    task: TaskPredictions, metric: str, point: float, level: float
) -> Iterator[tuple[str, str, float, Interval]]:
    """Yield (tag, name, level, interval) of every closed form that a metric has; weights count examples."""
    total = float(task.item_weights.sum())
    if metric == "accuracy":
        yield "W", "Wilson score", level, wilson(point * total, total, level)
        yield "acc_ci_ydf", YDF_LABEL, YDF_LEVEL, clopper_pearson_ydf(point * total, total)
    if metric in ("auc", "pr_auc"):
        n_positive = float(task.item_weights[task.class_number == 1].sum())
        if metric == "auc":
            yield "H", "Hanley–McNeil", level, hanley_mcneil(point, n_positive, total - n_positive, level)
        else:
            yield "L", "logistic", level, logistic(point, n_positive, level)
    if metric == "rmse":
        yield "X2", "χ², residuals taken for normal", level, chi_squared(point, len(task), level)


def _default(task: TaskPredictions, metric: str) -> float | None:
    """Return what always predicting the same reaches; None for metrics without such a number."""
    if metric in ("accuracy", "logloss"):
        constant = constant_predictor(task.class_number, len(task.classes), task.item_weights)
        return None if constant is None else constant.accuracy if metric == "accuracy" else constant.log_loss
    if metric == "rmse":
        return default_rmse(task.label, task.item_weights)
    if metric == "ndcg":
        default = task.ranked.scores(task.part.truncation).default_ndcg
        return float(np.average(default, weights=unit_weights(task)))
    return None
