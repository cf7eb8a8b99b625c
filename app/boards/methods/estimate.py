"""Ranking method `estimate`: metrics with their intervals, ranked by one of them.

Each entrant is measured by itself, by its kind of evidence; the method makes a board of the measurements.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from app.boards.calibrated import FREE, FREE_ENDS, DrawnSpread, few_units_note, range_of, rare_note
from app.boards.columns import BoardRow, board_table
from app.boards.coverage import Coverage, RankStatus, Roster, are_usual, call_roster, commonly_held, rank_among
from app.boards.measured import (
    ALL_ITEMS,
    EQUAL_SEEDS,
    HELD_BACK,
    NO_WORST_VALUE,
    PUBLIC_PART,
    Estimate,
    EvidenceWords,
    MeasuredKind,
    MeasuredMethod,
    Measurement,
    calibrated_cells,
)
from app.boards.stability import Elsewhere, among_others, prefers_some
from app.boards.standing import CAVEATS, BoardStanding, filled_gaps, power_meta, stand, unranked_places
from app.boards.statement import FEW, PART
from app.boards.tables import MAX_COMPARED, BoardTables, contrast_table, pairs_beside
from app.errors import BoardUnavailable, Unavailable
from app.manifest.model import (
    EvidenceKind,
    Leaderboard,
    Manifest,
    Metric,
    MetricName,
    Name,
    Part,
    TaskName,
    Title,
    Uncertainty,
)
from app.names import in_words, names_in_words, sentences
from app.stats.arrays import FloatArray
from app.stats.calibrated import ALL_EQUAL, FEW_UNITS, MIN_UNITS
from app.stats.resample import competition_ranks
from app.stats.spreads import unseen, widened_for_equals
from app.values.frame import CalibratedCells, Ends, FrameField, with_calibrated
from app.values.table import Cell, Column, Table

# How a manifest declares a board of method `estimate`. Read by the modules that measure and assemble it.

Statistic = Literal["iqm", "mean"]
STATISTICS: Mapping[str, str] = {"iqm": "IQM", "mean": "mean"}
"""What each is called on a page."""

Quantiles = Annotated[list[Annotated[float, Field(ge=0.0, le=1.0)]], Field(min_length=1, max_length=20)]


class EstimateUncertainty(Uncertainty):
    """How the intervals are drawn; `method` says what is resampled within what. A pooled iid bootstrap is not allowed.

    Predictions resample examples (groups for a ranking) whatever `method` says.
    """

    n_resamples: int = Field(2000, ge=100, le=100_000, description="how many resamples are drawn")
    method: Literal["cluster", "hierarchical"] = Field(
        "cluster", description="which units are resampled, and within which"
    )


class OptimalityGap(Part):
    """The mean shortfall of scores below `threshold`; scores above it count as reaching it."""

    threshold: float = Field(1.0, description="the score that counts as optimal")


class Profile(Part):
    """The grid of a performance profile: `n_points` thresholds from the metric's `min` to its `max`, or from `low` to
    `high`.
    """

    metric: MetricName | None = Field(None, description="the metric; by default the one that ranks")
    low: float | None = Field(None, description="the least threshold; by default the metric's min")
    high: float | None = Field(None, description="the greatest threshold; by default the metric's max")
    n_points: int = Field(21, ge=2, le=201, description="how many thresholds")


Weight = Annotated[float, Field(gt=0.0, le=1000.0)]


class Composite(Part):
    """A weighted mean over the tasks that have a score, such as CHAMBER's HRS over its axes.

    `conditions` names the condition of each task that counts, as HRS uses the heterogeneous side of an axis; for tasks
    not listed every condition counts. The breakdown shows all conditions. `against` names the condition to compare
    with, such as the homogeneous side of an axis: components then show the gap, that condition minus the counted one.
    """

    title: Title = Field("Composite", description="what pages call it")
    weights: dict[TaskName, Weight] = Field(min_length=1, description="the weight of each task")
    conditions: dict[TaskName, Name] = Field(
        default_factory=dict, description="the condition of the task that is scored"
    )
    against: dict[TaskName, Name] = Field(default_factory=dict, description="the condition it is compared with")

    @model_validator(mode="after")
    def _conditions_are_weighed(self) -> Self:
        if unknown := sorted(set(self.conditions) - set(self.weights)):
            raise ValueError(f"conditions: not among weights: {', '.join(unknown)}")
        if alone := sorted(set(self.against) - set(self.conditions)):
            raise ValueError(f"against: not among conditions: {', '.join(alone)}")
        if same := sorted(task for task, name in self.against.items() if self.conditions[task] == name):
            raise ValueError(f"against: the counted condition itself: {', '.join(same)}")
        return self


class EstimateBoard(Leaderboard):
    """A board of metrics with intervals. `labels` names entrants that are shown but not ranked.

    `statistic` is how episodes become a score: their interquartile mean or their mean; both are published. By default a
    metric from 0 to 1 uses the mean, because the interquartile mean of 0/1 scores is 1 from a rate of three quarters
    on; any other uses the interquartile mean. A rate that does not rank is always a mean, unless `statistics` declares
    otherwise for it. `quantiles` are shown in a table of their own, of any declared metric; 1 is the maximum.
    """

    evidence_kinds: ClassVar[tuple[EvidenceKind, ...]] = ("episodes", "predictions")
    draws_tasks = False

    method: Literal["estimate"] = Field(description="how it ranks")
    metrics: list[MetricName] = Field(min_length=1, max_length=100, description="the metrics of the board")
    rank_by: MetricName | None = Field(None, description="the metric that ranks; by default the first")
    statistic: Statistic | None = Field(None, description="the statistic over items: mean or interquartile mean")
    statistics: dict[MetricName, Statistic] = Field(default_factory=dict, description="metrics with another statistic")
    labels: dict[Name, Title] = Field(
        default_factory=dict, description="entrants that are shown but not ranked, each with the reason"
    )
    quantiles: dict[MetricName, Quantiles] = Field(
        default_factory=dict, description="quantiles of the scores, shown as further columns"
    )
    optimality_gap: OptimalityGap | None = Field(
        None, description="the optimality gap below a threshold, shown as further columns"
    )
    profile: Profile | None = Field(None, description="the performance profile of a metric")
    composite: Composite | None = Field(None, description="a weighted mean over tasks")
    uncertainty: EstimateUncertainty = Field(
        default_factory=EstimateUncertainty, description="how its intervals are drawn"
    )

    @model_validator(mode="after")
    def _parts_agree(self) -> Self:
        if len(set(self.metrics)) != len(self.metrics):
            raise ValueError("metrics: one is named twice")
        if self.rank_by is not None and self.rank_by not in self.metrics:
            raise ValueError("rank_by must be one of metrics")
        if unknown := sorted(set(self.statistics) - set(self.metrics)):
            raise ValueError(f"statistics: not among metrics: {', '.join(unknown)}")
        return self

    @property
    def ranked(self) -> str:
        """Return the metric that ranks: the declared one, or the first."""
        return self.rank_by or self.metrics[0]

    def statistic_of(self, metric: str, declared: Metric) -> Statistic:
        """Return the statistic that turns episodes into the score of a metric."""
        if metric in self.statistics:
            return self.statistics[metric]
        if declared.is_rate and metric != self.ranked:
            return "mean"
        return self.statistic or ("mean" if declared.is_share else "iqm")

    def metric_names(self) -> tuple[str, ...]:
        """Return the metrics of the board, and those whose quantiles it shows."""
        return tuple(dict.fromkeys([*self.metrics, *self.quantiles]))

    def required_metrics(self) -> tuple[str, ...]:
        """Return the metric that ranks."""
        return (self.ranked,)

    def ranked_tasks(self) -> Collection[str] | None:
        """Return the tasks of the board; for a composite, those with a weight."""
        return self.tasks if self.composite is None else self.composite.weights


def assemble_board(
    manifest: Manifest, spec: EstimateBoard, measurements: Sequence[Measurement], kind: MeasuredKind
) -> BoardTables:
    """Rank measured entrants by the metric that ranks, in its own unit and direction.

    An entrant without a value, None, comes last without a rank.
    Raises BoardUnavailable when there are no measurements. Source: `app.boards.standing.stand`.

    >>> from app.boards.example import EPISODES, benchmark, measured
    >>> board = EstimateBoard(name="main", method="estimate", metrics=["success"])
    >>> tables = assemble_board(benchmark(board), board, [measured("A", 0.4), measured("B", 0.9)], EPISODES)
    >>> [row[:2] for row in tables.leaderboard.rows]
    [(1, 'B'), (2, 'A')]
    """
    if not measurements:
        raise BoardUnavailable(Unavailable.NO_SUBMISSION, "No submission has been admitted yet.")
    ranked = rank(manifest, spec, measurements)
    words = kind.words(manifest, spec)
    fields = [*_fields(manifest, spec, words, measurements), *_other_rank(manifest, spec, words, ranked)]
    notes = notes_of(spec, words, ranked)
    meta = _meta(manifest, spec, words, measurements) | _power(ranked.standing, ranked.contenders)
    meta |= _few_meta(spec, words, ranked.contenders)
    if spec.explored is None:
        meta |= _stability(manifest, spec, words, ranked)
    placed = ranked.with_coverage(ranked.placed())
    board = board_table(spec, fields, placed, notes, meta)
    if spec.explored is not None:
        return BoardTables(board).each(partial(kind.finish, manifest, measurements))
    pairs = pairs_beside(spec, partial(pairwise, manifest, spec, words, ranked))
    shown = [*ranked.contenders, *ranked.others]
    further = kind.further_tables(manifest, spec, shown, ranked.standing)
    return BoardTables(board, (*pairs, *further)).each(partial(kind.finish, manifest, measurements))


METHOD = MeasuredMethod(EstimateBoard, assemble_board)


def drawn_meta(spec: EstimateBoard) -> dict[str, Any]:
    """Return how the intervals of a board's tables were computed, for their `meta`.

    >>> drawn_meta(EstimateBoard(name="main", method="estimate", metrics=["success"]))["n_resamples"]
    2000
    """
    drawn = spec.uncertainty
    return {
        "method": spec.method,
        "interval": "percentile bootstrap",
        "level": drawn.level,
        "n_resamples": drawn.n_resamples,
        "rng_seed": drawn.rng_seed,
        "stream": drawn.stream,
    }


# From measurements of entrants to a board of method `estimate`: ranks, rank intervals, and pair by pair. Entrants
# listed in `labels` are shown without a rank; an entrant without a value of the ranking metric comes last, also
# without one.

SHOWN_BESIDE = ("mean", PUBLIC_PART, ALL_ITEMS)
"""What is shown of the metric that ranks beside it."""

KINDS = {"profile_area": "profile", ALL_ITEMS: PUBLIC_PART}
"""The glossary entries of estimates that are derived from a metric, where their own name is none."""


def estimate_names(spec: EstimateBoard, measurements: Sequence[Measurement]) -> list[str]:
    """Return the names of the estimates: the declared metrics in their order, then those derived from them.

    Source: none; it lists.

    >>> from app.boards.example import measured
    >>> board = EstimateBoard(name="main", method="estimate", metrics=["success"])
    >>> estimate_names(board, [measured("A", 0.5, "success:iqm")])
    ['success', 'success:iqm']
    """
    known = dict.fromkeys(name for m in measurements for name in m.estimates)
    return [*spec.metrics, *(name for name in known if name not in spec.metrics)]


def fact_names(measurements: Sequence[Measurement]) -> list[str]:
    """Return the names of the counts, in the order of the measurements.

    Source: none; it lists.

    >>> fact_names([Measurement("A", {}, facts={"n_seeds": 5, "n_episodes": 50})])
    ['n_seeds', 'n_episodes']
    """
    return list(dict.fromkeys(name for m in measurements for name in m.facts))


def _fields(
    manifest: Manifest, spec: EstimateBoard, words: EvidenceWords, measurements: Sequence[Measurement]
) -> Iterator[FrameField[Measurement]]:
    label = Column("label", "Not a contender", "text", detail=not spec.labels, glossary="labels")
    yield FrameField(label, lambda measurement: spec.labels.get(measurement.entrant))
    for name in estimate_names(spec, measurements):
        column = _estimate_column(manifest, spec, words, name)
        calibrated = {m.entrant: _calibrated(name, m) for m in measurements}
        fields = with_calibrated(column, partial(_ends, name), partial(_own, calibrated))
        yield from _with_compatible(fields) if _is_iqm(manifest, spec, words, name) else fields
    for name in fact_names(measurements):
        yield FrameField(_count_column(name), partial(_fact, name))


def _is_iqm(manifest: Manifest, spec: EstimateBoard, words: EvidenceWords, name: str) -> bool:
    """Say whether a name is the interquartile mean of the metric that ranks."""
    stem, _, kind = name.partition(":")
    metric = manifest.metrics.get(stem)
    if not words.has_statistics or stem != spec.ranked or metric is None:
        return False
    return (kind or spec.statistic_of(stem, metric)) == "iqm"


def _with_compatible(fields: Sequence[FrameField[Measurement]]) -> Iterator[FrameField[Measurement]]:
    """Yield the fields of an interquartile mean so that the first view shows it with CHAMBER's own interval.

    Beside a mean that ranks, that interval is its whisker; where it ranks itself its whisker stays the calibrated one,
    and the ends of CHAMBER's are columns of their own.
    """
    number, low, high, *ours = fields
    if number.column.detail:
        drawn = replace(
            number.column,
            title=f"{number.column.title} (compatible interval)",
            interval=(low.column.name, high.column.name),
            detail=False,
        )
        yield from (replace(number, column=drawn), low, high, *ours)
    else:
        shown = [replace(each, column=replace(each.column, detail=False)) for each in (low, high)]
        yield from (number, *shown, *ours)


@dataclass(frozen=True)
class Ranked:
    """The contenders from best to worst, with their rank standing; the others follow.

    `roster` says which of the others are behind the contenders and which apart; labelled entrants are in neither.
    `label_holders` are those of who can read private labels.
    """

    contenders: tuple[Measurement, ...]
    others: tuple[Measurement, ...]
    standing: BoardStanding | None
    roster: Roster
    metric: str
    sign: float
    label_holders: frozenset[str] = frozenset()

    def placed(self) -> list[tuple[BoardRow, Measurement]]:
        """Return everybody's place; an entrant without replicates of the score has no rank interval."""
        places = [] if self.standing is None else [
            (self.standing.place(at, m.entrant), m) for at, m in enumerate(self.contenders)
        ]  # fmt: skip
        return [*places, *self._below(self.metric)]

    def ranks_by(self, name: str, sign: float) -> dict[str, int]:
        """Return the ranks of the contenders by another of their estimates, ties sharing a rank."""
        if not self.contenders:
            return {}
        points = np.array([sign * float(_point(m, name) or 0.0) for m in self.contenders])
        return dict(zip([m.entrant for m in self.contenders], competition_ranks(points).tolist(), strict=True))

    def _below(self, metric: str) -> Iterator[tuple[BoardRow, Measurement]]:
        """Yield those behind the contenders, those listed separately, and last those labelled or without a score."""
        by_name = {m.entrant: m for m in self.others}
        points = {name: self.sign * float(_point(m, metric) or 0.0) for name, m in by_name.items()}
        listed = [place for place in unranked_places(self.roster, points) if place.entrant in by_name]
        others = [name for name in by_name if name not in {place.entrant for place in listed}]
        for place in (*listed, *map(BoardRow, others)):
            yield place, by_name[place.entrant]

    def with_coverage(self, placed: Sequence[tuple[BoardRow, Measurement]]) -> list[tuple[BoardRow, Measurement]]:
        """Return the places with each entrant's coverage added."""
        return [(replace(place, rank_status=self._rank_status(m)), m) for place, m in placed]

    def _rank_status(self, measurement: Measurement) -> RankStatus:
        if measurement.entrant not in self.roster.coverages:
            coverage = measurement.coverage
            is_apart = coverage is not None and (coverage.n_not_asked or coverage.is_reference)
            why = coverage.why_unranked if coverage is not None and is_apart else None
            return RankStatus(coverage, why)
        return self.roster.rank_status(measurement.entrant, self._bounds(measurement))

    def _bounds(self, measurement: Measurement) -> tuple[int, int] | None:
        if measurement.bounds is None:
            return None
        worst, best = (None if end is None else self.sign * end for end in measurement.bounds)
        scores = [self.sign * float(_point(m, self.metric) or 0.0)
                  for m in self.contenders if m.entrant != measurement.entrant]  # fmt: skip
        return rank_among(worst, scores), 1 if best is None else rank_among(best, scores)


