"""A registered claim about a mean, or about the difference of two: its calibrated interval, p-value and verdict.

`app.boards.claims` makes the values out of evidence. A claim is decided by the calibrated interval of what is drawn at
the top, seeds, tasks or families of tasks, and never by a percentile bootstrap. With few seeds of a bounded score the
verdict must also stand with one more seed at the end of the range that speaks against it: a seed that fails altogether
may not have been among so few.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal

import numpy as np

from app.stats.arrays import (
    FloatArray,
    IntArray,
    InvalidArgument,
    require_finite,
    require_level,
    require_number,
    require_shape,
    require_word,
)
from app.stats.calibrated import Calibrated, calibrate, over_parts
from app.stats.cluster import POWER, Verdict
from app.stats.spreads import Range, Spread, cluster_spread, family_spread

FEWEST_SEEDS = 35
"""With fewer seeds than this, a verdict must stand with one more seed that fails, or succeeds, altogether.

Of so many seeds one of which in ten fails altogether none has failed in 2.5 %: 0.9 ** 35. Where a claim is held to a
smaller error rate than that, because it is one of several, more seeds are needed: `Side.held_to`.
"""

ALONE = 0.025
"""The one-sided error rate of a claim that is held to no others."""

RARE = 1.0 / 10.0
"""How often a seed fails altogether that a verdict must not overlook."""

SUPPORT = 0.6
"""`Spread.support` of few seeds in a claim, half of a board's: they imagine a failing one instead (`bench.claims`)."""

Direction = Literal["greater", "less"]

Extremes = tuple[float, float]
"""The least and the greatest value that one more unit may have."""

ROUNDING = 1e-9

STEPS = 24
"""Halvings of the interval of a p-value: to 3 parts in 100 million."""


def _fewest_seeds(error_rate: float) -> float:
    """Return with how many seeds one that rarely fails is overlooked as rarely as `error_rate` says."""
    return FEWEST_SEEDS + math.log(error_rate / ALONE) / math.log(1.0 - RARE) - ROUNDING


@dataclass(frozen=True)
class Side:
    """The values of one side, or the paired differences of two, [n_values], with the unit of each.

    `within` is the range of the values. Units are seeds, or tasks, each value of which is all that is known of it.
    `extremes` is None where no further unit is imagined: without bounds, or of tasks. Those of paired
    differences depend on both sides' means, so they move with the mean of the differences.
    Raises InvalidArgument for no value, arrays of different lengths, and a value that is not finite.
    """

    values: FloatArray
    units: IntArray
    within: Range
    extremes: Extremes | None = None
    are_tasks: bool = False
    are_differences: bool = False

    def __post_init__(self) -> None:
        require_shape("values", self.values, "[n_values]")
        require_finite("values", self.values)
        require_shape("units", self.units, len(self.values))

    @property
    def point(self) -> float:
        """Return the mean of all values."""
        return float(self.values.mean())

    def held_to(self, error_rate: float) -> "Side":
        """Return the side, without `extremes` where so many seeds overlook one that rarely fails no more often."""
        return self if len(np.unique(self.units)) < _fewest_seeds(error_rate) else replace(self, extremes=None)

    def mirrored(self) -> "Side":
        """Return the side with each value negated."""
        extremes = None if self.extremes is None else (-self.extremes[1], -self.extremes[0])
        return replace(self, values=-self.values, within=self.within.mirrored(), extremes=extremes)

    def interval(self, level: float, further: float | None = None) -> Calibrated:
        """Return the calibrated interval of the mean, with one more unit at the value `further` where one is given."""
        spread = self.spread if further is None else self._spread(further)
        ends = (float(self.values.min()), float(self.values.max()))
        return calibrate(spread, self.within.holding(*ends), level)

    @property
    def spread(self) -> Spread:
        """Return the spread of the mean between units."""
        return self._spread(None)

    def _spread(self, further: float | None) -> Spread:
        place = np.unique(self.units, return_inverse=True)[1].reshape(-1)
        sizes = np.bincount(place).astype(np.float64)
        if self.are_tasks:
            return family_spread(self.values, place, float(sizes.sum() ** 2 / (sizes**2).sum()))
        totals, squares = (np.bincount(place, of).astype(np.float64) for of in (self.values, self.values**2))
        if further is not None:
            size = float(sizes.mean())
            sizes, totals = np.append(sizes, size), np.append(totals, size * further)
            squares = np.append(squares, size * further**2)
        spread = cluster_spread(totals, sizes, squares)
        return spread if self.extremes is None else replace(spread, support=SUPPORT)


@dataclass(frozen=True)
class Judged:
    """A verdict with the two-sided interval that decides it, which holds one more seed where `Side.extremes` has one.

    `reason` is `few_seeds` where the values alone, without that seed, would have had another verdict.
    """

    verdict: Verdict
    interval: Calibrated
    reason: Literal["few_seeds", "no_interval"] | None = None


