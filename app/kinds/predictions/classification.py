"""The metrics of classification: of predicted classes, of probabilities, of curves, and one class against the rest.

First the metrics of the predicted class, then of predicted probabilities, those that look at every threshold, and those
at a constraint.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from app.kinds.predictions.task import (
    POOLED,
    Closed,
    PredictionMetric,
    Score,
    TaskPredictions,
    UnitValues,
    Weighted,
    mean_of,
)
from app.kinds.predictions.terms import METRIC_AT, YDF, YDF_RULE
from app.manifest.model import Direction
from app.stats.arrays import BoolArray, FloatArray, share
from app.stats.calibrated import (
    YDF_LABEL,
    Interval,
    clopper_pearson_ydf,
    effective_number,
    hanley_mcneil,
    logistic,
    wilson,
)
from app.stats.curves import area_spread, at_recall, recall_at
from app.stats.predictions import SMALLEST, constant_predictor, predicted_classes
from app.stats.spreads import SHARE, Range, Spread
from app.values.glossary import GlossaryEntry

YDF_LEVEL = 0.9


def is_right(task: TaskPredictions) -> BoolArray:
    """Say, for each example, whether its class was predicted."""
    right: BoolArray = np.equal(predicted_classes(task.probabilities), task.class_number)
    return right


def surprise(task: TaskPredictions) -> FloatArray:
    """Return minus the logarithm of the probability of each example's true class."""
    of_truth = task.probabilities[np.arange(len(task)), task.class_number]
    return -np.log(np.clip(of_truth, SMALLEST, 1.0))


def _brier(weighted: Weighted) -> FloatArray:
    """Return the sum over several classes; of two the second one alone."""
    if weighted.n_classes == 2:
        return brier(weighted, 1)
    total: FloatArray = np.sum([brier(weighted, at) for at in range(weighted.n_classes)], axis=0)
    return total


accuracy = mean_of(is_right)


def _default_accuracy(task: TaskPredictions) -> float | None:
    constant = constant_predictor(task.class_number, len(task.classes), task.item_weights)
    return None if constant is None else constant.accuracy


def _default_logloss(task: TaskPredictions) -> float | None:
    constant = constant_predictor(task.class_number, len(task.classes), task.item_weights)
    return None if constant is None else constant.log_loss


def _around_accuracy(task: TaskPredictions, point: float, level: float) -> Iterator[Closed]:
    n_effective = effective_number(task.item_weights)
    yield Closed("W", "Wilson score", level, wilson(point * n_effective, n_effective, level))
    # YDF uses the number of examples and ignores weights.
    yield Closed("acc_ci_ydf", YDF_LABEL, YDF_LEVEL, clopper_pearson_ydf(point * len(task), len(task)))


MACRO, MICRO = "_macro", "_micro"

OfClass = Callable[[Weighted, int], FloatArray]


def positive(of: OfClass) -> Score:
    """Return the metric of the positive one of two classes."""
    return lambda weighted: of(weighted, 1)


# A metric of one class against the rest as three rows of the table.


def against_rest(
    *,
    name: str,
    of: OfClass,
    pooled: Score,
    words: str,
    entry: GlossaryEntry,
    averaged: OfClass | None = None,
    suffix: str = "",
    beside: tuple[str, ...] = (),
    beside_macro: tuple[str, ...] = (),
    **more: Any,
) -> tuple[PredictionMetric, ...]:
    """Return a metric of two classes, its average over several, and the one that pools their decisions.

    `averaged` is what is averaged, where that is not `of`; `suffix` ends every name, `beside_macro` is beside the
    average alone.
    """
    several: Any = {"tasks": frozenset({"multiclass"}), "direction": "maximize", "entry": entry, "within": SHARE}
    over = over_classes(averaged or of)
    return (
        PredictionMetric(
            name=name + suffix,
            tasks=frozenset({"binary"}),
            direction="maximize",
            within=SHARE,
            score=positive(of),
            words=words,
            entry=entry,
            beside=beside,
            **more,
        ),
        PredictionMetric(
            name=name + MACRO + suffix,
            score=over,
            words=f"macro-averaged {words}",
            beside=beside or beside_macro,
            **several,
        ),
        PredictionMetric(
            name=name + MICRO + suffix, score=pooled, words=f"micro-averaged {words}", beside=beside, **several
        ),
    )


