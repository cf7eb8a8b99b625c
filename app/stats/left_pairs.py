"""Quantiles of the largest studentized difference over the hypotheses not yet rejected, mostly without computing it.

Called by `app.stats.rank_sets`; pure. The hypotheses left are a subset of all, so the maximum over all bounds theirs. A
quantile needs only the few largest resamples: they are computed roughly in the order of their bounds, until none left
can matter. A maximum stays one while its own hypothesis is left.
"""

from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappushpop

import numpy as np
from numpy.typing import NDArray

from app.stats.arrays import FloatArray, IntArray
from app.stats.checks import require_count, require_shape
from app.stats.compiled import compiled, in_parts
from app.stats.pair_loops import Real, Signs, Studentized

LANES = 256
"""Maxima kept in parallel lanes for vector instructions; a power of two."""
NEAR = 16
"""Rows per block, so that their factors stay in the processor's cache."""
N_BINS = 1024
"""Bins for sorting bounds."""
N_SEEN = 128
"""Resamples per row, those with the largest bounds, for which the last maximum is remembered."""


@dataclass
class LeftPairs:
    """Studentized differences, with each row's largest in every resample before any hypothesis is rejected.

    `bounds` is [n_entrants, n_resamples], from `Studentized.largest`. A quantile below 0 may come out as any number up
    to 0.
    Raises InvalidArgument for another shape.
    """

    studentized: Studentized
    bounds: Real
    _rejected: Signs | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        require_shape("bounds", self.bounds, *self.studentized.rows.shape)

    def own(self, rejected: Signs, wanted: IntArray, n_largest: int) -> FloatArray:
        """Return, for each wanted row, the `n_largest`-th largest over resamples of its maximum, [n_wanted].

        `rejected` [n_entrants, n_entrants] says which hypotheses are left, as in `Studentized.largest`.
        Raises InvalidArgument for `rejected` of a different shape, and for `n_largest` outside 1 to n_resamples.
        Source: Romano & Wolf 2005 for the quantile; Fagin, Lotem & Naor 2003 for stopping at a bound.

        >>> each = Studentized.of(np.array([[1.0, -2.0], [-1.0, 2.0]]), np.array([[0.0, 2.0], [2.0, 0.0]]))
        >>> none = np.zeros((2, 2), dtype=np.int8)
        >>> LeftPairs(each, each.largest(none, np.arange(2))).own(none, np.arange(2), 2).round(6).tolist()
        [1.0, 1.0]
        """
        self._require(rejected, n_largest)
        quantiles, loop, (order, steps) = np.empty(len(wanted)), compiled(_own), self._order
        self._forget(rejected)
        among = (self._columns, self.bounds, order, steps, self._seen)

        def look(part: slice) -> None:
            for start in range(part.start, part.stop, NEAR):
                some = slice(start, min(start + NEAR, part.stop))
                ways = self._ways(rejected, wanted[some])
                loop(*among, ways, wanted[some], n_largest, LANES, quantiles[some])

        in_parts(len(wanted), 1, look)
        return quantiles

    def _ways(self, rejected: Signs, wanted: IntArray) -> Real:
        """Return the factors of the differences, [n_wanted, 2, n_padded]; both the same if one direction is left."""
        ways = np.zeros((len(wanted), 2, self._columns.shape[1]), dtype=self.bounds.dtype)
        compiled(_fill_ways)(self.studentized.factors, rejected, wanted, ways)
        return ways

    def _forget(self, rejected: Signs) -> None:
        """Drop the remembered maxima that may no longer hold, given what is rejected now."""
        before, self._rejected, loop = self._rejected, rejected, compiled(_forget)
        if before is not None:
            among = (self.studentized.rows, self.studentized.factors, rejected, before, self._order[0], self._seen)
            in_parts(len(rejected), 1, lambda part: loop(*among, part.start, part.stop))

    @cached_property
    def _seen(self) -> Real:
        """Return the remembered maxima, [n_entrants, N_SEEN + 1] by position in the order; inf if unknown."""
        return np.full((len(self.bounds), N_SEEN + 1), np.inf, dtype=self.bounds.dtype)

    def together(self, rejected: Signs, n_largest: int) -> float:
        """Return the `n_largest`-th largest over resamples of the largest difference of all rows.

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
        """Return the largest difference left in one resample, beginning with the row of the largest bound."""
        column, bounds = self._columns[resample, : len(self.bounds)], np.ascontiguousarray(self.bounds[:, resample])
        loop = compiled(_largest)
        return float(loop(column, self.studentized.factors, rejected, bounds, int(bounds.argmax())))

    @cached_property
    def _columns(self) -> Real:
        """Return the deviations, one row per resample, each padded with zeros to whole lanes."""
        n_entrants, n_resamples = self.bounds.shape
        columns = np.zeros((n_resamples, -(-n_entrants // LANES) * LANES), dtype=self.studentized.rows.dtype)
        columns[:, :n_entrants] = self.studentized.rows.T
        return columns

    @cached_property
    def _order(self) -> tuple[NDArray[np.int32], Real]:
        """Return each row's resamples, large bounds first, and by how much a later bound may exceed an earlier one."""
        order, steps = np.empty(self.bounds.shape, dtype=np.int32), np.empty(len(self.bounds), dtype=self.bounds.dtype)
        loop = compiled(_put_in_order)
        in_parts(len(order), 1, lambda part: loop(self.bounds[part], N_BINS, order[part], steps[part]))
        return order, steps

    def _require(self, rejected: Signs, n_largest: int) -> None:
        n_entrants, n_resamples = self.bounds.shape
        require_shape("rejected", rejected, n_entrants, n_entrants)
        require_count("n_largest", n_largest)
        require_count("the number of resamples", n_resamples, least=n_largest)


