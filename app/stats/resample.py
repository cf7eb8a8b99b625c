"""Bootstrap draws as count matrices, so that a replicate is a row of weights and never a loop.

Called by the ranking methods in `app.leaderboards`; pure.
"""

import hashlib

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def board_generator(rng_seed: int, *names: str) -> np.random.Generator:
    """Return the generator of stream `independent`: seeded by a hash of the board's seed and names.

    The same names give the same draws whoever else is on the board.
    """
    digest = hashlib.blake2b("\x1f".join((str(rng_seed), *names)).encode(), digest_size=16).digest()
    return np.random.default_rng(np.random.SeedSequence(int.from_bytes(digest, "big")))


def draw_counts(n_units: int, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Return how often each unit is drawn, [n_resamples, n_units]; each row sums to n_units.

    The draws are one call of `integers(0, n_units, size=(n_resamples, n_units))`, which is what fev draws.
    Source: Efron & Tibshirani 1993, section 6.2.
    """
    drawn = rng.integers(0, n_units, size=(n_resamples, n_units))
    drawn += np.arange(n_resamples)[:, None] * n_units
    counts = np.bincount(drawn.ravel(), minlength=n_resamples * n_units)
    return counts.reshape(n_resamples, n_units).astype(np.float64)
