"""The metrics of the predicted class, and of predicted probabilities.

Read by `app.kinds.predictions.metrics`. Those that look at every threshold are in `curve_metrics`, those at a
constraint in `constrained`.
"""

from collections.abc import Iterator

import numpy as np

from app.kinds.predictions.against_rest import against_rest
from app.kinds.predictions.glossary import YDF
from app.kinds.predictions.metric_type import Closed, PredictionMetric, mean_of
from app.kinds.predictions.one_class import (
    brier,
    f1,
    over_classes,
    precision,
    precision_or_zero,
    recall,
    recall_or_zero,
)
from app.kinds.predictions.task import TaskPredictions
from app.kinds.predictions.weighted import Weighted
from app.stats.arrays import BoolArray, FloatArray
from app.stats.classification import SMALLEST, constant_predictor, predicted_classes
from app.stats.closed_intervals import YDF_LABEL, clopper_pearson_ydf, effective_number, wilson
from app.stats.spreads import SHARE, Range
from app.values.glossary_entry import Entry

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
    # Each example has one predicted and one true class, so pooled over classes all three equal the accuracy.
    *against_rest(
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
    *against_rest(
        name="precision",
        of=precision,
        pooled=accuracy,
        words="precision",
        averaged=precision_or_zero,
        entry=Entry(
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
        entry=Entry(
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
        entry=Entry(
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
        within=Range(low=0.0),
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
