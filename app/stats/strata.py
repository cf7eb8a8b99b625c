"""Aggregates of per-series metric rows within strata, balanced over strata, and their bootstraps. A group is one
estimator's rows of one metric in one stratum, in the order of the evidence. Values are in the metric's own unit and
direction; NaN is null, and infinite numbers are treated as null. Source: lrdbench 2.0, its interpretation
semantics.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from app.stats.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    InvalidArgument,
    require_count,
    require_finite,
    require_integers,
    require_number,
    require_shape,
    require_word,
)
from app.stats.resample import fill_means, percentile_interval

Rule = Literal["mean", "root_mean_square", "ratio", "scores"]

RATIO_EPSILON = 1e-12
"""As in lrdbench, a ratio is null unless its denominator exceeds this."""


@dataclass(frozen=True)
class Group:
    """Rows of one (estimator, metric, stratum). `values` is [n_attempted]; NaN is null.

    `denominators` is [n_attempted] for a ratio: the paired errors on the clean series; None for every other rule.
    `records` are the numbers of the series, [n_attempted]. `begins` is the position, among the rows of all groups, of
    its first row with a value; lrdbench orders its draws by it. With the rule `scores` a group has no aggregate of its
    own: its values are the scores of a metric computed over all strata.
    Raises InvalidArgument for arrays of different lengths, an unknown rule, and denominators without the rule `ratio`.
    Source: lrdbench 2.0, aggregates of per-series rows.

    >>> Group("GPH", "mae", "n=128", np.array([0.1, np.nan]), np.array([0, 1])).included.tolist()
    [True, False]
    """

    estimator: str
    metric: str
    stratum: str
    values: FloatArray
    records: IntArray
    rule: Rule = "mean"
    denominators: FloatArray | None = None
    begins: int = 0

    def __post_init__(self) -> None:
        require_shape("values", self.values, "n_attempted")
        require_shape("records", self.records, len(self.values))
        require_integers("records", self.records)
        require_word("rule", self.rule, ("mean", "root_mean_square", "ratio", "scores"))
        if (self.denominators is None) == (self.rule == "ratio"):
            raise InvalidArgument(f"a group of rule {self.rule!r}; expected denominators for a ratio, and for it alone")
        if self.denominators is not None:
            require_shape("denominators", self.denominators, len(self.values))

    @property
    def included(self) -> BoolArray:
        """Say which rows are included: the finite ones."""
        finite: BoolArray = np.isfinite(self.values)
        return finite if self.denominators is None else finite & np.isfinite(self.denominators)


@dataclass(frozen=True)
class Aggregate:
    """One number for a group, or over strata (`stratum` None). NaN when nothing is included.

    `numerator` and `denominator` are the two means of a ratio, NaN otherwise; `n_positive` counts the included records
    of the positive class, for a classification metric.
    """

    estimator: str
    metric: str
    stratum: str | None
    value: float
    n_attempted: int
    n_included: int
    n_strata_attempted: int = 0
    n_strata_included: int = 0
    numerator: float = float("nan")
    denominator: float = float("nan")
    n_positive: int = 0


def aggregate_group(group: Group) -> Aggregate:
    """Aggregate one group by its metric's rule; null and non-finite rows are left out, and counted.

    The value is NaN when nothing is included, for a ratio whose denominator is not above RATIO_EPSILON, and for the
    root of a negative mean.
    Source: lrdbench 2.0: the arithmetic mean; of squared errors its root; of paired errors the ratio of means.

    >>> error = aggregate_group(Group("GPH", "mae", "n=128", np.array([0.1, np.nan, 0.3]), np.arange(3)))
    >>> (error.value, error.n_attempted, error.n_included)
    (0.2, 3, 2)
    """
    kept = group.values[group.included]
    about = (group.estimator, group.metric, group.stratum)
    counts = (len(group.values), len(kept))
    if not len(kept):
        return Aggregate(*about, float("nan"), *counts)
    if group.denominators is not None:
        above, below = float(np.mean(kept)), float(np.mean(group.denominators[group.included]))
        return Aggregate(*about, _ratio(above, below), *counts, numerator=above, denominator=below)
    average = float(np.mean(kept))
    return Aggregate(*about, float(np.sqrt(average)) if group.rule == "root_mean_square" else average, *counts)


def _ratio(above: float, below: float) -> float:
    return above / below if below > RATIO_EPSILON else float("nan")


def balance(aggregates: Sequence[Aggregate]) -> Aggregate:
    """Return the unweighted mean of one estimator's stratum aggregates for one metric, leaving null ones out.

    A ratio is the ratio of the means of its parts, over the strata that have both. NaN when all are null.
    Raises InvalidArgument for no aggregate, and for those of several estimators or metrics.
    Source: lrdbench 2.0, `balanced_global`.

    >>> parts = [Aggregate("GPH", "mae", stratum, value, 1, 1) for stratum, value in (("a", 0.1), ("b", 0.3))]
    >>> (balance(parts).value, balance(parts).n_strata_included)
    (0.2, 2)
    """
    if len({(a.estimator, a.metric) for a in aggregates}) != 1:
        raise InvalidArgument("aggregates are none, or of several estimators or metrics; expected those of one")
    first = aggregates[0]
    present = [a for a in aggregates if np.isfinite(a.value)]
    about = (first.estimator, first.metric, None)
    counts = (
        sum(a.n_attempted for a in aggregates),
        sum(a.n_included for a in aggregates),
        len(aggregates),
        len(present),
    )
    if not present:
        return Aggregate(*about, float("nan"), *counts)
    if np.isfinite(present[0].numerator):
        above = float(np.mean([a.numerator for a in present]))
        below = float(np.mean([a.denominator for a in present]))
        return Aggregate(*about, _ratio(above, below), *counts, numerator=above, denominator=below)
    return Aggregate(*about, float(np.mean([a.value for a in present])), *counts)


def resample_ratio(group: Group, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Return replicates [n_resamples] of a ratio of means; numerator and denominator use the same drawn records.

    NaN where the denominator of a resample is not above RATIO_EPSILON.
    Raises InvalidArgument for a group without the rule `ratio`, without a record that has both numbers, and for no
    resample.
    Source: lrdbench 2.0, its paired ratio; Efron & Tibshirani 1993, section 6.2, for the draws.

    >>> group = Group("GPH", "r", "n=128", np.ones(2), np.arange(2), "ratio", np.full(2, 0.5))
    >>> resample_ratio(group, 3, np.random.default_rng(1)).tolist()
    [2.0, 2.0, 2.0]
    """
    if group.denominators is None:
        raise InvalidArgument("the group is no ratio")
    kept = group.included
    n_units = int(kept.sum())
    require_count("n_resamples", n_resamples)
    require_count("the number of records with both", n_units)
    drawn = rng.integers(0, n_units, size=(n_resamples, n_units))
    above, below = group.values[kept][drawn].mean(axis=1), group.denominators[kept][drawn].mean(axis=1)
    ratios: FloatArray = np.divide(above, below, out=np.full(n_resamples, np.nan), where=below > RATIO_EPSILON)
    return ratios


