"""Replicates of balanced component values: records are weighted by name, the same for every estimator.

Called by `.method`. In a stress suite one clean series appears contaminated in many strata: the clean series is the
unit, and all records derived from it share its weight.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.boards.methods.weighted_rank.discrimination import by_estimator, class_values, scored_records
from app.boards.methods.weighted_rank.groups import COVERAGE, COVERAGE_ERROR
from app.boards.methods.weighted_rank.identity import identity_of, levels_of, split_identity
from app.boards.spread import Precision, Spread
from app.manifest.uncertainty import Uncertainty
from app.stats.arrays import FloatArray, IntArray, share
from app.stats.named_draws import named_weights, unit_keys
from app.stats.strata import RATIO_EPSILON, Group
from app.values.scores import ScoreTable

CLEAN_SERIES = "clean_record_id"
"""The recorded field in which a row of a stress suite names the clean series of its record."""


@dataclass(frozen=True)
class Records:
    """The name of each record's resampling unit, and its class, NaN where no row states one; [n_records] each."""

    units: Sequence[str]
    labels: FloatArray


@dataclass(frozen=True)
class DrawnComponents:
    """Replicates [n_resamples, n_entrants, n_components], their precision, and their number of units."""

    values: FloatArray
    precision: Precision
    n_units: float

    def spread(self, scores: FloatArray, points: FloatArray) -> Spread:
        """Return the spread of replicated scores [n_resamples, n_entrants]; `points` are [n_entrants, n_components].

        An estimator without a component has none: its worst rank is the same in every resample, which a few units
        would not tell from chance, and who lacks something is never one that may be first.
        """
        lacking = np.asarray(np.isnan(points).any(axis=1)).tolist()
        return Spread(-scores, [None if lacks else self.precision for lacks in lacking], in_steps=True)


def resample_components(
    groups: Sequence[Group], names: Sequence[str], metrics: Sequence[str], drawn: Uncertainty, of: Records
) -> DrawnComponents | None:
    """Return replicates of means over strata; None if no stratum has two units, or without resamples.

    A stratum with a single unit stays as it is in every resample. Values [n_resamples, n_entrants, n_components] have
    the metrics' units; NaN where nothing is included. Source: `app.stats.strata.balance`, weighted as in Rubin 1981.

    >>> group = Group("GPH", "mae", "n=128", np.array([0.1, 0.1]), np.arange(2))
    >>> of = Records(["r1", "r2"], np.full(2, np.nan))
    >>> drawn = resample_components([group], ["GPH"], ["mae"], Uncertainty(n_resamples=100), of)
    >>> drawn.values.shape, bool(np.allclose(drawn.values, 0.1))
    ((100, 1, 1), True)
    """
    units = of.units
    by_stratum: dict[str, list[Group]] = {stratum: [] for stratum in sorted({group.stratum for group in groups})}
    for group in groups:
        by_stratum[group.stratum].append(group)
    records = {stratum: _records(members) for stratum, members in by_stratum.items()}
    of_strata = [{units[at] for at in of_stratum.tolist()} for of_stratum in records.values()]
    precision = _precision(of_strata)
    if precision is None or not drawn.n_resamples:
        return None
    shape = (drawn.n_resamples, len(names), len(metrics))
    sums, counts = np.zeros(shape), np.zeros(shape)
    for stratum, members in by_stratum.items():
        keys = unit_keys(drawn.rng_seed, [(units[at],) for at in records[stratum].tolist()])
        weights = named_weights(keys, drawn.n_resamples)
        values = _stratum_values(members, records[stratum], weights, names, metrics)
        known = ~np.isnan(values)
        sums += np.where(known, values, 0.0)
        counts += known
    values = share(sums, counts)
    for (name, metric), members in by_estimator(groups).items():
        if name in names and metric in metrics:
            place = (list(names).index(name), list(metrics).index(metric))
            values[:, *place] = _class_replicates(members, metric, drawn, of)
    return DrawnComponents(values, precision, float(len(set().union(*of_strata))))


def _class_replicates(groups: Sequence[Group], metric: str, drawn: Uncertainty, of: Records) -> FloatArray:
    """Return replicates of a metric that tells classes apart, over all strata: a record weighs as it does in each.

    A resample never lacks a class that is there, because no weight is zero.
    """
    kept = [np.isfinite(group.values) & ~np.isnan(of.labels[group.records]) for group in groups]
    records = np.concatenate([group.records[rows] for group, rows in zip(groups, kept, strict=True)])
    keys = unit_keys(drawn.rng_seed, [(of.units[at],) for at in records.tolist()])
    return class_values(metric, *scored_records(groups, of.labels), named_weights(keys, drawn.n_resamples))


