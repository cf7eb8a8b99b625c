"""Compiled loops over every pair of entrants: a difference in standard errors, and the sign of a significant one.

Called by `app.stats.contests`, which defines the numbers. An array [n_entrants, n_entrants] is large, so intermediate
results are not stored.
"""

import numpy as np

from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.stats.compiled import compiled
from app.stats.pair_loops import Signs


def fill_sizes(points: FloatArray, roots: FloatArray, drawn: FloatArray, tie: float, sizes: FloatArray) -> None:
    """Fill `sizes` [n, n] with each |difference| of `points` [n] in standard errors.

    The error is the spread `drawn` [n, n] times the larger of the pair's `roots` [n]; it and `tie` are in the unit of
    the points. A difference up to `tie` counts as 0; without a spread the size is infinite.
    Source: `Contests.sizes`.

    >>> sizes = np.empty((2, 2))
    >>> fill_sizes(np.array([3.0, 1.0]), np.ones(2), np.array([[0.0, 0.5], [0.5, 0.0]]), 1e-12, sizes)
    >>> sizes.tolist()
    [[inf, 4.0], [4.0, inf]]
    """
    for row in range(len(points)):
        for column in range(len(points)):
            difference = abs(points[row] - points[column])
            size = 0.0 if difference <= tie else difference
            error = drawn[row, column] * max(roots[row], roots[column])
            sizes[row, column] = size / error if drawn[row, column] > 0.0 else np.inf


def fill_signs(
    points: FloatArray,
    roots: FloatArray,
    drawn: FloatArray,
    sizes: FloatArray,
    is_sized: bool,
    tie: float,
    place: IntArray,
    least: FloatArray,
    of_signs: BoolArray,
    has_spread: BoolArray,
    signs: Signs,
    begin: int,
    end: int,
) -> None:
    """Fill the rows from `begin` to `end` of `Contests.signs`; `sizes` is used only if `is_sized`.

    `least` and `of_signs` [n, n_steps] give, for each number of degrees of freedom, the smallest significant size and
    whether equal signs alone are significant; a pair has the smaller `place` [n] of its two.
    Source: `Contests.signs`.

    >>> signs, spread = np.zeros((2, 2), dtype=np.int8), np.array([[0.0, 0.5], [0.5, 0.0]])
    >>> steps = (np.zeros(2, dtype=np.int64), np.full((2, 1), 2.0), np.zeros((2, 1), dtype=np.bool_))
    >>> known = np.ones(2, dtype=np.bool_)
    >>> fill_signs(np.array([3.0, 1.0]), np.ones(2), spread, spread, False, 1e-12, *steps, known, signs, 0, 2)
    >>> signs.tolist()
    [[0, 1], [-1, 0]]
    """
    n_entrants, is_one = len(points), least.shape[1] == 1
    # Without a branch in the loop, the compiler can vectorize it over columns.
    for row in range(begin, end):
        point, root, knows = points[row], roots[row], has_spread[row]
        bar, by_signs = least[row, 0], of_signs[row, 0]
        for column in range(n_entrants):
            spread, difference = drawn[row, column], point - points[column]
            varies = spread > 0.0
            error = spread * max(root, roots[column]) if varies else 1.0
            size = sizes[row, column] if is_sized else abs(difference) / error
            if not is_one:
                step = min(place[row], place[column])
                bar, by_signs = least[row, step], of_signs[row, step]
            counts = (varies & (size > bar)) | (~varies & by_signs)
            above = counts & (difference > tie) & knows
            below = counts & (difference < -tie) & has_spread[column]
            signs[row, column] = np.int8(above) - np.int8(below)


def last_beside(separated: BoolArray, order: IntArray) -> IntArray:
    """Return, for each entrant of `order` [n], the last position of an entrant that it is not separated from, [n].

    `separated` [n, n] is True where row is better than column; nobody is separated from itself.
    Source: none; it searches.

    >>> last_beside(np.array([[False, True], [False, False]]), np.array([0, 1])).tolist()
    [0, 1]
    """
    last = np.zeros(len(order), dtype=np.int64)
    compiled(_fill_last)(separated, order, last)
    return last


def _fill_last(separated: BoolArray, order: IntArray, last: IntArray) -> None:
    for place in range(len(order)):
        at = len(order) - 1
        while at > 0 and separated[order[place], order[at]]:
            at -= 1
        last[place] = at
