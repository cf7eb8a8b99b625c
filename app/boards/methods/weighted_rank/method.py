"""Ranking method `weighted_rank`: lrdbench's leaderboard, weighted ranks of metrics that are balanced over strata.

Found by `app.boards.registry`. Ranks are over the records of the benchmark's grid or, if none is declared, the records
of at least half of the owners; rank intervals come from resampling records within strata, the same for every estimator.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from app.boards.methods.weighted_rank.bounds import Ends, component_bounds
from app.boards.methods.weighted_rank.calibrated import Ranking, calibrated_ranks, widened
from app.boards.methods.weighted_rank.coverage import covered_metrics, on_asked, record_roster, with_worst
from app.boards.methods.weighted_rank.discrimination import class_aggregates, class_groups, record_labels
from app.boards.methods.weighted_rank.groups import (
    BY_SIZE,
    balanced,
    enrolled_estimators,
    series_groups,
    stratum_aggregates,
)
from app.boards.methods.weighted_rank.identity import levels_of, split_identity
from app.boards.methods.weighted_rank.pairs import score_pairs, terms_table
from app.boards.methods.weighted_rank.records import held_records, on_records, on_tasks
from app.boards.methods.weighted_rank.resampling import (
    DrawnComponents,
    Records,
    over_levels,
    resample_components,
    source_metric,
    unit_names,
)
from app.boards.methods.weighted_rank.spec import NO_TIE_BREAK, RankedPart, WeightedRank
from app.boards.methods.weighted_rank.tables import Components, RankedBoard, leaderboard
from app.boards.standing import stand
from app.boards.tables import BoardTables, TableMethod
from app.errors import BoardUnavailable, Unavailable
from app.manifest.manifest import Manifest, part_of
from app.stats.arrays import FloatArray
from app.stats.strata import Aggregate, Group
from app.stats.weighted_ranks import average_ranks, exact_scores, ordinal_ranks
from app.values.scores import ScoreTable

NOISE_DIGITS = 12
"""Component values of magnitude one that agree to this many decimals are tied."""


def compute(manifest: Manifest, spec: WeightedRank, scores: ScoreTable) -> BoardTables:
    """Compute the board, its pairs and its terms: sums of weighted ranks, from 1, smaller being better.

    An estimator that lacks records of the grid, or has NaN on them, is listed without a rank.
    Raises BoardUnavailable without an estimator. Source: lrdbench 2.0, its leaderboard under ranking rules 1 and 2.

    >>> from app.boards.example import benchmark, rows
    >>> board = WeightedRank(name="main", method="weighted_rank", weights={"mae": 1.0})
    >>> [row[:3] for row in compute(benchmark(board), board, rows(metric="mae")).leaderboard.rows]
    [(1, 'Good', 1.0), (2, 'Fair', 2.0), (3, 'Poor', 3.0)]
    """
    scores, asked = on_tasks(scores, manifest.asked.named_items, spec.tasks)
    part = part_of(manifest, RankedPart)
    names = enrolled_estimators(scores, part.enrolled())
    if not names:
        raise BoardUnavailable(Unavailable.NO_SUBMISSION, "No submission has been admitted yet.")
    held = held_records(scores, names, asked, manifest.asked.facts.owners_of(names))
    all_groups = [*series_groups(scores), *class_groups(scores, spec.metric_names())]
    labels = record_labels(scores, len(held.records))
    groups = list(on_records([group for group in all_groups if group.estimator in set(names)], held.of_benchmark))
    covered = covered_metrics(manifest, spec, held, groups, labels)
    groups = list(on_asked(groups, covered))
    roster = record_roster(manifest, held, covered)
    if manifest.absent == "worst" and held.asked is not None:
        groups = with_worst(manifest, held, covered, groups, labels)
    ranked = [name for name in names if name in roster.ranked]
    over_strata = [*balanced(stratum_aggregates(groups)), *class_aggregates(groups, labels)]
    n_enrolled = len(part.enrolled() or ranked)
    points = rank_points(manifest, spec, ranked, over_strata, n_enrolled)
    components = points.components
    others = _components(manifest, spec, [name for name in names if name not in ranked], over_strata)
    of_ranked = [group for group in groups if group.estimator in roster.ranked]
    orient = partial(_orient, manifest, tuple(spec.weights))
    # Under rule 1 resamples would break ties by name, so replicates share ranks whatever the rule of the points.
    ranking = Ranking(orient, np.array(list(spec.weights.values())), n_enrolled)
    drawn = _drawn(spec, components, of_ranked, Records(unit_names(scores, are_stressed=part.are_stressed()), labels))
    spread = None if drawn is None else drawn.spread(ranking.scores(drawn.values), components.values)
    again = None if drawn is None else ranking.scores(widened(components.values, drawn, spec.uncertainty.level))
    shown = RankedBoard(
        components=components,
        ranks=points.ranks,
        scores=points.scores,
        placed=points.placed,
        spread=spread,
        again=again,
        calibrated=calibrated_ranks(manifest, spec, components.values, np.array(points.scores), drawn, again),
        standing=stand(-np.array(points.scores), spread, spec.uncertainty.level),
        others=others,
        held=held,
        groups=groups,
        roster=roster,
        behind=_behind(spec, components, others, n_enrolled),
        bounds={
            name: _bounds(manifest, spec, components, own, component_bounds(manifest, held, covered, groups, name))
            for name in others.names
            for own in [others.values[others.names.index(name)]]
        },
    )
    board = leaderboard(manifest, spec, shown)
    further = None if spec.explored is not None else (terms_table(spec, shown),)
    return BoardTables(board, None) if further is None else BoardTables(board, score_pairs(spec, shown), further)


@dataclass(frozen=True)
class Points:
    """Ranks by the points alone; `placed` are (position, rank) from best to worst."""

    components: Components
    ranks: FloatArray
    scores: list[float]
    placed: list[tuple[int, int]]


def rank_points(
    manifest: Manifest, spec: WeightedRank, names: Sequence[str], over_strata: Sequence[Aggregate], n_enrolled: int
) -> Points:
    """Rank the named estimators by their aggregates over strata, among `n_enrolled`; smaller is better.

    A missing aggregate, NaN, takes the worst rank. Source: lrdbench 2.0, ranking rules 1 and 2.

    >>> from app.boards.example import benchmark
    >>> board = WeightedRank(name="main", method="weighted_rank", weights={"mae": 1.0})
    >>> over = [Aggregate("GPH", "mae", None, 0.3, 1, 1), Aggregate("DFA", "mae", None, 0.1, 1, 1)]
    >>> rank_points(benchmark(board), board, ["GPH", "DFA"], over, 2).scores
    [2.0, 1.0]
    """
    components = _components(manifest, spec, names, over_strata)
    ranks = _ranks(spec, components.oriented, n_enrolled)
    exact = exact_scores(ranks, list(spec.weights.values()))
    return Points(components, ranks, [float(score) for score in exact], _order(spec, components, exact))


def _behind(spec: WeightedRank, components: Components, others: Components, n_enrolled: int) -> dict[str, float]:
    """Return each other estimator's score if it alone joined the ranked, larger being better."""
    scores = {}
    for name, own in zip(others.names, others.oriented, strict=True):
        ranks = _ranks(spec, np.vstack([components.oriented, own]), max(n_enrolled, len(components.names) + 1))
        scores[name] = -float(exact_scores(ranks, list(spec.weights.values()))[-1])
    return scores


