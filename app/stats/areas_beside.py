"""The sums behind the areas of threshold curves, of thirty-two resamples side by side.

Called by `app.stats.resampled_curves`; pure. Counts of one resample are bytes by example, and what is looked at next,
in the order of scores, is far away: of a million examples each look is out of the processor's cache. So the counts
of thirty-two resamples are laid side by side in the order of scores, each example's once, and then read from the first
to the last, where a processor also adds up eight resamples at a time. Every sum of a resample has the numbers, and
their order, that it has by itself.
"""

import numpy as np
from numpy.typing import NDArray

from app.stats.arrays import Counts, FloatArray
from app.stats.compiled import compiled

LANES = 32
"""So many resamples side by side."""
N_SUMS = 8
Int32Array = NDArray[np.int32]
_FALSE, _GAINED, _TIED, _TRUE, _PASSED, _HALVES, _STEPS, _AFTER, _RIGHT, _BEYOND = range(0, 10 * LANES, LANES)
"""Where in one array the numbers of each kind begin: that they are apart must be known to the compiler."""
_LINE = 64
"""Bytes of a line of the cache."""
_NEAR = 256
"""Examples that are laid side by side at once: what is made of them on the way stays near the processor."""


def sums_beside(counts: Counts, places: Int32Array, ends: Int32Array) -> FloatArray:
    """Return eight sums of thirty-two resamples, [8, 32], from their counts [32, n_examples].

    `places` [n_examples] is where each example stands by falling score, positives before negatives with the same one.
    `ends` [n_levels + 1, 3] is where, before each distinct score of a positive, the negatives above it end, then its
    positives, then the negatives that share it; its last row ends the negatives below.
    Sums are those of `app.stats.resampled_curves`: weight of the positives and of the negatives, twice the pairs in the
    wrong order, the precision before and after each gain, before it, after it, the most that is called rightly, and
    what mixed ties have beyond the straight lines across them.
    A count is finite, so no sum is NaN. Raises nothing: whoever calls it has checked the arrays.
    Source: as in `app.stats.curves`.

    >>> counts = np.ones((32, 2), dtype=np.uint8)
    >>> ends = np.array([[0, 1, 1], [2, 2, 2]], dtype=np.int32)
    >>> sums_beside(counts, np.array([1, 0], dtype=np.int32), ends)[:, 0].tolist()
    [1.0, 1.0, 0.0, 2.0, 1.0, 1.0, 2.0, 0.0]
    """
    sums = aligned((_BEYOND // LANES + 1) * LANES)
    compiled(_add_beside)(lay_beside(counts, places), ends, sums)
    rows = sums.reshape(-1, LANES)
    # What is right is weighed against all negatives, which are known at the end.
    rows[_RIGHT // LANES] += rows[_FALSE // LANES]
    return rows[[kind // LANES for kind in (_TRUE, _FALSE, _PASSED, _HALVES, _STEPS, _AFTER, _RIGHT, _BEYOND)]]


def lay_beside(counts: Counts, places: Int32Array) -> Counts:
    """Return the counts of thirty-two resamples side by side, [n_examples, 32], each example's at its place.

    `counts` are [32, n_examples], `places` [n_examples] holds each number below n_examples once; there is no NaN.
    Raises nothing: whoever calls it has checked the arrays. Source: by definition.

    >>> counts = np.arange(64, dtype=np.uint8).reshape(32, 2)
    >>> lay_beside(counts, np.array([1, 0], dtype=np.int32))[:, :3].tolist()
    [[1, 3, 5], [0, 2, 4]]
    """
    beside = np.empty((len(places), LANES // 8), dtype=np.uint64)
    compiled(_lay_beside)(counts, places, beside)
    return beside.view(np.uint8)


def aligned(n_numbers: int) -> FloatArray:
    """Return zeros [n_numbers] that begin where a line of the cache does: registers across two lines are slower.

    None of them is NaN. Raises ValueError, numpy's own, for less than none. Source: by definition.

    >>> aligned(3).tolist()
    [0.0, 0.0, 0.0]
    """
    room = np.zeros(n_numbers + _LINE // 8)
    begin = -room.ctypes.data % _LINE // 8
    return room[begin : begin + n_numbers]


def _lay_beside(counts: Counts, places: Int32Array, beside: NDArray[np.uint64]) -> None:
    """Write the bytes of eight resamples as one word, two by two: so the compiler has them all in wide registers."""
    twos, fours = np.empty((4, _NEAR), dtype=np.uint16), np.empty((2, _NEAR), dtype=np.uint32)
    eights = np.empty((beside.shape[1], _NEAR), dtype=np.uint64)
    for start in range(0, counts.shape[1], _NEAR):
        n_near = min(_NEAR, counts.shape[1] - start)
        for word in range(beside.shape[1]):
            for two in range(4):
                row = 8 * word + 2 * two
                for at in range(start, start + n_near):
                    second = np.uint16(counts[row + 1, at]) << np.uint16(8)
                    twos[two, at - start] = np.uint16(counts[row, at]) | second
            for four in range(2):
                for at in range(n_near):
                    others = np.uint32(twos[2 * four + 1, at]) << np.uint32(16)
                    fours[four, at] = np.uint32(twos[2 * four, at]) | others
            for at in range(n_near):
                eights[word, at] = np.uint64(fours[0, at]) | (np.uint64(fours[1, at]) << np.uint64(32))
        for at in range(n_near):
            for word in range(beside.shape[1]):
                beside[places[start + at], word] = eights[word, at]


def _add_beside(beside: Counts, ends: Int32Array, sums: FloatArray) -> None:
    """Pass the scores from the highest to the lowest; the last level has no positive and adds nothing but negatives.

    The number of lanes is that of an array: loops of a known length would be written out instead of made wide.
    """
    n_lanes, start = beside.shape[1], 0
    for level in range(ends.shape[0]):
        gained_from, tied_from = ends[level, 0], ends[level, 1]
        for at in range(start, ends[level, 2]):
            kind = LANES * (int(at >= gained_from) + int(at >= tied_from))
            for lane in range(n_lanes):
                sums[kind + lane] += beside[at, lane]
        if ends[level, 2] > tied_from:
            for lane in range(n_lanes):
                above, gained, missed = sums[_FALSE + lane], sums[_GAINED + lane], sums[_TIED + lane]
                if gained > 0.0 and missed > 0.0:
                    true, called, per_hit = sums[_TRUE + lane], sums[_TRUE + lane] + above, 1.0 + missed / gained
                    line = (true / called if called > 0.0 else 1.0) + (true + gained) / (called + gained * per_hit)
                    beyond = gained / per_hit
                    if called > 0.0:
                        beyond += (true - called / per_hit) / per_hit * np.log1p(gained * per_hit / called)
                    sums[_BEYOND + lane] += beyond - gained * line / 2.0
        for lane in range(n_lanes):
            above, gained, true = sums[_FALSE + lane], sums[_GAINED + lane], sums[_TRUE + lane]
            before = true / (true + above) if true + above > 0.0 else 1.0
            true, false = true + gained, above + sums[_TIED + lane]
            precision = true / (true + false) if true + false > 0.0 else 1.0
            sums[_RIGHT + lane] = max(sums[_RIGHT + lane], true - false)
            sums[_PASSED + lane] += gained * (above + false)
            sums[_HALVES + lane] += gained * (before + precision)
            sums[_STEPS + lane] += gained * before
            sums[_AFTER + lane] += gained * precision
            sums[_TRUE + lane], sums[_FALSE + lane] = true, false
            sums[_GAINED + lane], sums[_TIED + lane] = 0.0, 0.0
        start = ends[level, 2]
