"""Closed-form intervals from a number, its standard error and the number of units behind it; pure.

Called by `app.stats.calibrated` and by `bench.interval_coverage`, which measures their coverage. Every argument but the
level is a number or an array of one common shape, [...] below, as are the ends (low, high); NaN where there is no
interval. Errors are standard errors in the unit of the number.
"""

import numpy as np
from scipy.special import chdtri, ndtri, stdtrit

from app.stats.arrays import FloatArray
from app.stats.checks import require_level

Ends = tuple[FloatArray, FloatArray]
FEWEST = 3.5
"""Fewest degrees of freedom of a mean: below it the upper end is too far away to be of use."""
MOST = 1e100
"""Most degrees of freedom: with a tiny error, the squared ratio of number to error would overflow."""
ROUNDING = 1e-13
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
    less, since a unit that fails altogether may not have been sampled yet (`_supported_trials`).
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
    varies = (error > 0) & (variance > ROUNDING)
    with np.errstate(divide="ignore", invalid="ignore"):
        trials = np.where(varies, variance / error**2, n_units)
        # Wilson's interval already has the skewness of binomial trials; up to five units, what the data add is noise.
        beyond = skewness - (1.0 - 2.0 * share) / np.sqrt(trials * variance)
        trusted = np.where(varies, np.clip(1.0 - (SKEWED_FROM / n_units) ** 2, 0.0, 1.0) * beyond, 0.0)
    quantile = np.where(varies, _t(df, level), ndtri((1.0 + level) / 2.0))
    below, above = _stretched(quantile, trusted, STRETCH)
    downward, upward = (
        _supported_trials(trials, error / np.maximum(rest, ROUNDING), n_units, support) if support > 0 else trials
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
