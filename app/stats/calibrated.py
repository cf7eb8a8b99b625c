"""Calibrated intervals: those whose simulated coverage, in docs/statistics.md, is close to their level. A number with
its standard error is a `Spread` (`app.stats.spreads`); a spread and the range of the number give an interval.

Why: docs/adr/009-calibrated-intervals.md.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
import scipy
from scipy.special import chdtri, expit, ndtr, ndtri, stdtrit

from app.stats.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    require_count,
    require_finite,
    require_integers,
    require_level,
    require_number,
    require_shape,
    require_weights,
    require_within,
)
from app.stats.spreads import SHARE, Range, Spread, cluster_spread

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


Ends = tuple[FloatArray, FloatArray]


def intervals(spread: Spread, within: Range, level: float) -> Ends:
    """Return the ends [...] of the intervals of spreads, given the range of the numbers; NaN where there is none.

    A range with two ends gives Wilson's interval, one with a single end a gamma interval, one without ends Student's;
    the last two are adjusted for skewness. No interval reaches outside the range, and none has zero width.
    Raises InvalidArgument for a level outside (0, 1), and for points outside the range.
    Source: `app.stats.calibrated`; chosen by `bench.interval_coverage`, docs/statistics.md.

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


# Closed-form intervals from a number, its standard error and the number of units behind it; pure. Every argument but
# the level is a number or an array of one common shape, [...] below, as are the ends (low, high); NaN where there is
# no interval. Errors are standard errors in the unit of the number.

FEWEST = 3.5
"""Fewest degrees of freedom of a mean: below it the upper end is too far away to be of use."""

MOST = 1e100
"""Most degrees of freedom: with a tiny error, the squared ratio of number to error would overflow."""

FORM_ROUNDING = 1e-13
"""A variance p(1 − p) below this is rounding: the share is 0 or 1."""

STRETCH, UNBOUNDED_STRETCH = 1.5, 1.85
"""How much further than Student's an interval may reach on the side of the skew: within a range, and without one."""

UNSEEN_POWER = 1.4
"""For means of values from 0 on, that limit is multiplied by this power of `unseen`."""

SKEWED_FROM = 5.0

TAILS, UPPER_DEGREES = 1.25, 1.08
"""The power of the ratio of effective to nominal degrees of freedom, and the divisor of the upper end's."""

FEW_SQUARES, FEWEST_SQUARES, OF_EACH = 50.0, 6.0, 0.9
"""Most squares with fully shrunk tails; an upper end has at least OF_EACH × n degrees, or FEWEST_SQUARES."""


def effective_wilson(
    share: FloatArray,
    error: FloatArray,
    skewness: FloatArray,
    n_units: FloatArray,
    df: FloatArray,
    level: float,
    *,
    support: float = 0.0,
) -> Ends:
    """Return Wilson's interval of shares [...] within [0, 1], with the number of trials that the error implies.

    That number is share × (1 − share) / error², and `n_units` where the error is zero because all units are equal; the
    quantile is Student's with `df` degrees of freedom. `n_units` may be fractional, as with weights. Where `support` is
    above zero, the distance of a share from 0 or 1 must come from enough of the units; otherwise the trials count for
    less, since a unit that fails altogether may not have been sampled yet (`_supported_trials`). Both ends are finite.
    Raises InvalidArgument for a level outside (0, 1).
    Source: Wilson 1927; Korn & Graubard 1998, Confidence intervals for proportions with small expected numbers, for the
    effective number and the quantile of t.

    >>> four_of_five, all_five = (0.8, 0.2, -0.7, 5.0, 4.0), (1.0, 0.0, 0.0, 5.0, 4.0)
    >>> for numbers in (four_of_five, all_five):
    ...     [round(float(end), 3) for end in effective_wilson(*map(np.array, numbers), level=0.95)]
    [0.223, 0.982]
    [0.566, 1.0]
    >>> rare = (0.995, 0.003, 0.0, 16.0, 15.0)
    >>> for support in (0.0, 1.2):
    ...     ends = effective_wilson(*map(np.array, rare), level=0.95, support=support)
    ...     print([round(float(end), 3) for end in ends])
    [0.983, 0.999]
    [0.948, 0.999]
    """
    require_level(level)
    variance = np.clip(share * (1.0 - share), 0.0, None)
    varies = (error > 0) & (variance > FORM_ROUNDING)
    with np.errstate(divide="ignore", invalid="ignore"):
        trials = np.where(varies, variance / error**2, n_units)
        # Wilson's interval already has the skewness of binomial trials; up to five units, what the data add is noise.
        beyond = skewness - (1.0 - 2.0 * share) / np.sqrt(trials * variance)
        trusted = np.where(varies, np.clip(1.0 - (SKEWED_FROM / n_units) ** 2, 0.0, 1.0) * beyond, 0.0)
    quantile = np.where(varies, _t(df, level), ndtri((1.0 + level) / 2.0))
    below, above = _stretched(quantile, trusted, STRETCH)
    downward, upward = (
        _supported_trials(trials, error / np.maximum(rest, FORM_ROUNDING), n_units, support) if support > 0 else trials
        for rest in (1.0 - share, share)
    )
    # Where an end equals the share, rounding must not move it past the share.
    low = np.minimum(np.clip(_wilson(share, variance, downward, below, -1.0), 0.0, 1.0), share)
    return low, np.maximum(np.clip(_wilson(share, variance, upward, above, 1.0), 0.0, 1.0), share)


