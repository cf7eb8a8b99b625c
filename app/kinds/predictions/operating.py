"""Operating points of a classifier: the thresholds that a manifest declares, and those of its metrics at a constraint.

Called by `.report_classification`; pure. Where labels are private a point is at one of the thresholds
that the curve shows, and is chosen by the published shares: which threshold just meets a constraint would tell more.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.kinds.predictions.constrained import Constraint, constraint_of
from app.kinds.predictions.steps import in_steps, share_step
from app.kinds.predictions.task import TaskPredictions
from app.stats.arrays import FloatArray
from app.stats.curves import ThresholdCurve
from app.stats.operating import place_of, place_where
from app.values.table import Cell


@dataclass(frozen=True)
class ShownCurve:
    """The curve of one class against the rest, and the places on it that are shown."""

    name: str
    curve: ThresholdCurve
    steps: NDArray[np.intp]


def operating_rows(task: TaskPredictions, shown: ShownCurve, metrics: Iterable[str]) -> Iterator[tuple[Cell, ...]]:
    """Yield the class, the point's name, its threshold and the shares there, for each threshold and constraint."""
    for threshold in task.part.thresholds:
        yield _row(shown, f"score ≥ {threshold:g}", _place_of(task, shown, threshold))
    for metric in metrics:
        constraint = constraint_of(metric)
        if constraint is not None:
            yield _row(shown, metric.removesuffix("_macro"), _place_where(task, shown, constraint))


def _place_of(task: TaskPredictions, shown: ShownCurve, threshold: float) -> int:
    if task.part.labels != "private":
        return place_of(shown.curve.threshold, threshold)
    return int(shown.steps[np.abs(shown.curve.threshold[shown.steps] - threshold).argmin()])


def _place_where(task: TaskPredictions, shown: ShownCurve, wanted: Constraint) -> int | None:
    values = _shares(shown.curve)[wanted.given]
    if task.part.labels != "private":
        return place_where(wanted.given, values, wanted.at)
    step = share_step(len(task))
    published = np.array([in_steps(value, step) for value in values[shown.steps].tolist()])
    place = place_where(wanted.given, published, wanted.at)
    return None if place is None else int(shown.steps[place])


def _row(shown: ShownCurve, point: str, place: int | None) -> tuple[Cell, ...]:
    if place is None:
        return (shown.name, point, *[None] * 6)
    threshold = float(shown.curve.threshold[place])
    shares = _shares(shown.curve)
    values = (float(shares[name][place]) for name in ("recall", "precision", "fpr", "accuracy", "volume"))
    return (shown.name, point, threshold if np.isfinite(threshold) else None, *values)


def _shares(curve: ThresholdCurve) -> dict[str, FloatArray]:
    return {
        "recall": curve.recall,
        "precision": curve.precision,
        "fpr": curve.false_positive_rate,
        "accuracy": curve.accuracy,
        "volume": curve.volume,
    }
