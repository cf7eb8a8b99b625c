"""The table of a board of weighted ranks.

Called by `.method`; pure.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from app.boards.columns import Place, board_table
from app.boards.coverage import Roster
from app.boards.methods.weighted_rank.calibrated import NOTHING, CalibratedRanks
from app.boards.methods.weighted_rank.discrimination import CLASS_METRICS
from app.boards.methods.weighted_rank.identity import levels_of
from app.boards.methods.weighted_rank.records import HeldRecords, record_notes, strata_note, strata_of_grid
from app.boards.methods.weighted_rank.spec import RankedPart, WeightedRank
from app.boards.spread import Spread
from app.boards.standing import BoardStanding, unranked_places
from app.boards.tables import NO_ENDS
from app.boards.wording import names_in_words
from app.manifest.manifest import Manifest, part_of
from app.stats.arrays import FloatArray
from app.stats.interval import percentile_interval
from app.stats.strata import Group
from app.stats.weighted_ranks import decided_by_name
from app.values.frame import CalibratedCells, Ends, FrameField, with_calibrated, with_own_interval
from app.values.table import Cell, Column, Table, finite

VALIDITY = "validity_rate"


@dataclass(frozen=True)
class Components:
    """Component values [n_estimators, n_components] as published, and the same oriented so that smaller is better."""

    names: tuple[str, ...]
    metrics: tuple[str, ...]
    values: FloatArray
    oriented: FloatArray


@dataclass(frozen=True)
class RankedBoard:
    """The contents of the board: `placed` are (position, rank) from best to worst, `spread` is that of −score.

    `again` are scores of widened replicates [n_resamples, n_estimators], and `calibrated` the plotted intervals from
    them. `others` are the estimators listed below, `behind` their scores if added to the ranked, larger being better,
    and `bounds` their ranks if missing values were worst and best. `groups` are the rows on the benchmark's records.
    """

    components: Components
    ranks: FloatArray
    scores: list[float]
    placed: list[tuple[int, int]]
    spread: Spread | None
    again: FloatArray | None
    calibrated: CalibratedRanks | None
    standing: BoardStanding
    others: Components
    held: HeldRecords
    groups: Sequence[Group]
    roster: Roster
    behind: Mapping[str, float]
    bounds: Mapping[str, tuple[int, int] | None]


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


def _ranked_rows(spec: WeightedRank, shown: RankedBoard) -> Iterator[tuple[Place, _Line]]:
    ends = _score_ends(spec, shown)
    by_name = decided_by_name(shown.components.oriented, list(spec.weights.values()))
    for place, at in _places(shown):
        low, high = (None if end is None else float(end[at]) for end in ends)
        yield (
            replace(place, standing=shown.roster.standing(place.entrant)),
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


def _other_rows(shown: RankedBoard) -> Iterator[tuple[Place, _Line]]:
    values = dict(zip(shown.others.names, shown.others.values, strict=True))
    for place in unranked_places(shown.roster, shown.behind):
        standing = shown.roster.standing(place.entrant, shown.bounds[place.entrant])
        yield (
            replace(place, standing=standing),
            _Line(values[place.entrant], _invalid_rate(shown.groups, place.entrant)),
        )


def _places(shown: RankedBoard) -> Iterator[tuple[Place, int]]:
    """Yield places with positions, in the order and with the ranks of the rule, including how it breaks ties."""
    for at, rank in shown.placed:
        place = shown.standing.place(at, shown.components.names[at])
        # Rule 1 breaks ties by name, which the rank interval does not allow for.
        at_worst = shown.standing.at_worst
        is_behind = at_worst is not None and bool(at_worst.behind[at])
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
    yield from record_notes(shown.held)
    yield from strata_note(shown.held, strata_of_grid(manifest.asked))
    yield from shown.roster.notes("records")
    if silent := sorted(set(part_of(manifest, RankedPart).enrolled() or ()) - set(shown.held.contenders)):
        yield f"Enrolled, and without any row yet: {names_in_words(silent)}."
    missing = np.isnan(shown.components.values).any(axis=1)
    if lacking := [shown.components.names[at] for at in np.flatnonzero(missing).tolist()]:
        yield f"A missing component takes the worst rank: {names_in_words(lacking)}."
    if spec.ranking_rule == 1:
        yield "Rule 1: ties are broken in the order of the names; a column says how much of the weight that decided."
        yield (
            "Rule 1 has no interval of the score: resamples share ranks between ties and the score does not, so it "
            "could lie outside of its own interval. Rank intervals are there."
        )
    yield "The score is a rank among these estimators: its interval is about other records, not about other opponents."


def _meta(manifest: Manifest, spec: WeightedRank, shown: RankedBoard) -> dict[str, Any]:
    drawn = spec.uncertainty
    return {
        "method": spec.method,
        "ranking_rule": spec.ranking_rule,
        "weights": dict(spec.weights),
        "tie_break": spec.tie_break or next(iter(spec.weights)),
        "rank_by": "score",
        **part_of(manifest, RankedPart).board_meta(),
        "n_entrants": len(shown.held.contenders),
        "interval": None if shown.spread is None else "percentile bootstrap over records within strata",
        "interval_reason": "too_few_clusters" if shown.spread is None else None,
        "level": drawn.level,
        "n_resamples": drawn.n_resamples,
        "rng_seed": drawn.rng_seed,
        "stream": drawn.stream,
    }
