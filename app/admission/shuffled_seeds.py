"""Seeds whose results are the same numbers in every task and condition, on other items: one run, its rows moved.

Called by `app.admission.forensics`; pure. Two honest seeds are exchangeable: of the items on which only one of them
has a certain result, each is as likely to have it, however easy or hard the item is. That both have it equally often
is then a matter of tosses, and in every task and condition at once it soon cannot be chance.
"""

from collections.abc import Iterator
from math import lgamma, log

import numpy as np

from app.admission.check import listed
from app.admission.twins import LEAST_ARRANGEMENTS, SeedRows
from app.values.fingerprints import Hashes, mix
from app.values.forensics import Finding
from app.values.scores import ScoreTable


def shuffled_seeds(of: SeedRows) -> Iterator[Finding]:
    """Yield which entrants have the same numbers of each result under several seeds, which chance cannot explain.

    Seeds with other items are not compared, and items with equal results say nothing, so a model that draws nothing is
    not named here: it is one of `same_seeds`.
    """
    results, cells, places = of.results, _cells(of.scores), of.places
    for name, seeds in of.alike(mix(cells, results)):
        first, *others = (rows[np.argsort(places[rows], kind="stable")] for rows in seeds.values())
        same = [rows for rows in others if np.array_equal(places[rows], places[first])]
        ln_chance = sum(_ln_chance(cells[first], results[first], results[rows]) for rows in same)
        if len(same) == len(others) and ln_chance <= -log(LEAST_ARRANGEMENTS):
            n_cells = len(np.unique(cells[first]))
            where = f"as many of each in all {n_cells:,} tasks and conditions, on other items"
            yield Finding(
                "shuffled_seeds", name, f"{name}, {len(first):,} rows of seeds {listed(list(seeds))}: {where}"
            )


def _cells(scores: ScoreTable) -> Hashes:
    """Return a number for the task and condition of each row, [n_rows]."""
    condition = np.zeros(len(scores), np.int64) if scores.condition is None else scores.condition.codes
    return mix(scores.task.codes.astype(np.uint64), condition.astype(np.uint64))


def _ln_chance(cells: Hashes, first: Hashes, second: Hashes) -> float:
    """Return an upper bound of the logarithm of the chance that two seeds have equal numbers of each result everywhere.

    Cells, and the results of the two, are [n_items]. In each cell the result on which the two differ on most items is
    taken, d of them: half of d tosses are heads in d! / (d/2)!² / 2^d of all cases.
    """
    differ = first != second
    each = np.concatenate([mix(cells[differ], side[differ]) for side in (first, second)])
    _, at, counts = np.unique(each, return_index=True, return_counts=True)
    known, of = np.unique(np.tile(cells[differ], 2)[at], return_inverse=True)
    most = np.zeros(len(known), dtype=np.int64)
    np.maximum.at(most, of.reshape(-1), counts)
    return sum(map(_ln_half, most.tolist()))


def _ln_half(n: int) -> float:
    """Return the logarithm of the chance that half of `n` tosses, an even number, are heads."""
    return lgamma(n + 1) - 2 * lgamma(n / 2 + 1) - n * log(2)
