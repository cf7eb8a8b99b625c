"""Bootstrap draws as count matrices, so that replicates are matrix products instead of loops.

Called by the ranking methods in `app.boards`; pure.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.stats.arrays import FloatArray
from app.stats.checks import InvalidArgument, require_count, require_shape
from app.stats.compiled import in_parts

SEPARATOR = "\x1f"
BATCH_CELLS = 4_000_000
"""Cells of a count matrix drawn at once: about 100 MiB including temporary arrays."""
KEEP_CELLS = 256_000_000
"""Cells kept for a second pass, one byte each; larger matrices are redrawn instead."""
WHOLE_BLOCK = 16
"""Products are padded to a multiple of this many columns, because OpenBLAS sums left-over columns in a different order.
So a column's means are the same bits whatever other columns there are, and cached pairs are valid on any board."""

AT_ONCE = 8 * WHOLE_BLOCK
"""Columns multiplied at a time, in several threads."""


def column_products(weights: NDArray[np.floating[Any]], values: NDArray[np.floating[Any]]) -> NDArray[Any]:
    """Return weights [n_rows, n_units] @ values [n_units, n_columns]; no column depends on the others, to the last bit.

    The product is [n_rows, n_columns]; a column with NaN is NaN throughout. Raises numpy's ValueError for shapes that
    do not match.
    Source: Goto & van de Geijn 2008, ACM TOMS 34(3), for the blocks in which a product is computed.

    >>> column_products(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]])).tolist()
    [[11.0]]
    """
    products = np.empty((len(weights), values.shape[1]), dtype=np.result_type(weights, values))

    def multiply(part: slice) -> None:
        n_columns = part.stop - part.start
        padded = np.zeros((len(values), n_columns + -n_columns % WHOLE_BLOCK), dtype=values.dtype)
        padded[:, :n_columns] = values[:, part]
        products[:, part] = (weights @ padded)[:, :n_columns]

    in_parts(values.shape[1], AT_ONCE, multiply, n_steps=products.size)
    return products


def board_generator(rng_seed: int, *names: str) -> np.random.Generator:
    """Return the generator of the stream `independent`, seeded by a hash of the board's seed and the names.

    The same names give the same draws whoever else is on the board. The hash is BLAKE2b of 16 bytes over the seed and
    the names, joined by U+001F; read as a big-endian integer it seeds numpy's SeedSequence and PCG64. Published
    intervals depend on every step: tests/stats/test_stream.py has its golden numbers.
    Raises InvalidArgument for a seed that is not a whole number, and for a name that contains U+001F, which would be
    ambiguous.
    Source: Aumasson et al. 2013 for BLAKE2; numpy's SeedSequence for the rest.

    >>> board_generator(1, "board", "tasks").integers(0, 100, size=3).tolist()
    [65, 25, 93]
    """
    require_count("rng_seed", rng_seed, least=-(2**63))
    if any(SEPARATOR in name for name in names):
        raise InvalidArgument(f"names are {names!r}; expected none with U+001F in it, which separates them")
    digest = hashlib.blake2b(SEPARATOR.join((str(rng_seed), *names)).encode(), digest_size=16).digest()
    return np.random.default_rng(np.random.SeedSequence(int.from_bytes(digest, "big")))


def draw_counts(n_units: int, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Return how often each unit is drawn, [n_resamples, n_units]; each row sums to n_units.

    The draws are one call of `integers(0, n_units, size=(n_resamples, n_units))`, as in fev. No count is NaN.
    Raises InvalidArgument unless both counts are whole numbers of at least 1.
    Source: Efron & Tibshirani 1993, section 6.2.

    >>> draw_counts(3, 2, np.random.default_rng(1)).sum(axis=1).tolist()
    [3.0, 3.0]
    """
    require_count("n_units", n_units)
    require_count("n_resamples", n_resamples)
    drawn = rng.integers(0, n_units, size=(n_resamples, n_units))
    drawn += np.arange(n_resamples)[:, None] * n_units
    counts = np.bincount(drawn.ravel(), minlength=n_resamples * n_units)
    return counts.reshape(n_resamples, n_units).astype(np.float64)


class Resamples:
    """The bootstrap resamples of a board's units, which can be iterated over repeatedly.

    `begin` returns a generator at the start of the stream. Drawing in batches consumes the same numbers as one call of
    `draw_counts`, whatever the batch size, and every pass sees the same draws.
    Raises InvalidArgument unless every count is a whole number, of at least 1 (`keep_cells` of 0).
    Source: Efron & Tibshirani 1993, section 6.2.

    >>> resamples = Resamples(3, 2, lambda: np.random.default_rng(1), batch_cells=3)
    >>> [counts.shape for counts in resamples.batches()]
    [(1, 3), (1, 3)]
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
        for name, count in (("n_units", n_units), ("n_resamples", n_resamples), ("batch_cells", batch_cells)):
            require_count(name, count)
        require_count("keep_cells", keep_cells, least=0)
        self.n_units, self.n_resamples = n_units, n_resamples
        self._begin = begin
        self._n_rows = max(1, batch_cells // n_units)
        self._keeps = n_units * n_resamples <= keep_cells
        self._kept: Sequence[NDArray[np.unsignedinteger]] = ()
        self._digest: bytes | None = None

    def batches(self) -> Iterator[NDArray[np.unsignedinteger]]:
        """Yield the count matrices in order, each [<= batch, n_units]; every row sums to n_units."""
        if not self._keeps:
            return self._draw()
        self._kept = self._kept or tuple(self._draw())
        return iter(self._kept)

    def digest(self) -> bytes | None:
        """Return a digest that identifies these draws, or None where they are not kept in memory."""
        if not self._keeps:
            return None
        if self._digest is None:
            hashed = hashlib.blake2b(digest_size=16)
            for counts in self.batches():
                hashed.update(counts.data)
            self._digest = hashed.digest()
        return self._digest

    def means(self, values: NDArray[np.floating[Any]]) -> FloatArray:
        """Return the mean of each column of values [n_units, n_columns] in each resample, [n_resamples, n_columns].

        Sums have the precision of the values. A column with NaN is NaN in every resample.
        Raises InvalidArgument for values that are not [n_units, n_columns].

        >>> Resamples(2, 3, lambda: np.random.default_rng(1)).means(np.array([[5.0], [5.0]])).tolist()
        [[5.0], [5.0], [5.0]]
        """
        require_shape("values", values, self.n_units, "n_columns")
        each = [column_products(counts.astype(values.dtype), values) for counts in self.batches()]
        sums = each[0] if len(each) == 1 else np.concatenate(each)
        means: FloatArray = sums if sums.dtype == np.float64 else np.empty(sums.shape)

        def divide(part: slice) -> None:
            np.divide(sums[part], self.n_units, out=means[part], dtype=np.float64)

        in_parts(len(means), 1, divide, n_steps=means.size)
        return means

    def _draw(self) -> Iterator[NDArray[np.unsignedinteger]]:
        rng = self._begin()
        for start in range(0, self.n_resamples, self._n_rows):
            counts = draw_counts(self.n_units, min(self._n_rows, self.n_resamples - start), rng)
            # A unit is rarely drawn more than a dozen times: one byte suffices, an eighth of the memory.
            yield counts.astype(np.min_scalar_type(int(counts.max())))