# Metrics of one class against the rest: the same function for two classes, an average over several, and a report.
# Results are [n_weightings], NaN where undefined; larger is better but for `brier`.


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


def over_classes(of: OfClass) -> Score:
    """Return the mean over the classes of which the metric is defined, NaN where it is of none."""

    def score(weighted: Weighted) -> FloatArray:
        values = np.column_stack([of(weighted, at) for at in range(weighted.n_classes)])
        known = ~np.isnan(values)
        return share(np.where(known, values, 0.0).sum(axis=1), known.sum(axis=1).astype(np.float64))

    return score


CLASS_METRICS = (
    PredictionMetric(
        name="accuracy",
        tasks=frozenset({"binary", "multiclass"}),
        direction="maximize",
        within=SHARE,
        score=accuracy,
        words="accuracy",
        beside=("best_threshold",),
        default=_default_accuracy,
        closed=_around_accuracy,
        entry=GlossaryEntry(
            "accuracy",
            "Accuracy",
            "The share of examples whose class was predicted right; higher is better. Of two classes the second one is "
            "predicted from a probability of one half on; of several the most probable, the first of them on a tie. "
            "Where one class is rare, always naming the other one is accurate too: compare with the constant "
            "predictor.",
            "weight of the right ones / total weight",
            YDF,
        ),
    ),
    # Each example has one predicted and one true class, so pooled over classes all three equal the accuracy.
    *against_rest(
        name="f1",
        of=f1,
        pooled=accuracy,
        words="F1",
        entry=GlossaryEntry(
            "f1",
            "F1",
            "The harmonic mean of precision and recall; higher is better. It is near the worse of the two, and does "
            "not know true negatives.",
            "2 TP / (2 TP + FP + FN)",
            "van Rijsbergen 1979, Information retrieval, chapter 7",
        ),
    ),
    *against_rest(
        name="precision",
        of=precision,
        pooled=accuracy,
        words="precision",
        averaged=precision_or_zero,
        entry=GlossaryEntry(
            "precision",
            "Precision",
            "Of the examples that were called positive, the share that is; higher is better. Where nothing is called "
            "there is none.",
            "true positives / (true positives + false positives)",
        ),
    ),
    *against_rest(
        name="recall",
        of=recall,
        pooled=accuracy,
        words="recall",
        beside_macro=("sklearn",),
        entry=GlossaryEntry(
            "recall",
            "Recall",
            "Of the positive examples, the share that was called so; higher is better. Also called sensitivity, or "
            "true positive rate.",
            "true positives / (true positives + false negatives)",
        ),
    ),
    PredictionMetric(
        name="recall_macro_sklearn",
        tasks=frozenset({"multiclass"}),
        direction="maximize",
        within=SHARE,
        score=over_classes(recall_or_zero),
        words="macro-averaged recall by scikit-learn's rule",
        entry=GlossaryEntry(
            "sklearn",
            "As scikit-learn computes it",
            "The same average over the classes by the rule of scikit-learn, which also counts classes that the labels "
            "do not have and that were called: their recall is zero. Here they are left out, as there is nothing of "
            "them to find. For precision and F1 the two rules are one: a class that is there and never called counts "
            "zero.",
            "sklearn.metrics.recall_score(average='macro', zero_division=0)",
        ),
    ),
    PredictionMetric(
        name="logloss",
        tasks=frozenset({"binary", "multiclass"}),
        direction="minimize",
        within=Range(low=0.0),
        score=mean_of(surprise),
        words="log-loss",
        default=_default_logloss,
        entry=GlossaryEntry(
            "logloss",
            "Log-loss",
            "How surprised the predicted probabilities are by the truth, on average; lower is better. It is in nats, 0 "
            "is certainty that is always right, and one certain prediction that is wrong makes it very large. It "
            "rewards probabilities that are right, not only the order of them.",
            "mean of −ln(probability of the true class)",
            "Good 1952, Rational decisions",
        ),
    ),
    PredictionMetric(
        name="brier",
        tasks=frozenset({"binary", "multiclass"}),
        direction="minimize",
        within=Range(low=0.0),
        score=_brier,
        words="Brier score",
        entry=GlossaryEntry(
            "brier",
            "Brier score",
            "The mean squared distance of the predicted probabilities from what came true; lower is better. Of two "
            "classes it is that of the second one; of several the squares are summed over the classes, so its largest "
            "value is 2.",
            "mean of (p − y)²",
            "Brier 1950, Verification of forecasts expressed in terms of probability",
        ),
    ),
)


