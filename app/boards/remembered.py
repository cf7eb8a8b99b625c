"""Numbers of a board that were computed before: when it gains one entrant, only that entrant's are computed. Values are
known by a digest, and a key covers everything else that determines a number, so that a remembered number equals a
computed one to the last bit. A process that remembers nothing computes everything.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from app.cache import COMPUTED, digest
from app.stats.arrays import BoolArray, FloatArray
from app.stats.compiled import transposed
from app.stats.pairs import PairStatistics
from app.stats.resample import Resamples

FEWEST_CELLS = 200_000
"""Boards with fewer values than this are cheaper to compute than to remember."""

AT_ONCE = 256
"""Columns turned at a time, because all of a large board would take a lot of memory."""

Key = tuple[str | bytes, ...]


@dataclass(frozen=True)
class ValueColumns:
    """Values [n_units, n_columns] from which numbers are computed column by column."""

    values: FloatArray

    @cached_property
    def digests(self) -> list[bytes]:
        """Return a digest of each column; none for a small board, which is not remembered."""
        return [] if self.values.size < FEWEST_CELLS else _digests(self.values)

    def numbers(self, key: Key, compute: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Return `compute(values)`, [n_numbers, n_columns], computing only the columns not remembered under `key`.

        The numbers of a column may depend on nothing but the column and the key.

        >>> ValueColumns(np.eye(2)).numbers(("mean",), lambda values: values.mean(axis=0)[None, :])
        array([[0.5, 0.5]])
        """
        if not self.digests:
            return compute(self.values)
        of_all = digest(*key)
        keys = [of_all + each for each in self.digests]
        known: list[FloatArray | None] = [COMPUTED.get(each) for each in keys]
        fresh = [at for at, numbers in enumerate(known) if numbers is None]
        if 4 * len(fresh) >= len(known):
            numbers = compute(self.values)
            _keep(keys, transposed(numbers))
            return numbers
        if fresh:
            own = transposed(compute(self.values[:, fresh]))
            _keep([keys[at] for at in fresh], own)
            for at, numbers in zip(fresh, own, strict=True):
                known[at] = numbers
        # In C order, as when all columns are computed: then a sum over rows adds in the same order.
        return transposed(np.array(known))


def _digests(values: FloatArray) -> list[bytes]:
    """Return a digest of each column of values [n_units, n_columns]."""
    parts = (transposed(values[:, start : start + AT_ONCE]) for start in range(0, values.shape[1], AT_ONCE))
    return [digest(row.data) for rows in parts for row in rows]


def _keep(keys: Sequence[bytes], rows: FloatArray) -> None:
    for key, row in zip(keys, rows, strict=True):
        COMPUTED.keep(key, row.copy(), row.nbytes)


@dataclass(frozen=True)
class _Square:
    """The results of every ordered pair, and each entrant's position by its digest."""

    places: dict[bytes, int]
    pairs: PairStatistics


def remembered_pairs(
    key: Key, values: FloatArray, resamples: Resamples | None, compare: Callable[[BoolArray], PairStatistics]
) -> PairStatistics:
    """Return `compare` of every ordered pair of entrants, comparing only pairs not remembered under `key`.

    `values` [n_tasks, n_entrants] and `resamples` are what is compared; `compare` is given the pairs that are wanted,
    [n_entrants, n_entrants], and may leave the others NaN. Without resamples, and without a digest of them, it compares
    all.

    Source: none; what is remembered is bit for bit what `compare` gave.

    >>> def compare(wanted):
    ...     return PairStatistics(*(np.where(wanted, 0.5, np.nan) for _ in range(6)))
    >>> remembered_pairs(("wins",), np.array([[1.0, 2.0]]), None, compare).win_rate.tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    draws = None if resamples is None else resamples.digest()
    n_entrants = values.shape[1]
    if draws is None:
        return compare(np.ones((n_entrants, n_entrants), dtype=np.bool_))
    of_all, digests = digest(*key, draws), _digests(values)
    square: _Square | None = COMPUTED.get(of_all)
    places = {} if square is None else square.places
    was = np.array([places.get(each, -1) for each in digests], dtype=np.int64)
    # A pair whose order has changed is not used again: dividing the other way round may change the last digit.
    here, now = np.flatnonzero(was >= 0), np.arange(n_entrants)
    is_known = np.outer(was >= 0, was >= 0)
    is_known &= np.sign(np.subtract.outer(was, was)) == np.sign(np.subtract.outer(now, now))
    pairs = compare(~is_known)
    if square is not None and is_known.any():
        for field in fields(PairStatistics):
            before = np.full(is_known.shape, np.nan)
            before[here[:, None], here] = getattr(square.pairs, field.name)[was[here][:, None], was[here]]
            np.copyto(getattr(pairs, field.name), before, where=is_known)
    n_bytes = len(fields(PairStatistics)) * pairs.skill.nbytes
    COMPUTED.keep(of_all, _Square({each: at for at, each in enumerate(digests)}, pairs), n_bytes)
    return pairs
