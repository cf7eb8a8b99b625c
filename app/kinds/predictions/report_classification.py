"""The report of class predictions: curves of each class against the rest, confusion, calibration.

Called by `app.kinds.predictions.reports`; pure. A curve with every threshold would show the label of every example to
whoever knows the scores, so steps, bins and predicted classes each hold several examples where labels are private.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from app.boards.measured import Estimate
from app.kinds.predictions.bands import Band, Bands, Resamples, curve_bands
from app.kinds.predictions.curve_metrics import around_auc, effective_counts
from app.kinds.predictions.one_class import OfClass, ap, ap_ydf, auc, brier, f1, pr_auc, pr_auc_ydf, precision, recall
from app.kinds.predictions.operating import ShownCurve, operating_rows
from app.kinds.predictions.scores import AREAS, area_of_class
from app.kinds.predictions.task import TaskPredictions
from app.kinds.predictions.weighted import Prepared, Weighted
from app.stats.arrays import FloatArray, IntArray
from app.stats.classification import confusion_matrix, predicted_classes, reliability
from app.stats.closed_intervals import logistic
from app.stats.curves import ThresholdCurve, threshold_curve
from app.values.table import Cell

Rows = Sequence[tuple[Cell, ...]]
MIN_CELL = 10
"""Fewest examples in a step of a curve, in a bin, and called one class, so that none shows a single private label."""
MAX_POINTS = 200
N_BINS = 10
MAX_CURVES = 60
MAX_CONFUSED = 60
MAX_BANDS = 10
"""Most curves of a task that have bands: more of them would be illegible."""
MAX_NAMED = 3


def smallest_cell(task: TaskPredictions) -> int:
    """Return how many examples a step or a bin needs; one is enough where the submitter brought the labels."""
    return MIN_CELL if task.part.labels == "private" else 1


def class_rows(
    task: TaskPredictions, level: float, estimates: Mapping[str, Estimate], resamples: Resamples | None = None
) -> dict[str, Rows]:
    """Return the rows of each table of the report of class predictions; `estimates` are those of `class_areas` too."""
    curves = [(name, at, _curve(task, at)) for name, at in _shown_classes(task)]
    weighted = Weighted(Prepared(task), task.item_weights[None, :])
    called = predicted_classes(task.probabilities)
    confusion = confusion_matrix(task.class_number, called, len(task.classes), task.item_weights)
    n_called = np.bincount(called, task.item_weights > 0, minlength=len(task.classes)).astype(np.int64)
    thinned = [(at, ShownCurve(name, curve, _steps(task, at))) for name, at, curve in curves if curve.has_both]
    banded = resamples if len(thinned) <= MAX_BANDS else None
    bands = [_bands(task, at, shown, level, banded) for at, shown in thinned]
    return {
        "classes": [
            (*_class_row(task, at, weighted, confusion, n_called, level), *_resampled(at, estimates))
            for _, at, _ in curves
        ],
        "roc": [
            row
            for (_, shown), band in zip(thinned, bands, strict=True)
            for row in _points(shown, "false_positive_rate", "recall", band.roc)
        ],
        "pr": [
            row
            for (_, shown), band in zip(thinned, bands, strict=True)
            for row in _points(shown, "recall", "precision", band.pr)
        ],
        "operating": [row for _, shown in thinned for row in operating_rows(task, shown, estimates)],
        "thresholds": [row for _, shown in thinned for row in _points(shown, "accuracy", "volume")],
        "confusion": list(_confusion_rows(task, confusion, n_called)),
        "reliability": [row for name, at in _shown_classes(task) for row in _reliability_rows(task, name, at)],
    }


def class_areas(task: TaskPredictions) -> tuple[str, ...]:
    """Return the areas of each shown class, which a report estimates from the resamples of the board."""
    return tuple(area_of_class(area, at) for _, at in _shown_classes(task) for area in AREAS)


def _resampled(at: int, estimates: Mapping[str, Estimate]) -> Iterator[Cell]:
    for area in AREAS:
        estimate = estimates.get(area_of_class(area, at), Estimate(None))
        yield from (estimate.low, estimate.high)


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


def _bands(task: TaskPredictions, at: int, shown: ShownCurve, level: float, resamples: Resamples | None) -> Bands:
    curve, steps = shown.curve, shown.steps
    return curve_bands(task, at, curve.false_positive_rate[steps], curve.recall[steps], level, resamples)


def _points(shown: ShownCurve, x: str, y: str, band: Band | None = None) -> Iterator[tuple[Cell, ...]]:
    across, up = getattr(shown.curve, x), getattr(shown.curve, y)
    for number, at in enumerate(shown.steps.tolist()):
        threshold = float(shown.curve.threshold[at])
        ends = () if band is None else (_known(band.low[number]), _known(band.high[number]))
        yield (shown.name, threshold if np.isfinite(threshold) else None, float(across[at]), float(up[at]), *ends)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _class_row(
    task: TaskPredictions, at: int, weighted: Weighted, confusion: FloatArray, n_called: IntArray, level: float
) -> tuple[Cell, ...]:
    n_positive = float(confusion[at].sum())
    is_known = not _is_few(int(n_called[at]), task) and not _is_few(int(n_called.sum() - n_called[at]), task)
    area, pr_area = (_value(of, weighted, at) for of in (auc, pr_auc))
    counts = effective_counts(task, at)
    around = None if area is None else around_auc(area, counts, level)
    pr_around = None if pr_area is None else logistic(pr_area, counts[0], level)
    is_class = task.class_number == at
    bins = reliability(task.probabilities[:, at], is_class, task.item_weights)
    return (
        task.classes[at],
        None if task.weights is not None and _is_few(is_class.sum(), task) else n_positive,
        *(_value(of, weighted, at) if is_known else None for of in (precision, recall, f1)),
        area,
        *(around or (None, None)),
        pr_area,
        *(pr_around or (None, None)),
        *(_value(of, weighted, at) for of in (pr_auc_ydf, ap, ap_ydf, brier)),
        bins.expected_calibration_error,
    )


def _value(of: OfClass, weighted: Weighted, at: int) -> float | None:
    """Return the same number as a board has; None where it is undefined."""
    return _known(float(of(weighted, at)[0]))


def _is_few(n_examples: int, task: TaskPredictions) -> bool:
    return 0 < n_examples < smallest_cell(task)


def _confusion_rows(task: TaskPredictions, confusion: FloatArray, n_called: IntArray) -> Iterator[tuple[Cell, ...]]:
    if len(task.classes) > MAX_CONFUSED:
        return
    pools = _pooled(task, n_called)
    for truth, cells in zip(task.classes, confusion, strict=True):
        yield from ((truth, _together(task, pool), float(cells[pool].sum())) for pool in pools)


def _pooled(task: TaskPredictions, n_called: IntArray) -> list[list[int]]:
    """Return the predicted classes, with rarely predicted ones pooled into one.

    The totals of the true classes are known, so blank cells could be computed again. The pool takes in the next
    rarer classes until it is large enough.
    """
    rarest = [at for at in np.argsort(n_called, kind="stable").tolist() if n_called[at] > 0]
    n_pooled = sum(_is_few(n_called[at], task) for at in rarest)
    while 0 < n_pooled < len(rarest) and _is_few(int(n_called[rarest[:n_pooled]].sum()), task):
        n_pooled += 1
    pool = rarest[:n_pooled]
    alone = [[at] for at in range(len(n_called)) if at not in pool]
    return [*alone, sorted(pool)] if pool else alone


def _together(task: TaskPredictions, pool: list[int]) -> str:
    return " + ".join(task.classes[at] for at in pool) if len(pool) <= MAX_NAMED else f"{len(pool)} classes together"


def _reliability_rows(task: TaskPredictions, name: str, at: int) -> Iterator[tuple[Cell, ...]]:
    bins = reliability(task.probabilities[:, at], task.class_number == at, task.item_weights, N_BINS)
    filled = {min(int(plain * N_BINS), N_BINS - 1): at for at, plain in enumerate(bins.plain.tolist())}
    for number in range(N_BINS):
        if number not in filled:
            yield (name, (number + 0.5) / N_BINS, None, 0)
            continue
        at, n_examples = filled[number], int(bins.n_examples[filled[number]])
        # A mean under private weights would show them where there are few.
        few = _is_few(n_examples, task)
        predicted, observed = (bins.plain[at], None) if few else (bins.predicted[at], float(bins.observed[at]))
        yield (name, float(predicted), observed, n_examples)
