"""Differences of means between entrants over the same tasks, as statistics of task weights.

Called by `app.leaderboards.mean`; pure.
"""

import numpy as np
from numpy.typing import NDArray

from app.stats.interval import percentile_interval
from app.stats.relative import PairStatistics

FloatArray = NDArray[np.float64]


def compare_means(values: FloatArray, weights: FloatArray, *, level: float) -> PairStatistics:
    """Compare every ordered pair on values [n_tasks, n_entrants], larger being better.

    The effect (in the fields `skill…`) is the mean of A minus the mean of B; the win rate counts the tasks
    on which A is the larger, half for ties. Memory is O(n_resamples * n_entrants), one entrant at a time.
    """
    n_tasks, n_entrants = values.shape
    found = np.empty((6, n_entrants, n_entrants))
    means = weights @ values / n_tasks
    for row in range(n_entrants):
        wins = (values[:, [row]] > values) + 0.5 * (values[:, [row]] == values)
        found[0, row] = values[:, row].mean() - values.mean(axis=0)
        found[1, row], found[2, row] = percentile_interval(means[:, [row]] - means, level)
        found[3, row] = wins.mean(axis=0)
        found[4, row], found[5, row] = percentile_interval(weights @ wins / n_tasks, level)
    return PairStatistics(*found)
