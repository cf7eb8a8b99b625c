"""Compiled loops over every pair of entrants and every resample: a full three-way array would not fit in memory.
Deviations are [n_entrants, n_resamples], each row of mean 0. Memory is that of the deviations and of squares
[n_entrants, n_entrants], never that of the product of the three.
"""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from app.stats.arrays import BoolArray, FloatArray, IntArray, require_shape
from app.stats.compiled import compiled, in_parts

Real = NDArray[np.floating[Any]]

Signs = NDArray[np.int8]

NEAR = 8
"""Rows per block: they stay in the processor's cache while all other rows are read."""

ILL_CONDITIONED = 1e3
"""Deviations this many times larger than their difference lose too many of its digits in single precision."""


def pair_variances(deviations: FloatArray, wanted: IntArray | None = None) -> FloatArray:
    """Return the variance over resamples of each pairwise difference, [n_wanted, n_entrants].

    `deviations` is [n_entrants, n_resamples]; `wanted` holds the positions of some rows, by default of all. Differences
    are squared after subtracting, so that what two entrants have in common costs no precision. Variances are in the
    squared unit of the deviations; a row with NaN has NaN variances.
    Raises InvalidArgument for deviations without two axes, and for no resample.
    Source: the sample variance, with the divisor n_resamples − 1.

    >>> pair_variances(np.array([[1.0, -1.0], [-1.0, 1.0]])).tolist()
    [[0.0, 8.0], [8.0, 0.0]]
    >>> pair_variances(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([1])).tolist()
    [[8.0, 0.0]]
    """
    require_shape("deviations", deviations, "n_entrants", "[n_resamples]")
    rows, of = np.ascontiguousarray(deviations), np.arange(len(deviations)) if wanted is None else wanted
    sums, loop = np.zeros((len(of), len(rows))), compiled(_add_squares, reorders_sums=True)
    in_parts(len(of), NEAR, lambda part: loop(rows, of, wanted is None, sums, part.start, part.stop))
    sums /= max(deviations.shape[1] - 1, 1)
    return sums


@dataclass(frozen=True)
class Studentized:
    """Deviations `rows` [n_entrants, n_resamples] and `factors` [n_entrants, n_entrants] that studentize differences.

    Both are in single precision unless some difference is more than ILL_CONDITIONED times smaller than its terms. Rows
    and factors are scaled by a power of two, which is exact: in either precision, a pair's numbers do not depend on the
    other entrants.
    """

    rows: Real
    factors: Real

    @classmethod
    def of(cls, deviations: FloatArray, drawn: FloatArray) -> Self:
        """Combine deviations [n_entrants, n_resamples] with one over the standard deviation of each difference.

        `drawn` [n_entrants, n_entrants] holds those standard deviations, 0 for a pair to leave out. Deviations may not
        be NaN.
        Raises InvalidArgument for mismatched shapes.
        Source: studentization as in Mogstad et al. 2024, section 3.

        >>> Studentized.of(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([[0.0, 2.0], [2.0, 0.0]])).factors.tolist()
        [[0.0, 0.5], [0.5, 0.0]]
        """
        require_shape("deviations", deviations, "n_entrants", "[n_resamples]")
        require_shape("drawn", drawn, len(deviations), len(deviations))
        size = float(np.sqrt(np.vdot(deviations, deviations) / deviations.size))
        scale = math.ldexp(1.0, math.frexp(size)[1] - 1) if size > 0.0 else 1.0
        precision = np.float64 if size > ILL_CONDITIONED * _least(drawn) else np.float32
        rows, factors = np.empty(deviations.shape, dtype=precision), np.empty(drawn.shape, dtype=precision)
        np.divide(deviations, scale, out=rows, casting="same_kind")
        loop = compiled(_fill_factors)
        in_parts(len(drawn), 1, lambda part: loop(drawn[part], scale, factors[part]), n_steps=drawn.size)
        return cls(rows, factors)

    def largest(self, rejected: Signs, wanted: IntArray) -> Real:
        """Return the largest studentized difference over the hypotheses not yet rejected, [n_wanted, n_resamples].

        `rejected` [n_entrants, n_entrants] is 0 where both directions of a pair are left, 1 where row has been shown
        better than column, −1 where worse: then only the other direction is left. `wanted` holds row positions; a row
        with nothing left has −inf.
        Raises InvalidArgument for `rejected` of a different shape.
        Source: Romano & Wolf 2005, the step-down of the maximum; Mogstad, Romano, Shaikh & Wilhelm 2024, section 3.

        >>> pair = Studentized.of(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([[0.0, 2.0], [2.0, 0.0]]))
        >>> pair.largest(np.zeros((2, 2), dtype=np.int8), np.array([0])).tolist()
        [[1.0, 1.0]]
        >>> pair.largest(np.array([[0, 1], [-1, 0]], dtype=np.int8), np.array([0])).tolist()
        [[-1.0, 1.0]]
        """
        largest = np.full((len(wanted), self.rows.shape[1]), -np.inf, dtype=self.rows.dtype)
        self._raise(largest, rejected, wanted, np.arange(len(self.rows)))
        return largest

    def largest_of_all(self, known: Real | None, fresh: IntArray) -> Real:
        """Return each row's largest studentized difference, [n_entrants, n_resamples], before anything is rejected.

        `known` holds the maxima over pairs without the `fresh` rows, whose own rows are −inf; it is overwritten.
        Without it every pair is computed.
        Raises InvalidArgument for `known` of a different shape.
        Source: as for `largest`.

        >>> pair = Studentized.of(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([[0.0, 2.0], [2.0, 0.0]]))
        >>> pair.largest_of_all(np.full((2, 2), -np.inf, dtype=np.float32), np.array([1])).tolist()
        [[1.0, 1.0], [1.0, 1.0]]
        """
        everyone, none = np.arange(len(self.rows)), np.zeros(self.factors.shape, dtype=np.int8)
        if known is None:
            return self.largest(none, everyone)
        require_shape("known", known, *self.rows.shape)
        self._raise(known, none, everyone, fresh)
        known[fresh] = self.largest(none, fresh)
        return known

    def _raise(self, largest: Real, rejected: Signs, wanted: IntArray, others: IntArray) -> None:
        require_shape("rejected", rejected, len(self.rows), len(self.rows))
        loop, among = compiled(_keep_largest), (self.rows, self.factors, rejected)
        in_parts(len(wanted), NEAR, lambda part: loop(*among, wanted[part], others, largest[part]))


