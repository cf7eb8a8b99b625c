"""Replicates of balanced component values: the records of each stratum are drawn, the same for every estimator.

Called by `app.boards.weighted_rank.method`. Each stratum has its own generator, seeded by names, so that a stratum more
or less leaves the draws of the others as they are.
"""

from collections.abc import Sequence

import numpy as np

from app.boards.weighted_rank.groups import COVERAGE, COVERAGE_ERROR
from app.boards.weighted_rank.identity import identity_of, levels_of, split_identity
from app.manifest.manifest import Uncertainty
from app.stats.arrays import FloatArray, IntArray, share
from app.stats.resample import board_generator, draw_counts
from app.stats.strata import RATIO_EPSILON, Group


def resample_components(
    groups: Sequence[Group], names: Sequence[str], metrics: Sequence[str], drawn: Uncertainty, board: str
) -> FloatArray | None:
    """Return [n_resamples, n_entrants, n_components] of means over strata; None when no stratum has two records.

    A stratum with a single record stays as it is in every resample.
    """
    strata = sorted({group.stratum for group in groups})
    by_stratum: dict[str, list[Group]] = {stratum: [] for stratum in strata}
    for group in groups:
        by_stratum[group.stratum].append(group)
    records = {stratum: _records(members) for stratum, members in by_stratum.items()}
    if not any(len(of_stratum) > 1 for of_stratum in records.values()):
        return None
    shape = (drawn.n_resamples, len(names), len(metrics))
    sums, counts = np.zeros(shape), np.zeros(shape)
    for stratum, members in by_stratum.items():
        rng = board_generator(drawn.rng_seed, board, stratum)
        weights = draw_counts(len(records[stratum]), drawn.n_resamples, rng)
        values = _stratum_values(members, records[stratum], weights, names, metrics)
        known = ~np.isnan(values)
        sums += np.where(known, values, 0.0)
        counts += known
    return share(sums, counts)


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
            if sources[at] == group.metric and group.estimator in place:
                values[:, place[group.estimator], at] = _aggregate(group, records, weights, metric)
    return values


def over_levels(values: FloatArray, components: Sequence[str]) -> FloatArray:
    """Return [..., n_components] from [..., n_metrics]: a component of several levels is the mean of those there are.

    NaN where none is.
    """
    found, at = [], 0
    for component in components:
        n_levels = len(levels_of(component))
        levels = values[..., at : at + n_levels]
        known = ~np.isnan(levels)
        found.append(levels[..., 0] if n_levels == 1 else share(np.where(known, levels, 0.0).sum(-1), known.sum(-1)))
        at += n_levels
    folded: FloatArray = np.stack(found, axis=-1)
    return folded


def source_metric(metric: str) -> str:
    """Return the metric whose rows a component is made of: a coverage error comes from the coverage of its level."""
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
