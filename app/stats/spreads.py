"""Spreads: numbers with standard errors from the variation between sampled units, averaged and weighed.

Units are clusters, examples, groups or tasks. Only the proportions of weights matter.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

from app.stats.arrays import FloatArray, IntArray, InvalidArgument, require_finite, require_shape, require_weights

ROUNDING = 1e-12

MOST_TRIALS = 4.0
"""Effective trials per item, at most: an error between clusters is at least half that of independent items."""

SEEDS_SUPPORT, TASKS_SUPPORT, FEW_TASKS = 1.2, 0.6, 20.0
"""`Spread.support` of seeds; what tasks, each a single value, add to it; up to how many tasks they add all of it."""

UNSEEN, NONE_UNSEEN = 0.55, 40.0
"""How much further than Student's an interval reaches without a range up to FEW_TASKS units; where that ends."""

MOST_WEIGHTED = 1.4
"""Most units an interval may rest on, as a multiple of the effective number of weighted examples."""


@dataclass(frozen=True)
class Range:
    """The possible values of a number, in its own unit; infinite where there is no bound.

    >>> Range(0.0, 1.0).is_bounded, Range(low=0.0).is_bounded
    (True, False)
    """

    low: float = -np.inf
    high: float = np.inf

    @property
    def is_bounded(self) -> bool:
        """Say whether both ends are finite and different."""
        return bool(np.isfinite(self.low) and np.isfinite(self.high) and self.low < self.high)

    def holding(self, *points: float) -> "Range":
        """Return the range without any end that a point exceeds: such an end is not a bound."""
        low, high = min(points), max(points)
        return Range(
            self.low if low >= self.low else -np.inf,
            self.high if high <= self.high else np.inf,
        )

    def mirrored(self) -> "Range":
        """Return the range of the negative number."""
        return Range(-self.high, -self.low)


SHARE = Range(0.0, 1.0)
"""The range of a rate, an accuracy, an area under a curve."""


EVERYWHERE = Range()
"""The range of a number without bounds."""


def reach_of_equals(value: float, within: Range, n_units: int, level: float) -> float | None:
    """Return how far a mean may lie from the value of its units, all equal; None without a bounded range.

    In their unit. Units that all failed do not tell a policy that never succeeds from one that does with some seeds. If
    more than 1 − (1 − level)^(1/n) of all units were others, one would be among n in more samples than the level says;
    at most, these lie at the end of the range that is farther off.
    Source: the exact binomial limit of none among n, Hanley & Lippman-Hand 1983, If nothing goes wrong, is everything
    all right?

    >>> reach = [reach_of_equals(value, SHARE, n, 0.95) for value, n in ((0.0, 5), (0.0, 60), (0.8, 5))]
    >>> [round(each or 0.0, 3) for each in reach]
    [0.451, 0.049, 0.361]
    """
    rounding = ROUNDING * (within.high - within.low) if within.is_bounded else 0.0
    if not within.is_bounded or not within.low - rounding <= value <= within.high + rounding:
        return None
    return unseen(n_units, 1.0 - level) * max(value - within.low, within.high - value)


def unseen(n_units: int, error_rate: float) -> float:
    """Return the largest share of other units of which none is among n with at least this probability.

    Source: `reach_of_equals`.

    >>> round(unseen(5, 0.05), 3)
    0.451
    """
    return float(1.0 - error_rate ** (1.0 / n_units))


def widened_for_equals(n_units: int, level: float) -> float:
    """Return by which factor Student's t reaches further at the level, so that it does so too where less is allowed.

    What n equal units leave open grows faster with smaller error rates than Student's quantiles from about nine units
    on, and all pairs of a board are tested at such; down to a millionth.
    Source: `reach_of_equals`, and Student's t with n − 1 degrees of freedom.

    >>> [round(widened_for_equals(n, 0.95), 2) for n in (5, 16, 30)]
    [1.0, 1.08, 1.29]
    """
    rates = (1.0 - level) * np.logspace(0.0, math.log10(LEAST_RATE / (1.0 - level)), N_RATES)
    errors = (1.0 - rates ** (1.0 / n_units)) / -stdtrit(n_units - 1, rates / 2.0)
    return float(errors.max() / errors[0])


