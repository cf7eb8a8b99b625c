"""How often equals are called separable by ranks or wins on a few tasks: `python -m bench.ranks`.

Scores are normal, and entrants are compared by their mean rank or by the share of others that they beat, as boards
draw them. Means of ranks over a few tasks differ by the same steps by chance, so that their own spread says too little
(`app.stats.rank_sets.AllPairs.are_ranks`). Its table stands in docs/statistics.md. Its random seeds are used nowhere
else.
"""

import sys
from dataclasses import replace

import numpy as np

from app.boards.calibrated import DrawnSpread, draw_named_tasks
from app.boards.standing import stand
from app.manifest.model import Uncertainty
from app.stats.arrays import FloatArray

N_DATASETS, LEVEL, FIRST_SEED, AHEAD = 2_000, 0.95, 20_700_000, 2.0
SIZES = (
    (2, 7),
    (2, 8),
    (3, 5),
    (3, 8),
    (5, 5),
    (5, 8),
    (5, 10),
    (5, 14),
    (5, 19),
    (5, 30),
    (20, 10),
    (20, 14),
    (20, 30),
)
"""Entrants and tasks."""
DRAWN = Uncertainty(n_resamples=1_000)


def is_found(scores: FloatArray) -> tuple[bool, bool]:
    """Say of scores [n_tasks, n_entrants] whether any two are separable by mean ranks, and whether the first is so."""
    n_tasks = len(scores)
    ranks = scores.argsort(axis=1).argsort(axis=1).astype(np.float64)
    named = draw_named_tasks(DRAWN, [f"t{at}" for at in range(n_tasks)])
    if named is None:
        raise RuntimeError("a board without resamples separates nobody")
    spread = replace(DrawnSpread.of_units(named.means(ranks), n_tasks, are_ranks=True), by_unit=ranks)
    sets = stand(ranks.mean(axis=0), spread, LEVEL).sets
    return sets is not None and bool(sets.separated.any()), sets is not None and bool(sets.separated[0, 1])


def shares(n_entrants: int, n_tasks: int, n_datasets: int = N_DATASETS) -> tuple[float, float]:
    """Return the share of boards of equals with a separable pair, and of those with the best AHEAD that find it."""
    found = np.zeros((n_datasets, 2), dtype=np.bool_)
    for at in range(n_datasets):
        scores = np.random.default_rng([FIRST_SEED, n_entrants, n_tasks, at]).normal(size=(n_tasks, n_entrants))
        ahead = scores + AHEAD * (np.arange(n_entrants) == 0)
        found[at] = is_found(scores)[0], is_found(ahead)[1]
    return float(found[:, 0].mean()), float(found[:, 1].mean())


def main(n_datasets: int = N_DATASETS) -> None:
    """Print the table as Markdown."""
    print(
        "| entrants | tasks | equals: any separable | the first two standard deviations ahead: told from the second |"
    )
    print("|---|---|---|---|")
    for n_entrants, n_tasks in SIZES:
        cells = " | ".join(f"{100 * share:.1f} %" for share in shares(n_entrants, n_tasks, n_datasets))
        print(f"| {n_entrants} | {n_tasks} | {cells} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