def _other_rank(
    manifest: Manifest, spec: EstimateBoard, words: EvidenceWords, ranked: Ranked
) -> Iterator[FrameField[Measurement]]:
    """Yield the rank of contenders by the other statistic: by IQM on a board of means, and the reverse."""
    metric = manifest.metrics[spec.ranked]
    other = "mean" if spec.statistic_of(spec.ranked, metric) == "iqm" else "iqm"
    name = f"{spec.ranked}:{other}"
    if not words.has_statistics:
        return
    ranks = ranked.ranks_by(name, sign_of(manifest, spec.ranked))
    title = f"{metric.title or spec.ranked}, rank by {STATISTICS[other]}"
    entry = _entry(manifest, spec, other)
    column = Column(f"{spec.ranked}_{other}_rank", title, "integer", detail=True, glossary=entry)
    yield FrameField(column, lambda measurement: ranks.get(measurement.entrant))


def _ends(name: str, measurement: Measurement) -> Ends:
    estimate = measurement.estimates.get(name, NOTHING)
    return (estimate.point, estimate.low, estimate.high)


def _own(cells: Mapping[str, CalibratedCells], measurement: Measurement) -> CalibratedCells:
    return cells[measurement.entrant]


def _calibrated(name: str, measurement: Measurement) -> CalibratedCells:
    return calibrated_cells(measurement.estimates.get(name, NOTHING).calibrated)


