"""Intervals in closed form, tagged as the glossary tags them: Wilson [W], Hanley–McNeil [H], logistic [L], χ² [X2].

Pure. Each returns (low, high), or None where it is not defined.
"""

import math
from statistics import NormalDist

from scipy.special import expit
from scipy.stats import beta, chi2

Interval = tuple[float, float] | None
ROUNDING = 1e-12
YDF_LABEL = "Clopper–Pearson, 90% two-sided"


def wilson(n_right: float, n_examples: float, level: float) -> Interval:
    """Return the Wilson score interval [W] of a share. Source: Wilson 1927; Agresti & Coull 1998."""
    if n_examples <= 0:
        return None
    z, share = _z(level), n_right / n_examples
    middle = (share + z * z / (2 * n_examples)) / (1 + z * z / n_examples)
    reach = z * math.sqrt(share * (1 - share) / n_examples + z * z / (4 * n_examples**2)) / (1 + z * z / n_examples)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def clopper_pearson_ydf(n_right: float, n_examples: float) -> Interval:
    """Return what YDF prints as "[W]": Clopper–Pearson with 5 % in each tail, so a two-sided 90 % interval."""
    if n_examples <= 0:
        return None
    low = float(beta.ppf(0.05, n_right, n_examples - n_right + 1)) if n_right > 0 else 0.0
    high = float(beta.ppf(0.95, n_right + 1, n_examples - n_right)) if n_right < n_examples else 1.0
    return low, high


def hanley_mcneil(area: float, n_positive: float, n_negative: float, level: float) -> Interval:
    """Return the interval [H] of an AUC; near one its upper end can pass one, as YDF's does.

    Source: Hanley & McNeil 1982, equations 1 and 2.
    """
    if n_positive <= 0 or n_negative <= 0:
        return None
    q1, q2 = area / (2 - area), 2 * area * area / (1 + area)
    variance = area * (1 - area) + (n_positive - 1) * (q1 - area**2) + (n_negative - 1) * (q2 - area**2)
    reach = _z(level) * math.sqrt(max(0.0, variance / (n_positive * n_negative)))
    return area - reach, area + reach


def logistic(area: float, n_positive: float, level: float) -> Interval:
    """Return the interval [L] of a PR-AUC on the logit scale; None at 0 and 1, up to rounding: there is no logit.

    Source: Boyd, Eng & Page 2013, section 5.
    """
    if n_positive <= 0 or not ROUNDING < area < 1.0 - ROUNDING:
        return None
    middle = math.log(area / (1 - area))
    reach = _z(level) / math.sqrt(n_positive * area * (1 - area))
    return float(expit(middle - reach)), float(expit(middle + reach))


def chi_squared(rmse: float, n_examples: int, level: float) -> Interval:
    """Return the interval [X2] of a root mean squared error of normal residuals, with n degrees of freedom."""
    if n_examples <= 0:
        return None
    tail = (1 - level) / 2
    low, high = (rmse * math.sqrt(n_examples / float(chi2.ppf(q, n_examples))) for q in (1 - tail, tail))
    return low, high


def _z(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)