def _largest(column: Real, factors: Real, rejected: Signs, bounds: Real, begin: int) -> float:
    largest = -np.inf
    for place in range(-1, len(bounds)):
        first = begin if place < 0 else place
        if bounds[first] <= largest:
            continue
        here = column[first]
        for second in range(len(column)):
            value, sign = (here - column[second]) * factors[first, second], rejected[first, second]
            value = abs(value) if sign == 0 else -value if sign > 0 else value
            largest = value if value > largest else largest
    return largest


def _put_in_order(bounds: Real, n_bins: int, order: NDArray[np.int32], steps: Real) -> None:
    n_resamples = bounds.shape[1]
    bins, begins = np.empty(n_resamples, dtype=np.int32), np.empty(n_bins + 1, dtype=np.int32)
    for row in range(len(bounds)):
        highest, lowest = bounds[row, 0], bounds[row, 0]
        for resample in range(n_resamples):
            highest, lowest = max(highest, bounds[row, resample]), min(lowest, bounds[row, resample])
        span = highest - lowest
        scale = (n_bins - 1) / span if 0.0 < span < np.inf else 0.0
        steps[row] = 2.0 / scale if scale > 0.0 else np.inf  # twice the width of a bin, as places are rounded
        begins[:] = 0
        for resample in range(n_resamples):
            bins[resample] = np.int32((highest - bounds[row, resample]) * scale) if scale > 0.0 else 0
            begins[bins[resample] + 1] += 1
        for each in range(n_bins):
            begins[each + 1] += begins[each]
        for resample in range(n_resamples):
            order[row, begins[bins[resample]]] = resample
            begins[bins[resample]] += 1


def _forget(
    rows: Real,
    factors: Real,
    rejected: Signs,
    before: Signs,
    order: NDArray[np.int32],
    seen: Real,
    begin: int,
    end: int,
) -> None:
    n_places = min(seen.shape[1] - 1, order.shape[1])
    for first in range(begin, end):
        for second in range(len(factors)):
            sign, earlier = rejected[first, second], before[first, second]
            if sign == earlier:
                continue
            # One of two directions was rejected, so its maximum may be gone. Otherwise more may be left than before.
            lost = factors[first, second] if sign > 0 else -factors[first, second]
            for place in range(n_places):
                difference = rows[first, order[first, place]] - rows[second, order[first, place]]
                if earlier != 0 or difference * lost >= seen[first, place]:
                    seen[first, place] = np.inf


def _fill_ways(factors: Real, rejected: Signs, wanted: IntArray, ways: Real) -> None:
    for place in range(len(wanted)):
        for second in range(len(factors)):
            factor, sign = factors[wanted[place], second], rejected[wanted[place], second]
            ways[place, 0, second] = -factor if sign > 0 else factor
            ways[place, 1, second] = factor if sign < 0 else -factor


def _own(
    columns: Real,
    bounds: Real,
    order: NDArray[np.int32],
    steps: Real,
    seen: Real,
    ways: Real,
    wanted: IntArray,
    n_largest: int,
    n_lanes: int,
    quantiles: FloatArray,
) -> None:
    n_padded, unknown, lanes = columns.shape[1], seen.shape[1] - 1, np.empty(n_lanes, dtype=columns.dtype)
    for place in range(len(wanted)):
        first, up, down = wanted[place], ways[place, 0], ways[place, 1]
        kept = np.full(n_largest, -np.inf)
        for at in range(order.shape[1]):
            resample = order[first, at]
            if bounds[first, resample] + steps[first] <= kept[0]:
                break
            column, largest = columns[resample], seen[first, min(at, unknown)]
            if largest == np.inf:
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
            seen[first, min(at, unknown)] = largest if at < unknown else np.inf
            slot = 0  # the kept are in ascending order
            while slot + 1 < n_largest and kept[slot + 1] < largest:
                kept[slot] = kept[slot + 1]
                slot += 1
            kept[slot] = largest if largest > kept[slot] else kept[slot]
        quantiles[place] = kept[0]