def _fact(name: str, measurement: Measurement) -> Cell:
    return measurement.facts.get(name)


def _count_column(name: str) -> Column:
    title = name.removeprefix("n_").replace("_", " ").capitalize()
    if not name.startswith("n_"):
        entry = FREE if name in FREE_ENDS else name
        return Column(name, title, detail=True, glossary=entry, digits=3)
    return Column(name, title, "integer", glossary="counts")


def _estimate_column(manifest: Manifest, spec: EstimateBoard, words: EvidenceWords, name: str) -> Column:
    stem, _, kind = name.partition(":")
    metric = manifest.metrics.get(stem)
    composed = spec.composite.title if spec.composite is not None and stem == spec.ranked else None
    title = composed or (metric.title if metric else None) or stem
    if not kind and metric is not None and words.has_statistics:
        kind = spec.statistic_of(stem, metric)
    if kind:
        title = f"{title}, {STATISTICS.get(kind, kind.replace('_', ' '))}"
    return Column(
        name=name.replace(":", "_"),
        title=title,
        unit=metric.unit if metric else None,
        direction=metric.direction if metric is not None and kind != "optimality_gap" else "minimize",
        detail=name not in spec.metrics and name not in {f"{spec.ranked}:{part}" for part in SHOWN_BESIDE},
        glossary=_entry(manifest, spec, KINDS.get(kind, kind) or words.metric_glossary(stem)),
        digits=3,
    )


