"""Errors of predicted values, and how they vary with label and prediction; pure. Arrays are [n_examples] in the unit
of the labels, `weights` count examples. What is undefined is None, or NaN inside an array. No argument holds NaN or
infinity: missing predictions have been filled in before.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from app.stats.arrays import (
    FloatArray,
    IntArray,
    InvalidArgument,
    require_count,
    require_finite,
    require_shape,
    require_weights,
    share,
)

FENCE = 3.0


def root_mean_squared_error(predicted: FloatArray, labels: FloatArray, weights: FloatArray) -> float | None:
    """Return √(weighted mean of squared residuals); lower is better. None without an example of positive weight.

    Raises InvalidArgument for arrays of different lengths, numbers that are not finite, and a negative weight.
    Source: `sklearn.metrics.root_mean_squared_error`, with `sample_weight`.

    >>> root_mean_squared_error(np.array([1.0, 2.0]), np.array([1.0, 4.0]), np.ones(2))
    1.4142135623730951
    """
    _require_values(weights, predicted=predicted, labels=labels)
    mean = _mean((predicted - labels) ** 2, weights)
    return None if mean is None else float(np.sqrt(mean))


def default_rmse(labels: FloatArray, weights: FloatArray) -> float | None:
    """Return the error of always predicting the weighted mean label; None without an example of positive weight.

    Raises InvalidArgument as `root_mean_squared_error` does.
    Source: YDF 0.16, default RMSE: the labels' standard deviation with divisor n.

    >>> default_rmse(np.array([1.0, 3.0]), np.ones(2))
    1.0
    """
    _require_values(weights, labels=labels)
    mean = _mean(labels, weights)
    return None if mean is None else root_mean_squared_error(np.full(len(labels), mean), labels, weights)


@dataclass(frozen=True)
class Bins:
    """A histogram or conditional plot, by bin: centre, weight, mean, and number of examples with positive weight."""

    centre: FloatArray
    weight: FloatArray
    mean: FloatArray
    n_examples: IntArray


def conditional_mean(
    by: FloatArray, values: FloatArray, weights: FloatArray, n_bins: int = 30, n_extreme: int = 1
) -> Bins:
    """Return the weighted mean of `values` in bins of `by` of equal width; NaN in an empty bin.

    The bins span from the mean of the `n_extreme` smallest numbers of `by` to that of the largest, but no further than
    three interquartile ranges beyond the quartiles, so that a few outliers do not force all others into one bin; the
    first and the last bin also hold what lies beyond.
    Raises InvalidArgument for no example, no bin, arrays of different lengths, numbers that are not finite, a negative
    weight.
    Source: YDF 0.16, conditional plots, with the centres of bins; Tukey 1977, Exploratory data analysis, section 2D,
    the outer fences.

    >>> bins = conditional_mean(np.array([0.0, 1.0]), np.array([5.0, 7.0]), np.ones(2), n_bins=2)
    >>> (bins.centre.tolist(), bins.mean.tolist())
    ([0.25, 0.75], [5.0, 7.0])
    """
    _require_values(weights, by=by, values=values)
    require_shape("by", by, "[n_examples]")
    require_count("n_bins", n_bins)
    require_count("n_extreme", n_extreme)
    low, high = _ends(by, n_extreme)
    place = in_bin(by, by, n_bins, n_extreme)
    weight = np.bincount(place, weights, minlength=n_bins).astype(np.float64)
    sums = np.bincount(place, weights * values, minlength=n_bins).astype(np.float64)
    mean = share(sums, weight)
    n_examples = np.bincount(place, weights > 0, minlength=n_bins).astype(np.int64)
    return Bins(low + (np.arange(n_bins) + 0.5) * (high - low) / n_bins, weight, mean, n_examples)


def in_bin(by: FloatArray, values: FloatArray, n_bins: int, n_extreme: int = 1) -> IntArray:
    """Return the index, from 0, of each value's bin among those that `conditional_mean` uses for `by`, [n_examples].

    Raises InvalidArgument for no bin and numbers that are not finite.
    Source: the bins of `conditional_mean`.

    >>> in_bin(np.array([0.0, 1.0]), np.array([0.9, 7.0]), 2).tolist()
    [1, 1]
    """
    require_shape("by", by, "[n_examples]")
    require_count("n_bins", n_bins)
    require_count("n_extreme", n_extreme)
    require_finite("values", values)
    low, high = _ends(by, n_extreme)
    with np.errstate(over="ignore"):
        place: IntArray = np.clip((values - low) / (high - low) * n_bins, 0, n_bins - 1).astype(np.int64)
    return place


def _ends(values: FloatArray, n_extreme: int) -> tuple[float, float]:
    ordered, n_extreme = np.sort(values), min(n_extreme, len(values))
    low, high = float(ordered[:n_extreme].mean()), float(ordered[-n_extreme:].mean())
    quartiles = [_around(ordered, len(ordered) * quarter // 4, n_extreme) for quarter in (1, 3)]
    reach = FENCE * (quartiles[1] - quartiles[0])
    if reach > 0.0:
        low, high = max(low, quartiles[0] - reach), min(high, quartiles[1] + reach)
    return low, high if high > low else low + max(1.0, abs(low))


def _around(ordered: FloatArray, at: int, n_extreme: int) -> float:
    """Return the mean of `n_extreme` sorted numbers around an index: a quartile that reveals no single one."""
    start = min(max(0, at - n_extreme // 2), len(ordered) - n_extreme)
    return float(ordered[start : start + n_extreme].mean())


def normal_quantiles(residuals: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return (theoretical, observed) quantiles of a normal probability plot, both ascending, [n_examples].

    Observed residuals are standardized by their own mean and standard deviation, or zero if all are equal; an example's
    plotting position is the middle of its share of the weight.
    Raises InvalidArgument for no weight above zero, arrays of different lengths, residuals that are not finite, a
    negative weight.
    Source: Hazen 1914 for the plotting positions (i − ½) / n; NIST/SEMATECH e-Handbook, section 1.3.3.21.

    >>> [quantiles.round(3).tolist() for quantiles in normal_quantiles(np.array([1.0, 3.0]), np.ones(2))]
    [[-0.674, 0.674], [-1.0, 1.0]]
    """
    _require_values(weights, residuals=residuals)
    if not weights.sum() > 0:
        raise InvalidArgument("weights are all zero; expected one above it at least")
    order = np.argsort(residuals, kind="stable")
    ordered, weight = residuals[order], weights[order]
    total = weight.sum()
    positions = (np.cumsum(weight) - 0.5 * weight) / total
    mean = float(np.average(ordered, weights=weight))
    deviation = float(np.sqrt(np.average((ordered - mean) ** 2, weights=weight)))
    theoretical: FloatArray = ndtri(np.clip(positions, 1e-12, 1 - 1e-12))
    return theoretical, (ordered - mean) / deviation if deviation > 0 else np.zeros(len(ordered))


def _require_values(weights: FloatArray, **arrays: FloatArray) -> None:
    require_shape("weights", weights, "n_examples")
    require_weights("weights", weights)
    for name, array in arrays.items():
        require_shape(name, array, len(weights))
        require_finite(name, array)


def _mean(values: FloatArray, weights: FloatArray) -> float | None:
    return float(np.average(values, weights=weights)) if weights.sum() > 0 else None
