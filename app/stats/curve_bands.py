"""Heights of ROC and precision-recall curves at given places, under many weightings of the same examples at once.

Called by `app.kinds.predictions.bands` with the counts of a bootstrap; pure. Each weighting's curve is traced from the
highest score down; areas are in `app.stats.resampled_curves`.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from app.stats.areas_beside import LANES, aligned, lay_beside
from app.stats.arrays import BoolArray, Counts, FloatArray, Weights
from app.stats.checks import require_ascending, require_finite, require_shape, require_within
from app.stats.compiled import compiled
from app.stats.example_sums import flag_sums
from app.stats.resampled_curves import ROUNDING

Int32Array = NDArray[np.int32]
NEAR = 32
"""Score levels summed at once before checking whether a place lies among them."""


@dataclass(frozen=True)
class FallingScores:
    """Examples by falling score: their indices, whether each is positive, and where each distinct score ends."""

    example: Int32Array
    is_positive: BoolArray
    ends: Int32Array

    @cached_property
    def classes(self) -> BoolArray:
        """Say of each example whether it is positive, and whether it is negative, [2, n_examples]."""
        flags = np.empty((2, len(self.example)), dtype=np.bool_)
        flags[0, self.example] = self.is_positive
        np.logical_not(flags[0], out=flags[1])
        return flags

    @cached_property
    def places(self) -> Int32Array:
        """Return where each example stands, [n_examples]."""
        places = np.empty(len(self.example), dtype=np.int32)
        places[self.example] = np.arange(len(places), dtype=np.int32)
        return places


def fall(scores: FloatArray, is_positive: BoolArray, by_fall: Int32Array | None = None) -> FallingScores:
    """Sort scores [n_examples] once for every weighting, the highest first.

    `by_fall` [n_examples] is the order of the examples where it is known already, those with the same score in any.
    Raises InvalidArgument for a score that is not finite, and arrays of different lengths.
    Source: none; it sorts.

    >>> fall(np.array([0.5, 0.1, 0.5]), np.array([True, False, False])).ends.tolist()
    [2, 3]
    """
    require_shape("scores", scores, "n_examples")
    require_finite("scores", scores)
    require_shape("is_positive", is_positive, len(scores))
    if by_fall is not None:
        require_shape("by_fall", by_fall, len(scores))
    order = np.argsort(-scores, kind="stable") if by_fall is None else by_fall
    ends = np.flatnonzero(np.append(np.diff(scores[order]) != 0.0, True)) + 1
    return FallingScores(order.astype(np.int32, copy=False), is_positive[order], ends.astype(np.int32))


@dataclass(frozen=True)
class Heights:
    """The recall at each false positive rate, and the precision at each recall, [n_weightings, n_places].

    NaN if only one class has weight, and for the precision at recall 0, where nothing is predicted positive.
    """

    recall: FloatArray
    precision: FloatArray


def curve_heights(scores: FallingScores, weights: Weights, rates: FloatArray, recalls: FloatArray) -> Heights:
    """Return the heights of weighted curves at false positive `rates` and at `recalls`, both ascending.

    `weights` is [n_weightings, n_examples]. Between thresholds the ROC curve is linear, as in its area; at a vertical
    step the upper end counts. The precision is that of the highest threshold with at least the recall, as in metrics at
    a constraint.
    Raises InvalidArgument for places that do not ascend or lie outside [0, 1], and for another number of examples.
    Source: Fawcett 2006, An introduction to ROC analysis, section 8.1, vertical averaging.

    >>> scores = fall(np.array([0.1, 0.5, 0.7]), np.array([True, False, True]))
    >>> heights = curve_heights(scores, np.ones((1, 3)), np.array([0.0, 1.0]), np.array([0.5, 1.0]))
    >>> (heights.recall.tolist(), heights.precision.round(3).tolist())
    ([[0.5, 1.0]], [[1.0, 0.667]])
    """
    require_shape("weights", weights, "n_weightings", len(scores.example))
    for name, places in (("rates", rates), ("recalls", recalls)):
        require_ascending(name, places)
        require_within(name, places, 0.0, 1.0)
    positives, negatives = _totals(scores, weights)
    has_both = ((positives > 0.0) & (negatives > 0.0))[:, None]
    # Rates that the walk does not reach have a recall of 1.
    recall, precision = np.ones((len(weights), len(rates))), np.full((len(weights), len(recalls)), np.nan)
    n_empty = int(np.searchsorted(recalls, 0.0, side="right"))
    upto = _upto_stretches(scores, weights)
    compiled(_walk)(weights, scores.example, scores.is_positive, scores.ends, positives, negatives, upto,
                    rates, recalls - ROUNDING, n_empty, recall, precision)  # fmt: skip
    return Heights(np.where(has_both, recall, np.nan), np.where(has_both, precision, np.nan))


def _totals(scores: FallingScores, weights: Weights) -> tuple[FloatArray, FloatArray]:
    """Return the weight of the positives and of the negatives, [n_weightings] each."""
    if weights.dtype == np.uint8:
        positives, negatives = flag_sums(weights, scores.classes).T
        return positives, negatives
    parts = (weights[:, scores.example[scores.is_positive == of]] for of in (True, False))
    positives, negatives = (part.sum(axis=1, dtype=np.float64) for part in parts)
    return positives, negatives


def _upto_stretches(scores: FallingScores, weights: Weights) -> FloatArray:
    """Return the weight of negatives and of positives before each NEAR levels and after the last, [n_rows, n + 1, 2].

    Counts are added side by side, as in `app.stats.areas_beside`; they are whole numbers, so in any way exactly.
    """
    upto = np.zeros((len(weights), -(-len(scores.ends) // NEAR) + 1, 2))
    n_beside = len(weights) - len(weights) % LANES if weights.dtype == np.uint8 else 0
    for start in range(0, n_beside, LANES):
        beside = lay_beside(weights[start : start + LANES].astype(np.uint8, copy=False), scores.places)
        compiled(_add_beside)(beside, scores.is_positive, scores.ends, aligned(2 * LANES), upto[start : start + LANES])
    compiled(_add)(weights[n_beside:], scores.example, scores.is_positive, scores.ends, upto[n_beside:])
    return upto


def _add_beside(beside: Counts, is_positive: BoolArray, ends: Int32Array, sums: FloatArray, upto: FloatArray) -> None:
    n_lanes, start = beside.shape[1], 0
    for after in range(1, upto.shape[1]):
        stop = ends[min(after * NEAR, len(ends)) - 1]
        for at in range(start, stop):
            kind = LANES * int(is_positive[at])
            for lane in range(n_lanes):
                sums[kind + lane] += beside[at, lane]
        for lane in range(n_lanes):
            upto[lane, after, 0], upto[lane, after, 1] = sums[lane], sums[LANES + lane]
        start = stop


def _add(weights: Weights, example: Int32Array, is_positive: BoolArray, ends: Int32Array, upto: FloatArray) -> None:
    for row in range(weights.shape[0]):
        true, false, start = 0.0, 0.0, 0
        for after in range(1, upto.shape[1]):
            stop = ends[min(after * NEAR, len(ends)) - 1]
            for at in range(start, stop):
                true += weights[row, example[at]] * is_positive[at]
                false += weights[row, example[at]] * (1 - is_positive[at])
            upto[row, after, 0], upto[row, after, 1] = false, true
            start = stop


def _walk(
    weights: Weights,
    example: Int32Array,
    is_positive: BoolArray,
    ends: Int32Array,
    positives: FloatArray,
    negatives: FloatArray,
    upto: FloatArray,
    rates: FloatArray,
    recalls: FloatArray,
    n_empty: int,
    recall: FloatArray,
    precision: FloatArray,
) -> None:
    """Go through the scores from highest to lowest; at the first `n_empty` recalls nothing is predicted positive.

    Most levels reach no place: the sums of NEAR levels at once tell whether a place lies among them, and only those
    levels are passed one by one.
    """
    for row in range(weights.shape[0]):
        if positives[row] <= 0.0:
            continue
        start, rate, called = 0, 0, n_empty
        for first in range(0, len(ends), NEAR):
            last = min(first + NEAR, len(ends))
            false, true = upto[row, first // NEAR + 1]
            is_at_rate = rate < len(rates) and rates[rate] * negatives[row] < false * (1.0 - 1e-12)
            is_at_recall = called < len(recalls) and true > 0 and true >= recalls[called] * positives[row]
            if not is_at_rate and not is_at_recall:
                start = ends[last - 1]
                continue
            false, true = upto[row, first // NEAR]
            for level in range(first, last):
                true_above, false_above = true, false
                for at in range(start, ends[level]):
                    true += weights[row, example[at]] * is_positive[at]
                    false += weights[row, example[at]] * (1 - is_positive[at])
                start = ends[level]
                while rate < len(rates) and rates[rate] * negatives[row] < false * (1.0 - 1e-12):
                    along = max(0.0, rates[rate] * negatives[row] - false_above) / (false - false_above)
                    recall[row, rate] = (true_above + along * (true - true_above)) / positives[row]
                    rate += 1
                while called < len(recalls) and true > 0 and true >= recalls[called] * positives[row]:
                    precision[row, called] = true / (true + false)
                    called += 1
