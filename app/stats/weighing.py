"""Values of weighted units, transformed so that unweighted statistics apply. Called by the boards over tasks; pure."""

import numpy as np

from app.stats.arrays import FloatArray
from app.stats.checks import InvalidArgument, require_finite, require_shape


def weigh(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return values whose plain mean is the weighted mean, and whose resamples are those of the weighted mean.

    `values` are [n_units, n_columns] in any unit; NaN stays NaN, and its unit's weight is ignored in that column.
    `weights` are [n_units], finite, none negative and at least one positive. A unit's value becomes μ + w (x − μ), w
    being its weight over their mean and μ the weighted mean of its column: the linearization of the weighted mean, so
    that a bootstrap with equal probabilities gives the spread of the weighted mean, and equal values have none.
    Raises InvalidArgument for arrays of mismatched shapes and for other weights.
    Source: Särndal, Swensson & Wretman 1992, Model assisted survey sampling, section 5.5 (linearisation of a ratio).

    >>> weigh(np.array([[1.0], [3.0]]), np.array([3.0, 1.0])).tolist()
    [[0.75], [2.25]]
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
    total = own.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (own * np.where(is_known, values, 0.0)).sum(axis=0) / total
        shares = own * (is_known.sum(axis=0) / total)
    weighed: FloatArray = means + shares * (values - means)
    return weighed
