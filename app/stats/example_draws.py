"""Bootstrap resamples of very many examples, as counts that fit a byte.

Called by `app.leaderboards`; pure. A million examples times two thousand resamples are two billion counts: they are
drawn in batches, and each costs about two random bytes instead of a random number for every drawn example.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.uint8]
FloatArray = NDArray[np.float64]

BATCH_CELLS = 1_000_000
"""Counts held at once: with what is computed from them, they stay near the processor."""
FEW_EXAMPLES = 1000
"""Below it the examples are drawn one by one: the shortcut would draw most of them again."""
_CODES = 1 << 16
_MIXED = 255
_MOST = 32
MARGIN = 5.0
"""How many standard deviations the Poisson counts aim below the number of examples; so few rows are drawn again."""


def draw_examples(
    n_examples: int,
    n_resamples: int,
    rng: np.random.Generator,
    *,
    batch_cells: int = BATCH_CELLS,
    margin: float = MARGIN,
) -> Iterator[Counts]:
    """Yield how often each example is drawn, [<= batch, n_examples] at a time; each row sums to n_examples.

    Independent Poisson counts, topped up with uniform draws to the number of examples, are exactly the multinomial
    counts of the bootstrap: given their total, Poisson counts of equal means are uniform draws too. The draws do not
    depend on the batch. Source: Efron & Tibshirani 1993, section 6.2; Hanley & MacGibbon 2006 for the Poisson counts.
    """
    draws = _Draws(n_examples, rng, margin)
    n_rows = max(1, batch_cells // n_examples)
    for start in range(0, n_resamples, n_rows):
        yield draws.rows(min(n_rows, n_resamples - start))


class _Draws:
    """The rows of counts, one after the other; every kind of draw has its own generator, so batches do not matter."""

    def __init__(self, n_examples: int, rng: np.random.Generator, margin: float) -> None:
        self._n_examples = n_examples
        self._codes, self._within, self._rest = rng.spawn(3)
        mean = 1.0 - margin / np.sqrt(n_examples) if n_examples >= FEW_EXAMPLES else 0.0
        self._upto = _poisson_upto(mean)
        self._table = _counts_of_codes(self._upto)
        self._draws_codes = mean > 0.0

    def rows(self, n_rows: int) -> Counts:
        counts = self._poisson(n_rows) if self._draws_codes else np.zeros((n_rows, self._n_examples), dtype=np.uint8)
        self._top_up(counts)
        return counts

    def _poisson(self, n_rows: int) -> Counts:
        n_codes = self._n_examples + self._n_examples % 2  # whole 32-bit words, so that rows begin at one
        drawn = np.frombuffer(self._codes.bytes(2 * n_rows * n_codes), dtype="<u2").reshape(n_rows, n_codes)
        drawn = drawn[:, : self._n_examples]
        counts = np.take(self._table, drawn)
        mixed = np.flatnonzero(counts == _MIXED)
        within = (drawn.ravel()[mixed] + self._within.random(len(mixed))) / _CODES
        counts.ravel()[mixed] = np.searchsorted(self._upto, within, side="right")
        return counts

    def _top_up(self, counts: Counts) -> None:
        lacking = self._n_examples - counts.sum(axis=1, dtype=np.int64)
        for row in np.flatnonzero(lacking < 0):  # more than there are examples: draw this one in full
            counts[row] = 0
            lacking[row] = self._n_examples
        drawn = self._rest.integers(0, self._n_examples, size=int(lacking.sum()))
        np.add.at(counts.reshape(-1), np.repeat(np.arange(len(counts)) * self._n_examples, lacking) + drawn, 1)


def _poisson_upto(mean: float) -> FloatArray:
    """Return the distribution function of a Poisson count at 0, 1, …; the last one is 1."""
    masses = np.exp(-mean) * np.cumprod(np.concatenate([[1.0], mean / np.arange(1, _MOST)]))
    upto: FloatArray = np.cumsum(masses)
    upto[-1] = 1.0
    return upto


def _counts_of_codes(upto: FloatArray) -> Counts:
    """Return the count that each 16-bit code stands for, or 255 where the code's share of [0, 1) holds several."""
    first = np.searchsorted(upto, np.arange(_CODES) / _CODES, side="right")
    last = np.searchsorted(upto, (np.arange(_CODES) + 1) / _CODES, side="left")
    table = np.where(first == last, first, _MIXED)
    return table.astype(np.uint8)
