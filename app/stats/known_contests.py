"""Pairs of entrants whose spread a process has computed already: one more entrant is compared with all, and no others.

Called by `app.stats.contests` and `app.stats.rank_sets`. An entrant is known by a digest of its point and replicates,
so what is remembered of a pair is what computing it again would give, whatever the board and whoever else is on it. It
is kept in memory only, and a process without it computes every pair.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.stats.arrays import FloatArray, IntArray
from app.stats.compiled import compiled, in_parts

Real = NDArray[np.floating[Any]]
MOST_CELLS = 10_000_000
"""So many ordered pairs are remembered altogether, 40 MB of them: both orders of a pair are one number."""
FEWEST = 50
"""Entrants of a board below which computing all pairs costs no more than remembering them."""


@dataclass(frozen=True)
class Square:
    """The spread of every pair, [n_pairs], and the largest of each row, [n_entrants, n_resamples].

    `places` has the position of each entrant by its digest. A pair is kept once, for its spread has no direction: one
    of places a ≥ b is at a · (a + 1) / 2 + b.
    """

    places: dict[bytes, int] = field(default_factory=dict)
    spreads: FloatArray = field(default_factory=lambda: np.empty(0))
    bounds: Real = field(default_factory=lambda: np.empty((0, 0)))

    @property
    def n_cells(self) -> int:
        """Return how many ordered pairs there are."""
        return len(self.bounds) ** 2


@dataclass(frozen=True)
class Recalled:
    """What is known of a board's entrants: `was` [n_entrants] are their places in a square, −1 for who is new."""

    digests: Sequence[bytes]
    square: Square

    @cached_property
    def was(self) -> IntArray:
        """Return the places of the entrants in the square; −1 of all where computing anew costs less."""
        was = np.array([self.square.places.get(digest, -1) for digest in self.digests], dtype=np.int64)
        return was if 4 * np.count_nonzero(was < 0) < len(was) else np.full(len(was), -1)

    @property
    def known(self) -> IntArray:
        """Return the positions of those that are known."""
        return np.flatnonzero(self.was >= 0)

    @property
    def fresh(self) -> IntArray:
        """Return the positions of those that are not."""
        return np.flatnonzero(self.was < 0)

    def drawn(self) -> FloatArray:
        """Return the spreads of all pairs; NaN of a pair of which one is new."""
        drawn, loop = np.empty((len(self.was),) * 2), compiled(_look_up)
        among = (self.square.spreads, self.was, drawn)
        in_parts(len(drawn), 1, lambda part: loop(*among, part.start, part.stop), n_steps=drawn.size)
        return drawn

    def bounds(self, precision: np.dtype[Any]) -> Real | None:
        """Return the largest of each row among those that are known; −inf of a new row.

        None where somebody has gone, whose pairs may have been the largest, and for numbers of another precision.
        """
        is_whole = len(set(self.was[self.known].tolist())) == len(self.square.places)
        if not is_whole or not len(self.known) or self.square.bounds.dtype != precision:
            return None
        bounds = np.full((len(self.was), self.square.bounds.shape[1]), -np.inf, dtype=precision)
        bounds[self.known] = self.square.bounds[self.was[self.known]]
        return bounds


class KnownContests:
    """The squares of the last boards that were computed."""

    def __init__(self, most_cells: int = MOST_CELLS) -> None:
        # Never changed, only replaced: a worker computes several boards at a time.
        self._squares: tuple[Square, ...] = ()
        self._most_cells = most_cells

    def recall(self, points: FloatArray, deviations: FloatArray) -> Recalled:
        """Return what is known of entrants by their points and deviations [n_entrants, n_resamples]."""
        if len(points) < FEWEST:
            return Recalled([b""] * len(points), Square())
        digests = [b""] * len(points)

        def digest(part: slice) -> None:
            digests[part] = [_digest(point, row) for point, row in zip(points[part], deviations[part], strict=True)]

        in_parts(len(points), 1, digest, n_steps=deviations.size)
        nearest = max(self._squares, key=lambda square: len(square.places.keys() & digests), default=Square())
        return Recalled(digests, nearest)

    def keep(self, recalled: Recalled, drawn: FloatArray, bounds: Real) -> None:
        """Remember a board's pairs in place of those that it was recalled from, and forget the oldest ones."""
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
    """Return the spread of each pair once, as `Square` has them."""
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
    # Processors have instructions for this one, which takes half as long as others.
    hashed = hashlib.sha256(point.tobytes())
    hashed.update(deviations.tobytes())
    return hashed.digest()[:16]


KNOWN = KnownContests()