def resample_means(
    samples: FloatArray, n_resamples: int, rngs: np.random.Generator | Sequence[np.random.Generator]
) -> FloatArray:
    """Return replicates [n_samples, n_resamples] of the means of samples [n_samples, n_units] of equal size.

    A single generator draws for all samples in order, as one call would; a sequence has one generator per sample.
    Raises InvalidArgument for no unit, values that are not finite, no resample, and a wrong number of generators.
    Source: Efron & Tibshirani 1993, section 6.2.

    >>> resample_means(np.array([[1.0, 1.0], [2.0, 2.0]]), 3, np.random.default_rng(1)).tolist()
    [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]
    """
    require_shape("samples", samples, "n_samples", "[n_units]")
    require_finite("samples", samples)
    require_count("n_resamples", n_resamples)
    if not isinstance(rngs, np.random.Generator):
        require_count("the number of generators", len(rngs), least=len(samples))
    if isinstance(rngs, np.random.Generator):
        return _means(samples, n_resamples, rngs)
    means = np.empty((len(samples), n_resamples))
    for at in range(len(samples)):
        means[at : at + 1] = _means(samples[at : at + 1], n_resamples, rngs[at])
    return means


def _means(samples: FloatArray, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    n_samples, n_units = samples.shape
    means = np.empty((n_samples, n_resamples))
    if fill_means(rng, samples, means):
        return means
    drawn = rng.integers(0, n_units, size=(n_samples, n_resamples, n_units))
    averages: FloatArray = samples[np.arange(n_samples)[:, None, None], drawn].mean(axis=2)
    return averages


def interval_of(replicates: FloatArray, level: float) -> tuple[float, float]:
    """Return the percentile interval of replicates [n_resamples], in their unit; NaN if any replicate is.

    Raises InvalidArgument for a level outside (0, 1) and for no resample.
    Source: Efron & Tibshirani 1993, section 13.3.

    >>> interval_of(np.arange(5.0), 0.5)
    (1.0, 3.0)
    """
    require_shape("replicates", replicates, "[n_resamples]")
    low, high = percentile_interval(replicates[:, None], level)
    return float(low[0]), float(high[0])


# Two estimators on the records of a stratum that both have.


@dataclass(frozen=True)
class PairedGroup:
    """Differences a − b of two estimators on the records that both have, [n_pairs]."""

    first: str
    second: str
    metric: str
    stratum: str
    differences: FloatArray


def pair_groups(groups: Sequence[Group]) -> Iterator[PairedGroup]:
    """Yield the paired differences for each metric and stratum, with estimators in alphabetical order.

    They are the first estimator's values minus the second's, in the metric's unit, on the records where both have one;
    a pair without common records is left out.
    Source: lrdbench 2.0, `a__minus__b`.

    >>> of = {name: Group(name, "mae", "s", np.array(v), np.arange(2)) for name, v in
    ...       (("B", [0.5, 0.25]), ("A", [1.0, np.nan]))}
    >>> [(pair.first, pair.second, pair.differences.tolist()) for pair in pair_groups([of["B"], of["A"]])]
    [('A', 'B', [0.5])]
    """
    cells: dict[tuple[str, str], list[Group]] = {}
    for group in groups:
        cells.setdefault((group.metric, group.stratum), []).append(group)
    for (metric, stratum), members in cells.items():
        ordered = sorted(members, key=lambda member: member.estimator)
        for at, first in enumerate(ordered):
            for second in ordered[at + 1 :]:
                differences = _differences(first, second)
                if len(differences):
                    yield PairedGroup(first.estimator, second.estimator, metric, stratum, differences)


def _differences(first: Group, second: Group) -> FloatArray:
    a, b = first.included, second.included
    if np.array_equal(first.records[a], second.records[b]):
        return first.values[a] - second.values[b]
    _, at_first, at_second = np.intersect1d(first.records[a], second.records[b], return_indices=True)
    order = np.argsort(at_first)
    return first.values[a][at_first[order]] - second.values[b][at_second[order]]


# Weighted ranks over components: points in exact fractions, replicates as arrays. Values are [n_entrants,
# n_components], smaller being better after `oriented`; NaN is missing. Source: lrdbench 2.0, ranking rules 1 and 2.


def average_ranks(values: FloatArray, n_enrolled: int) -> FloatArray:
    """Return the ranks along the entrants' axis, ties sharing their average rank; a missing value gets N + 1.

    `values` is [..., n_entrants, n_components]. An entrant's rank is 1, plus those below it, plus half of its ties. N
    is `n_enrolled`, which may exceed the number of rows, so that an estimator that has not reported improves nobody's
    rank. NaN is a missing value; infinite values are ordered. Ranks have the shape of the values.
    Raises InvalidArgument for values of fewer than two axes, and for `n_enrolled` below the number of entrants.
    Source: lrdbench 2.0, ranking rule 2; Kendall 1945 for tied ranks.

    >>> average_ranks(np.array([[0.1], [0.1], [np.nan]]), n_enrolled=4).tolist()
    [[1.5], [1.5], [5.0]]
    """
    if values.ndim < 2:
        raise InvalidArgument(f"values has the shape {values.shape}; expected [..., n_entrants, n_components]")
    require_count("n_enrolled", n_enrolled, least=values.shape[-2])
    n_entrants = values.shape[-2]
    ranks = np.empty(values.shape)
    for entrant in range(n_entrants):  # one entrant against all, so that no array is larger than `values`
        mine = values[..., entrant : entrant + 1, :]
        ranks[..., entrant, :] = 1.0 + (values < mine).sum(axis=-2) + 0.5 * ((values == mine).sum(axis=-2) - 1.0)
    ranks[np.isnan(values)] = n_enrolled + 1
    return ranks


def ordinal_ranks(values: FloatArray) -> FloatArray:
    """Return ranks 1, 2, 3, … by rule 1: ties in the order of the rows, which is that of the entrants' names.

    A missing value, NaN, is worst in either direction: it ranks last. Values and ranks are [n_entrants, n_components].
    Raises InvalidArgument unless values have two axes.
    Source: lrdbench 2.0, ranking rule 1.

    >>> ordinal_ranks(np.array([[0.1], [np.nan], [0.1]])).tolist()
    [[1.0], [3.0], [2.0]]
    """
    require_shape("values", values, "n_entrants", "n_components")
    ranks = np.empty(values.shape)
    for component in range(values.shape[1]):
        order = np.argsort(values[:, component], kind="stable")  # NaN sorts last
        ranks[order, component] = np.arange(1, len(values) + 1)
    return ranks


def exact_scores(ranks: FloatArray, weights: Sequence[float]) -> list[Fraction]:
    """Return each entrant's Σ weight × rank as an exact fraction, with weights read as decimals; lower is better.

    `ranks` is [n_entrants, n_components], with a weight for each component.
    Raises InvalidArgument for a number of weights other than n_components, and a rank or weight that is not finite.
    Source: lrdbench 2.0, its leaderboard score; exact, so that a tie is a tie.

    >>> exact_scores(np.array([[1.0, 2.5]]), [0.1, 0.9])
    [Fraction(47, 20)]
    """
    _require_weighted("ranks", ranks, weights)
    require_finite("ranks", ranks)
    exact = [Fraction(str(weight)) for weight in weights]
    return [
        sum((weight * Fraction(rank) for weight, rank in zip(exact, row, strict=True)), Fraction(0))
        for row in ranks.tolist()
    ]


def decided_by_name(values: FloatArray, weights: Sequence[float]) -> FloatArray:
    """Return, for each entrant, the share of the weight on components where it ties: what rule 1 decides by name.

    `values` is [n_entrants, n_components], with a weight for each component; two missing values, NaN, tie.
    Raises InvalidArgument for a number of weights other than n_components, and for one that is not finite.
    Source: lrdbench 2.0, ranking rule 1, which breaks ties by name.

    >>> decided_by_name(np.array([[0.1, 1.0], [0.1, 2.0]]), [0.75, 0.25]).tolist()
    [0.75, 0.75]
    """
    _require_weighted("values", values, weights)
    tied = np.zeros(values.shape, dtype=np.bool_)
    for component in range(values.shape[1]):
        column = values[:, component]
        same = (column[:, None] == column[None, :]) | (np.isnan(column)[:, None] & np.isnan(column)[None, :])
        tied[:, component] = same.sum(axis=1) > 1
    shares: FloatArray = tied.astype(np.float64) @ np.asarray(weights, dtype=np.float64)
    return shares


def _require_weighted(name: str, array: FloatArray, weights: Sequence[float]) -> None:
    require_shape(name, array, "n_entrants", len(weights))
    for weight in weights:
        require_number("weights", weight)
