"""The scores of a board of weighted ranks term by term, and pair by pair. Called by `.method`; pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.boards.tables import MAX_COMPARED, Pair, effect_field, pairwise_table
from app.boards.weighted_rank.spec import WeightedRank
from app.boards.weighted_rank.tables import Found
from app.stats.interval import percentile_interval, probability_beats
from app.values.frame import Field, Frame
from app.values.table import Column, Table, finite

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
        Field(Column("entrant", "Entrant", "text"), lambda term: term.entrant),
        Field(Column("component", "Component", "text"), lambda term: term.component),
        Field(Column("value", "Value", glossary="balanced_global", digits=4), lambda term: finite(term.value)),
        Field(Column("rank", "Rank in it", digits=1, glossary="weighted_rank"), lambda term: term.rank),
        Field(Column("weight", "Weight", digits=3, glossary="weighted_rank"), lambda term: term.weight),
        Field(
            Column("term", "Weight × rank", digits=3, glossary="weighted_rank"), lambda term: term.weight * term.rank
        ),
    ]
)


def terms_table(spec: WeightedRank, found: Found) -> Table:
    """Return the score term by term: a row for each estimator and component, whose terms add up to the score."""
    note = "The terms of an estimator add up to its score; lower is better."
    title = f"{spec.title or spec.name}, term by term"
    return TERMS.table(f"score/{spec.name}", title, _terms(spec, found), (note,))


def _terms(spec: WeightedRank, found: Found) -> Iterator[_Term]:
    components = found.components
    for at, _ in found.placed:
        parts = (components.metrics, components.values[at].tolist(), found.ranks[at].tolist(), spec.weights.values())
        for metric, value, rank, weight in zip(*parts, strict=True):
            yield _Term(components.names[at], metric, value, rank, weight)


DIFFERENCE = effect_field(
    Column("difference", "Score of A minus B", direction="minimize", glossary="difference", digits=3),
    ends_title="A minus B",
)


def score_pairs(spec: WeightedRank, found: Found) -> Table | None:
    """Return every ordered pair of those with a rank; None for fewer than two."""
    if len(found.placed) < 2:
        return None
    order = [at for at, _ in found.placed][:MAX_COMPARED]
    return pairwise_table(
        spec, DIFFERENCE, _pairs(spec, found, order), (), {"interval_reason": _why_no_interval(spec, found)}
    )


def _pairs(spec: WeightedRank, found: Found, order: Sequence[int]) -> Iterator[Pair]:
    beats = None if found.drawn is None else probability_beats(-found.drawn[:, order])
    for a, first in enumerate(order):
        for b, second in enumerate(order):
            chance = None if beats is None or a == b else float(beats[a, b])
            yield _pair(spec, found, (first, second), chance)


def _pair(spec: WeightedRank, found: Found, pair: tuple[int, int], beats: float | None) -> Pair:
    """Return two compared; under rule 1 a difference has no interval, and nothing says that it is separable."""
    first, second = (found.components.names[at] for at in pair)
    difference = found.scores[pair[0]] - found.scores[pair[1]]
    if found.drawn is None or beats is None or spec.ranking_rule == 1:
        return Pair(first, second, (difference, None, None), beats)
    differences = found.drawn[:, pair[0]] - found.drawn[:, pair[1]]
    low, high = (float(end[0]) for end in percentile_interval(differences[:, None], spec.uncertainty.level))
    return Pair(first, second, (difference, low, high), beats, low > 0.0 or high < 0.0)


def _why_no_interval(spec: WeightedRank, found: Found) -> str | None:
    if found.drawn is None:
        return "too_few_clusters"
    return ORDINAL_POINTS if spec.ranking_rule == 1 else None