def _least(drawn: FloatArray) -> float:
    """Return the smallest spread above zero; infinite where there is none."""
    least, loop = np.empty(len(drawn)), compiled(_fill_least)
    in_parts(len(drawn), 1, lambda part: loop(drawn[part], least[part]), n_steps=drawn.size)
    return float(least.min(initial=np.inf))


def _fill_least(drawn: FloatArray, least: FloatArray) -> None:
    for row in range(len(drawn)):
        smallest = np.inf
        for spread in drawn[row]:
            smallest = spread if spread > 0.0 and spread < smallest else smallest
        least[row] = smallest


def _fill_factors(drawn: FloatArray, scale: float, factors: Real) -> None:
    for row in range(drawn.shape[0]):
        for column in range(drawn.shape[1]):
            spread = drawn[row, column]
            factors[row, column] = scale / spread if spread > 0.0 else 0.0


def _add_squares(rows: FloatArray, wanted: IntArray, is_half: bool, sums: FloatArray, begin: int, end: int) -> None:
    for start in range(begin, end, NEAR):
        for second in range(rows.shape[0]):
            b = rows[second]
            for place in range(start, min(start + NEAR, end)):
                if is_half and place >= second:
                    continue
                a = rows[wanted[place]]
                total = 0.0
                for at in range(len(a)):
                    difference = a[at] - b[at]
                    total += difference * difference
                sums[place, second] = total
                if is_half:
                    sums[second, place] = total


def _keep_largest(
    rows: Real, factors: Real, rejected: Signs, wanted: IntArray, others: IntArray, largest: Real
) -> None:
    for start in range(0, len(wanted), NEAR):
        for second in others:
            for place in range(start, min(start + NEAR, len(wanted))):
                first = wanted[place]
                factor, sign = factors[first, second], rejected[first, second]
                a, b, most = rows[first], rows[second], largest[place]
                if factor == 0.0:
                    continue
                if sign == 0:
                    for at in range(len(a)):
                        value = abs(a[at] - b[at]) * factor
                        most[at] = value if value > most[at] else most[at]
                    continue
                if sign > 0:
                    factor = -factor
                for at in range(len(a)):
                    value = (a[at] - b[at]) * factor
                    most[at] = value if value > most[at] else most[at]


# Compiled loops over every pair of entrants: a difference in standard errors, and the sign of a significant one. An
# array [n_entrants, n_entrants] is large, so intermediate results are not stored.


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
