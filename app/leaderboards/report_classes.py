"""The report of class predictions: curves of each class against the rest, confusion, calibration.

Called by `app.leaderboards.prediction_reports`; pure. A curve with every threshold would show the label of every
example to whoever knows the scores, so steps and bins hold several examples where labels are private.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from app.leaderboards.prediction_task import TaskPredictions
from app.stats.classification import brier_score, class_scores, confusion_matrix, predicted_classes, reliability
from app.stats.closed_intervals import hanley_mcneil, logistic
from app.stats.curves import ThresholdCurve, average_precision, precision_recall_area, roc_area, threshold_curve
from app.table import Cell

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Rows = Sequence[tuple[Cell, ...]]
MIN_CELL = 10
"""Fewest examples in a step of a curve and in a bin, so that none shows a single private label."""
MAX_POINTS = 200
MAX_CURVES = 20
MAX_CONFUSED = 60


def smallest_cell(task: TaskPredictions) -> int:
    """Return how many examples a step or a bin needs; one is enough where the submitter brought the labels."""
    return MIN_CELL if task.part.labels == "private" else 1


def class_rows(task: TaskPredictions, level: float) -> dict[str, Rows]:
    """Return the rows of every kind of report of class predictions."""
    curves = [(name, at, _curve(task, at)) for name, at in _shown_classes(task)]
    confusion = confusion_matrix(
        task.class_number, predicted_classes(task.probabilities), len(task.classes), task.item_weights
    )
    thinned = [(name, curve, _steps(task, at)) for name, at, curve in curves if curve.has_both]
    is_binary = len(task.classes) == 2
    return {
        "classes": [_class_row(task, at, curve, confusion, level) for _, at, curve in curves],
        "roc": [row for each in thinned for row in _points(each, "false_positive_rate", "recall")],
        "pr": [row for each in thinned for row in _points(each, "recall", "precision")],
        "thresholds": [row for each in thinned for row in _points(each, "accuracy", "volume")] if is_binary else [],
        "confusion": list(_confusion_rows(task, confusion)),
        "reliability": [row for name, at in _shown_classes(task) for row in _reliability_rows(task, name, at)],
    }


def _shown_classes(task: TaskPredictions) -> list[tuple[str, int]]:
    """Return the positive class of two; of several the commonest ones, in the manifest's order."""
    if len(task.classes) == 2:
        return [(task.classes[1], 1)]
    common = np.argsort(-np.bincount(task.class_number, minlength=len(task.classes)), kind="stable")[:MAX_CURVES]
    return [(task.classes[at], at) for at in sorted(common.tolist())]


def _curve(task: TaskPredictions, at: int) -> ThresholdCurve:
    return threshold_curve(task.probabilities[:, at], task.class_number == at, task.item_weights)


def _steps(task: TaskPredictions, at: int) -> NDArray[np.intp]:
    """Return the thresholds of a curve that are shown: the first, the last, and some with enough examples between."""
    _, n_each = np.unique(task.probabilities[:, at], return_counts=True)
    passed = np.concatenate([[0], np.cumsum(n_each)])
    least = max(smallest_cell(task), len(task) // MAX_POINTS)
    kept = [0]
    while (reached := passed[kept[-1]] + least) <= passed[-1] - least:
        kept.append(int(np.searchsorted(passed, reached)))
    # The last step holds what is left, which may be up to twice as much.
    kept = [at for at in kept if passed[-1] - passed[at] >= least] or [0]
    return np.array([*kept, len(passed) - 1])


def _points(each: tuple[str, ThresholdCurve, NDArray[np.intp]], x: str, y: str) -> Iterator[tuple[Cell, ...]]:
    name, curve, steps = each
    across, up = getattr(curve, x), getattr(curve, y)
    for at in steps.tolist():
        threshold = float(curve.threshold[at])
        yield (name, threshold if np.isfinite(threshold) else None, float(across[at]), float(up[at]))


def _class_row(
    task: TaskPredictions, at: int, curve: ThresholdCurve, confusion: FloatArray, level: float
) -> tuple[Cell, ...]:
    scores, weights = class_scores(confusion), task.item_weights
    n_positive = float(confusion[at].sum())
    area, pr_area = roc_area(curve), precision_recall_area(curve)
    around = None if area is None else hanley_mcneil(area, n_positive, float(confusion.sum()) - n_positive, level)
    pr_around = None if pr_area is None else logistic(pr_area, n_positive, level)
    is_class = task.class_number == at
    against_rest = np.column_stack([1.0 - task.probabilities[:, at], task.probabilities[:, at]])
    bins = reliability(task.probabilities[:, at], is_class, weights)
    return (
        task.classes[at],
        n_positive,
        *(_known(values[at]) for values in (scores.precision, scores.recall, scores.f1)),
        area,
        *(around or (None, None)),
        pr_area,
        *(pr_around or (None, None)),
        average_precision(curve),
        brier_score(against_rest, is_class.astype(np.int64), weights),
        bins.expected_calibration_error,
    )


def _confusion_rows(task: TaskPredictions, confusion: FloatArray) -> Iterator[tuple[Cell, ...]]:
    if len(task.classes) > MAX_CONFUSED:
        return
    for truth, cells in zip(task.classes, confusion.tolist(), strict=True):
        yield from ((truth, predicted, weight) for predicted, weight in zip(task.classes, cells, strict=True))


def _reliability_rows(task: TaskPredictions, name: str, at: int) -> Iterator[tuple[Cell, ...]]:
    bins = reliability(task.probabilities[:, at], task.class_number == at, task.item_weights)
    enough = bins.n_examples >= smallest_cell(task)
    for predicted, observed, weight, shown in zip(bins.predicted, bins.observed, bins.weight, enough, strict=True):
        yield (name, float(predicted), float(observed) if shown else None, float(weight))


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
