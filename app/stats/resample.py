"""Bootstrap draws as count matrices, by position and by name, and percentile intervals of their replicates.

Why: docs/adr/010-resampling.md.
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.stats.arrays import (
    FloatArray,
    IntArray,
    InvalidArgument,
    require_count,
    require_level,
    require_numbers,
    require_shape,
)
from app.stats.compiled import compiled, run_chunks, transposed

SEPARATOR = "\x1f"

BATCH_CELLS = 4_000_000
"""Cells of a count matrix drawn at once: about 100 MiB including temporary arrays."""

KEEP_CELLS = 256_000_000
"""Cells kept for a second pass, one byte each; larger matrices are redrawn instead."""

WHOLE_BLOCK = 16
"""Products are padded to a multiple of this many columns, because OpenBLAS sums left-over columns in a different order.
So a column's means are the same bits whatever other columns there are, and cached pairs are valid on any board."""

SORTING = 16
"""Steps of work per number sorted, for deciding whether threads are worthwhile."""

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

    run_chunks(values.shape[1], AT_ONCE, multiply, n_steps=products.size * len(values))
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
        np.divide(sums, self.n_units, out=means, dtype=np.float64)
        return means

    def _draw(self) -> Iterator[NDArray[np.unsignedinteger]]:
        rng = self._begin()
        for start in range(0, self.n_resamples, self._n_rows):
            counts = draw_counts(self.n_units, min(self._n_rows, self.n_resamples - start), rng)
            # A unit is rarely drawn more than a dozen times: one byte suffices, an eighth of the memory.
            yield counts.astype(np.min_scalar_type(int(counts.max())))


# Percentile intervals, and what follows from the replicates of scores: ranks and the probability of being best.
# Scores and their replicates are larger-is-better and in the metric's own unit; ranks count from 1, which is the
# best.

TIE = 1e-12
"""Replicate scores closer than this are tied: they differ only by the rounding of sums."""


@dataclass(frozen=True)
class MonotoneScale:
    """A monotone function of replicates: never rising if `falls`, otherwise never falling."""

    of: Callable[[FloatArray], FloatArray]
    falls: bool

    def ranked(self, ordered: FloatArray, at: int) -> FloatArray:
        """Return, for each row of replicates, the one at position `at` in the order of this scale."""
        return self.of(np.ascontiguousarray(ordered[:, -1 - at if self.falls else at]))


