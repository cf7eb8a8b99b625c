"""A cache of pairwise spreads: when a board gains one entrant, only its own pairs are computed.

Called by `app.stats.contests` and `app.stats.rank_sets`. An entrant is identified by a digest of its point and
replicates, so a cached pair equals a recomputed one, whatever the board and whoever else is on it. The cache lives in
memory only; a process without it computes every pair.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from app.stats.arrays import FloatArray, IntArray
from app.stats.compiled import compiled, in_parts
from app.stats.pair_loops import Real

MOST_CELLS = 10_000_000
"""Most ordered pairs to cache, 40 MB of them: both orders of a pair share one number."""
FEWEST = 50
"""Boards with fewer entrants than this are cheaper to compute than to cache."""


@dataclass(frozen=True)
class Square:
    """The spread of every pair, [n_pairs], and each row's largest studentized difference, [n_entrants, n_resamples].

    `places` maps an entrant's digest to its position. A pair is stored once, because its spread is symmetric: that of
    positions a ≥ b is at a · (a + 1) / 2 + b.
    """

    places: dict[bytes, int] = field(default_factory=dict)
    spreads: FloatArray = field(default_factory=lambda: np.empty(0))
    bounds: Real = field(default_factory=lambda: np.empty((0, 0)))

    @property
    def n_cells(self) -> int:
        """Return the number of ordered pairs."""
        return len(self.bounds) ** 2


@dataclass(frozen=True)
class Recalled:
    """What is cached for a board's entrants: `was` [n_entrants] holds their positions in a square, −1 if new."""

    digests: Sequence[bytes]
    square: Square

    @cached_property
    def was(self) -> IntArray:
        """Return the entrants' positions in the square; all −1 where recomputing everything is cheaper."""
        was = np.array([self.square.places.get(digest, -1) for digest in self.digests], dtype=np.int64)
        return was if 4 * np.count_nonzero(was < 0) < len(was) else np.full(len(was), -1)

    @property
    def known(self) -> IntArray:
        """Return the positions, on this board, of the cached entrants."""
        return np.flatnonzero(self.was >= 0)

    @property
    def fresh(self) -> IntArray:
        """Return the positions, on this board, of the entrants that are not cached."""
        return np.flatnonzero(self.was < 0)

    def drawn(self) -> FloatArray:
        """Return the spreads of all pairs; NaN for a pair with a new entrant."""
        drawn, loop = np.empty((len(self.was),) * 2), compiled(_look_up)
        among = (self.square.spreads, self.was, drawn)
        in_parts(len(drawn), 1, lambda part: loop(*among, part.start, part.stop), n_steps=drawn.size)
        return drawn

    def bounds(self, precision: np.dtype[Any]) -> Real | None:
        """Return each row's largest studentized differences among cached entrants; −inf for a new row.

        None where an entrant has left, whose pairs may have been the largest, and for numbers of another precision.
        """
        is_whole = len(set(self.was[self.known].tolist())) == len(self.square.places)
        if not is_whole or not len(self.known) or self.square.bounds.dtype != precision:
            return None
        bounds = np.full((len(self.was), self.square.bounds.shape[1]), -np.inf, dtype=precision)
        bounds[self.known] = self.square.bounds[self.was[self.known]]
        return bounds


class KnownContests:
    """The squares of the most recently computed boards."""

    def __init__(self, most_cells: int = MOST_CELLS) -> None:
        # Replaced whole, never modified in place: a worker computes several boards concurrently.
        self._squares: tuple[Square, ...] = ()
        self._most_cells = most_cells

    def recall(self, points: FloatArray, deviations: FloatArray) -> Recalled:
        """Look up entrants by their points and deviations [n_entrants, n_resamples]."""
        if len(points) < FEWEST:
            return Recalled([b""] * len(points), Square())
        digests = [b""] * len(points)

        def digest(part: slice) -> None:
            digests[part] = [_digest(point, row) for point, row in zip(points[part], deviations[part], strict=True)]

        in_parts(len(points), 1, digest, n_steps=deviations.size)
        nearest = max(self._squares, key=lambda square: len(square.places.keys() & digests), default=Square())
        return Recalled(digests, nearest)

    def keep(self, recalled: Recalled, drawn: FloatArray, bounds: Real) -> None:
        """Store a board's pairs in place of those recalled for it, and drop the oldest."""
        if len(drawn) < FEWEST:
            return
        places = {digest: place for place, digest in enumerate(recalled.digests)}
        spreads = _one_of_each(drawn)
        kept, room = [Square(places, spreads, bounds)], self._most_cells - drawn.size
        for square in self._squares:
            replaced = square is recalled.square and len(recalled.known)
            room -= 0 if replaced else square.n_cells
            if not replaced and room >= 0:
                kept.append(square)
        self._squares = tuple(kept) if drawn.size <= self._most_cells else self._squares


def _one_of_each(drawn: FloatArray) -> FloatArray:
    """Return the spread of each pair once, in the layout of `Square`."""
    spreads, loop = np.empty(len(drawn) * (len(drawn) + 1) // 2), compiled(_pack)
    in_parts(len(drawn), 1, lambda part: loop(drawn, spreads, part.start, part.stop), n_steps=drawn.size)
    return spreads


def _pack(drawn: FloatArray, spreads: FloatArray, begin: int, end: int) -> None:
    for row in range(begin, end):
        for column in range(row + 1):
            spreads[row * (row + 1) // 2 + column] = drawn[row, column]


def _look_up(spreads: FloatArray, was: IntArray, drawn: FloatArray, begin: int, end: int) -> None:
    for row in range(begin, end):
        for column in range(len(was)):
            first, second = max(was[row], was[column]), min(was[row], was[column])
            drawn[row, column] = spreads[first * (first + 1) // 2 + second] if second >= 0 else np.nan


def _digest(point: FloatArray, deviations: FloatArray) -> bytes:
    # Processors have instructions for this hash, so it takes half as long as others.
    hashed = hashlib.sha256(point.tobytes())
    hashed.update(deviations.tobytes())
    return hashed.digest()[:16]


KNOWN = KnownContests()
