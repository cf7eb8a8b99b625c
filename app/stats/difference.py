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

    The effect (in the fields `skill…`) is the mean of A minus the mean of B; the win rate counts the tasks on which A
    is larger, ties counting half. Effects are in the unit of the values. NaN and `board` are as in `compare`.
    Raises InvalidArgument for a level outside (0, 1), for no task or entrant, and for resamples of different units.
    Source: Efron & Tibshirani 1993, section 8.3, the paired difference of means; fev 0.10 for the win rate.

    >>> compare_means(np.array([[1.0, 2.0], [3.0, 3.0]]), None, level=0.95).skill.tolist()
    [[0.0, -0.5], [0.5, 0.0]]
    """
    # `compare` wants errors, the smaller being better: so values are negated.
    contrast = Contrast(lambda a, b: b - a, np.asarray, is_antisymmetric=True, name=("difference",))
    return compare(-values, contrast, resamples, level, board=board, block_cells=block_cells)


def compare_wins(
    values: FloatArray, resamples: Resamples | None, *, level: float, board: str | None = None
) -> PairStatistics:
    """Compare every ordered pair on values [n_tasks, n_entrants], larger being better, only by who wins each task.

    Win rates and their intervals are those of `compare_means`; the effect is NaN. Infinite values are ordered: -inf
    loses to every other value and ties with -inf.
    Raises InvalidArgument for a level outside (0, 1), for no task or entrant, and for resamples of different units.
    Source: fev 0.10, its win rate.

    >>> compare_wins(np.array([[1.0, -np.inf], [3.0, 3.0]]), None, level=0.95).win_rate.tolist()
    [[0.5, 0.75], [0.25, 0.5]]
    """
    return compare(-values, None, resamples, level, board=board)
