"""Percentile intervals and what can be read off the replicates of scores: ranks and who is best.

Called by the ranking methods in `app.leaderboards`; pure.
"""

import numpy as np

from app.stats.arrays import FloatArray, IntArray

TIE = 1e-12
"""Replicate scores nearer than this are a tie: they differ by the rounding of sums only."""


def percentile_interval(replicates: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Return low and high ends, [n_columns], of replicates [n_resamples, n_columns]; linear quantiles.

    Source: Efron & Tibshirani 1993, section 13.3.
    """
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(replicates, [tail, 1.0 - tail], axis=0)
    return low, high


def competition_ranks(scores: FloatArray) -> IntArray:
    """Return ranks 1, 1, 3, … along the last axis, the largest score first; ties share the best rank."""
    order = np.argsort(-scores, axis=-1, kind="stable")
    ordered = np.take_along_axis(scores, order, axis=-1)
    positions = np.broadcast_to(np.arange(scores.shape[-1]), scores.shape)
    begins = np.ones(scores.shape, dtype=bool)
    begins[..., 1:] = ordered[..., :-1] - ordered[..., 1:] > TIE
    first = np.maximum.accumulate(np.where(begins, positions, 0), axis=-1)
    ranks = np.empty(scores.shape, dtype=np.int64)
    np.put_along_axis(ranks, order, first + 1, axis=-1)
    return ranks


def rank_interval(ranks: IntArray, level: float) -> tuple[IntArray, IntArray]:
    """Return the lowest and highest rank, [n_entrants], that hold `level` of the replicates' ranks.

    The quantiles are observed ranks: an interval of ranks has no fractions.
    """
    tail = (1.0 - level) / 2.0
    low = np.quantile(ranks, tail, axis=0, method="inverted_cdf")
    high = np.quantile(ranks, 1.0 - tail, axis=0, method="inverted_cdf")
    return low.astype(np.int64), high.astype(np.int64)


def probability_best(ranks: IntArray) -> FloatArray:
    """Return the share of replicates [n_resamples, n_entrants] in which each entrant is first; ties share it."""
    first = (ranks == 1).astype(np.float64)
    best: FloatArray = (first / first.sum(axis=1, keepdims=True)).mean(axis=0)
    return best


def probability_beats(scores: FloatArray) -> FloatArray:
    """Return [n_entrants, n_entrants]: the share of replicates where row scores above column, half for ties."""
    n_entrants = scores.shape[1]
    beats = np.empty((n_entrants, n_entrants))
    for row in range(n_entrants):  # one entrant against all, all replicates at once: memory stays that of `scores`
        margin = scores[:, [row]] - scores
        beats[row] = (margin > TIE).mean(axis=0) + 0.5 * (np.abs(margin) <= TIE).mean(axis=0)
    return beats
