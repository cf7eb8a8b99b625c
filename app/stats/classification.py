"""Called classes, confusion, constant predictors and calibration of class probabilities; pure.

`probabilities` are [n_examples, n_classes] with rows that sum to one, `labels` class numbers [n_examples], `weights`
count examples. Undefined is None. Source of the rules where several are in use: YDF 0.16.
"""

from dataclasses import dataclass

import numpy as np

from app.stats.arrays import BoolArray, FloatArray, IntArray, share

BINARY = 2
# Probabilities of zero would make the loss infinite; YDF clips them at single precision's epsilon.
SMALLEST = float(np.finfo(np.float32).eps)


def predicted_classes(probabilities: FloatArray) -> IntArray:
    """Return the most probable class, the lowest number on ties; of two classes the second from one half on."""
    if probabilities.shape[1] == BINARY:
        return (probabilities[:, 1] >= 0.5).astype(np.int64)
    classes: IntArray = np.argmax(probabilities, axis=1)
    return classes


def confusion_matrix(labels: IntArray, predicted: IntArray, n_classes: int, weights: FloatArray) -> FloatArray:
    """Return weighted counts [n_classes, n_classes]: rows are the truth, columns what was predicted."""
    cells = np.bincount(labels * n_classes + predicted, weights, minlength=n_classes * n_classes)
    return cells.reshape(n_classes, n_classes).astype(np.float64)


@dataclass(frozen=True)
class ConstantPredictor:
    """What the best constant prediction reaches: always the commonest class, or always the classes' shares."""

    accuracy: float
    log_loss: float


def constant_predictor(labels: IntArray, n_classes: int, weights: FloatArray) -> ConstantPredictor | None:
    """Return the default accuracy and log-loss; None without an example of positive weight."""
    counts = np.bincount(labels, weights, minlength=n_classes)
    if not counts.sum() > 0:
        return None
    shares = counts[counts > 0] / counts.sum()
    return ConstantPredictor(float(shares.max()), float(max(0.0, -(shares * np.log(shares)).sum())))


@dataclass(frozen=True)
class ClassScores:
    """Precision, recall and F1 of each class, [n_classes]; NaN where nothing was called or nothing is there."""

    precision: FloatArray
    recall: FloatArray
    f1: FloatArray


def class_scores(confusion: FloatArray) -> ClassScores:
    """Return the scores of each class against the rest. F1 is 2TP / (2TP + FP + FN)."""
    right = np.diag(confusion)
    called, there = confusion.sum(axis=0), confusion.sum(axis=1)
    return ClassScores(share(right, called), share(right, there), share(2 * right, called + there))


def brier_score(probabilities: FloatArray, labels: IntArray, weights: FloatArray) -> float | None:
    """Return the mean squared distance of the probabilities from the truth; of two classes for the second one alone.

    Source: Brier 1950; for two classes the half of it that is in common use.
    """
    if not weights.sum() > 0:
        return None
    truth = np.eye(probabilities.shape[1])[labels]
    squared = (probabilities - truth) ** 2
    each = squared[:, 1] if probabilities.shape[1] == BINARY else squared.sum(axis=1)
    return float(np.average(each, weights=weights))


@dataclass(frozen=True)
class Reliability:
    """Examples by what was predicted, [n_bins]: mean prediction, observed share, weight and number of examples.

    `plain` is the mean prediction without weights. Bins and examples without weight are left out.
    """

    predicted: FloatArray
    observed: FloatArray
    weight: FloatArray
    n_examples: IntArray
    plain: FloatArray

    @property
    def expected_calibration_error(self) -> float | None:
        """Return Σ weight × |predicted − observed| over the total weight."""
        total = float(self.weight.sum())
        return float((self.weight * np.abs(self.predicted - self.observed)).sum()) / total if total > 0 else None


def reliability(scores: FloatArray, is_positive: BoolArray, weights: FloatArray, n_bins: int = 10) -> Reliability:
    """Return the calibration of scores in [0, 1] in bins of equal width, the last one closed.

    Source: Naeini, Cooper & Hauskrecht 2015, Obtaining well calibrated probabilities using Bayesian binning.
    """
    place = np.minimum((scores * n_bins).astype(np.int64), n_bins - 1)
    weight = np.bincount(place, weights, minlength=n_bins).astype(np.float64)
    there = weight > 0
    predicted = np.bincount(place, weights * scores, minlength=n_bins)[there] / weight[there]
    observed = np.bincount(place, weights * is_positive, minlength=n_bins)[there] / weight[there]
    counted = weights > 0
    n_examples = np.bincount(place, counted, minlength=n_bins)[there]
    plain = np.bincount(place, counted * scores, minlength=n_bins)[there] / n_examples
    return Reliability(predicted, observed, weight[there], n_examples.astype(np.int64), plain)
