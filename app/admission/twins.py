"""Entrants with the same results row by row, even where results are only 0/1.

Called by `app.admission.forensics`; pure. The bound considers chance alone: if one entrant's results were shuffled
among its rows, only one of all arrangements would agree with the other's. Easy and hard items make agreement likelier
than that, so it is flagged and not refused.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import lgamma, log

import numpy as np

from app.admission.check import listed
from app.stats.arrays import IntArray
from app.values.fingerprints import Fingerprint, Hashes, hash_values, mix, place_hashes
from app.values.forensics import Finding
from app.values.scores import ScoreTable

LEAST_ARRANGEMENTS = 1e9
"""One in a billion by chance: a benchmark has thousands of pairs of entrants rather than millions."""
LEAST_OF_A_SEED = 1e3
"""Several seeds alike are less likely than two, but so few rows that nearly everybody has them so say nothing."""


def ln_arrangements(results: Hashes) -> float:
    """Return the logarithm of how many ways there are to arrange some results among their rows.

    n! / (n₁! n₂! …), where nᵢ rows have the same result.

    >>> round(np.exp(ln_arrangements(np.array([1, 1, 0, 0], dtype=np.uint64))))
    6
    """
    counts = np.unique(results, return_counts=True)[1]
    return lgamma(len(results) + 1) - sum(lgamma(count + 1) for count in counts.tolist())


def are_twins(first: Fingerprint, second: Fingerprint) -> bool:
    """Say whether two have the same rows and, on the sampled ones, equal results that chance cannot explain."""
    if first.places != second.places or not np.array_equal(first.sample, second.sample):
        return False
    return ln_arrangements(first.sample[1]) >= log(LEAST_ARRANGEMENTS)


def twin_of(mine: Fingerprint, other: Fingerprint, where: str) -> Iterator[Finding]:
    """Yield the finding that an entrant has the results of another one, from `where`."""
    if are_twins(mine, other):
        sentence = f"{mine.entrant} has on all of {mine.sample.shape[1]:,} compared rows the results of {other.entrant}"
        yield Finding("same_results", mine.entrant, f"{sentence} ({where})")


def twins_within(fingerprints: Sequence[Fingerprint]) -> Iterator[Finding]:
    """Yield which entrants of one submission have the results of another entrant in it."""
    alike = sorted(fingerprints, key=lambda one: (one.places, one.results, one.entrant))
    for first, second in pairwise(alike):
        yield from twin_of(second, first, "in this submission")


@dataclass(frozen=True)
class SeedRows:
    """Rows by entrant and seed, with hashes of their places without the seed and of their results, each [n_rows].

    `order` [n_rows] lists the rows seed by seed, each of one entrant; `starts` is where each such seed begins there.
    """

    scores: ScoreTable
    places: Hashes
    results: Hashes
    order: IntArray
    starts: IntArray

    @classmethod
    def of(cls, scores: ScoreTable) -> "SeedRows | None":
        """Return the rows of a table; None where seeds or items have no names, so that none can be compared."""
        if scores.seed is None or scores.item is None or not len(scores.seed):
            return None
        cells, cell = np.unique(_seeds_of_entrants(scores), return_inverse=True)
        order = np.argsort(cell.reshape(-1), kind="stable")
        starts = np.searchsorted(cell.reshape(-1)[order], np.arange(len(cells)))
        return cls(scores, place_hashes(replace(scores, seed=None)), hash_values(scores.values), order, starts)

    def alike(self, contents: Hashes) -> Iterator[tuple[str, dict[str, IntArray]]]:
        """Yield an entrant and the rows of each of its seeds that have the same `contents`, in any order.

        `contents` [n_rows] are hashes of what is compared.
        """
        by_content: dict[tuple[int, int, int], list[int]] = {}
        sums, sizes = np.add.reduceat(contents[self.order], self.starts), np.diff(self.starts, append=len(self.order))
        entrants = self.scores.entrant.codes[self.order[self.starts]]
        for at, key in enumerate(zip(entrants.tolist(), sums.tolist(), sizes.tolist(), strict=True)):
            by_content.setdefault(key, []).append(at)
        for (entrant, _, size), alike in by_content.items():
            if len(alike) > 1 and self.scores.seed is not None:
                rows = [self.order[self.starts[at] : self.starts[at] + size] for at in alike]
                yield self.scores.entrant.words[entrant], {str(self.scores.seed[each[0]]): each for each in rows}


def seed_twins(of: SeedRows) -> Iterator[Finding]:
    """Yield which entrants have, under several seeds, equal results for the same items that chance cannot explain.

    A deterministic model looks the same; either way it is one run, and intervals that treat it as several are too
    narrow.
    """
    for name, seeds in of.alike(mix(of.places, of.results)):
        rows = list(seeds.values())
        if _is_no_chance(ln_arrangements(of.results[rows[0]]), len(rows)):
            yield Finding("same_seeds", name, f"{name}, all {len(rows[0]):,} rows of seeds {listed(list(seeds))}")


def _is_no_chance(ln_of_one: float, n_alike: int) -> bool:
    """Say whether chance cannot explain that so many seeds are alike: each beside the first has to hit by itself."""
    return ln_of_one >= log(LEAST_OF_A_SEED) and (n_alike - 1) * ln_of_one >= log(LEAST_ARRANGEMENTS)


def _seeds_of_entrants(scores: ScoreTable) -> Hashes:
    """Return a number for the entrant and seed of each row, [n_rows]."""
    return mix(scores.entrant.codes.astype(np.uint64), np.asarray(scores.seed).astype(np.uint64))