def _entry(manifest: Manifest, spec: EstimateBoard, entry: str) -> str | None:
    """Return a glossary entry; none of a mean on a board of one task, since its words are of an average over tasks."""
    tasks = spec.ranked_tasks() or manifest.task_ids()
    return None if entry == "mean" and tasks is not None and len(tasks) == 1 else entry


def _meta(
    manifest: Manifest, spec: EstimateBoard, words: EvidenceWords, measurements: Sequence[Measurement]
) -> dict[str, Any]:
    has_replicates = any(m.replicates for m in measurements)
    reasons = [e.reason for m in measurements if (e := m.estimates.get(spec.ranked, NOTHING)).reason is not None]
    return {
        **drawn_meta(spec),
        "metric": spec.ranked,
        "rank_by": spec.ranked,
        **(_statistics(manifest, spec) if words.has_statistics else {}),
        "n_entrants": len(measurements),
        "interval": f"percentile bootstrap over {words.resampled}" if has_replicates else None,
        "interval_reason": None if has_replicates else next(iter(reasons), "too_few_clusters"),
        **({PART: words.part} if words.part else {}),
    }


def _stability(manifest: Manifest, spec: EstimateBoard, words: EvidenceWords, ranked: Ranked) -> dict[str, Any]:
    """Return on how many other boards the first is first, for `meta`: those of `Measurement.elsewhere` that all
    contenders have, by the other statistic, and by each other metric that it has a value of and not all the same.
    """
    contenders, sign = ranked.contenders, ranked.sign
    if len(contenders) < 2:
        return {}

    def boards() -> Iterator[Elsewhere]:
        for what in contenders[0].elsewhere:
            if all(what in m.elsewhere for m in contenders):
                yield what, sign * np.array([m.elsewhere[what] for m in contenders])
        other = {"iqm": "mean", "mean": "iqm"}[spec.statistic_of(spec.ranked, manifest.metrics[spec.ranked])]
        title = f"by its {STATISTICS[other]}"
        others = [(title, f"{spec.ranked}:{other}", sign)] if words.has_statistics else []
        others += [(f"by {name}", name, sign_of(manifest, name)) for name in spec.metrics if name != spec.ranked]
        for what, name, way in others:
            values = np.array([np.nan if (p := _point(m, name)) is None else way * p for m in contenders])
            scores = np.where(np.isnan(values), -np.inf, values)
            if not np.isnan(values[0]) and (~np.isnan(values)).sum() > 1 and prefers_some(scores):
                yield what, scores

    has_others = words.has_statistics or bool(contenders[0].elsewhere)
    found = among_others([m.entrant for m in contenders], 0, boards(), by="" if has_others else " by other metrics")
    return {} if found is None else {"stability": found}


def _statistics(manifest: Manifest, spec: EstimateBoard) -> dict[str, Any]:
    of_each = {metric: spec.statistic_of(metric, manifest.metrics[metric]) for metric in spec.metrics}
    return {"statistic": of_each[spec.ranked], "statistics": of_each}


