"""Intervals of bounded means that assume nothing but the range, and hold at every look: by betting.

Of units that are drawn independently one bets against every mean m that the truth might be: a share of the capital on
each unit being above m, or below. On average such capital does not grow if m is the truth, so it ever reaches 1 / ε
with a probability of ε at most. The interval holds the means at which it has not. The capital is a mixture over fixed
shares, so the order of units does not matter.
"""

import numpy as np

from app.stats.arrays import FloatArray, InvalidArgument, require_finite, require_level, require_shape, require_weights
from app.stats.spreads import Range

N_BETS = 16
BETS = np.sin(np.pi * (2 * np.arange(N_BETS) + 1) / (4 * N_BETS)) ** 2
"""Shares of the most that may be bet: evenly spaced quantiles of the arcsine distribution, which Cover 1991 chose."""

HALVINGS = 20
"""To a millionth of the range, outwards."""


def betting_interval(
    values: FloatArray, weights: FloatArray, within: Range, level: float
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the interval of each column's weighted mean, [n_columns], in the unit of the values.

    `values` are [n_units, n_columns], from `within.low` to `within.high`, both finite; NaN is refused. `weights`
    [n_units] say how much of a unit there is, such as its number of episodes: units of any size have the same mean.
    Raises InvalidArgument for arrays of other shapes, a value outside the range or not finite, a range without ends,
    weights that are negative or all zero, and a level outside (0, 1).
    Source: Waudby-Smith & Ramdas 2024, Estimating means of bounded random variables by betting, with the universal
    portfolio of Cover 1991 as the bets, each side at half of the error rate.

    >>> low, high = betting_interval(np.ones((5, 1)), np.ones(5), Range(0.0, 1.0), 0.95)
    >>> low.round(2).tolist(), high.tolist()
    ([0.38], [1.0])
    """
    require_level(level)
    require_shape("values", values, "[n_units]", values.shape[-1])
    require_finite("values", values)
    require_shape("weights", weights, len(values))
    require_weights("weights", weights)
    if not within.is_bounded or (values.size and (values.min() < within.low or values.max() > within.high)):
        raise InvalidArgument(f"within is {within.low:g} to {within.high:g}; expected ends that hold all values")
    if not weights.sum() > 0.0:
        raise InvalidArgument("weights are all zero; expected one above 0")
    width = within.high - within.low
    shares, sizes = (values - within.low) / width, weights / weights.max()
    low, high = _lowest(shares, sizes, (1.0 - level) / 2.0), 1.0 - _lowest(1.0 - shares, sizes, (1.0 - level) / 2.0)
    return within.low + width * low, within.low + width * high


def _lowest(shares: FloatArray, sizes: FloatArray, error_rate: float) -> FloatArray:
    """Return the mean below which the capital of bets on more has reached 1 / error_rate, [n_columns]."""
    low, high = np.zeros(shares.shape[1]), sizes @ shares / sizes.sum()
    stakes = BETS[:, None, None] * sizes[:, None]
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        gains = shares / np.maximum(middle, 1e-300) - 1.0
        with np.errstate(over="ignore"):
            capital = (1.0 + stakes * gains).prod(axis=1).mean(axis=0)
        is_beyond = capital >= 1.0 / error_rate
        low, high = np.where(is_beyond, middle, low), np.where(is_beyond, high, middle)
    return low
