"""Areas and constrained metrics of threshold curves under many weightings of the same examples at once.

Called by `app.boards` with the counts of a bootstrap; pure. Scores are sorted once. A threshold matters only
where the score of a positive is passed: between two of those recall does not change, so every number of a weighting is
a sum over the distinct scores of positives. The same definitions, curve by curve, are in `app.stats.curves`.
Weights are [n_weightings, n_examples] and not negative, which is checked where they come in. NaN in a result says that
a weighting has one class only, that nothing is called, or that a class weighs next to nothing; NaN does not come in.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.stats.arrays import BoolArray, FloatArray, Weights, share
from app.stats.checks import (
    require_finite,
    require_integers,
    require_number,
    require_shape,
    require_word,
)
from app.stats.compiled import compiled

Int32Array = NDArray[np.int32]
ROUNDING = 1e-12
"""A share that misses a constraint by less meets it: sums of weights, rescaled, differ in the last digits."""
NOTHING_CALLED = 1.0
"""The precision of calling nothing positive."""
SMALLEST_WEIGHT = float(np.finfo(np.float64).smallest_normal)
"""A class that weighs less in all, or whose pairs do, has no area: below it numbers lose their digits, and are zero."""


@dataclass(frozen=True)
class SortedScores:
    """Examples by ascending score, positives and negatives apart.

    `positive` and `negative` are example numbers. `starts` [n_levels] is where each distinct score of a positive begins
    in `positive`, or None when all differ; `below` and `upto` count the negatives with a lower and with at most
    that score, and are the same array when no negative shares a score with a positive.
    """

    positive: Int32Array
    negative: Int32Array
    starts: Int32Array | None
    below: Int32Array
    upto: Int32Array

    @cached_property
    def least_examples(self) -> int:
        """Return how many examples a weighting has at least: compiled loops would read beyond a shorter one."""
        return 1 + max((int(part.max()) for part in (self.positive, self.negative) if len(part)), default=-1)


def sort_scores(scores: FloatArray, is_positive: BoolArray, example: Int32Array | None = None) -> SortedScores:
    """Sort scores [n_scores] once for every weighting; `example` says whose each score is, by default its own.

    `is_positive` and `example` are [n_scores] too.
    Raises InvalidArgument for a score that is not finite, arrays of other lengths, and a negative example number.
    Source: by definition.

    >>> found = sort_scores(np.array([0.9, 0.1, 0.5]), np.array([True, False, True]))
    >>> (found.positive.tolist(), found.negative.tolist(), found.below.tolist())
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
class Calls:
    """What is called positive from each distinct score of a positive on, [n_weightings, n_levels], scores ascending.

    `gained` is the weight of the positives with the score itself, `found_above` of those beyond it; `false` and
    `false_above` are the false positives from the score on and beyond it. Totals are [n_weightings, 1].
    """

    gained: FloatArray
    found_above: FloatArray
    false: FloatArray
    false_above: FloatArray
    positives: FloatArray
    negatives: FloatArray

    @cached_property
    def found(self) -> FloatArray:
        """Return the true positives from each score on."""
        return self.found_above + self.gained

    @cached_property
    def precision(self) -> FloatArray:
        """Return the precision from each score on; NaN where nothing is called."""
        return share(self.found, self.found + self.false)

    def defined(self, values: FloatArray) -> FloatArray:
        """Return values [n_weightings] with NaN where there is one class only."""
        has_both = (self.positives[:, 0] > 0) & (self.negatives[:, 0] > 0)
        return np.where(has_both, values, np.nan)


