"""Rows that are nearly another entrant's: a copy with a little noise, or all of it a little lower, takes its place.

Called by `app.store.attempts`; pure. Of the rows that were sampled each column is compared as it is, moved by the
median difference, and scaled by the median ratio. Two honest entrants agree within a thousandth on a few rows; whose
half of them agree has the other's numbers. It is reported and refuses nothing: two names of one model look so too.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.stats.arrays import FloatArray
from app.values.fingerprints import Fingerprint, Sampled
from app.values.forensics import Finding

FLAG = "near_rows"
TOLERANCE = 1e-3
"""Of a value, or of the middle half of its column where that is narrower."""
LEAST_SHARE = 0.5
"""Of 52,000 pairs of MTEB the nearest honest ones agree on a third of eight tasks, copies and second names on 0.96."""
LEAST_ROWS = 8
LEAST_DISTINCT = 0.5
"""A column of few values, such as yes and no, is equal by chance."""
N_OF_MEDIAN = 31
FEW = 20
"""Entrants of one submission up to which they are compared in all ways, beyond only as they are, up to MOST."""
MOST = 2000


@dataclass(frozen=True, repr=False)
class Other:
    """What another entrant has now: its name, the submission, and the values of some rows."""

    entrant: str
    submission: int
    sampled: Sampled


def near_rows(prints: Sequence[Fingerprint], others: Iterable[Other]) -> Iterator[Finding]:
    """Yield which entrants of a submission have nearly the rows of another one: each once, the nearest."""
    groups = _alike_in_places(others)
    for mine in prints[:MOST]:
        best = max((_nearest(mine.sampled, group, in_all_ways=len(prints) <= FEW) for group in groups), default=None)
        if best is not None and best[0] >= LEAST_SHARE:
            share, submission, name = best
            what = f"{mine.entrant} agrees with {name} to a thousandth in {share:.0%} of the compared rows"
            yield Finding(FLAG, mine.entrant, f"{what} (submission {submission})")


def near_share(mine: Sampled, theirs: Sampled) -> float:
    """Return the share of sampled rows in which two agree nearly, in the column where that is largest.

    0.0 where no column can tell: fewer than eight rows in common, or few different values.

    >>> of = lambda values: Sampled(np.arange(8, dtype=np.uint32), ("error",), np.float32(values).reshape(-1, 1))
    >>> near_share(of([1.1, 2.3, 3.7, 4.2, 5.9, 6.1, 7.4, 8.8]), of([1.11, 2.31, 3.71, 4.21, 5.91, 6.11, 9, 9.1]))
    0.75
    """
    return _nearest(mine, [Other("", 0, theirs)], in_all_ways=True)[0]


def _alike_in_places(others: Iterable[Other]) -> list[list[Other]]:
    """Return the others by the places that were sampled, so that all of a group are compared at once."""
    groups: dict[tuple[bytes, tuple[str, ...]], list[Other]] = {}
    for other in others:
        groups.setdefault((other.sampled.places.tobytes(), other.sampled.columns), []).append(other)
    return list(groups.values())


def _nearest(mine: Sampled, group: Sequence[Other], *, in_all_ways: bool) -> tuple[float, int, str]:
    """Return the largest share of any column with any of a group, its submission and its name."""
    sampled = group[0].sampled
    ours, at = _common(mine, sampled)
    shares = np.zeros(len(group))
    for name in set(mine.columns) & set(sampled.columns) if len(ours) >= LEAST_ROWS else ():
        first = mine.values[ours, mine.columns.index(name)].astype(np.float64)
        theirs = np.array([each.sampled.values[at, sampled.columns.index(name)] for each in group], dtype=np.float64)
        shares = np.maximum(shares, _shares(first, theirs, in_all_ways=in_all_ways))
    best = int(shares.argmax())
    return float(shares[best]), group[best].submission, group[best].entrant


def _common(mine: Sampled, theirs: Sampled) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    if np.array_equal(mine.places, theirs.places):
        return (same := np.arange(len(mine.places))), same
    _, ours, at = np.intersect1d(mine.places, theirs.places, return_indices=True)
    return ours, at


def _shares(first: FloatArray, others: FloatArray, *, in_all_ways: bool) -> FloatArray:
    """Return in which share of its rows [n_rows] one column agrees with each of others [n_others, n_rows]."""
    n_known = int(np.isfinite(first).sum())
    # Each value counts once: of many zeros one.
    rows = np.sort(np.unique(first, return_index=True)[1])
    rows = rows[np.isfinite(first[rows])]
    first, others = first[rows], others[:, rows]
    if len(first) < max(LEAST_ROWS, LEAST_DISTINCT * n_known):
        return np.zeros(len(others))
    low, high = np.quantile(first, [0.25, 0.75])
    allowed = TOLERANCE * np.minimum(abs(first), high - low)
    with np.errstate(all="ignore"):
        ways = [others]
        if in_all_ways:
            ways += [others + _middle(first - others), others * _middle(first / others)]
        n_near = [(abs(first - way) <= allowed).sum(axis=1) for way in ways]
    n_both = np.isfinite(others).sum(axis=1)
    return np.where(n_both < LEAST_ROWS, 0.0, np.max(n_near, axis=0) / np.maximum(n_both, 1))


def _middle(values: FloatArray) -> FloatArray:
    """Return the median of the first values of each row, of what is no NaN, [n_rows, 1].

    Rows are in the order of hashes, so the first are a random sample; they are enough where most are equal.
    """
    values = values[:, :N_OF_MEDIAN]
    ordered = np.sort(values, axis=1)
    n_known = np.maximum((~np.isnan(values)).sum(axis=1), 1)
    both = [np.take_along_axis(ordered, at[:, None], axis=1) for at in ((n_known - 1) // 2, n_known // 2)]
    return (both[0] + both[1]) / 2
