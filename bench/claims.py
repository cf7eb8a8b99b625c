"""How often a claim that is only just true is called supported, or refuted, by its verdict: `python -m bench.claims`.

The true value is the threshold itself, so that at most 2.5 % may be on either side of it. Its table stands in
docs/statistics.md. Its random seeds are used nowhere else.
"""

import sys
from collections.abc import Callable, Mapping

import numpy as np

from app.stats.arrays import FloatArray
from app.stats.claimed import ALONE, Side, judge
from app.stats.spreads import SHARE, Range
from bench.few_seeds import N_EPISODES, Seeds

N_DATASETS, LEVEL, FIRST_SEED = 2_000, 0.95, 191

Draw = Callable[[np.random.Generator, int], list[Side]]
"""The sides of a claim over so many units."""


def arm(seeds: Seeds) -> Draw:
    """Return the draw of one arm, whose mean is compared with the threshold."""
    return lambda rng, n_seeds: [_side(_episodes(seeds, rng, n_seeds), SHARE, (0.0, 1.0))]


def _episodes(seeds: Seeds, rng: np.random.Generator, n_seeds: int) -> FloatArray:
    n_right = np.rint(seeds.draw(rng, n_seeds) * N_EPISODES)
    return (np.arange(N_EPISODES)[None, :] < n_right[:, None]).astype(np.float64)


def _side(values: FloatArray, within: Range, extremes: tuple[float, float] | None) -> Side:
    n_units, n_each = values.shape
    return Side(values.ravel(), np.repeat(np.arange(n_units), n_each), within, extremes).held_to(ALONE)


def paired(first: Seeds, second: Seeds) -> Draw:
    """Return the draw of paired differences of two arms with the same seeds."""

    def draw(rng: np.random.Generator, n_seeds: int) -> list[Side]:
        a, b = (rng.permuted(_episodes(of, rng, n_seeds), axis=1) for of in (first, second))
        low = min(-float(b.mean()), float(a.mean()) - 1.0)
        return [_side(a - b, Range(-1.0, 1.0), (low, max(1.0 - float(b.mean()), float(a.mean()))))]

    return draw


def apart(first: Seeds, second: Seeds) -> Draw:
    """Return the draw of two entrants whose seeds are their own."""
    return lambda rng, n_seeds: [_side(_episodes(of, rng, n_seeds), SHARE, (0.0, 1.0)) for of in (first, second)]


def normal(rng: np.random.Generator, n_seeds: int) -> list[Side]:
    """Return seeds of one value each."""
    return [_side(rng.normal(size=(n_seeds, 1)), Range(), None)]


def tasks(of: str, n_each: int = 1) -> Draw:
    """Return the draw of differences over tasks, one value each, in families of so many."""

    def draw(rng: np.random.Generator, n_tasks: int) -> list[Side]:
        shape = (n_tasks,)
        values = rng.normal(size=shape) if of == "normal" else 1.0 - rng.exponential(size=shape)
        if n_each > 1:
            values = np.sqrt(0.5) * values + np.sqrt(0.5) * np.repeat(rng.normal(size=n_tasks // n_each), n_each)
        return [Side(values, np.arange(n_tasks) // n_each, Range(), are_tasks=True)]

    return draw


SEEDS, TASKS = (3, 5, 8, 16, 35), (5, 10, 20, 40)

WORLDS: Mapping[str, tuple[Draw, float, tuple[int, ...]]] = {
    "one arm, p 0.8, ICC 0.1": (arm(Seeds(0.8, 0.1)), 0.8, SEEDS),
    "one arm, p 0.8, ICC 0.3": (arm(Seeds(0.8, 0.3)), 0.8, SEEDS),
    "one arm, p 0.97, ICC 0.1": (arm(Seeds(0.97, 0.1)), 0.97, SEEDS),
    "one arm, a seed collapses with 0.1": (arm(Seeds(0.9, fails=0.1)), 0.81, SEEDS),
    "one arm, a seed collapses with 0.2": (arm(Seeds(0.8, fails=0.2)), 0.64, SEEDS),
    "one value a seed, normal": (normal, 0.0, SEEDS),
    "A − B paired, p 0.8, ICC 0.3": (paired(Seeds(0.8, 0.3), Seeds(0.8, 0.3)), 0.0, SEEDS),
    "A − B paired, p 0.8, ICC 0": (paired(Seeds(0.8), Seeds(0.8)), 0.0, SEEDS),
    "A − B, own seeds, p 0.8, ICC 0.3": (apart(Seeds(0.8, 0.3), Seeds(0.8, 0.3)), 0.0, SEEDS),
    "A − B, own seeds, A collapses with 0.1, B 0.81": (apart(Seeds(0.9, fails=0.1), Seeds(0.81)), 0.0, SEEDS),
    "tasks, normal": (tasks("normal"), 0.0, TASKS),
    "tasks, left-skewed": (tasks("left-skewed"), 0.0, TASKS),
    "tasks in families of 4, ICC 0.5": (tasks("normal", 4), 0.0, (20, 40)),
}

TRUE: Mapping[str, tuple[Draw, float, tuple[int, ...]]] = {
    "0.9 against 0.8, ICC 0.1": (arm(Seeds(0.9, 0.1)), 0.8, SEEDS),
    "0.9 against 0.5, ICC 0.1": (arm(Seeds(0.9, 0.1)), 0.5, SEEDS),
    "A − B 0.4 against 0.2, paired, ICC 0.1": (paired(Seeds(0.9, 0.1), Seeds(0.5, 0.1)), 0.2, SEEDS),
}


def shares(draw: Draw, threshold: float, n_units: int, n_datasets: int = N_DATASETS) -> tuple[float, float]:
    """Return the shares of data sets in which the claim is supported, and not supported."""
    rng = np.random.default_rng([FIRST_SEED, n_units])
    verdicts = [judge(draw(rng, n_units), threshold, "greater", LEVEL).verdict for _ in range(n_datasets)]
    return verdicts.count("supported") / n_datasets, verdicts.count("not supported") / n_datasets


def main(n_datasets: int = N_DATASETS) -> None:
    """Print the tables as Markdown: supported / not supported, in %."""
    for title, worlds in (("the value is the threshold", WORLDS), ("the claim is true", TRUE)):
        print(f"| {title} | units: supported / not supported, % |\n|---|---|")
        for world, (draw, threshold, sizes) in worlds.items():
            each = [(n, *shares(draw, threshold, n, n_datasets)) for n in sizes]
            cells = "; ".join(f"{n}: {100 * yes:.1f} / {100 * no:.1f}" for n, yes, no in each)
            print(f"| {world} | {cells} |", flush=True)
        print()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