def count_calls(scores: SortedScores, weights: Weights) -> Calls:
    """Return the calls of every weighting [n_weightings, n_examples].

    Raises InvalidArgument for weightings of fewer examples than the scores are of.
    Source: by definition.

    >>> scores = sort_scores(np.array([0.9, 0.1, 0.5]), np.array([True, False, True]))
    >>> calls = count_calls(scores, np.ones((1, 3)))
    >>> (calls.found.tolist(), calls.false.tolist(), calls.precision.tolist())
    ([[2.0, 1.0]], [[0.0, 0.0]], [[1.0, 1.0]])
    """
    _require_weightings(scores, weights)
    sums = np.int32 if weights.dtype == np.uint8 else np.float64
    gained = np.take(weights, scores.positive, axis=1)
    if scores.starts is not None and len(scores.starts):
        gained = np.add.reduceat(gained, scores.starts, axis=1, dtype=sums)
    # Summed from the top, so that exactly nothing is called beyond the highest score.
    found = _from_each_on(gained, sums)
    false = _from_each_on(np.take(weights, scores.negative, axis=1), sums)
    return Calls(
        gained=gained.astype(np.float64),
        found_above=found[:, 1:].astype(np.float64),
        false=np.take(false, scores.below, axis=1).astype(np.float64),
        false_above=np.take(false, scores.upto, axis=1).astype(np.float64),
        positives=found[:, :1].astype(np.float64),
        negatives=false[:, :1].astype(np.float64),
    )


@dataclass(frozen=True)
class Areas:
    """The areas of every weighting, [n_weightings]. Each is as in `app.stats.curves`.

    `average_precision` takes the precision before each gain in recall, `average_precision_after` the one after it.

    NaN with one class only, and where the weight of a class, or of the pairs of both for `roc`, is too small a number
    to divide by with all its digits.
    """

    roc: FloatArray
    precision_recall: FloatArray
    average_precision: FloatArray
    average_precision_after: FloatArray


def curve_areas(scores: SortedScores, weights: Weights) -> Areas:
    """Return the areas under ROC and precision-recall curves of weightings [n_weightings, n_examples], in one pass.

    Raises InvalidArgument for weightings of fewer examples than the scores are of.
    Source: as in `app.stats.curves`: Hanley & McNeil 1982; Boyd, Eng & Page 2013; YDF 0.16 and scikit-learn for AP.

    >>> scores = sort_scores(np.array([0.1, 0.5, 0.7]), np.array([True, False, True]))
    >>> areas = curve_areas(scores, np.ones((1, 3)))
    >>> (areas.roc.tolist(), areas.average_precision.tolist())
    ([0.5], [0.75])
    """
    _require_weightings(scores, weights)
    areas = np.full((4, len(weights)), np.nan)
    false = np.zeros(len(scores.negative) + 1, dtype=np.int32 if weights.dtype == np.uint8 else np.float64)
    starts = np.arange(len(scores.positive), dtype=np.int32) if scores.starts is None else scores.starts
    levels = np.append(starts, np.int32(len(scores.positive)))
    compiled(_add_areas)(weights, scores.positive, levels, scores.negative, scores.below, scores.upto, false, areas)
    return Areas(*areas)


def _add_areas(
    weights: Weights,
    positive: Int32Array,
    levels: Int32Array,
    negative: Int32Array,
    below: Int32Array,
    upto: Int32Array,
    false: NDArray[Any],
    areas: FloatArray,
) -> None:
    """Pass the scores from the highest to the lowest; `false` is room for the negatives from each place on."""
    for row in range(weights.shape[0]):
        each = weights[row]
        for at in range(len(negative) - 1, -1, -1):
            false[at] = false[at + 1] + each[negative[at]]
        found, passed, halves, steps, after = 0.0, 0.0, 0.0, 0.0, 0.0
        for level in range(len(levels) - 2, -1, -1):
            gained = 0.0
            for at in range(levels[level], levels[level + 1]):
                gained += each[positive[at]]
            false_above, false_from = false[upto[level]], false[below[level]]
            called = found + false_above
            precision_above = found / called if called > 0.0 else 1.0
            found += gained
            called = found + false_from
            precision = found / called if called > 0.0 else 1.0
            passed += gained * (false_above + false_from)
            halves += gained * (precision_above + precision)
            steps += gained * precision_above
            after += gained * precision
        if found >= SMALLEST_WEIGHT and false[0] >= SMALLEST_WEIGHT:
            pairs = 2.0 * found * false[0]
            if pairs >= SMALLEST_WEIGHT:
                areas[0, row] = 1.0 - passed / pairs
            areas[1, row] = halves / (2.0 * found)
            areas[2, row] = steps / found
            areas[3, row] = after / found