# Who is ranked on a board of method `estimate`, with their rank standing.

NOTHING = Estimate(None, reason="nothing_to_aggregate")


def rank(manifest: Manifest, spec: EstimateBoard, measurements: Sequence[Measurement]) -> Ranked:
    """Order the contenders by the ranking metric, best first, ties by name.

    The direction is the metric's own. An entrant that is labelled, that of who can read private labels, or one without
    a value (None), is not a contender.
    Source: the competition rank of `app.stats.resample`.

    >>> from app.boards.example import benchmark, measured
    >>> board = EstimateBoard(name="main", method="estimate", metrics=["success"])
    >>> ranked = rank(benchmark(board), board, [measured("A", 0.4), measured("B", 0.9), measured("C", None)])
    >>> [m.entrant for m in ranked.contenders], [m.entrant for m in ranked.others]
    (['B', 'A'], ['C'])
    """
    sign, references = sign_of(manifest, spec.ranked), manifest.asked.facts.references
    measurements = [_as_reference(m) if m.entrant in references else m for m in measurements]
    scored = [m for m in measurements if m.entrant not in spec.labels and _point(m, spec.ranked) is not None]
    roster = measured_roster(scored, manifest.asked.facts.arrivals_of([m.entrant for m in scored]))
    names = frozenset(roster.ranked)
    contenders = [m for m in scored if m.entrant in names]
    others = [m for m in measurements if m.entrant not in names]
    holders = manifest.asked.facts.label_holders
    if not contenders:
        return Ranked((), tuple(others), None, roster, spec.ranked, sign, holders)
    order = stand(points_of(manifest, spec.ranked, contenders), None, spec.uncertainty.level)
    ordered = [contenders[at] for at in order.order([m.entrant for m in contenders])]
    standing = standing_by(manifest, spec, spec.ranked, ordered)
    return Ranked(tuple(ordered), tuple(others), standing, roster, spec.ranked, sign, holders)


def _as_reference(measurement: Measurement) -> Measurement:
    """Return the measurement of an entrant that is shown for comparison: without bounds of a rank, too."""
    return replace(measurement, coverage=replace(measurement.coverage, is_reference=True), bounds=None)


def standing_by(
    manifest: Manifest, spec: EstimateBoard, metric: str, contenders: Sequence[Measurement]
) -> BoardStanding:
    """Return the standing of contenders, in their order, by a metric that all of them have.

    Points are negated for a minimized metric, so that larger is better.
    Source: `app.boards.standing.stand`.

    >>> from app.boards.example import benchmark, measured
    >>> board = EstimateBoard(name="main", method="estimate", metrics=["success"])
    >>> standing_by(benchmark(board), board, "success", [measured("A", 0.4), measured("B", 0.9)]).ranks.tolist()
    [2, 1]
    """
    points = points_of(manifest, metric, contenders)
    within = range_of(manifest.metrics[metric])
    spread = _spread(manifest, metric, contenders, points)
    smallest = spec.smallest_difference if metric == spec.ranked else None
    widest, level = within.high - within.low, spec.uncertainty.level
    gaps = filled_gaps([each.coverage for each in contenders], points) if metric == spec.ranked else None
    standing = stand(points, spread, level, widest=widest, gaps=gaps, smallest=smallest,
                     over_snapshots=spec.over_snapshots)  # fmt: skip
    return standing if metric != spec.ranked else replace(standing, least_p=_least_p(contenders, points, level))


def _least_p(contenders: Sequence[Measurement], points: FloatArray, level: float) -> FloatArray | None:
    """Return how probable seeds as equal as these are, if two have the same mean, [n, n]; None where nobody's are.

    The t of a pair is exact for them at the level and no more: five zeros beside 0.274 have 0.726^5, and t says less.
    """
    if not any(each.rows.get(EQUAL_SEEDS) for each in contenders):
        return None
    chances, differences = np.zeros((len(points), len(points))), np.abs(points[:, None] - points[None, :])
    for at, measurement in enumerate(contenders):
        for row in measurement.rows.get(EQUAL_SEEDS, ()):
            n, reach = int(row[0] or 0), float(row[1] or 0.0)
            farthest = reach / (unseen(n, 1.0 - level) * widened_for_equals(n, level))
            chances[at] = (1.0 - np.minimum(differences[at] / farthest, 1.0)) ** n
    return np.maximum(chances, chances.T)


def points_of(manifest: Manifest, metric: str, contenders: Sequence[Measurement]) -> FloatArray:
    """Return a metric's values in its unit, [n_contenders], negated if smaller is better; None counts as 0.

    Raises KeyError for a metric that the manifest does not have.
    Source: none; it selects.

    >>> from app.boards.example import benchmark, measured
    >>> board = EstimateBoard(name="main", method="estimate", metrics=["error"])
    >>> points_of(benchmark(board), "error", [measured("A", 0.4, "error")]).tolist()
    [-0.4]
    """
    return sign_of(manifest, metric) * np.array([float(_point(m, metric) or 0.0) for m in contenders])


def sign_of(manifest: Manifest, metric: str) -> float:
    """Return the factor that makes larger values of a metric better: −1 where it is minimized, else 1.

    >>> from app.boards.example import benchmark
    >>> board = EstimateBoard(name="main", method="estimate", metrics=["error"])
    >>> sign_of(benchmark(board), "error"), sign_of(benchmark(board), "success")
    (-1.0, 1.0)
    """
    return -1.0 if manifest.metrics[metric].direction == "minimize" else 1.0


def _point(measurement: Measurement, metric: str) -> float | None:
    return measurement.estimates.get(metric, NOTHING).point


