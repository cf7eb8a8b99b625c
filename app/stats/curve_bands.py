"""Heights of ROC and precision-recall curves at given places, under many weightings of the same examples at once. Each
weighting's curve is traced from the highest score down; areas are in `app.stats.curves`.
"""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from app.stats.arrays import (
    BoolArray,
    Counts,
    FloatArray,
    IntArray,
    Weights,
    require_ascending,
    require_count,
    require_finite,
    require_number,
    require_shape,
    require_within,
)
from app.stats.compiled import compiled
from app.stats.curves import LANES, ROUNDING, aligned, lay_beside

Int32Array = NDArray[np.int32]

NEAR = 32
"""Score levels summed at once before checking whether a place lies among them."""


@dataclass(frozen=True)
class FallingScores:
    """Examples by falling score: their indices, whether each is positive, and where each distinct score ends."""

    example: Int32Array
    is_positive: BoolArray
    ends: Int32Array

    @cached_property
    def classes(self) -> BoolArray:
        """Say of each example whether it is positive, and whether it is negative, [2, n_examples]."""
        flags = np.empty((2, len(self.example)), dtype=np.bool_)
        flags[0, self.example] = self.is_positive
        np.logical_not(flags[0], out=flags[1])
        return flags

    @cached_property
    def places(self) -> Int32Array:
        """Return where each example stands, [n_examples]."""
        places = np.empty(len(self.example), dtype=np.int32)
        places[self.example] = np.arange(len(places), dtype=np.int32)
        return places


def fall(scores: FloatArray, is_positive: BoolArray, by_fall: Int32Array | None = None) -> FallingScores:
    """Sort scores [n_examples] once for every weighting, the highest first.

    `by_fall` [n_examples] is the order of the examples where it is known already, those with the same score in any.
    Raises InvalidArgument for a score that is not finite, and arrays of different lengths.
    Source: none; it sorts.

    >>> fall(np.array([0.5, 0.1, 0.5]), np.array([True, False, False])).ends.tolist()
    [2, 3]
    """
    require_shape("scores", scores, "n_examples")
    require_finite("scores", scores)
    require_shape("is_positive", is_positive, len(scores))
    if by_fall is not None:
        require_shape("by_fall", by_fall, len(scores))
    order = np.argsort(-scores, kind="stable") if by_fall is None else by_fall
    ends = np.flatnonzero(np.append(np.diff(scores[order]) != 0.0, True)) + 1
    return FallingScores(order.astype(np.int32, copy=False), is_positive[order], ends.astype(np.int32))


@dataclass(frozen=True)
class Heights:
    """The recall at each false positive rate, and the precision at each recall, [n_weightings, n_places].

    NaN if only one class has weight, and for the precision at recall 0, where nothing is predicted positive.
    """

    recall: FloatArray
    precision: FloatArray


def curve_heights(scores: FallingScores, weights: Weights, rates: FloatArray, recalls: FloatArray) -> Heights:
    """Return the heights of weighted curves at false positive `rates` and at `recalls`, both ascending.

    `weights` is [n_weightings, n_examples]. Between thresholds the ROC curve is linear, as in its area; at a vertical
    step the upper end counts. The precision is that of the highest threshold with at least the recall, as in metrics at
    a constraint.
    Raises InvalidArgument for places that do not ascend or lie outside [0, 1], and for another number of examples.
    Source: Fawcett 2006, An introduction to ROC analysis, section 8.1, vertical averaging.

    >>> scores = fall(np.array([0.1, 0.5, 0.7]), np.array([True, False, True]))
    >>> heights = curve_heights(scores, np.ones((1, 3)), np.array([0.0, 1.0]), np.array([0.5, 1.0]))
    >>> (heights.recall.tolist(), heights.precision.round(3).tolist())
    ([[0.5, 1.0]], [[1.0, 0.667]])
    """
    require_shape("weights", weights, "n_weightings", len(scores.example))
    for name, places in (("rates", rates), ("recalls", recalls)):
        require_ascending(name, places)
        require_within(name, places, 0.0, 1.0)
    positives, negatives = _totals(scores, weights)
    has_both = ((positives > 0.0) & (negatives > 0.0))[:, None]
    # Rates that the walk does not reach have a recall of 1.
    recall, precision = np.ones((len(weights), len(rates))), np.full((len(weights), len(recalls)), np.nan)
    n_empty = int(np.searchsorted(recalls, 0.0, side="right"))
    upto = _upto_stretches(scores, weights)
    _walk(weights, scores.example, scores.is_positive, scores.ends, positives, negatives, upto,
                    rates, recalls - ROUNDING, n_empty, recall, precision)  # fmt: skip
    return Heights(np.where(has_both, recall, np.nan), np.where(has_both, precision, np.nan))


