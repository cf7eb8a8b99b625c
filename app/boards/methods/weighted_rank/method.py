"""Ranking method `weighted_rank`: lrdbench's leaderboard, weighted ranks of metrics that are balanced over strata.

Found by `app.boards.registry`. Ranks are over the records of the benchmark's grid or, if none is declared, the records
of at least half of the owners; rank intervals come from resampling records within strata, the same for every estimator.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtrit

from app.boards.calibrated import DrawnSpread, few_units_note, how_of, range_of
from app.boards.columns import BoardRow, board_table
from app.boards.coverage import Roster
from app.boards.methods.weighted_rank.coverage import (
    VALIDITY,
    CoveredMetric,
    covered_metrics,
    declared_failures,
    left_out,
    on_asked,
    record_roster,
    record_strata,
    with_worst,
)
from app.boards.methods.weighted_rank.records import (
    BY_SIZE,
    CLASS_METRICS,
    NO_TIE_BREAK,
    DrawnComponents,
    HeldRecords,
    RankedPart,
    Records,
    WeightedRank,
    balanced,
    class_aggregates,
    class_groups,
    enrolled_estimators,
    held_records,
    levels_of,
    on_records,
    on_tasks,
    over_levels,
    record_labels,
    record_notes,
    resample_components,
    series_groups,
    source_metric,
    split_identity,
    strata_note,
    strata_of_grid,
    stratum_aggregates,
    unit_names,
)
from app.boards.stability import Elsewhere, among_others, other_owners
from app.boards.standing import CAVEATS, BoardStanding, Gaps, filled_gaps, power_meta, stand, unranked_places
from app.boards.tables import (
    MAX_COMPARED,
    NO_ENDS,
    RESAMPLED,
    Beside,
    BoardTables,
    ComparedPair,
    TableMethod,
    contrast_field,
    pairs_beside,
    pairwise_table,
)
from app.errors import BoardUnavailable, Unavailable
from app.manifest.model import Manifest, part_of
from app.names import first_few, names_in_words
from app.stats.arrays import BoolArray, FloatArray
from app.stats.calibrated import ALL_EQUAL, intervals
from app.stats.resample import percentile_interval
from app.stats.spreads import Spread
from app.stats.strata import Aggregate, Group, average_ranks, decided_by_name, exact_scores, ordinal_ranks
from app.values.frame import CalibratedCells, Ends, Frame, FrameField, with_calibrated, with_own_interval
from app.values.scores import ScoreTable
from app.values.table import Cell, Column, Table, finite

NOISE_DIGITS = 12
"""Component values of magnitude one, and scores, that agree to this many decimals are tied."""

MOST_DECIMALS = 300
"""To which values are rounded: ten to the power of more may be no double, and rounded values would be none either."""


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
    spread = None if drawn is None else drawn.spread(ranking.scores, components.values)
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
        standing=stand(
            scored,
            spread,
            spec.uncertainty.level,
            widest=float(of.n_enrolled - 1),
            gaps=_gaps(spec, of) or filled_gaps([of.roster.coverages[name] for name in components.names], scored),
            smallest=spec.smallest_difference,
            over_snapshots=spec.over_snapshots,
        ),
        others=others,
        held=of.held,
        groups=of.groups,
        series=_series(of, names_of_units),
        roster=of.roster,
        behind=_behind(spec, components, others, of.n_enrolled),
        bounds={
            name: _bounds(
                manifest, spec, components, own, component_bounds(manifest, of.held, of.covered, of.groups, name)
            )
            for name in others.names
            for own in [others.values[others.names.index(name)]]
        },
        stability=None if spec.explored is not None else _stability(manifest, spec, of),
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
    in_strata: Sequence[Aggregate]
    over_strata: Sequence[Aggregate]
    points: "RankPoints"
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
    held = held_records(scores, names, asked, manifest.asked.facts.arrivals_of(names))
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
    in_strata = stratum_aggregates(groups)
    over_strata = [*balanced(in_strata), *class_aggregates(groups, labels)]
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
    return RankedRows(
        scores, held, covered, groups, labels, roster, in_strata, over_strata, points, n_enrolled, gaps, last
    )


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
class Components:
    """Component values [n_estimators, n_components] as published, and the same oriented so that smaller is better."""

    names: tuple[str, ...]
    metrics: tuple[str, ...]
    values: FloatArray
    oriented: FloatArray


@dataclass(frozen=True)
class RankPoints:
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
) -> RankPoints:
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
    # Weights that were divided by their sum are rounded, and a tie is a tie.
    compared = [round(score, NOISE_DIGITS) for score in exact]
    return RankPoints(components, ranks, [float(score) for score in exact], _order(spec, components, compared))


def _stability(manifest: Manifest, spec: WeightedRank, of: RankedRows) -> dict[str, Any] | None:
    """Return on how many other boards the first is first: without each stratum, component and other owner's estimators,
    with equal weights, and with those of the benchmark's other boards. Strata and components come from what is kept.
    """
    names, first = of.points.components.names, [at for at, rank in of.points.placed if rank == 1]
    if len(names) < 2:
        return None

    def firsts(
        chosen: WeightedRank, over_strata: Sequence[Aggregate], last: BoolArray, left: Sequence[int]
    ) -> FloatArray:
        """Return 1 for who has the first's score of those at the positions `left`, [n_ranked], 0 or −inf for others.

        A tie-break says in which order they are listed, not that one of them is better.
        """
        n_enrolled = of.n_enrolled - (len(names) - len(left))
        points = rank_points(manifest, chosen, [names[at] for at in left], over_strata, n_enrolled, last[left])
        scores = np.full(len(names), -np.inf)
        own = np.round(points.scores, NOISE_DIGITS)
        scores[left] = np.where(own == own.min(), 1.0, 0.0)
        return scores

    def boards() -> Iterator[Elsewhere]:
        everyone, strata = list(range(len(names))), list(dict.fromkeys(group.stratum for group in of.groups))
        for stratum in strata if len(strata) > 1 else ():
            kept = [aggregate for aggregate in of.in_strata if aggregate.stratum != stratum]
            classes = class_aggregates([group for group in of.groups if group.stratum != stratum], of.labels)
            last = _last(manifest, spec, of, without=stratum) if of.last.any() else of.last
            yield f"without {stratum}", firsts(spec, [*balanced(kept), *classes], last, everyone)
        weighed = [name for name, weight in spec.weights.items() if weight]
        others = {
            f"without {name}": {each: spec.weights[each] for each in weighed if each != name}
            for name in weighed
            if len(weighed) > 1
        }
        if len({spec.weights[name] for name in weighed}) > 1:
            others["with every component the same weight"] = dict.fromkeys(weighed, 1.0)
        for other in manifest.leaderboards:
            if isinstance(other, WeightedRank) and other.name != spec.name and set(other.weights) <= set(spec.weights):
                theirs = {name: other.weights[name] for name in spec.weights if other.weights.get(name)}
                others[f"with the weights of {other.name}"] = theirs
        for what, weights in others.items():
            chosen = spec.weighing(weights)
            columns = [list(spec.weights).index(name) for name in chosen.weights]
            yield what, firsts(chosen, of.over_strata, of.last[:, columns], everyone)
        for what, owned in other_owners(names, manifest.asked.facts.owners_of(names), first[0]):
            yield what, firsts(spec, of.over_strata, of.last, [at for at in everyone if at not in owned])

    return among_others(names, first[0], boards())


def _last(manifest: Manifest, spec: WeightedRank, of: RankedRows, without: str) -> BoolArray:
    """Return who ranks behind all values in which component, [n_ranked, n_components], if a stratum is left out."""
    kept = np.array([stratum != without for stratum in record_strata(manifest, of.held)], dtype=np.bool_)
    covered = [replace(metric, asked=metric.asked & kept) for metric in of.covered]
    places = [of.held.contenders.index(name) for name in of.points.components.names]
    return np.array([left_out(spec, covered, at) for at in places], dtype=np.bool_).reshape(of.last.shape)


def _behind(spec: WeightedRank, components: Components, others: Components, n_enrolled: int) -> dict[str, float]:
    """Return each other estimator's score if it alone joined the ranked, larger being better."""
    scores = {}
    for name, own in zip(others.names, others.oriented, strict=True):
        ranks = _ranks(spec, np.vstack([components.oriented, own]), max(n_enrolled, len(components.names) + 1))
        scores[name] = -float(exact_scores(ranks, list(spec.weights.values()))[-1])
    return scores


