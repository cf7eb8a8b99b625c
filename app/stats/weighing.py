"""Values of weighted units, transformed so that unweighted statistics apply. Called by the boards over tasks; pure."""

from dataclasses import replace

import numpy as np

from app.stats.arrays import FloatArray
from app.stats.checks import InvalidArgument, require_finite, require_shape
from app.stats.spreads import Spread, support_of_values, task_spread


def weigh(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return values whose plain mean is the weighted mean, and whose resamples are those of the weighted mean.

    `values` are [n_units, n_columns] in any unit; NaN stays NaN, and its unit's weight is ignored in that column.
    `weights` are [n_units], finite, none negative and at least one positive. A unit's value becomes the weighted mean
    plus what that mean would change without the unit, as the jackknife counts it, moved so that the plain mean is the
    weighted one; a bootstrap with equal probabilities then gives the spread of the weighted mean, and equal values have
    none. A unit with nearly all the weight is near the weighted mean, so its deviation alone would show no spread.
    Raises InvalidArgument for arrays of mismatched shapes and for other weights.
    Source: Särndal, Swensson & Wretman 1992, Model assisted survey sampling, section 11.5 (the jackknife of a ratio).

    >>> weigh(np.array([[1.0], [3.0]]), np.array([3.0, 1.0])).tolist()
    [[0.5], [2.5]]
    >>> weigh(np.array([[2.0], [2.0]]), np.array([3.0, 1.0])).tolist()
    [[2.0], [2.0]]
    """
    require_shape("values", values, "n_units", "n_columns")
    require_shape("weights", weights, len(values))
    require_finite("weights", weights)
    if (weights < 0.0).any() or not weights.sum() > 0.0:
        raise InvalidArgument("weights holds a negative number or nothing but 0; expected one above 0 at least")
    is_known = ~np.isnan(values)
    own = np.where(is_known, weights[:, None], 0.0)
    total, n_known = own.sum(axis=0), is_known.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (own * np.where(is_known, values, 0.0)).sum(axis=0) / total
        others = total - own
        changes = np.where(others > 0.0, own / others * (n_known - 1) * (values - means), 0.0)
        moved = np.where(is_known, changes, 0.0).sum(axis=0) / n_known
    weighed: FloatArray = np.where(is_known, means + changes - moved, np.nan)
    return weighed


def weighed_spread(values: FloatArray, n_units: float) -> Spread:
    """Return the spread of means [...] of values [..., n_tasks] from `weigh`.

    `n_units` is the effective number of tasks, of which the degrees of freedom are made.
    Raises InvalidArgument as `mean_spread` does. Source: `task_spread`; Kish 1965, section 8.2.

    >>> float(weighed_spread(np.array([0.0, 1.0, 1.0, 0.0]), 2.5).df)
    1.5
    """
    spread = task_spread(values)
    units = np.full(spread.point.shape, n_units)
    return replace(spread, n_units=units, df=units - 1.0, support=support_of_values(n_units))