def _bounds(
    manifest: Manifest, spec: WeightedRank, components: Components, own: FloatArray, ends: Mapping[str, Ends]
) -> tuple[int, int] | None:
    """Return an estimator's ranks if the values it lacks were worst and best; None where it lacks nothing.

    Bounds on coverage do not bound a coverage error, so that takes the last or the first rank.
    """
    if not ends:
        return None
    worst, best = (_with_end(manifest, spec, own, ends, at) for at in (0, 1))
    return _rank_of(spec, components, worst), _rank_of(spec, components, best)


def _with_end(manifest: Manifest, spec: WeightedRank, own: FloatArray, ends: Mapping[str, Ends], at: int) -> FloatArray:
    oriented = _orient(manifest, tuple(spec.weights), own)
    for place, metric in enumerate(spec.weights):
        sources = [source for each in levels_of(metric) if (source := source_metric(each)) in ends]
        if sources:
            value = ends[sources[0]][at]
            is_direct = sources == [metric] and np.isfinite(value)
            edge = np.inf if at == 0 else -np.inf
            of_one = np.array([value if n == place else np.nan for n in range(len(oriented))])
            oriented[place] = _orient(manifest, tuple(spec.weights), of_one)[place] if is_direct else edge
    return oriented


def _rank_of(spec: WeightedRank, components: Components, own: FloatArray) -> int:
    together = np.vstack([components.oriented, own])
    ranks = _ranks(spec, together, len(together))
    scores = exact_scores(ranks, list(spec.weights.values()))
    return 1 + sum(score < scores[-1] for score in scores[:-1])


