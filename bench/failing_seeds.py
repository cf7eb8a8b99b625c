"""How often two equal entrants are called separable where seeds may fail altogether: `python -m bench.failing_seeds`.

An entrant whose every seed failed has the same score in every resample, so that a difference has the other one's spread
alone. Its table stands in docs/statistics.md. Its seeds are used nowhere else.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from app.stats.arrays import FloatArray
from app.stats.rank_sets import Contests, rank_sets
from app.stats.resample import NamedResamples, unit_keys

N_DATASETS, N_RESAMPLES, N_EPISODES, LEVEL = 1_500, 1_000, 20, 0.95
SEEDS = (5, 8, 16)
FIRST_SEED = 77


@dataclass(frozen=True)
class Seeds:
    """How seeds succeed: a seed fails altogether with one probability, else its episodes succeed at a rate."""

    fails: float
    rate: float

    def draw(self, rng: np.random.Generator, n_seeds: int) -> FloatArray:
        """Return the share of successful episodes of each seed, [n_seeds]."""
        rates = np.where(rng.random(n_seeds) < self.fails, 0.0, self.rate)
        return np.asarray(rng.binomial(N_EPISODES, rates) / N_EPISODES)


WORLDS: Mapping[str, tuple[Seeds, Seeds]] = {
    "every seed at 0.02, both": (Seeds(0.0, 0.02), Seeds(0.0, 0.02)),
    "half of the seeds fail, others 0.4; beside 0.2": (Seeds(0.5, 0.4), Seeds(0.0, 0.2)),
    "0.6 of the seeds fail, others 0.5; beside 0.2": (Seeds(0.6, 0.5), Seeds(0.0, 0.2)),
    "0.7 of the seeds fail, others 0.5; beside 0.15": (Seeds(0.7, 0.5), Seeds(0.0, 0.15)),
    "half of the seeds fail, others 0.4; both": (Seeds(0.5, 0.4), Seeds(0.5, 0.4)),
}


def are_separated(scores: tuple[FloatArray, FloatArray], rng_seed: int) -> bool:
    """Say whether two entrants without a common seed, their scores [n_seeds], are separable."""
    n_seeds = len(scores[0])
    freedom = np.full(2, n_seeds - 1.0)
    replicates = [
        NamedResamples(unit_keys(rng_seed, [(name, str(seed)) for seed in range(n_seeds)]), N_RESAMPLES).means(
            own[:, None]
        )
        for name, own in zip("AB", scores, strict=True)
    ]
    points = np.array([own.mean() for own in scores])
    contests = Contests(points, np.hstack(replicates), freedom, (freedom + 2.0) / freedom)
    return bool(rank_sets(contests, LEVEL).separated.any())


def measure(world: str, n_seeds: int, n_datasets: int = N_DATASETS) -> tuple[float, float, float]:
    """Return the shares of data sets that are separable, in which all seeds of the first fail, and both."""
    wrong, failed = np.zeros((2, n_datasets), dtype=np.bool_)
    for at in range(n_datasets):
        rng = np.random.default_rng([FIRST_SEED, at, n_seeds])
        first, second = (seeds.draw(rng, n_seeds) for seeds in WORLDS[world])
        wrong[at], failed[at] = are_separated((first, second), at), not first.any()
    return float(wrong.mean()), float(failed.mean()), float((wrong & failed).mean())


def main(n_datasets: int = N_DATASETS) -> None:
    """Print the table as Markdown."""
    print("| two equal entrants | seeds | called separable | all seeds of one fail | both |\n|---|---|---|---|---|")
    for world in WORLDS:
        for n_seeds in SEEDS:
            shares = (f"{100 * share:.1f} %" for share in measure(world, n_seeds, n_datasets))
            print(f"| {world} | {n_seeds} | {' | '.join(shares)} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