BoundEnds = tuple[float, float]


def _bounds(
    manifest: Manifest, spec: WeightedRank, components: Components, own: FloatArray, ends: Mapping[str, BoundEnds]
) -> tuple[int, int] | None:
    """Return an estimator's ranks if the values it lacks were worst and best; None where it lacks nothing.

    Bounds on coverage do not bound a coverage error, so that takes the last or the first rank.
    """
    if not ends:
        return None
    worst, best = (_with_end(manifest, spec, own, ends, at) for at in (0, 1))
    return _rank_of(spec, components, worst), _rank_of(spec, components, best)


def _with_end(
    manifest: Manifest, spec: WeightedRank, own: FloatArray, ends: Mapping[str, BoundEnds], at: int
) -> FloatArray:
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
    scores = [round(score, NOISE_DIGITS) for score in exact_scores(ranks, list(spec.weights.values()))]
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
    if NOISE_DIGITS - digits > MOST_DECIMALS:
        return values
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
    ranks: dict[tuple[Any, float], int] = {}
    for place, at in enumerate(order, start=1):
        ranks.setdefault(keys[at], place)
    return [(at, ranks[keys[at]]) for at in order]


METHOD = TableMethod(WeightedRank, compute)


@dataclass(frozen=True)
class CalibratedRanks:
    """Intervals of the scores [n_estimators] and of component values [n_estimators][n_components], as cells.

    `n_units` is the (effective) number of records behind them.
    """

    scores: Sequence[CalibratedCells]
    values: Sequence[Sequence[CalibratedCells]]
    n_units: float


