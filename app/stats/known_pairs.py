"""Pairs that a process has compared already: a board that gains one entrant compares that one and no others anew.

Called by `app.stats.pairs`. What is known of a pair is found by its very errors and draws, so it is what computing it
again would give; it is kept in memory only, and a process without it computes every pair.
"""

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from app.stats.arrays import BoolArray, FloatArray, IntArray

MAX_BOARDS, MAX_ENTRANTS = 16, 256


def column_digests(errors: FloatArray) -> list[bytes]:
    """Return a digest of each column of errors [n_tasks, n_entrants]: equal bytes have equal digests.

    Errors may have any unit; NaN is digested as its bytes. Source: BLAKE2b with 16 bytes, RFC 7693.

    >>> len(set(column_digests(np.array([[0.5, 0.5, 0.25]]))))
    2
    """
    return [hashlib.blake2b(column.tobytes(), digest_size=16).digest() for column in errors.T]


def _order(n_entrants: int) -> IntArray:
    places = np.arange(n_entrants)
    order: IntArray = np.sign(np.subtract.outer(places, places))
    return order


@dataclass(frozen=True)
class _Square:
    """The numbers of every ordered pair, [6, n_entrants, n_entrants], and the position of each entrant's errors."""

    places: dict[bytes, int]
    numbers: FloatArray


class KnownPairs:
    """The pairs of the last boards that were computed, one square a board."""

    def __init__(self) -> None:
        # Never changed, only replaced: a worker computes several boards at a time.
        self._squares: dict[Hashable, _Square] = {}

    def recall(self, board: Hashable, digests: Sequence[bytes]) -> tuple[FloatArray, BoolArray]:
        """Return what is known of each ordered pair, NaN where nothing is, and of which pairs something is."""
        n_entrants = len(digests)
        numbers = np.full((6, n_entrants, n_entrants), np.nan)
        square = self._squares.get(board)
        places = {} if square is None else square.places
        was = np.array([places.get(digest, -1) for digest in digests], dtype=np.int64)
        # Of two entrants the first was divided by the second; the other way round, the last digit may differ.
        is_known: BoolArray = np.outer(was >= 0, was >= 0) & (np.sign(np.subtract.outer(was, was)) == _order(len(was)))
        if square is not None and is_known.any():
            here = np.flatnonzero(was >= 0)
            numbers[:, here[:, None], here] = square.numbers[:, was[here][:, None], was[here]]
        return numbers, is_known

    def keep(self, board: Hashable, digests: Sequence[bytes], numbers: FloatArray) -> None:
        """Remember a board's pairs in place of those of its last state."""
        if len(digests) > MAX_ENTRANTS:
            return
        places = {digest: place for place, digest in enumerate(digests)}
        others = [(name, square) for name, square in self._squares.items() if name != board]
        self._squares = dict([*others[-(MAX_BOARDS - 1) :], (board, _Square(places, numbers.copy()))])
