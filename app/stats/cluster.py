"""Bootstraps of episodes within seeds, as counts over the distinct values of a sample.

Called by `app.boards`; pure. A statistic of a resample needs only how often each distinct value occurs in it, so all
replicates together are a count matrix [n_resamples, n_distinct]. The cluster is the seed.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from app.stats.arrays import FloatArray, IntArray
from app.stats.bounded_draws import count_items
from app.stats.checks import (
    InvalidArgument,
    require_ascending,
    require_count,
    require_finite,
    require_integers,
    require_shape,
)

MIN_CLUSTERS = 2
FEW_DISTINCT = 8
BATCH_CELLS = 4_000_000
"""Most indices or counts in memory at once, about 32 MB of them."""


@dataclass(frozen=True)
class Sample:
    """Scores grouped by cluster: `distinct` values in ascending order, and each item's index into them.

    `distinct` is [n_distinct] in the metric's unit. `place` is [n_items], with the items of one cluster adjacent;
    `sizes` is [n_clusters] and sums to n_items.
    Raises InvalidArgument where this does not hold, for a value that is not finite, and for an empty sample or cluster.
    Source: the sufficient statistics of any two-level bootstrap whose statistic ignores the order of items.

    >>> Sample(np.array([0.0, 1.0]), np.array([0, 1, 1]), np.array([2, 1])).counts.tolist()
    [[1.0, 2.0]]
    """

    distinct: FloatArray
    place: IntArray
    sizes: IntArray

    def __post_init__(self) -> None:
        require_shape("distinct", self.distinct, "[n_distinct]")
        require_finite("distinct", self.distinct)
        require_ascending("distinct", self.distinct)
        require_shape("place", self.place, "[n_items]")
        require_integers("place", self.place, low=0, high=len(self.distinct) - 1)
        require_shape("sizes", self.sizes, "[n_clusters]")
        require_integers("sizes", self.sizes, low=1)
        if self.sizes.sum() != len(self.place):
            raise InvalidArgument(f"sizes sum to {self.sizes.sum()}; expected {len(self.place)}, the number of items")

    @property
    def counts(self) -> FloatArray:
        """Return how often each distinct value occurs, [1, n_distinct]: the weights of the point estimate."""
        return np.bincount(self.place, minlength=len(self.distinct))[None, :].astype(np.float64)


def group_sample(values: FloatArray, clusters: IntArray) -> Sample:
    """Return a sample with clusters in ascending order of their numbers and items in the given order within each.

    `values` and `clusters` are [n_items]. So a draw depends only on the order of the cluster numbers, not on their
    values.
    Raises InvalidArgument for no item, arrays of different lengths, a value that is not finite (an item without a score
    does not belong in the sample), and clusters that are not integers.
    Source: none; it sorts and counts.

    >>> group_sample(np.array([0.5, 1.0, 0.0]), np.array([8, 7, 8])).sizes.tolist()
    [1, 2]
    """
    require_shape("values", values, "[n_items]")
    require_finite("values", values)
    require_shape("clusters", clusters, len(values))
    require_integers("clusters", clusters)
    order = np.argsort(clusters, kind="stable")
    _, sizes = np.unique(clusters, return_counts=True)
    distinct, place = np.unique(values[order], return_inverse=True)
    return Sample(distinct, place.reshape(-1).astype(np.int64), sizes.astype(np.int64))


def draw_clusters(
    sample: Sample, n_resamples: int, rng: np.random.Generator, *, batch_cells: int = BATCH_CELLS
) -> Iterator[FloatArray]:
    """Yield count matrices [<= batch, n_distinct] of the two-level bootstrap: seeds, then episodes in each drawn seed.

    A cluster of n items that is drawn c times contributes c × n item draws. Where there are few distinct values, their
    counts come straight from the multinomial distribution, which is the same bootstrap; otherwise items are drawn one
    by one. The draws do not depend on `batch_cells`, and no count is NaN.
    Raises InvalidArgument unless `n_resamples` and `batch_cells` are whole numbers of at least 1.
    Source: Davison & Hinkley 1997, section 3.8.

    >>> sample = group_sample(np.array([0.0, 1.0, 1.0]), np.array([7, 8, 8]))
    >>> np.concatenate(list(draw_clusters(sample, 4, np.random.default_rng(1)))).shape
    (4, 2)
    """
    require_count("n_resamples", n_resamples)
    require_count("batch_cells", batch_cells)
    return _draw_clusters(sample, n_resamples, rng, batch_cells)


def _draw_clusters(
    sample: Sample, n_resamples: int, rng: np.random.Generator, batch_cells: int
) -> Iterator[FloatArray]:
    if len(sample.distinct) <= FEW_DISTINCT:
        yield _draw_multinomial(sample, n_resamples, rng)
    else:
        yield from _draw_items(sample, n_resamples, rng, batch_cells)


def _draw_multinomial(sample: Sample, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    n_clusters, n_distinct = len(sample.sizes), len(sample.distinct)
    drawn = rng.multinomial(n_clusters, np.full(n_clusters, 1.0 / n_clusters), size=n_resamples)
    cluster = np.repeat(np.arange(n_clusters), sample.sizes)
    table = np.bincount(cluster * n_distinct + sample.place, minlength=n_clusters * n_distinct)
    counts = np.zeros((n_resamples, n_distinct))
    for at, (size, row) in enumerate(zip(sample.sizes, table.reshape(n_clusters, n_distinct), strict=True)):
        counts += rng.multinomial(drawn[:, at] * size, row / size)
    return counts


def _draw_items(sample: Sample, n_resamples: int, rng: np.random.Generator, batch_cells: int) -> Iterator[FloatArray]:
    n_clusters = len(sample.sizes)
    drawn = rng.integers(0, n_clusters, size=(n_resamples, n_clusters))
    batch = max(1, batch_cells // len(sample.place))
    for start in range(0, n_resamples, batch):
        part = drawn[start : start + batch]
        sizes = sample.sizes[part].ravel()
        within = rng.integers(0, np.repeat(sizes, sizes))
        yield _count(sample, part, within)


def draw_iid(sample: Sample, n_resamples: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Yield the counts of the pooled bootstrap, which treats episodes of one seed as independent: never for ranks.

    There is one batch, [n_resamples, n_distinct]; each row sums to n_items, and no count is NaN.
    Raises InvalidArgument unless `n_resamples` is a whole number of at least 1.
    Source: Efron & Tibshirani 1993, section 6.2; docs/statistics.md shows its coverage for episodes within seeds.

    >>> sample = group_sample(np.array([0.0, 1.0, 1.0]), np.array([7, 8, 8]))
    >>> next(draw_iid(sample, 2, np.random.default_rng(1))).sum(axis=1).tolist()
    [3.0, 3.0]
    """
    require_count("n_resamples", n_resamples)
    shares = sample.counts[0] / len(sample.place)
    return iter([rng.multinomial(len(sample.place), shares, size=n_resamples).astype(np.float64)])