LEAST_RATE, N_RATES = 1e-6, 25


@dataclass(frozen=True)
class Spread:
    """Numbers with their standard errors; arrays of one shape [...], `point`, `error` and `least` in the numbers' unit.

    `skewness` is that of the number's sampling distribution. `n_units` may be fractional: Kish's (Σw)² / Σw² for
    weights. `least` is the smallest credible error. `support` is above zero where units are seeds or tasks, since one
    not yet sampled may be an outlier: `support` × √n_units of them must contribute to a number's distance from an end
    of its range.

    >>> float(Spread(*map(np.array, (0.5, 0.1, 0.0, 8.0, 7.0, 0.2))).believed)
    0.2
    """

    point: FloatArray
    error: FloatArray
    skewness: FloatArray
    n_units: FloatArray
    df: FloatArray
    least: FloatArray
    support: float = 0.0

    @property
    def believed(self) -> FloatArray:
        """Return the error, but at least `least`."""
        return np.maximum(self.error, self.least)

    @property
    def unseen(self) -> FloatArray:
        """Return the reach of an interval, in multiples of Student's, that allows for outlying units not yet sampled.

        It applies where no range bounds them. If one unit in ten is an outlier, a sample of ten has none in 35 % of
        cases.
        Source: `bench.interval_coverage`, its tasks of which one in ten is an outlier.
        """
        # By degrees of freedom: an average dominated by few units has few of them, however many units there are.
        few = np.clip((NONE_UNSEEN - 1.0 - self.df) / (NONE_UNSEEN - FEW_TASKS), 0.0, 1.0)
        return np.asarray(1.0 + UNSEEN * few * float(self.support > 0.0))


def spread_of(point: float, error: float, skewness: float, n_units: float, df: float, least: float) -> Spread:
    """Return the spread of one number; `n_units` may be a fraction.

    Raises nothing: the caller has checked the numbers. Source: none; it only makes arrays.

    >>> float(spread_of(0.5, 0.1, 0.0, 8.0, 7.0, 0.0).n_units)
    8.0
    """
    point_, error_, skewness_, units, freedom, floor = map(np.array, (point, error, skewness, n_units, df, least))
    return Spread(point_, error_, skewness_, units, freedom, floor)


def mean_spread(values: FloatArray, weights: FloatArray | None = None) -> Spread:
    """Return the spread of means [...] of independent units [..., n_units]; `weights` like the values, or all equal.

    The error is that of a ratio of weighted sums, so weights may depend on the values. Units of weight zero are
    ignored.
    Raises InvalidArgument for no unit, for a value that is not finite, and for weights that are negative, of another
    shape, or all zero.
    Source: Cochran 1977, Sampling techniques, section 6.4, for the ratio; Kish 1965, section 8.2, for the effective
    number.

    >>> spread = mean_spread(np.array([0.0, 1.0, 1.0, 0.0]))
    >>> float(spread.point), round(float(spread.error), 4), float(spread.n_units)
    (0.5, 0.2887, 4.0)
    """
    _require_units("values", values)
    if weights is None:
        return _even_spread(np.ascontiguousarray(values))
    shares = _shares(values, weights)
    kish = 1.0 / (shares**2).sum(axis=-1)
    point = _exact((shares * values).sum(axis=-1), values, shares)
    apart = values - point[..., None]
    counted = np.count_nonzero(shares, axis=-1)
    least = np.sqrt((shares * apart**2).sum(axis=-1) / (MOST_WEIGHTED * kish))
    return _spread(point, shares * apart, kish, counted - 1.0, least)


def _even_spread(values: FloatArray) -> Spread:
    """Return the spread of means of equally weighted units, the same as with any equal weights."""
    n_units, share = values.shape[-1], 1.0 / values.shape[-1]
    kish = np.full(values.shape[:-1], 1.0 / (np.full(n_units, share) ** 2).sum())
    low, high = values.min(axis=-1), values.max(axis=-1)
    point = np.where(low == high, low, (share * values).sum(axis=-1))
    apart = values - point[..., None]
    squared = apart**2
    squared *= share
    least = np.sqrt(squared.sum(axis=-1) / (MOST_WEIGHTED * kish))
    apart *= share
    return _spread(point, apart, kish, np.full(kish.shape, n_units - 1.0), least)