@dataclass(frozen=True)
class RankedBoard:
    """The contents of the board: `placed` are (position, rank) from best to worst, `spread` is that of −score.

    `again` are scores of widened replicates [n_resamples, n_estimators], and `calibrated` the plotted intervals from
    them. `others` are the estimators listed below, `behind` their scores if added to the ranked, larger being better,
    and `bounds` their ranks if missing values were worst and best. `groups` are the rows on the benchmark's records,
    and `series` those of which these are.
    """

    components: Components
    ranks: FloatArray
    scores: list[float]
    placed: list[tuple[int, int]]
    spread: DrawnSpread | None
    again: FloatArray | None
    calibrated: CalibratedRanks | None
    standing: BoardStanding
    others: Components
    held: HeldRecords
    groups: Sequence[Group]
    series: Sequence[str]
    roster: Roster
    behind: Mapping[str, float]
    bounds: Mapping[str, tuple[int, int] | None]
    stability: Mapping[str, Any] | None = None


NOTHING = CalibratedCells()


# The table of a board of weighted ranks.


@dataclass(frozen=True)
class _Line:
    """One row of the board; an unranked estimator has no score, and no rank in any component."""

    values: FloatArray
    invalid: float | None
    score: Ends = NO_ENDS
    ranks: Sequence[float] | None = None
    by_name: float | None = None
    calibrated: CalibratedCells = NOTHING
    calibrated_values: Sequence[CalibratedCells] = ()


def leaderboard(manifest: Manifest, spec: WeightedRank, shown: RankedBoard) -> Table:
    """Return the board: the ranked from best to worst, then those that lack something; unknown cells are None.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.weighted_rank.method import compute
    >>> board = WeightedRank(name="main", method="weighted_rank", weights={"mae": 1.0})
    >>> compute(benchmark(board), board, rows(metric="mae")).leaderboard.name
    'leaderboard/main'
    """
    rows = (*_ranked_rows(spec, shown), *_other_rows(shown))
    notes = _notes(manifest, spec, shown)
    return board_table(spec, list(_fields(manifest, spec)), rows, notes, _meta(manifest, spec, shown))


def _ranked_rows(spec: WeightedRank, shown: RankedBoard) -> Iterator[tuple[BoardRow, _Line]]:
    ends = _score_ends(spec, shown)
    by_name = decided_by_name(shown.components.oriented, list(spec.weights.values()))
    for place, at in _places(shown):
        low, high = (None if end is None else float(end[at]) for end in ends)
        yield (
            replace(place, rank_status=shown.roster.rank_status(place.entrant)),
            _Line(
                values=shown.components.values[at],
                invalid=_invalid_rate(shown.groups, place.entrant),
                score=(shown.scores[at], low, high),
                ranks=shown.ranks[at].tolist(),
                by_name=float(by_name[at]),
                calibrated=NOTHING if shown.calibrated is None else shown.calibrated.scores[at],
                calibrated_values=() if shown.calibrated is None else shown.calibrated.values[at],
            ),
        )


def _other_rows(shown: RankedBoard) -> Iterator[tuple[BoardRow, _Line]]:
    values = dict(zip(shown.others.names, shown.others.values, strict=True))
    for place in unranked_places(shown.roster, shown.behind):
        rank_status = shown.roster.rank_status(place.entrant, shown.bounds[place.entrant])
        yield (
            replace(place, rank_status=rank_status),
            _Line(values[place.entrant], _invalid_rate(shown.groups, place.entrant)),
        )


def _series(of: RankedRows, units: Sequence[str]) -> list[str]:
    """Return the series of each record that ranks are over, from the `units` of those with rows."""
    known = {} if of.scores.item is None else dict(zip(of.scores.item.words, units, strict=True))
    asked = zip(of.held.records, of.held.of_benchmark.tolist(), strict=True)
    return [known.get(record, record) for record, is_asked in asked if is_asked]


def _places(shown: RankedBoard) -> Iterator[tuple[BoardRow, int]]:
    """Yield places with positions, in the order and with the ranks of the rule, including how it breaks ties."""
    for at, rank in shown.placed:
        place = shown.standing.place(at, shown.components.names[at])
        # Rule 1 breaks ties by name, which the rank interval does not allow for.
        is_behind = shown.standing.is_behind(at)
        low = place.rank_low if place.rank_low is None or is_behind else min(place.rank_low, rank)
        high = None if place.rank_high is None else max(place.rank_high, rank)
        yield replace(place, rank=rank, rank_low=low, rank_high=high), at


def _score_ends(spec: WeightedRank, shown: RankedBoard) -> tuple[FloatArray | None, FloatArray | None]:
    """Return the score's interval; none under rule 1, whose points are ordinal ranks while replicates share ranks."""
    if shown.spread is None or spec.ranking_rule == 1:
        return (None, None)
    return percentile_interval(-shown.spread.replicates, spec.uncertainty.level)