def _supported_trials(trials: FloatArray, relative: FloatArray, n_units: FloatArray, support: float) -> FloatArray:
    """Return how many trials the units count for at one end; `relative` is the error over the distance to it.

    The distance comes from about n / (1 + (n − 1) relative²) of the n units. From `support` × √n of them on, all trials
    count; below that their number falls, on a log scale, to one trial per unit, as for units that are all equal.
    Source: Kish 1965, section 8.2, for the number of units; the bound was chosen by `bench.interval_coverage`.
    """
    n_contributing = n_units / (1.0 + (n_units - 1.0) * relative**2)
    power = np.clip(n_contributing / (support * np.sqrt(n_units)), 0.0, 1.0)
    return np.where(trials > n_units, n_units ** (1.0 - power) * trials**power, trials)


def _wilson(
    share: FloatArray, variance: FloatArray, trials: FloatArray, quantile: FloatArray, side: float
) -> FloatArray:
    ratio = quantile**2 / trials
    end: FloatArray = (share + ratio / 2.0 + side * np.sqrt(ratio * (variance + ratio / 4.0))) / (1.0 + ratio)
    return end


def skewed_t(
    point: FloatArray,
    error: FloatArray,
    skewness: FloatArray,
    df: FloatArray,
    level: float,
    *,
    unseen: FloatArray | float = 1.0,
) -> Ends:
    """Return the union of Student's interval of numbers [...] and Hall's, which follows the skewness of the data.

    `skewness` is that of the number's sampling distribution: for a mean of n independent values, theirs over √n; it is
    corrected for small samples. `unseen` is the least reach, in multiples of Student's, to allow for outlying units
    that have not been sampled yet. NaN where the error is zero: a number without a range whose units are all equal has
    no interval.
    Raises InvalidArgument for a level outside (0, 1).
    Source: Hall 1992, On the removal of skewness by transformation, equation 2.3 with the quantile of t; Joanes & Gill
    1998, Comparing measures of sample skewness and kurtosis, G1; the limits of the reach were chosen by
    `bench.interval_coverage`.

    >>> ends = skewed_t(np.array(2.0), np.array(0.5), np.array(0.4), np.array(9.0), 0.95)
    >>> [round(float(end), 3) for end in ends]
    [0.869, 4.092]
    """
    require_level(level)
    return _about(point, error, _stretched(_t(df, level), _unbiased(skewness, df), UNBOUNDED_STRETCH, unseen))


def _unbiased(skewness: FloatArray, df: FloatArray) -> FloatArray:
    """Return the skewness corrected for small samples."""
    free = np.maximum(df, 2.0)
    unbiased: FloatArray = skewness * np.sqrt(free * (free + 1.0)) / (free - 1.0)
    return unbiased


def _about(point: FloatArray, error: FloatArray, reach: Ends) -> Ends:
    known = np.where(error > 0, error, np.nan)
    return point - known * reach[0], point + known * reach[1]


