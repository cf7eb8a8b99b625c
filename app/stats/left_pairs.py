"""Quantiles of the largest studentized difference over the hypotheses that are left, without computing most of them.

Called by `app.stats.rank_sets`; pure. What is left is part of what there was at first, so the largest of all bounds the
largest of what is left. A quantile asks for the few largest resamples only: they are computed in the order of their
bounds, until no bound reaches the last that counts.
"""

from dataclasses import dataclass
from functools import cached_property
from heapq import heappushpop
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.stats.arrays import FloatArray, IntArray
from app.stats.checks import require_count, require_shape
from app.stats.compiled import compiled, in_parts
from app.stats.pair_loops import Signs, Studentized

Real = NDArray[np.floating[Any]]
LANES = 256
"""Maxima that are kept side by side, so that the processor finds several at once; a power of two."""


@dataclass(frozen=True)
class LeftPairs:
    """Studentized differences, and of each row the largest in every resample, all hypotheses being left.

    `bounds` is [n_entrants, n_resamples], as `Studentized.largest` returns it. A quantile below 0 may come out as any
    number up to 0. Raises InvalidArgument for bounds of another shape.
    """

    studentized: Studentized
    bounds: Real

    def __post_init__(self) -> None:
        require_shape("bounds", self.bounds, *self.studentized.rows.shape)

    def own(self, rejected: Signs, wanted: IntArray, n_largest: int) -> FloatArray:
        """Return for each wanted row the `n_largest`-th largest of its resamples, [n_wanted].

        `rejected` [n_entrants, n_entrants] says what is left, as for `Studentized.largest`.
        Raises InvalidArgument for `rejected` of another shape, and for more resamples than there are.
        Source: by definition; Fagin, Lotem & Naor 2003 for stopping at a bound.

        >>> each = Studentized.of(np.array([[1.0, -2.0], [-1.0, 2.0]]), np.array([[0.0, 2.0], [2.0, 0.0]]))
        >>> none = np.zeros((2, 2), dtype=np.int8)
        >>> LeftPairs(each, each.largest(none, np.arange(2))).own(none, np.arange(2), 2).round(6).tolist()
        [1.0, 1.0]
        """
        self._require(rejected, n_largest)
        quantiles, loop, order = np.empty(len(wanted)), compiled(_own), self._order
        among = (self._columns, self.studentized.factors, rejected, self.bounds)
        in_parts(len(wanted), 1, lambda part: loop(*among, wanted[part], order, n_largest, LANES, quantiles[part]))
        return quantiles

    def together(self, rejected: Signs, n_largest: int) -> float:
        """Return the `n_largest`-th largest of the resamples, each being the largest of all rows.

        Raises and source: as for `own`.

        >>> each = Studentized.of(np.array([[1.0, -2.0], [-1.0, 2.0]]), np.array([[0.0, 2.0], [2.0, 0.0]]))
        >>> none = np.zeros((2, 2), dtype=np.int8)
        >>> round(LeftPairs(each, each.largest(none, np.arange(2))).together(none, 1), 6)
        2.0
        """
        self._require(rejected, n_largest)
        kept, most = [-np.inf] * n_largest, self.bounds.max(axis=0)
        for resample in np.argsort(-most).tolist():
            if most[resample] <= kept[0]:
                break
            heappushpop(kept, self._largest_in(rejected, resample))
        return kept[0]

    def _largest_in(self, rejected: Signs, resample: int) -> float:
        """Return the largest of what is left in one resample: row by row, the one with the largest bound first."""
        column, bounds = self._columns[resample, : len(self.bounds)], np.ascontiguousarray(self.bounds[:, resample])
        return float(compiled(_largest)(column, self.studentized.factors, rejected, bounds, np.argsort(-bounds)))

    @cached_property
    def _columns(self) -> Real:
        """Return the deviations by resample, each padded with zeros to whole lanes."""
        n_entrants, n_resamples = self.bounds.shape
        columns = np.zeros((n_resamples, -(-n_entrants // LANES) * LANES), dtype=self.studentized.rows.dtype)
        columns[:, :n_entrants] = self.studentized.rows.T
        return columns

    @cached_property
    def _order(self) -> NDArray[np.int32]:
        """Return the resamples of each row, the one with the largest bound first."""
        order = np.empty(self.bounds.shape, dtype=np.int32)

        def sort(part: slice) -> None:
            order[part] = np.argsort(-self.bounds[part], axis=1)

        in_parts(len(order), 1, sort)
        return order

    def _require(self, rejected: Signs, n_largest: int) -> None:
        n_entrants, n_resamples = self.bounds.shape
        require_shape("rejected", rejected, n_entrants, n_entrants)
        require_count("n_largest", n_largest)
        require_count("the number of resamples", n_resamples, least=n_largest)


def _largest(column: Real, factors: Real, rejected: Signs, bounds: Real, order: IntArray) -> float:
    largest = -np.inf
    for first in order:
        if bounds[first] <= largest:
            break
        here = column[first]
        for second in range(len(column)):
            value, sign = (here - column[second]) * factors[first, second], rejected[first, second]
            value = abs(value) if sign == 0 else -value if sign > 0 else value
            largest = value if value > largest else largest
    return largest


def _own(
    columns: Real,
    factors: Real,
    rejected: Signs,
    bounds: Real,
    wanted: IntArray,
    order: NDArray[np.int32],
    n_largest: int,
    n_lanes: int,
    quantiles: FloatArray,
) -> None:
    n_entrants, n_padded = len(factors), columns.shape[1]
    # A difference is multiplied with both; twice the same where one direction is left.
    up, down = np.zeros(n_padded, dtype=factors.dtype), np.zeros(n_padded, dtype=factors.dtype)
    lanes = np.empty(n_lanes, dtype=factors.dtype)
    for place in range(len(wanted)):
        first = wanted[place]
        for second in range(n_entrants):
            factor, sign = factors[first, second], rejected[first, second]
            up[second] = -factor if sign > 0 else factor
            down[second] = factor if sign < 0 else -factor
        kept = np.full(n_largest, -np.inf)
        for resample in order[first]:
            if bounds[first, resample] <= kept[0]:
                break
            column = columns[resample]
            here = column[first]
            lanes[:] = -np.inf
            for start in range(0, n_padded, n_lanes):
                others, ups, downs = column[start:][:n_lanes], up[start:][:n_lanes], down[start:][:n_lanes]
                for lane in range(len(lanes)):
                    difference = here - others[lane]
                    one, other = difference * ups[lane], difference * downs[lane]
                    value = one if one > other else other
                    lanes[lane] = value if value > lanes[lane] else lanes[lane]
            half = n_lanes // 2
            while half > 0:  # the largest of all, again several at once
                for lane in range(half):
                    lanes[lane] = lanes[lane + half] if lanes[lane + half] > lanes[lane] else lanes[lane]
                half //= 2
            largest = lanes[0]
            at = 0  # the kept are in ascending order
            while at + 1 < n_largest and kept[at + 1] < largest:
                kept[at] = kept[at + 1]
                at += 1
            kept[at] = largest if largest > kept[at] else kept[at]
        quantiles[place] = kept[0]
