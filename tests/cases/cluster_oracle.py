"""The definition of the cluster bootstrap as a plain double loop: slow, and obviously right."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import trim_mean

from app.stats.arrays import FloatArray


def double_loop(
    by_seed: Mapping[int, Sequence[float]], n_resamples: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return replicates of the mean and of the interquartile mean, drawing as CHAMBER's own loop does."""
    clusters = [np.asarray(values, dtype=np.float64) for values in by_seed.values()]
    means, middles = np.empty(n_resamples), np.empty(n_resamples)
    for resample in range(n_resamples):
        pool = []
        for seed in rng.integers(0, len(clusters), size=len(clusters)):
            cluster = clusters[seed]
            pool.append(cluster[rng.integers(0, len(cluster), size=len(cluster))])
        drawn = np.concatenate(pool)
        means[resample] = drawn.mean()
        middles[resample] = trim_mean(drawn, 0.25)
    return means, middles