def judge(sides: Sequence[Side], threshold: float, direction: Direction, level: float) -> Judged:
    """Return the verdict on "the mean, or first minus second of two sides, is at least (or at most) the threshold".

    Supported where the whole interval is at or beyond the threshold, not supported where all of it falls short,
    otherwise inconclusive. With `Side.extremes` it reaches as far as with one more seed at either of them. Threshold
    and interval have the unit and sign of the difference; two sides are independent.
    Raises InvalidArgument for no side or more than two, a threshold that is not finite, another direction, and a level
    outside (0, 1).
    Source: `app.stats.calibrated`; Zou & Donner 2008 for two sides; the further seed by `bench.claims`.

    >>> from app.stats.spreads import SHARE
    >>> side = Side(np.tile([1.0, 1.0, 1.0, 0.0], 20), np.repeat(np.arange(20), 4), SHARE)
    >>> judge([side], 0.5, "greater", 0.95).verdict, judge([side], 0.7, "greater", 0.95).verdict
    ('supported', 'inconclusive')
    """
    _require(sides, threshold, direction)
    alone = _difference(sides, level, {})
    if alone.low is None or alone.high is None:
        return Judged("inconclusive", alone, "no_interval")
    mirrored = [side.mirrored() for side in sides]
    decides = replace(alone, low=_lowest(sides, level), high=-_lowest(mirrored, level))
    verdict = _verdict(decides, threshold, direction)
    return Judged(verdict, decides, None if verdict == _verdict(alone, threshold, direction) else "few_seeds")


def p_value(sides: Sequence[Side], threshold: float, direction: Direction) -> float | None:
    """Return the least one-sided error rate at which `judge` supports the claim, 1 if there is none up to a quarter.

    An error rate of p is `judge` at the level 1 − 2p. Of seeds with `Side.extremes` the further one is imagined at each
    error rate that so few of them cannot be held to (`Side.held_to`).
    None without an interval. Raises InvalidArgument as `judge` does. Source: the inversion of `judge`.

    >>> from app.stats.spreads import SHARE
    >>> side = Side(np.tile([1.0, 1.0, 1.0, 0.0], 20), np.repeat(np.arange(20), 4), SHARE)
    >>> p_value([side], 0.5, "greater") < 0.001, p_value([side], 0.9, "greater")
    (True, 1.0)
    """
    turned, least = _as_greater(sides, threshold, direction)
    if _difference(sides, 0.5, {}).low is None:
        return None
    low, high = 1e-9, 0.25

    def holds(error_rate: float) -> bool:
        held = [side.held_to(error_rate) for side in turned]
        return _lowest(held, 1.0 - 2.0 * error_rate) >= least

    if not holds(high):
        return 1.0
    # Met exactly: just below it so many seeds may not do, where a further one is imagined.
    high = ALONE if holds(ALONE) else high
    for _ in range(STEPS):
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def detectable(sides: Sequence[Side], threshold: float, direction: Direction, level: float) -> float | None:
    """Return by how much the truth must lie beyond the threshold for `judge` to support the claim with 80 % power.

    In the unit of the values: these are moved to where the claim is supported although the difference comes out z(0.8)
    standard errors too small, and stay within their range. None where even seeds that are all at its best end would not
    do, and without an interval.
    Raises InvalidArgument as `judge` does. Source: Bloom 1995, Minimum detectable effects, under the rule of `judge`.

    >>> from app.stats.spreads import SHARE
    >>> two = [Side(np.tile([0.7, 0.8, 0.9, 0.8], n), np.arange(4 * n), SHARE, (0.0, 1.0)) for n in (1, 4)]
    >>> found = [detectable([side], 0.5, "greater", 0.95) for side in two]
    >>> [None if each is None else round(each, 2) for each in found]
    [None, 0.21]
    """
    turned, least = _as_greater(sides, threshold, direction)
    width = max(side.within.high - side.within.low for side in sides)

    def beyond(shift: float) -> float | None:
        moved = [_moved(side, way * shift) for side, way in zip(turned, (1.0, -1.0), strict=False)]
        error = float(np.linalg.norm([side.spread.believed for side in moved]))
        low = _lowest(moved, level) - NormalDist().inv_cdf(POWER) * error
        if low < least:
            return None
        return sum(way * side.point for side, way in zip(moved, (1.0, -1.0), strict=False)) - least

    if not np.isfinite(width):  # The interval moves with values that may be anything.
        shift = least - _lowest(turned, level)
        shift += NormalDist().inv_cdf(POWER) * float(np.linalg.norm([side.spread.believed for side in turned]))
        return beyond(shift * (1.0 + ROUNDING) + ROUNDING) if np.isfinite(shift) else None
    found, low, high = beyond(width), -width, width
    for _ in range(STEPS if found is not None else 0):
        middle = (low + high) / 2.0
        here = beyond(middle)
        low, high, found = (middle, high, found) if here is None else (low, middle, here)
    return found


