"""What every board gets from the replicates of its scores, whatever the method: ranks and their uncertainty.

Called by each ranking method with its point scores and replicates, larger being better.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.manifest.manifest import Leaderboard
from app.stats.arrays import FloatArray, IntArray
from app.stats.interval import competition_ranks, probability_best, rank_interval
from app.stats.resample import Resamples, board_generator
from app.values.table import Cell, Column, finite

MIN_UNITS = 2

RANK = Column("rank", "Rank", "integer", interval=("rank_low", "rank_high"), glossary="rank_interval")
ENTRANT = Column("entrant", "Entrant", "text")
STANDING_COLUMNS = (
    Column("rank_low", "Rank, low", "integer", detail=True, glossary="rank_interval"),
    Column("rank_high", "Rank, high", "integer", detail=True, glossary="rank_interval"),
    Column("p_best", "P(best)", direction="maximize", glossary="p_best", digits=2),
)


@dataclass(frozen=True)
class BoardStanding:
    """Ranks of the points, and from the replicates: rank interval and P(best).

    Everything from replicates is None when there are fewer than two units to resample.
    """

    ranks: IntArray
    rank_low: IntArray | None
    rank_high: IntArray | None
    p_best: FloatArray | None

    def order(self, names: Sequence[str]) -> list[int]:
        """Return positions from best to worst; equal ranks in the order of their names."""
        return sorted(range(len(names)), key=lambda position: (int(self.ranks[position]), names[position]))


def draw_tasks(spec: Leaderboard, n_tasks: int) -> Resamples | None:
    """Return the resampled tasks of the board's stream; None when one task has no spread."""
    if n_tasks < MIN_UNITS:
        return None
    return Resamples(n_tasks, spec.uncertainty.n_resamples, partial(_generator, spec))


def _generator(spec: Leaderboard) -> np.random.Generator:
    seed = spec.uncertainty.rng_seed
    if spec.uncertainty.stream == "fev":
        return np.random.default_rng(seed)
    return board_generator(seed, spec.name, "tasks")


def stand(points: FloatArray, replicates: FloatArray | None, level: float) -> BoardStanding:
    """Rank the points [n_entrants] and read the rest off the replicates [n_resamples, n_entrants]."""
    ranks = competition_ranks(points)
    if replicates is None:
        return BoardStanding(ranks, None, None, None)
    drawn = competition_ranks(replicates)
    low, high = rank_interval(drawn, level)
    return BoardStanding(ranks, low, high, probability_best(drawn))


def uncertainty_meta(spec: Leaderboard, n_units: int) -> dict[str, Any]:
    """Return how the intervals were made, for a table's `meta`."""
    drawn = spec.uncertainty
    return {
        "interval": "percentile bootstrap over tasks" if n_units >= MIN_UNITS else None,
        "interval_reason": None if n_units >= MIN_UNITS else "too_few_clusters",
        "level": drawn.level,
        "n_resamples": drawn.n_resamples,
        "rng_seed": drawn.rng_seed,
        "stream": drawn.stream,
        "n_tasks": n_units,
    }


def plain(values: NDArray[Any] | None, n_rows: int) -> list[Cell]:
    """Return plain Python values; None for what is not finite, and for every row when there is no array."""
    if values is None:
        return [None] * n_rows
    return [finite(value) for value in values.tolist()]
