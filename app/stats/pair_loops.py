"""Loops over every pair of entrants and every resample, compiled: arrays of all three would not fit.

Called by `app.stats.contests`, `app.stats.rank_sets` and `app.stats.left_pairs`. Deviations are
[n_entrants, n_resamples], each row of mean 0. Memory is that of the deviations and of squares [n_entrants, n_entrants],
never that of the product of the three.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from app.stats.arrays import FloatArray, IntArray
from app.stats.checks import require_shape
from app.stats.compiled import compiled, in_parts

Real = NDArray[np.floating[Any]]
Signs = NDArray[np.int8]
NEAR = 8
"""Rows that are gone through at once: they stay near the processor while all the others pass by."""
ILL_CONDITIONED = 1e3
"""Deviations this many times larger than those of a difference lose too much of it in single precision."""


def pair_variances(deviations: FloatArray) -> FloatArray:
    """Return the variance over resamples of each difference, [n_entrants, n_entrants], of deviations of that many rows.

    Each difference is taken before it is squared, so that what two entrants have in common costs no digit. Variances
    are in the square of the deviations' unit; one of a row with a NaN is NaN.
    Raises InvalidArgument for deviations of other axes, and for no resample.
    Source: by definition; the divisor is n_resamples − 1.

    >>> pair_variances(np.array([[1.0, -1.0], [-1.0, 1.0]])).tolist()
    [[0.0, 8.0], [8.0, 0.0]]
    """
    require_shape("deviations", deviations, "n_entrants", "[n_resamples]")
    sums = np.zeros((len(deviations),) * 2)
    rows, loop = np.ascontiguousarray(deviations), compiled(_add_squares, reorders_sums=True)
    in_parts(len(rows), NEAR, lambda part: loop(rows, sums, part.start, part.stop))
    variances: FloatArray = sums / max(deviations.shape[1] - 1, 1)
    return variances


@dataclass(frozen=True)
class Studentized:
    """Deviations `rows` [n_entrants, n_resamples] with `factors` [n_entrants, n_entrants], which make them comparable.

    What all have in common in a resample is taken out in double precision; both are in single precision unless a
    difference is more than ILL_CONDITIONED times smaller than what it is the difference of.
    """

    rows: Real
    factors: Real

    @classmethod
    def of(cls, deviations: FloatArray, inverse: FloatArray) -> Self:
        """Return deviations [n_entrants, n_resamples] with one over the standard deviation of each difference.

        `inverse` [n_entrants, n_entrants] is 0 for a pair that does not count. Deviations may not be
        NaN. Raises InvalidArgument for other shapes.
        Source: by definition.

        >>> Studentized.of(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([[0.0, 0.5], [0.5, 0.0]])).rows.tolist()
        [[1.0, -1.0], [-1.0, 1.0]]
        """
        require_shape("deviations", deviations, "n_entrants", "[n_resamples]")
        require_shape("inverse", inverse, len(deviations), len(deviations))
        own = deviations - deviations.mean(axis=0)
        scale = float(np.sqrt((own**2).mean())) or 1.0
        precision = np.float64 if scale * inverse.max(initial=0.0) > ILL_CONDITIONED else np.float32
        return cls(np.ascontiguousarray(own / scale, dtype=precision), (inverse * scale).astype(precision))

    def largest(self, rejected: Signs, wanted: IntArray) -> FloatArray:
        """Return the largest studentized difference over the hypotheses that are left, [n_wanted, n_resamples].

        `rejected` [n_entrants, n_entrants] is 0 where both directions of a pair are left, 1 where row was found better
        than column, −1 where worse: then the other direction is left. `wanted` are the positions of the rows; one of
        which nothing is left has −inf. Raises InvalidArgument for `rejected` of another shape.
        Source: Romano & Wolf 2005, the step-down of the maximum; Mogstad, Romano, Shaikh & Wilhelm 2024, section 3.

        >>> pair = Studentized.of(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([[0.0, 0.5], [0.5, 0.0]]))
        >>> pair.largest(np.zeros((2, 2), dtype=np.int8), np.array([0])).tolist()
        [[1.0, 1.0]]
        >>> pair.largest(np.array([[0, 1], [-1, 0]], dtype=np.int8), np.array([0])).tolist()
        [[-1.0, 1.0]]
        """
        require_shape("rejected", rejected, len(self.rows), len(self.rows))
        largest = np.full((len(wanted), self.rows.shape[1]), -np.inf, dtype=self.rows.dtype)
        loop = compiled(_keep_largest)
        in_parts(len(wanted), NEAR, lambda part: loop(self.rows, self.factors, rejected, wanted[part], largest[part]))
        return largest.astype(np.float64)


def _add_squares(rows: FloatArray, sums: FloatArray, begin: int, end: int) -> None:
    for start in range(begin, end, NEAR):
        for second in range(rows.shape[0]):
            b = rows[second]
            for first in range(start, min(start + NEAR, end, second)):
                a = rows[first]
                total = 0.0
                for at in range(len(a)):
                    difference = a[at] - b[at]
                    total += difference * difference
                sums[first, second] = total
                sums[second, first] = total


def _keep_largest(rows: Real, factors: Real, rejected: Signs, wanted: IntArray, largest: Real) -> None:
    for start in range(0, len(wanted), NEAR):
        for second in range(rows.shape[0]):
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