def fewest_detecting(sides: Sequence[Side], threshold: float, direction: Direction, level: float) -> int | None:
    """Return the fewest seeds, each without a fault, that support the claim.

    Tried up to as many as `Side.held_to` imagines no further seed beside; None where even so many do not support it.
    Raises InvalidArgument as `judge` does. Source: `judge`.

    >>> from app.stats.spreads import SHARE
    >>> fewest_detecting([Side(np.ones(5), np.arange(5), SHARE, (0.0, 1.0))], 0.2, "greater", 0.95)
    4
    """
    turned, least = _as_greater(sides, threshold, direction)
    require_level(level)
    error_rate = (1.0 - level) / 2.0
    for n in range(2, math.ceil(_fewest_seeds(error_rate)) + 1):
        ends = zip(turned, (turned[0].within.high, turned[-1].within.low), strict=False)
        faultless = [replace(side, values=np.full(n, end), units=np.arange(n)) for side, end in ends]
        # Where two sides lack nothing, a seed on which one of them fails altogether has no difference.
        faultless = [replace(side, extremes=(0.0, 0.0)) if side.are_differences else side for side in faultless]
        faultless = [side.held_to(error_rate) for side in faultless]
        if _lowest(faultless, level) >= least:
            return n
    return None


def _moved(side: Side, shift: float) -> Side:
    """Return a side with its values moved within their range.

    Of paired differences what the two sides lack to the ends of their range shrinks alike, and the extremes with it.
    """
    values = np.clip(side.values + shift, side.within.low, side.within.high)
    moved = replace(side, values=values)
    if side.extremes is None or not side.are_differences:
        return moved
    low, high = side.within.low, side.within.high
    share = (high - moved.point) / (high - side.point) if side.point < high else 1.0
    return replace(moved, extremes=(max(low, share * side.extremes[0]), side.extremes[1]))


def holm_error_rates(p_values: Sequence[float | None], n_claims: int, alpha: float) -> list[float]:
    """Return the one-sided error rate that each claim is held to, among `n_claims` of a family.

    A claim holds where its p-value is at most its error rate. `alpha` is that of the family. Claims of which no p-value
    is given (None) count as not holding. Adjusted p-values instead: `app.stats.pairs.holm_adjusted`.
    Source: Holm 1979, A simple sequentially rejective multiple test procedure.

    >>> [round(each, 4) for each in holm_error_rates([0.001, 0.02, 0.5], 3, 0.05)]
    [0.0167, 0.025, 0.05]
    """
    known = sorted((p, at) for at, p in enumerate(p_values) if p is not None)
    n_left = max(n_claims, len(p_values))
    error_rates = [alpha / n_left] * len(p_values)
    for p, at in known:
        error_rates[at] = alpha / n_left
        if p > error_rates[at]:
            for _, later in known[known.index((p, at)) :]:
                error_rates[later] = alpha / n_left
            break
        n_left -= 1
    return error_rates


def _require(sides: Sequence[Side], threshold: float, direction: Direction) -> None:
    if not 1 <= len(sides) <= 2:
        raise InvalidArgument(f"sides are {len(sides)}; expected one, or two of which the second is subtracted")
    require_number("threshold", threshold)
    require_word("direction", direction, ("greater", "less"))


def _as_greater(sides: Sequence[Side], threshold: float, direction: Direction) -> tuple[Sequence[Side], float]:
    _require(sides, threshold, direction)
    return (sides, threshold) if direction == "greater" else ([side.mirrored() for side in sides], -threshold)


def _verdict(interval: Calibrated, threshold: float, direction: Direction) -> Verdict:
    ends = [end for end in (interval.low, interval.high) if end is not None]
    if all(end >= threshold if direction == "greater" else end <= threshold for end in ends):
        return "supported"
    return "inconclusive" if min(ends) <= threshold <= max(ends) else "not supported"


def _lowest(sides: Sequence[Side], level: float) -> float:
    """Return the low end of the interval, and with the worst further unit of either side, whichever is lower."""
    lows = [_difference(sides, level, {}).low]
    for at, side in enumerate(sides):
        if side.extremes is not None:
            lows.append(_difference(sides, level, {at: side.extremes[at]}).low)
    return min(-np.inf if low is None else low for low in lows)


def _difference(sides: Sequence[Side], level: float, further: dict[int, float]) -> Calibrated:
    """Return the interval of the first side's mean, less the second's."""
    first = sides[0].interval(level, further.get(0))
    if len(sides) == 1:
        return first
    second = sides[1].mirrored()
    taken = second.interval(level, -further[1] if 1 in further else None)
    # The point moves with the further unit; the interval of a difference is built around the means of its sides.
    points = np.array([_centre(sides[0], further.get(0)), _centre(second, -further[1] if 1 in further else None)])
    return over_parts(points, [first, taken], np.ones(2))


def _centre(side: Side, further: float | None) -> float:
    return side.point if further is None else float(side._spread(further).point)
