"""Errors of predicted values, and where they are; pure. `weights` count examples; undefined is None."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from app.stats.arrays import FloatArray, IntArray, share


def root_mean_squared_error(predicted: FloatArray, labels: FloatArray, weights: FloatArray) -> float | None:
    """Return √(weighted mean of squared residuals); lower is better."""
    mean = _mean((predicted - labels) ** 2, weights)
    return None if mean is None else float(np.sqrt(mean))


def default_rmse(labels: FloatArray, weights: FloatArray) -> float | None:
    """Return the error of always predicting the mean label."""
    mean = _mean(labels, weights)
    return None if mean is None else root_mean_squared_error(np.full(len(labels), mean), labels, weights)


@dataclass(frozen=True)
class Bins:
    """A histogram or a conditional plot by bin: centre, weight, mean, and the number of examples that have weight."""

    centre: FloatArray
    weight: FloatArray
    mean: FloatArray
    n_examples: IntArray


def conditional_mean(
    by: FloatArray, values: FloatArray, weights: FloatArray, n_bins: int = 30, n_extreme: int = 1
) -> Bins:
    """Return the weighted mean of `values` in bins of `by` of equal width; NaN in an empty bin.

    The bins reach from the mean of the `n_extreme` smallest numbers of `by` to that of the largest; the first and the
    last bin also hold what lies beyond.
    """
    low, high = _ends(by, n_extreme)
    place = np.clip(((by - low) / (high - low) * n_bins).astype(np.int64), 0, n_bins - 1)
    weight = np.bincount(place, weights, minlength=n_bins).astype(np.float64)
    sums = np.bincount(place, weights * values, minlength=n_bins).astype(np.float64)
    mean = share(sums, weight)
    n_examples = np.bincount(place, weights > 0, minlength=n_bins).astype(np.int64)
    return Bins(low + (np.arange(n_bins) + 0.5) * (high - low) / n_bins, weight, mean, n_examples)


def _ends(values: FloatArray, n_extreme: int) -> tuple[float, float]:
    ordered, n_extreme = np.sort(values), min(n_extreme, len(values))
    low, high = float(ordered[:n_extreme].mean()), float(ordered[-n_extreme:].mean())
    return low, high if high > low else low + max(1.0, abs(low))


def normal_quantiles(residuals: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return (theoretical, observed) quantiles of a normal probability plot, both ascending, [n_examples].

    Observed residuals are in units of their own mean and standard deviation; the plotting position of an example is
    the middle of its weight.
    """
    order = np.argsort(residuals, kind="stable")
    ordered, weight = residuals[order], weights[order]
    total = weight.sum()
    positions = (np.cumsum(weight) - 0.5 * weight) / total
    mean = float(np.average(ordered, weights=weight))
    deviation = float(np.sqrt(np.average((ordered - mean) ** 2, weights=weight)))
    theoretical: FloatArray = ndtri(np.clip(positions, 1e-12, 1 - 1e-12))
    return theoretical, (ordered - mean) / deviation if deviation > 0 else np.zeros(len(ordered))


def _mean(values: FloatArray, weights: FloatArray) -> float | None:
    return float(np.average(values, weights=weights)) if weights.sum() > 0 else None