def _invalid_rate(groups: Sequence[Group], name: str) -> float | None:
    validity = [g.values[g.included] for g in groups if g.estimator == name and g.metric == VALIDITY]
    valid = np.concatenate(validity) if validity else np.zeros(0)
    return float(1.0 - valid.mean()) if len(valid) else None


def _fields(manifest: Manifest, spec: WeightedRank) -> Iterator[FrameField[_Line]]:
    score = Column("score", "Score", direction="minimize", glossary="weighted_rank", digits=3)
    yield from with_calibrated(score, lambda line: line.score, lambda line: line.calibrated)
    for at, name in enumerate(spec.weights):
        each = levels_of(name)
        metric = manifest.metrics[each[0]]
        title = metric.title or name if len(each) == 1 else f"{name.partition('@')[0]}, mean of {len(each)} levels"
        entry = "discrimination" if each[0] in CLASS_METRICS else "balanced_global"
        column = Column(f"metric__{name}", title, unit=metric.unit, direction=metric.direction, glossary=entry,
                        digits=3)  # fmt: skip
        yield from with_own_interval(column, partial(_value, at), partial(_calibrated_value, at))
    for at, name in enumerate(spec.weights):
        column = Column(f"rank__{name}", f"Rank in {name}", digits=1, detail=True, glossary="weighted_rank")
        yield FrameField(column, partial(_rank, at))
    yield from COUNTS
    if spec.ranking_rule == 1:
        yield FrameField(
            Column("decided_by_name", "Left to the name", digits=2, glossary="rule_1"), lambda line: line.by_name
        )


def _value(at: int, line: _Line) -> Cell:
    return finite(float(line.values[at]))


def _calibrated_value(at: int, line: _Line) -> CalibratedCells:
    return line.calibrated_values[at] if line.calibrated_values else NOTHING


def _rank(at: int, line: _Line) -> Cell:
    return None if line.ranks is None else line.ranks[at]


COUNTS: tuple[FrameField[_Line], ...] = (
    FrameField(
        Column("invalid_rate", "Invalid", direction="minimize", glossary="invalid_rate", digits=3),
        lambda line: line.invalid,
    ),
)


def _notes(manifest: Manifest, spec: WeightedRank, shown: RankedBoard) -> Iterator[str]:
    if spec.explored is not None and spec.explored.weights:
        counted = ", ".join(f"{name} {100 * weight:.3g} %" for name, weight in spec.weights.items())
        yield f"Components, with what each counts: {counted}."
    yield from record_notes(shown.held)
    yield from strata_note(shown.held, strata_of_grid(manifest.asked))
    yield from shown.roster.notes("records")
    enrolled = part_of(manifest, RankedPart).enrolled() if spec.explored is None else None
    if silent := sorted(set(enrolled or ()) - set(shown.held.contenders)):
        yield f"Enrolled, and without any row yet: {names_in_words(silent)}."
    missing = np.isnan(shown.components.values)
    of_nobody = np.asarray(missing.all(axis=0))
    if unknown := [name for name, is_unknown in zip(shown.components.metrics, of_nobody, strict=True) if is_unknown]:
        yield f"On these records nobody has {', '.join(unknown)}: all share the worst rank there."
    if lacking := [shown.components.names[at] for at in np.flatnonzero(missing[:, ~of_nobody].any(axis=1)).tolist()]:
        yield f"A missing component takes the worst rank: {names_in_words(lacking)}."
    if missing.any() and shown.standing.sets is not None:
        yield "A score with a missing component has no rank interval."
    yield from _told_apart(manifest, spec, shown)
    if spec.ranking_rule == 1:
        yield "Rule 1: ties are broken in the order of the names; a column says how much of the weight that decided."
        yield (
            "Rule 1 has no interval of the score: resamples share ranks between ties and the score does not, so it "
            "could lie outside of its own interval. Rank intervals are there."
        )
    yield from _on_intervals(spec, shown)


def _on_intervals(spec: WeightedRank, shown: RankedBoard) -> Iterator[str]:
    """Yield what intervals and comparisons rest on."""
    if (n_series := len(set(shown.series))) < len(shown.series):
        yield (
            f"The {len(shown.series):,} records are {n_series:,} series, as they are and changed: each series is one "
            "unit of intervals and ranks."
        )
    if shown.calibrated is not None:
        units = [(name, shown.calibrated.n_units) for name in shown.components.names]
        yield from few_units_note(units, "records", spec.uncertainty.level)
    if shown.spread is not None:
        yield (
            "The score is a rank among these estimators: its interval is about other records, not about other "
            "opponents."
        )


MOST_TOLD_APART = 5


def _told_apart(manifest: Manifest, spec: WeightedRank, shown: RankedBoard) -> Iterator[str]:
    """Yield whose scores are equal and ranks are not, and which component decides."""
    ranks: dict[float, dict[str, int]] = {}
    for at, rank in shown.placed:
        ranks.setdefault(round(shown.scores[at], NOISE_DIGITS), {})[shown.components.names[at]] = rank
    apart = [names_in_words(list(of)) for of in ranks.values() if len(set(of.values())) > 1]
    if apart and spec.ranking_rule != 1:
        metric = levels_of(spec.tie_break or next(iter(spec.weights)))[0]
        title = manifest.metrics[metric].title or metric
        yield f"Equal scores, whose order is by {title}: {first_few(apart, MOST_TOLD_APART, between='; ')}."