# The metrics of class predictions that look at every threshold.

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


CURVE_METRICS = (
    *against_rest(
        name="auc",
        of=auc,
        pooled=_pooled(auc),
        words="AUC",
        default=_half,
        closed=_around_auc,
        spread=_spread_of_auc,
        entry=GlossaryEntry(
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
        entry=GlossaryEntry(
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
        entry=GlossaryEntry(
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
        entry=GlossaryEntry(
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


# Metrics at a constraint, X@Y: `precision@recall=0.8` is the precision where the recall is at least 0.8.
#
# Made as a manifest names them: there is one for each number.

MACRO_AT = "_macro"

DIRECTIONS: Mapping[tuple[str, str], Direction] = {
    ("precision", "recall"): "maximize",
    ("fpr", "recall"): "minimize",
    ("recall", "precision"): "maximize",
    ("recall", "fpr"): "maximize",
    ("precision", "volume"): "maximize",
}

_AT = re.compile(r"(?P<metric>[a-z]+)@(?P<given>[a-z]+)=(?P<at>0|1|0?\.[0-9]{1,6}|1\.0)(?P<macro>_macro)?")


@dataclass(frozen=True)
class Constraint:
    """A metric where another share is at least `at`; at most, where that is the false positive rate."""

    metric: str
    given: str
    at: float
    is_average: bool


@cache
def constraint_of(name: str) -> Constraint | None:
    """Return the constraint that a metric's name means; None for any other name."""
    match = _AT.fullmatch(name)
    if match is None or (match["metric"], match["given"]) not in DIRECTIONS:
        return None
    return Constraint(match["metric"], match["given"], float(match["at"]), match["macro"] is not None)


@cache
def constrained(name: str) -> PredictionMetric | None:
    """Return the metric of two classes, or the average over several, that a name means; None for any other name."""
    constraint = constraint_of(name)
    if constraint is None:
        return None
    of = _at(constraint.metric, constraint.given, constraint.at)
    return PredictionMetric(
        name=name,
        tasks=frozenset({"multiclass"} if constraint.is_average else {"binary"}),
        direction=DIRECTIONS[constraint.metric, constraint.given],
        score=over_classes(of) if constraint.is_average else lambda weighted: of(weighted, 1),
        words=name,
        entry=METRIC_AT,
        within=SHARE,
    )


def _at(metric: str, given: str, at: float) -> OfClass:
    if given == "volume":
        return lambda weighted, number: weighted.precision_at_volume(number, at)
    if metric == "recall":
        return lambda weighted, number: recall_at(weighted.calls(number), given, at)
    return lambda weighted, number: at_recall(weighted.calls(number), metric, at)


def examples_of_names(*, of_several: bool) -> Iterator[str]:
    """Yield a name of each sort, for messages."""
    yield from (f"{metric}@{given}=0.8{MACRO_AT if of_several else ''}" for metric, given in DIRECTIONS)