def at_recall(calls: Calls, metric: str, at: float) -> FloatArray:
    """Return the precision or the fpr at the highest threshold whose recall is at least `at`; calling nothing has 0.

    `metric` is "precision", larger being better, or "fpr", smaller being better; the result is [n_weightings].
    Raises InvalidArgument for another metric and for `at` outside [0, 1].
    Source: YDF 0.16, metrics at a constraint, conservative and without interpolation.

    >>> scores = sort_scores(np.array([0.1, 0.5, 0.7]), np.array([True, False, True]))
    >>> at_recall(count_calls(scores, np.ones((1, 3))), "fpr", 1.0).tolist()
    [1.0]
    """
    require_word("metric", metric, ("precision", "fpr"))
    require_number("at", at, 0.0, 1.0)
    reached = calls.defined(np.ones(len(calls.positives)))
    if at <= 0.0:
        return reached * (NOTHING_CALLED if metric == "precision" else 0.0)
    if not calls.found.shape[1]:
        return reached * np.nan
    last = np.maximum((share(calls.found, calls.positives) >= at - ROUNDING).sum(axis=1) - 1, 0)
    values = calls.precision if metric == "precision" else share(calls.false, calls.negatives)
    there: FloatArray = reached * values[np.arange(len(values)), last]
    return there


def recall_at(calls: Calls, given: str, at: float) -> FloatArray:
    """Return the highest recall with a precision of at least `at`, or an fpr of at most `at`; calling nothing has 0.

    `given` is "precision" or "fpr"; the result is [n_weightings] and larger is better.
    Raises InvalidArgument for something else that is given and for `at` outside [0, 1].
    Source: YDF 0.16, metrics at a constraint, conservative and without interpolation.

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
    found = np.max(np.where(meets, calls.found, 0.0), axis=1, initial=0.0)
    return calls.defined(share(found, calls.positives[:, 0]))


@dataclass(frozen=True)
class SortedVolume:
    """All examples by ascending score: their numbers, where each distinct score begins, and which are positive."""

    example: Int32Array
    starts: Int32Array
    is_positive: BoolArray


def sort_volume(scores: FloatArray, is_positive: BoolArray) -> SortedVolume:
    """Sort all scores [n_examples] once for every weighting.

    Raises InvalidArgument for a score that is not finite, no example, and labels of another number.
    Source: by definition.

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
    """Return the precision at the highest threshold that still calls at least the share `at` positive.

    The result is [n_weightings], larger being better; NaN with one class only.
    Raises InvalidArgument for weightings of another number of examples, and for `at` outside [0, 1].
    Source: YDF 0.16, precision at volume, conservative and without interpolation.

    >>> scores = sort_volume(np.array([0.1, 0.5, 0.7]), np.array([True, False, True]))
    >>> precision_at_volume(scores, np.ones((1, 3)), 0.6).tolist()
    [0.5]
    """
    require_shape("weights", weights, "n_weightings", len(scores.example))
    require_number("at", at, 0.0, 1.0)
    each = np.take(weights, scores.example, axis=1).astype(np.float64)
    called = _from_each_on(np.add.reduceat(each, scores.starts, axis=1), np.float64)
    found = _from_each_on(np.add.reduceat(each * scores.is_positive, scores.starts, axis=1), np.float64)
    last = np.maximum((share(called, called[:, :1]) >= at - ROUNDING).sum(axis=1) - 1, 0)
    rows = np.arange(len(called))
    has_both = (found[:, 0] > 0) & (found[:, 0] < called[:, 0])
    if at <= 0.0:
        return np.where(has_both, NOTHING_CALLED, np.nan)
    return np.where(has_both, share(found[rows, last], called[rows, last]), np.nan)


def _require_weightings(scores: SortedScores, weights: Weights) -> None:
    require_shape("weights", weights, "n_weightings", "n_examples")
    if weights.shape[1] < scores.least_examples:
        require_shape("weights", weights, "n_weightings", scores.least_examples)


def _from_each_on(values: NDArray[Any], sums: type[np.int32 | np.float64]) -> NDArray[Any]:
    """Return the sum from each column on, and a last column of zeros, [n_weightings, n_columns + 1]."""
    found = np.zeros((values.shape[0], values.shape[1] + 1), dtype=sums)
    np.cumsum(values[:, ::-1], axis=1, dtype=sums, out=found[:, -2::-1])
    return found
