"""Rows that are nearly another entrant's: copies with a little noise, or shifted a little as a whole.

Called by `app.store.attempts`; pure. Each column of the sampled rows is compared as it is, shifted by the median
difference, and scaled by the median ratio. Two honest entrants agree within a thousandth on a few rows; agreement on
half of them means copied numbers. It is flagged and not refused: one model under two names looks the same.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.stats.arrays import BoolArray, FloatArray
from app.values.fingerprints import Fingerprint, Sampled
from app.values.forensics import Finding

FLAG = "near_rows"
TOLERANCE = 1e-3
"""The tolerance relative to a value, or to its column's interquartile range where that is smaller."""
LEAST_SHARE = 0.5
"""Of 52,000 pairs from MTEB, the closest honest ones agree on a third of eight tasks, copies and renamed ones on
0.96.
"""
LEAST_ROWS = 8
LEAST_DISTINCT = 0.5
"""A column with fewer distinct values, such as 0/1, agrees by chance."""
N_OF_MEDIAN = 31
FEW = 20
"""Up to this many entrants per submission all three comparisons are made; beyond, up to MOST, only the direct one."""
MOST = 2000
N_FIRST = 16
"""Rows checked first: two entrants that agree on half of all rows differ on all of these once in 65,000 times."""


@dataclass(frozen=True, repr=False)
class Other:
    """Another entrant's current evidence: its name, the submission, and the values of sampled rows."""

    entrant: str
    submission: int
    sampled: Sampled


def near_rows(prints: Sequence[Fingerprint], others: Iterable[Other]) -> Iterator[Finding]:
    """Yield which entrants of a submission have nearly another's rows, each once, with the nearest other."""
    them = list(others)
    by_place = _ByPlace([other.sampled for other in them])
    for mine in prints[:MOST] if them else ():
        shares = _nearest(mine.sampled, by_place, in_all_ways=len(prints) <= FEW)
        best = int(shares.argmax())
        if shares[best] >= LEAST_SHARE:
            nearest = f"{them[best].entrant} to a thousandth in {shares[best]:.0%} of the compared rows"
            where = f"(submission {them[best].submission})"
            yield Finding(FLAG, mine.entrant, f"{mine.entrant} agrees with {nearest} {where}")


def near_share(mine: Sampled, theirs: Sampled) -> float:
    """Return the share of sampled rows on which two nearly agree, in the column where it is largest.

    0.0 where no column is informative: fewer than eight rows in common, or few distinct values.

    >>> of = lambda values: Sampled(np.arange(8, dtype=np.uint32), ("error",), np.float32(values).reshape(-1, 1))
    >>> near_share(of([1.1, 2.3, 3.7, 4.2, 5.9, 6.1, 7.4, 8.8]), of([1.11, 2.31, 3.71, 4.21, 5.91, 6.11, 9, 9.1]))
    0.75
    """
    return float(_nearest(mine, _ByPlace([theirs]), in_all_ways=True)[0])


class _ByPlace:
    """The others' values by column and place: one look-up for all of them, not one for each."""

    def __init__(self, others: Sequence[Sampled]) -> None:
        self.n_others = len(others)
        self._others = others
        self._sorted: dict[str, tuple[NDArray[np.uint32], NDArray[np.intp], NDArray[np.float32]]] = {}
        self._last: dict[str, tuple[bytes, NDArray[np.float32]]] = {}

    def at(self, column: str, places: NDArray[np.uint32]) -> NDArray[np.float32]:
        """Return the values of a column at `places`, [n_places, n_others]; NaN where there is none."""
        key = places.tobytes()
        known = self._last.get(column)
        if known is None or known[0] != key:
            # The entrants of a submission usually have the same places.
            known = self._last[column] = key, self._gathered(column, places)
        return known[1]

    def _gathered(self, column: str, places: NDArray[np.uint32]) -> NDArray[np.float32]:
        if column not in self._sorted:
            self._sorted[column] = self._by_place(column)
        ordered, owners, values = self._sorted[column]
        gathered = np.full((len(places), self.n_others), np.nan, dtype=np.float32)
        starts, ends = (np.searchsorted(ordered, places, side).tolist() for side in ("left", "right"))
        for row, start, end in zip(gathered, starts, ends, strict=True):
            row[owners[start:end]] = values[start:end]
        return gathered

    def _by_place(self, column: str) -> tuple[NDArray[np.uint32], NDArray[np.intp], NDArray[np.float32]]:
        having = [(at, one) for at, one in enumerate(self._others) if column in one.columns]
        places = np.concatenate([np.empty(0, np.uint32), *(one.places for _, one in having)])
        owners = np.repeat([at for at, _ in having], [len(one.places) for _, one in having]).astype(np.intp)
        columns = (one.values[:, one.columns.index(column)] for _, one in having)
        values = np.concatenate([np.empty(0, np.float32), *columns])
        order = np.argsort(places, kind="stable")
        return places[order], owners[order], values[order]


