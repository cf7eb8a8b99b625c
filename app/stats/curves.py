"""Threshold curves of a binary classifier: ROC, precision and recall, and their areas.

Pure. Positive means that the score is above the threshold. Scores are [n_examples], `is_positive` says which label each
has, `weights` count examples; everything is in float64. With only one class there is no area: None.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.stats.arrays import (
    BoolArray,
    Counts,
    FloatArray,
    IntArray,
    InvalidArgument,
    Weights,
    require_finite,
    require_integers,
    require_level,
    require_number,
    require_shape,
    require_weights,
    require_within,
    require_word,
    share,
)
from app.stats.calibrated import ALL_EQUAL, TOO_FEW_UNITS, Calibrated, Ends, root_mean_square
from app.stats.compiled import compiled
from app.stats.spreads import MOST_WEIGHTED, Spread, mean_spread, spread_of


@dataclass(frozen=True)
class ThresholdCurve:
    """Counts at ascending thresholds, each [n_thresholds]: the first predicts all positive, the last none."""

    threshold: FloatArray
    true_positive: FloatArray
    false_positive: FloatArray
    true_negative: FloatArray
    false_negative: FloatArray

    @property
    def recall(self) -> FloatArray:
        """Return the share of positives predicted positive; NaN without a positive."""
        return share(self.true_positive, self.true_positive + self.false_negative)

    @property
    def false_positive_rate(self) -> FloatArray:
        """Return the share of negatives predicted positive; NaN without a negative."""
        return share(self.false_positive, self.false_positive + self.true_negative)

    @property
    def precision(self) -> FloatArray:
        """Return the share of predicted positives that are positive; 1 where nothing is predicted positive."""
        called = self.true_positive + self.false_positive
        return np.where(called > 0, share(self.true_positive, called), 1.0)

    @property
    def volume(self) -> FloatArray:
        """Return the share of examples predicted positive."""
        called = self.true_positive + self.false_positive
        return share(called, called + self.true_negative + self.false_negative)

    @property
    def accuracy(self) -> FloatArray:
        """Return the share of examples predicted correctly."""
        right = self.true_positive + self.true_negative
        return share(right, right + self.false_positive + self.false_negative)

    @property
    def has_both(self) -> bool:
        """Say whether there are positives and negatives: without both there is no curve."""
        positives = self.true_positive[0] + self.false_negative[0]
        return bool(positives > 0 and self.false_positive[0] + self.true_negative[0] > 0)


def threshold_curve(scores: FloatArray, is_positive: BoolArray, weights: FloatArray | None = None) -> ThresholdCurve:
    """Return the counts at each distinct score, and below all of them.

    `scores`, `is_positive` and `weights` are [n_examples]; without weights every example counts one. Without examples
    there is only the threshold −∞, and no area.
    Raises InvalidArgument for a score that is not finite, arrays of different lengths, and a negative weight.
    Source: Fawcett 2006, An introduction to ROC analysis, algorithm 1, without interpolation.

    >>> curve = threshold_curve(np.array([0.2, 0.7]), np.array([False, True]))
    >>> (curve.threshold.tolist(), curve.true_positive.tolist(), curve.false_positive.tolist())
    ([-inf, 0.2, 0.7], [1.0, 1.0, 0.0], [1.0, 0.0, 0.0])
    """
    require_shape("scores", scores, "n_examples")
    require_finite("scores", scores)
    require_shape("is_positive", is_positive, len(scores))
    weights = np.ones(len(scores)) if weights is None else weights
    require_shape("weights", weights, len(scores))
    require_weights("weights", weights)
    distinct, place = np.unique(scores, return_inverse=True)
    positive = np.bincount(place, weights * is_positive, minlength=len(distinct))
    negative = np.bincount(place, weights * ~is_positive, minlength=len(distinct))
    return ThresholdCurve(
        threshold=np.concatenate([[-np.inf], distinct]),
        true_positive=_called(positive),
        false_positive=_called(negative),
        true_negative=np.concatenate([[0.0], np.cumsum(negative)]),
        false_negative=np.concatenate([[0.0], np.cumsum(positive)]),
    )


def _called(weights: NDArray[Any]) -> FloatArray:
    """Return the weight above each threshold, summed from the top, so that above the highest it is exactly zero."""
    return np.concatenate([np.cumsum(weights[::-1])[::-1], [0.0]])


# The operating point of a classifier on its threshold curve: at a threshold, or where a constraint is just met.

GIVEN = ("recall", "volume", "precision", "fpr")


def place_where(given: str, values: FloatArray, at: float) -> int | None:
    """Return the index on a curve of ascending thresholds where the constraint on `given` is met, or None.

    `values` [n_thresholds] holds the constrained share at each threshold. For a recall or volume of at least `at` it is
    the last index, the highest threshold; for a precision of at least `at`, or a false positive rate of at most `at`,
    the first.
    Raises InvalidArgument for any other `given`, and for `at` outside [0, 1].
    Source: YDF 0.16, metrics at a constraint, conservative and without interpolation.

    >>> place_where("recall", np.array([1.0, 0.5, 0.0]), 0.4), place_where("fpr", np.array([1.0, 0.5, 0.0]), 0.6)
    (1, 1)
    """
    require_word("given", given, GIVEN)
    require_number("at", at, 0.0, 1.0)
    require_shape("values", values, "n_thresholds")
    meets = values <= at + ROUNDING if given == "fpr" else values >= at - ROUNDING
    places = np.flatnonzero(meets)
    if not len(places):
        return None
    return int(places[-1] if given in ("recall", "volume") else places[0])


def place_of(thresholds: FloatArray, at: float) -> int:
    """Return the index on a curve of the threshold that predicts positive from the score `at` on.

    `thresholds` [n_thresholds] ascend from −∞, in the unit of the scores; scores above a threshold are predicted
    positive.
    Raises InvalidArgument for `at` that is not finite.
    Source: the convention of `app.stats.curves`.

    >>> place_of(np.array([-np.inf, 0.2, 0.5, 0.7]), 0.5)
    1
    """
    require_shape("thresholds", thresholds, "n_thresholds")
    require_number("at", at)
    return max(0, int(np.searchsorted(thresholds, at, side="left")) - 1)


# Areas and constrained metrics of threshold curves under many weightings of the same examples at once. Scores are
# sorted once. Only the scores of positives matter as thresholds: between two of them recall does not change, so every
# metric of a weighting is a sum over the distinct scores of positives. The same definitions, curve by curve, are in
# `app.stats.curves`. Weights are [n_weightings, n_examples] and not negative, which is checked where they enter. A
# result is NaN where only one class has weight, where nothing is predicted positive, or where a class weighs almost
# nothing; no argument holds NaN.

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
        """Return `places` and `ends` as `app.stats.curves` takes them; None unless each example has one score."""
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
    _add_areas(weights[n_beside:], scores.positive, scores.levels, scores.negative, scores.below, scores.upto,
                         false, sums[n_beside:])  # fmt: skip
    return _areas_of(sums.T)


def _areas_of(sums: FloatArray) -> Areas:
    """Return areas from the sums that `app.stats.curves` names, [8, n_weightings]."""
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


@compiled()
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
    app.stats.arrays.InvalidArgument: weights has the shape (1, 1); expected [n_weightings, 2]
    """
    require_shape("weights", weights, "n_weightings", "n_examples")
    if weights.shape[1] < scores.least_examples:
        require_shape("weights", weights, "n_weightings", scores.least_examples)


