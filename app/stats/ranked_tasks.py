"""Points for entrants from their order on each task. Called by the ranking methods over tasks; pure."""

from collections.abc import Callable

import numpy as np
import scipy

from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.stats.checks import require_shape
from app.stats.compiled import compiled, in_parts


def borda_points(better: FloatArray) -> FloatArray:
    """Return the Borda points of each entrant on each task, [n_tasks, n_entrants]; larger is better.

    `better` is [n_tasks, n_entrants] in any unit, larger being better; NaN means no result: it gets no points and ranks
    behind every result. A result with rank r, ties sharing the average rank, gets n − r points, where n counts all
    entrants, including those without a result.
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
    """Return points among the entrants marked in `some` [n_entrants], [n_tasks, n_entrants]; 0 for all others.

    `points_of` is given the columns of `better` [n_tasks, n_some], larger being better, and returns an array of that
    shape; it must handle NaN itself. A single entrant has 0 points. Raises what `points_of` raises.
    Source: none; it selects columns.

    >>> within(np.array([[1.0, np.nan, 2.0]]), np.array([True, False, True]), lambda b: b * 10).tolist()
    [[10.0, 0.0, 20.0]]
    """
    points = np.zeros(better.shape)
    if some.sum() > 1:
        points[:, some] = points_of(better[:, some])
    return points


def ranks_beside(others: FloatArray, points: FloatArray, owns: FloatArray, counts: FloatArray) -> IntArray:
    """Return each candidate's rank by Borda points if it alone joined the others, [n_owns].

    `owns` [n_tasks, n_owns] are the candidates' results. `others` is [n_tasks, n_others] and `points` [n_others] their
    points among themselves; larger is better, in any unit. `counts` [n_tasks] is the weight of each task's points. Ties
    share a point; 1 is the best rank.
    Raises InvalidArgument for arrays of mismatched shapes.
    Source: as for `borda_points`, updated for one more entrant.

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
                # A win is both ahead and not behind, a whole point; a tie only the latter, half a point.
                behind += counts[task] * ((result[task] < own[task]) + (result[task] <= own[task]))
            of_own += 0.5 * behind
            totals[other] = points[other] + (everything - 0.5 * behind)
        ranks[place] = 1 + (totals > of_own).sum()