def _spread(
    manifest: Manifest, metric: str, contenders: Sequence[Measurement], points: FloatArray
) -> DrawnSpread | None:
    """Return everybody's replicates; None when nobody has any.

    An entrant without replicates keeps its point in every resample, as does a resample where the metric is undefined.
    """
    drawn = [m.replicates.get(metric) for m in contenders]
    n_drawn = max((len(column) for column in drawn if column is not None), default=0)
    if not n_drawn:
        return None
    # One entrant per row: with many entrants, writing a column would touch a new page of memory for each number.
    rows = np.repeat(points[:, None], n_drawn, axis=1)
    for row, column in zip(rows, drawn, strict=True):
        if column is not None:
            np.multiply(column, sign_of(manifest, metric), out=row, where=~np.isnan(column))
    replicates = np.ascontiguousarray(rows.T)
    return DrawnSpread(replicates, [None if column is None else m.precision[metric]
                               for m, column in zip(contenders, drawn, strict=True)])  # fmt: skip


# Every pair on a board of method `estimate`: difference, interval and probabilities, from the rank standing. Draws
# are by name, so two entrants are compared as paired on the units they share and as independent on the others.


def pairwise(
    manifest: Manifest,
    spec: EstimateBoard,
    words: EvidenceWords,
    ranked: Ranked,
) -> Table | None:
    """Return the table of ordered pairs, best first; None with fewer than two contenders.

    Differences have the metric's own unit and sign. A pair has no interval if either entrant has no replicates.
    Source: `app.boards.standing`, with the draws of `app.stats.resample`.

    >>> from app.boards.example import benchmark, measured
    >>> board = EstimateBoard(name="main", method="estimate", metrics=["success"])
    >>> words = EvidenceWords(resampled="seeds", too_few="seeds", failed="Failed episodes")
    >>> alone = rank(benchmark(board), board, [measured("A", 0.5)])
    >>> pairwise(benchmark(board), board, words, alone) is None
    True
    """
    contenders, standing = ranked.contenders, ranked.standing
    if standing is None or len(contenders) < 2:
        return None
    metric = manifest.metrics[spec.ranked]
    names = [measurement.entrant for measurement in contenders[:MAX_COMPARED]]
    is_turned = metric.direction == "minimize"
    difference = Column("difference", "A minus B", direction=metric.direction, glossary="difference", digits=3)
    notes = _notes(len(contenders), metric.title or spec.ranked)
    meta = {**drawn_meta(spec), "metric": spec.ranked, "contrast": "difference", **_power(standing, contenders),
            **_caveats(spec, words, ranked)}  # fmt: skip
    contrasts = standing.contrasts(range(len(names)))
    return contrast_table(spec, names, difference, contrasts, notes, meta, is_turned=is_turned)


def _notes(n_contenders: int, metric: str) -> Iterator[str]:
    yield f"Differences of {metric}."
    if n_contenders > MAX_COMPARED:
        yield f"Pairs are listed of the {MAX_COMPARED} best of {n_contenders} contenders; all are tested."


# The notes below a board of method `estimate`: failures, labels, what has no interval.


def _reason(measurement: Measurement, metric: str) -> str | None:
    return measurement.estimates.get(metric, NOTHING).reason


def notes_of(spec: EstimateBoard, words: EvidenceWords, ranked: Ranked) -> tuple[str, ...]:
    """Return the notes of a board, as sentences.

    >>> from app.boards.methods.estimate import rank
    >>> from app.boards.example import benchmark, measured
    >>> board = EstimateBoard(name="main", method="estimate", metrics=["success"], labels={"B": "Random"})
    >>> words = EvidenceWords(resampled="seeds", too_few="seeds", failed="Failed episodes")
    >>> notes_of(board, words, rank(benchmark(board), board, [measured("A", 0.5), measured("B", 0.1)]))[0]
    'Shown without a rank, for comparison: B.'
    """
    notes = [*words.notes]
    failed = [f"{in_words(m.entrant)} ({m.coverage.n_failed})" for m in ranked.contenders if m.coverage.n_failed]
    if failed:
        notes.append(f"{words.failed}, each counted as the worst there is: {sentences(failed)}.")
    if labelled := [m.entrant for m in ranked.others if m.entrant in spec.labels]:
        notes.append(f"Shown without a rank, for comparison: {names_in_words(labelled)}.")
    notes += ranked.roster.notes(words.cells)
    if holding := [m.entrant for m in ranked.contenders if m.entrant in ranked.label_holders]:
        notes.append(
            "Ranked although who sent them can read the private labels, because the manifest says so "
            f"(label_holders: ranked): {names_in_words(holding)}."
        )
    if silent := [m.entrant for m in ranked.others if _reason(m, spec.ranked) == HELD_BACK]:
        notes.append(
            "Held back until the benchmark closes, not being better than the best of their owner by more than a "
            f"standard error: {names_in_words(silent)}."
        )
    unplaced = [m.entrant for m in ranked.others if m.entrant not in {*ranked.roster.coverages, *silent}]
    if empty := [name for name in unplaced if name not in spec.labels]:
        notes.append(f"No value of {spec.ranked}, so no rank: {names_in_words(empty)}.")
    notes += _of_other_items(ranked)
    notes += _without_spread(spec, ranked, words.too_few)
    units = list(_units(spec, (*ranked.contenders, *ranked.others)))
    notes += few_units_note(units, words.units, spec.uncertainty.level, is_rate=words.is_rate)
    notes += _equal_seeds(spec, ranked.contenders, words.units)
    scored = [m for m in (*ranked.contenders, *ranked.others) if _point(m, spec.ranked) is not None]
    is_beside = bool(scored) and all(m.facts.get(FREE_ENDS[0]) is not None for m in scored)
    notes += rare_note(
        words.rare,
        min((n for _, n in units), default=0.0),
        is_beside=is_beside,
        is_compared=len(ranked.contenders) > 1,
        are_shared=words.are_shared,
    )
    if flat := list(_without_width(spec, ranked)):
        notes.append(
            f"Every resample gives the same value, so the compatible interval has no width: {'; '.join(flat)}. Where "
            "there is a calibrated interval it still says how far the truth may be."
        )
    if lacking := list(_lacking(spec, ranked, is_withheld=False)):
        notes.append(f"Left out of an average, for want of a value: {'; '.join(lacking)}.")
    if withheld := list(_lacking(spec, ranked, is_withheld=True)):
        notes.append(f"No average, because what is absent has no worst value: {'; '.join(withheld)}.")
    return tuple(notes)


