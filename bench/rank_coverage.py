"""How often rank intervals hold the true ranks, by simulation: `python -m bench.rank_coverage`.

Percentiles of resampled ranks, as they were, beside the confidence sets of `app.stats.rank_sets`, and the level of the
p-value of being first. Its tables stand in docs/statistics.md. Its seeds are used nowhere else.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.stats.rank_sets import AllPairs, rank_sets
from app.stats.resample import NamedResamples, competition_ranks, unit_keys

N_ENTRANTS, N_DATASETS, N_RESAMPLES, LEVEL = 10, 2_000, 1_000, 0.95
UNITS = (10, 40, 100)
FIRST_SEED = 20_000_000
WORLDS: Mapping[str, FloatArray] = {
    "one better by 0.02": np.array([0.02] + [0.0] * 9),
    "five tied at the top": np.array([0.0] * 5 + [-0.5] * 5),
    "all equal": np.zeros(10),
    "evenly spaced by 0.1": np.linspace(0.0, -0.9, 10),
}
"""True means in standard deviations of an entrant's own noise in a task."""
WHATS = ("of one", "of all at once", "who is first", "width")
ALPHAS = (0.1, 0.05, 0.01)
"""Levels at which the p-value of who is truly first is held to its promise."""


@dataclass(frozen=True)
class Sets:
    """Rank intervals [n_entrants], who is said to be possibly first, and with which p-value, 1 where there is none."""

    low: IntArray
    high: IntArray
    may_be_first: BoolArray
    first_p: FloatArray


def new_sets(values: FloatArray, rng_seed: int) -> Sets:
    """Return the confidence sets of values [n_units, n_entrants], larger being better."""
    keys = unit_keys(rng_seed, [(str(unit),) for unit in range(len(values))])
    replicates = NamedResamples(keys, N_RESAMPLES).means(values)
    freedom = np.full(values.shape[1], len(values) - 1.0)
    result = rank_sets(AllPairs(values.mean(axis=0), replicates, freedom), LEVEL)
    return Sets(result.low, result.high, result.may_be_first, result.first_p)


def old_sets(values: FloatArray, rng_seed: int) -> Sets:
    """Return percentiles of the ranks in multinomial resamples, and whose interval reaches 1."""
    n_units = len(values)
    drawn = np.random.default_rng(rng_seed).multinomial(n_units, np.full(n_units, 1 / n_units), size=N_RESAMPLES)
    ranks = competition_ranks(drawn @ values / n_units)
    tail = (1.0 - LEVEL) / 2.0
    low, high = np.quantile(ranks, [tail, 1.0 - tail], axis=0, method="inverted_cdf").astype(np.int64)
    return Sets(low, high, low == 1, np.ones(N_ENTRANTS))


@dataclass(frozen=True)
class Covered:
    """Shares of the data sets, and the mean number of ranks in an interval."""

    least: float
    at_once: float
    sentence: float
    width: float
    at_most: Mapping[float, float]


def measure(world: str, n_units: int, of: Callable[[FloatArray, int], Sets], n_datasets: int = N_DATASETS) -> Covered:
    """Return how often the intervals hold the true ranks; `least` is that of the entrant it is least often true of.

    A rank that is tied is held where the interval holds every place of the tied. `sentence` says how often all who are
    truly first are among those that may be, `at_most` how often the p-value of one that is truly first is at most each
    of ALPHAS.
    """
    truth = WORLDS[world]
    low = 1 + (truth[None, :] > truth[:, None]).sum(axis=1)
    high = N_ENTRANTS - (truth[None, :] < truth[:, None]).sum(axis=1)
    held, sentence, width = np.zeros((n_datasets, N_ENTRANTS), dtype=np.bool_), 0, 0.0
    p_values = np.zeros(n_datasets)
    for at in range(n_datasets):
        rng = np.random.default_rng([FIRST_SEED, n_units, sorted(WORLDS).index(world), at])
        values = truth + rng.normal(size=(n_units, 1)) + rng.normal(size=(n_units, N_ENTRANTS))
        result = of(values, at)
        held[at] = (result.low <= low) & (high <= result.high)
        sentence += bool(result.may_be_first[truth == truth.max()].all())
        width += float((result.high - result.low + 1).mean())
        p_values[at] = result.first_p[int(truth.argmax())]
    at_most = {alpha: float((p_values <= alpha).mean()) for alpha in ALPHAS}
    return Covered(held.mean(axis=0).min(), held.all(axis=1).mean(), sentence / n_datasets, width / n_datasets, at_most)


def main(n_datasets: int = N_DATASETS) -> None:
    """Print the table as Markdown."""
    columns = [f"{what}, {how}" for what in WHATS for how in ("percentiles", "sets")]
    columns += [f"p ≤ {alpha:g} of the first" for alpha in ALPHAS]
    print(f"| entrants | tasks | {' | '.join(columns)} |\n|" + "---|" * (2 + len(columns)))
    for world in WORLDS:
        for n_units in UNITS:
            old, new = (measure(world, n_units, of, n_datasets) for of in (old_sets, new_sets))
            both = (old.least, new.least, old.at_once, new.at_once, old.sentence, new.sentence)
            shares = (f"{100 * share:.1f} %" for share in both)
            at_most = (f"{100 * share:.1f} %" for share in new.at_most.values())
            widths = (f"{old.width:.1f}", f"{new.width:.1f}")
            print(f"| {world} | {n_units} | {' | '.join((*shares, *widths, *at_most))} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
