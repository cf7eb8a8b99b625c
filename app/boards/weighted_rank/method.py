"""Ranking method `weighted_rank`: lrdbench's leaderboard, weighted ranks of metrics that are balanced over strata.

Found by `app.boards.registry`. Ranks are about the records of the benchmark, those that more than half of the
estimators have; rank intervals come from resampling them within strata, the same records for every estimator.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from app.boards.tables import BoardTables
from app.boards.weighted_rank.groups import BY_SIZE, balanced, enrolled_estimators, series_groups, stratum_aggregates
from app.boards.weighted_rank.identity import split_identity
from app.boards.weighted_rank.pairs import score_pairs, terms_table
from app.boards.weighted_rank.records import held_records, on_records
from app.boards.weighted_rank.resampling import resample_components
from app.boards.weighted_rank.spec import RankedPart, WeightedRank
from app.boards.weighted_rank.tables import Components, Found, leaderboard
from app.errors import BoardUnavailable, Unavailable
from app.manifest.manifest import Manifest, part_of
from app.stats.arrays import FloatArray
from app.stats.strata import Aggregate, Group
from app.stats.weighted_ranks import average_ranks, exact_scores, ordinal_ranks
from app.values.scores import ScoreTable


def compute(manifest: Manifest, spec: WeightedRank, scores: ScoreTable) -> BoardTables:
    """Compute the board, its pairs and its terms. Raises BoardUnavailable without an estimator.

    An estimator that lacks records of the benchmark stands on the board without a rank.
    """
    enrolled = part_of(manifest, RankedPart).enrolled()
    names = enrolled_estimators(scores, enrolled)
    if not names:
        raise BoardUnavailable(Unavailable.NO_SUBMISSION, "No submission has been admitted yet.")
    held = held_records(scores, names)
    partial = held.lacking()
    complete = [name for name in names if name not in partial]
    groups = [group for group in series_groups(scores) if group.estimator in set(names)]
    groups = list(on_records(groups, held.of_benchmark))
    over_strata = balanced(stratum_aggregates(groups))
    components = _components(manifest, spec, complete, over_strata)
    n_enrolled = len(names if enrolled is None else enrolled)
    ranks = _ranks(spec, components.oriented, n_enrolled)
    exact = exact_scores(ranks, list(spec.weights.values()))
    found = Found(
        components=components,
        ranks=ranks,
        scores=[float(score) for score in exact],
        placed=_order(spec, components, exact),
        drawn=_replicates(manifest, spec, components.names, groups, n_enrolled),
        partial=_components(manifest, spec, list(partial), over_strata),
        held=held,
        groups=groups,
    )
    return BoardTables(leaderboard(manifest, spec, found), score_pairs(spec, found), (terms_table(spec, found),))


def _ranks(spec: WeightedRank, oriented: FloatArray, n_enrolled: int) -> FloatArray:
    return ordinal_ranks(oriented) if spec.ranking_rule == 1 else average_ranks(oriented, n_enrolled)


def _components(
    manifest: Manifest, spec: WeightedRank, names: Sequence[str], over_strata: Sequence[Aggregate]
) -> Components:
    known = {(a.estimator, a.metric): a.value for a in over_strata}
    metrics = tuple(spec.weights)
    cells = [[known.get((name, metric), np.nan) for metric in metrics] for name in names]
    values = np.array(cells, dtype=np.float64).reshape(len(names), len(metrics))
    return Components(tuple(names), metrics, values, _orient(manifest, metrics, values))


def _orient(manifest: Manifest, metrics: Sequence[str], values: FloatArray) -> FloatArray:
    """Return values with smaller being better; a bias is ranked by its size. [..., n_components]."""
    oriented = np.array(values, copy=True)
    for at, metric in enumerate(metrics):
        name, _ = split_identity(metric)
        if name in BY_SIZE:
            oriented[..., at] = np.abs(oriented[..., at])
        elif manifest.metrics[metric].direction == "maximize":
            oriented[..., at] = -oriented[..., at]
    return oriented


def _replicates(
    manifest: Manifest, spec: WeightedRank, names: Sequence[str], groups: Sequence[Group], n_enrolled: int
) -> FloatArray | None:
    """Return replicate scores [n_resamples, n_entrants], smaller being better; None when nothing can be resampled."""
    values = resample_components(groups, names, tuple(spec.weights), spec.uncertainty, spec.name) if names else None
    if values is None:
        return None
    # Rule 1 in a resample would break ties by name; ties share a rank here, whatever the rule of the points.
    weighted: FloatArray = average_ranks(_orient(manifest, tuple(spec.weights), values), n_enrolled) @ np.array(
        list(spec.weights.values())
    )
    return weighted


def _order(spec: WeightedRank, components: Components, exact: Sequence[Any]) -> list[tuple[int, int]]:
    """Return (position, rank) from best to worst: by score, then by the tie-breaking component, then by name."""
    breaking = components.metrics.index(spec.tie_break or components.metrics[0])
    by_value = [value if value == value else np.inf for value in components.oriented[:, breaking].tolist()]
    keys = [(exact[at], by_value[at]) for at in range(len(components.names))]
    if spec.ranking_rule == 1:
        order = sorted(range(len(keys)), key=lambda at: (exact[at], components.names[at]))
        return [(at, place) for place, at in enumerate(order, start=1)]
    order = sorted(range(len(keys)), key=lambda at: (*keys[at], components.names[at]))
    return [(at, 1 + sum(keys[other] < keys[at] for other in order)) for at in order]


METHOD = (WeightedRank, compute)
