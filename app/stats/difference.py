"""Differences of means, and win rates, between entrants over the same tasks, as statistics of resampled tasks.

Called by `app.boards.methods.mean` and `app.boards.task_points`; pure.
"""

import numpy as np

from app.stats.arrays import FloatArray
from app.stats.pairs import BLOCK_CELLS, Contrast, PairStatistics, compare
from app.stats.resample import Resamples


def compare_means(
    values: FloatArray,
    resamples: Resamples | None,
    *,
    level: float,
    board: str | None = None,
    block_cells: int = BLOCK_CELLS,
) -> PairStatistics:
    """Compare every ordered pair on values [n_tasks, n_entrants], larger being better.

    The effect (in the fields `skill…`) is the mean of A minus the mean of B; the win rate counts the tasks
    on which A is the larger, half for ties. Effects are in the unit of the values; NaN passes, and pairs
    of the same `board` are compared once, as in `compare`.
    Raises InvalidArgument for a level outside (0, 1), for no task or entrant, and for resamples of other units.
    Source: by definition, the paired difference of means.

    >>> compare_means(np.array([[1.0, 2.0], [3.0, 3.0]]), None, level=0.95).skill.tolist()
    [[0.0, -0.5], [0.5, 0.0]]
    """
    # The larger value wins, and the smaller of the negated ones.
    contrast = Contrast(lambda a, b: b - a, np.asarray, is_antisymmetric=True, name=("difference",))
    return compare(-values, contrast, resamples, level, board=board, block_cells=block_cells)


def compare_wins(
    values: FloatArray, resamples: Resamples | None, *, level: float, board: str | None = None
) -> PairStatistics:
    """Compare every ordered pair on values [n_tasks, n_entrants], larger being better, by who wins a task alone.

    Win rates and their intervals are those of `compare_means`, half for ties; there is no effect, NaN. Infinite values
    have their place, so that -inf is behind every other and ties with -inf.
    Raises InvalidArgument for a level outside (0, 1), for no task or entrant, and for resamples of other units.
    Source: by definition; fev 0.10's win rate.

    >>> compare_wins(np.array([[1.0, -np.inf], [3.0, 3.0]]), None, level=0.95).win_rate.tolist()
    [[0.5, 0.75], [0.25, 0.5]]
    """
    return compare(-values, None, resamples, level, board=board)