def support_of_values(n_units: float) -> float:
    """Return `Spread.support` for `n_units` units that are single values, as tasks are; larger asks for more units.

    Raises nothing. Source: `bench.interval_coverage`.

    >>> round(support_of_values(10), 2), round(support_of_values(100), 2)
    (1.8, 1.32)
    """
    return SEEDS_SUPPORT + TASKS_SUPPORT * min(1.0, FEW_TASKS / max(n_units, 1.0))


def task_spread(values: FloatArray) -> Spread:
    """Return the spread of means [...] of tasks [..., n_tasks], where a task not sampled may be an outlier.

    Raises InvalidArgument as `mean_spread` does. Source: `mean_spread`; `support` by `bench.interval_coverage`.

    >>> round(task_spread(np.array([0.0, 1.0, 1.0, 0.0])).support, 1)
    1.8
    """
    return replace(mean_spread(values), support=support_of_values(values.shape[-1]))


def family_spread(values: FloatArray, family: IntArray, n_units: float) -> Spread:
    """Return the spread of means [...] of tasks [..., n_tasks] that belong to families, which are the units.

    `family` [n_tasks] is the position of each task's family among all; `n_units` their effective number, of which the
    degrees of freedom are made. A family weighs as many as it has tasks; its own mean is all that is known of it.
    Raises InvalidArgument as `mean_spread` does. Source: `mean_spread` of the families; Kish 1965, section 8.2.

    >>> spread = family_spread(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0, 0, 1, 1]), 2.0)
    >>> float(spread.point), float(spread.error), float(spread.df)
    (0.5, 0.5, 1.0)
    """
    order = np.argsort(family, kind="stable")
    sizes = np.bincount(family).astype(np.float64)
    begins = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    means = np.add.reduceat(values[..., order], begins, axis=-1) / sizes
    spread = mean_spread(means, np.broadcast_to(sizes, means.shape))
    units = np.full(spread.point.shape, n_units)
    return replace(spread, n_units=units, df=units - 1.0, support=support_of_values(n_units))


def cluster_spread(totals: FloatArray, sizes: FloatArray, squares: FloatArray) -> Spread:
    """Return the spread of means [...] over all items, from the sums of each cluster, [..., n_clusters].

    `totals` and `squares` sum the items' values and their squares, `sizes` counts the items; a cluster of size zero is
    ignored. The error is that between clusters; its degrees of freedom are those of as many clusters of equal size as
    weigh the same, less one.
    Raises InvalidArgument for mismatched shapes, numbers that are not finite, and where no cluster has an item.
    Source: Cochran 1977, section 9A.1, ratio to cluster size; Kish 1965, section 8.2, for unequal sizes; MOST_TRIALS,
    the least error, by `bench.interval_coverage`.

    >>> spread = cluster_spread(*(np.array(sums) for sums in ([4.0, 2.0], [5.0, 5.0], [4.0, 2.0])))
    >>> float(spread.point), round(float(spread.error), 4), float(spread.df)
    (0.6, 0.2, 1.0)
    """
    for name, array in (("totals", totals), ("sizes", sizes), ("squares", squares)):
        _require_units(name, array)
        require_shape(name, array, *totals.shape)
    n_items = sizes.sum(axis=-1)
    if not (n_items > 0).all():
        raise InvalidArgument("sizes are all zero; expected an item in one cluster at least")
    point = totals.sum(axis=-1) / n_items
    influence = (totals - point[..., None] * sizes) / n_items[..., None]
    mean_square = squares.sum(axis=-1) / n_items
    variance = np.where(mean_square - point**2 > ROUNDING * mean_square, mean_square - point**2, 0.0)
    n_clusters = np.count_nonzero(sizes, axis=-1).astype(np.float64)
    freedom = np.maximum(n_items**2 / (sizes**2).sum(axis=-1) - 1.0, np.minimum(n_clusters - 1.0, 1.0))
    least = np.sqrt(variance / (MOST_TRIALS * n_items))
    return replace(_spread(point, influence, n_clusters, freedom, least), support=SEEDS_SUPPORT)