# The sums behind the areas of threshold curves, of thirty-two resamples side by side. Counts of one resample are
# bytes by example, and what is looked at next, in the order of scores, is far away: of a million examples each look
# is out of the processor's cache. So the counts of thirty-two resamples are laid side by side in the order of scores,
# each example's once, and then read from the first to the last, where a processor also adds up eight resamples at a
# time. Every sum of a resample has the numbers, and their order, that it has by itself.

LANES = 32
"""So many resamples side by side."""

N_SUMS = 8

_FALSE, _GAINED, _TIED, _TRUE, _PASSED, _HALVES, _STEPS, _AFTER, _RIGHT, _BEYOND = range(0, 10 * LANES, LANES)
"""Where in one array the numbers of each kind begin: that they are apart must be known to the compiler."""

_LINE = 64
"""Bytes of a line of the cache."""

_NEAR = 256
"""Examples that are laid side by side at once: what is made of them on the way stays near the processor."""


def sums_beside(counts: Counts, places: Int32Array, ends: Int32Array) -> FloatArray:
    """Return eight sums of thirty-two resamples, [8, 32], from their counts [32, n_examples].

    `places` [n_examples] is where each example stands by falling score, positives before negatives with the same one.
    `ends` [n_levels + 1, 3] is where, before each distinct score of a positive, the negatives above it end, then its
    positives, then the negatives that share it; its last row ends the negatives below.
    Sums are those of `app.stats.curves`: weight of the positives and of the negatives, twice the pairs in the
    wrong order, the precision before and after each gain, before it, after it, the most that is called rightly, and
    what mixed ties have beyond the straight lines across them.
    A count is finite, so no sum is NaN. Raises nothing: whoever calls it has checked the arrays.
    Source: as in `app.stats.curves`.

    >>> counts = np.ones((32, 2), dtype=np.uint8)
    >>> ends = np.array([[0, 1, 1], [2, 2, 2]], dtype=np.int32)
    >>> sums_beside(counts, np.array([1, 0], dtype=np.int32), ends)[:, 0].tolist()
    [1.0, 1.0, 0.0, 2.0, 1.0, 1.0, 2.0, 0.0]
    """
    sums = aligned((_BEYOND // LANES + 1) * LANES)
    _add_beside(lay_beside(counts, places), ends, sums)
    rows = sums.reshape(-1, LANES)
    # What is right is weighed against all negatives, which are known at the end.
    rows[_RIGHT // LANES] += rows[_FALSE // LANES]
    return rows[[kind // LANES for kind in (_TRUE, _FALSE, _PASSED, _HALVES, _STEPS, _AFTER, _RIGHT, _BEYOND)]]


def lay_beside(counts: Counts, places: Int32Array) -> Counts:
    """Return the counts of thirty-two resamples side by side, [n_examples, 32], each example's at its place.

    `counts` are [32, n_examples], `places` [n_examples] holds each number below n_examples once; there is no NaN.
    Raises nothing: whoever calls it has checked the arrays. Source: by definition.

    >>> counts = np.arange(64, dtype=np.uint8).reshape(32, 2)
    >>> lay_beside(counts, np.array([1, 0], dtype=np.int32))[:, :3].tolist()
    [[1, 3, 5], [0, 2, 4]]
    """
    beside = np.empty((len(places), LANES // 8), dtype=np.uint64)
    _lay_beside(counts, places, beside)
    return beside.view(np.uint8)


def aligned(n_numbers: int) -> FloatArray:
    """Return zeros [n_numbers] that begin where a line of the cache does: registers across two lines are slower.

    None of them is NaN. Raises ValueError, numpy's own, for less than none. Source: by definition.

    >>> aligned(3).tolist()
    [0.0, 0.0, 0.0]
    """
    room = np.zeros(n_numbers + _LINE // 8)
    begin = -room.ctypes.data % _LINE // 8
    return room[begin : begin + n_numbers]


@compiled()
def _lay_beside(counts: Counts, places: Int32Array, beside: NDArray[np.uint64]) -> None:
    """Write the bytes of eight resamples as one word, two by two: so the compiler has them all in wide registers."""
    twos, fours = np.empty((4, _NEAR), dtype=np.uint16), np.empty((2, _NEAR), dtype=np.uint32)
    eights = np.empty((beside.shape[1], _NEAR), dtype=np.uint64)
    for start in range(0, counts.shape[1], _NEAR):
        n_near = min(_NEAR, counts.shape[1] - start)
        for word in range(beside.shape[1]):
            for two in range(4):
                row = 8 * word + 2 * two
                for at in range(start, start + n_near):
                    second = np.uint16(counts[row + 1, at]) << np.uint16(8)
                    twos[two, at - start] = np.uint16(counts[row, at]) | second
            for four in range(2):
                for at in range(n_near):
                    others = np.uint32(twos[2 * four + 1, at]) << np.uint32(16)
                    fours[four, at] = np.uint32(twos[2 * four, at]) | others
            for at in range(n_near):
                eights[word, at] = np.uint64(fours[0, at]) | (np.uint64(fours[1, at]) << np.uint64(32))
        for at in range(n_near):
            for word in range(beside.shape[1]):
                beside[places[start + at], word] = eights[word, at]


@compiled()
def _add_beside(beside: Counts, ends: Int32Array, sums: FloatArray) -> None:
    """Pass the scores from the highest to the lowest; the last level has no positive and adds nothing but negatives.

    The number of lanes is that of an array: loops of a known length would be written out instead of made wide.
    """
    n_lanes, start = beside.shape[1], 0
    for level in range(ends.shape[0]):
        gained_from, tied_from = ends[level, 0], ends[level, 1]
        for at in range(start, ends[level, 2]):
            kind = LANES * (int(at >= gained_from) + int(at >= tied_from))
            for lane in range(n_lanes):
                sums[kind + lane] += beside[at, lane]
        if ends[level, 2] > tied_from:
            for lane in range(n_lanes):
                above, gained, missed = sums[_FALSE + lane], sums[_GAINED + lane], sums[_TIED + lane]
                if gained > 0.0 and missed > 0.0:
                    true, called, per_hit = sums[_TRUE + lane], sums[_TRUE + lane] + above, 1.0 + missed / gained
                    line = (true / called if called > 0.0 else 1.0) + (true + gained) / (called + gained * per_hit)
                    beyond = gained / per_hit
                    if called > 0.0:
                        beyond += (true - called / per_hit) / per_hit * np.log1p(gained * per_hit / called)
                    sums[_BEYOND + lane] += beyond - gained * line / 2.0
        for lane in range(n_lanes):
            above, gained, true = sums[_FALSE + lane], sums[_GAINED + lane], sums[_TRUE + lane]
            before = true / (true + above) if true + above > 0.0 else 1.0
            true, false = true + gained, above + sums[_TIED + lane]
            precision = true / (true + false) if true + false > 0.0 else 1.0
            sums[_RIGHT + lane] = max(sums[_RIGHT + lane], true - false)
            sums[_PASSED + lane] += gained * (above + false)
            sums[_HALVES + lane] += gained * (before + precision)
            sums[_STEPS + lane] += gained * before
            sums[_AFTER + lane] += gained * precision
            sums[_TRUE + lane], sums[_FALSE + lane] = true, false
            sums[_GAINED + lane], sums[_TIED + lane] = 0.0, 0.0
        start = ends[level, 2]


# Counts at each threshold, and metrics at a constraint, under many weightings.
#
# "Calls" are predictions as positive. `app.stats.curves` defines thresholds, weights, and when a result is
# NaN.


@dataclass(frozen=True)
class Calls:
    """Calls from each distinct score of a positive upwards, [n_weightings, n_levels], scores ascending.

    `true` and `false` are the true and the false positives at or above the score, of counts whole numbers. Totals are
    [n_weightings, 1].
    """

    true: NDArray[Any]
    false: NDArray[Any]
    positives: NDArray[Any]
    negatives: NDArray[Any]

    @cached_property
    def precision(self) -> FloatArray:
        """Return the precision of calling everything at or above each score; NaN where nothing is called."""
        return share(self.true, self.true + self.false)

    def defined(self, values: FloatArray) -> FloatArray:
        """Return values [n_weightings] with NaN where only one class has weight."""
        has_both = (self.positives[:, 0] > 0) & (self.negatives[:, 0] > 0)
        return np.where(has_both, values, np.nan)


def count_calls(scores: SortedScores, weights: Weights) -> Calls:
    """Return the calls of every weighting [n_weightings, n_examples].

    Raises InvalidArgument for weightings of fewer examples than there are scores.
    Source: Fawcett 2006, algorithm 1.

    >>> from app.stats.curves import sort_scores
    >>> scores = sort_scores(np.array([0.9, 0.1, 0.5]), np.array([True, False, True]))
    >>> calls = count_calls(scores, np.ones((1, 3)))
    >>> (calls.true.tolist(), calls.false.tolist(), calls.precision.tolist())
    ([[2.0, 1.0]], [[0.0, 0.0]], [[1.0, 1.0]])
    """
    require_weightings(scores, weights)
    sums = np.int32 if weights.dtype == np.uint8 else np.float64
    gained = np.take(weights, scores.positive, axis=1)
    if scores.starts is not None:
        gained = np.add.reduceat(gained, scores.starts, axis=1, dtype=sums)
    # Summed from the top, so that the count above the highest score is exactly zero.
    true = sums_from_each_on(gained, sums)
    false = sums_from_each_on(np.take(weights, scores.negative, axis=1), sums)
    return Calls(true[:, :-1], np.take(false, scores.below, axis=1), true[:, :1], false[:, :1])


def at_recall(calls: Calls, metric: str, at: float) -> FloatArray:
    """Return the precision or the fpr at the highest threshold whose recall is at least `at`; 0 if nothing is called.

    `metric` is "precision", larger being better, or "fpr", smaller being better; the result is [n_weightings].
    Raises InvalidArgument for another metric and for `at` outside [0, 1].
    Source: YDF 0.16, metrics at a constraint, conservative and without interpolation.

    >>> from app.stats.curves import sort_scores
    >>> scores = sort_scores(np.array([0.1, 0.5, 0.7]), np.array([True, False, True]))
    >>> at_recall(count_calls(scores, np.ones((1, 3))), "fpr", 1.0).tolist()
    [1.0]
    """
    require_word("metric", metric, ("precision", "fpr"))
    require_number("at", at, 0.0, 1.0)
    reached = calls.defined(np.ones(len(calls.positives)))
    if at <= 0.0:
        return reached * (NOTHING_CALLED if metric == "precision" else 0.0)
    if not calls.true.shape[1]:
        return reached * np.nan
    last = np.maximum((share(calls.true, calls.positives) >= at - ROUNDING).sum(axis=1) - 1, 0)
    values = calls.precision if metric == "precision" else share(calls.false, calls.negatives)
    at_last: FloatArray = reached * values[np.arange(len(values)), last]
    return at_last


def recall_at(calls: Calls, given: str, at: float) -> FloatArray:
    """Return the highest recall with a precision of at least `at`, or an fpr of at most `at`; 0 if nothing is called.

    `given` is "precision" or "fpr"; the result is [n_weightings] and larger is better.
    Raises InvalidArgument for any other `given` and for `at` outside [0, 1].
    Source: YDF 0.16, metrics at a constraint, conservative and without interpolation.

    >>> from app.stats.curves import sort_scores
    >>> scores = sort_scores(np.array([0.1, 0.5, 0.7]), np.array([True, False, True]))
    >>> recall_at(count_calls(scores, np.ones((1, 3))), "precision", 0.9).tolist()
    [0.5]
    """
    require_word("given", given, ("precision", "fpr"))
    require_number("at", at, 0.0, 1.0)
    with np.errstate(invalid="ignore"):
        meets = (
            calls.precision >= at - ROUNDING
            if given == "precision"
            else share(calls.false, calls.negatives) <= at + ROUNDING
        )
    true = np.max(np.where(meets, calls.true, 0.0), axis=1, initial=0.0)
    return calls.defined(share(true, calls.positives[:, 0]))


def sums_from_each_on(values: NDArray[Any], sums: type[np.int32 | np.float64]) -> NDArray[Any]:
    """Return cumulative sums from the right, with a last column of zeros, [n_weightings, n_columns + 1].

    `values` is [n_weightings, n_columns], in any unit; a NaN makes the sums to its left NaN. `sums` is the
    accumulator's type: integers stay exact.
    Raises ValueError, numpy's own, for fewer axes.
    Source: none; `numpy.cumsum` reversed.

    >>> sums_from_each_on(np.array([[1.0, 2.0]]), np.float64).tolist()
    [[3.0, 2.0, 0.0]]
    """
    totals = np.zeros((values.shape[0], values.shape[1] + 1), dtype=sums)
    np.cumsum(values[:, ::-1], axis=1, dtype=sums, out=totals[:, -2::-1])
    return totals


# Precision at a given volume (share predicted positive) under many weightings.


@dataclass(frozen=True)
class SortedVolume:
    """All examples by ascending score: their indices, where each distinct score begins, and which are positive."""

    example: Int32Array
    starts: Int32Array
    is_positive: BoolArray


def sort_volume(scores: FloatArray, is_positive: BoolArray) -> SortedVolume:
    """Sort all scores [n_examples] once for every weighting.

    Raises InvalidArgument for a score that is not finite, no example, and another number of labels.
    Source: none; it sorts.

    >>> sort_volume(np.array([0.5, 0.1, 0.5]), np.array([True, False, False])).starts.tolist()
    [0, 1]
    """
    require_shape("scores", scores, "[n_examples]")
    require_finite("scores", scores)
    require_shape("is_positive", is_positive, len(scores))
    order = np.argsort(scores, kind="stable")
    starts = np.unique(scores[order], return_index=True)[1]
    return SortedVolume(order.astype(np.int32), starts.astype(np.int32), is_positive[order])


def precision_at_volume(scores: SortedVolume, weights: Weights, at: float) -> FloatArray:
    """Return the precision at the highest threshold that still predicts at least the share `at` positive.

    The result is [n_weightings], larger being better; NaN where only one class has weight.
    Raises InvalidArgument for weightings of another number of examples, and for `at` outside [0, 1].
    Source: YDF 0.16, precision at volume, conservative and without interpolation.

    >>> scores = sort_volume(np.array([0.1, 0.5, 0.7]), np.array([True, False, True]))
    >>> precision_at_volume(scores, np.ones((1, 3)), 0.6).tolist()
    [0.5]
    """
    require_shape("weights", weights, "n_weightings", len(scores.example))
    require_number("at", at, 0.0, 1.0)
    each = np.take(weights, scores.example, axis=1).astype(np.float64)
    called = sums_from_each_on(np.add.reduceat(each, scores.starts, axis=1), np.float64)
    true = sums_from_each_on(np.add.reduceat(each * scores.is_positive, scores.starts, axis=1), np.float64)
    last = np.maximum((share(called, called[:, :1]) >= at - ROUNDING).sum(axis=1) - 1, 0)
    rows = np.arange(len(called))
    has_both = (true[:, 0] > 0) & (true[:, 0] < called[:, 0])
    if at <= 0.0:
        return np.where(has_both, NOTHING_CALLED, np.nan)
    return np.where(has_both, share(true[rows, last], called[rows, last]), np.nan)


# Calibrated intervals of metrics that are not means: the area under a ROC curve, and root mean squares; pure.
#
# Called when predictions are measured. Arrays are [n_examples]; only the proportions of weights matter.

CHI_SQUARED = "chi2_neff"


def area_spread(
    scores: FloatArray, is_positive: BoolArray, weights: FloatArray, by_fall: Int32Array | None = None
) -> Spread:
    """Return the spread of the area under the ROC curve of scores [n_examples], larger meaning more likely positive.

    `n_units`, which decides the interval of a perfect area, is the effective size of the smaller class; the error is
    never less than that of a proportion over all examples. Each example's contribution to the error is enlarged by its
    own leverage on the area, and the degrees of freedom count effective examples: both matter where a few examples
    carry most of the weight. `by_fall` [n_examples] is the order of the examples by falling score where it is known
    already; of unequal weights the last digit depends on the order of examples with the same score.
    Raises InvalidArgument for arrays of different lengths, scores that are not finite, negative weights, and a class
    without weight.
    Source: DeLong, DeLong & Clarke-Pearson 1988, equations 3 to 6, with weights; MacKinnon & White 1985, HC2, for the
    leverage; the smallest error was chosen by `bench.interval_coverage`.

    >>> spread = area_spread(np.array([0.1, 0.4, 0.3, 0.8]), np.array([False, False, True, True]), np.ones(4))
    >>> float(spread.point), round(float(spread.error), 4), float(spread.n_units)
    (0.75, 0.3536, 2.0)
    """
    require_shape("scores", scores, "[n_examples]")
    require_finite("scores", scores)
    require_shape("is_positive", is_positive, len(scores))
    require_shape("weights", weights, len(scores))
    require_weights("weights", weights)
    if by_fall is not None:
        require_shape("by_fall", by_fall, len(scores))
    order = np.argsort(scores, kind="stable") if by_fall is None else by_fall[::-1]
    positive, negative = (_Weighted(scores, weights, order[mask[order]]) for mask in (is_positive, ~is_positive))
    won, lost = positive.share_below(negative), 1.0 - negative.share_below(positive)
    area = float(positive.shares @ won)
    error = float(np.sqrt(positive.variance(won, area) + negative.variance(lost, area)))
    fewest = min(positive.kish, negative.kish)
    least = float(np.sqrt(max(area * (1.0 - area), 0.0) / (positive.kish + negative.kish)))
    free = np.count_nonzero(weights) - 2.0
    return spread_of(area, error, 0.0, fewest, max(min(free, 1.0), positive.kish + negative.kish - 2.0), least)


class _Weighted:
    """One class: its sorted scores, its weights as shares of their total, and its effective number of examples."""

    def __init__(self, scores: FloatArray, weights: FloatArray, examples: Int32Array | IntArray) -> None:
        self.scores, mine = scores[examples], weights[examples]
        if not mine.sum() > 0:
            raise InvalidArgument("weights of a class are all zero; expected one above it at least in both")
        self.shares: FloatArray = mine / mine.max() / (mine / mine.max()).sum()
        self.kish = float(1.0 / (self.shares**2).sum())
        self._upto = np.concatenate([[0.0], np.cumsum(self.shares)])

    def share_below(self, other: "_Weighted") -> FloatArray:
        """Return, for each score, the share of the other class below it, ties counting half."""
        below = other._upto[np.searchsorted(other.scores, self.scores, side="left")]
        upto = other._upto[np.searchsorted(other.scores, self.scores, side="right")]
        shares: FloatArray = (below + upto) / 2.0
        return shares

    def variance(self, placed: FloatArray, area: float) -> float:
        """Return the variance that the class contributes; NaN where it is effectively a single example."""
        if self.kish <= 1.0 + 1e-9:
            return 0.0
        squared = float(((self.shares * (placed - area)) ** 2 / (1.0 - self.shares)).sum())
        return squared if squared > 1e-26 else 0.0


def root_mean_squares(squares: FloatArray, weights: FloatArray | None, level: float) -> Ends:
    """Return the ends [...] of intervals for the root of the mean of `squares` [..., n_units], in the unit of the root.

    NaN with fewer than two units, and where all squares are zero.
    Raises InvalidArgument for a level outside (0, 1), a negative square, and as `mean_spread` does.
    Source: `app.stats.calibrated.root_mean_square`.

    >>> [round(float(end), 3) for end in root_mean_squares(np.array([1.0, 4.0, 1.0, 0.0, 4.0]), None, 0.95)]
    [0.774, 3.822]
    """
    require_level(level)
    require_within("squares", squares, 0.0, np.inf)
    spread = mean_spread(squares, weights)
    low, high = root_mean_square(spread.point, spread.believed, np.maximum(spread.n_units, 1.0 + 1e-9), level)
    is_none = spread.df < 1
    return np.where(is_none, np.nan, low), np.where(is_none, np.nan, high)


def calibrated_root_mean_square(squares: FloatArray, weights: FloatArray | None, level: float) -> Calibrated:
    """Return the interval for the root mean square of `squares` [n_examples]; none below two units or if all are zero.

    Raises InvalidArgument as `root_mean_squares` does.
    Source: `root_mean_squares`.

    >>> calibrated_root_mean_square(np.zeros(3), None, 0.95).reason
    'all_equal'
    """
    require_shape("squares", squares, "[n_examples]")
    low, high = (float(end) for end in root_mean_squares(squares, weights, level))
    spread = mean_spread(squares, weights)
    n_units = float(spread.n_units)
    if np.isnan(low) or np.isnan(high):
        return Calibrated(None, None, None, n_units, TOO_FEW_UNITS if spread.df < 1 else ALL_EQUAL)
    return Calibrated(low, high, CHI_SQUARED, n_units)


def replicate_spread(point: float, replicates: FloatArray, n_units: float, *, is_share: bool) -> Spread:
    """Return the spread of a metric whose standard error has no closed form, from its replicates [n_resamples].

    The bootstrap's variance has divisor n; it is rescaled to n − 1. NaN replicates are left out. The error of a share
    (`is_share`) is never less than that of independent units, MOST_WEIGHTED times as many.
    Raises InvalidArgument for fewer than one unit.
    Source: Hesterberg 2004, Unbiasing the bootstrap: bootknife sampling vs. smoothing, section 2.

    >>> spread = replicate_spread(0.5, np.array([0.4, 0.6]), 5.0, is_share=True)
    >>> round(float(spread.error), 4), round(float(spread.least), 4)
    (0.1118, 0.189)
    """
    require_number("n_units", n_units, 1.0)
    known = replicates[~np.isnan(replicates)]
    variance = float(known.var()) * (n_units / (n_units - 1.0) if n_units > 1.0 else 1.0)
    least = np.sqrt(max(point * (1.0 - point), 0.0) / (MOST_WEIGHTED * n_units)) if is_share else 0.0
    cubed = float(known.var() ** 1.5)  # zero below a spread of about 1e-108, where no skewness can be estimated
    skewness = float(((known - known.mean()) ** 3).mean() / cubed) if cubed > 0 else 0.0
    return spread_of(point, float(np.sqrt(variance)), skewness, n_units, max(n_units - 1.0, 1.0), float(least))
