"""Percentile intervals, and what follows from the replicates of scores: ranks and the probability of being best.

Called by the ranking methods in `app.boards`; pure. Scores and their replicates are larger-is-better and in the
metric's own unit; ranks count from 1, which is the best.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from app.stats.arrays import FloatArray, IntArray
from app.stats.checks import InvalidArgument, require_level, require_numbers, require_shape
from app.stats.compiled import compiled, in_parts, turned

TIE = 1e-12
"""Replicate scores closer than this are tied: they differ only by the rounding of sums."""


@dataclass(frozen=True)
class Scale:
    """A monotone function of replicates: never rising if `falls`, otherwise never falling."""

    of: Callable[[FloatArray], FloatArray]
    falls: bool

    def ranked(self, ordered: FloatArray, at: int) -> FloatArray:
        """Return, for each row of replicates, the one at position `at` in the order of this scale."""
        return self.of(np.ascontiguousarray(ordered[:, -1 - at if self.falls else at]))


def percentile_interval(replicates: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Return low and high ends, [n_columns] each, of replicates [n_resamples, n_columns]; linear quantiles.

    The ends are in the unit of the replicates. A column with NaN in any resample has NaN for both ends; other columns
    are unaffected.
    Raises InvalidArgument for a level outside (0, 1) and for no resample.
    Source: Efron & Tibshirani 1993, section 13.3.

    >>> percentile_interval(np.array([[0.0], [1.0], [2.0], [3.0], [4.0]]), 0.5)
    (array([1.]), array([3.]))
    """
    return ends_of(order_replicates(replicates), level)


def order_replicates(replicates: FloatArray) -> FloatArray:
    """Return replicates [n_resamples, n_columns] as [n_columns, n_resamples], each column's from least to greatest.

    NaN sorts last. Sorting once serves every interval of the same replicates.
    Raises InvalidArgument for no resample.
    Source: the order statistics that `numpy.quantile` would sort for itself.

    >>> order_replicates(np.array([[2.0], [1.0]])).tolist()
    [[1.0, 2.0]]
    """
    require_shape("replicates", replicates, "[n_resamples]", "n_columns")
    # Contiguous rows are sorted with vector instructions, in a third of the time of `numpy.quantile`.
    ordered = turned(replicates)
    in_parts(len(ordered), 1, lambda part: ordered[part].sort(axis=1), n_steps=ordered.size)
    return ordered


def ends_of(ordered: FloatArray, level: float, scale: Scale | None = None) -> tuple[FloatArray, FloatArray]:
    """Return the ends of `percentile_interval`, [n_columns] each, of ordered replicates [n_columns, n_resamples].

    `order_replicates` orders them. With a scale the ends are those of the transformed replicates; only the order
    statistics needed are transformed. A column with NaN has NaN for both ends.
    Raises InvalidArgument for a level outside (0, 1).
    Source: as of `percentile_interval`; the interpolation is that of `numpy.quantile`, to the last bit.

    >>> ends_of(np.array([[0.0, 1.0, 2.0, 3.0, 4.0]]), 0.5, Scale(np.negative, falls=True))
    (array([-3.]), array([-1.]))
    """
    require_level(level)
    tail = (1.0 - level) / 2.0
    low, high = (_quantile(ordered, share, scale) for share in (tail, 1.0 - tail))
    undefined = np.isnan(ordered[:, -1])
    low[undefined], high[undefined] = np.nan, np.nan
    return low, high


def _quantile(ordered: FloatArray, share: float, scale: Scale | None) -> FloatArray:
    last = ordered.shape[1] - 1
    place = last * share
    below = math.floor(place)
    above, part = min(below + 1, last), place - below
    first, second = (ordered[:, at] if scale is None else scale.ranked(ordered, at) for at in (below, above))
    step = second - first
    quantiles: FloatArray = second - step * (1.0 - part) if part >= 0.5 else first + step * part
    return quantiles


