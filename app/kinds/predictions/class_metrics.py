"""The metrics of class predictions: of two classes, and of several averaged over them or pooled.

Read by `app.kinds.predictions.metrics`. Those at a constraint are in `constrained`.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from app.kinds.predictions.glossary import YDF
from app.kinds.predictions.metric import Closed, PredictionMetric, Score, mean_of
from app.kinds.predictions.one_class import OfClass, ap, auc, brier, f1, over_classes, pr_auc, precision, recall
from app.kinds.predictions.task import TaskPredictions
from app.kinds.predictions.weighted import POOLED, Weighted
from app.stats.arrays import BoolArray, FloatArray
from app.stats.classification import SMALLEST, constant_predictor, predicted_classes
from app.stats.closed_intervals import YDF_LABEL, clopper_pearson_ydf, hanley_mcneil, logistic, wilson
from app.values.glossary_entry import Entry

YDF_LEVEL = 0.9
MACRO, MICRO = "_macro", "_micro"


def is_right(task: TaskPredictions) -> BoolArray:
    """Say of each example whether its class was called."""
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


def _positive(of: OfClass) -> Score:
    return lambda weighted: of(weighted, 1)


def _pooled(of: OfClass) -> Score:
    return lambda weighted: of(weighted, POOLED)


def _against_rest(
    *, name: str, of: OfClass, pooled: Score, words: str, entry: Entry, **more: Any
) -> tuple[PredictionMetric, ...]:
    """Return a metric of two classes, its average over several, and the one that pools their decisions."""
    several: Any = {"tasks": frozenset({"multiclass"}), "direction": "maximize", "entry": entry}
    return (
        PredictionMetric(
            name=name, score=_positive(of), words=words, **{**several, "tasks": frozenset({"binary"})}, **more
        ),
        PredictionMetric(name=name + MACRO, score=over_classes(of), words=f"macro-averaged {words}", **several),
        PredictionMetric(name=name + MICRO, score=pooled, words=f"micro-averaged {words}", **several),
    )


def _default_accuracy(task: TaskPredictions) -> float | None:
    constant = constant_predictor(task.class_number, len(task.classes), task.item_weights)
    return None if constant is None else constant.accuracy


def _default_logloss(task: TaskPredictions) -> float | None:
    constant = constant_predictor(task.class_number, len(task.classes), task.item_weights)
    return None if constant is None else constant.log_loss


def _around_accuracy(task: TaskPredictions, point: float, level: float) -> Iterator[Closed]:
    total = float(task.item_weights.sum())
    yield Closed("W", "Wilson score", level, wilson(point * total, total, level))
    yield Closed("acc_ci_ydf", YDF_LABEL, YDF_LEVEL, clopper_pearson_ydf(point * total, total))


def _around_auc(task: TaskPredictions, point: float, level: float) -> Iterator[Closed]:
    n_positive = float(task.item_weights[task.class_number == 1].sum())
    n_negative = float(task.item_weights.sum()) - n_positive
    yield Closed("H", "Hanley–McNeil", level, hanley_mcneil(point, n_positive, n_negative, level))


def _around_pr_auc(task: TaskPredictions, point: float, level: float) -> Iterator[Closed]:
    n_positive = float(task.item_weights[task.class_number == 1].sum())
    yield Closed("L", "logistic", level, logistic(point, n_positive, level))


CLASS_METRICS = (
    *_against_rest(
        name="auc",
        of=auc,
        pooled=_pooled(auc),
        words="AUC",
        closed=_around_auc,
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
    *_against_rest(
        name="pr_auc",
        of=pr_auc,
        pooled=_pooled(pr_auc),
        words="PR-AUC",
        closed=_around_pr_auc,
        entry=Entry(
            "pr_auc",
            "PR-AUC",
            "The area under precision by recall; higher is better. What chance gives is not one half but the share of "
            "positives, so values compare within one set of labels only. Unlike the AUC it is not moved by easy "
            "negatives, which is why it is read where positives are rare.",
            "Σ (recallᵢ − recallᵢ₊₁) × (precisionᵢ + precisionᵢ₊₁) / 2, the lower trapezoidal rule",
            "Boyd, Eng & Page 2013, Area under the precision-recall curve, section 4",
        ),
    ),
    *_against_rest(
        name="ap",
        of=ap,
        pooled=_pooled(ap),
        words="AP",
        entry=Entry(
            "ap",
            "AP, average precision",
            "Precision averaged over the gains in recall, in steps and without drawing lines between them; higher is "
            "better. The precision of a step is the one before the gain, which is YDF's rule; other programs take the "
            "one after it and give other numbers.",
            "Σ (gain in recall) × (precision before the gain)",
            YDF,
        ),
    ),
    PredictionMetric(
        name="accuracy",
        tasks=frozenset({"binary", "multiclass"}),
        direction="maximize",
        score=accuracy,
        words="accuracy",
        default=_default_accuracy,
        closed=_around_accuracy,
        entry=Entry(
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
    # Every example is called one class and is of one class, so pooled over classes the three are the accuracy.
    *_against_rest(
        name="f1",
        of=f1,
        pooled=accuracy,
        words="F1",
        entry=Entry(
            "f1",
            "F1",
            "The harmonic mean of precision and recall; higher is better. It is near the worse of the two, and does "
            "not know true negatives.",
            "2 TP / (2 TP + FP + FN)",
            "van Rijsbergen 1979, Information retrieval, chapter 7",
        ),
    ),
    *_against_rest(
        name="precision",
        of=precision,
        pooled=accuracy,
        words="precision",
        entry=Entry(
            "precision",
            "Precision",
            "Of the examples that were called positive, the share that is; higher is better. Where nothing is called "
            "there is none.",
            "true positives / (true positives + false positives)",
        ),
    ),
    *_against_rest(
        name="recall",
        of=recall,
        pooled=accuracy,
        words="recall",
        entry=Entry(
            "recall",
            "Recall",
            "Of the positive examples, the share that was called so; higher is better. Also called sensitivity, or "
            "true positive rate.",
            "true positives / (true positives + false negatives)",
        ),
    ),
    PredictionMetric(
        name="logloss",
        tasks=frozenset({"binary", "multiclass"}),
        direction="minimize",
        score=mean_of(surprise),
        words="log-loss",
        default=_default_logloss,
        entry=Entry(
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
        score=_brier,
        words="Brier score",
        entry=Entry(
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
