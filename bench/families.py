"""How often equals whose tasks are of families are called separable: `python -m bench.families`.

Families of 4 tasks, where half of the variance of an entrant on a task is its family's (ICC 0.5). With the families
declared they are drawn as boards draw them (`app.boards.units`); undeclared, tasks are. Its table stands in
docs/statistics.md. Its random seeds are used nowhere else.
"""

import sys
from collections.abc import Sequence

import numpy as np

from app.boards.calibrated import DrawnSpread, draw_named_tasks
from app.boards.standing import stand
from app.boards.units import TaskUnits
from app.manifest.model import Uncertainty
from app.stats.arrays import FloatArray

N_DATASETS, N_EACH, ICC, LEVEL, FIRST_SEED = 2_000, 4, 0.5, 0.95, 20_500_000
SIZES = ((5, 20), (5, 40), (5, 100), (20, 20), (20, 32), (20, 40), (50, 40))
"""Entrants and tasks."""
DRAWN = Uncertainty(n_resamples=1_000)


def equals(rng: np.random.Generator, n_entrants: int, n_tasks: int) -> FloatArray:
    """Return scores [n_tasks, n_entrants] of equal entrants; how hard a task is, is the same for all of them."""
    of_family = np.repeat(rng.normal(size=(n_tasks // N_EACH, n_entrants)), N_EACH, axis=0)
    own = rng.normal(size=(n_tasks, n_entrants))
    return np.asarray(rng.normal(size=(n_tasks, 1)) + np.sqrt(ICC) * of_family + np.sqrt(1.0 - ICC) * own)


def is_separated(values: FloatArray, units: TaskUnits) -> bool:
    """Say whether any two entrants with these scores [n_tasks, n_entrants] are separable."""
    named = draw_named_tasks(DRAWN, units.names)
    spread = None if named is None else DrawnSpread.of_units(named.means(values), units.number())
    sets = stand(values.mean(axis=0), spread, LEVEL).sets
    return sets is not None and bool(sets.separated.any())


def share_separated(n_entrants: int, n_tasks: int, n_datasets: int = N_DATASETS) -> tuple[float, float]:
    """Return the share of data sets with a false separation, families declared and undeclared."""
    tasks: Sequence[str] = [f"t{at}" for at in range(n_tasks)]
    declared = TaskUnits(tuple(f"f{at // N_EACH}" for at in range(n_tasks)), are_declared=True)
    found = np.zeros((n_datasets, 2), dtype=np.bool_)
    for at in range(n_datasets):
        values = equals(np.random.default_rng([FIRST_SEED, n_entrants, n_tasks, at]), n_entrants, n_tasks)
        found[at] = is_separated(values, declared), is_separated(values, TaskUnits(tuple(tasks)))
    return float(found[:, 0].mean()), float(found[:, 1].mean())


def main(n_datasets: int = N_DATASETS) -> None:
    """Print the table as Markdown."""
    print("| equal entrants | tasks | families of 4 | families declared | undeclared |\n|---|---|---|---|---|")
    for n_entrants, n_tasks in SIZES:
        shares = (f"{100 * share:.1f} %" for share in share_separated(n_entrants, n_tasks, n_datasets))
        print(f"| {n_entrants} | {n_tasks} | {n_tasks // N_EACH} | {' | '.join(shares)} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
