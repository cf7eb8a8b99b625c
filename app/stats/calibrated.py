"""Calibrated intervals: those whose simulated coverage, in docs/statistics.md, is close to their level.

Called by the ranking methods and the kinds, which show them beside each system's own interval; pure. A number with its
standard error is a `Spread` (`app.stats.spreads`); a spread and the range of the number give an interval.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.stats.arrays import BoolArray, FloatArray
from app.stats.calibrated_forms import Ends, effective_wilson, positive_mean, skewed_t
from app.stats.checks import require_count, require_level, require_shape, require_weights, require_within
from app.stats.spreads import Range, Spread

ROUNDING = 1e-9
NARROWEST = 1e-13
"""Least width relative to the number: that of a mean of equal values is its rounding, and not their spread."""
MIN_UNITS = 2
FEW_UNITS = 8
"""With fewer units than this, a board adds a sentence on what such an interval can be trusted for."""
WILSON, GAMMA, STUDENT = "wilson_neff", "gamma", "student_skew"
TOO_FEW_UNITS, ALL_EQUAL = "too_few_units", "all_equal"


@dataclass(frozen=True)
class Calibrated:
    """An interval in the unit of its number, the method, and the number of units; if there is none, the reason.

    >>> Calibrated(0.2, 0.7, WILSON, 5.0).reason is None
    True
    """

    low: float | None
    high: float | None
    how: str | None
    n_units: float
    reason: str | None = None


def intervals(spread: Spread, within: Range, level: float) -> Ends:
    """Return the ends [...] of the intervals of spreads, given the range of the numbers; NaN where there is none.

    A range with two ends gives Wilson's interval, one with a single end a gamma interval, one without ends Student's;
    the last two are adjusted for skewness. No interval reaches outside the range, and none has zero width.
    Raises InvalidArgument for a level outside (0, 1), and for points outside the range.
    Source: `app.stats.calibrated_forms`; chosen by `bench.interval_coverage`, docs/statistics.md.

    >>> from app.stats.spreads import mean_spread
    >>> right = mean_spread(np.ones(20))
    >>> [round(float(end), 3) for end in intervals(right, Range(0.0, 1.0), 0.95)]
    [0.839, 1.0]
    """
    require_level(level)
    _require_inside(spread.point, within)
    ends = _ends(spread, within, level)
    is_none = _is_too_few(spread, within) | ~(ends[1] - ends[0] > NARROWEST * abs(spread.point))
    return np.where(is_none, np.nan, ends[0]), np.where(is_none, np.nan, ends[1])


def calibrate(spread: Spread, within: Range, level: float) -> Calibrated:
    """Return the interval of one spread, whose fields are single numbers, with the name of the method.

    Raises InvalidArgument as `intervals` does.
    Source: `intervals`.

    >>> from app.stats.spreads import SHARE, mean_spread
    >>> wilson = calibrate(mean_spread(np.array([1.0] * 18 + [0.0] * 2)), SHARE, 0.95)
    >>> wilson.how, round(wilson.low or 0, 3), round(wilson.high or 0, 3)
    ('wilson_neff', 0.675, 0.975)
    >>> calibrate(mean_spread(np.ones(1)), SHARE, 0.95).reason
    'too_few_units'
    """
    n_units = float(spread.n_units)
    if bool(_is_too_few(spread, within)):
        return Calibrated(None, None, None, n_units, TOO_FEW_UNITS)
    low, high = (float(end) for end in intervals(spread, within, level))
    if np.isnan(low) or np.isnan(high):
        return Calibrated(None, None, None, n_units, ALL_EQUAL)
    has_end = np.isfinite(within.low) or np.isfinite(within.high)
    return Calibrated(low, high, WILSON if within.is_bounded else GAMMA if has_end else STUDENT, n_units)


def over_parts(
    points: FloatArray, intervals: Sequence[Calibrated], weights: FloatArray, leans: FloatArray | None = None
) -> Calibrated:
    """Return the interval of Σ weight × point over independent parts [n_parts], from the interval of each.

    There is none where a part has none; the reason is that part's. No weight may be negative. `leans` [n_parts, 2] is
    the bias of each point, how far it lies below and above its true value on average: unlike noise, bias does not
    average out over parts.
    Raises InvalidArgument for no part, for arrays of different lengths, and for a negative weight or bias.
    Source: Zou & Donner 2008, Construction of confidence limits about effect measures (MOVER), equation 4.

    >>> parts = [Calibrated(0.4, 0.8, WILSON, 5.0), Calibrated(0.2, 0.6, WILSON, 5.0)]
    >>> both = over_parts(np.array([0.7, 0.5]), parts, np.array([0.5, 0.5]))
    >>> round(both.low or 0, 4), round(both.high or 0, 4)
    (0.3879, 0.6707)
    """
    require_count("the number of parts", len(intervals))
    require_shape("points", points, len(intervals))
    require_shape("weights", weights, len(intervals))
    require_weights("weights", weights)
    n_units = float(sum(part.n_units for part in intervals))
    lows = [part.low for part in intervals if part.low is not None]
    highs = [part.high for part in intervals if part.high is not None]
    if len(lows) < len(intervals) or len(highs) < len(intervals):
        return Calibrated(None, None, None, n_units, next(part.reason for part in intervals if part.low is None))
    if len(intervals) == 1 and weights[0] == 1.0:
        return intervals[0]
    middle = float(weights @ points)
    below, above = (float(np.linalg.norm(weights * (points - np.array(ends)))) for ends in (lows, highs))
    if leans is not None:
        require_shape("leans", leans, len(intervals), 2)
        require_within("leans", leans, 0.0, np.inf)
        above, below = above + float(weights @ leans[:, 0]), below + float(weights @ leans[:, 1])
    hows = dict.fromkeys(part.how for part in intervals)
    return Calibrated(middle - below, middle + above, " + ".join(str(how) for how in hows), n_units)


def _is_too_few(spread: Spread, within: Range) -> BoolArray:
    """Say where there are too few units to see a spread; if one unit has all the weight, there is only one.

    A unit with most of the weight is near the weighted mean, so the spread says too little. Between two ends of a range
    the number of units alone keeps an interval wide; elsewhere they have to be worth two.
    """
    least = 1.0 + ROUNDING if within.is_bounded else MIN_UNITS - ROUNDING
    too_few: BoolArray = (spread.df < 1) | (spread.n_units <= least)
    return too_few


def _ends(spread: Spread, within: Range, level: float) -> Ends:
    if within.is_bounded:
        width = within.high - within.low
        share = np.clip((spread.point - within.low) / width, 0.0, 1.0)
        numbers = (share, spread.believed / width, spread.skewness, spread.n_units, spread.df)
        low, high = effective_wilson(*numbers, level, support=spread.support)
        return within.low + width * low, within.low + width * high
    if np.isfinite(within.low):
        numbers = (spread.point - within.low, spread.believed, spread.skewness, spread.n_units, spread.df)
        above = positive_mean(*numbers, level, unseen=spread.unseen)
        return within.low + above[0], within.low + above[1]
    if np.isfinite(within.high):
        turned = replace(spread, point=-spread.point, skewness=-spread.skewness)
        low, high = _ends(turned, within.mirrored(), level)
        return -high, -low
    return skewed_t(spread.point, spread.believed, spread.skewness, spread.df, level, unseen=spread.unseen)


def _require_inside(point: FloatArray, within: Range) -> None:
    ends = [abs(end) for end in (within.low, within.high) if np.isfinite(end)]
    slack = ROUNDING * max(1.0, *ends, 1.0)
    require_within("the point", np.atleast_1d(point), within.low - slack, within.high + slack)
