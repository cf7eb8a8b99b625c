"""A cache of numbers computed column by column: a board that gains one entrant computes only that entrant's. A column
is identified by a digest of its values, and the key covers everything else that determines the number, so that a
cached number equals a recomputed one. It lives in memory only; a process without it computes every column.
"""

import hashlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from app.stats.arrays import FloatArray, IntArray
from app.stats.compiled import in_parts

FEWEST_CELLS = 200_000
"""Boards with fewer values than this are cheaper to compute than to cache."""
MOST_BYTES = 64 << 20

Compute = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Kept:
    """The numbers [n_numbers, n_columns] of a board's columns, and the position of each column by its digest."""

    key: Hashable
    places: Mapping[bytes, int]
    numbers: FloatArray


class KnownColumns:
    """The numbers of the most recent boards; boards with the same draws share a key but have their own columns."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        # Replaced whole, never modified in place: a worker computes several boards concurrently.
        self._kept: tuple[Kept, ...] = ()
        self._most_bytes = most_bytes

    def recall(self, key: Hashable, digests: Sequence[bytes]) -> Kept:
        """Return the cached numbers of the board with this key that has most of the columns."""
        nothing = Kept(key, {}, np.empty((0, 0)))
        ours = (each for each in self._kept if each.key == key and not each.places.keys().isdisjoint(digests))
        return max(ours, key=lambda each: len(each.places.keys() & digests), default=nothing)

    def keep(self, recalled: Kept, digests: Sequence[bytes], numbers: FloatArray) -> None:
        """Store a board's numbers in place of those recalled for it, and drop the oldest that no longer fit."""
        places = {digest: place for place, digest in enumerate(digests)}
        kept, room = [Kept(recalled.key, places, numbers)], self._most_bytes - numbers.nbytes
        for each in self._kept:
            if each is not recalled:
                room -= each.numbers.nbytes
                kept += [each] if room >= 0 else []
        self._kept = tuple(kept) if numbers.nbytes <= self._most_bytes else self._kept


KNOWN = KnownColumns()


@dataclass(frozen=True)
class Columns:
    """Values [n_units, n_columns] from which numbers are computed column by column."""

    values: FloatArray

    @cached_property
    def digests(self) -> list[bytes]:
        """Return a digest of each column; none for a small board, which is not cached."""
        if self.values.size < FEWEST_CELLS:
            return []
        digests = [b""] * self.values.shape[1]

        def digest(part: slice) -> None:
            rows = np.ascontiguousarray(self.values[:, part].T)
            # Processors have instructions for this hash, so it takes half as long as others.
            digests[part] = [hashlib.sha256(row.data).digest()[:16] for row in rows]

        in_parts(len(digests), 1, digest, n_steps=self.values.size)
        return digests

    def numbers(self, key: Hashable, compute: Compute) -> FloatArray:
        """Return `compute(values)`, [n_numbers, n_columns], computing only the columns not cached under `key`.

        The numbers of a column may depend on nothing but the column and the key.

        >>> Columns(np.array([[1.0, 2.0], [3.0, 4.0]])).numbers("mean", lambda values: values.mean(axis=0)[None, :])
        array([[2., 3.]])
        """
        if not self.digests:
            return compute(self.values)
        known = KNOWN.recall((key, len(self.values)), self.digests)
        was = np.array([known.places.get(digest, -1) for digest in self.digests], dtype=np.int64)
        fresh = np.flatnonzero(was < 0)
        is_new = 4 * len(fresh) >= len(was)
        numbers = compute(self.values) if is_new else self._completed(known.numbers, was, fresh, compute)
        KNOWN.keep(known, self.digests, numbers)
        return numbers

    def _completed(self, known: FloatArray, was: IntArray, fresh: IntArray, compute: Compute) -> FloatArray:
        # In C order, as when all columns are computed: then a sum over rows adds in the same order.
        numbers = np.empty((len(known), len(was)))
        # The position of a new column is −1; it is filled below.
        in_parts(
            len(known), 1, lambda part: np.take(known[part], was, axis=1, out=numbers[part], mode="wrap"),
            n_steps=numbers.size,
        )  # fmt: skip
        if len(fresh):
            numbers[:, fresh] = compute(self.values[:, fresh])
        return numbers