def chamber_generator(root_seed: int, name: str) -> np.random.Generator:
    """Return CHAMBER's generator for a named substream, seeded by the root seed and a hash of the name.

    The spawn key is the 16-byte BLAKE2b hash of the name, read as two big-endian integers.
    Raises InvalidArgument for a root seed that is not a whole number from 0.
    Source: CHAMBER's own substreams; numpy's SeedSequence.

    >>> chamber_generator(0, "evaluation.bundle_bootstrap").integers(0, 100, size=3).tolist()
    [13, 20, 62]
    """
    require_count("root_seed", root_seed, least=0)
    digest = hashlib.blake2b(name.encode(), digest_size=16).digest()
    halves = (int.from_bytes(digest[:8], "big"), int.from_bytes(digest[8:], "big"))
    return np.random.default_rng(np.random.SeedSequence(entropy=root_seed, spawn_key=halves))


def draw_chamber(sample: Sample, n_resamples: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Yield the counts that CHAMBER's own loop draws, in its order: the seeds, then the episodes of each drawn seed.

    Batches are [<= batch, n_distinct], of a single row where cluster sizes differ; each row sums to the total size of
    its drawn seeds, and no count is NaN.
    Raises InvalidArgument unless `n_resamples` is a whole number of at least 1.
    Source: CHAMBER's own loop; Davison & Hinkley 1997, section 3.8.

    >>> sample = group_sample(np.array([0.0, 1.0, 1.0, 1.0]), np.array([7, 7, 8, 8]))
    >>> np.concatenate(list(draw_chamber(sample, 3, chamber_generator(0, "a")))).sum(axis=1).tolist()
    [4.0, 4.0, 4.0]
    """
    require_count("n_resamples", n_resamples)
    return _draw_chamber(sample, n_resamples, rng)


def _draw_chamber(sample: Sample, n_resamples: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    n_clusters, are_equal = len(sample.sizes), bool((sample.sizes == sample.sizes[0]).all())
    n_most = n_clusters * (1 + int(sample.sizes.max()))
    batch = max(1, BATCH_CELLS // n_most)
    for start in range(0, n_resamples, batch):
        counts = _chamber_counts(sample, min(batch, n_resamples - start), n_most, rng)
        # The last digits of row sums depend on the number of rows.
        yield from [counts] if are_equal else np.split(counts, len(counts))


def _chamber_counts(sample: Sample, n_rows: int, n_most: int, rng: np.random.Generator) -> FloatArray:
    counts = np.zeros((n_rows, len(sample.distinct)))
    firsts = np.cumsum(sample.sizes) - sample.sizes
    if count_items(rng, n_rows * n_most, firsts, sample.sizes, sample.place, counts):
        return counts
    for row in range(n_rows):
        drawn = rng.integers(0, len(firsts), size=len(firsts))[None, :]
        sizes = sample.sizes[drawn].ravel()
        counts[row] = _count(sample, drawn, rng.integers(0, np.repeat(sizes, sizes)))
    return counts


def _count(sample: Sample, drawn: IntArray, within: IntArray) -> FloatArray:
    """Count the values of drawn items: `drawn` is [n_rows, n_clusters], `within` the items in each, in a row."""
    n_rows, n_distinct = len(drawn), len(sample.distinct)
    firsts = np.concatenate([[0], np.cumsum(sample.sizes)[:-1]])
    sizes = sample.sizes[drawn]
    items = np.repeat(firsts[drawn].ravel(), sizes.ravel()) + within
    row = np.repeat(np.arange(n_rows), sizes.sum(axis=1))
    counts = np.bincount(row * n_distinct + sample.place[items], minlength=n_rows * n_distinct)
    return counts.reshape(n_rows, n_distinct).astype(np.float64)
