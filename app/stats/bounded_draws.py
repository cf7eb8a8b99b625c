"""Whole numbers below a bound as numpy's generator draws them, for compiled loops that use each as it is drawn.

Called by `app.stats.cluster` and `app.stats.strata`, whose streams are published programs' own: what numpy would make a
large array of is used up number by number, and afterwards the generator is where numpy would have left it.
A number below `bound` is the upper half of `bound` times a half, which is drawn again where the lower one is below
2**32 modulo `bound`; below one there is nothing to draw. Source: Lemire 2019, Fast random integer generation in an
interval, ACM Transactions on Modeling and Computer Simulation 29(1).
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from app.stats.arrays import FloatArray, IntArray
from app.stats.compiled import compiled

Halves = NDArray[np.uint32]
"""Random words of 64 bits as two of 32, the lower one first, as numpy takes them."""
ALL_USED = -1
SPARE = 64
MOST_SUMMED = 128
"""Up to so many numbers numpy adds up in eight sums; of more it halves them first."""


def use_halves(rng: np.random.Generator, n_expected: int, work: Callable[[Halves], int]) -> bool:
    """Let `work` use the halves [n_halves] that the generator draws next, and move it on by as many as that says.

    It gets some more than expected, for numbers that are drawn again. False where nothing was done, and the generator
    is as it was: with another generator than PCG64, and where `work` says that all were used and it needs more.
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
    """Move on by some halves of words; of one that was begun the other half comes next."""
    n_words = -(-n_halves // 2)
    generator.advance(n_words)
    upper = int(words[n_words - 1] >> np.uint64(32)) if n_halves % 2 else 0
    generator.state = {**generator.state, "has_uint32": n_halves % 2, "uinteger": upper}


def fill_means(rng: np.random.Generator, samples: FloatArray, means: FloatArray) -> bool:
    """Fill means [n_samples, n_resamples] of resamples of samples [n_samples, n_units], drawn one after the other.

    Numbers are those of `rng.integers(0, n_units, size=(n_samples, n_resamples, n_units))` and sums those of numpy's
    `mean`, to the last bit; means are in the unit of the samples. False where nothing was done: of one unit, of more
    than MOST_SUMMED, and as `use_halves`. Source: Efron & Tibshirani 1993, section 6.2; numpy's pairwise summation.

    >>> means = np.zeros((1, 2))
    >>> fill_means(np.random.default_rng(1), np.array([[2.0, 2.0]]), means), means.tolist()
    (True, [[2.0, 2.0]])
    """
    n_units, loop = samples.shape[1], compiled(_fill_means)
    return 1 < n_units <= MOST_SUMMED and use_halves(rng, means.size * n_units, lambda h: loop(h, samples, means))


def count_items(
    rng: np.random.Generator, n_most: int, firsts: IntArray, sizes: IntArray, place: IntArray, counts: FloatArray
) -> bool:
    """Add to counts [n_resamples, n_distinct] what CHAMBER draws: clusters, then in each as many items as it has.

    `firsts` and `sizes` are [n_clusters], `place` [n_items] says which distinct value an item has; `n_most` is the most
    numbers that are drawn. False where nothing was done, as `use_halves`, and counts are then zeros again.
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
    """Draw each resample and average it, adding up as numpy does, and say how many halves were used."""
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
    """Draw the clusters of each resample, then the items of each, and say how many halves were used."""
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
                while size > 1:  # of one there is nothing to draw
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