def competition_ranks(scores: FloatArray) -> IntArray:
    """Return ranks 1, 1, 3, … along the last axis of scores [..., n_entrants], the largest first, in the same shape.

    Scores closer than TIE to their neighbour in the order are tied and share the best rank; so do equal infinities.
    Raises InvalidArgument for NaN, which cannot be ordered, and for no entrant.
    Source: "standard competition ranking", `scipy.stats.rankdata(-scores, method="min")` up to TIE.

    >>> competition_ranks(np.array([0.5, 1.0, 1.0])).tolist()
    [3, 1, 1]
    """
    if scores.ndim < 1 or not scores.shape[-1]:
        raise InvalidArgument(f"scores has the shape {scores.shape}; expected [..., n_entrants >= 1]")
    require_numbers("scores", scores)
    order = np.argsort(-scores, axis=-1, kind="stable")
    ordered = np.take_along_axis(scores, order, axis=-1)
    positions = np.broadcast_to(np.arange(scores.shape[-1]), scores.shape)
    begins = np.ones(scores.shape, dtype=bool)
    with np.errstate(invalid="ignore"):  # equal infinities differ by NaN, which counts as a tie
        begins[..., 1:] = ordered[..., :-1] - ordered[..., 1:] > TIE
    first = np.maximum.accumulate(np.where(begins, positions, 0), axis=-1)
    ranks = np.empty(scores.shape, dtype=np.int64)
    np.put_along_axis(ranks, order, first + 1, axis=-1)
    return ranks


def probability_best(scores: FloatArray) -> FloatArray:
    """Return the share of scores [n_resamples, n_entrants] in which each entrant is first, [n_entrants].

    Entrants closer than TIE to the largest share first place equally, so the shares sum to one.
    Raises InvalidArgument for no resample and for NaN.
    Source: the share of resamples, the bootstrap's estimate of P(rank = 1).

    >>> probability_best(np.array([[2.0, 1.0], [1.0, 1.0]])).tolist()
    [0.75, 0.25]
    """
    require_shape("scores", scores, "[n_resamples]", "[n_entrants]")
    require_numbers("scores", scores)
    first = scores >= scores.max(axis=1, keepdims=True) - TIE
    ever = np.flatnonzero(first.any(axis=0))  # of many entrants, few are ever first
    shares, best = first[:, ever] / first.sum(axis=1, keepdims=True), np.zeros(scores.shape[1])
    best[ever] = shares.mean(axis=0)
    return best


def probability_beats(scores: FloatArray) -> FloatArray:
    """Return the share of scores [n_resamples, n_entrants] where row is above column, [n_entrants, n_entrants].

    Scores closer than TIE count half, so a share and its mirror image sum to one, and the diagonal is one half.
    Raises InvalidArgument for NaN and for no resample. Needs no more memory than `scores`.
    Source: the share of resamples, the bootstrap's estimate of P(A > B) + P(A = B) / 2.

    >>> probability_beats(np.array([[2.0, 1.0], [1.0, 1.0]])).tolist()
    [[0.5, 0.75], [0.25, 0.5]]
    """
    require_shape("scores", scores, "[n_resamples]", "n_entrants")
    require_numbers("scores", scores)
    columns = np.ascontiguousarray(scores.T)
    beats, loop = np.empty((len(columns),) * 2), compiled(_fill_beats)
    in_parts(len(columns), 1, lambda part: loop(columns, TIE, beats, part.start, part.stop))
    return beats


def _fill_beats(columns: FloatArray, tie: float, beats: FloatArray, begin: int, end: int) -> None:
    n_entrants, n_drawn = columns.shape
    for first in range(begin, end):
        a = columns[first]
        for second in range(first, n_entrants):
            b = columns[second]
            n_above, n_below = 0, 0
            for at in range(n_drawn):
                margin = a[at] - b[at]
                n_above += margin > tie
                n_below += margin < -tie
            # Equal infinities differ by NaN, which counts as a tie.
            tied = 0.5 * ((n_drawn - n_above - n_below) / n_drawn)
            beats[first, second], beats[second, first] = n_above / n_drawn + tied, n_below / n_drawn + tied