def _totals(scores: FallingScores, weights: Weights) -> tuple[FloatArray, FloatArray]:
    """Return the weight of the positives and of the negatives, [n_weightings] each."""
    if weights.dtype == np.uint8:
        positives, negatives = flag_sums(weights, scores.classes).T
        return positives, negatives
    parts = (weights[:, scores.example[scores.is_positive == of]] for of in (True, False))
    positives, negatives = (part.sum(axis=1, dtype=np.float64) for part in parts)
    return positives, negatives


def _upto_stretches(scores: FallingScores, weights: Weights) -> FloatArray:
    """Return the weight of negatives and of positives before each NEAR levels and after the last, [n_rows, n + 1, 2].

    Counts are added side by side, as in `app.stats.curves`; they are whole numbers, so in any way exactly.
    """
    upto = np.zeros((len(weights), -(-len(scores.ends) // NEAR) + 1, 2))
    n_beside = len(weights) - len(weights) % LANES if weights.dtype == np.uint8 else 0
    for start in range(0, n_beside, LANES):
        beside = lay_beside(weights[start : start + LANES].astype(np.uint8, copy=False), scores.places)
        _add_beside(beside, scores.is_positive, scores.ends, aligned(2 * LANES), upto[start : start + LANES])
    _add(weights[n_beside:], scores.example, scores.is_positive, scores.ends, upto[n_beside:])
    return upto


@compiled()
def _add_beside(beside: Counts, is_positive: BoolArray, ends: Int32Array, sums: FloatArray, upto: FloatArray) -> None:
    n_lanes, start = beside.shape[1], 0
    for after in range(1, upto.shape[1]):
        stop = ends[min(after * NEAR, len(ends)) - 1]
        for at in range(start, stop):
            kind = LANES * int(is_positive[at])
            for lane in range(n_lanes):
                sums[kind + lane] += beside[at, lane]
        for lane in range(n_lanes):
            upto[lane, after, 0], upto[lane, after, 1] = sums[lane], sums[LANES + lane]
        start = stop


@compiled()
def _add(weights: Weights, example: Int32Array, is_positive: BoolArray, ends: Int32Array, upto: FloatArray) -> None:
    for row in range(weights.shape[0]):
        true, false, start = 0.0, 0.0, 0
        for after in range(1, upto.shape[1]):
            stop = ends[min(after * NEAR, len(ends)) - 1]
            for at in range(start, stop):
                true += weights[row, example[at]] * is_positive[at]
                false += weights[row, example[at]] * (1 - is_positive[at])
            upto[row, after, 0], upto[row, after, 1] = false, true
            start = stop


@compiled()
def _walk(
    weights: Weights,
    example: Int32Array,
    is_positive: BoolArray,
    ends: Int32Array,
    positives: FloatArray,
    negatives: FloatArray,
    upto: FloatArray,
    rates: FloatArray,
    recalls: FloatArray,
    n_empty: int,
    recall: FloatArray,
    precision: FloatArray,
) -> None:
    """Go through the scores from highest to lowest; at the first `n_empty` recalls nothing is predicted positive.

    Most levels reach no place: the sums of NEAR levels at once tell whether a place lies among them, and only those
    levels are passed one by one.
    """
    for row in range(weights.shape[0]):
        if positives[row] <= 0.0:
            continue
        start, rate, called = 0, 0, n_empty
        for first in range(0, len(ends), NEAR):
            last = min(first + NEAR, len(ends))
            false, true = upto[row, first // NEAR + 1]
            is_at_rate = rate < len(rates) and rates[rate] * negatives[row] < false * (1.0 - 1e-12)
            is_at_recall = called < len(recalls) and true > 0 and true >= recalls[called] * positives[row]
            if not is_at_rate and not is_at_recall:
                start = ends[last - 1]
                continue
            false, true = upto[row, first // NEAR]
            for level in range(first, last):
                true_above, false_above = true, false
                for at in range(start, ends[level]):
                    true += weights[row, example[at]] * is_positive[at]
                    false += weights[row, example[at]] * (1 - is_positive[at])
                start = ends[level]
                while rate < len(rates) and rates[rate] * negatives[row] < false * (1.0 - 1e-12):
                    along = max(0.0, rates[rate] * negatives[row] - false_above) / (false - false_above)
                    recall[row, rate] = (true_above + along * (true - true_above)) / positives[row]
                    rate += 1
                while called < len(recalls) and true > 0 and true >= recalls[called] * positives[row]:
                    precision[row, called] = true / (true + false)
                    called += 1


# Bootstrap resamples of very many examples, as counts that fit a byte. A million examples times two thousand
# resamples are two billion counts: they are drawn in batches, each costs about two random bytes instead of a random
# number for every drawn example, and what is computed of a batch runs beside the drawing of the next.

Words = NDArray[np.uint64]

Result = TypeVar("Result")

BATCH_CELLS = 1_000_000
"""Counts in memory at once: few enough to fit the processor's cache with what is computed from them."""

NEAR_CELLS = 1_000_000
"""Counts whose random words are in memory at once."""

MOST_BATCHES = 64
"""Factor by which a batch may exceed that to interleave resamples, up to two million examples."""

N_THREADS = 2

MARGIN = 5.0
"""Standard deviations by which the Poisson total aims below the number of examples, so that few rows exceed it."""

FEW_EXAMPLES = 1000
"""Below this number, examples are drawn one by one: the shortcut would redraw most of them."""

_MARGIN_OF_REST = 8.0

_CODES = 1 << 16

_CODES_PER_WORD = 4

_MIXED = 255

_MOST = 32

_UNIT = 2.0**-53
"""Scales the upper 53 bits of a word to a number in [0, 1)."""


# Room for the counts of resampled examples, two to a byte: the next entrant of a board is resampled with the same ones.


class DrawnCounts:
    """Room for counts of examples, two per byte: `halves` is [n_resamples, (n_examples + 1) // 2], `n_bytes` its size.

    `is_whole` once all of them were written and fit.
    """

    def __init__(self, n_examples: int, n_resamples: int) -> None:
        self.n_examples, self.n_resamples = n_examples, n_resamples
        self.halves = np.empty((n_resamples, (n_examples + 1) // 2), dtype=np.uint8)
        self.is_whole = False

    @staticmethod
    def n_bytes(n_examples: int, n_resamples: int) -> int:
        """Return the bytes that the room takes."""
        return n_resamples * ((n_examples + 1) // 2)

    def write(self, begin: int, counts: Counts) -> bool:
        """Store counts [n_rows, n_examples] of the resamples from `begin` on; return whether all of them fit."""
        _pack(counts, self.halves[begin : begin + len(counts)])
        return int(counts.max(initial=0)) <= MOST_COUNTED

    def counts(self, begin: int, end: int) -> Counts:
        """Return the counts of the resamples from `begin` to `end`, [end − begin, n_examples]."""
        counts = np.empty((end - begin, self.n_examples), dtype=np.uint8)
        _unpack(self.halves[begin:end], counts)
        return counts


MOST_COUNTED = 15
"""The largest count that fits four bits; one in 10¹³ counts with a mean of 1 is larger."""


@compiled()
def _pack(counts: Counts, halves: Counts) -> None:
    n_pairs = counts.shape[1] // 2
    for row in range(counts.shape[0]):
        for at in range(n_pairs):
            halves[row, at] = np.uint8(counts[row, 2 * at] | np.uint8(counts[row, 2 * at + 1] << np.uint8(4)))
        if n_pairs < halves.shape[1]:
            halves[row, n_pairs] = counts[row, 2 * n_pairs]


@compiled()
def _unpack(halves: Counts, counts: Counts) -> None:
    n_pairs = counts.shape[1] // 2
    for row in range(counts.shape[0]):
        for at in range(n_pairs):
            both = halves[row, at]
            counts[row, 2 * at] = np.uint8(both & np.uint8(15))
            counts[row, 2 * at + 1] = np.uint8(both >> np.uint8(4))
        if n_pairs < halves.shape[1]:
            counts[row, 2 * n_pairs] = np.uint8(halves[row, n_pairs] & np.uint8(15))


def map_resamples(
    of: Callable[[Counts], Result],
    n_examples: int,
    n_resamples: int,
    rng: np.random.Generator,
    *,
    batch_cells: int = BATCH_CELLS,
    is_wide: bool = False,
    margin: float = MARGIN,
    room: DrawnCounts | None = None,
) -> Iterator[Result]:
    """Yield `of` each batch of counts, [<= batch, n_examples] saying how often each example is drawn, in order.

    Each row sums to n_examples. Independent Poisson counts, topped up with uniform draws to the number of examples, are
    exactly the multinomial counts of the bootstrap: given their total, Poisson counts of equal means are uniform draws
    too. Neither the batch nor the threads change a number.
    A batch has more than `batch_cells` counts where that lets rows be laid side by side, but not where `of` `is_wide`:
    where what it makes takes several times the memory of the counts.
    Counts are written to a `room` for as many examples and resamples. From one that is whole they are read instead of
    drawn, also the first of more resamples: whoever keeps it must keep it for the same generator, state and margin.
    Raises InvalidArgument unless every count is a whole number of at least 1, and the margin a number from 0.
    Source: Efron & Tibshirani 1993, section 6.2; Hanley & MacGibbon 2006 for the Poisson counts.

    >>> rows = map_resamples(lambda counts: counts.sum(axis=1).tolist(), 3, 4, np.random.default_rng(1))
    >>> [total for batch in rows for total in batch]
    [3, 3, 3, 3]
    """
    for name, count in (("n_examples", n_examples), ("n_resamples", n_resamples), ("batch_cells", batch_cells)):
        require_count(name, count)
    require_number("margin", margin, 0.0)
    most_rows = _rows_at_once(n_examples, batch_cells, is_wide)
    if room is not None and room.is_whole:
        return _map_resamples(of, n_resamples, room, most_rows)
    draws = _Draws(n_examples, rng, margin)
    if room is None or room.n_resamples != n_resamples:
        return _map_resamples(of, n_resamples, draws, most_rows)
    return _filling(of, _Kept(draws, room), most_rows)


def _rows_at_once(n_examples: int, batch_cells: int, is_wide: bool) -> int:
    """Return the rows per batch: whole sets of interleaved rows, as long as one set fits."""
    n_rows = batch_cells // n_examples
    if n_rows < LANES and (is_wide or LANES * n_examples > MOST_BATCHES * batch_cells):
        return max(1, n_rows)
    return max(1, n_rows // LANES) * LANES


class _Source(Protocol):
    """Where the counts of rows come from, in any order and in any thread."""

    def counts(self, begin: int, end: int) -> Counts: ...


def _map_resamples(
    of: Callable[[Counts], Result], n_resamples: int, draws: _Source, most_rows: int
) -> Iterator[Result]:
    n_rows = min(most_rows, -(-n_resamples // N_THREADS))
    running: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(N_THREADS) as pool:
        for begin in range(0, n_resamples, n_rows):
            end = min(begin + n_rows, n_resamples)
            running.append(pool.submit(lambda begin, end: of(draws.counts(begin, end)), begin, end))
            if len(running) > N_THREADS:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()


def _filling(of: Callable[[Counts], Result], kept: "_Kept", most_rows: int) -> Iterator[Result]:
    """Yield what `_map_resamples` does; the room is whole once all are drawn."""
    yield from _map_resamples(of, kept.room.n_resamples, kept, most_rows)
    kept.room.is_whole = kept.fits


class _Kept:
    """Rows of counts that are drawn and written down; `fits` says whether all of them could be."""

    def __init__(self, draws: "_Draws", room: DrawnCounts) -> None:
        self.room, self.fits = room, True
        self._draws = draws

    def counts(self, begin: int, end: int) -> Counts:
        counts = self._draws.counts(begin, end)
        if not self.room.write(begin, counts):
            self.fits = False
        return counts


class _Draws:
    """Count rows; each kind of word has its own generator and each row its own words, in whatever order of use."""

    def __init__(self, n_examples: int, rng: np.random.Generator, margin: float) -> None:
        self._n_examples = n_examples
        self._codes, self._rest = rng.spawn(2)
        mean = 1.0 - margin / np.sqrt(n_examples) if n_examples >= FEW_EXAMPLES else 0.0
        self._upto = _poisson_upto(mean)
        self._table = _counts_of_codes(self._upto)
        self._n_codes = n_examples if mean > 0.0 else 0
        self._n_words = -(-self._n_codes // _CODES_PER_WORD)
        deviations = (margin + _MARGIN_OF_REST) * np.sqrt(n_examples)
        self._n_rest = int(deviations + n_examples / 1000 if mean > 0.0 else n_examples) + 64

    def counts(self, begin: int, end: int) -> Counts:
        codes, rest = _after(self._codes, begin * self._n_words), _after(self._rest, begin * self._n_rest)
        counts = np.zeros((end - begin, self._n_examples), dtype=np.uint8)
        n_rows = max(1, NEAR_CELLS // self._n_examples)
        for start in range(0, len(counts), n_rows):
            self._draw(counts[start : start + n_rows], codes, rest)
        return counts

    def _draw(self, counts: Counts, of_codes: np.random.BitGenerator, of_rest: np.random.BitGenerator) -> None:
        """Draw the next rows: few at a time, as random words are used best while they are near the processor."""
        rest = of_rest.random_raw(len(counts) * self._n_rest).reshape(len(counts), self._n_rest)
        words = of_codes.random_raw(len(counts) * self._n_words).reshape(len(counts), self._n_words)
        codes = words.view(np.uint16)[:, : self._n_codes]
        is_done = np.zeros(len(counts), dtype=np.bool_)
        _fill(counts, codes, self._table, self._upto, rest, is_done)
        for row in np.flatnonzero(~is_done):
            again = np.random.default_rng(rest[row, -4:])
            drawn = again.integers(0, self._n_examples, size=self._n_examples)
            counts[row] = np.bincount(drawn, minlength=self._n_examples)


def _after(rng: np.random.Generator, n_words: int) -> np.random.BitGenerator:
    """Return what draws the words of a generator after its first ones; the generator stays where it is."""
    later = deepcopy(rng.bit_generator)
    if isinstance(later, np.random.PCG64):
        later.advance(n_words)
    else:
        later.random_raw(n_words, output=False)
    return later


@compiled()
def _fill(
    counts: Counts,
    codes: NDArray[np.uint16],
    table: Counts,
    upto: FloatArray,
    rest: Words,
    is_done: BoolArray,
) -> None:
    """Turn codes into Poisson counts and top them up; rows with too many, or that need more numbers, are not done."""
    n_examples = counts.shape[1]
    mixed = np.empty(rest.shape[1] + 1, dtype=np.int64)
    for row in range(counts.shape[0]):
        n_drawn, n_used = np.int64(0), 0
        for at in range(codes.shape[1]):
            # 64 bits also when the loop runs uncompiled, where 8-bit sums would wrap.
            count = np.int64(table[codes[row, at]])
            counts[row, at] = count
            n_drawn += count
            if count == _MIXED:
                mixed[n_used] = at
                n_used = min(n_used + 1, rest.shape[1])
        for place in range(n_used):
            at = mixed[place]
            within = (codes[row, at] + (rest[row, place] >> np.uint64(11)) * _UNIT) / _CODES
            exact = 0
            while upto[exact] <= within:
                exact += 1
            counts[row, at] = exact
            n_drawn += exact - _MIXED
        n_lacking = n_examples - n_drawn
        if n_lacking < 0 or n_used + n_lacking > rest.shape[1]:
            continue
        for place in range(n_used, n_used + n_lacking):
            counts[row, int((rest[row, place] >> np.uint64(11)) * _UNIT * n_examples)] += 1
        is_done[row] = True


def _poisson_upto(mean: float) -> FloatArray:
    """Return the Poisson distribution function at 0, 1, …; the last value is 1."""
    masses = np.exp(-mean) * np.cumprod(np.concatenate([[1.0], mean / np.arange(1, _MOST)]))
    upto: FloatArray = np.cumsum(masses)
    upto[-1] = 1.0
    return upto


def _counts_of_codes(upto: FloatArray) -> Counts:
    """Return the count for each 16-bit code, or 255 where the code's slice of [0, 1) spans several counts."""
    first = np.searchsorted(upto, np.arange(_CODES) / _CODES, side="right")
    last = np.searchsorted(upto, (np.arange(_CODES) + 1) / _CODES, side="left")
    table = np.where(first == last, first, _MIXED)
    return table.astype(np.uint8)


# Sums over examples under many weightings at once. Values are not checked, because that would be repeated for each
# weighting: a sum over NaN is NaN. Negative weights are refused where weights enter.

SUMS_NEAR = 4096
"""Examples per block: their values stay in the processor's cache while every weighting is applied."""


def flag_sums(weights: Weights, flags: BoolArray) -> FloatArray:
    """Return the weight of the examples with each flag, [n_weightings, n_flags], from flags [n_flags, n_examples].

    `weights` are [n_weightings, n_examples]. Bootstrap counts are summed as integers, without a copy. No sum is null.
    Raises InvalidArgument for flags of another number of examples.
    Source: the product weights × flagsᵀ.

    >>> flag_sums(np.array([[1.0, 2.0], [0.0, 0.5]]), np.array([[True, True], [False, True]])).tolist()
    [[3.0, 2.0], [0.5, 0.5]]
    """
    require_shape("weights", weights, "n_weightings", "n_examples")
    require_shape("flags", flags, "n_flags", weights.shape[1])
    if weights.dtype != np.uint8:
        return weights.astype(np.float64, copy=False) @ flags.T.astype(np.float64)
    counted = np.empty((len(weights), len(flags)), dtype=np.int64)
    _count_flagged(weights, flags.view(np.uint8), counted)
    return counted.astype(np.float64)


def weighted_sums(weights: Weights, values: FloatArray) -> FloatArray:
    """Return Σ weight × value, [n_weightings, n_values], from values [n_values, n_examples].

    `weights` are [n_weightings, n_examples]. Bootstrap counts are used as bytes: a matrix product would need eight
    times their memory. A NaN makes the sums of its row of values NaN.
    Raises InvalidArgument for values of another number of examples.
    Source: the product weights × valuesᵀ.

    >>> weighted_sums(np.array([[1.0, 2.0], [0.0, 0.5]]), np.array([[10.0, 100.0]])).tolist()
    [[210.0], [50.0]]
    """
    require_shape("weights", weights, "n_weightings", "n_examples")
    require_shape("values", values, "n_values", weights.shape[1])
    if weights.dtype != np.uint8:
        products: FloatArray = weights.astype(np.float64, copy=False) @ values.T
        return products
    sums = np.zeros((len(weights), len(values)))
    _add_weighted(weights, values, sums)
    return sums


@compiled()
def _count_flagged(counts: Counts, flags: Counts, counted: IntArray) -> None:
    for row in range(counts.shape[0]):
        for flag in range(flags.shape[0]):
            total = 0
            for at in range(counts.shape[1]):
                total += int(counts[row, at]) * int(flags[flag, at])
            counted[row, flag] = total


@compiled(reorders_sums=True)
def _add_weighted(counts: Counts, values: FloatArray, sums: FloatArray) -> None:
    for start in range(0, counts.shape[1], SUMS_NEAR):
        for row in range(counts.shape[0]):
            near_counts = counts[row, start : start + SUMS_NEAR]
            for of in range(values.shape[0]):
                near_values = values[of, start : start + SUMS_NEAR]
                total = 0.0
                for at in range(len(near_counts)):
                    total += near_counts[at] * near_values[at]
                sums[row, of] += total