def _of_other_items(ranked: Ranked) -> Iterator[str]:
    """Yield who has other items than most entrants, where the grid does not name the items."""
    if ranked.roster.is_provisional:
        if len({m.items for m in ranked.contenders if m.items}) > 1:
            yield (
                "These scores are not all about the same: entrants have other items, or other labels or weights for "
                "them, and no half of the submitters has the same ones. Whose are the benchmark's, nobody has declared."
            )
        return
    named = Counter(m.items for m in ranked.contenders if m.items)
    most, n_most = named.most_common(1)[0] if named else ("", 0)
    is_majority = 2 * n_most > named.total()
    others = [m for m in ranked.contenders if m.items and m.items != most]
    if is_majority and others:
        # Who lacks items may have none but those of the others: a digest of names does not tell.
        lacking = [m.entrant for m in others if m.coverage is not None and m.coverage.n_lacking]
        whole = [m.entrant for m in others if m.entrant not in lacking]
        said = [f"{which}: {names_in_words(names)}." for which, names in (
            ("Of other items than most have", whole),
            ("Of other items than most have, or of a part of these", lacking),
        ) if names]  # fmt: skip
        yield (
            f"{' '.join(said)} The benchmark says how many items there are and not which, so these scores may be about "
            "easier ones."
        )
    elif others:
        few = f"no more than {n_most}" if n_most > 1 else "no two"
        yield f"The benchmark says how many items there are and not which: {few} entrants have exactly the same ones."


def _units(spec: EstimateBoard, shown: Sequence[Measurement]) -> Iterator[tuple[str, float]]:
    """Yield the shown entrants, each with the number of units behind its score."""
    for measurement in shown:
        interval = measurement.estimates.get(spec.ranked, NOTHING).calibrated
        if interval is not None:
            yield measurement.entrant, interval.n_units


def _few_meta(spec: EstimateBoard, words: EvidenceWords, contenders: Sequence[Measurement]) -> dict[str, Any]:
    """Return of how few units the contender with the fewest has its score, for `meta`, where the notes say so too."""
    fewest = min((n for _, n in _units(spec, contenders) if n >= MIN_UNITS), default=math.inf)
    if fewest >= FEW_UNITS:
        return {}
    if fewest % 1.0:
        return {FEW: f"{words.units} worth {fewest:.1f} of equal size"}
    return {FEW: f"{fewest:.0f} {words.units}"}


def _caveats(spec: EstimateBoard, words: EvidenceWords, ranked: Ranked) -> dict[str, Any]:
    """Return what pairs need of the notes, for `meta`: what was filled, which units, how few, and seeds nobody ran."""
    units = list(_units(spec, ranked.contenders))
    found = [
        *words.notes,
        *ranked.roster.filled_notes(),
        *few_units_note(units, words.units, spec.uncertainty.level),
        *_equal_seeds(spec, ranked.contenders, words.units),
        *rare_note(words.rare, min((n for _, n in units), default=0.0), are_shared=words.are_shared),
    ]
    return {CAVEATS: found} if found else {}


def _power(standing: BoardStanding | None, contenders: Sequence[Measurement]) -> dict[str, Any]:
    """Return what the board would find, and `equal_seeds`: of whose pairs nobody can say what more seeds would show.

    What equal seeds leave open falls with their number and not with its root. So no difference is said to be found
    where one of the first two has such seeds, or most have.
    """
    found, equal = power_meta(standing), [bool(each.rows.get(EQUAL_SEEDS)) for each in contenders]
    if found and any(equal):
        found[EQUAL_SEEDS] = [each.entrant for each, is_equal in zip(contenders, equal, strict=True) if is_equal]
        if any(equal[:2]) or 2 * sum(equal) > len(equal):
            found["power"] = {name: found["power"][name] for name in ("power", "critical", "n_pairs")}
    return found


def _equal_seeds(spec: EstimateBoard, contenders: Sequence[Measurement], units: str) -> Iterator[str]:
    """Yield whose seeds are all equal, or nearly, and how far off their scores are taken to be in comparisons.

    Source: `app.stats.spreads.reach_of_equals`; docs/statistics.md, "Few seeds".
    """
    names: dict[tuple[Cell, ...], list[str]] = {}
    for measurement in contenders if len(contenders) > 1 else ():
        for row in measurement.rows.get(EQUAL_SEEDS, ()):
            names.setdefault((_point(measurement, spec.ranked), *row), []).append(measurement.entrant)
    for (value, n, reach, if_equal, none_from), own in names.items():
        alike = "are all equal" if reach == if_equal else "hardly differ"
        how_far = (
            f"up to {reach:.3g} to either side (one-sided, and far enough for all pairs tested together, unlike the "
            "interval of the score)"
            if reach == if_equal
            else f"up to {reach:.3g} to either side: it would be {if_equal:.3g} if they were equal, and is by our "
            f"convention less the further they are apart, and nothing from {none_from:g} on"
        )
        yield (
            f"{names_in_words(own)}: {n} {units} that {alike} have a score of {value:.3g}. Others may do "
            f"otherwise and not be among {n}, so comparisons count with a score that is off by {how_far}."
        )


