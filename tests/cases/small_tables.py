"""A ScoreTable of twelve rows of one entrant, for what a submission's own numbers come to."""

import numpy as np

from app.stats.arrays import FloatArray
from app.values.scores import Coded, ScoreTable

SEEDS = np.repeat([1, 2, 3], 4)
SPREAD = np.array([0.1, 0.7, 0.4, 0.9, 0.3, 0.8, 0.2, 0.6, 0.55, 0.35, 0.75, 0.15])


def small_table(values: FloatArray, *, is_episodes: bool) -> ScoreTable:
    """Return twelve tasks of A, or twelve episodes of three seeds in two conditions."""
    none = np.zeros(12, dtype=np.int64)
    each = Coded(tuple(f"{at:02}" for at in range(12)), np.arange(12))
    return ScoreTable(
        entrant=Coded(("A",), none),
        task=Coded(("t",), none) if is_episodes else each,
        columns=("x",),
        values=values[:, None],
        leaked=none.astype(np.bool_),
        file=none,
        row=none,
        condition=Coded(("near", "far"), np.arange(12) % 2) if is_episodes else None,
        seed=SEEDS if is_episodes else None,
        item=Coded(tuple(f"{at:02}" for at in range(6)), np.arange(12) // 2) if is_episodes else None,
    )