def positive_mean(
    mean: FloatArray,
    error: FloatArray,
    skewness: FloatArray,
    n_units: FloatArray,
    df: FloatArray,
    level: float,
    *,
    unseen: FloatArray | float = 1.0,
) -> Ends:
    """Return intervals of means [...] of values that are never negative: the union of Hall's interval and a gamma one.

    The gamma interval treats the mean as a scaled χ² with the degrees of freedom that its error implies, or `n_units`
    where the error is zero. NaN where the mean is zero. `unseen` is as in `skewed_t`.
    Raises InvalidArgument for a level outside (0, 1).
    Source: Fay & Feuer 1997, Confidence intervals for directly standardized rates, for the gamma; Hall 1992.

    >>> numbers = [np.array(number) for number in (2.0, 0.5, 0.0, 10.0, 9.0)]
    >>> [round(float(end), 3) for end in positive_mean(*numbers, level=0.95)]
    [0.869, 3.869]
    """
    require_level(level)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        degrees = np.where(error > 0, 2.0 * (mean / error) ** 2 / _inflation(df, level), n_units)
    low, high = _scaled_chi_squared(mean, np.clip(degrees, FEWEST, MOST), level)
    shown = np.where(np.asarray(unseen) > 1.0, _unbiased(skewness, df), skewness)
    straight = _about(mean, error, _stretched(_t(df, level), shown, STRETCH * unseen**UNSEEN_POWER, unseen))
    return np.clip(np.fmin(low, straight[0]), 0.0, None), np.fmax(high, straight[1])


def root_mean_square(mean_square: FloatArray, error: FloatArray, n_units: FloatArray, level: float) -> Ends:
    """Return intervals of root mean squares [...] from the mean squares and their standard errors.

    χ² with the degrees of freedom that the error implies, which for normal residuals is the number of examples. Heavier
    tails give fewer, and truly fewer than the sample shows, since the rare large residuals may not have been sampled
    yet. Up to fifty examples, and less beyond, both tails of χ² are taken smaller than the level asks, the lower one
    most, because widening the lower end costs least. NaN where the mean square is zero.
    Raises InvalidArgument for a level outside (0, 1).
    Source: Satterthwaite 1946 for the degrees of freedom; TAILS, UPPER_DEGREES and the rest by
    `bench.interval_coverage`.

    >>> numbers = [np.array(number) for number in (1.0, 0.2, 50.0)]
    >>> [round(float(end), 4) for end in root_mean_square(*numbers, level=0.95)]
    [0.7889, 1.2779]
    """
    require_level(level)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        share = np.where(error > 0, 2.0 * (mean_square / error) ** 2 / n_units, 1.0)
    shrunk = np.where(share < 1.0, np.minimum(share, 1.0) ** TAILS, share)
    most = n_units * (1.0 + (n_units / 50.0) ** 2)
    degrees = np.minimum(n_units * shrunk / _inflation(n_units - 1.0, level), most)
    fewest = np.clip(OF_EACH * n_units, FEWEST, FEWEST_SQUARES)
    hidden = np.minimum(1.0, FEW_SQUARES / n_units)
    low = _chi_squared_end(mean_square, np.maximum(degrees, FEWEST), (1.0 - level) / 2.0 * (1.0 - 0.8 * hidden))
    above = 1.0 - (1.0 - level) / 2.0 * (1.0 - 0.2 * hidden)
    high = _chi_squared_end(mean_square, np.maximum(degrees / UPPER_DEGREES, fewest), above)
    return np.sqrt(low), np.sqrt(high)


def _scaled_chi_squared(mean: FloatArray, degrees: FloatArray, level: float) -> Ends:
    tail = (1.0 - level) / 2.0
    return _chi_squared_end(mean, degrees, tail), _chi_squared_end(mean, degrees, 1.0 - tail)


def _chi_squared_end(mean: FloatArray, degrees: FloatArray, tail: FloatArray | float) -> FloatArray:
    end: FloatArray = np.where(mean > 0, mean, np.nan) * degrees / chdtri(degrees, tail)
    return end


def _inflation(df: FloatArray, level: float) -> FloatArray:
    """Return the factor by which a variance is inflated because it is itself estimated: (t / z)²."""
    inflation: FloatArray = (_t(df, level) / ndtri((1.0 + level) / 2.0)) ** 2
    return inflation


def _t(df: FloatArray, level: float) -> FloatArray:
    quantile: FloatArray = stdtrit(np.maximum(df, 1.0), (1.0 + level) / 2.0)
    return quantile


