"""Bootstrap weights derived from each unit's name: two entrants share weights for exactly the units they share.

Called by the ranking methods in `app.boards` and by the kinds whose entrants are measured one at a time; pure. A unit's
weight in a resample is a function of the board's seed, the resample's number and the unit's name: neither the other
entrants nor the order of units changes a draw, and units of different names are independent.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from app.stats.arrays import FloatArray, IntArray
from app.stats.checks import require_count, require_integers, require_shape
from app.stats.resample import column_products

Keys = NDArray[np.uint64]

BATCH_CELLS = 4_000_000
"""Most weights in memory at once, 32 MB."""
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


def nested_sums(
    clusters: Keys,
    items: Keys,
    cluster: IntArray,
    place: IntArray,
    n_resamples: int,
    *,
    batch_cells: int = BATCH_CELLS,
) -> FloatArray:
    """Return the total weight of each distinct value, [n_resamples, n_distinct], for items within clusters.

    An item's weight is its cluster's times its own, never NaN. `clusters` are the keys [n_clusters], `items` those of
    the items [n_items], `cluster` and `place` the position of each item's cluster and of its value, [n_items] each.
    Raises InvalidArgument for arrays of different lengths, and for positions out of range.
    Source: Davison & Hinkley 1997, section 3.8, of the two levels; Rubin 1981 for the weights.

    >>> keys = unit_keys(1, [("a",), ("b",)])
    >>> nested_sums(keys, keys, np.array([0, 1]), np.array([0, 0]), 3).shape
    (3, 1)
    """
    require_shape("items", items, "[n_items]")
    require_shape("cluster", cluster, len(items))
    require_integers("cluster", cluster, low=0, high=len(clusters) - 1)
    require_shape("place", place, len(items))
    require_integers("place", place, low=0)
    n_distinct = int(place.max()) + 1
    of_value = np.argsort(place, kind="stable")
    begins = np.searchsorted(place[of_value], np.arange(n_distinct))
    rows = max(1, batch_cells // len(items))
    sums = np.empty((n_resamples, n_distinct))
    for start in range(0, n_resamples, rows):
        n_rows = min(rows, n_resamples - start)
        weights = named_weights(items[of_value], n_rows, first=start)
        weights *= named_weights(clusters, n_rows, first=start)[:, cluster[of_value]]
        sums[start : start + n_rows] = np.add.reduceat(weights, begins, axis=1)
    return sums


def unit_sums(units: Keys, place: IntArray, n_resamples: int) -> FloatArray:
    """Return the total weight of each distinct value, [n_resamples, n_distinct], for units with one value each.

    `units` are the keys [n_units], `place` the position of each unit's value, [n_units]; no weight is NaN. Use this
    where clusters hold one item each: a second level of weights would triple the variance.
    Raises InvalidArgument for arrays of different lengths.
    Source: Rubin 1981.

    >>> unit_sums(unit_keys(1, [("a",), ("b",)]), np.array([0, 1]), 3).shape
    (3, 2)
    """
    require_shape("units", units, "[n_units]")
    require_shape("place", place, len(units))
    require_integers("place", place, low=0)
    of_value = np.argsort(place, kind="stable")
    begins = np.searchsorted(place[of_value], np.arange(int(place.max()) + 1))
    batches = NamedResamples(units[of_value], n_resamples).batches()
    return np.concatenate([np.add.reduceat(weights, begins, axis=1) for weights in batches])
