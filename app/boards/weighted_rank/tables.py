"""The tables of a board of weighted ranks: the board itself, its scores term by term, and pair by pair.

Called by `app.boards.weighted_rank.method`; pure.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.boards.estimate.pairs import MAX_ENTRANTS
from app.boards.standing import ENTRANT, RANK, STANDING_COLUMNS, stand
from app.boards.tables import sentences
from app.boards.weighted_rank.records import Attempts, HeldRecords, count_attempts, record_notes
from app.boards.weighted_rank.resampling import source_metric
from app.boards.weighted_rank.spec import WeightedRank
from app.manifest.manifest import Manifest
from app.stats.arrays import FloatArray
from app.stats.interval import percentile_interval, probability_beats
from app.stats.strata import Group
from app.stats.weighted_ranks import decided_by_name
from app.values.table import Cell, Column, Table

VALIDITY = "validity_rate"
ORDINAL_POINTS = "points_break_ties_by_name_and_resamples_do_not"


@dataclass(frozen=True)
class Components:
    """Component values [n_estimators, n_components] as published, and the same with smaller being better."""

    names: tuple[str, ...]
    metrics: tuple[str, ...]
    values: FloatArray
    oriented: FloatArray


@dataclass(frozen=True)
class Found:
    """What the board shows: `placed` are (position, rank) from best to worst, `drawn` replicate scores or None.

    `partial` are the estimators that stand below without a rank. `groups` are the rows on the benchmark's records.
    """

    components: Components
    ranks: FloatArray
    scores: list[float]
    placed: list[tuple[int, int]]
    drawn: FloatArray | None
    partial: Components
    held: HeldRecords
    groups: Sequence[Group]


def board_table(manifest: Manifest, spec: WeightedRank, found: Found) -> Table:
    """Return the board: those with a rank from best to worst, then the partial ones by name."""
    attempts = count_attempts(found.groups, found.held.contenders, [source_metric(metric) for metric in spec.weights])
    rows = (*_ranked_rows(spec, found, attempts), *_partial_rows(spec, found, attempts))
    return Table(
        name=f"leaderboard/{spec.name}",
        title=spec.title or spec.name,
        columns=_columns(manifest, spec),
        rows=rows,
        notes=tuple(_notes(manifest, spec, found, attempts)),
        meta=_meta(manifest, spec, found),
    )


def _ranked_rows(spec: WeightedRank, found: Found, attempts: dict[str, Attempts]) -> Iterator[tuple[Cell, ...]]:
    standing = _standing(spec, found)
    ends = _score_ends(spec, found)
    by_name = decided_by_name(found.components.oriented, list(spec.weights.values()))
    for at, place in found.placed:
        name = found.components.names[at]
        cells: list[Cell] = [place, name, found.scores[at]]
        cells += [None if end is None else float(end[at]) for end in ends]
        cells += [*_plain(found.components.values[at]), *found.ranks[at].tolist()]
        cells += _counts(found.groups, name, attempts[name])
        cells += [float(by_name[at])] if spec.ranking_rule == 1 else []
        cells += [None if values is None else values[at].item() for values in standing]
        yield tuple(cells)


def _partial_rows(spec: WeightedRank, found: Found, attempts: dict[str, Attempts]) -> Iterator[tuple[Cell, ...]]:
    n_ends, by_name = 3, [None] if spec.ranking_rule == 1 else []
    for name, values in zip(found.partial.names, found.partial.values, strict=True):
        unranked = [None] * len(spec.weights)
        counts = _counts(found.groups, name, attempts[name])
        yield (None, name, *[None] * n_ends, *_plain(values), *unranked, *counts, *by_name, None, None, None)


def _score_ends(spec: WeightedRank, found: Found) -> tuple[FloatArray | None, FloatArray | None]:
    """Return the score's interval. Rule 1 has none: its points are ordinal ranks, its replicates share ranks."""
    if found.drawn is None or spec.ranking_rule == 1:
        return (None, None)
    return percentile_interval(found.drawn, spec.uncertainty.level)


def _standing(spec: WeightedRank, found: Found) -> tuple[Any, Any, Any]:
    if found.drawn is None:
        return (None, None, None)
    standing = stand(-np.array(found.scores), -found.drawn, spec.uncertainty.level)
    return (standing.rank_low, standing.rank_high, standing.p_best)