def _without_spread(spec: EstimateBoard, ranked: Ranked, units: str) -> Iterator[str]:
    """Yield who has no rank interval, by reason, and what that means for the others' intervals."""
    names: dict[str, list[str]] = {}
    for measurement in ranked.contenders:
        if spec.ranked not in measurement.replicates:
            reason = measurement.estimates[spec.ranked].reason or "too_few_clusters"
            names.setdefault(_reason_in_words(reason, units), []).append(measurement.entrant)
    for words, entrants in names.items():
        yield f"No rank interval, {words}: {names_in_words(entrants)}."
    if names and ranked.standing is not None and ranked.standing.has_spread.any():
        yield "How sure these scores are is not known: nobody is said to be below them, others may be above them."


def _reason_in_words(reason: str, units: str) -> str:
    is_undefined = reason == "undefined_in_resamples"
    return "undefined in many resamples" if is_undefined else f"fewer than two {units} to resample"


def _without_width(spec: EstimateBoard, ranked: Ranked) -> Iterator[str]:
    shown = (*ranked.contenders, *ranked.others)
    for name in (*spec.metrics, f"{spec.ranked}:iqm", f"{spec.ranked}:mean"):
        metric, _, kind = name.partition(":")
        title = f"{metric}, {STATISTICS[kind]}," if kind else metric
        if equal := [m.entrant for m in shown if _reason(m, name) == ALL_EQUAL]:
            yield f"{title} of {names_in_words(equal)}"


def _lacking(spec: EstimateBoard, ranked: Ranked, *, is_withheld: bool) -> Iterator[str]:
    """Yield who lacks values of a metric in some rows; the ranking metric's gaps are already in the coverage.

    `is_withheld` selects those whose average is withheld for that reason, or else those that have one.
    """
    shown = (*ranked.contenders, *ranked.others)
    for metric in (name for name in spec.metrics if name != spec.ranked):
        of_metric = [(m.entrant, m.estimates.get(metric, NOTHING)) for m in shown]
        if named := [f"{in_words(entrant)} ({each.n_lacking:,})" for entrant, each in of_metric
                    if each.n_lacking and (each.reason == NO_WORST_VALUE) == is_withheld]:  # fmt: skip
            yield f"{metric} of {sentences(named)}"


# Who is ranked among separately measured entrants: by the grid, or relative to each other where an axis is open.


def measured_roster(measurements: Sequence[Measurement], arrivals: Sequence[int]) -> Roster:
    """Return who is ranked among measured contenders; `arrivals` numbers their owners by when they came.

    Where the grid leaves an axis open, the usual number of cells in a task and condition is what at least half of the
    owners have, and half of those who came first; fewer are lacking, more are over. An entrant with the usual number
    but other items than these counts all of its items as over, since which of them differ is not known here.
    Source: `app.boards.coverage`.

    >>> from app.boards.example import measured
    >>> full, few = measured("A", 0.5), replace(measured("B", 0.5), coverage=Coverage(10, 8, n_absent=2))
    >>> measured_roster([full, few], [0, 1]).apart
    ('B',)
    """
    if all(m.held is None for m in measurements):
        return call_roster({m.entrant: m.coverage for m in measurements}, is_declared=True)
    common, usual = _common(measurements, arrivals), _usual_items(measurements, arrivals)
    return call_roster({m.entrant: _relative_coverage(m, common, usual) for m in measurements}, is_declared=False)


def _usual_items(measurements: Sequence[Measurement], arrivals: Sequence[int]) -> str | None:
    """Return the digest of items shared by the most owners, two or more; None where other owners would decide it."""
    owners_of: dict[str, set[int]] = {}
    for measurement, owner in zip(measurements, arrivals, strict=True):
        owners_of.setdefault(measurement.items, set()).add(owner)
    counts = sorted(((len(who), items) for items, who in owners_of.items() if items), reverse=True)
    if not counts or counts[0][0] < 2 or (len(counts) > 1 and counts[1][0] == counts[0][0]):
        return None
    usual = counts[0][1]
    has = np.array([measurement.items == usual for measurement in measurements])
    return usual if are_usual(has, arrivals) else None


def _common(measurements: Sequence[Measurement], arrivals: Sequence[int]) -> Mapping[tuple[str, str], int]:
    held = [_cells_of(measurement) for measurement in measurements]
    cells = list(dict.fromkeys(cell for own in held for cell in own))
    counts = np.array([[own.get(cell, 0) for cell in cells] for own in held], dtype=np.int64)
    return dict(zip(cells, commonly_held(counts, arrivals).tolist(), strict=True))


def _cells_of(measurement: Measurement) -> dict[tuple[str, str], int]:
    return {(task, condition): n for task, condition, n in measurement.held or ()}


def _relative_coverage(measurement: Measurement, common: Mapping[tuple[str, str], int], usual: str | None) -> Coverage:
    own = _cells_of(measurement)
    n_lacking = sum(max(0, n - own.get(cell, 0)) for cell, n in common.items())
    n_over = sum(max(0, n - common[cell]) for cell, n in own.items())
    if usual not in (None, measurement.items) and not n_lacking + n_over:
        n_over = sum(own.values())
    coverage = measurement.coverage
    n_absent = max(0, n_lacking - coverage.n_failed)
    return replace(coverage, n_attempted=coverage.n_attempted + n_absent, n_absent=n_absent, n_over=n_over)
