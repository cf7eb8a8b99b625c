"""Differences of means between entrants over the same tasks, as statistics of resampled tasks.

Called by `app.leaderboards.mean`; pure.
"""

import numpy as np
from numpy.typing import NDArray

from app.stats.pairs import BLOCK_CELLS, Contrast, PairStatistics, compare
from app.stats.resample import Resamples

FloatArray = NDArray[np.float64]


def compare_means(
    values: FloatArray, resamples: Resamples | None, *, level: float, block_cells: int = BLOCK_CELLS
) -> PairStatistics:
    """Compare every ordered pair on values [n_tasks, n_entrants], larger being better.

    The effect (in the fields `skill…`) is the mean of A minus the mean of B; the win rate counts the tasks
    on which A is the larger, half for ties.
    """
    # The larger value wins, and the smaller of the negated ones.
    contrast = Contrast(lambda a, b: b - a, np.asarray, is_antisymmetric=True, name=("difference",))
    return compare(-values, contrast, resamples, level, block_cells=block_cells)
