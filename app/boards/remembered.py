"""Pairs of a board that were compared before: when it gains one entrant, only that entrant's are compared. Values are
known by a digest, and a key covers everything else that determines a number, so that a remembered number equals a
computed one to the last bit. A process that remembers nothing compares everything.

Why: docs/adr/011-same-bits-quickly.md.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

from app.cache import COMPUTED, digest
from app.stats.arrays import BoolArray, FloatArray
from app.stats.compiled import transposed
from app.stats.pairs import PairStatistics
from app.stats.resample import Resamples


@dataclass(frozen=True)
class _Square:
    """The results of every ordered pair, and each entrant's position by its digest."""

    places: dict[bytes, int]
    pairs: PairStatistics


def remembered_pairs(
    key: tuple[str, ...],
    values: FloatArray,
    resamples: Resamples | None,
    compare: Callable[[BoolArray], PairStatistics],
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
    of_all, digests = digest(*key, draws), [digest(column.data) for column in transposed(values)]
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