def _meta(manifest: Manifest, spec: WeightedRank, shown: RankedBoard) -> dict[str, Any]:
    drawn = spec.uncertainty
    return {
        "method": spec.method,
        "ranking_rule": spec.ranking_rule,
        "weights": dict(spec.weights),
        "tie_break": spec.tie_break or next(iter(spec.weights)),
        "rank_by": "score",
        **power_meta(shown.standing),
        **({} if shown.stability is None else {"stability": shown.stability}),
        **part_of(manifest, RankedPart).board_meta(),
        "n_entrants": len(shown.held.contenders),
        "interval": None if shown.spread is None else "percentile bootstrap over records within strata",
        "interval_reason": "too_few_clusters" if shown.spread is None else None,
        "level": drawn.level,
        "n_resamples": drawn.n_resamples,
        "rng_seed": drawn.rng_seed,
        "stream": drawn.stream,
    }


# The scores of a board of weighted ranks, term by term and pair by pair.

WIDENED = "as far apart as so few records make them"

ORDINAL_POINTS = "points_break_ties_by_name_and_resamples_do_not"


@dataclass(frozen=True)
class _Term:
    """One component of one estimator's score."""

    entrant: str
    component: str
    value: float
    rank: float
    weight: float


TERMS: Frame[_Term] = Frame(
    [
        FrameField(Column("entrant", "Entrant", "text"), lambda term: term.entrant),
        FrameField(Column("component", "Component", "text"), lambda term: term.component),
        FrameField(Column("value", "Value", glossary="balanced_global", digits=4), lambda term: finite(term.value)),
        FrameField(Column("rank", "Rank in it", digits=1, glossary="weighted_rank"), lambda term: term.rank),
        FrameField(Column("weight", "Weight", digits=3, glossary="weighted_rank"), lambda term: term.weight),
        FrameField(
            Column("term", "Weight × rank", digits=3, glossary="weighted_rank"), lambda term: term.weight * term.rank
        ),
    ]
)


def terms_table(spec: WeightedRank, shown: RankedBoard) -> Table:
    """Return the score term by term: a row for each estimator and component, whose terms add up to the score.

    A missing component has no value, None, and the worst rank. Source: lrdbench 2.0, its leaderboard score.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.weighted_rank.method import compute
    >>> board = WeightedRank(name="main", method="weighted_rank", weights={"mae": 1.0})
    >>> compute(benchmark(board), board, rows(metric="mae")).extra[0].rows[0][0]
    'Good'
    """
    note = "The terms of an estimator add up to its score; lower is better."
    title = f"{spec.title or spec.name}, term by term"
    return TERMS.table(f"score/{spec.name}", title, _terms(spec, shown), (note,))


def _terms(spec: WeightedRank, shown: RankedBoard) -> Iterator[_Term]:
    components = shown.components
    for at, _ in shown.placed:
        parts = (components.metrics, components.values[at].tolist(), shown.ranks[at].tolist(), spec.weights.values())
        for metric, value, rank, weight in zip(*parts, strict=True):
            yield _Term(components.names[at], metric, value, rank, weight)


DIFFERENCE = contrast_field(
    Column("difference", "Score of A minus B", direction="minimize", glossary="difference", digits=3),
    ends_title="A minus B",
)


def score_pairs(spec: WeightedRank, shown: RankedBoard) -> Table | None:
    """Return every ordered pair of ranked estimators; None for fewer than two.

    Differences are of scores, A minus B, smaller being better for A. Source: `app.boards.standing`.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.weighted_rank.method import compute
    >>> board = WeightedRank(name="main", method="weighted_rank", weights={"mae": 1.0})
    >>> compute(benchmark(board), board, rows({"Good": [0.1]}, "mae")).pairwise is None
    True
    """
    if len(shown.placed) < 2:
        return None
    order = [at for at, _ in shown.placed][:MAX_COMPARED]
    how = f"percentiles and mirrored percentiles of {RESAMPLED}, {WIDENED}"
    why_none = _why_no_interval(spec, shown)
    meta = {"level": spec.uncertainty.level, "interval_reason": why_none, "contrast": "difference",
            "contrast_interval": how, "score": "score", **power_meta(shown.standing)}  # fmt: skip
    if caveats := [*shown.roster.filled_notes(), *_on_intervals(spec, shown)]:
        meta[CAVEATS] = caveats
    return pairwise_table(spec, DIFFERENCE, _pairs(spec, shown, order), (), meta)


def _pairs(spec: WeightedRank, shown: RankedBoard, order: Sequence[int]) -> Iterator[ComparedPair]:
    contrasts, level = shown.standing.contrasts(order), spec.uncertainty.level
    names = [shown.components.names[at] for at in order]
    for a, name in enumerate(names):
        ends = _ends(spec, shown, order, a)
        for b, other in enumerate(names):
            contrast = ends[b] if a == b else _as_tested(ends[b], float(contrasts.p_values[a, b]), level)
            contrast = _clipped(contrast, contrasts.widest)
            yield ComparedPair(name, other, replace(contrasts.verdict(a, b), contrast=contrast))


