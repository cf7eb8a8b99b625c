"""Bootstrap draws as count matrices, so that a replicate is a row of weights and never a loop.

Called by the ranking methods in `app.leaderboards`; pure.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BATCH_CELLS = 4_000_000
"""How many cells of a count matrix are drawn at once, about 100 MiB with what drawing them takes."""
KEEP_CELLS = 256_000_000
"""How many cells are kept for a second pass, a byte each; larger matrices are drawn anew instead."""


def board_generator(rng_seed: int, *names: str) -> np.random.Generator:
    """Return the generator of stream `independent`: seeded by a hash of the board's seed and names.

    The same names give the same draws whoever else is on the board.
    """
    digest = hashlib.blake2b("\x1f".join((str(rng_seed), *names)).encode(), digest_size=16).digest()
    return np.random.default_rng(np.random.SeedSequence(int.from_bytes(digest, "big")))


def draw_counts(n_units: int, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Return how often each unit is drawn, [n_resamples, n_units]; each row sums to n_units.

    The draws are one call of `integers(0, n_units, size=(n_resamples, n_units))`, which is what fev draws.
    Source: Efron & Tibshirani 1993, section 6.2.
    """
    drawn = rng.integers(0, n_units, size=(n_resamples, n_units))
    drawn += np.arange(n_resamples)[:, None] * n_units
    counts = np.bincount(drawn.ravel(), minlength=n_resamples * n_units)
    return counts.reshape(n_resamples, n_units).astype(np.float64)


class Resamples:
    """The bootstrap resamples of a board's units, for as many passes as its tables need.

    `begin` returns a generator at the stream's first number. It hands out numbers one after the other, so drawing
    in batches draws what `draw_counts` draws in one call, whatever the batch; and every pass sees the same draws.
    """

    def __init__(
        self,
        n_units: int,
        n_resamples: int,
        begin: Callable[[], np.random.Generator],
        *,
        batch_cells: int = BATCH_CELLS,
        keep_cells: int = KEEP_CELLS,
    ) -> None:
        self.n_units, self.n_resamples = n_units, n_resamples
        self._begin = begin
        self._n_rows = max(1, batch_cells // n_units)
        self._keeps = n_units * n_resamples <= keep_cells
        self._kept: Sequence[NDArray[np.unsignedinteger]] = ()

    def batches(self) -> Iterator[NDArray[np.unsignedinteger]]:
        """Yield the count matrices in order, each [<= batch, n_units]."""
        if not self._keeps:
            return self._draw()
        self._kept = self._kept or tuple(self._draw())
        return iter(self._kept)

    def digest(self) -> bytes | None:
        """Return what tells these draws from others, or None where they are not kept."""
        if not self._keeps:
            return None
        hashed = hashlib.blake2b(digest_size=16)
        for counts in self.batches():
            hashed.update(counts.tobytes())
        return hashed.digest()

    def means(self, values: NDArray[np.floating[Any]]) -> FloatArray:
        """Return the mean of each column of values [n_units, n_columns] in each resample, [n_resamples, n_columns].

        Sums are taken in the precision of the values.
        """
        sums = np.concatenate([counts.astype(values.dtype) @ values for counts in self.batches()])
        found: FloatArray = np.asarray(sums, dtype=np.float64) / self.n_units
        return found

    def _draw(self) -> Iterator[NDArray[np.unsignedinteger]]:
        rng = self._begin()
        for start in range(0, self.n_resamples, self._n_rows):
            counts = draw_counts(self.n_units, min(self._n_rows, self.n_resamples - start), rng)
            # A unit is rarely drawn more than a dozen times: a byte is enough, and an eighth of the memory.
            yield counts.astype(np.min_scalar_type(int(counts.max())))
