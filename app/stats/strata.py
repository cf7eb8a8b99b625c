"""Aggregates of per-series metric rows within strata, balanced over strata, and their bootstraps.

Called by `app.leaderboards`; pure. A group is one estimator's rows of one metric in one stratum, in the order of the
evidence. Source: lrdbench 2.0, its interpretation semantics.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.stats.interval import percentile_interval

Rule = Literal["mean", "root_mean_square", "ratio"]
Generator = Callable[[str, str, str], np.random.Generator]

RATIO_EPSILON = 1e-12
"""A ratio whose denominator is not above this is null, as in lrdbench."""


@dataclass(frozen=True)
class Group:
    """Rows of one (estimator, metric, stratum). `values` is [n_attempted]; NaN is null.

    `denominators` is [n_attempted] for a ratio: the paired errors on the clean series; None for every other rule.
    `records` are the numbers of the series.
    """

    estimator: str
    metric: str
    stratum: str
    values: FloatArray
    records: IntArray
    rule: Rule = "mean"
    denominators: FloatArray | None = None

    @property
    def included(self) -> BoolArray:
        """Say which rows count: the finite ones."""
        finite: BoolArray = np.isfinite(self.values)
        return finite if self.denominators is None else finite & np.isfinite(self.denominators)


@dataclass(frozen=True)
class Aggregate:
    """One number of a group, or over strata (`stratum` None). NaN when nothing is included.

    `numerator` and `denominator` are the two means of a ratio, NaN otherwise.
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


def aggregate_group(group: Group) -> Aggregate:
    """Aggregate one group by its metric's rule; null and non-finite rows are dropped and counted."""
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
    """Return the unweighted mean of one estimator's stratum aggregates of one metric, the null ones left out.

    A ratio is the ratio of the means of its parts, over the strata that have both.
    """
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


@dataclass(frozen=True)
class Spread:
    """A point with its interval from `n_units` units, or why there is none."""

    estimator: str
    metric: str
    stratum: str | None
    point: float
    low: float | None
    high: float | None
    n_units: int


def resample_ratio(group: Group, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Return replicates [n_resamples] of a ratio of means; the same records are drawn above and below."""
    if group.denominators is None:
        raise ValueError("the group is no ratio")
    kept = group.included
    n_units = int(kept.sum())
    drawn = rng.integers(0, n_units, size=(n_resamples, n_units))
    above, below = group.values[kept][drawn].mean(axis=1), group.denominators[kept][drawn].mean(axis=1)
    ratios: FloatArray = np.divide(above, below, out=np.full(n_resamples, np.nan), where=below > RATIO_EPSILON)
    return ratios


def resample_means(
    samples: FloatArray, n_resamples: int, rngs: np.random.Generator | Sequence[np.random.Generator]
) -> FloatArray:
    """Return replicates [n_samples, n_resamples] of the means of samples [n_samples, n_units] of equal size.

    One shared generator draws for one sample after the other, which is one call; several are one for each sample.
    """
    shape = (n_resamples, samples.shape[1])
    if isinstance(rngs, np.random.Generator):
        drawn = rngs.integers(0, samples.shape[1], size=(len(samples), *shape))
    else:
        drawn = np.stack([rng.integers(0, samples.shape[1], size=shape) for rng in rngs])
    rows = np.arange(len(samples))[:, None, None]
    means: FloatArray = samples[rows, drawn].mean(axis=2)
    return means


@dataclass(frozen=True)
class PairedGroup:
    """Differences a − b of two estimators on the records that both have, [n_pairs]."""

    first: str
    second: str
    metric: str
    stratum: str
    differences: FloatArray


def pair_groups(groups: Sequence[Group]) -> Iterator[PairedGroup]:
    """Yield the paired differences of each metric and stratum, the estimators in the order of their names."""
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


def interval_of(replicates: FloatArray, level: float) -> tuple[float, float]:
    """Return the percentile interval of replicates [n_resamples]."""
    low, high = percentile_interval(replicates[:, None], level)
    return float(low[0]), float(high[0])
