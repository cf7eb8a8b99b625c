"""One submission's own series: its aggregates over strata, and what its runs claim compared with ours. A claim that
differs is shown with both numbers; it does not keep a run off the boards, because nothing of it is used.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.admission.case import Check
from app.admission.claims import SHOWN, Means, SubmissionClaims, check_claims, decided_later
from app.boards.methods.weighted_rank.method import RankedRows, rank_rows
from app.boards.methods.weighted_rank.records import (
    WeightedRank,
    balanced,
    discriminations,
    series_groups,
    stratum_aggregates,
)
from app.kinds.contract import Evaluation, Summary
from app.kinds.series.claims import BOARD, STRATA, UNCERTAIN
from app.kinds.series.contract import series_intervals
from app.kinds.series.manifest_part import SeriesPart
from app.kinds.series.read import differ
from app.kinds.series.rows import BALANCED_GLOBAL, null
from app.manifest.model import Manifest, part_of
from app.names import first_few
from app.stats.strata import Aggregate
from app.values.facts import ClaimedValue
from app.values.scores import ScoreTable
from app.values.table import Cell, Column, Table

# What a request may draw to compare claimed intervals: about a second of it on a small machine.
MOST_SCORES_DRAWN = 100_000_000

COLUMNS = (
    Column("entrant", "Entrant", "text"),
    Column("metric", "Metric", "text"),
    Column("mean", "Mean over strata", glossary="balanced_global", digits=4),
    Column("n_strata", "Strata", "integer", glossary="counts"),
    Column("n_attempted", "Attempted", "integer", glossary="counts"),
    Column("n_included", "Included", "integer", glossary="counts"),
)


def summarise(evaluation: Evaluation) -> Summary:
    """Return the table of a submission and what its claims come to."""
    return Summary([summarise_series(evaluation.manifest, evaluation.rows)], own_claims(evaluation.claimed()))


def own_claims(claimed: SubmissionClaims) -> list[Check]:
    """Compare claimed means over strata, and the tables that the runs brought, with the rows."""
    manifest, scores, brought = claimed.manifest, claimed.scores, claimed.facts.claimed
    checks = check_claims(claimed.claims, {} if claimed.claims is None else _own_means(manifest, scores))
    if claimed.is_request and brought and _scores_drawn(manifest, scores) > MOST_SCORES_DRAWN:
        return [*checks, decided_later("claimed_values")]
    return [*checks, *check_series_claims(manifest, scores, brought)]


def _own_means(manifest: Manifest, scores: ScoreTable) -> Means:
    return {(row["entrant"], row["metric"]): row["mean"] for row in summarise_series(manifest, scores).records()}


def _scores_drawn(manifest: Manifest, scores: ScoreTable) -> int:
    drawn = part_of(manifest, SeriesPart).drawn
    return scores.values.size * drawn.n_resamples


def check_series_claims(manifest: Manifest, scores: ScoreTable, claimed: Sequence[ClaimedValue]) -> list[Check]:
    """Compare what runs of lrdbench computed themselves with their own rows; a difference is a warning."""
    if not claimed:
        return []
    compared = compare_claims(manifest, scores, claimed)
    beyond = (
        f" {compared.n_beyond} more cannot be compared with anything of this benchmark." if compared.n_beyond else ""
    )
    if compared.different:
        n = len(compared.different)
        shown = first_few(compared.different, SHOWN, between="; ")
        reason = f"{n} claimed values differ from the rows, which count: {shown}."
        return [Check("claimed_values", "warned", reason + beyond)]
    if not compared.n_compared:
        return [Check("claimed_values", "warned", f"None of the claimed values can be compared.{beyond}")]
    reason = f"All {compared.n_compared} claimed values that can be compared agree."
    return [Check("claimed_values", "warned" if compared.n_of_boards else "passed", reason + beyond)]


def summarise_series(manifest: Manifest, scores: ScoreTable) -> Table:
    """Return one row per estimator and metric: the mean of its strata, or what tells classes apart over all of them."""
    over_strata = balanced(stratum_aggregates(series_groups(scores)))
    over_strata += discriminations(scores, manifest.metrics)
    rows: list[tuple[Cell, ...]] = [
        (a.estimator, a.metric, null(a.value), a.n_strata_included, a.n_attempted, a.n_included) for a in over_strata
    ]
    return Table("summary", "This submission's own numbers", COLUMNS, tuple(rows))


# What a run of lrdbench computed itself, compared with its own rows: aggregates, intervals and leaderboards. A claim
# that nothing of the benchmark corresponds to is not compared, and does not count as agreeing.

RANK, SCORE = "rank", "score"

Key = tuple[str, str, str]

BoardKey = tuple[str, str, str]

Ends = tuple[float | None, float | None]


@dataclass(frozen=True)
class ClaimComparison:
    """How many claims could be compared with the rows, a sentence for each that differs, and how many could not.

    `n_of_boards` of those are about leaderboards.
    """

    n_compared: int
    different: Sequence[str]
    n_beyond: int
    n_of_boards: int


def compare_claims(manifest: Manifest, scores: ScoreTable, claimed: Sequence[ClaimedValue]) -> ClaimComparison:
    """Compare what a run claims with what its own rows come to."""
    own = _Own.of(manifest, scores, claimed)
    outcomes = [(claim, own.outcome(claim)) for claim in claimed if not own.is_no_claim(claim)]
    comparable = [outcome for _, outcome in outcomes if outcome is not None]
    beyond = [claim for claim, outcome in outcomes if outcome is None]
    different = [sentence for sentence in comparable if sentence]
    return ClaimComparison(len(comparable), different, len(beyond), sum(claim.table == BOARD for claim in beyond))


@dataclass(frozen=True)
class _Own:
    """What the rows come to: aggregates, intervals at each level, and cells of the boards that the run claims."""

    values: Mapping[Key, float | None]
    ends: Mapping[tuple[str, str, str, float], Ends]
    boards: Mapping[BoardKey, float | None]

    @classmethod
    def of(cls, manifest: Manifest, scores: ScoreTable, claimed: Sequence[ClaimedValue]) -> "_Own":
        groups, part = series_groups(scores), part_of(manifest, SeriesPart)
        aggregates = stratum_aggregates(groups, manifest.metrics)
        over_strata = [*balanced(aggregates), *discriminations(scores, manifest.metrics)]
        # Intervals can only be compared where the benchmark draws them as lrdbench does.
        is_drawn = part.drawn.stream == "lrdbench" and any(claim.table == UNCERTAIN for claim in claimed)
        ends = {
            (i.estimator, i.metric, i.stratum or BALANCED_GLOBAL, i.level): (i.low, i.high)
            for i in (series_intervals(groups, aggregates, part.drawn) if is_drawn else ())
        }
        return cls(_values([*aggregates, *over_strata]), ends, dict(_board_cells(manifest, scores, claimed)))

    def is_no_claim(self, claim: ClaimedValue) -> bool:
        """Say so of an empty cell of another board's component: lrdbench's table has the columns of all its boards."""
        boards = {key[0] for key in self.boards}
        is_of_board = claim.table == BOARD and claim.value is None and claim.board in boards
        return is_of_board and (claim.board or "", claim.entrant, claim.metric) not in self.boards

    def outcome(self, claim: ClaimedValue) -> str | None:
        """Return what differs, an empty text where nothing does, None where there is nothing to compare with."""
        about = f"{claim.entrant} {claim.metric} in {claim.board or claim.task}"
        key = (claim.entrant, claim.metric, claim.task or "")
        if claim.table == UNCERTAIN:
            interval = self.ends.get((*key, claim.nominal or 0.0))
            if interval is None:
                return None
            same = not (differ(claim.low, interval[0]) or differ(claim.high, interval[1]))
            difference = f"{claim.low!r} to {claim.high!r} claimed, {interval[0]!r} to {interval[1]!r} computed"
            return "" if same else f"{about}: {difference}"
        known, place = self._known(claim, key)
        if place not in known:
            return None
        computed = known[place]
        return f"{about}: {claim.value!r} claimed, {computed!r} computed" if differ(claim.value, computed) else ""

    def _known(self, claim: ClaimedValue, key: Key) -> tuple[Mapping[Key, float | None], Key]:
        if claim.table == BOARD:
            return self.boards, (claim.board or "", claim.entrant, claim.metric)
        return (self.values if claim.table == STRATA else {}), key


def _board_cells(
    manifest: Manifest, scores: ScoreTable, claimed: Sequence[ClaimedValue]
) -> Iterator[tuple[BoardKey, float | None]]:
    """Yield the cells of each claimed board, of the very estimators that the run ranks there; None for no rank."""
    rows = {(claim.board, claim.entrant): None for claim in claimed if claim.table == BOARD}
    for at, spec in enumerate(manifest.leaderboards, start=1):
        # A run without its manifest does not say what its boards are called.
        for name in (spec.name, f"board {at}"):
            names = sorted(entrant for board, entrant in rows if board == name)
            of = rank_rows(manifest, spec, scores, names) if isinstance(spec, WeightedRank) and names else None
            if isinstance(spec, WeightedRank) and of is not None:
                yield from _cells_of(of, names, name, spec)


def _cells_of(
    of: RankedRows, names: Sequence[str], name: str, spec: WeightedRank
) -> Iterator[tuple[BoardKey, float | None]]:
    points = of.points
    for estimator in set(names) - set(points.components.names):
        yield from (((name, estimator, column), None) for column in (RANK, SCORE))
    for at, rank in points.placed:
        estimator = points.components.names[at]
        yield (name, estimator, RANK), float(rank)
        yield (name, estimator, SCORE), points.scores[at]
        for component, value in zip(spec.weights, points.components.values[at].tolist(), strict=True):
            yield (name, estimator, component.partition("@")[0]), null(value)


def _values(aggregates: Sequence[Aggregate]) -> Mapping[Key, float | None]:
    return {(a.estimator, a.metric, a.stratum or BALANCED_GLOBAL): null(a.value) for a in aggregates}
