"""Points of entrants task by task, from their order on each. Called by the ranking methods over tasks; pure."""

from collections.abc import Callable

import numpy as np
import scipy

from app.stats.arrays import BoolArray, FloatArray
from app.stats.checks import require_shape


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
