"""Predicted classes, confusion matrices, constant predictors and calibration of class probabilities; pure.

`probabilities` are [n_examples, n_classes] with rows that sum to one, which the reader of an upload has checked;
`labels` are class numbers [n_examples] from 0, `weights` [n_examples] count examples. What is undefined is None, or NaN
inside an array. No argument holds NaN: missing predictions have been filled in before. Where conventions differ, YDF
0.16's is used.
"""

from dataclasses import dataclass

import numpy as np

from app.stats.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    require_count,
    require_integers,
    require_numbers,
    require_shape,
    require_weights,
    require_within,
)

BINARY = 2
# A probability of zero would make the log-loss infinite; YDF 0.16 and scikit-learn clip at this number, 2.2e-16.
SMALLEST = float(np.finfo(np.float64).eps)


def predicted_classes(probabilities: FloatArray) -> IntArray:
    """Return the most probable class, [n_examples]; ties go to the lowest number, but of two classes to the second.

    Raises InvalidArgument for NaN and for fewer than two classes.
    Source: YDF 0.16, accuracy of a classification, for how ties are broken.

    >>> predicted_classes(np.array([[0.5, 0.5], [0.6, 0.4]])).tolist()
    [1, 0]
    """
    _require_probabilities(probabilities)
    if probabilities.shape[1] == BINARY:
        return (probabilities[:, 1] >= 0.5).astype(np.int64)
    classes: IntArray = np.argmax(probabilities, axis=1)
    return classes


def confusion_matrix(labels: IntArray, predicted: IntArray, n_classes: int, weights: FloatArray) -> FloatArray:
    """Return weighted counts [n_classes, n_classes]: rows are the truth, columns what was predicted.

    Raises InvalidArgument for arrays of different lengths, class numbers outside [0, n_classes), and a negative weight.
    Source: `sklearn.metrics.confusion_matrix` with `sample_weight`.

    >>> confusion_matrix(np.array([0, 1, 1]), np.array([0, 0, 1]), 2, np.ones(3)).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    _require_labels("labels", labels, n_classes, weights)
    _require_labels("predicted", predicted, n_classes, weights)
    cells = np.bincount(labels * n_classes + predicted, weights, minlength=n_classes * n_classes)
    return cells.reshape(n_classes, n_classes).astype(np.float64)


@dataclass(frozen=True)
class ConstantPredictor:
    """The scores of the best constant predictions: the commonest class, and the classes' shares as probabilities."""

    accuracy: float
    log_loss: float


def constant_predictor(labels: IntArray, n_classes: int, weights: FloatArray) -> ConstantPredictor | None:
    """Return the default accuracy and log-loss, in nats; None without an example of positive weight.

    Raises InvalidArgument as `confusion_matrix` does.
    Source: YDF 0.16, default metrics; the loss is −Σ share × ln share, the entropy of the classes' shares.

    >>> constant_predictor(np.array([0, 1, 1, 1]), 2, np.ones(4))
    ConstantPredictor(accuracy=0.75, log_loss=0.5623351446188083)
    """
    _require_labels("labels", labels, n_classes, weights)
    counts = np.bincount(labels, weights, minlength=n_classes)
    if not counts.sum() > 0:
        return None
    shares = counts[counts > 0] / counts.sum()
    return ConstantPredictor(float(shares.max()), float(max(0.0, -(shares * np.log(shares)).sum())))


@dataclass(frozen=True)
class Reliability:
    """Examples binned by predicted probability, [n_bins]: mean prediction, observed share, weight, number of examples.

    `plain` is the unweighted mean prediction. Empty bins and examples of weight zero are left out.
    """

    predicted: FloatArray
    observed: FloatArray
    weight: FloatArray
    n_examples: IntArray
    plain: FloatArray

    @property
    def expected_calibration_error(self) -> float | None:
        """Return Σ weight × |predicted − observed| / Σ weight; None where there is no weight. Smaller is better.

        Source: Naeini, Cooper & Hauskrecht 2015, the expected calibration error.
        """
        total = float(self.weight.sum())
        return float((self.weight * np.abs(self.predicted - self.observed)).sum()) / total if total > 0 else None


def reliability(scores: FloatArray, is_positive: BoolArray, weights: FloatArray, n_bins: int = 10) -> Reliability:
    """Return the calibration of scores in [0, 1] in bins of equal width; the last bin includes 1.

    `scores` and `is_positive` are [n_examples].
    Raises InvalidArgument for a score outside [0, 1], arrays of different lengths, a negative weight, and `n_bins`
    below 1.
    Source: Naeini, Cooper & Hauskrecht 2015, Obtaining well calibrated probabilities using Bayesian binning.

    >>> bins = reliability(np.array([0.25, 0.75]), np.array([False, True]), np.ones(2), n_bins=2)
    >>> (bins.predicted.tolist(), bins.observed.tolist(), bins.expected_calibration_error)
    ([0.25, 0.75], [0.0, 1.0], 0.25)
    """
    require_count("n_bins", n_bins)
    require_shape("scores", scores, "n_examples")
    require_within("scores", scores, 0.0, 1.0)
    require_shape("is_positive", is_positive, len(scores))
    require_shape("weights", weights, len(scores))
    require_weights("weights", weights)
    place = np.minimum((scores * n_bins).astype(np.int64), n_bins - 1)
    weight = np.bincount(place, weights, minlength=n_bins).astype(np.float64)
    is_filled = weight > 0
    predicted = np.bincount(place, weights * scores, minlength=n_bins)[is_filled] / weight[is_filled]
    observed = np.bincount(place, weights * is_positive, minlength=n_bins)[is_filled] / weight[is_filled]
    counted = weights > 0
    n_examples = np.bincount(place, counted, minlength=n_bins)[is_filled]
    plain = np.bincount(place, counted * scores, minlength=n_bins)[is_filled] / n_examples
    return Reliability(predicted, observed, weight[is_filled], n_examples.astype(np.int64), plain)


def _require_probabilities(probabilities: FloatArray) -> None:
    require_shape("probabilities", probabilities, "n_examples", "n_classes")
    require_count("the number of classes", probabilities.shape[1], least=BINARY)
    require_numbers("probabilities", probabilities)


def _require_labels(name: str, labels: IntArray, n_classes: int, weights: FloatArray) -> None:
    require_count("n_classes", n_classes)
    require_shape(name, labels, "n_examples")
    require_integers(name, labels, low=0, high=n_classes - 1)
    require_shape("weights", weights, len(labels))
    require_weights("weights", weights)
