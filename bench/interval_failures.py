"""What calibrated intervals hold where they are known to fail: `python -m bench.interval_failures`.

Worlds with something rare that few units do not show: seeds that collapse, tasks at 0, errors with heavy tails. Its
tables stand in docs/statistics.md, its figures in notes of boards. Its random seeds are used nowhere else.
"""

import sys
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from app.boards.calibrated import DrawnSpread
from app.boards.standing import stand
from app.stats.arrays import FloatArray
from app.stats.betting import betting_interval
from app.stats.calibrated import calibrated_iqm, intervals
from app.stats.curves import root_mean_squares
from app.stats.spreads import SHARE, Range, cluster_spread, task_spread
from bench.few_seeds import are_separated

N_DATASETS, LEVEL, FIRST_SEED, N_EPISODES = 4_000, 0.95, 20_600_000, 50
Ends = tuple[FloatArray, FloatArray]
Draw = Callable[..., Ends]
"""The ends of the intervals of so many data sets of so many units."""


def means(counts: FloatArray, sizes: FloatArray, *, by_betting: bool = False) -> Ends:
    """Return those of means of 0/1 episodes of seeds, [n_datasets, n_seeds]; by betting those that assume nothing."""
    if not by_betting:
        return intervals(cluster_spread(counts, sizes, counts), SHARE, LEVEL)
    each = [betting_interval((own / of)[:, None], of, SHARE, LEVEL) for own, of in zip(counts, sizes, strict=True)]
    low, high = np.array(each)[:, :, 0].T
    return low, high


def seeds(
    rng: np.random.Generator, n: int, n_seeds: int, *, rate: float, fails: float, by_betting: bool = False
) -> Ends:
    """Return those of means of 0/1 episodes of seeds, some of which fail altogether."""
    rates = np.where(rng.random((n, n_seeds)) < fails, 0.0, rate)
    counts = rng.binomial(N_EPISODES, rates).astype(np.float64)
    return means(counts, np.full(counts.shape, float(N_EPISODES)), by_betting=by_betting)


def unequal(rng: np.random.Generator, n: int, n_seeds: int, *, by_betting: bool = False) -> Ends:
    """Return those of means of 0/1 episodes of seeds of 10 to 200 episodes, with an ICC of 0.2."""
    sizes = rng.integers(10, 201, (n, n_seeds)).astype(np.float64)
    counts = rng.binomial(sizes.astype(np.int64), rng.beta(0.8 * 4, 0.2 * 4, (n, n_seeds))).astype(np.float64)
    return means(counts, sizes, by_betting=by_betting)


def trims(rng: np.random.Generator, n: int, n_seeds: int, *, fails: float) -> Ends:
    """Return those of interquartile means of 20 returns a seed near 0.8, or near 0.1 where it collapses."""
    centres = np.where(rng.random((n, n_seeds, 1)) < fails, 0.1, 0.8)
    values = np.clip(centres + 0.08 * rng.normal(size=(n, n_seeds, 20)), 0.0, 1.0)
    of = np.repeat(np.arange(n_seeds), 20)
    each = [calibrated_iqm(one.ravel(), of, within=SHARE, level=LEVEL) for one in values]
    low, high = np.array([(np.nan if e.low is None else e.low, np.nan if e.high is None else e.high) for e in each]).T
    return low, high


def off(rng: np.random.Generator, n: int, n_seeds: int, *, is_told: bool = False) -> Ends:
    """Return those of means over seeds without a range, of which one in ten is off by twenty standard deviations.

    With `is_told` as in `differences`; the equal is steady, and seeds are their own.
    """
    values = rng.normal(size=(n, n_seeds)) + 20.0 * (rng.random((n, n_seeds)) < 0.1)
    if is_told:
        told = are_separated(values, 2.0 + rng.normal(size=(n, n_seeds))).astype(np.float64)
        return told, told
    sizes = np.full(values.shape, float(N_EPISODES))
    return intervals(cluster_spread(sizes * values, sizes, sizes * (values**2 + 1.0)), Range(), LEVEL)


