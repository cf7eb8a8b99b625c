"""The performance profile of one entrant's episodes: its thresholds, and its shares with both kinds of band.

Called by `app.kinds.episodes.measure`; pure.
"""

from collections.abc import Iterator

import numpy as np

from app.boards.methods.estimate.spec import Profile
from app.kinds.episodes.calibrated import SeedScores
from app.manifest.metric import Metric
from app.stats.arrays import FloatArray
from app.stats.calibrated import intervals
from app.stats.spreads import SHARE, cluster_spread
from app.values.table import Cell, finite

Band = tuple[FloatArray, FloatArray, FloatArray]
"""Shares with the low and high ends of their compatible intervals, [n_thresholds] each."""


def thresholds(profile: Profile, metric: Metric) -> FloatArray:
    """Return the thresholds, within the range of the metric where the profile says none."""
    low = profile.low if profile.low is not None else (0.0 if metric.min is None else metric.min)
    high = profile.high if profile.high is not None else (1.0 if metric.max is None else metric.max)
    grid: FloatArray = np.linspace(low, high, profile.n_points)
    return grid


def calibrated_band(scores: SeedScores, grid: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the share of episodes above each threshold by itself, [n_thresholds]; NaN with one seed."""
    _, cluster = np.unique(scores.seeds, return_inverse=True)
    cluster = cluster.reshape(-1)
    above = np.array([np.bincount(cluster, scores.values > tau) for tau in grid.tolist()])
    sizes = np.broadcast_to(np.bincount(cluster).astype(np.float64), above.shape)
    return intervals(cluster_spread(above, sizes, above), SHARE, level)


def profile_rows(
    metric: str, grid: FloatArray, shares: FloatArray, band: Band | None, scores: SeedScores, level: float
) -> Iterator[tuple[Cell, ...]]:
    """Yield each threshold with the share above it, the compatible interval and the calibrated one."""
    nothing = np.full(len(grid), np.nan)
    ends = (nothing, nothing) if band is None else band[1:]
    columns = (grid, shares, *ends, *calibrated_band(scores, grid, level))
    for cells in zip(*(column.tolist() for column in columns), strict=True):
        yield (metric, *map(finite, cells))
