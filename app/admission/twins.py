"""Entrants whose results are the same row by row, also where rows say no more than yes or no.

Called by `app.admission.forensics`; pure. The bound is of chance alone: were the results of one of the two shuffled
among its rows, each arrangement as likely as any other, they would agree with the other's on one in so many
arrangements as there are. Hard and easy items make agreement likelier than that, so it is reported and refuses nothing.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import lgamma, log

import numpy as np

from app.values.fingerprints import Fingerprint, Hashes
from app.values.forensics import Finding

LEAST_ARRANGEMENTS = 1e9
"""One in a billion, and a benchmark has thousands of pairs of entrants rather than millions."""


def ln_arrangements(results: Hashes) -> float:
    """Return the logarithm of how many ways there are to arrange some results among their rows.

    n! / (n₁! n₂! …), where nᵢ rows have the same result.

    >>> round(np.exp(ln_arrangements(np.array([1, 1, 0, 0], dtype=np.uint64))))
    6
    """
    counts = np.unique(results, return_counts=True)[1]
    return lgamma(len(results) + 1) - sum(lgamma(count + 1) for count in counts.tolist())


def are_twins(first: Fingerprint, second: Fingerprint) -> bool:
    """Say whether two have the same rows and, on those that were sampled, results that chance cannot explain."""
    if first.places != second.places or not np.array_equal(first.sample, second.sample):
        return False
    return ln_arrangements(first.sample[1]) >= log(LEAST_ARRANGEMENTS)


def twin_of(mine: Fingerprint, other: Fingerprint, where: str) -> Iterator[Finding]:
    """Yield that an entrant has the results of another one, which is in `where`."""
    if are_twins(mine, other):
        sentence = f"{mine.entrant} has on all of {mine.sample.shape[1]:,} compared rows the results of {other.entrant}"
        yield Finding("same_results", mine.entrant, f"{sentence} ({where})")


def twins_within(fingerprints: Sequence[Fingerprint]) -> Iterator[Finding]:
    """Yield which entrants of one submission have the results of another one of it."""
    alike = sorted(fingerprints, key=lambda one: (one.places, one.results, one.entrant))
    for first, second in pairwise(alike):
        yield from twin_of(second, first, "in this submission")
