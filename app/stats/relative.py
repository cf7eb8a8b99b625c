"""Relative errors over tasks: geometric-mean skill and win rates, as statistics of task weights.

Called by `app.leaderboards.skill_score` and `.skill_pairwise`; pure. Errors are positive numbers, smaller is
better, [n_tasks, n_entrants]. Source: the definitions of fev's analysis functions.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.stats.interval import percentile_interval

FloatArray = NDArray[np.float64]
BATCH_CELLS = 4_000_000


def skill(log_ratios: FloatArray, weights: FloatArray) -> FloatArray:
    """Return 1 − geometric mean of the ratios, [n_resamples, n_columns]; higher is better.

    `log_ratios` is [n_tasks, n_columns], `weights` [n_resamples, n_tasks] with rows that sum to n_tasks.
    """
    scores: FloatArray = 0.0 - np.expm1(weights @ log_ratios / log_ratios.shape[0])
    return scores


def win_shares(errors: FloatArray) -> FloatArray:
    """Return, per task, the share of opponents that an entrant beats, half for ties, [n_tasks, n_entrants].

    Needs at least two entrants: alone there is nobody to beat.
    """
    n_entrants = errors.shape[1]
    shares = np.empty(errors.shape)
    for entrant in range(n_entrants):  # one entrant against all: memory stays that of `errors`
        mine = errors[:, [entrant]]
        equal = (mine == errors).sum(axis=1) - 1
        shares[:, entrant] = ((mine < errors).sum(axis=1) + 0.5 * equal) / (n_entrants - 1)
    return shares


@dataclass(frozen=True)
class PairStatistics:
    """Point and interval of skill and win rate of every ordered pair, each [n_entrants, n_entrants]."""

    skill: FloatArray
    skill_low: FloatArray
    skill_high: FloatArray
    win_rate: FloatArray
    win_rate_low: FloatArray
    win_rate_high: FloatArray


def compare_pairs(
    errors: FloatArray, weights: FloatArray, *, clip: tuple[float, float], level: float, batch_cells: int = BATCH_CELLS
) -> PairStatistics:
    """Compare every ordered pair of entrants: ratios are clipped for the skill and not for the win rate.

    Only half of the pairs is resampled: the win rate of B against A is one minus that of A against B, and so
    is the logarithm of the mean ratio the opposite one, where the clip is symmetric (low = 1 / high).
    Memory is O(batch_cells), and the result does not depend on it.
    """
    n_entrants = errors.shape[1]
    found = np.empty((6, n_entrants, n_entrants))
    symmetric = bool(np.isclose(clip[0] * clip[1], 1.0, rtol=1e-15))
    first, second = np.triu_indices(n_entrants) if symmetric else np.indices((n_entrants, n_entrants)).reshape(2, -1)
    width = max(1, batch_cells // max(weights.shape))
    for part in _parts(len(first), width):
        a, b = first[part], second[part]
        logs = np.log(np.clip(errors[:, a] / errors[:, b], *clip))
        _fill(found[:3], a, b, logs, weights, level, mirrored=symmetric)
        wins = (errors[:, a] < errors[:, b]) + 0.5 * (errors[:, a] == errors[:, b])
        _fill_wins(found[3:], a, b, wins, weights, level, mirrored=symmetric)
    return PairStatistics(*found)


def _fill(
    found: FloatArray,
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    logs: FloatArray,
    weights: FloatArray,
    level: float,
    *,
    mirrored: bool,
) -> None:
    means = weights @ logs / logs.shape[0]
    # Quantiles interpolate between replicates, so they are taken of the skill itself and not of its logarithm.
    found[0, a, b] = 0.0 - np.expm1(logs.mean(axis=0))
    found[1, a, b], found[2, a, b] = percentile_interval(0.0 - np.expm1(means), level)
    if mirrored:
        found[0, b, a] = 0.0 - np.expm1(-logs.mean(axis=0))
        found[1, b, a], found[2, b, a] = percentile_interval(0.0 - np.expm1(-means), level)


def _fill_wins(
    found: FloatArray,
    a: NDArray[np.int64],
    b: NDArray[np.int64],
    wins: FloatArray,
    weights: FloatArray,
    level: float,
    *,
    mirrored: bool,
) -> None:
    # Sums of half-integers below 2**23 are exact in single precision, and half the work.
    exact = weights.astype(np.float32) @ wins.astype(np.float32)
    low, high = percentile_interval(exact.astype(np.float64) / wins.shape[0], level)
    point = wins.mean(axis=0)
    if mirrored:
        found[0, b, a], found[1, b, a], found[2, b, a] = 1.0 - point, 1.0 - high, 1.0 - low
    found[0, a, b], found[1, a, b], found[2, a, b] = point, low, high


def _parts(n_items: int, width: int) -> Iterator[slice]:
    return (slice(start, start + width) for start in range(0, n_items, width))
