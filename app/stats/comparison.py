"""Companions to tests of two entrants: correction for multiple tests, and the sample size a test would need; pure."""

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from app.stats.arrays import FloatArray
from app.stats.checks import require_level, require_number

MOST_NEEDED = 10**12


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for multiple testing, in the same order; an empty list for an empty one.

    Raises InvalidArgument for a p-value outside [0, 1], or NaN: a test without a p-value must be left out of the
    family.
    Source: Holm 1979, A simple sequentially rejective multiple test procedure.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    for p_value in p_values:
        require_number("p_values", p_value, 0.0, 1.0)
    values = np.array(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    adjusted = np.empty(len(values))
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, np.arange(len(values), 0, -1) * values[order]))
    return adjusted.tolist()


def examples_needed(
    mean: float, deviation: float, level: float, power: float = 0.8, *, two_sided: bool = True
) -> int | None:
    """Return how many pairs are needed to detect a difference of this mean and deviation; None if the mean is zero.

    n = ((z_{1−α/2} + z_power) × deviation / mean)², with z_{1−α} for a one-sided test. Also None above MOST_NEEDED,
    which nobody could collect. Mean and deviation are in the same unit; n counts pairs.
    Raises InvalidArgument for a level or power outside (0, 1), a mean that is not finite, and a negative deviation.
    Source: Chow, Shao & Wang 2008, Sample size calculations in clinical research, section 3.1.

    >>> examples_needed(0.5, 1.0, 0.95)
    32
    """
    require_level(level)
    require_level(power)
    require_number("mean", mean)
    require_number("deviation", deviation, 0.0)
    factor = _factor(level, power, two_sided=two_sided)
    if factor * deviation >= math.sqrt(MOST_NEEDED) * abs(mean):
        return None
    return math.ceil((factor * deviation / mean) ** 2)


def examples_needed_of_all(
    means: FloatArray, deviations: FloatArray, level: float, power: float = 0.8, *, two_sided: bool = True
) -> FloatArray:
    """Return `examples_needed` for each mean and deviation, [n_pairs], with NaN for None.

    Both are in the same unit. Also NaN for a deviation of zero or NaN, which does not determine a sample size.
    Raises InvalidArgument for a level or power outside (0, 1).
    Source: as for `examples_needed`.

    >>> examples_needed_of_all(np.array([0.5, 0.5]), np.array([1.0, np.nan]), 0.95).tolist()
    [32.0, nan]
    """
    require_level(level)
    require_level(power)
    factor = _factor(level, power, two_sided=two_sided)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        is_shown = (deviations > 0.0) & ~(factor * deviations >= math.sqrt(MOST_NEEDED) * np.abs(means))
        return np.where(is_shown, np.ceil((factor * deviations / means) ** 2), np.nan)


def _factor(level: float, power: float, *, two_sided: bool) -> float:
    normal = NormalDist()
    return normal.inv_cdf((1 + level) / 2 if two_sided else level) + normal.inv_cdf(power)
