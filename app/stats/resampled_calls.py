"""Counts at each threshold, and metrics at a constraint, under many weightings. Called by `app.kinds.predictions`.

"Calls" are predictions as positive. `app.stats.resampled_curves` defines thresholds, weights, and when a result is NaN.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.stats.arrays import FloatArray, Weights, share
from app.stats.checks import (
    require_number,
    require_word,
)
from app.stats.resampled_curves import NOTHING_CALLED, ROUNDING, SortedScores, require_weightings


@dataclass(frozen=True)
class Calls:
    """Calls from each distinct score of a positive upwards, [n_weightings, n_levels], scores ascending.

    `gained` is the weight of the positives at the score itself, `true_above` of those above it; `false` and
    `false_above` are the false positives at or above the score, and above it. Totals are [n_weightings, 1].
    """

    gained: FloatArray
    true_above: FloatArray
    false: FloatArray
    false_above: FloatArray
    positives: FloatArray
    negatives: FloatArray

    @cached_property
    def true(self) -> FloatArray:
        """Return the true positives at or above each score."""
        return self.true_above + self.gained

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

    >>> from app.stats.resampled_curves import sort_scores
    >>> scores = sort_scores(np.array([0.9, 0.1, 0.5]), np.array([True, False, True]))
    >>> calls = count_calls(scores, np.ones((1, 3)))
    >>> (calls.true.tolist(), calls.false.tolist(), calls.precision.tolist())
    ([[2.0, 1.0]], [[0.0, 0.0]], [[1.0, 1.0]])
    """
    require_weightings(scores, weights)
    sums = np.int32 if weights.dtype == np.uint8 else np.float64
    gained = np.take(weights, scores.positive, axis=1)
    if scores.starts is not None and len(scores.starts):
        gained = np.add.reduceat(gained, scores.starts, axis=1, dtype=sums)
    # Summed from the top, so that the count above the highest score is exactly zero.
    true = sums_from_each_on(gained, sums)
    false = sums_from_each_on(np.take(weights, scores.negative, axis=1), sums)
    return Calls(
        gained=gained.astype(np.float64),
        true_above=true[:, 1:].astype(np.float64),
        false=np.take(false, scores.below, axis=1).astype(np.float64),
        false_above=np.take(false, scores.upto, axis=1).astype(np.float64),
        positives=true[:, :1].astype(np.float64),
        negatives=false[:, :1].astype(np.float64),
    )


def at_recall(calls: Calls, metric: str, at: float) -> FloatArray:
    """Return the precision or the fpr at the highest threshold whose recall is at least `at`; 0 if nothing is called.

    `metric` is "precision", larger being better, or "fpr", smaller being better; the result is [n_weightings].
    Raises InvalidArgument for another metric and for `at` outside [0, 1].
    Source: YDF 0.16, metrics at a constraint, conservative and without interpolation.

    >>> from app.stats.resampled_curves import sort_scores
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

    >>> from app.stats.resampled_curves import sort_scores
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