def tasks(rng: np.random.Generator, n: int, n_tasks: int, *, zeros: float, by_betting: bool = False) -> Ends:
    """Return those of means over tasks near 0.9, of which some are at 0."""
    values = np.where(rng.random((n, n_tasks)) < zeros, 0.0, rng.beta(90.0, 10.0, (n, n_tasks)))
    if by_betting:
        return betting_interval(values.T, np.ones(n_tasks), SHARE, LEVEL)
    return intervals(task_spread(values), SHARE, LEVEL)


def places(rng: np.random.Generator, n: int, n_tasks: int, *, n_opponents: int) -> Ends:
    """Return those of points of one that is before nine tenths of its opponents, but on some tasks before none."""
    behind = rng.binomial(n_opponents, 0.9, (n, n_tasks))
    points = np.where(rng.random((n, n_tasks)) < 0.05, 0, behind).astype(np.float64)
    return intervals(task_spread(points), Range(0.0, float(n_opponents)), LEVEL)


def differences(rng: np.random.Generator, n: int, n_tasks: int, *, far: float, is_told: bool = False) -> Ends:
    """Return those of the difference of two, as a board compares them: on one task in ten one is so far ahead.

    With `is_told` the two are equal, and the ends are 0 where they are not told apart and 1 where they are.
    """
    values = rng.normal(size=(n, n_tasks)) + far * (rng.random((n, n_tasks)) < 0.1) - 0.1 * far * is_told
    ends = []
    for own in values:
        drawn = rng.multinomial(n_tasks, np.full(n_tasks, 1.0 / n_tasks), size=1_000) / n_tasks
        both = np.stack([own, np.zeros(n_tasks)], axis=1)
        pair = stand(both.mean(axis=0), DrawnSpread.of_units(drawn @ both, n_tasks), LEVEL).contrasts([0, 1])
        difference, margin = pair.differences[0, 1], pair.margins[0, 1]
        told = float(pair.separated.any())
        ends.append((told, told) if is_told else (difference - margin, difference + margin))
    low, high = np.array(ends).T
    return low, high


