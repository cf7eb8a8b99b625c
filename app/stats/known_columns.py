"""Numbers of columns that a process has computed already: a board that gains one entrant computes that one's alone.

Called by the ranking methods of boards with many entrants. A column is known by a digest of its values, and the key by
which a number is remembered says all else that decides it, so that what is remembered is what computing it again would
give. It is kept in memory only, and a process without it computes every column.
"""

import hashlib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from app.stats.arrays import FloatArray, IntArray

FEWEST_CELLS = 200_000
"""Values of a board below which computing all of them costs no more than remembering them."""
FEWEST = 16
"""A product with very few columns is summed in another order than one with many: so many are computed at least."""
MOST_BYTES = 64 << 20

Compute = Callable[[FloatArray], FloatArray]


class KnownColumns:
    """The numbers of the last boards, by key: those of each column, [n_numbers, n_columns], by the column's digest."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        # Never changed, only replaced: a worker computes several boards at a time.
        self._kept: dict[Hashable, tuple[dict[bytes, int], FloatArray]] = {}
        self._most_bytes = most_bytes

    def recall(self, key: Hashable) -> tuple[dict[bytes, int], FloatArray]:
        """Return the place of each column that is known, and the numbers."""
        return self._kept.get(key, ({}, np.empty((0, 0))))

    def keep(self, key: Hashable, digests: Sequence[bytes], numbers: FloatArray) -> None:
        """Remember the numbers of a key in place of its last ones, and forget the oldest that there is no room for."""
        newest = [(key, ({digest: place for place, digest in enumerate(digests)}, numbers))]
        older = [item for item in reversed(self._kept.items()) if item[0] != key]
        room = self._most_bytes
        kept = []
        for item in newest + older:
            room -= item[1][1].nbytes
            if room >= 0:
                kept.append(item)
        self._kept = dict(reversed(kept))


KNOWN = KnownColumns()


@dataclass(frozen=True)
class Columns:
    """Values [n_units, n_columns] of which numbers are asked column by column."""

    values: FloatArray

    @cached_property
    def digests(self) -> list[bytes]:
        """Return a digest of each column; none of a few values, which nobody remembers."""
        if self.values.size < FEWEST_CELLS:
            return []
        rows = np.ascontiguousarray(self.values.T)
        return [hashlib.blake2b(row.data, digest_size=16).digest() for row in rows]

    def numbers(self, key: Hashable, compute: Compute) -> FloatArray:
        """Return what `compute` returns of the values, [n_numbers, n_columns], computing what is not known by `key`.

        What is computed of a column may depend on nothing but the column and the key.

        >>> Columns(np.array([[1.0, 2.0], [3.0, 4.0]])).numbers("mean", lambda values: values.mean(axis=0)[None, :])
        array([[2., 3.]])
        """
        if not self.digests:
            return compute(self.values)
        places, known = KNOWN.recall((key, len(self.values)))
        was = np.array([places.get(digest, -1) for digest in self.digests], dtype=np.int64)
        fresh = np.flatnonzero(was < 0)
        numbers = compute(self.values) if 4 * len(fresh) >= len(was) else self._completed(known, was, fresh, compute)
        KNOWN.keep((key, len(self.values)), self.digests, numbers)
        return numbers

    def _completed(self, known: FloatArray, was: IntArray, fresh: IntArray, compute: Compute) -> FloatArray:
        numbers = known[:, was]
        if len(fresh):
            some = np.resize(fresh, max(len(fresh), FEWEST))
            numbers[:, some] = compute(self.values[:, some])
        return numbers