def _counts(groups: Sequence[Group], name: str, counted: Attempts) -> list[Cell]:
    """Return values attempted, included and absent over the components, and the share of invalid estimates."""
    validity = [g.values[g.included] for g in groups if g.estimator == name and g.metric == VALIDITY]
    valid = np.concatenate(validity) if validity else np.zeros(0)
    invalid = float(1.0 - valid.mean()) if len(valid) else None
    return [counted.n_attempted, counted.n_included, counted.n_absent, invalid]


def _plain(values: FloatArray) -> list[Cell]:
    return [None if value != value else value for value in values.tolist()]


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
        Column("n_absent", "Absent", "integer", direction="minimize", glossary="records"),
        Column("invalid_rate", "Invalid", direction="minimize", glossary="invalid_rate", digits=3),
        *((by_name,) if spec.ranking_rule == 1 else ()),
        *STANDING_COLUMNS,
    )  # fmt: skip


def _notes(manifest: Manifest, spec: WeightedRank, found: Found, attempts: dict[str, Attempts]) -> Iterator[str]:
    yield from record_notes(found.held)
    if silent := sorted(set(manifest.estimators or ()) - set(found.held.contenders)):
        yield f"Enrolled, and without any row yet: {sentences(silent)}."
    if absent := [name for name in found.components.names if attempts[name].n_absent]:
        yield f"Values that most estimators have a row for are absent: {sentences(absent)}."
    missing = np.isnan(found.components.values).any(axis=1)
    if lacking := [found.components.names[at] for at in np.flatnonzero(missing).tolist()]:
        yield f"A missing component takes the worst rank: {sentences(lacking)}."
    if spec.ranking_rule == 1:
        yield "Rule 1: ties are broken in the order of the names; a column says how much of the weight that decided."
        yield (
            "Rule 1 has no interval of the score: resamples share ranks between ties and the score does not, so it "
            "could lie outside of its own interval. Rank intervals are there."
        )


def _meta(manifest: Manifest, spec: WeightedRank, found: Found) -> dict[str, Any]:
    drawn = spec.uncertainty
    return {
        "method": spec.method,
        "ranking_rule": spec.ranking_rule,
        "weights": dict(spec.weights),
        "tie_break": spec.tie_break or next(iter(spec.weights)),
        "rank_by": "score",
        "mode": manifest.mode,
        "n_entrants": len(found.held.contenders),
        "interval": None if found.drawn is None else "percentile bootstrap over records within strata",
        "interval_reason": "too_few_clusters" if found.drawn is None else None,
        "level": drawn.level,
        "n_resamples": drawn.n_resamples,
        "rng_seed": drawn.rng_seed,
        "stream": drawn.stream,
    }


def terms_table(spec: WeightedRank, found: Found) -> Table:
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


def pairwise_table(spec: WeightedRank, found: Found) -> Table | None:
    """Return every ordered pair of those with a rank; None for fewer than two."""
    if len(found.placed) < 2:
        return None
    order = [at for at, _ in found.placed][:MAX_ENTRANTS]
    beats = None if found.drawn is None else probability_beats(-found.drawn[:, order])
    rows = tuple(
        (found.components.names[first], found.components.names[second], found.scores[first] - found.scores[second],
         *_compared(spec, found, (first, second), None if beats is None or a == b else float(beats[a, b])))
        for a, first in enumerate(order)
        for b, second in enumerate(order)
    )  # fmt: skip
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
    meta = {"interval_reason": _why_no_interval(spec, found)}
    return Table(f"pairwise/{spec.name}", f"{spec.title or spec.name}, pair by pair", columns, rows, (), meta)


def _compared(spec: WeightedRank, found: Found, pair: tuple[int, int], beats: float | None) -> tuple[Cell, ...]:
    """Return the interval of a difference of scores, P(A beats B) and whether the interval excludes zero."""
    if found.drawn is None or beats is None:
        return (None, None, None, None)
    if spec.ranking_rule == 1:
        return (None, None, beats, None)
    differences = found.drawn[:, pair[0]] - found.drawn[:, pair[1]]
    low, high = (float(end[0]) for end in percentile_interval(differences[:, None], spec.uncertainty.level))
    return (low, high, beats, low > 0.0 or high < 0.0)


def _why_no_interval(spec: WeightedRank, found: Found) -> str | None:
    if found.drawn is None:
        return "too_few_clusters"
    return ORDINAL_POINTS if spec.ranking_rule == 1 else None