def equals(rng: np.random.Generator, n: int, n_tasks: int, *, n_equals: int, far: float) -> Ends:
    """Return 0 where no two of so many equals are told apart, else 1: half are so far off on one task in ten."""
    told = np.empty(n)
    for at in range(n):
        values = rng.normal(size=(n_tasks, n_equals)) / np.sqrt(2.0)
        values[:, ::2] += far * ((rng.random((n_tasks, (n_equals + 1) // 2)) < 0.1) - 0.1)
        drawn = rng.multinomial(n_tasks, np.full(n_tasks, 1.0 / n_tasks), size=1_000) / n_tasks
        sets = stand(values.mean(axis=0), DrawnSpread.of_units(drawn @ values, n_tasks), LEVEL).sets
        told[at] = sets is not None and bool(sets.separated.any())
    return told, told


def errors(rng: np.random.Generator, n: int, n_items: int, *, far: float) -> Ends:
    """Return those of root mean square errors, one item in fifty being so many times as far off."""
    sizes = np.where(rng.random((n, n_items)) < 0.02, far, 1.0)
    return root_mean_squares((sizes * rng.normal(size=(n, n_items))) ** 2, None, LEVEL)


def student(rng: np.random.Generator, n: int, n_items: int) -> Ends:
    """Return those of root mean square errors of Student's t with three degrees of freedom."""
    return root_mean_squares(rng.standard_t(3, (n, n_items)) ** 2, None, LEVEL)


SEEDS, TASKS, ITEMS = (3, 5, 8, 16, 30), (5, 10, 20, 40, 100), (30, 100, 300, 1000)
WORLDS: Mapping[str, tuple[tuple[int, ...], float, Draw]] = {
    "mean over seeds, 0.9, fails with 0.1": (SEEDS, 0.81, partial(seeds, rate=0.9, fails=0.1)),
    "mean over seeds, 0.8, fails with 0.2": (SEEDS, 0.64, partial(seeds, rate=0.8, fails=0.2)),
    "mean over seeds of 10 to 200 episodes, ICC 0.2": (SEEDS, 0.8, unequal),
    "unbounded seeds, one in 10 off by 20": (SEEDS, 2.0, off),
    "unbounded seeds: of two equals one of these, one steady, not told apart": (SEEDS, 0.0, partial(off, is_told=True)),
    "IQM over seeds, collapses with 0.2": (SEEDS, 0.0, partial(trims, fails=0.2)),
    "IQM over seeds, collapses with 0.3": (SEEDS, 0.0, partial(trims, fails=0.3)),
    "IQM over seeds, collapses with 0.4": (SEEDS, 0.0, partial(trims, fails=0.4)),
    "mean over tasks near 0.9, one in 20 at 0": (TASKS, 0.95 * 0.9, partial(tasks, zeros=0.05)),
    "mean over tasks near 0.9, one in 10 at 0": (TASKS, 0.9 * 0.9, partial(tasks, zeros=0.1)),
    "points among 100, the worst on one task in 20": (TASKS, 0.95 * 90.0, partial(places, n_opponents=100)),
    "points among 4, the worst on one task in 20": (TASKS, 0.95 * 3.6, partial(places, n_opponents=4)),
    "two over tasks, one in 10 off by six": (TASKS[:4], 0.6, partial(differences, far=6.0)),
    "two equals of these, not told apart": (TASKS[:4], 0.0, partial(differences, far=6.0, is_told=True)),
    "two within 5 equals, half of them these, not told apart": (TASKS, 0.0, partial(equals, n_equals=5, far=6.0)),
    "two within 20 equals, half of them these, not told apart": (
        (*TASKS, 200),
        0.0,
        partial(equals, n_equals=20, far=6.0),
    ),
    "RMSE, t with 3 degrees of freedom": (ITEMS, float(np.sqrt(3.0)), student),
    "RMSE, one in 50 ten times as far": (ITEMS, float(np.sqrt(0.98 + 0.02 * 100.0)), partial(errors, far=10.0)),
}
"""By name: numbers of units, what is true, how intervals are drawn; the truth of an IQM is computed from a sample."""


def true_trim(fails: float) -> float:
    """Return the interquartile mean of very many returns."""
    rng = np.random.default_rng(1)
    centres = np.where(rng.random(4_000_000) < fails, 0.1, 0.8)
    drawn = np.sort(np.clip(centres + 0.08 * rng.normal(size=4_000_000), 0.0, 1.0))
    return float(drawn[1_000_000:3_000_000].mean())


def coverage(
    world: str, n_units: int, n_datasets: int = N_DATASETS, *, by_betting: bool = False
) -> tuple[float, float]:
    """Return the share of intervals, of those with one, that hold what is true, and the share of data sets with one."""
    _, truth, draw = WORLDS[world]
    draw = partial(draw, by_betting=by_betting) if world.startswith("mean") else draw
    if world.startswith("IQM"):
        truth, n_datasets = true_trim(float(world.split()[-1])), n_datasets // 8
    low, high = draw(np.random.default_rng([FIRST_SEED, n_units, sorted(WORLDS).index(world)]), n_datasets, n_units)
    shown = ~np.isnan(low)
    held = (low <= truth + 1e-12) & (truth <= high + 1e-12)
    return float(held[shown].mean()) if shown.any() else float("nan"), float(shown.mean())


def main(n_datasets: int = N_DATASETS) -> None:
    """Print the table as Markdown: units and what their intervals hold, in %; by betting of an eighth of the sets."""
    print("| world | units: what intervals hold, % | by betting, % |\n|---|---|---|")
    for world, (sizes, _, _) in WORLDS.items():
        each = ((n, *coverage(world, n, n_datasets)) for n in sizes)
        cells = (f"{n}: {100 * held:.1f}" + ("" if shown > 0.95 else " of some") for n, held, shown in each)
        is_mean = world.startswith("mean")
        bets = [f"{n}: {100 * coverage(world, n, n_datasets // 8, by_betting=True)[0]:.1f}" for n in sizes if is_mean]
        print(f"| {world} | {'; '.join(cells)} | {'; '.join(bets)} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
