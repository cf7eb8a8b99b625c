"""Bootstrap resamples of very many examples, as counts that fit a byte.

Called by `app.boards`; pure. A million examples times two thousand resamples are two billion counts: they are
drawn in batches, each costs about two random bytes instead of a random number for every drawn example, and what is
computed of a batch runs beside the drawing of the next.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from app.stats.arrays import BoolArray, Counts, FloatArray
from app.stats.checks import require_count, require_number
from app.stats.compiled import compiled
from app.stats.known_draws import KNOWN, Drawn, KnownDraws

Words = NDArray[np.uint64]
Result = TypeVar("Result")
Part = TypeVar("Part")

BATCH_CELLS = 1_000_000
"""Counts in memory at once: with what is computed from them, they fit the processor's cache."""
N_THREADS = 2
MARGIN = 5.0
"""How many standard deviations the Poisson counts aim below the number of examples; so few rows are drawn again."""
FEW_EXAMPLES = 1000
"""Below it the examples are drawn one by one: the shortcut would draw most of them again."""
_MARGIN_OF_REST = 8.0
_CODES = 1 << 16
_CODES_PER_WORD = 4
_MIXED = 255
_MOST = 32
_UNIT = 2.0**-53
"""Turns the upper 53 bits of a word into a number in [0, 1)."""


def map_resamples(
    of: Callable[[Counts], Result],
    n_examples: int,
    n_resamples: int,
    rng: np.random.Generator,
    *,
    batch_cells: int = BATCH_CELLS,
    margin: float = MARGIN,
    key: Hashable | None = None,
    known: KnownDraws = KNOWN,
) -> Iterator[Result]:
    """Yield `of` each batch of counts, [<= batch, n_examples] saying how often each example is drawn, in order.

    Each row sums to n_examples. Independent Poisson counts, topped up with uniform draws to the number of examples, are
    exactly the multinomial counts of the bootstrap: given their total, Poisson counts of equal means are uniform draws
    too. Neither the batch nor the threads change a number.
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
    if drawn is not None:
        return _map_resamples(of, n_resamples, _Known(drawn), batch_cells // n_examples)
    draws = _Draws(n_examples, rng, margin)
    room = None if key is None else known.room((key, margin), n_examples, n_resamples)
    if room is None:
        return _map_resamples(of, n_resamples, draws, batch_cells // n_examples)
    return _keeping(of, _Kept(draws, room), known, batch_cells // n_examples)


class _Source(Protocol[Part]):
    """Where the counts of rows come from: what they are made of in order, and from that, in any thread, the counts."""

    def numbers(self, n_rows: int) -> Part: ...
    def counts(self, numbers: Part) -> Counts: ...


def _map_resamples(
    of: Callable[[Counts], Result], n_resamples: int, draws: _Source[Part], most_rows: int
) -> Iterator[Result]:
    n_rows = max(1, min(most_rows, -(-n_resamples // N_THREADS)))
    running: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(N_THREADS) as pool:
        for start in range(0, n_resamples, n_rows):
            numbers = draws.numbers(min(n_rows, n_resamples - start))
            running.append(pool.submit(lambda numbers: of(draws.counts(numbers)), numbers))
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
    """Rows of counts that were drawn before, in order."""

    def __init__(self, drawn: Drawn) -> None:
        self._drawn, self._next = drawn, 0

    def numbers(self, n_rows: int) -> tuple[int, int]:
        begin, self._next = self._next, self._next + n_rows
        return begin, self._next

    def counts(self, numbers: tuple[int, int]) -> Counts:
        return self._drawn.read(*numbers)


class _Kept:
    """Rows of counts that are drawn and written down; `fits` says whether all of them could be."""

    def __init__(self, draws: "_Draws", room: Drawn) -> None:
        self.room, self.fits = room, True
        self._draws, self._next = draws, 0

    def numbers(self, n_rows: int) -> "tuple[int, _Numbers]":
        begin, self._next = self._next, self._next + n_rows
        return begin, self._draws.numbers(n_rows)

    def counts(self, numbers: "tuple[int, _Numbers]") -> Counts:
        begin, words = numbers
        counts = self._draws.counts(words)
        if not self.room.write(begin, counts):
            self.fits = False
        return counts


class _Numbers(NamedTuple):
    """The random words of some rows: four 16-bit codes in each word of `codes`, and those for everything else."""

    codes: Words
    rest: Words


class _Draws:
    """The rows of counts, in order; both kinds of words have their own generator, so batches do not matter."""

    def __init__(self, n_examples: int, rng: np.random.Generator, margin: float) -> None:
        self._n_examples = n_examples
        self._codes, self._rest = rng.spawn(2)
        mean = 1.0 - margin / np.sqrt(n_examples) if n_examples >= FEW_EXAMPLES else 0.0
        self._upto = _poisson_upto(mean)
        self._table = _counts_of_codes(self._upto)
        self._n_codes = n_examples if mean > 0.0 else 0
        deviations = (margin + _MARGIN_OF_REST) * np.sqrt(n_examples)
        self._n_rest = int(deviations + n_examples / 1000 if mean > 0.0 else n_examples) + 64

    def numbers(self, n_rows: int) -> _Numbers:
        n_words = -(-self._n_codes // _CODES_PER_WORD)
        codes = self._codes.bit_generator.random_raw(n_rows * n_words)
        rest = self._rest.bit_generator.random_raw(n_rows * self._n_rest)
        return _Numbers(codes.reshape(n_rows, n_words), rest.reshape(n_rows, self._n_rest))

    def counts(self, numbers: _Numbers) -> Counts:
        counts = np.zeros((len(numbers.rest), self._n_examples), dtype=np.uint8)
        codes = numbers.codes.view(np.uint16)[:, : self._n_codes]
        is_done = np.zeros(len(counts), dtype=np.bool_)
        compiled(_fill)(counts, codes, self._table, self._upto, numbers.rest, is_done)
        for row in np.flatnonzero(~is_done):
            again = np.random.default_rng(numbers.rest[row, -4:])
            drawn = again.integers(0, self._n_examples, size=self._n_examples)
            counts[row] = np.bincount(drawn, minlength=self._n_examples)
        return counts


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
            # A whole number of 64 bits also where the loop is not compiled: sums of 8 bits would wrap there.
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
    """Return the distribution function of a Poisson count at 0, 1, …; the last one is 1."""
    masses = np.exp(-mean) * np.cumprod(np.concatenate([[1.0], mean / np.arange(1, _MOST)]))
    upto: FloatArray = np.cumsum(masses)
    upto[-1] = 1.0
    return upto


def _counts_of_codes(upto: FloatArray) -> Counts:
    """Return the count that each 16-bit code means, or 255 where the code's share of [0, 1) holds several."""
    first = np.searchsorted(upto, np.arange(_CODES) / _CODES, side="right")
    last = np.searchsorted(upto, (np.arange(_CODES) + 1) / _CODES, side="left")
    table = np.where(first == last, first, _MIXED)
    return table.astype(np.uint8)
