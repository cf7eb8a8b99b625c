"""The worlds of intervals of quantiles over items in clusters.

Scores are normal, which stands for every score without ties, because the ends are scores that occurred: stretching the
scale moves them with the truth. Rounded scores stand for those with ties.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy.special import ndtri

from app.stats.arrays import FloatArray
from app.stats.calibrated import calibrated_quantile
from bench.interval_methods import LEVEL, TAIL, Ends
from bench.interval_world import OURS, Drawn, World

FEWEST_CLUSTERS = {0.5: (5, 8, 16, 50), 0.75: (16, 50), 0.9: (50,)}
"""How many clusters are tried for each quantile: from the first on, of these, there is an interval at all."""
NAMES = {0.5: "median", 0.75: "p75", 0.9: "p90"}
ALIKE = (0.0, 0.1, 0.3, 0.9)
TIED = 0.1
"""The ICC at which scores are tried rounded to whole standard deviations, too."""
N_ITEMS, N_RESAMPLES = 20, 399


def quantile_worlds() -> Iterator[World]:
    """Yield a cell for each quantile, number of clusters and correlation within them."""
    for q, sizes in FEWEST_CLUSTERS.items():
        for n_clusters in sizes:
            for alike in ALIKE:
                draw = partial(_quantiles, n_clusters, alike, q, False)
                row = f"{n_clusters} seeds, ICC {alike:g}"
                yield World("quantile", row, NAMES[q], float(ndtri(q)), draw)
            draw = partial(_quantiles, n_clusters, TIED, q, True)
            row = f"{n_clusters} seeds, ICC {TIED:g}, in whole steps"
            yield World("quantile", row, NAMES[q], float(np.round(ndtri(q))), draw)


def _quantiles(n_clusters: int, alike: float, q: float, is_tied: bool, rng: np.random.Generator, n: int) -> Drawn:
    """Return both methods' ends; data sets of which ours says that there is no interval are left out of ours."""
    between = rng.normal(size=(n, n_clusters, 1)) * np.sqrt(alike)
    items = between + rng.normal(size=(n, n_clusters, N_ITEMS)) * np.sqrt(1 - alike)
    items = np.round(items) if is_tied else items
    clusters = np.repeat(np.arange(n_clusters), N_ITEMS)
    result = [calibrated_quantile(row.ravel(), clusters, q, level=LEVEL) for row in items]
    ends = [(each.low, each.high) for each in result if each.low is not None]
    low, high = np.array(ends, dtype=np.float64).T
    return {OURS: (low, high), "percentile": _resampled(items, q, rng)}


def _resampled(items: FloatArray, q: float, rng: np.random.Generator) -> Ends:
    """Return the percentile bootstrap over clusters, data set by data set."""
    ends = []
    for one in items:
        drawn = one[rng.integers(len(one), size=(N_RESAMPLES, len(one)))].reshape(N_RESAMPLES, -1)
        ends.append(np.quantile(np.quantile(drawn, q, axis=1), [TAIL, 1 - TAIL]))
    low, high = np.array(ends).T
    return low, high
