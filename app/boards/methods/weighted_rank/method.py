"""Ranking method `weighted_rank`: lrdbench's leaderboard, weighted ranks of metrics that are balanced over strata.

Found by `app.boards.registry`. Ranks are over the records of the benchmark's grid or, if none is declared, the records
of at least half of the owners; rank intervals come from resampling records within strata, the same for every estimator.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from app.boards.coverage import Roster
from app.boards.methods.weighted_rank.bounds import Ends, component_bounds
from app.boards.methods.weighted_rank.calibrated import Ranking, calibrated_ranks, widened
from app.boards.methods.weighted_rank.coverage import (
    CoveredMetric,
    covered_metrics,
    left_out,
    on_asked,
    record_roster,
    with_worst,
)
from app.boards.methods.weighted_rank.discrimination import class_aggregates, class_groups, record_labels
from app.boards.methods.weighted_rank.failures import declared_failures
from app.boards.methods.weighted_rank.groups import (
    BY_SIZE,
    balanced,
    enrolled_estimators,
    series_groups,
    stratum_aggregates,
)
from app.boards.methods.weighted_rank.identity import levels_of, split_identity
from app.boards.methods.weighted_rank.pairs import score_pairs, terms_table
from app.boards.methods.weighted_rank.records import HeldRecords, held_records, on_records, on_tasks
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
from app.boards.standing import Gaps, stand
from app.boards.tables import Beside, BoardTables, TableMethod, pairs_beside
from app.errors import BoardUnavailable, Unavailable
from app.manifest.manifest import Manifest, part_of
from app.stats.arrays import BoolArray, FloatArray
from app.stats.strata import Aggregate, Group
from app.stats.weighted_ranks import average_ranks, exact_scores, ordinal_ranks
from app.values.scores import ScoreTable

NOISE_DIGITS = 12
"""Component values of magnitude one that agree to this many decimals are tied."""


def compute(manifest: Manifest, spec: WeightedRank, scores: ScoreTable) -> BoardTables:
    """Compute the board, its pairs and its terms: sums of weighted ranks, from 1, smaller being better.

    An estimator that leaves out records of the grid, or has NaN there without a declared failure, is listed apart.
    Raises BoardUnavailable without an estimator. Source: lrdbench 2.0, its leaderboard under ranking rules 1 and 2.

    >>> from app.boards.example import benchmark, rows
    >>> board = WeightedRank(name="main", method="weighted_rank", weights={"mae": 1.0})
    >>> [row[:3] for row in compute(benchmark(board), board, rows(metric="mae")).leaderboard.rows]
    [(1, 'Good', 1.0), (2, 'Fair', 2.0), (3, 'Poor', 3.0)]
    """
    part = part_of(manifest, RankedPart)
    of = rank_rows(manifest, spec, scores, part.enrolled())
    if of is None:
        raise BoardUnavailable(Unavailable.NO_SUBMISSION, "No submission has been admitted yet.")
    components, points = of.points.components, of.points
    others = _components(
        manifest, spec, [name for name in of.held.contenders if name not in of.roster.ranked], of.over_strata
    )
    of_ranked = [group for group in of.groups if group.estimator in of.roster.ranked]
    orient = partial(_with_last, manifest, tuple(spec.weights), of.last)
    # Under rule 1 resamples would break ties by name, so replicates share ranks whatever the rule of the points.
    ranking = Ranking(orient, np.array(list(spec.weights.values())), of.n_enrolled)
    names_of_units = unit_names(of.scores, are_stressed=part.are_stressed())
    drawn = _drawn(spec, components, of_ranked, Records(names_of_units, of.labels))
    spread = None if drawn is None else drawn.spread(ranking.scores(drawn.values), components.values)
    again = None if drawn is None else ranking.scores(widened(components.values, drawn, spec.uncertainty.level))
    scored = -np.array(points.scores)
    shown = RankedBoard(
        components=components,
        ranks=points.ranks,
        scores=points.scores,
        placed=points.placed,
        spread=spread,
        again=again,
        calibrated=calibrated_ranks(manifest, spec, components.values, np.array(points.scores), drawn, again),
        standing=stand(scored, spread, spec.uncertainty.level, gaps=_gaps(spec, of)),
        others=others,
        held=of.held,
        groups=of.groups,
        roster=of.roster,
        behind=_behind(spec, components, others, of.n_enrolled),
        bounds={
            name: _bounds(
                manifest, spec, components, own, component_bounds(manifest, of.held, of.covered, of.groups, name)
            )
            for name in others.names
            for own in [others.values[others.names.index(name)]]
        },
    )
    board = leaderboard(manifest, spec, shown)
    if spec.explored is not None:
        return BoardTables(board)
    terms = Beside(f"score/{spec.name}", partial(terms_table, spec, shown))
    return BoardTables(board, (*pairs_beside(spec, partial(score_pairs, spec, shown)), terms))


@dataclass(frozen=True)
class RankedRows:
    """Who is ranked of some rows, and how: everything of a board that needs no draws.

    `gaps` and `last` are [n_ranked, n_components]: where something asked is missing, and where it was left out without
    a declared failure, which puts an estimator behind all who have values.
    """

    scores: ScoreTable
    held: HeldRecords
    covered: Sequence[CoveredMetric]
    groups: Sequence[Group]
    labels: FloatArray
    roster: Roster
    over_strata: Sequence[Aggregate]
    points: "Points"
    n_enrolled: int
    gaps: BoolArray
    last: BoolArray


def rank_rows(
    manifest: Manifest, spec: WeightedRank, scores: ScoreTable, enrolled: Sequence[str] | None
) -> RankedRows | None:
    """Rank the enrolled estimators, None for all, by their rows; None where no row is theirs.

    Source: lrdbench 2.0, its leaderboard under ranking rules 1 and 2.

    >>> from app.boards.example import benchmark, rows
    >>> board = WeightedRank(name="main", method="weighted_rank", weights={"mae": 1.0})
    >>> of = rank_rows(benchmark(board), board, rows(metric="mae"), None)
    >>> None if of is None else of.roster.ranked
    ('Fair', 'Good', 'Poor')
    """
    scores, asked = on_tasks(scores, manifest.asked.named_items, spec.tasks)
    names = enrolled_estimators(scores, enrolled)
    if not names:
        return None
    held = held_records(scores, names, asked, manifest.asked.facts.owners_of(names))
    all_groups = [*series_groups(scores), *class_groups(scores, spec.metric_names())]
    labels = record_labels(scores, len(held.records))
    groups = list(on_records([group for group in all_groups if group.estimator in set(names)], held.of_benchmark))
    sources = list(dict.fromkeys(source_metric(metric) for metric in spec.metric_names()))
    failures = declared_failures(scores, held, part_of(manifest, RankedPart), sources)
    covered = covered_metrics(manifest, spec, held, groups, labels, failures)
    groups = list(on_asked(groups, covered, names))
    roster = record_roster(manifest, held, covered)
    if manifest.absent == "worst" and held.asked is not None:
        groups = with_worst(manifest, held, covered, groups, labels)
    ranked = [name for name in names if name in roster.ranked]
    over_strata = [*balanced(stratum_aggregates(groups)), *class_aggregates(groups, labels)]
    # Without a grid who lacks something is ranked behind, and a declared worst value is a value.
    is_by_rule = held.asked is not None and manifest.absent != "worst"
    places = [names.index(name) for name in ranked] if is_by_rule else []
    shape = (len(ranked), len(spec.weights))
    gaps, last = (
        np.array([left_out(spec, covered, at, is_any=is_any) for at in places], dtype=np.bool_).reshape(shape)
        if places
        else np.zeros(shape, dtype=np.bool_)
        for is_any in (True, False)
    )
    n_enrolled = len(enrolled or ranked)
    points = rank_points(manifest, spec, ranked, over_strata, n_enrolled, last)
    return RankedRows(scores, held, covered, groups, labels, roster, over_strata, points, n_enrolled, gaps, last)


def _gaps(spec: WeightedRank, of: RankedRows) -> Gaps | None:
    """Return the scores of who has gaps, larger being better, if its own gaps alone had the last rank.

    None where nobody has gaps.
    The others keep their values: set back together with them, whoever lacks least would gain by what others lack.
    """
    if not of.gaps.any():
        return None
    oriented, at_worst = of.points.components.oriented, np.full(len(of.gaps), np.nan)
    for at in np.flatnonzero(of.gaps.any(axis=1)).tolist():
        others = np.delete(oriented, at, axis=0)
        ties = np.isposinf(others)
        before = ties[:at].sum(axis=0) if spec.ranking_rule == 1 else 0.5 * ties.sum(axis=0)
        last = 1.0 + (others < np.inf).sum(axis=0) + before
        own = np.where(of.gaps[at] & ~np.isnan(oriented[at]), last, of.points.ranks[at])
        at_worst[at] = -float(exact_scores(own[None, :], list(spec.weights.values()))[0])
    delivered = [of.roster.coverages[name].n_included for name in of.points.components.names]
    return Gaps(at_worst, np.array(delivered, dtype=np.int64))


@dataclass(frozen=True)
class Points:
    """Ranks by the points alone; `placed` are (position, rank) from best to worst."""

    components: Components
    ranks: FloatArray
    scores: list[float]
    placed: list[tuple[int, int]]


def rank_points(
    manifest: Manifest,
    spec: WeightedRank,
    names: Sequence[str],
    over_strata: Sequence[Aggregate],
    n_enrolled: int,
    last: BoolArray | None = None,
) -> Points:
    """Rank the named estimators by their aggregates over strata, among `n_enrolled`; smaller is better.

    A missing aggregate, NaN, takes the worst rank. `last` [n_estimators, n_components] marks what ranks behind all
    values, and before what is missing. Source: lrdbench 2.0, ranking rules 1 and 2.

    >>> from app.boards.example import benchmark
    >>> board = WeightedRank(name="main", method="weighted_rank", weights={"mae": 1.0})
    >>> over = [Aggregate("GPH", "mae", None, 0.3, 1, 1), Aggregate("DFA", "mae", None, 0.1, 1, 1)]
    >>> rank_points(benchmark(board), board, ["GPH", "DFA"], over, 2).scores
    [2.0, 1.0]
    """
    components = _components(manifest, spec, names, over_strata)
    if last is not None:
        oriented = np.where(last & ~np.isnan(components.oriented), np.inf, components.oriented)
        components = replace(components, oriented=oriented)
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
        oriented[..., at] = _without_noise(oriented[..., at], 0.0 if manifest.metrics[metric].max is None else 1.0)
    return oriented


def _with_last(manifest: Manifest, metrics: Sequence[str], last: BoolArray, values: FloatArray) -> FloatArray:
    """Return values oriented by `_orient`, infinite where `last` [n_entrants, n_components] says so."""
    oriented = _orient(manifest, metrics, values)
    oriented[..., last & ~np.isnan(oriented).all(axis=tuple(range(oriented.ndim - 2)))] = np.inf
    return oriented


def _without_noise(values: FloatArray, size: float) -> FloatArray:
    """Return values rounded, so that sums taken in another order do not differ.

    `size` is that of the numbers they are made of, where that may be larger than they are.
    """
    known = np.abs(values[np.isfinite(values)])
    largest = max(size, float(known.max())) if known.size else 0.0
    digits = int(np.floor(np.log10(largest))) if largest > 0.0 else 0
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
