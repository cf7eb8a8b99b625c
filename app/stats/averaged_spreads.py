"""The spread of an average over independent parts, such as tasks or groups of tasks, from the spread of each part.

Called by the kinds whose numbers are averaged over tasks, and by the boards that average groups of tasks; pure.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from app.stats.arrays import FloatArray
from app.stats.checks import require_shape, require_weights
from app.stats.spreads import Spread, mean_spread, support_of_values

PRIOR_FREEDOM = 2.0
"""How many degrees of freedom the common variance within groups counts for beside the variance of a single group."""


def side_by_side(spreads: Sequence[Spread], *, support: float = 0.0) -> Spread:
    """Stack spreads [...] into one whose fields are [..., n_parts], with `support` for all of them.

    Raises ValueError, numpy's own, for spreads of different shapes.
    Source: none; it only stacks.

    >>> from app.stats.spreads import spread_of
    >>> side_by_side([spread_of(each, 0.1, 0.0, 8.0, 7.0, 0.0) for each in (0.5, 0.7)]).point.tolist()
    [0.5, 0.7]
    """
    names = ("point", "error", "skewness", "n_units", "df", "least")
    fields = {name: np.stack([getattr(spread, name) for spread in spreads], axis=-1) for name in names}
    return Spread(**fields, support=support)


def averaged_spread(parts: Spread, weights: FloatArray) -> Spread:
    """Return the spread of Σ weight × number over independent parts [..., n_parts]; `weights` [n_parts] sum to one.

    A part with less than one degree of freedom has no visible spread; the average then has none either.
    Raises InvalidArgument for weights of a different length or below zero.
    Source: Satterthwaite 1946 for the degrees of freedom; Kish 1965, section 8.2, for the effective number of units.

    >>> parts = Spread(*(np.array([each, each]) for each in (0.5, 0.1, 0.0, 8.0, 7.0, 0.0)))
    >>> both = averaged_spread(parts, np.array([0.5, 0.5]))
    >>> round(float(both.error), 4), float(both.n_units), float(both.df)
    (0.0707, 16.0, 14.0)
    """
    require_shape("weights", weights, parts.point.shape[-1])
    require_weights("weights", weights)
    squared = (weights * parts.error) ** 2
    total, free = squared.sum(axis=-1), np.maximum(parts.df, 1.0)
    some = np.where(total > 0.0, total, 1.0)
    df = np.where(total > 0.0, some**2 / np.maximum((squared**2 / free).sum(axis=-1), 1e-300), free.sum(axis=-1))
    return Spread(
        point=(weights * parts.point).sum(axis=-1),
        error=np.sqrt(total),
        skewness=((weights * parts.error) ** 3 * parts.skewness).sum(axis=-1) / some**1.5,
        n_units=1.0 / (weights**2 / parts.n_units).sum(axis=-1),
        df=np.where((parts.df < 1.0).any(axis=-1), 0.0, df),
        least=np.sqrt(((weights * parts.least) ** 2).sum(axis=-1)),
        support=parts.support,
    )


def grouped_spread(values: FloatArray, sizes: Sequence[int], shares: FloatArray) -> Spread:
    """Return the spread of Σ share × mean of a group, [...], of tasks [..., n_tasks] that lie group by group.

    Groups are fixed, and a group of one task is known exactly: its chance is in no number. `sizes` counts the tasks of
    each group, `shares` [n_groups] are the weights of the groups, which sum to one. So few tasks may lie together by
    chance that a group's variance is at least its average with the common one, which counts for PRIOR_FREEDOM. Without
    a group of two tasks there are no degrees of freedom.
    Raises InvalidArgument as `mean_spread` and `averaged_spread` do.
    Source: Cochran 1977, Sampling techniques, section 5.3, for the error; the least variance by simulation:
    docs/statistics.md.

    >>> spread = grouped_spread(np.array([0.1, 0.3, 0.7, 0.9, 0.5]), [2, 2, 1], np.full(3, 1 / 3))
    >>> float(spread.point), round(float(spread.error), 4)
    (0.5, 0.0471)
    """
    parts = side_by_side([mean_spread(group) for group in np.split(values, np.cumsum(sizes)[:-1], axis=-1)])
    several = np.array(sizes) > 1
    freedom = np.where(several, parts.df, 0.0)
    total = np.maximum(freedom.sum(axis=-1, keepdims=True), 1.0)
    variance = parts.error**2 * sizes
    common = (variance * freedom).sum(axis=-1, keepdims=True) / total
    shrunk = (freedom * variance + PRIOR_FREEDOM * common) / (freedom + PRIOR_FREEDOM)
    error = np.sqrt(np.where(several, np.maximum(variance, shrunk), 0.0) / sizes)
    averaged = averaged_spread(replace(parts, error=error, df=np.maximum(freedom, 1.0)), shares)
    df = averaged.df if several.any() else np.zeros_like(averaged.df)
    return replace(averaged, df=df, support=support_of_values(values.shape[-1]))
