"""Points of entrants task by task, from their order on each. Called by the ranking methods over tasks; pure."""

from collections.abc import Callable

import numpy as np
import scipy

from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.stats.checks import require_shape
from app.stats.compiled import compiled, in_parts


def borda_points(better: FloatArray) -> FloatArray:
    """Return how many of all entrants each is ranked before, [n_tasks, n_entrants]; larger is better.

    `better` is [n_tasks, n_entrants] in any unit, larger being better; NaN is no result, which gives no points, and is
    behind every result. Ties share the average rank r among those with a result, and get n − r points, n being all
    entrants, those without a result too.
    Raises InvalidArgument for no entrant.
    Source: MTEB, its leaderboard's `_borda_count`; Colombo et al. 2022, What are the best systems? (Borda's count).

    >>> borda_points(np.array([[0.9, 0.5, 0.5], [0.1, np.nan, 0.2]])).tolist()
    [[2.0, 0.5, 0.5], [1.0, 0.0, 2.0]]
    """
    require_shape("better", better, "n_tasks", "[n_entrants]")
    ranks = scipy.stats.rankdata(-better, axis=1, nan_policy="omit")
    points: FloatArray = np.where(np.isnan(better), 0.0, better.shape[1] - ranks)
    return points


def within(better: FloatArray, some: BoolArray, points_of: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Return points among some entrants [n_entrants] only, [n_tasks, n_entrants], and 0 for all others.

    `points_of` is given the columns of `better` [n_tasks, n_some], larger being better, and returns as many; what it is
    given as NaN is its own affair. Alone, an entrant has 0 points.
    Source: by definition.

    >>> within(np.array([[1.0, np.nan, 2.0]]), np.array([True, False, True]), lambda b: b * 10).tolist()
    [[10.0, 0.0, 20.0]]
    """
    points = np.zeros(better.shape)
    if some.sum() > 1:
        points[:, some] = points_of(better[:, some])
    return points


def ranks_beside(others: FloatArray, points: FloatArray, owns: FloatArray, counts: FloatArray) -> IntArray:
    """Return the rank by Borda points of each of `owns` [n_tasks, n_owns] as the only one beside the others, [n_owns].

    `others` is [n_tasks, n_others], `points` [n_others] what they have among themselves; larger is better, in any unit.
    `counts` [n_tasks] is how much a point of each task counts. Ties share a point; 1 is the best rank.
    Raises InvalidArgument for arrays of other shapes.
    Source: by definition, see `borda_points`.

    >>> ranks_beside(np.array([[0.9, 0.5]]), np.array([1.0, 0.0]), np.array([[0.7, 0.4]]), np.ones(1)).tolist()
    [2, 3]
    """
    require_shape("others", others, "n_tasks", "n_others")
    n_tasks, n_others = others.shape
    require_shape("points", points, n_others)
    require_shape("owns", owns, n_tasks, "n_owns")
    require_shape("counts", counts, n_tasks)
    rows, own_rows = np.ascontiguousarray(others.T), np.ascontiguousarray(owns.T)
    ranks, loop = np.empty(len(own_rows), dtype=np.int64), compiled(_fill_ranks_beside, reorders_sums=True)
    n_steps = others.size * len(own_rows)
    in_parts(len(ranks), 1, lambda part: loop(rows, points, own_rows[part], counts, ranks[part]), n_steps=n_steps)
    return ranks


def _fill_ranks_beside(
    others: FloatArray, points: FloatArray, owns: FloatArray, counts: FloatArray, ranks: IntArray
) -> None:
    everything = counts.sum()
    totals = np.empty(len(others))
    for place in range(len(owns)):
        own, of_own = owns[place], 0.0
        for other in range(len(others)):
            result, behind = others[other], 0.0
            for task in range(len(counts)):
                # Ahead of it and not behind it: a whole point; a tie is only the latter.
                behind += counts[task] * ((result[task] < own[task]) + (result[task] <= own[task]))
            of_own += 0.5 * behind
            totals[other] = points[other] + (everything - 0.5 * behind)
        ranks[place] = 1 + (totals > of_own).sum()