def influence_spread(
    point: FloatArray, influence: FloatArray, n_units: FloatArray, df: FloatArray, least: FloatArray | float = 0.0
) -> Spread:
    """Return the spread of numbers [...] from the influence of each unit, [..., n_units], which sums to zero.

    Raises InvalidArgument for no unit and an influence that is not finite.
    Source: Huber 1981, Robust statistics, section 6.4, the standard error from the influence function.

    >>> moved = np.array([-0.25, 0.25])
    >>> round(float(influence_spread(np.array(0.5), moved, np.array(2.0), np.array(1.0)).error), 4)
    0.5
    """
    _require_units("influence", influence)
    return _spread(point, influence, n_units, df, np.broadcast_to(np.asarray(least, dtype=np.float64), point.shape))


def _spread(point: FloatArray, influence: FloatArray, n_units: FloatArray, df: FloatArray, least: FloatArray) -> Spread:
    squared = (influence**2).sum(axis=-1)
    # A variance that is only the rounding error of its sums is none.
    squared = np.where(squared > (1e-13 * np.abs(point)) ** 2, squared, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        cubed = squared**1.5  # zero below an error of about 1e-108, where no skewness can be estimated
        skewness = np.where(cubed > 0, (influence * influence * influence).sum(axis=-1) / cubed, 0.0)
        error = np.sqrt(squared * np.where(n_units > 1, n_units / (n_units - 1.0), 1.0))
    return Spread(point, error, skewness, n_units, df, least)


def _exact(point: FloatArray, values: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the common value itself where all counted units are equal: a weighted sum of it would be rounded."""
    low = np.where(shares > 0, values, np.inf).min(axis=-1)
    high = np.where(shares > 0, values, -np.inf).max(axis=-1)
    return np.where(low == high, low, point)


def _shares(values: FloatArray, weights: FloatArray) -> FloatArray:
    require_shape("weights", weights, *values.shape)
    require_weights("weights", weights)
    largest = weights.max(axis=-1, keepdims=True)
    if not (largest > 0).all():
        raise InvalidArgument("weights are all zero; expected one above it at least")
    scaled = weights / largest
    shares: FloatArray = scaled / scaled.sum(axis=-1, keepdims=True)
    return shares


def _require_units(name: str, array: FloatArray) -> None:
    if array.ndim < 1 or not array.shape[-1]:
        raise InvalidArgument(f"{name} has the shape {array.shape}; expected [..., n_units >= 1]")
    require_finite(name, array)


# The spread of an average over independent parts, such as tasks or groups of tasks, from the spread of each part.

MOST_ASSUMED = 0.5
"""Of the variance of a mean over strata: the share that may be of strata of one unit, which show none."""

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


def variance_factors(units: Sequence[float] | FloatArray, shares: Sequence[float] | FloatArray) -> FloatArray:
    """Return by how much the variance of each stratum's part of a mean is larger for strata of one unit, [n_strata].

    `units` [n_strata] are effective numbers of units, `shares` [n_strata] what strata count in the mean. A stratum of
    one unit says nothing of how much it varies: it is taken for one that varies as the units of the others do, whose
    variances are pooled by their degrees of freedom. Ones where all or none are such; never null.
    Source: the average of the other strata for one with a single primary unit, Wolter 2007, Introduction to variance
    estimation, section 2.5, and Lumley 2010, Complex surveys, section 3.2.

    >>> variance_factors([1.0, 10.0], [0.5, 0.5]).round(6).tolist()
    [1.0, 11.0]
    """
    n_units, of_mean = np.array(units), np.array(shares)
    several = n_units > 1.0
    freedom = np.where(several, n_units - 1.0, 0.0)
    if not several.any():
        return np.ones(len(n_units))
    alone = (of_mean[~several] ** 2).sum()
    return np.asarray(1.0 + alone * freedom / freedom.sum() * n_units / of_mean**2)


def assumed_share(units: Sequence[float] | FloatArray, shares: Sequence[float] | FloatArray) -> float:
    """Return which share of a mean's variance is of strata of one unit, were all units alike; it is never null.

    `units` [n_strata] and `shares` [n_strata] as of `variance_factors`.
    Source: the variance of a stratified mean, Cochran 1977, section 5.3.

    >>> round(assumed_share([1.0, 10.0], [0.5, 0.5]), 3)
    0.909
    """
    each = np.square(shares) / np.array(units)
    return float(each[np.array(units) <= 1.0].sum() / each.sum())


def grouped_spread(
    values: FloatArray, sizes: Sequence[int], shares: FloatArray, family: IntArray | None = None
) -> Spread:
    """Return the spread of Σ share × mean of a group, [...], of tasks [..., n_tasks] that lie group by group.

    Groups are fixed; one of a single unit is taken to vary as the common one. `sizes` counts the tasks of each group,
    `shares` [n_groups] are the weights of the groups, which sum to one. So few tasks may lie together by chance that a
    group's variance is at least its average with the common one, which counts for PRIOR_FREEDOM. Where all are of one
    unit there are no degrees of freedom. With `family` [n_tasks] families are the units within groups;
    where one lies in several groups, the error is at least that of its sums over all of them.
    Raises InvalidArgument as `mean_spread` and `averaged_spread` do.
    Source: Cochran 1977, Sampling techniques, section 5.3, for the error; the least variance by simulation:
    docs/statistics.md.

    >>> spread = grouped_spread(np.array([0.1, 0.3, 0.7, 0.9, 0.5]), [2, 2, 1], np.full(3, 1 / 3))
    >>> float(spread.point), round(float(spread.error), 4)
    (0.5, 0.0667)
    """
    cuts = np.cumsum(sizes)[:-1]
    groups = np.split(values, cuts, axis=-1)
    if family is None:
        parts, units = side_by_side([mean_spread(group) for group in groups]), np.array(sizes, dtype=np.float64)
    else:
        members = [np.unique(each, return_inverse=True)[1].reshape(-1) for each in np.split(family, cuts)]
        units = np.array([_effective(np.bincount(each)) for each in members])
        parts = side_by_side([family_spread(*of) for of in zip(groups, members, units.tolist(), strict=True)])
    several = units > 1.0
    freedom = np.where(several, parts.df, 0.0)
    total = np.maximum(freedom.sum(axis=-1, keepdims=True), 1.0)
    variance = parts.error**2 * units
    common = (variance * freedom).sum(axis=-1, keepdims=True) / total
    shrunk = (freedom * variance + PRIOR_FREEDOM * common) / (freedom + PRIOR_FREEDOM)
    own = np.where(several, np.maximum(variance, shrunk), 0.0) * shares**2 / units
    # What groups of one unit add is known by the groups that the common variance comes from, and no better.
    more = np.where(several, (variance_factors(units, shares) - 1.0) * variance, 0.0) * shares**2 / units
    error = np.sqrt(own + more) / shares
    averaged = averaged_spread(replace(parts, error=error, df=np.maximum(freedom, 1.0)), shares)
    df = averaged.df if several.any() else np.zeros_like(averaged.df)
    if family is not None:
        averaged = replace(averaged, error=np.maximum(averaged.error, _across_groups(groups, shares, family)))
        df = np.minimum(df, max(_effective(np.bincount(family)) - 1.0, 0.0))
    return replace(averaged, df=df, support=support_of_values(values.shape[-1] if family is None else units.sum()))


def _across_groups(groups: Sequence[FloatArray], shares: FloatArray, family: IntArray) -> FloatArray:
    """Return the error [...] of the average over groups from the sum of each family over all of its groups."""
    moved = np.concatenate(
        [share * (each - each.mean(axis=-1, keepdims=True)) / each.shape[-1]
         for each, share in zip(groups, shares.tolist(), strict=True)], axis=-1)  # fmt: skip
    order, sizes = np.argsort(family, kind="stable"), np.bincount(family)
    begins = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    sums = np.add.reduceat(moved[..., order], begins[sizes > 0], axis=-1)
    n_units = _effective(sizes)
    return np.asarray(np.sqrt((sums**2).sum(axis=-1) * n_units / max(n_units - 1.0, 1e-9)))


def _effective(sizes: IntArray) -> float:
    """Return the effective number of families of these sizes: Kish 1965, section 8.2."""
    return float(sizes.sum() ** 2 / (sizes**2).sum())


# Values of weighted units, transformed so that unweighted statistics apply.


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