def _clipped(ends: Ends, widest: float) -> Ends:
    """Return a difference with its interval within what any two scores can differ by."""
    point, low, high = ends
    return (point, None if low is None else max(low, -widest), None if high is None else min(high, widest))


def _as_tested(ends: Ends, p_value: float, level: float) -> Ends:
    """Return a difference with its interval, which holds zero where the test of the board does not exclude it.

    Where it does, the end towards zero is the test's own if the interval would reach beyond: mirrored percentiles put
    it there where one leads in every resample by more or less, and of few records the test is the more careful one.
    """
    point, low, high = ends
    if not (isinstance(point, float) and isinstance(low, float) and isinstance(high, float)):
        return ends
    if not p_value < 1.0 - level:
        return point, min(low, 0.0), max(high, 0.0)
    nearest = point * (1.0 - float(ndtri((1.0 - level) / 2.0) / ndtri(p_value / 2.0)))
    if point > 0.0:
        return point, low if low > 0.0 else nearest, high
    return point, low, high if high < 0.0 else nearest


def _ends(spec: WeightedRank, shown: RankedBoard, order: Sequence[int], a: int) -> list[Ends]:
    """Return the differences of one to all, scores of A minus B; they move in steps.

    Under rule 1 there are none: its points are ordinal ranks, its replicates share them.
    """
    points = [shown.scores[order[a]] - shown.scores[other] for other in order]
    if shown.again is None or shown.calibrated is None or spec.ranking_rule == 1:
        return [(point, None, None) for point in points]
    replicates = shown.again[:, list(order)]
    level = rank_level(spec.uncertainty.level, shown.calibrated.n_units)
    low, high = ends_of_ranks(replicates[:, [a]] - replicates, np.array(points), level)
    drawn = zip(points, low.tolist(), high.tolist(), strict=True)
    return [(point, None, None) if at == a else (point, *ends) for at, (point, *ends) in enumerate(drawn)]


def _why_no_interval(spec: WeightedRank, shown: RankedBoard) -> str | None:
    if shown.spread is None:
        return "too_few_clusters"
    return ORDINAL_POINTS if spec.ranking_rule == 1 else None


# The worst and best values of an estimator's components if the records it lacks had the worst or the best value.


def component_bounds(
    manifest: Manifest, held: HeldRecords, covered: Sequence[CoveredMetric], groups: Sequence[Group], name: str
) -> Mapping[str, BoundEnds]:
    """Return the worst and best value of each metric that an estimator lacks records of; infinite without a bound.

    Values have the metric's own unit and direction.
    Raises ValueError for a name that is not a contender.
    Source: the mean over strata of means over records, monotone in each record.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.weighted_rank.records import series_groups
    >>> from app.boards.methods.weighted_rank.records import held_records
    >>> from app.boards.methods.weighted_rank.coverage import covered_metrics
    >>> from app.boards.methods.weighted_rank.records import WeightedRank
    >>> board = WeightedRank(name="m", method="weighted_rank", weights={"error": 1.0})
    >>> scores = rows({"A": [np.nan, 0.5]})
    >>> held, groups = held_records(scores, ("A",)), series_groups(scores)
    >>> covered = covered_metrics(benchmark(board), board, held, groups, np.full(3, np.nan))
    >>> component_bounds(benchmark(board), held, covered, groups, "A")
    {'error': (0.75, 0.25)}
    """
    at = held.contenders.index(name)
    own = [group for group in groups if group.estimator == name]
    return {
        metric.metric: _component_ends(manifest, held, metric, [g for g in own if g.metric == metric.metric], at)
        for metric in covered
        if metric.lacking(at).any()
    }


def _component_ends(
    manifest: Manifest, held: HeldRecords, metric: CoveredMetric, own: Sequence[Group], at: int
) -> BoundEnds:
    declared = manifest.metrics[metric.metric]
    sign = 1.0 if declared.direction == "minimize" else -1.0
    is_mean = all(group.rule == "mean" for group in own)
    lacking = metric.lacking(at)
    worst, best = (
        edge if end is None or not is_mean else _balanced(held, own, lacking, end)
        for end, edge in ((declared.worst, sign * np.inf), (declared.best, -sign * np.inf))
    )
    return worst, best


def _balanced(held: HeldRecords, own: Sequence[Group], lacking: BoolArray, value: float) -> float:
    """Return the mean over strata of means in which every lacking record has `value`."""
    missing: dict[str, int] = {}
    for record in np.flatnonzero(lacking).tolist():
        missing[held.strata[record]] = missing.get(held.strata[record], 0) + 1
    sums = dict(_sums(own))
    means = [
        (sums.get(stratum, (0.0, 0))[0] + value * missing.get(stratum, 0))
        / (sums.get(stratum, (0.0, 0))[1] + missing.get(stratum, 0))
        for stratum in dict.fromkeys([*sums, *missing])
    ]
    return float(np.mean(means))