def unit_names(scores: ScoreTable, *, are_stressed: bool) -> list[str]:
    """Return the unit of each record: the clean series it is derived from where series are stressed, or itself.

    Source: none; it looks names up.

    >>> from app.boards.example import rows
    >>> unit_names(rows({"GPH": [0.1, 0.2]}, "mae"), are_stressed=True)
    ['a', 'b', 'c']
    """
    if scores.item is None:
        return []
    clean = clean_series(scores) if are_stressed else {}
    return [clean.get(record, record) for record in scores.item.words]


def clean_series(scores: ScoreTable) -> dict[str, str]:
    """Return the clean series that rows name for each record; rows without one are ignored.

    Admission refuses rows that contradict each other. Among older rows that do, the majority counts, ties by name.
    Source: none; a majority vote.

    >>> from app.boards.example import rows
    >>> clean_series(rows({"GPH": [0.1, 0.2]}, "mae"))
    {}
    """
    names: dict[str, Counter[str]] = {}
    if scores.item is not None and (stated := scores.recorded.get(CLEAN_SERIES)) is not None:
        for at in np.flatnonzero((stated.codes >= 0) & (scores.item.codes >= 0)).tolist():
            names.setdefault(scores.item.at(at) or "", Counter())[stated.at(at) or ""] += 1
    return {record: min(counts, key=lambda name: (-counts[name], name)) for record, counts in names.items()}


def _precision(units: Sequence[set[str]]) -> Precision | None:
    """Return the precision of a mean over strata, from the units of each; None where no stratum has two.

    Degrees of freedom add up over strata without a common unit; otherwise they are those of the distinct units.
    """
    several = [each for each in units if len(each) > 1]
    if not several:
        return None
    distinct = len(set().union(*several))
    is_nested = distinct == sum(map(len, several))
    freedom = distinct - (len(several) if is_nested else 1)
    inflation = sum((len(each) + 1.0) / (len(each) - 1.0) for each in several) / len(several)
    return Precision(float(freedom), inflation)


def _records(groups: Sequence[Group]) -> IntArray:
    return np.unique(np.concatenate([group.records for group in groups]))


def _stratum_values(
    groups: Sequence[Group],
    records: IntArray,
    weights: FloatArray,
    names: Sequence[str],
    metrics: Sequence[str],
) -> FloatArray:
    """Return [n_resamples, n_entrants, n_components] of one stratum's aggregates."""
    values = np.full((len(weights), len(names), len(metrics)), np.nan)
    place = {name: at for at, name in enumerate(names)}
    sources = [source_metric(metric) for metric in metrics]
    for group in groups:
        for at, metric in enumerate(metrics):
            if sources[at] == group.metric and group.estimator in place and group.rule != "scores":
                values[:, place[group.estimator], at] = _aggregate(group, records, weights, metric)
    return values


def over_levels(values: FloatArray, components: Sequence[str]) -> FloatArray:
    """Return [..., n_components] from [..., n_metrics]: a component of several levels is the mean of those available.

    The unit is unchanged; NaN where there is none.
    Source: the mean over levels.

    >>> over_levels(np.array([0.2, 0.4, 1.0]), ["coverage@0.5@0.95", "mae"]).round(9).tolist()
    [0.3, 1.0]
    """
    parts, at = [], 0
    for component in components:
        n_levels = len(levels_of(component))
        levels = values[..., at : at + n_levels]
        known = ~np.isnan(levels)
        parts.append(levels[..., 0] if n_levels == 1 else share(np.where(known, levels, 0.0).sum(-1), known.sum(-1)))
        at += n_levels
    folded: FloatArray = np.stack(parts, axis=-1)
    return folded


def source_metric(metric: str) -> str:
    """Return the metric whose rows a component is computed from: a coverage error comes from the coverage of its level.

    >>> source_metric("coverage_error@0.95"), source_metric("mae")
    ('coverage@0.95', 'mae')
    """
    name, level = split_identity(metric)
    return identity_of(COVERAGE, level) if name == COVERAGE_ERROR else metric


def _aggregate(group: Group, records: IntArray, weights: FloatArray, metric: str) -> FloatArray:
    kept = group.included
    mine = weights[:, np.searchsorted(records, group.records[kept])]
    averages = share(mine @ group.values[kept], mine.sum(axis=1))
    if group.denominators is not None:
        below = share(mine @ group.denominators[kept], mine.sum(axis=1))
        return share(averages, np.where(below > RATIO_EPSILON, below, 0.0))
    if group.rule == "root_mean_square":
        roots: FloatArray = np.sqrt(averages)
        return roots
    name, level = split_identity(metric)
    return np.abs(averages - level) if name == COVERAGE_ERROR and level is not None else averages
