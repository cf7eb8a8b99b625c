"""Relative errors over tasks: geometric-mean skill and win rates, as statistics of resampled tasks.

Called by `app.leaderboards.skill_score`; pure. Errors are positive numbers, smaller is better,
[n_tasks, n_entrants]. Source: the definitions of fev's analysis functions.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from app.stats.pairs import BLOCK_CELLS, Contrast, PairStatistics, compare
from app.stats.resample import Resamples

FloatArray = NDArray[np.float64]


def skill(mean_log_ratios: FloatArray) -> FloatArray:
    """Return 1 − geometric mean of ratios, from the mean of their logarithms; higher is better."""
    scores: FloatArray = 0.0 - np.expm1(mean_log_ratios)
    return scores


def average_ranks(errors: FloatArray, *, block_cells: int = BLOCK_CELLS) -> FloatArray:
    """Return the ranks of the entrants on each task, the smallest error first, ties sharing the average rank."""
    ranks = np.empty(errors.shape)
    n_rows = max(1, block_cells // errors.shape[1])
    for start in range(0, len(errors), n_rows):
        ranks[start : start + n_rows] = rankdata(errors[start : start + n_rows], axis=1)
    return ranks


def win_shares(errors: FloatArray) -> FloatArray:
    """Return, per task, the share of opponents that an entrant beats, half for ties, [n_tasks, n_entrants].

    Needs at least two entrants: alone there is nobody to beat. Who has the average rank r beats n − r opponents.
    """
    n_entrants = errors.shape[1]
    shares: FloatArray = (n_entrants - average_ranks(errors)) / (n_entrants - 1)
    return shares


def compare_pairs(
    errors: FloatArray,
    resamples: Resamples | None,
    *,
    clip: tuple[float, float],
    level: float,
    board: str | None = None,
    block_cells: int = BLOCK_CELLS,
) -> PairStatistics:
    """Compare every ordered pair of entrants: ratios are clipped for the skill and not for the win rate."""
    symmetric = bool(np.isclose(clip[0] * clip[1], 1.0, rtol=1e-15))
    contrast = Contrast(
        lambda a, b: np.log(np.clip(a / b, *clip)), skill, is_antisymmetric=symmetric, name=("ratio", *clip)
    )
    return compare(errors, contrast, resamples, level, board=board, block_cells=block_cells)
