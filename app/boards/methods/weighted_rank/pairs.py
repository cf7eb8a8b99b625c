"""The scores of a board of weighted ranks, term by term and pair by pair. Called by `.method`; pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from app.boards.methods.weighted_rank.calibrated import ends_of_ranks, rank_level
from app.boards.methods.weighted_rank.spec import WeightedRank
from app.boards.methods.weighted_rank.tables import RankedBoard
from app.boards.tables import MAX_COMPARED, RESAMPLED, Pair, contrast_field, pairwise_table
from app.values.frame import Ends, Frame, FrameField
from app.values.table import Column, Table, finite

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
            "contrast_interval": how, "score": "score"}  # fmt: skip
    return pairwise_table(spec, DIFFERENCE, _pairs(spec, shown, order), (), meta)


def _pairs(spec: WeightedRank, shown: RankedBoard, order: Sequence[int]) -> Iterator[Pair]:
    contrasts, level = shown.standing.contrasts(order), spec.uncertainty.level
    names = [shown.components.names[at] for at in order]
    for a, name in enumerate(names):
        ends = _ends(spec, shown, order, a)
        for b, other in enumerate(names):
            contrast = ends[b] if a == b else _as_tested(ends[b], float(contrasts.p_values[a, b]), level)
            yield Pair(name, other, replace(contrasts.verdict(a, b), contrast=contrast))


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
