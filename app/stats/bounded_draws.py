"""Bounded integers exactly as numpy's generator draws them, for compiled loops that use each one as it is drawn.

Called by `app.stats.cluster` and `app.stats.strata`, which reproduce the random streams of published programs: the
numbers numpy would write into a large array are consumed one by one, and afterwards the generator is in the state in
which numpy would have left it. "Halves" are the 32-bit halves of the generator's 64-bit words. A number below `bound`
is the upper half of `bound` times such a half, drawn again where the lower half of the product is below 2**32 modulo
`bound`; a bound of 1 draws nothing.
Source: Lemire 2019, Fast random integer generation in an interval, ACM Transactions on Modeling and Computer Simulation
29(1).
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from app.stats.arrays import FloatArray, IntArray
from app.stats.compiled import compiled

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
    n_units, loop = samples.shape[1], compiled(_fill_means)
    return 1 < n_units <= MOST_SUMMED and use_halves(rng, means.size * n_units, lambda h: loop(h, samples, means))


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
    loop = compiled(_count_items)
    is_done = use_halves(rng, n_most, lambda halves: loop(halves, firsts, sizes, place, counts))
    if not is_done:
        counts[:] = 0.0
    return is_done


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
