"""The metrics of class predictions that look at every threshold. Read by `app.kinds.predictions.metrics`."""

from collections.abc import Iterator

import numpy as np

from app.kinds.predictions.against_rest import against_rest, positive
from app.kinds.predictions.glossary import YDF, YDF_RULE
from app.kinds.predictions.metric_type import Closed, PredictionMetric, Score
from app.kinds.predictions.one_class import OfClass, ap, ap_ydf, auc, best_accuracy, pr_auc, pr_auc_ydf
from app.kinds.predictions.task import TaskPredictions
from app.kinds.predictions.weighted import POOLED
from app.stats.calibrated_areas import area_spread
from app.stats.closed_intervals import Interval, effective_number, hanley_mcneil, logistic
from app.stats.spreads import SHARE, Spread
from app.values.glossary_entry import Entry

CHANCE = 0.5


def _pooled(of: OfClass) -> Score:
    return lambda weighted: of(weighted, POOLED)


def _share_of_positives(task: TaskPredictions) -> float | None:
    is_positive, weights = task.class_number == 1, task.item_weights
    total = float(weights.sum())
    rate = float(weights[is_positive].sum()) / total if total > 0 else 0.0
    return rate if 0.0 < rate < 1.0 else None


def _half(task: TaskPredictions) -> float | None:
    return None if _share_of_positives(task) is None else CHANCE


def _best_constant(task: TaskPredictions) -> float | None:
    rate = _share_of_positives(task)
    return None if rate is None else max(rate, 1.0 - rate)


def around_auc(point: float, weights: tuple[float, float], level: float) -> Interval:
    """Return Hanley and McNeil's interval for effective numbers of positives and negatives, within [0, 1]."""
    ends = hanley_mcneil(point, *weights, level)
    return None if ends is None else (max(0.0, ends[0]), min(1.0, ends[1]))


def effective_counts(task: TaskPredictions, at: int = 1) -> tuple[float, float]:
    """Return how many examples of equal weight the positives of a class, and the others, tell as much as."""
    is_class = task.class_number == at
    return effective_number(task.item_weights[is_class]), effective_number(task.item_weights[~is_class])


def _around_auc(task: TaskPredictions, point: float, level: float) -> Iterator[Closed]:
    yield Closed("H", "Hanley–McNeil", level, around_auc(point, effective_counts(task), level))
    if task.weights is not None:
        n_positive = float(task.weights[task.class_number == 1].sum())
        counts = (n_positive, float(task.weights.sum()) - n_positive)
        yield Closed("H_ydf", "Hanley–McNeil, weights taken for counts", level, around_auc(point, counts, level))


def _spread_of_auc(task: TaskPredictions) -> Spread | None:
    is_positive = task.class_number == 1
    if not (task.item_weights[is_positive].sum() > 0 and task.item_weights[~is_positive].sum() > 0):
        return None
    return area_spread(task.probabilities[:, 1], is_positive, task.item_weights, task.by_fall(1))


def _around_pr_auc(task: TaskPredictions, point: float, level: float) -> Iterator[Closed]:
    yield Closed("L", "logistic", level, logistic(point, effective_counts(task)[0], level))
    if task.weights is not None:
        n_positive = float(np.floor(task.weights[task.class_number == 1].sum()))
        yield Closed("L_ydf", "logistic, weights taken for counts", level, logistic(point, n_positive, level))


CURVE_METRICS = (
    *against_rest(
        name="auc",
        of=auc,
        pooled=_pooled(auc),
        words="AUC",
        default=_half,
        closed=_around_auc,
        spread=_spread_of_auc,
        entry=Entry(
            "auc",
            "AUC",
            "The probability that a random positive example is scored above a random negative one, half for ties; "
            "higher is better. 0.5 is what chance gives, 1 is perfect order. It looks at the order of the scores "
            "alone, so it does not say whether the probabilities are right. With one class only there is none.",
            "area under the ROC curve by the trapezoidal rule, without its convex hull",
            "Hanley & McNeil 1982, The meaning and use of the area under a ROC curve",
        ),
    ),
    *against_rest(
        name="pr_auc",
        of=pr_auc,
        pooled=_pooled(pr_auc),
        words="PR-AUC",
        beside=("ydf",),
        default=_share_of_positives,
        closed=_around_pr_auc,
        entry=Entry(
            "pr_auc",
            "PR-AUC",
            "The area under precision by recall; higher is better. What chance gives is not one half but the share of "
            "positives, so values compare within one set of labels only. Unlike the AUC it is not moved by easy "
            "negatives, which is why it is read where positives are rare. Where positives and negatives share a score, "
            "precision between the two ends of the tie is what a random order of them gives, so that few scores gain "
            "nothing; YDF draws a straight line there, and its value is beside it.",
            "Σ (recallᵢ − recallᵢ₊₁) × (precisionᵢ + precisionᵢ₊₁) / 2, the lower trapezoidal rule; ties: the area "
            "under (t + x) / (t + f + x (1 + m / g))",
            "Boyd, Eng & Page 2013, Area under the precision-recall curve, section 4; Davis & Goadrich 2006",
        ),
    ),
    *against_rest(
        name="pr_auc",
        of=pr_auc_ydf,
        pooled=_pooled(pr_auc_ydf),
        suffix="_ydf",
        words="PR-AUC by YDF's rule",
        entry=YDF_RULE,
        closed=_around_pr_auc,
    ),
    *against_rest(
        name="ap",
        of=ap,
        pooled=_pooled(ap),
        words="AP",
        beside=("ydf",),
        default=_share_of_positives,
        entry=Entry(
            "ap",
            "AP, average precision",
            "Precision averaged over the gains in recall, in steps and without drawing lines between them; higher is "
            "better. The precision of a step is the one after the gain, and examples with the same score are one step, "
            "so a constant prediction gets the share of positives. It is scikit-learn's rule; YDF's is beside it.",
            "Σ (gain in recall) × (precision after the gain)",
            "Zhu 2004, Recall, precision and average precision",
        ),
    ),
    *against_rest(
        name="ap", of=ap_ydf, pooled=_pooled(ap_ydf), suffix="_ydf", words="AP by YDF's rule", entry=YDF_RULE
    ),
    PredictionMetric(
        name="accuracy_best_threshold",
        tasks=frozenset({"binary"}),
        direction="maximize",
        within=SHARE,
        score=positive(best_accuracy),
        words="accuracy at the best threshold",
        default=_best_constant,
        entry=Entry(
            "best_threshold",
            "Accuracy at the best threshold",
            "The share of examples whose class is right at the threshold that makes most of them right; higher is "
            "better. The threshold is chosen on the very labels it is judged by, so the number is too high by what "
            "that choice gains, the more so the fewer examples there are. It says what the scores could do if they "
            "were cut well; the plain accuracy cuts at one half.",
            "max over thresholds of (true positives + true negatives) / all",
            YDF,
        ),
    ),
)