def _sums(own: Sequence[Group]) -> Iterator[tuple[str, tuple[float, int]]]:
    for group in own:
        values = group.values[group.included]
        if len(values):
            yield group.stratum, (float(values.sum()), len(values))


# The calibrated intervals of a board of weighted ranks: of each component's value and of the score. Pure.
# `bench.interval_coverage` measures their coverage.

ROUNDING = 1e-12
"""Replicates that differ by no more than this fraction of their own size are equal."""

RANKED_AGAIN = "widened_ranks"

NO_ORDINAL = CalibratedCells(how="points_break_ties_by_name_and_resamples_do_not")
"""Reason for a score under rule 1: its points are ordinal ranks, while tied replicates share ranks."""


@dataclass(frozen=True)
class Ranking:
    """How component values become scores: `orient` makes smaller better, `weights` [n_components] multiply ranks."""

    orient: Callable[[FloatArray], FloatArray]
    weights: FloatArray
    n_enrolled: int

    def scores(self, values: FloatArray) -> FloatArray:
        """Return Σ weight × rank for values [n_resamples, n_estimators, n_components], ties sharing a rank."""
        totals: FloatArray = average_ranks(self.orient(values), self.n_enrolled) @ self.weights
        return totals


def widened(points: FloatArray, drawn: DrawnComponents, level: float) -> FloatArray:
    """Return replicates around the points [n_estimators, n_components], widened for the small number of units.

    They are [n_resamples, n_estimators, n_components]; NaN stays NaN. A bootstrap's variance is too small by the
    inflation factor, and its percentiles have normal instead of Student's tails.
    Source: Hesterberg 2004, Unbiasing the bootstrap, section 2; Davison & Hinkley 1997, section 5.2.

    >>> from app.boards.calibrated import Precision
    >>> drawn = DrawnComponents(np.array([[[1.0]], [[3.0]]]), Precision(8.0, 1.5), 10.0)
    >>> widened(np.array([[2.0]]), drawn, 0.95).ravel().round(3).tolist()
    [0.559, 3.441]
    """
    tail = (1.0 + level) / 2.0
    quantile = float(stdtrit(drawn.precision.freedom, tail) / ndtri(tail))
    moved: FloatArray = points + apart(drawn.values) * quantile * np.sqrt(drawn.precision.inflation)
    return moved


def apart(replicates: FloatArray) -> FloatArray:
    """Return how far replicates [n_resamples, ...] are from their mean: zero where they differ by rounding alone.

    Sums of the same values in another order differ in their last bit, on one processor and not on another. The unit is
    that of the replicates; NaN, a replicate that is missing, stays so.
    Source: our own rule.

    >>> apart(np.array([[0.5, 1.0], [0.5 + 1e-16, 2.0]])).tolist()
    [[0.0, -0.5], [0.0, 0.5]]
    """
    is_rounding = np.ptp(replicates, axis=0) <= ROUNDING * np.abs(replicates).max(axis=0)
    moved: FloatArray = np.where(is_rounding, 0.0, replicates - replicates.mean(axis=0))
    return moved


