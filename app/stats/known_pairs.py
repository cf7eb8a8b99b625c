"""A cache of compared pairs: when a board gains one entrant, only its own pairs are compared.

Called by `app.stats.pairs`. A pair is identified by its errors and its draws, so a cached comparison equals a
recomputed one. The cache lives in memory only; a process without it computes every pair.
"""

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from app.stats.arrays import BoolArray, FloatArray, IntArray

MAX_BOARDS, MAX_ENTRANTS = 16, 256


def column_digests(errors: FloatArray) -> list[bytes]:
    """Return a digest of each column of errors [n_tasks, n_entrants]: equal bytes have equal digests.

    Errors may have any unit; NaN counts as its bytes. Raises nothing.
    Source: BLAKE2b with 16 bytes, RFC 7693.

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
    """The numbers of every ordered pair, [6, n_entrants, n_entrants], and each entrant's position by its digest."""

    places: dict[bytes, int]
    numbers: FloatArray


class KnownPairs:
    """The pairs of the most recently computed boards, one square per board."""

    def __init__(self) -> None:
        # Replaced whole, never modified in place: a worker computes several boards concurrently.
        self._squares: dict[Hashable, _Square] = {}

    def recall(self, board: Hashable, digests: Sequence[bytes]) -> tuple[FloatArray, BoolArray]:
        """Return the cached numbers of each ordered pair, NaN where there are none, and a mask of the cached pairs."""
        n_entrants = len(digests)
        numbers = np.full((6, n_entrants, n_entrants), np.nan)
        square = self._squares.get(board)
        places = {} if square is None else square.places
        was = np.array([places.get(digest, -1) for digest in digests], dtype=np.int64)
        # A pair whose order has changed is not reused: dividing the other way round may change the last digit.
        is_known: BoolArray = np.outer(was >= 0, was >= 0) & (np.sign(np.subtract.outer(was, was)) == _order(len(was)))
        if square is not None and is_known.any():
            here = np.flatnonzero(was >= 0)
            numbers[:, here[:, None], here] = square.numbers[:, was[here][:, None], was[here]]
        return numbers, is_known

    def keep(self, board: Hashable, digests: Sequence[bytes], numbers: FloatArray) -> None:
        """Store a board's pairs in place of those of its previous state."""
        if len(digests) > MAX_ENTRANTS:
            return
        places = {digest: place for place, digest in enumerate(digests)}
        others = [(name, square) for name, square in self._squares.items() if name != board]
        self._squares = dict([*others[-(MAX_BOARDS - 1) :], (board, _Square(places, numbers.copy()))])
