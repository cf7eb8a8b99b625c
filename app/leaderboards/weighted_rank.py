"""Ranking method `weighted_rank`: lrdbench's leaderboard, weighted ranks of metrics that are balanced over strata.

Found by `app.leaderboards.registry`. Rank intervals come from resampling records within strata, the same records for
every estimator.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from app.errors import BoardUnavailable
from app.leaderboards.estimate_pairs import MAX_ENTRANTS
from app.leaderboards.series_groups import balanced, estimators_of, series_groups, stratum_aggregates
from app.leaderboards.series_resampling import resample_components
from app.leaderboards.standing import ENTRANT, RANK, STANDING_COLUMNS, BoardStanding, stand
from app.leaderboards.tables import BoardTables, sentences
from app.lrdbench_catalog import CATALOG, split_identity
from app.manifest import EvidenceKind, Leaderboard, Manifest
from app.manifest_base import MetricName
from app.scores import ScoreTable
from app.stats.interval import percentile_interval, probability_beats
from app.stats.strata import Aggregate, Group
from app.stats.weighted_ranks import average_ranks, decided_by_name, exact_scores, ordinal_ranks
from app.table import Cell, Column, Table

FloatArray = NDArray[np.float64]
WEIGHT_TOLERANCE = 1e-6
VALIDITY = "validity_rate"


class WeightedRank(Leaderboard):
    """A board of weighted ranks. Rule 2 shares ranks between ties; rule 1 breaks them by name, as lrdbench once did."""

    evidence_kinds: ClassVar[tuple[EvidenceKind, ...]] = ("series_metrics",)

    method: Literal["weighted_rank"]
    ranking_rule: Literal[1, 2] = 2
    weights: dict[MetricName, float] = Field(min_length=1, max_length=50)
    tie_break: MetricName | None = None

    @model_validator(mode="after")
    def _weights_are_shares(self) -> Self:
        outside = [name for name, weight in self.weights.items() if not 0.0 <= weight <= 1.0]
        if outside:
            raise ValueError(f"weights: each is from 0 to 1; not so {', '.join(outside)}")
        total = sum(self.weights.values())
        if abs(total - 1.0) > WEIGHT_TOLERANCE:
            raise ValueError(f"weights: they sum to {total:g}; expected 1")
        if self.tie_break is not None and self.tie_break not in self.weights:
            raise ValueError("tie_break must be one of the weighted metrics")
        return self

    def metric_names(self) -> tuple[str, ...]:
        """Return the weighted metrics; one with a level of its own is named with it (`coverage_error@0.95`)."""
        return tuple(self.weights)


@dataclass(frozen=True)
class _Components:
    """Component values [n_entrants, n_components] as published, and the same with smaller being better."""

    names: tuple[str, ...]
    metrics: tuple[str, ...]
    values: FloatArray
    oriented: FloatArray


def compute(manifest: Manifest, spec: WeightedRank, scores: ScoreTable) -> BoardTables:
    """Compute the board, its pairs and its terms. Raises BoardUnavailable without an estimator."""
    names = [name for name in estimators_of(scores) if manifest.estimators is None or name in manifest.estimators]
    if not names:
        raise BoardUnavailable("No submission has been admitted yet.")
    groups = [group for group in series_groups(scores) if group.estimator in set(names)]
    aggregates = stratum_aggregates(groups)
    components = _components(manifest, spec, names, balanced(aggregates))
    ranks = ordinal_ranks(components.oriented) if spec.ranking_rule == 1 else average_ranks(components.oriented)
    exact = exact_scores(ranks, list(spec.weights.values()))
    drawn = _replicates(manifest, spec, names, groups)
    found = _Found(components, ranks, [float(score) for score in exact], _order(spec, components, exact), drawn)
    return BoardTables(_board(manifest, spec, found, groups), _pairwise(spec, found), (_terms(spec, found),))


@dataclass(frozen=True)
class _Found:
    """What the board shows: `placed` are (position, rank) from best to worst, `drawn` replicate scores or None."""

    components: _Components
    ranks: FloatArray
    scores: list[float]
    placed: list[tuple[int, int]]
    drawn: FloatArray | None


def _components(
    manifest: Manifest, spec: WeightedRank, names: Sequence[str], over_strata: Sequence[Aggregate]
) -> _Components:
    known = {(a.estimator, a.metric): a.value for a in over_strata}
    metrics = tuple(spec.weights)
    values = np.array([[known.get((name, metric), np.nan) for metric in metrics] for name in names])
    return _Components(tuple(names), metrics, values, _orient(manifest, metrics, values))


def _orient(manifest: Manifest, metrics: Sequence[str], values: FloatArray) -> FloatArray:
    """Return values with smaller being better; a bias is ranked by its size. [..., n_components]."""
    oriented = np.array(values, copy=True)
    for at, metric in enumerate(metrics):
        name, _ = split_identity(metric)
        if name in CATALOG and CATALOG[name].by_absolute_value:
            oriented[..., at] = np.abs(oriented[..., at])
        elif manifest.metrics[metric].direction == "maximize":
            oriented[..., at] = -oriented[..., at]
    return oriented


def _replicates(
    manifest: Manifest, spec: WeightedRank, names: Sequence[str], groups: Sequence[Group]
) -> FloatArray | None:
    """Return replicate scores [n_resamples, n_entrants], smaller being better; None when nothing can be resampled."""
    values = resample_components(groups, names, tuple(spec.weights), spec.uncertainty, spec.name)
    if values is None:
        return None
    # Rule 1 in a resample would break ties by name; ties share a rank here, whatever the rule of the points.
    weighted: FloatArray = average_ranks(_orient(manifest, tuple(spec.weights), values)) @ np.array(
        list(spec.weights.values())
    )
    return weighted


def _order(spec: WeightedRank, components: _Components, exact: Sequence[Any]) -> list[tuple[int, int]]:
    """Return (position, rank) from best to worst: by score, then by the tie-breaking component, then by name."""
    breaking = components.metrics.index(spec.tie_break or components.metrics[0])
    by_value = [value if value == value else np.inf for value in components.oriented[:, breaking].tolist()]
    keys = [(exact[at], by_value[at]) for at in range(len(components.names))]
    if spec.ranking_rule == 1:
        order = sorted(range(len(keys)), key=lambda at: (exact[at], components.names[at]))
        return [(at, place) for place, at in enumerate(order, start=1)]
    order = sorted(range(len(keys)), key=lambda at: (*keys[at], components.names[at]))
    return [(at, 1 + sum(keys[other] < keys[at] for other in order)) for at in order]


def _board(manifest: Manifest, spec: WeightedRank, found: _Found, groups: Sequence[Group]) -> Table:
    standing = _standing(spec, found)
    attempts = _attempts(groups, found.components.names, found.components.metrics)
    ends = (None, None) if found.drawn is None else percentile_interval(found.drawn, spec.uncertainty.level)
    by_name = decided_by_name(found.components.oriented, list(spec.weights.values()))
    rows = []
    for at, place in found.placed:
        cells: list[Cell] = [place, found.components.names[at], found.scores[at]]
        cells += [None if end is None else float(end[at]) for end in ends]
        cells += [None if value != value else value for value in found.components.values[at].tolist()]
        cells += found.ranks[at].tolist()
        cells += attempts[found.components.names[at]]
        cells += [float(by_name[at])] if spec.ranking_rule == 1 else []
        cells += [None if values is None else values[at].item() for values in standing]
        rows.append(tuple(cells))
    return Table(
        name=f"leaderboard/{spec.name}",
        title=spec.title or spec.name,
        columns=_columns(manifest, spec),
        rows=tuple(rows),
        notes=_notes(spec, found, groups),
        meta=_meta(manifest, spec, found),
    )


def _standing(spec: WeightedRank, found: _Found) -> tuple[Any, Any, Any]:
    if found.drawn is None:
        return (None, None, None)
    standing: BoardStanding = stand(-np.array(found.scores), -found.drawn, spec.uncertainty.level)
    return (standing.rank_low, standing.rank_high, standing.p_best)


def _attempts(groups: Sequence[Group], names: Sequence[str], metrics: Sequence[str]) -> dict[str, list[Cell]]:
    """Return, for each estimator, rows attempted and included over the components, and the share of invalid ones."""
    found: dict[str, list[Cell]] = {}
    for name in names:
        mine = [g for g in groups if g.estimator == name]
        counted = [g for g in mine if g.metric in metrics or f"coverage_error{g.metric[8:]}" in metrics]
        validity = [g.values[g.included] for g in mine if g.metric == VALIDITY]
        valid = np.concatenate(validity) if validity else np.zeros(0)
        attempted, included = sum(len(g.values) for g in counted), sum(int(g.included.sum()) for g in counted)
        found[name] = [attempted, included, float(1.0 - valid.mean()) if len(valid) else None]
    return found


def _columns(manifest: Manifest, spec: WeightedRank) -> tuple[Column, ...]:
    values = [
        Column(f"metric__{name}", manifest.metrics[name].title or name, unit=manifest.metrics[name].unit,
               direction=manifest.metrics[name].direction, glossary="balanced_global", digits=3)
        for name in spec.weights
    ]  # fmt: skip
    ranks = [
        Column(f"rank__{name}", f"Rank in {name}", digits=1, detail=True, glossary="weighted_rank")
        for name in spec.weights
    ]
    by_name = Column("decided_by_name", "Left to the name", digits=2, glossary="rule_1")
    return (
        RANK,
        ENTRANT,
        Column("score", "Score", direction="minimize", interval=("score_lower", "score_upper"),
               glossary="weighted_rank", digits=3),
        Column("score_lower", "Score, low", detail=True, glossary="weighted_rank", digits=3),
        Column("score_upper", "Score, high", detail=True, glossary="weighted_rank", digits=3),
        *values,
        *ranks,
        Column("n_attempted", "Attempted", "integer", glossary="counts"),
        Column("n_included", "Included", "integer", glossary="counts"),
        Column("invalid_rate", "Invalid", direction="minimize", glossary="invalid_rate", digits=3),
        *((by_name,) if spec.ranking_rule == 1 else ()),
        *STANDING_COLUMNS,
    )  # fmt: skip


def _notes(spec: WeightedRank, found: _Found, groups: Sequence[Group]) -> tuple[str, ...]:
    n_common, n_all = _common_records(groups, found.components.names)
    notes = [f"{len(found.components.names)} estimators; {n_common} of {n_all} records are common to all of them."]
    missing = np.isnan(found.components.values)
    if lacking := [found.components.names[at] for at in np.flatnonzero(missing.any(axis=1)).tolist()]:
        notes.append(f"A missing component takes the worst rank: {sentences(lacking)}.")
    if spec.ranking_rule == 1:
        notes.append("Rule 1: ties are broken in the order of the names; the last column says how much that decided.")
    return tuple(notes)


def _common_records(groups: Sequence[Group], names: Sequence[str]) -> tuple[int, int]:
    records = {name: set() for name in names}  # type: dict[str, set[int]]
    for group in groups:
        records[group.estimator] |= set(group.records.tolist())
    everyone = [records[name] for name in names]
    return len(set.intersection(*everyone)), len(set.union(*everyone))


def _meta(manifest: Manifest, spec: WeightedRank, found: _Found) -> dict[str, Any]:
    drawn = spec.uncertainty
    return {
        "method": spec.method,
        "ranking_rule": spec.ranking_rule,
        "weights": dict(spec.weights),
        "tie_break": spec.tie_break or next(iter(spec.weights)),
        "rank_by": "score",
        "mode": manifest.mode,
        "n_entrants": len(found.components.names),
        "interval": None if found.drawn is None else "percentile bootstrap over records within strata",
        "interval_reason": "too_few_clusters" if found.drawn is None else None,
        "level": drawn.level,
        "n_resamples": drawn.n_resamples,
        "rng_seed": drawn.rng_seed,
        "stream": drawn.stream,
    }


def _terms(spec: WeightedRank, found: _Found) -> Table:
    """Return the score term by term: a row for each estimator and component, whose terms add up to the score."""
    weights = list(spec.weights.values())
    rows = [
        (found.components.names[at], metric, None if value != value else value, rank, weight, weight * rank)
        for at, _ in found.placed
        for metric, value, rank, weight in zip(
            found.components.metrics,
            found.components.values[at].tolist(),
            found.ranks[at].tolist(),
            weights,
            strict=True,
        )
    ]
    columns = (
        Column("entrant", "Entrant", "text"),
        Column("component", "Component", "text"),
        Column("value", "Value", glossary="balanced_global", digits=4),
        Column("rank", "Rank in it", digits=1, glossary="weighted_rank"),
        Column("weight", "Weight", digits=3, glossary="weighted_rank"),
        Column("term", "Weight × rank", digits=3, glossary="weighted_rank"),
    )
    note = "The terms of an estimator add up to its score; lower is better."
    return Table(f"score/{spec.name}", f"{spec.title or spec.name}, term by term", columns, tuple(rows), (note,), {})


def _pairwise(spec: WeightedRank, found: _Found) -> Table | None:
    if len(found.placed) < 2:
        return None
    order = [at for at, _ in found.placed][:MAX_ENTRANTS]
    beats = None if found.drawn is None else probability_beats(-found.drawn[:, order])
    rows: list[tuple[Cell, ...]] = []
    for a, first in enumerate(order):
        for b, second in enumerate(order):
            pair = (found.components.names[first], found.components.names[second])
            difference = found.scores[first] - found.scores[second]
            if beats is None or found.drawn is None or a == b:
                rows.append((*pair, difference, None, None, None, None))
                continue
            low, high = percentile_interval(
                (found.drawn[:, first] - found.drawn[:, second])[:, None], spec.uncertainty.level
            )
            ends = (float(low[0]), float(high[0]))
            rows.append((*pair, difference, *ends, float(beats[a, b]), ends[0] > 0.0 or ends[1] < 0.0))
    columns = (
        Column("entrant_a", "A", "text"),
        Column("entrant_b", "B", "text"),
        Column("difference", "Score of A minus B", direction="minimize",
               interval=("difference_lower", "difference_upper"), glossary="difference", digits=3),
        Column("difference_lower", "A minus B, low", detail=True, glossary="difference", digits=3),
        Column("difference_upper", "A minus B, high", detail=True, glossary="difference", digits=3),
        Column("p_a_beats_b", "P(A beats B)", glossary="p_a_beats_b", digits=2),
        Column("separable", "Separable", "flag", glossary="separable"),
    )  # fmt: skip
    return Table(f"pairwise/{spec.name}", f"{spec.title or spec.name}, pair by pair", columns, tuple(rows), (), {})


METHOD = (WeightedRank, compute)