def ends_of_ranks(again: FloatArray, points: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Return interval ends of scores, or of differences of scores, [n_numbers], from widened replicates `again`.

    Ranks of replicates are biased towards the middle relative to those of the points, as those are relative to the true
    ranks, so the interval is the union of the percentile interval and its mirror image at the points.
    Source: Efron & Tibshirani 1993, chapter 13, for both intervals; chosen by `bench.interval_coverage`.

    >>> low, high = ends_of_ranks(np.linspace(2.0, 4.0, 101)[:, None], np.array([2.0]), 0.9)
    >>> round(float(low[0]), 3), round(float(high[0]), 3)
    (0.1, 3.9)
    """
    low, high = percentile_interval(again, level)
    return np.minimum(low, 2.0 * points - high), np.maximum(high, 2.0 * points - low)


def rank_level(level: float, n_units: float) -> float:
    """Return the nominal level at which the ends of a score, or of a difference, have the coverage `level`.

    Among many nearly equal estimators only the mirror image covers the extreme scores, so it alone may use half of the
    error rate. Below sixteen records the rate is smaller still, down to a tenth, because in nearly every resample the
    first and the last ranks are closer together than the true ones.
    Source: chosen by `bench.interval_coverage`.

    >>> rank_level(0.95, 100.0), rank_level(0.95, 8.0)
    (0.975, 0.995)
    """
    return 1.0 - (1.0 - level) / float(np.clip(18.0 - n_units, 2.0, 10.0))


def calibrated_ranks(
    manifest: Manifest,
    spec: WeightedRank,
    values: FloatArray,
    scores: FloatArray,
    drawn: DrawnComponents | None,
    again: FloatArray | None,
) -> CalibratedRanks | None:
    """Return the intervals of component values [n_estimators, n_components] and of scores; None without replicates.

    `again` are scores of widened replicates [n_resamples, n_estimators]. Rule 1 has no interval of a score.
    Source: `ends_of_ranks` and `value_intervals`.

    >>> from app.boards.example import benchmark
    >>> spec = WeightedRank(name="main", method="weighted_rank", weights={"mae": 1.0})
    >>> from app.boards.calibrated import Precision
    >>> drawn = DrawnComponents(np.array([[[1.0], [2.0]], [[1.2], [2.1]]]), Precision(8.0, 1.5), 10.0)
    >>> values, scores = np.array([[1.1], [2.05]]), np.array([1.0, 2.0])
    >>> ours = calibrated_ranks(benchmark(spec), spec, values, scores, drawn, np.array([[1.0, 2.0], [1.0, 2.0]]))
    >>> [(cells.low, cells.high) for cells in ours.scores] if ours else None
    [(1.0, 1.0), (2.0, 2.0)]
    """
    if drawn is None or again is None:
        return None
    level, n_estimators = spec.uncertainty.level, len(scores)
    by_metric = [
        value_intervals(manifest, levels_of(metric)[0], values[:, at], drawn, at, level)
        for at, metric in enumerate(spec.weights)
    ]
    of_values = list(zip(*by_metric, strict=True))
    if spec.ranking_rule == 1:
        return CalibratedRanks([NO_ORDINAL] * n_estimators, of_values, drawn.n_units)
    lows, highs = ends_of_ranks(again, scores, rank_level(level, drawn.n_units))
    most = max(float(again.max()), float(scores.max()))
    ends = zip(np.maximum(lows, 1.0).tolist(), np.minimum(highs, most).tolist(), strict=True)
    # Components that are the same in every resample say nothing of how far a rank may move.
    counts = np.array(list(spec.weights.values())) > 0.0
    is_equal = (apart(drawn.values[:, :, counts]) == 0.0).all(axis=(0, 2))
    cells = [
        CalibratedCells(how=ALL_EQUAL) if equal else CalibratedCells(low, high, RANKED_AGAIN, drawn.n_units)
        for (low, high), equal in zip(ends, is_equal.tolist(), strict=True)
    ]
    return CalibratedRanks(cells, of_values, drawn.n_units)


def value_intervals(
    manifest: Manifest, metric: str, points: FloatArray, drawn: DrawnComponents, at: int, level: float
) -> list[CalibratedCells]:
    """Return the interval of each estimator's value of the component at `at`; `points` [n_estimators], NaN is missing.

    The ends are in the unit of the metric, and within its declared range.
    Source: `app.stats.calibrated.intervals`, with the errors of the replicates.

    >>> from app.boards.example import benchmark
    >>> spec = WeightedRank(name="main", method="weighted_rank", weights={"mae": 1.0})
    >>> from app.boards.calibrated import Precision
    >>> drawn = DrawnComponents(np.array([[[1.0]], [[1.4]], [[1.2]]]), Precision(8.0, 1.25), 9.0)
    >>> (cells,) = value_intervals(benchmark(spec), "mae", np.array([1.2]), drawn, 0, 0.95)
    >>> round(float(cells.low or 0), 2), round(float(cells.high or 0), 2), cells.how
    (0.78, 1.76, 'gamma')
    """
    replicates = drawn.values[:, :, at]
    known = ~np.isnan(points) & ~np.isnan(replicates).any(axis=0)
    cells = [NOTHING] * len(points)
    if not known.any():
        return cells
    within = range_of(manifest.metrics[metric]).holding(float(points[known].min()), float(points[known].max()))
    low, high = intervals(component_spread(points[known], replicates[:, known], drawn), within, level)
    for place, *ends in zip(np.flatnonzero(known).tolist(), low.tolist(), high.tolist(), strict=True):
        how = ALL_EQUAL if np.isnan(ends[0]) else how_of(within)
        cells[place] = CalibratedCells(finite(ends[0]), finite(ends[1]), how, drawn.n_units)
    return cells


def component_spread(points: FloatArray, replicates: FloatArray, drawn: DrawnComponents) -> Spread:
    """Return the spread of component values [n_estimators] from their replicates [n_resamples, n_estimators].

    Errors are in the unit of the values, unbiased by the inflation.
    Source: `app.stats.curves.replicate_spread`.

    >>> from app.boards.calibrated import Precision
    >>> drawn = DrawnComponents(np.zeros((2, 1, 1)), Precision(8.0, 1.25), 9.0)
    >>> component_spread(np.array([1.2]), np.array([[1.0], [1.4]]), drawn).error.round(4).tolist()
    [0.2236]
    """
    moved = apart(replicates)
    variance = (moved**2).mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        cubed = variance**1.5  # zero below a spread of about 1e-108, where no skewness can be estimated
        skewness = np.where(cubed > 0, (moved**3).mean(axis=0) / cubed, 0.0)
    units, freedom = (np.full(len(points), number) for number in (drawn.n_units, drawn.precision.freedom))
    error = np.sqrt(variance * drawn.precision.inflation)
    return Spread(points, error, skewness, units, freedom, np.zeros(len(points)))
