"""A cache of resampled example counts: the next entrant of a board is resampled with the same ones.

Called by `app.stats.example_draws`. The caller's key must determine the counts, so that cached counts equal redrawn
ones. Two counts take a byte. They live in memory only; a process without them draws.
"""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from app.stats.arrays import Counts
from app.stats.compiled import compiled

MOST_BYTES = 64 << 20
"""A thousand resamples of 100,000 examples take 48 MiB."""
MOST_COUNTED = 15
"""The largest count that fits four bits; one in 10¹³ counts with a mean of 1 is larger."""


@dataclass(frozen=True)
class Drawn:
    """The counts of a key, two per byte: `halves` is [n_resamples, (n_examples + 1) // 2]."""

    key: Hashable
    n_examples: int
    halves: Counts

    @classmethod
    def empty(cls, key: Hashable, n_examples: int, n_resamples: int) -> "Drawn":
        """Return storage for counts, not yet filled."""
        return cls(key, n_examples, np.empty((n_resamples, (n_examples + 1) // 2), dtype=np.uint8))

    def write(self, begin: int, counts: Counts) -> bool:
        """Store counts [n_rows, n_examples] of the resamples from `begin` on; return whether all of them fit."""
        compiled(_pack)(counts, self.halves[begin : begin + len(counts)])
        return int(counts.max(initial=0)) <= MOST_COUNTED

    def read(self, begin: int, end: int) -> Counts:
        """Return the counts of the resamples from `begin` to `end`, [end − begin, n_examples]."""
        counts = np.empty((end - begin, self.n_examples), dtype=np.uint8)
        compiled(_unpack)(self.halves[begin:end], counts)
        return counts


class KnownDraws:
    """The counts of the most recently used keys; the least recently used are dropped first."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        # The most recently used comes first. Never changed, only replaced: a worker computes several boards at a time.
        self._kept: tuple[Drawn, ...] = ()

    def forget(self) -> None:
        """Empty the cache, as in a new process."""
        self._kept = ()

    def recall(self, key: Hashable, n_examples: int, n_resamples: int) -> Drawn | None:
        """Return the counts cached under a key if they have at least this many resamples, otherwise None."""
        for drawn in self._kept:
            if drawn.key == key and drawn.n_examples == n_examples and len(drawn.halves) >= n_resamples:
                self._kept = (drawn, *(each for each in self._kept if each is not drawn))
                return drawn
        return None

    def room(self, key: Hashable, n_examples: int, n_resamples: int) -> Drawn | None:
        """Return storage for counts that are drawn in order; None where they would not fit."""
        n_bytes = n_resamples * ((n_examples + 1) // 2)
        return Drawn.empty(key, n_examples, n_resamples) if n_bytes <= self._most_bytes else None

    def keep(self, drawn: Drawn) -> None:
        """Store counts in place of those of the same key, and drop the oldest that no longer fit."""
        kept, room = [drawn], self._most_bytes - drawn.halves.nbytes
        for each in self._kept:
            if each.key != drawn.key:
                room -= each.halves.nbytes
                kept += [each] if room >= 0 else []
        self._kept = tuple(kept)


def _pack(counts: Counts, halves: Counts) -> None:
    n_pairs = counts.shape[1] // 2
    for row in range(counts.shape[0]):
        for at in range(n_pairs):
            halves[row, at] = np.uint8(counts[row, 2 * at] | np.uint8(counts[row, 2 * at + 1] << np.uint8(4)))
        if n_pairs < halves.shape[1]:
            halves[row, n_pairs] = counts[row, 2 * n_pairs]


def _unpack(halves: Counts, counts: Counts) -> None:
    n_pairs = counts.shape[1] // 2
    for row in range(counts.shape[0]):
        for at in range(n_pairs):
            both = halves[row, at]
            counts[row, 2 * at] = np.uint8(both & np.uint8(15))
            counts[row, 2 * at + 1] = np.uint8(both >> np.uint8(4))
        if n_pairs < halves.shape[1]:
            counts[row, 2 * n_pairs] = np.uint8(halves[row, n_pairs] & np.uint8(15))


KNOWN = KnownDraws()
"""The process-wide cache, shared by every board."""
