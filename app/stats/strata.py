"""Aggregates of per-series metric rows within strata, balanced over strata, and their bootstraps.

Called by `app.boards`; pure. A group is one estimator's rows of one metric in one stratum, in the order of the
evidence. Values are in the metric's own unit and direction; NaN is null, and infinite numbers are treated as null.
Source: lrdbench 2.0, its interpretation semantics.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.stats.bounded_draws import fill_means
from app.stats.checks import (
    InvalidArgument,
    require_count,
    require_finite,
    require_integers,
    require_shape,
    require_word,
)
from app.stats.interval import percentile_interval

Rule = Literal["mean", "root_mean_square", "ratio", "scores"]
Generator = Callable[[str, str, str], np.random.Generator]


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