def _ranks(spec: WeightedRank, oriented: FloatArray, n_enrolled: int) -> FloatArray:
    return ordinal_ranks(oriented) if spec.ranking_rule == 1 else average_ranks(oriented, n_enrolled)


def _components(
    manifest: Manifest, spec: WeightedRank, names: Sequence[str], over_strata: Sequence[Aggregate]
) -> Components:
    known = {(a.estimator, a.metric): a.value for a in over_strata}
    metrics, each = tuple(spec.weights), spec.metric_names()
    cells = [[known.get((name, metric), np.nan) for metric in each] for name in names]
    values = over_levels(np.array(cells, dtype=np.float64).reshape(len(names), len(each)), metrics)
    return Components(tuple(names), metrics, values, _orient(manifest, metrics, values))


def _orient(manifest: Manifest, metrics: Sequence[str], values: FloatArray) -> FloatArray:
    """Return values [..., n_components] such that smaller is better; a bias becomes its absolute value.

    Values that differ only by rounding become equal.
    """
    oriented = np.array(values, copy=True)
    for at, component in enumerate(metrics):
        metric = levels_of(component)[0]
        if split_identity(metric)[0] in BY_SIZE:
            oriented[..., at] = np.abs(oriented[..., at])
        elif manifest.metrics[metric].direction == "maximize":
            oriented[..., at] = -oriented[..., at]
        oriented[..., at] = _without_noise(oriented[..., at])
    return oriented


def _without_noise(values: FloatArray) -> FloatArray:
    """Return values rounded, so that sums taken in another order do not differ."""
    known = np.abs(values[np.isfinite(values)])
    digits = int(np.floor(np.log10(max(1.0, float(known.max()))))) if known.size else 0
    rounded: FloatArray = np.round(values, NOISE_DIGITS - digits)
    return rounded


def _drawn(spec: WeightedRank, components: Components, groups: Sequence[Group], of: Records) -> DrawnComponents | None:
    """Return replicates of the component values; None where nothing can be resampled."""
    each = spec.metric_names()
    drawn = resample_components(groups, components.names, each, spec.uncertainty, of) if components.names else None
    return None if drawn is None else replace(drawn, values=over_levels(drawn.values, tuple(spec.weights)))


def _order(spec: WeightedRank, components: Components, exact: Sequence[Any]) -> list[tuple[int, int]]:
    """Return (position, rank) from best to worst: by score, then by the tie-breaking component, then by name."""
    by_value = [0.0] * len(components.names)
    if spec.tie_break != NO_TIE_BREAK:
        breaking = components.metrics.index(spec.tie_break or components.metrics[0])
        by_value = [value if value == value else np.inf for value in components.oriented[:, breaking].tolist()]
    keys = [(exact[at], by_value[at]) for at in range(len(components.names))]
    if spec.ranking_rule == 1:
        order = sorted(range(len(keys)), key=lambda at: (exact[at], components.names[at]))
        return [(at, place) for place, at in enumerate(order, start=1)]
    order = sorted(range(len(keys)), key=lambda at: (*keys[at], components.names[at]))
    return [(at, 1 + sum(keys[other] < keys[at] for other in order)) for at in order]


METHOD = TableMethod(WeightedRank, compute)