def percentile_interval(replicates: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Return low and high ends, [n_columns] each, of replicates [n_resamples, n_columns]; linear quantiles.

    The ends are in the unit of the replicates. A column with NaN in any resample has NaN for both ends; other columns
    are unaffected.
    Raises InvalidArgument for a level outside (0, 1) and for no resample.
    Source: Efron & Tibshirani 1993, section 13.3.

    >>> percentile_interval(np.array([[0.0], [1.0], [2.0], [3.0], [4.0]]), 0.5)
    (array([1.]), array([3.]))
    """
    return ends_of(order_replicates(replicates), level)


def order_replicates(replicates: FloatArray) -> FloatArray:
    """Return replicates [n_resamples, n_columns] as [n_columns, n_resamples], each column's from least to greatest.

    NaN sorts last. Sorting once serves every interval of the same replicates.
    Raises InvalidArgument for no resample.
    Source: the order statistics that `numpy.quantile` would sort for itself.

    >>> order_replicates(np.array([[2.0], [1.0]])).tolist()
    [[1.0, 2.0]]
    """
    require_shape("replicates", replicates, "[n_resamples]", "n_columns")
    # Contiguous rows are sorted with vector instructions, in a third of the time of `numpy.quantile`.
    ordered = transposed(replicates)
    run_chunks(len(ordered), 1, lambda part: ordered[part].sort(axis=1), n_steps=SORTING * ordered.size)
    return ordered


def ends_of(ordered: FloatArray, level: float, scale: MonotoneScale | None = None) -> tuple[FloatArray, FloatArray]:
    """Return the ends of `percentile_interval`, [n_columns] each, of ordered replicates [n_columns, n_resamples].

    `order_replicates` orders them. With a scale the ends are those of the transformed replicates; only the order
    statistics needed are transformed. A column with NaN has NaN for both ends.
    Raises InvalidArgument for a level outside (0, 1).
    Source: as of `percentile_interval`; the interpolation is that of `numpy.quantile`, to the last bit.

    >>> ends_of(np.array([[0.0, 1.0, 2.0, 3.0, 4.0]]), 0.5, MonotoneScale(np.negative, falls=True))
    (array([-3.]), array([-1.]))
    """
    require_level(level)
    tail = (1.0 - level) / 2.0
    low, high = (_quantile(ordered, share, scale) for share in (tail, 1.0 - tail))
    undefined = np.isnan(ordered[:, -1])
    low[undefined], high[undefined] = np.nan, np.nan
    return low, high


def _quantile(ordered: FloatArray, share: float, scale: MonotoneScale | None) -> FloatArray:
    last = ordered.shape[1] - 1
    place = last * share
    below = math.floor(place)
    above, part = min(below + 1, last), place - below
    first, second = (ordered[:, at] if scale is None else scale.ranked(ordered, at) for at in (below, above))
    step = second - first
    quantiles: FloatArray = second - step * (1.0 - part) if part >= 0.5 else first + step * part
    return quantiles


def competition_ranks(scores: FloatArray) -> IntArray:
    """Return ranks 1, 1, 3, … along the last axis of scores [..., n_entrants], the largest first, in the same shape.

    Scores closer than TIE to their neighbour in the order are tied and share the best rank; so do equal infinities.
    Raises InvalidArgument for NaN, which cannot be ordered, and for no entrant.
    Source: "standard competition ranking", `scipy.stats.rankdata(-scores, method="min")` up to TIE.

    >>> competition_ranks(np.array([0.5, 1.0, 1.0])).tolist()
    [3, 1, 1]
    """
    if scores.ndim < 1 or not scores.shape[-1]:
        raise InvalidArgument(f"scores has the shape {scores.shape}; expected [..., n_entrants >= 1]")
    require_numbers("scores", scores)
    order = np.argsort(-scores, axis=-1, kind="stable")
    ordered = np.take_along_axis(scores, order, axis=-1)
    positions = np.broadcast_to(np.arange(scores.shape[-1]), scores.shape)
    begins = np.ones(scores.shape, dtype=bool)
    with np.errstate(invalid="ignore"):  # equal infinities differ by NaN, which counts as a tie
        begins[..., 1:] = ordered[..., :-1] - ordered[..., 1:] > TIE
    first = np.maximum.accumulate(np.where(begins, positions, 0), axis=-1)
    ranks = np.empty(scores.shape, dtype=np.int64)
    np.put_along_axis(ranks, order, first + 1, axis=-1)
    return ranks


def probability_best(scores: FloatArray) -> FloatArray:
    """Return the share of scores [n_resamples, n_entrants] in which each entrant is first, [n_entrants].

    Entrants closer than TIE to the largest share first place equally, so the shares sum to one.
    Raises InvalidArgument for no resample and for NaN.
    Source: the share of resamples, the bootstrap's estimate of P(rank = 1).

    >>> probability_best(np.array([[2.0, 1.0], [1.0, 1.0]])).tolist()
    [0.75, 0.25]
    """
    require_shape("scores", scores, "[n_resamples]", "[n_entrants]")
    require_numbers("scores", scores)
    first = scores >= scores.max(axis=1, keepdims=True) - TIE
    ever = np.flatnonzero(first.any(axis=0))  # of many entrants, few are ever first
    shares, best = first[:, ever] / first.sum(axis=1, keepdims=True), np.zeros(scores.shape[1])
    best[ever] = shares.mean(axis=0)
    return best


def probability_beats(scores: FloatArray) -> FloatArray:
    """Return the share of scores [n_resamples, n_entrants] where row is above column, [n_entrants, n_entrants].

    Scores closer than TIE count half, so a share and its mirror image sum to one, and the diagonal is one half.
    Raises InvalidArgument for NaN and for no resample. Needs no more memory than `scores`.
    Source: the share of resamples, the bootstrap's estimate of P(A > B) + P(A = B) / 2.

    >>> probability_beats(np.array([[2.0, 1.0], [1.0, 1.0]])).tolist()
    [[0.5, 0.75], [0.25, 0.5]]
    """
    require_shape("scores", scores, "[n_resamples]", "n_entrants")
    require_numbers("scores", scores)
    columns = np.ascontiguousarray(scores.T)
    beats, n_steps = np.empty((len(columns),) * 2), len(columns) * columns.size
    run_chunks(len(columns), 1, lambda part: _fill_beats(columns, TIE, beats, part.start, part.stop), n_steps=n_steps)
    return beats


@compiled()
def _fill_beats(columns: FloatArray, tie: float, beats: FloatArray, begin: int, end: int) -> None:
    n_entrants, n_drawn = columns.shape
    for first in range(begin, end):
        a = columns[first]
        for second in range(first, n_entrants):
            b = columns[second]
            n_above, n_below = 0, 0
            for at in range(n_drawn):
                margin = a[at] - b[at]
                n_above += margin > tie
                n_below += margin < -tie
            # Equal infinities differ by NaN, which counts as a tie.
            tied = 0.5 * ((n_drawn - n_above - n_below) / n_drawn)
            beats[first, second], beats[second, first] = n_above / n_drawn + tied, n_below / n_drawn + tied


# Bootstrap weights derived from each unit's name: two entrants share weights for exactly the units they share. A
# unit's weight in a resample is a function of the board's seed, the resample's number and the unit's name: neither
# the other entrants nor the order of units changes a draw, and units of different names are independent.

Keys = NDArray[np.uint64]

NEAR_CELLS = 1 << 15
"""Weights drawn at a time: 256 KiB, which stay in the processor's cache."""

_STEP, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB

_UNIT = 2.0**-53


def unit_keys(rng_seed: int, names: Iterable[Sequence[str]]) -> Keys:
    """Return the number that identifies each name, [n_units]; a name is a sequence of words, such as task and seed.

    It is the first 64 bits, big-endian, of BLAKE2b over the seed and each word, each preceded by its length in bytes,
    so that different names never hash the same bytes. Published ranks depend on it: tests/stats/test_named_draws.py has
    golden numbers.
    Raises InvalidArgument for a seed that is not a whole number.
    Source: Aumasson et al. 2013 for BLAKE2.

    >>> [hex(key) for key in unit_keys(1, [("lift", "7"), ("lift7",)]).tolist()]
    ['0xf0a9c05ee39963d0', '0xc086f97d47ddb3d7']
    """
    require_count("rng_seed", rng_seed, least=-(2**63))
    written: dict[str, bytes] = {}
    seed = _written(str(rng_seed))
    digests = [hashlib.blake2b(seed + _joined(name, written), digest_size=8).digest() for name in names]
    return np.frombuffer(b"".join(digests), dtype=">u8").astype(np.uint64)


def _joined(name: Sequence[str], written: dict[str, bytes]) -> bytes:
    """Return the bytes to hash; words seen before, as most of an episode's are, are looked up in `written`."""
    for word in name:
        if word not in written:
            written[word] = _written(word)
    return b"".join([written[word] for word in name])


def _written(word: str) -> bytes:
    content = word.encode("utf-8", "surrogatepass")
    return len(content).to_bytes(8, "big") + content


def named_weights(keys: Keys, n_resamples: int, *, first: int = 0) -> FloatArray:
    """Return exponential weights of mean 1, [n_resamples, n_units], for the resamples numbered from `first` on.

    The resample's number is the counter of a SplitMix64 generator started at the unit's key. Exponential weights are
    those of the Bayesian bootstrap: unlike Poisson counts they are never 0 or NaN, so no resample of few clusters is
    empty.
    Raises InvalidArgument unless `n_resamples` and `first` are whole numbers, of at least 1 and 0.
    Source: Rubin 1981, The Bayesian bootstrap; Steele, Lea & Flood 2014 for SplitMix64.

    >>> weights = named_weights(unit_keys(1, [("a",), ("b",)]), 3)
    >>> bool((weights[:, 1:] == named_weights(unit_keys(1, [("b",)]), 3)).all())
    True
    """
    require_count("n_resamples", n_resamples)
    require_count("first", first, least=0)
    weights = np.empty((n_resamples, len(keys)))
    at_once = max(1, NEAR_CELLS // max(1, len(keys)))
    for start in range(0, n_resamples, at_once):
        stop = min(start + at_once, n_resamples)
        counters = np.arange(first + start + 1, first + stop + 1, dtype=np.uint64)[:, None]
        _fill_weights(keys, counters, weights[start:stop])
    return weights


def named_uniforms(rng_seed: int, name: Sequence[str], n_resamples: int) -> FloatArray:
    """Return numbers between 0 and 1, all equally likely, [n_resamples], that no other name has; none is NaN.

    Raises InvalidArgument unless `n_resamples` is a whole number of at least 1.
    Source: the distribution function of `named_weights`.

    >>> drawn = named_uniforms(1, ("a",), 1_000)
    >>> bool(((drawn > 0.0) & (drawn < 1.0)).all()), round(float(drawn.mean()), 1)
    (True, 0.5)
    """
    return np.asarray(np.exp(-named_weights(unit_keys(rng_seed, [name]), n_resamples)[:, 0]))


def _fill_weights(keys: Keys, counters: Keys, weights: FloatArray) -> None:
    words = counters * np.uint64(_STEP) + keys[None, :]  # 64-bit integers, which wrap
    words ^= words >> np.uint64(30)
    words *= np.uint64(_FIRST)
    words ^= words >> np.uint64(27)
    words *= np.uint64(_SECOND)
    words ^= words >> np.uint64(31)
    words >>= np.uint64(11)
    weights[...] = words
    weights += 0.5  # so that it is never 0 and its logarithm is finite
    weights *= _UNIT
    np.log(weights, out=weights)
    np.negative(weights, out=weights)


class NamedResamples:
    """The resamples of named units, as weights: a board's replicates are its statistics under these weights.

    Raises InvalidArgument for no unit and for no resample.
    Source: Rubin 1981.

    >>> NamedResamples(unit_keys(1, [("a",), ("b",)]), 3).means(np.array([[5.0], [5.0]])).tolist()
    [[5.0], [5.0], [5.0]]
    """

    def __init__(self, keys: Keys, n_resamples: int, *, batch_cells: int = BATCH_CELLS) -> None:
        require_shape("keys", keys, "[n_units]")
        for name, count in (("n_resamples", n_resamples), ("batch_cells", batch_cells)):
            require_count(name, count)
        self.keys, self.n_resamples = keys, n_resamples
        self._n_rows = max(1, batch_cells // len(keys))

    def batches(self) -> Iterator[FloatArray]:
        """Yield the weights in the order of the resamples, each [<= batch, n_units]."""
        for start in range(0, self.n_resamples, self._n_rows):
            yield named_weights(self.keys, min(self._n_rows, self.n_resamples - start), first=start)

    def means(self, values: FloatArray) -> FloatArray:
        """Return the weighted mean of each column of values [n_units, n_columns], [n_resamples, n_columns]."""
        require_shape("values", values, len(self.keys), "n_columns")
        first = values[:1]  # a constant column keeps its exact value
        rest = values - first
        return np.concatenate([first + column_products(w, rest) / w.sum(axis=1, keepdims=True) for w in self.batches()])


# Bootstrap draws within groups of units: each group keeps its size in every resample.


class GroupResamples(Resamples):
    """The bootstrap resamples of units that are stored group by group, in groups of the given sizes.

    A group of one unit is the same in every resample, so its sampling error does not show.
    Raises InvalidArgument for no group, and as `Resamples` does.
    Source: Davison & Hinkley 1997, section 3.2, the bootstrap of several samples.

    >>> drawn = GroupResamples([2, 1], 3, lambda: np.random.default_rng(1))
    >>> [counts[:, 2].tolist() for counts in drawn.batches()]
    [[1, 1, 1]]
    """

    def __init__(self, sizes: Sequence[int], n_resamples: int, begin: Callable[[], np.random.Generator]) -> None:
        if not sizes:
            raise InvalidArgument("sizes are empty; expected at least one group")
        super().__init__(sum(sizes), n_resamples, begin)
        self._sizes = tuple(sizes)

    def _draw(self) -> Iterator[NDArray[np.unsignedinteger[Any]]]:
        # One generator per group, so that the draws do not depend on the batch size.
        streams = self._begin().spawn(len(self._sizes))
        for start in range(0, self.n_resamples, self._n_rows):
            n_rows = min(self._n_rows, self.n_resamples - start)
            counts = np.hstack([draw_counts(size, n_rows, rng) for size, rng in zip(self._sizes, streams, strict=True)])
            yield counts.astype(np.min_scalar_type(int(counts.max())))


# Bounded integers exactly as numpy's generator draws them, for compiled loops that use each one as it is drawn.
# "Halves" are the 32-bit halves of the generator's 64-bit words. A number below `bound` is the upper half of `bound`
# times such a half, drawn again where the lower half of the product is below 2**32 modulo `bound`; a bound of 1 draws
# nothing. Source: Lemire 2019, Fast random integer generation in an interval, ACM Transactions on Modeling and
# Computer Simulation 29(1).

Halves = NDArray[np.uint32]
"""Random 64-bit words as two of 32 bits each, the lower one first, as numpy uses them."""

ALL_USED = -1

SPARE = 64

MOST_SUMMED = 128
"""Up to this many numbers, numpy sums in eight accumulators; above it, it splits the array in two first."""


def use_halves(rng: np.random.Generator, n_expected: int, work: Callable[[Halves], int]) -> bool:
    """Let `work` consume the next halves [n_halves] of the generator, then advance it by the number `work` returns.

    It gets a few more than expected, to allow for redraws. Returns False, with the generator unchanged, for a bit
    generator other than PCG64 and where `work` returns ALL_USED, meaning that it ran out.
    Source: numpy's `Generator.integers` for bounds up to 2**32, and its PCG64.

    >>> rng = np.random.default_rng(1)
    >>> use_halves(rng, 3, lambda halves: 3), use_halves(rng, 3, lambda halves: ALL_USED)
    (True, False)
    >>> again = np.random.default_rng(1)
    >>> again.integers(0, 10, 3).sum() >= 0 and bool(rng.integers(0, 10) == again.integers(0, 10))
    True
    """
    generator = rng.bit_generator
    if not isinstance(generator, np.random.PCG64) or not np.dtype("<u4").isnative:
        return False
    before = generator.state
    words = generator.random_raw(n_expected // 2 + n_expected // 1000 + SPARE)
    kept = np.full(before["has_uint32"], before["uinteger"], dtype=np.uint32)
    n_used = work(np.concatenate([kept, words.view(np.uint32)]) if len(kept) else words.view(np.uint32))
    generator.state = before
    if n_used > 0 and n_used >= len(kept):
        _move_on(generator, words, n_used - len(kept))
    return n_used != ALL_USED


def _move_on(generator: np.random.PCG64, words: NDArray[np.uint64], n_halves: int) -> None:
    """Advance by `n_halves`; an odd count leaves the second half of the last word to be drawn next, as numpy does."""
    n_words = -(-n_halves // 2)
    generator.advance(n_words)
    upper = int(words[n_words - 1] >> np.uint64(32)) if n_halves % 2 else 0
    generator.state = {**generator.state, "has_uint32": n_halves % 2, "uinteger": upper}


def fill_means(rng: np.random.Generator, samples: FloatArray, means: FloatArray) -> bool:
    """Fill `means` [n_samples, n_resamples] with the bootstrap means of `samples` [n_samples, n_units], in order.

    The draws are those of `rng.integers(0, n_units, size=(n_samples, n_resamples, n_units))` and the sums those of
    numpy's `mean`, to the last bit; means are in the unit of the samples. Returns False, having done nothing, for a
    single unit, for more than MOST_SUMMED, and where `use_halves` does.
    Source: Efron & Tibshirani 1993, section 6.2; numpy's pairwise summation.

    >>> means = np.zeros((1, 2))
    >>> fill_means(np.random.default_rng(1), np.array([[2.0, 2.0]]), means), means.tolist()
    (True, [[2.0, 2.0]])
    """
    n_units = samples.shape[1]
    return 1 < n_units <= MOST_SUMMED and use_halves(
        rng, means.size * n_units, lambda h: _fill_means(h, samples, means)
    )


def count_items(
    rng: np.random.Generator, n_most: int, firsts: IntArray, sizes: IntArray, place: IntArray, counts: FloatArray
) -> bool:
    """Fill `counts` [n_resamples, n_distinct] with CHAMBER's draws: clusters, then as many items in each as it has.

    `firsts` and `sizes` are [n_clusters], `place` [n_items] is the index of each item's distinct value; `n_most` bounds
    how many numbers are drawn. Returns False where `use_halves` does; `counts` is then all zeros again.
    Source: CHAMBER's own loop; Davison & Hinkley 1997, section 3.8.

    >>> counts, one = np.zeros((2, 1)), np.zeros(1, dtype=np.int64)
    >>> count_items(np.random.default_rng(1), 2, one, one + 1, one, counts), counts.tolist()
    (True, [[1.0], [1.0]])
    """
    is_done = use_halves(rng, n_most, lambda halves: _count_items(halves, firsts, sizes, place, counts))
    if not is_done:
        counts[:] = 0.0
    return is_done


@compiled()
def _fill_means(halves: Halves, samples: FloatArray, means: FloatArray) -> int:
    """Draw each resample and average it, summing in numpy's order; return the number of halves used."""
    n_units, n_used = samples.shape[1], 0
    bound, lower = np.uint64(n_units), np.uint64(0xFFFFFFFF)
    again = np.uint64((1 << 32) % n_units)
    picked, by_eights = np.empty(n_units), n_units - n_units % 8
    for sample in range(samples.shape[0]):
        for row in range(means.shape[1]):
            for at in range(n_units):
                product = lower
                while True:
                    if n_used == len(halves):
                        return ALL_USED
                    product = np.uint64(halves[n_used]) * bound
                    n_used += 1
                    if (product & lower) >= again:
                        break
                picked[at] = samples[sample, np.int64(product >> np.uint64(32))]
            total, rest = picked[0], 1
            if by_eights:
                for at in range(8, by_eights):
                    picked[at % 8] += picked[at]
                total = ((picked[0] + picked[1]) + (picked[2] + picked[3])) + (
                    (picked[4] + picked[5]) + (picked[6] + picked[7])
                )
                rest = by_eights
            for at in range(rest, n_units):
                total += picked[at]
            means[sample, row] = total / n_units
    return n_used


@compiled()
def _count_items(halves: Halves, firsts: IntArray, sizes: IntArray, place: IntArray, counts: FloatArray) -> int:
    """Draw the clusters of each resample, then the items of each; return the number of halves used."""
    n_clusters, n_used = len(sizes), 0
    lower, upper, room = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(1 << 32)
    clusters = np.zeros(n_clusters, dtype=np.int64)
    for row in range(counts.shape[0]):
        for turn in range(-1, n_clusters):
            size = n_clusters if turn < 0 else sizes[clusters[turn]]
            bound = np.uint64(size)
            again = room % bound
            for at in range(size):
                drawn = np.int64(0)
                while size > 1:  # a cluster of one item needs no draw
                    if n_used == len(halves):
                        return ALL_USED
                    product = np.uint64(halves[n_used]) * bound
                    n_used += 1
                    if (product & lower) >= again:
                        drawn = np.int64(product >> upper)
                        break
                if turn < 0:
                    clusters[at] = drawn
                else:
                    counts[row, place[firsts[clusters[turn]] + drawn]] += 1.0
    return n_used
