"""Intervals in closed form, with the glossary's tags: Wilson [W], Hanley–McNeil [H], logistic [L], χ² [X2].

Pure. Each returns (low, high) in the unit of its number, or None where it is not defined. Counts are weights of
examples, which need not be whole; the level is inside (0, 1). NaN is refused, because an undefined number has no
interval.
"""

import math
from statistics import NormalDist

import scipy
from scipy.special import expit

from app.stats.arrays import FloatArray
from app.stats.checks import require_count, require_level, require_number, require_weights

Interval = tuple[float, float] | None
ROUNDING = 1e-12
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
    require_number("n_positive", n_positive, -ROUNDING)
    require_number("n_negative", n_negative, -ROUNDING * max(1.0, n_positive))
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
    require_number("n_positive", n_positive, -ROUNDING)
    if n_positive <= 0 or not ROUNDING < area < 1.0 - ROUNDING:
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
    require_number("area", area, -ROUNDING, 1.0 + ROUNDING)
