"""Performance profiles: the share of items that score above each threshold. Called by `app.boards`; pure.

`distinct` [n_distinct] and `counts` [n_resamples, n_distinct] are those of `app.stats.aggregate`.
"""

from collections.abc import Iterable

import numpy as np

from app.stats.aggregate import Aggregate, require_items
from app.stats.arrays import FloatArray
from app.stats.checks import (
    InvalidArgument,
    require_ascending,
    require_count,
    require_finite,
    require_level,
    require_shape,
)
from app.stats.cluster import MIN_CLUSTERS, Sample
from app.stats.interval import percentile_interval


def share_above(thresholds: FloatArray) -> Aggregate:
    """Return the performance profile: the share strictly above each threshold, [n_resamples, n_thresholds].

    A higher profile is better where larger scores are.
    Raises InvalidArgument for no threshold and for one that is not finite; the aggregate raises as `mean` does.
    Source: Agarwal et al. 2021, section 4.2; Dolan & Moré 2002 for profiles.

    >>> share_above(np.array([0.0, 1.0]))(np.array([0.0, 2.0]), np.array([[1.0, 1.0]])).tolist()
    [[0.5, 0.5]]
    """
    require_shape("thresholds", thresholds, "[n_thresholds]")
    require_finite("thresholds", thresholds)

    def shares(distinct: FloatArray, counts: FloatArray) -> FloatArray:
        n_items = require_items(distinct, counts)
        above = (distinct[:, None] > thresholds[None, :]).astype(np.float64)
        above_each: FloatArray = (counts @ above) / n_items
        return above_each

    return shares


def profile_area(thresholds: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the area under a profile over the grid's width, [n_resamples], by the trapezoidal rule.

    `thresholds` is [n_thresholds], `shares` [n_resamples, n_thresholds]; the area is within [0, 1], larger being
    better. A NaN share makes the area NaN.
    Raises InvalidArgument for fewer than two thresholds, for thresholds that do not ascend, and for shares of a
    different shape.
    Source: Agarwal et al. 2021, section 4.2, for the profile.

    >>> profile_area(np.array([0.0, 1.0, 2.0]), np.array([[1.0, 0.5, 0.0]])).tolist()
    [0.5]
    """
    require_shape("thresholds", thresholds, "n_thresholds")
    require_count("the number of thresholds", len(thresholds), least=2)
    require_finite("thresholds", thresholds)
    require_ascending("thresholds", thresholds)
    require_shape("shares", shares, "n_resamples", len(thresholds))
    area: FloatArray = np.trapezoid(shares, thresholds, axis=-1) / (thresholds[-1] - thresholds[0])
    return area


def area_above(thresholds: FloatArray) -> Aggregate:
    """Return the aggregate that is the area under the performance profile divided by the grid's width, in [0, 1].

    A value that is NaN is above no threshold [n_thresholds].
    Raises InvalidArgument as `share_above` does, and the aggregate as `profile_area` does.
    Source: Agarwal et al. 2021, section 4.2.

    >>> area_above(np.array([0.0, 1.0]))(np.array([0.0, 2.0]), np.array([[1.0, 1.0]])).tolist()
    [0.5]
    """
    shares = share_above(thresholds)

    def area(distinct: FloatArray, counts: FloatArray) -> FloatArray:
        return profile_area(thresholds, shares(distinct, counts))

    return area


def profile_band(
    sample: Sample, thresholds: FloatArray, batches: Iterable[FloatArray], *, level: float
) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Return the profile with its pointwise band (share, low, high), [n_thresholds] each; None below two clusters.

    Raises InvalidArgument for a level outside (0, 1), for batches without a resample, and as `share_above` does.
    Source: Agarwal et al. 2021, section 4.2; the band is `percentile_interval` at each threshold separately.

    >>> from app.stats.cluster import group_sample
    >>> sample = group_sample(np.array([0.0, 1.0]), np.array([7, 8]))
    >>> band = profile_band(sample, np.array([0.5]), [np.array([[2.0, 0.0], [0.0, 2.0]])], level=0.5)
    >>> [ends.tolist() for ends in band or ()]
    [[0.5], [0.25], [0.75]]
    """
    require_level(level)
    if len(sample.sizes) < MIN_CLUSTERS:
        return None
    shares = share_above(thresholds)
    drawn = [shares(sample.distinct, counts) for counts in batches]
    if not drawn:
        raise InvalidArgument("batches has no resample; expected one at least")
    low, high = percentile_interval(np.concatenate(drawn), level)
    return shares(sample.distinct, sample.counts)[0], low, high