def _stretched(
    quantile: FloatArray, skewness: FloatArray, stretch: FloatArray | float, least: FloatArray | float = 1.0
) -> Ends:
    """Return the reach below and above in standard errors: at least `least` quantiles, and further where Hall's is."""
    fewest, most = least * quantile, np.maximum(stretch, least) * quantile
    below, above = _hall(quantile, skewness), -_hall(-quantile, skewness)
    return np.clip(below, fewest, most), np.clip(above, fewest, most)


def _hall(quantile: FloatArray, skewness: FloatArray) -> FloatArray:
    """Return Hall's inverse cubic transformation of the quantile: the quantile itself where there is no skewness."""
    skew = np.where(np.abs(skewness) > 1e-9, skewness, np.nan)
    bent = 3.0 / skew * (np.cbrt(1.0 + skew * quantile - skew**2 / 6.0) - 1.0)
    return np.where(np.isnan(skew), quantile, bent)


# Calibrated intervals of interquartile means and of quantiles over items in clusters; pure.
#
# Called when episodes are measured. A statistic of the middle can stay constant while the scores change: where many are
# tied, as with success or failure, and where a quarter of the seeds may collapse. So its interval is derived from
# intervals for the share above each score.

BAND, ORDER = "share_band", "order_statistics"

NO_TWO_SIDED = "no_two_sided_interval"

MOST_STEPS = 1000
"""Most scores at which the share above is bounded; of more, neighbours count as their mean."""

TURNS = (0.75, 0.25)
"""The shares above a score at which the interquartile mean stops rising with it, and begins to rise."""

MOST_HIDDEN = 1.0 + 2.0**0.5
"""Bound on the true bias, in multiples of the bias seen at an estimated share: near a turn, noise hides the rest."""

MOST_MISSED = 1.3
"""How often an interval may miss, in multiples of its nominal rate: nominally 95 % may cover 93.5 %."""


def calibrated_iqm(values: FloatArray, clusters: IntArray, *, within: Range, level: float) -> Calibrated:
    """Return the interval of the interquartile mean of items [n_items] in their `clusters`, in the items' unit.

    The interquartile mean is x₁ + Σ g(share above x) × (next x − x), g rising from 0 at a quarter to 1 at three
    quarters; the interval's ends are those of the shares. Where the whole middle half is surely at one score the
    interval has zero width, because no other value is compatible with the data: surely also if every cluster counts as
    one trial only, as those not sampled may be unlike the others. There is none with fewer than two clusters, nor where
    all scores are equal and the range is unknown.
    Raises InvalidArgument for no item, arrays of different lengths, values that are not finite or outside the range.
    Source: the mean is monotone in the survival function, so the ends of a band of it map to those of the mean.

    >>> right = np.array([1.0] * 9 + [0.0])
    >>> iqm = calibrated_iqm(right, np.arange(10) // 2, within=SHARE, level=0.95)
    >>> iqm.how, round(iqm.low or 0, 3), iqm.high
    ('share_band', 0.229, 1.0)
    """
    require_level(level)
    _require_items(values, clusters)
    n_clusters = len(np.unique(clusters))
    if n_clusters < MIN_UNITS:
        return Calibrated(None, None, None, float(n_clusters), TOO_FEW_UNITS)
    return _Steps(_in_steps(values), clusters, within).iqm(level)


def iqm_lean(values: FloatArray, clusters: IntArray, *, within: Range) -> tuple[float, float]:
    """Return the one-sided biases of an interquartile mean of items [n_items]: how far below, how far above the truth.

    It is x₁ + Σ g(share above x) × (next x − x), and g stops rising at three quarters: near there, an estimate of the
    share that is too low lowers the mean, and one that is too high does not raise it. Averaging over many tasks does
    not remove that. The result is the bias at the estimated share, with normal noise, times 1 + √2, which bounds it
    whatever the true share. Zero for fewer than two clusters.
    Raises InvalidArgument as `calibrated_iqm` does.
    Source: E(Z − |Z′|)₊ = (√2 − 1) E(Z)₊ for independent standard normal Z, Z′, which gives the factor.

    >>> below, above = iqm_lean(np.array([1.0] * 15 + [0.0] * 5), np.arange(20), within=SHARE)
    >>> round(below, 3), round(above, 3)
    (0.191, 0.0)
    """
    _require_items(values, clusters)
    if len(np.unique(clusters)) < MIN_UNITS:
        return 0.0, 0.0
    return _Steps(_in_steps(values), clusters, within).lean()


