"""How often equals are told apart at some look while a benchmark grows: `python -m bench.looks`.

Each data set is looked at ten times, by the sets of each snapshot and by those over all snapshots (`over_snapshots`).
Its table stands in docs/statistics.md. Its random seeds are used nowhere else.
"""

import sys
from collections.abc import Callable, Mapping

import numpy as np

from app.stats.arrays import FloatArray
from app.stats.rank_sets import AllPairs, rank_sets
from app.stats.resample import named_weights, unit_keys

N_DATASETS, N_RESAMPLES, LEVEL, FIRST_SEED = 1_000, 500, 0.95, 20_700_000
LOOKS = range(5, 51, 5)
"""Units at each look."""

Look = tuple[FloatArray, FloatArray]
"""Points [n_entrants] and replicates [n_resamples, n_entrants]."""


def seeds_of_their_own(rng: np.random.Generator, n_entrants: int, effect: float) -> Callable[[int], Look]:
    """Return the looks at entrants whose seeds are their own: shares of 20 episodes, an ICC of 0.1 around 0.7."""
    rates = 0.7 + effect * (np.arange(n_entrants) == 0)
    values = rng.binomial(20, rng.beta(9.0 * rates, 9.0 * (1.0 - rates), (LOOKS[-1], n_entrants))) / 20.0
    weights = [
        named_weights(unit_keys(0, [(str(entrant), str(at)) for at in range(LOOKS[-1])]), N_RESAMPLES)
        for entrant in range(n_entrants)
    ]

    def look(n_units: int) -> Look:
        drawn = [own[:, :n_units] @ values[:n_units, at] / own[:, :n_units].sum(1) for at, own in enumerate(weights)]
        return values[:n_units].mean(axis=0), np.stack(drawn, axis=1)

    return look


def tasks_in_common(rng: np.random.Generator, n_entrants: int, effect: float) -> Callable[[int], Look]:
    """Return the looks at entrants on the same tasks, whose difficulty they share; values are normal."""
    values = rng.normal(size=(LOOKS[-1], 1)) + rng.normal(size=(LOOKS[-1], n_entrants))
    values[:, 0] += effect
    weights = named_weights(unit_keys(0, [(str(at),) for at in range(LOOKS[-1])]), N_RESAMPLES)

    def look(n_units: int) -> Look:
        own = weights[:, :n_units]
        return values[:n_units].mean(axis=0), own @ values[:n_units] / own.sum(axis=1, keepdims=True)

    return look


Draw = Callable[[np.random.Generator, int, float], Callable[[int], Look]]

WORLDS: Mapping[str, tuple[Draw, int, float, bool]] = {
    "two equals, seeds of their own": (seeds_of_their_own, 2, 0.0, False),
    "two equals, tasks in common": (tasks_in_common, 2, 0.0, False),
    "ten equals, tasks in common": (tasks_in_common, 10, 0.0, False),
    "two equals, then one more at each look": (tasks_in_common, 11, 0.0, True),
    "0.7 against 0.85, seeds of their own": (seeds_of_their_own, 2, 0.15, False),
    "one of ten better by one standard deviation": (tasks_in_common, 10, 1.0, False),
}
"""By name: the draw, how many entrants, by how much the first is better, and whether they join one by one."""


def shares(world: str, n_datasets: int = N_DATASETS) -> FloatArray:
    """Return in which share of data sets the first is told apart, or two equals are: at some look, and at the last.

    [2, 2]; by snapshots first, over snapshots second.
    """
    draw, n_entrants, effect, are_joining = WORLDS[world]
    found = np.zeros((n_datasets, 2, len(LOOKS)), dtype=np.bool_)
    for at in range(n_datasets):
        look = draw(np.random.default_rng([FIRST_SEED, sorted(WORLDS).index(world), at]), n_entrants, effect)
        for place, n_units in enumerate(LOOKS):
            n = 2 + place if are_joining else n_entrants
            points, replicates = (each[..., :n] for each in look(n_units))
            freedom = np.full(n, n_units - 1.0)
            for way in (False, True):
                all_pairs = AllPairs(points, replicates, freedom, (n_units + 1.0) / freedom, over_snapshots=way)
                apart = rank_sets(all_pairs, LEVEL).separated
                found[at, int(way), place] = apart[0, 1:].all() if effect else apart.any()
    return np.stack([found.any(axis=2).mean(axis=0), found[:, :, -1].mean(axis=0)], axis=1)


def main(n_datasets: int = N_DATASETS) -> None:
    """Print the table as Markdown."""
    heads = ("each snapshot: at some look", "at the last", "over snapshots: at some look", "at the last")
    print(f"| ten looks, at 5 to 50 units | {' | '.join(heads)} |\n|---|---|---|---|---|")
    for world in WORLDS:
        cells = (f"{100 * share:.1f} %" for share in shares(world, n_datasets).ravel())
        print(f"| {world} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
