"""Areas and constrained metrics of threshold curves under many weightings of the same examples at once.

Called by `app.boards` with the counts of a bootstrap; pure. Scores are sorted once. Only the scores of positives matter
as thresholds: between two of them recall does not change, so every metric of a weighting is a sum over the distinct
scores of positives. The same definitions, curve by curve, are in `app.stats.curves`. Weights are [n_weightings,
n_examples] and not negative, which is checked where they enter. A result is NaN where only one class has weight, where
nothing is predicted positive, or where a class weighs almost nothing; no argument holds NaN.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.stats.areas_beside import LANES, N_SUMS, sums_beside
from app.stats.arrays import BoolArray, FloatArray, Weights
from app.stats.checks import require_finite, require_integers, require_shape
from app.stats.compiled import compiled

Int32Array = NDArray[np.int32]
ROUNDING = 1e-12
"""Tolerance of constraints: sums of rescaled weights differ in the last digits."""
NOTHING_CALLED = 1.0
"""The precision where nothing is predicted positive."""
SMALLEST_WEIGHT = float(np.finfo(np.float64).smallest_normal)
"""A class whose total weight, or product of weights, is below this has no area: subnormal numbers lose digits."""


@dataclass(frozen=True)
class SortedScores:
    """Examples by ascending score, positives and negatives apart.

    `positive` and `negative` are indices of examples. `starts` [n_levels] is where each distinct score of a positive
    begins in `positive`, or None when all differ; `below` and `upto` count the negatives with a score below it, and up
    to it, and are the same array when no negative shares a score with a positive.
    """

    positive: Int32Array
    negative: Int32Array
    starts: Int32Array | None
    below: Int32Array
    upto: Int32Array

    @cached_property
    def least_examples(self) -> int:
        """Return the least number of examples a weighting must have: compiled loops would read beyond a shorter one."""
        return 1 + max((int(part.max()) for part in (self.positive, self.negative) if len(part)), default=-1)

    @cached_property
    def levels(self) -> Int32Array:
        """Return where each distinct score of a positive begins, and where the last one ends, [n_levels + 1]."""
        n_positive = np.int32(len(self.positive))
        return np.append(np.arange(n_positive) if self.starts is None else self.starts, n_positive).astype(np.int32)

    @cached_property
    def falling(self) -> tuple[Int32Array, Int32Array] | None:
        """Return `places` and `ends` as `app.stats.areas_beside` takes them; None unless each example has one score."""
        n_positive, n_negative = len(self.positive), len(self.negative)
        if self.least_examples != n_positive + n_negative:
            return None
        places = np.full(self.least_examples, -1, dtype=np.int32)
        above = n_negative - self.upto
        places[self.positive] = np.arange(n_positive)[::-1] + np.repeat(above, np.diff(self.levels))
        n_before = n_positive - self.levels[np.searchsorted(self.upto, np.arange(n_negative), side="right")]
        places[self.negative] = np.arange(n_negative)[::-1] + n_before
        ends = np.full((len(above) + 1, 3), self.least_examples)
        ends[:-1, 0] = (above + n_positive - self.levels[1:])[::-1]
        ends[:-1, 1] = (above + n_positive - self.levels[:-1])[::-1]
        ends[:-1, 2] = (n_negative - self.below + n_positive - self.levels[:-1])[::-1]
        return None if (places < 0).any() else (places, ends.astype(np.int32))

    @property
    def by_fall(self) -> Int32Array | None:
        """Return the examples from the highest score to the lowest; None unless each example has one score."""
        if self.falling is None:
            return None
        examples = np.empty_like(self.falling[0])
        examples[self.falling[0]] = np.arange(len(examples), dtype=np.int32)
        return examples


def sort_scores(scores: FloatArray, is_positive: BoolArray, example: Int32Array | None = None) -> SortedScores:
    """Sort scores [n_scores] once for every weighting; `example` is each score's example, by default its own index.

    `is_positive` and `example` are [n_scores] too.
    Raises InvalidArgument for a score that is not finite, arrays of different lengths, and a negative example index.
    Source: none; it sorts and counts.

    >>> places = sort_scores(np.array([0.9, 0.1, 0.5]), np.array([True, False, True]))
    >>> (places.positive.tolist(), places.negative.tolist(), places.below.tolist())
    ([2, 0], [1], [1, 1])
    """
    require_shape("scores", scores, "n_scores")
    require_finite("scores", scores)
    require_shape("is_positive", is_positive, len(scores))
    if example is not None:
        require_shape("example", example, len(scores))
        require_integers("example", example, low=0)
    order = np.argsort(scores)
    positives, negatives = order[is_positive[order]], order[~is_positive[order]]
    levels, starts = np.unique(scores[positives], return_index=True)
    below, upto = (np.searchsorted(scores[negatives], levels, side=side) for side in ("left", "right"))
    owner = np.arange(len(scores)) if example is None else example
    return SortedScores(
        positive=owner[positives].astype(np.int32),
        negative=owner[negatives].astype(np.int32),
        starts=None if len(levels) == len(positives) else starts.astype(np.int32),
        below=below.astype(np.int32),
        upto=upto.astype(np.int32),
    )


@dataclass(frozen=True)
class Areas:
    """The areas of every weighting, [n_weightings]. Each is as in `app.stats.curves`.

    `precision_recall` has a straight line across each tie, `precision_recall_by_ties` has the hits and misses of a tie
    come in proportion: the line is above what any order of them gives, so whoever has few scores would gain by it.
    `average_precision` takes the precision before each gain in recall, `average_precision_after` the one after it.

    NaN where only one class has weight, and where the weight of a class, or for `roc` the product of both, is too small
    to divide by without losing digits.

    `most_right` is the largest weight of correctly predicted examples at any threshold, including the one that predicts
    nothing positive, and `total` the weight of all examples; both are defined with one class, too.
    """

    roc: FloatArray
    precision_recall: FloatArray
    precision_recall_by_ties: FloatArray
    average_precision: FloatArray
    average_precision_after: FloatArray
    most_right: FloatArray
    total: FloatArray


def curve_areas(scores: SortedScores, weights: Weights) -> Areas:
    """Return the areas under ROC and precision-recall curves of weightings [n_weightings, n_examples], in one pass.

    Raises InvalidArgument for weightings of fewer examples than there are scores.
    Source: as in `app.stats.curves`; Davis & Goadrich 2006, section 3, for ties.

    >>> scores = sort_scores(np.array([0.1, 0.5, 0.7]), np.array([True, False, True]))
    >>> areas = curve_areas(scores, np.ones((1, 3)))
    >>> (areas.roc.tolist(), areas.average_precision.tolist())
    ([0.5], [0.75])
    >>> tied = curve_areas(sort_scores(np.zeros(4), np.array([True, False, False, False])), np.ones((1, 4)))
    >>> (tied.precision_recall.tolist(), tied.precision_recall_by_ties.tolist())
    ([0.625], [0.25])
    """
    require_weightings(scores, weights)
    n_beside, falling = 0, scores.falling
    sums = np.zeros((len(weights), N_SUMS))
    if weights.dtype == np.uint8 and falling is not None and len(falling[0]) == weights.shape[1]:
        n_beside = len(weights) - len(weights) % LANES
        for start in range(0, n_beside, LANES):
            counts = weights[start : start + LANES].astype(np.uint8, copy=False)
            sums[start : start + LANES] = sums_beside(counts, *falling).T
    false = np.zeros(len(scores.negative) + 1, dtype=np.int32 if weights.dtype == np.uint8 else np.float64)
    compiled(_add_areas)(weights[n_beside:], scores.positive, scores.levels, scores.negative, scores.below, scores.upto,
                         false, sums[n_beside:])  # fmt: skip
    return _areas_of(sums.T)


def _areas_of(sums: FloatArray) -> Areas:
    """Return areas from the sums that `app.stats.areas_beside` names, [8, n_weightings]."""
    true, false, passed, halves, steps, after, right, beyond = sums
    has_both, pairs = (true >= SMALLEST_WEIGHT) & (false >= SMALLEST_WEIGHT), 2.0 * true * false
    with np.errstate(all="ignore"):
        return Areas(
            roc=np.where(has_both & (pairs >= SMALLEST_WEIGHT), 1.0 - passed / pairs, np.nan),
            precision_recall=np.where(has_both, halves / (2.0 * true), np.nan),
            precision_recall_by_ties=np.where(has_both, halves / (2.0 * true) + beyond / true, np.nan),
            average_precision=np.where(has_both, steps / true, np.nan),
            average_precision_after=np.where(has_both, after / true, np.nan),
            most_right=right,
            total=true + false,
        )


def _add_areas(
    weights: Weights,
    positive: Int32Array,
    levels: Int32Array,
    negative: Int32Array,
    below: Int32Array,
    upto: Int32Array,
    false: NDArray[Any],
    sums: FloatArray,
) -> None:
    """Go through the scores from highest to lowest; `false` is scratch space for the negatives above each position.

    With t of t + f right above it, a tie of g hits and m misses has ∫ (t + x) / (t + f + x (1 + m / g)) from 0 to g.
    """
    for row in range(weights.shape[0]):
        each = weights[row]
        for at in range(len(negative) - 1, -1, -1):
            false[at] = false[at + 1] + each[negative[at]]
        true, passed, halves, steps, after, right, beyond = 0.0, 0.0, 0.0, 0.0, 0.0, 1.0 * false[0], 0.0
        for level in range(len(levels) - 2, -1, -1):
            gained = 0.0
            for at in range(levels[level], levels[level + 1]):
                gained += each[positive[at]]
            false_above, false_from = false[upto[level]], false[below[level]]
            called = true + false_above
            precision_above = true / called if called > 0.0 else 1.0
            missed = 1.0 * (false_from - false_above)
            if gained > 0.0 and missed > 0.0:
                per_hit = 1.0 + missed / gained
                line = precision_above + (true + gained) / (called + gained * per_hit)
                curve = gained / per_hit
                if called > 0.0:
                    curve += (true - called / per_hit) / per_hit * np.log1p(gained * per_hit / called)
                beyond += curve - gained * line / 2.0
            true += gained
            right = max(right, true + false[0] - false_from)
            called = true + false_from
            precision = true / called if called > 0.0 else 1.0
            passed += gained * (false_above + false_from)
            halves += gained * (precision_above + precision)
            steps += gained * precision_above
            after += gained * precision
        sums[row, 0], sums[row, 1], sums[row, 2], sums[row, 3] = true, false[0], passed, halves
        sums[row, 4], sums[row, 5], sums[row, 6], sums[row, 7] = steps, after, right, beyond


def require_weightings(scores: SortedScores, weights: Weights) -> None:
    """Raise InvalidArgument unless weights are [n_weightings, n_examples] with the examples of the sorted scores.

    Source: none; it guards compiled loops.

    >>> scores = sort_scores(np.array([0.1, 0.9]), np.array([False, True]))
    >>> require_weightings(scores, np.ones((1, 1)))
    Traceback (most recent call last):
    app.stats.checks.InvalidArgument: weights has the shape (1, 1); expected [n_weightings, 2]
    """
    require_shape("weights", weights, "n_weightings", "n_examples")
    if weights.shape[1] < scores.least_examples:
        require_shape("weights", weights, "n_weightings", scores.least_examples)