def calibrated_quantile(values: FloatArray, clusters: IntArray, q: float, *, level: float) -> Calibrated:
    """Return the interval of the quantile q of items [n_items], in their unit; its ends are scores that occurred.

    Between the ends, the share of items at most as large cannot be distinguished from q. With few clusters a quantile
    near 0 or 1 has no such end, and a maximum (q = 1) or minimum never has: no interval then, with the reason.
    Raises InvalidArgument for q outside [0, 1], no item, arrays of different lengths, and values that are not finite.
    Source: Woodruff 1952, Confidence intervals for medians and other position measures.

    >>> median = calibrated_quantile(np.arange(16.0), np.arange(16), 0.5, level=0.95)
    >>> median.low, median.high, calibrated_quantile(np.arange(16.0), np.arange(16), 1.0, level=0.95).reason
    (3.0, 12.0, 'no_two_sided_interval')
    """
    require_level(level)
    require_number("q", q, 0.0, 1.0)
    _require_items(values, clusters)
    distinct, n_clusters = np.unique(values), len(np.unique(clusters))
    if n_clusters < MIN_UNITS:
        return Calibrated(None, None, None, float(n_clusters), TOO_FEW_UNITS)
    above = _Steps(values, clusters, Range()).shares(level)
    at_most_low, at_most_high = 1.0 - above[1], 1.0 - above[0]
    reaches, leaves = np.flatnonzero(at_most_high >= q), np.flatnonzero(at_most_low > q)
    # If it is too likely that all clusters lie on one side of the quantile, no observed score can be an end.
    one_sided = q**n_clusters + (1.0 - q) ** n_clusters
    if one_sided > MOST_MISSED * (1.0 - level) or not len(leaves) or not len(reaches):
        return Calibrated(None, None, None, float(n_clusters), NO_TWO_SIDED)
    return Calibrated(float(distinct[reaches[0]]), float(distinct[leaves[0]]), ORDER, float(n_clusters))