def _nearest(mine: Sampled, others: _ByPlace, *, in_all_ways: bool) -> FloatArray:
    """Return, for each other entrant, the share of agreeing rows in the column where it is largest, [n_others]."""
    shares = np.zeros(others.n_others)
    for at, name in enumerate(mine.columns):
        rows = _comparable_rows(mine.values[:, at])
        if not len(rows):
            continue
        first = mine.values[rows, at].astype(np.float64)
        allowed = _tolerance(first)
        theirs = others.at(name, mine.places)
        those = np.arange(others.n_others) if in_all_ways else _maybe_near(first, allowed, theirs, rows)
        values = theirs[np.ix_(rows, those)].T.astype(np.float64)
        shares[those] = np.maximum(shares[those], _shares(first, allowed, values, in_all_ways=in_all_ways))
    return shares


def _comparable_rows(values: NDArray[np.float32]) -> NDArray[np.intp]:
    """Return the rows to compare: one per distinct value, so that many zeros count once; empty if too few differ."""
    rows = np.sort(np.unique(values, return_index=True)[1])
    rows = rows[np.isfinite(values[rows])]
    enough = max(LEAST_ROWS, LEAST_DISTINCT * int(np.isfinite(values).sum()))
    return rows if len(rows) >= enough else rows[:0]


def _tolerance(first: FloatArray) -> FloatArray:
    low, high = np.quantile(first, [0.25, 0.75])
    allowed: FloatArray = TOLERANCE * np.minimum(abs(first), high - low)
    return allowed


def _maybe_near(
    first: FloatArray, allowed: FloatArray, theirs: NDArray[np.float32], rows: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Return which others agree on one of the first rows, or lack so many of them that nothing can be ruled out.

    Rows are in the order of hashes, so the first are a random sample.
    """
    others = theirs[rows[:N_FIRST]]
    is_near: BoolArray = abs(others - first[:N_FIRST, None]) <= allowed[:N_FIRST, None]
    lacks = np.isnan(others).sum(axis=0) > len(others) // 2
    return np.flatnonzero(is_near.any(axis=0) | lacks)


def _shares(first: FloatArray, allowed: FloatArray, others: FloatArray, *, in_all_ways: bool) -> FloatArray:
    """Return the share of rows on which one column [n_rows] agrees with each of the others [n_others, n_rows]."""
    with np.errstate(all="ignore"):
        ways = [others]
        if in_all_ways:
            ways += [others + _middle(first - others), others * _middle(first / others)]
        n_near = [(abs(first - way) <= allowed).sum(axis=1) for way in ways]
    n_both = np.isfinite(others).sum(axis=1)
    return np.where(n_both < LEAST_ROWS, 0.0, np.max(n_near, axis=0) / np.maximum(n_both, 1))


def _middle(values: FloatArray) -> FloatArray:
    """Return the median of the first non-NaN values of each row, [n_rows, 1].

    Rows are in the order of hashes, so the first are a random sample; they are enough where most are equal.
    """
    values = values[:, :N_OF_MEDIAN]
    ordered = np.sort(values, axis=1)
    n_known = np.maximum((~np.isnan(values)).sum(axis=1), 1)
    both = [np.take_along_axis(ordered, at[:, None], axis=1) for at in ((n_known - 1) // 2, n_known // 2)]
    return (both[0] + both[1]) / 2
