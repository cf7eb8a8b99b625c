"""Bootstrap resamples of very many examples, as counts that fit a byte.

Called by `app.boards`; pure. A million examples times two thousand resamples are two billion counts: they are
drawn in batches, each costs about two random bytes instead of a random number for every drawn example, and what is
computed of a batch runs beside the drawing of the next.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from copy import deepcopy
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from app.stats.areas_beside import LANES
from app.stats.arrays import BoolArray, Counts, FloatArray
from app.stats.checks import require_count, require_number
from app.stats.compiled import compiled
from app.stats.known_draws import KNOWN, Drawn, KnownDraws

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


def map_resamples(
    of: Callable[[Counts], Result],
    n_examples: int,
    n_resamples: int,
    rng: np.random.Generator,
    *,
    batch_cells: int = BATCH_CELLS,
    is_wide: bool = False,
    margin: float = MARGIN,
    key: Hashable | None = None,
    known: KnownDraws = KNOWN,
) -> Iterator[Result]:
    """Yield `of` each batch of counts, [<= batch, n_examples] saying how often each example is drawn, in order.

    Each row sums to n_examples. Independent Poisson counts, topped up with uniform draws to the number of examples, are
    exactly the multinomial counts of the bootstrap: given their total, Poisson counts of equal means are uniform draws
    too. Neither the batch nor the threads change a number.
    A batch has more than `batch_cells` counts where that lets rows be laid side by side, but not where `of` `is_wide`:
    where what it makes takes several times the memory of the counts.
    With a `key` the counts are remembered, and the next time not drawn: it must decide the generator and its state.
    Raises InvalidArgument unless every count is a whole number of at least 1, and the margin a number from 0.
    Source: Efron & Tibshirani 1993, section 6.2; Hanley & MacGibbon 2006 for the Poisson counts.

    >>> rows = map_resamples(lambda counts: counts.sum(axis=1).tolist(), 3, 4, np.random.default_rng(1))
    >>> [total for batch in rows for total in batch]
    [3, 3, 3, 3]
    """
    for name, count in (("n_examples", n_examples), ("n_resamples", n_resamples), ("batch_cells", batch_cells)):
        require_count(name, count)
    require_number("margin", margin, 0.0)
    drawn = None if key is None else known.recall((key, margin), n_examples, n_resamples)
    most_rows = _rows_at_once(n_examples, batch_cells, is_wide)
    if drawn is not None:
        return _map_resamples(of, n_resamples, _Known(drawn), most_rows)
    draws = _Draws(n_examples, rng, margin)
    room = None if key is None else known.room((key, margin), n_examples, n_resamples)
    if room is None:
        return _map_resamples(of, n_resamples, draws, most_rows)
    return _keeping(of, _Kept(draws, room), known, most_rows)


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


def _keeping(of: Callable[[Counts], Result], kept: "_Kept", known: KnownDraws, most_rows: int) -> Iterator[Result]:
    """Yield what `_map_resamples` does, and remember the counts once all are drawn."""
    yield from _map_resamples(of, len(kept.room.halves), kept, most_rows)
    if kept.fits:
        known.keep(kept.room)


class _Known:
    """Count rows from the cache."""

    def __init__(self, drawn: Drawn) -> None:
        self._drawn = drawn

    def counts(self, begin: int, end: int) -> Counts:
        return self._drawn.read(begin, end)


class _Kept:
    """Rows of counts that are drawn and written down; `fits` says whether all of them could be."""

    def __init__(self, draws: "_Draws", room: Drawn) -> None:
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
        compiled(_fill)(counts, codes, self._table, self._upto, rest, is_done)
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