def _in_steps(values: FloatArray) -> FloatArray:
    """Return scores [n_items] of which at most MOST_STEPS are distinct: neighbours are replaced by their mean."""
    distinct, place = np.unique(values, return_inverse=True)
    if len(distinct) <= MOST_STEPS:
        return values
    group = (np.arange(len(distinct)) * MOST_STEPS // len(distinct))[place]
    means: FloatArray = (np.bincount(group, values) / np.bincount(group))[group]
    return means


class _Steps:
    """The distinct scores, and how many items of each cluster lie above each of them."""

    def __init__(self, values: FloatArray, clusters: IntArray, within: Range) -> None:
        distinct, place = np.unique(values, return_inverse=True)
        names, cluster = np.unique(clusters, return_inverse=True)
        self._within, self._n_clusters = within, len(names)
        n_clusters = self._n_clusters
        self._is_constant = len(distinct) == 1
        cells = cluster * len(distinct) + place
        counts = np.bincount(cells, minlength=n_clusters * len(distinct))
        counts = counts.reshape(n_clusters, len(distinct)).astype(np.float64)
        self._sizes = counts.sum(axis=1)
        above = self._sizes[:, None] - np.cumsum(counts, axis=1)
        self._grid, self._above = self._extended(distinct, above)

    def shares(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the ends of the share above each score but the last of the grid, each [n_steps]."""
        low, high = intervals(self._spread(), SHARE, level)
        return low, high

    def iqm(self, level: float) -> Calibrated:
        """Return the interval of the interquartile mean."""
        if len(self._grid) == 1:
            return Calibrated(None, None, None, float(self._n_clusters), ALL_EQUAL)
        spread = self._spread()
        low, high = self._iqm_between(intervals(spread, SHARE, level))
        if low == high:
            none = np.zeros_like(spread.error)
            low, high = self._iqm_between(intervals(replace(spread, error=none, least=none), SHARE, level))
        return Calibrated(low, high, BAND, float(self._n_clusters))

    def _iqm_between(self, shares: Ends) -> tuple[float, float]:
        """Return the interquartile mean at the ends of the shares above each score."""
        low, high = (np.clip(2.0 * (ends[:-1] - 0.25), 0.0, 1.0) for ends in shares)
        steps = np.diff(self._grid)
        return float(self._grid[0] + steps @ low), float(self._grid[0] + steps @ high)

    def lean(self) -> tuple[float, float]:
        """Return the one-sided biases of the interquartile mean, below and above the truth."""
        if self._is_constant:
            return 0.0, 0.0
        spread = self._spread()
        below, above = (_lean_at(turn, spread.point[:-1], spread.believed[:-1]) for turn in TURNS)
        steps = np.diff(self._grid)
        return float(steps @ below), float(steps @ above)

    def _spread(self) -> Spread:
        totals = self._above.T
        return cluster_spread(totals, np.broadcast_to(self._sizes, totals.shape), totals)

    def _extended(self, distinct: FloatArray, above: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the grid and the counts above it; where all scores are equal, the ends of the range are added."""
        if not self._is_constant:
            return distinct, above
        only, grid, columns = float(distinct[0]), [float(distinct[0])], [above[:, 0]]
        if np.isfinite(self._within.low) and self._within.low < only:
            grid, columns = [self._within.low, *grid], [self._sizes, *columns]
        if np.isfinite(self._within.high) and self._within.high > only:
            grid, columns = [*grid, self._within.high], [*columns, np.zeros(len(self._sizes))]
        return np.array(grid), np.column_stack(columns)


def _lean_at(turn: float, share: FloatArray, error: FloatArray) -> FloatArray:
    """Return the mean shift that normal noise in the shares [n_steps] causes in g, which has its kink at `turn`."""
    known = np.where(error > 0.0, error, 1.0)
    away = np.abs(share - turn) / known
    lean: FloatArray = np.exp(-(away**2) / 2.0) / np.sqrt(2.0 * np.pi) - away * ndtr(-away)
    return np.where(error > 0.0, MOST_HIDDEN * 2.0 * error * np.maximum(lean, 0.0), 0.0)


def _require_items(values: FloatArray, clusters: IntArray) -> None:
    require_shape("values", values, "[n_items]")
    require_finite("values", values)
    require_shape("clusters", clusters, len(values))
    require_integers("clusters", clusters)


# Intervals in closed form, with the glossary's tags: Wilson [W], Hanley–McNeil [H], logistic [L], χ² [X2].
#
# Pure. Each returns (low, high) in the unit of its number, or None where it is not defined. Counts are weights of
# examples, which need not be whole; the level is inside (0, 1). NaN is refused, because an undefined number has no
# interval.

Interval = tuple[float, float] | None

CLOSED_ROUNDING = 1e-12

YDF_LABEL = "Clopper–Pearson, 90% two-sided"


def effective_number(weights: FloatArray) -> float:
    """Return the effective number of equally weighted examples, (Σ w)² / Σ w²; 0 where all weights are zero.

    `weights` are [n_examples]; multiplying all of them by a constant changes nothing.
    Raises InvalidArgument for a negative weight, and one that is not finite.
    Source: Kish 1965, Survey sampling, section 11.2: the n for which σ² / n is the variance of the weighted mean.

    >>> import numpy as np
    >>> (effective_number(np.ones(4)), round(effective_number(np.array([3.0, 1.0])), 6))
    (4.0, 1.6)
    """
    require_weights("weights", weights)
    largest = float(weights.max(initial=0.0))
    if not largest > 0.0:
        return 0.0
    scaled = weights / largest
    return float(scaled.sum() ** 2 / (scaled**2).sum())


def wilson(n_right: float, n_examples: float, level: float) -> Interval:
    """Return the Wilson score interval [W] of the share n_right / n_examples; None without an example.

    Raises InvalidArgument for a level outside (0, 1), a negative count, and n_right > n_examples.
    Source: Wilson 1927; Agresti & Coull 1998, section 1.

    >>> [round(end, 4) for end in wilson(8, 10, 0.95) or ()]
    [0.4902, 0.9433]
    """
    require_level(level)
    _require_counts(n_right, n_examples)
    if n_examples <= 0:
        return None
    z, share = _z(level), n_right / n_examples
    middle = (share + z * z / (2 * n_examples)) / (1 + z * z / n_examples)
    reach = z * math.sqrt(share * (1 - share) / n_examples + z * z / (4 * n_examples**2)) / (1 + z * z / n_examples)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def clopper_pearson_ydf(n_right: float, n_examples: float) -> Interval:
    """Return what YDF prints as "[W]": Clopper–Pearson with 5 % in each tail, so a two-sided 90 % interval.

    None without an example.
    Raises InvalidArgument for a negative count, and for n_right > n_examples.
    Source: Clopper & Pearson 1934; Agresti & Coull 1998, section 1, for the beta quantiles.

    >>> [round(end, 4) for end in clopper_pearson_ydf(8, 10) or ()]
    [0.4931, 0.9632]
    """
    _require_counts(n_right, n_examples)
    if n_examples <= 0:
        return None
    low = float(scipy.stats.beta.ppf(0.05, n_right, n_examples - n_right + 1)) if n_right > 0 else 0.0
    high = float(scipy.stats.beta.ppf(0.95, n_right + 1, n_examples - n_right)) if n_right < n_examples else 1.0
    return low, high


def hanley_mcneil(area: float, n_positive: float, n_negative: float, level: float) -> Interval:
    """Return the interval [H] of an AUC; as in YDF, its upper end can exceed one. None if only one class occurs.

    Raises InvalidArgument for a level outside (0, 1), an area outside [0, 1] by more than rounding, a negative count.
    Source: Hanley & McNeil 1982, equations 1 and 2.

    >>> [round(end, 4) for end in hanley_mcneil(0.8, 20, 30, 0.95) or ()]
    [0.6678, 0.9322]
    """
    require_level(level)
    _require_area(area)
    require_number("n_positive", n_positive, -CLOSED_ROUNDING)
    require_number("n_negative", n_negative, -CLOSED_ROUNDING * max(1.0, n_positive))
    if n_positive <= 0 or n_negative <= 0:
        return None
    q1, q2 = area / (2 - area), 2 * area * area / (1 + area)
    variance = area * (1 - area) + (n_positive - 1) * (q1 - area**2) + (n_negative - 1) * (q2 - area**2)
    reach = _z(level) * math.sqrt(max(0.0, variance / (n_positive * n_negative)))
    return area - reach, area + reach


def logistic(area: float, n_positive: float, level: float) -> Interval:
    """Return the interval [L] of a PR-AUC on the logit scale; None at 0 and 1, up to rounding, where no logit exists.

    Also None without a positive.
    Raises InvalidArgument for a level outside (0, 1), an area outside [0, 1] by more than rounding, and a negative
    count.
    Source: Boyd, Eng & Page 2013, Area under the precision-recall curve: the logit interval.

    >>> [round(end, 4) for end in logistic(0.8, 20, 0.95) or ()]
    [0.5722, 0.9229]
    """
    require_level(level)
    _require_area(area)
    require_number("n_positive", n_positive, -CLOSED_ROUNDING)
    if n_positive <= 0 or not CLOSED_ROUNDING < area < 1.0 - CLOSED_ROUNDING:
        return None
    middle = math.log(area / (1 - area))
    reach = _z(level) / math.sqrt(n_positive * area * (1 - area))
    return float(expit(middle - reach)), float(expit(middle + reach))


def chi_squared(rmse: float, n_examples: int, level: float) -> Interval:
    """Return the interval [X2] of a root mean squared error of normal residuals, with n degrees of freedom.

    In the unit of the error; None without an example.
    Raises InvalidArgument for a level outside (0, 1), a negative error, and a number of examples that is not whole.
    Source: Casella & Berger 2002, Statistical inference, section 9.2.2, the pivot n·RMSE²/σ² with a known mean of zero.

    >>> [round(end, 4) for end in chi_squared(1.0, 100, 0.95) or ()]
    [0.8785, 1.1607]
    """
    require_level(level)
    require_number("rmse", rmse, 0.0)
    require_count("n_examples", n_examples, least=0)
    if n_examples <= 0:
        return None
    tail = (1 - level) / 2
    low, high = (rmse * math.sqrt(n_examples / float(scipy.stats.chi2.ppf(q, n_examples))) for q in (1 - tail, tail))
    return low, high


def _z(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)


def _require_counts(n_right: float, n_examples: float) -> None:
    require_number("n_examples", n_examples, 0.0)
    require_number("n_right", n_right, 0.0, n_examples)


def _require_area(area: float) -> None:
    require_number("area", area, -CLOSED_ROUNDING, 1.0 + CLOSED_ROUNDING)
