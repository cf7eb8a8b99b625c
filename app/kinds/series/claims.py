"""What a run computed itself, as claims to be compared with ours: aggregates, intervals, leaderboards.

Called by `app.kinds.series.read`. A claim that no per-series row backs is a problem; one that the benchmark has
no use for is left out.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from app.boards.methods.weighted_rank.identity import identity_of, split_identity
from app.errors import Problem
from app.files.findings import Findings
from app.kinds.series.catalog import CATALOG
from app.kinds.series.rows import AGGREGATE, MetricRows, Words
from app.kinds.series.strata import BALANCED_GLOBAL
from app.names import clip_for_message
from app.values.facts import ClaimedValue
from app.values.scores import NONE

STRATA, UNCERTAIN, BOARD = "per_stratum_metrics", "benchmark_uncertainty", "leaderboard"
PAIR_MARK = "__minus__"
MAX_CLAIMS = 200_000


@dataclass(frozen=True)
class Backing:
    """What the rows can back: estimators, (estimator, metric) and (estimator, metric, stratum's name)."""

    estimators: Collection[str]
    anywhere: Collection[tuple[str, str]]
    in_stratum: Collection[tuple[str, str, str]]

    @classmethod
    def of(cls, rows: MetricRows, words: Words) -> "Backing":
        """Collect what the rows of scope per_series have."""
        named = rows.where((rows.estimator != NONE) & (rows.metric != NONE))
        codes = set(zip(named.estimator.tolist(), named.metric.tolist(), named.stratum.tolist(), strict=True))
        triples = {
            (words.estimators[estimator], words.metrics[metric], stratum.name)
            for estimator, metric, code in codes
            if (stratum := words.strata[code]) is not None
        }
        estimators = {words.estimators[code] for code in set(rows.estimator.tolist()) if code != NONE}
        return cls(estimators, {triple[:2] for triple in triples}, triples)

    def has(self, claim: ClaimedValue) -> bool:
        """Say whether there are rows behind a claim about an aggregate; a difference needs both its estimators."""
        metric, level = split_identity(claim.metric)
        if metric == "coverage_error":
            metric = "coverage"
        wanted = identity_of(metric, level)
        pair = claim.entrant.split(PAIR_MARK)
        # A name may hold the mark itself; then it is looked up whole.
        names = pair if len(pair) == 2 else [claim.entrant]
        if claim.task in (None, BALANCED_GLOBAL):
            return all((name, wanted) in self.anywhere for name in names)
        return all((name, wanted, claim.task) in self.in_stratum for name in names)


@dataclass(frozen=True)
class Place:
    """Where a claim is written."""

    file: str
    row: int


class Claims:
    """The claims of every file of a submission, each once however many files repeat it."""

    def __init__(self, backing: Backing, metrics: Collection[str], findings: Findings) -> None:
        self._backing = backing
        self._metrics = metrics
        self._findings = findings
        self._claims: dict[ClaimedValue, None] = {}
        self._n_beyond = 0

    def take(self, claims: Iterable[tuple[ClaimedValue, Place]]) -> None:
        """Keep the claims that are backed and about metrics of the benchmark."""
        for claim, place in claims:
            known = CATALOG.get(split_identity(claim.metric)[0])
            # What tells classes apart is made from estimates of many records: no per-series row can back it.
            if not (known is not None and known.is_classification) and not self._backing.has(claim):
                message = f"no per-series row backs this value of {clip_for_message(claim.entrant)}"
                value = clip_for_message(claim.metric)
                self._findings.add(Problem(message, place.file, place.row, "metric_name", value))
            elif claim.metric in self._metrics:
                self._keep(claim)

    def take_board(self, rows: Iterable[tuple["BoardRow", Place]], boards: Sequence[str]) -> None:
        """Keep what leaderboards say, whose names are `boards` in order; each estimator must have rows."""
        for row, place in rows:
            if row.estimator in self._backing.estimators:
                for claim in claims_of_board(row, boards):
                    self._keep(claim)
            else:
                name = clip_for_message(row.estimator)
                message = "no per-series row is of this estimator"
                self._findings.add(Problem(message, place.file, place.row, "estimator_name", name))

    def _keep(self, claim: ClaimedValue) -> None:
        if len(self._claims) < MAX_CLAIMS:
            self._claims[claim] = None
        else:
            self._n_beyond += claim not in self._claims

    def result(self, warnings: list[Problem]) -> tuple[ClaimedValue, ...]:
        """Return the claims in order of first appearance."""
        if self._n_beyond:
            warnings.append(
                Problem(f"{MAX_CLAIMS:,} values that the run claims are compared, {self._n_beyond:,} are not")
            )
        return tuple(self._claims)


def claims_of_rows(rows: MetricRows, words: Words, files: Mapping[int, str]) -> Iterator[tuple[ClaimedValue, Place]]:
    """Yield what rows of aggregates and of uncertainty claim; rows with a wrong cell are left out."""
    for at in range(len(rows)):
        stratum = words.strata[rows.stratum[at]]
        if stratum is None or NONE in (rows.estimator[at], rows.metric[at], rows.scope[at]):
            continue
        value = float(rows.value[at])
        claim = ClaimedValue(
            STRATA,
            words.estimators[rows.estimator[at]],
            words.metrics[rows.metric[at]],
            stratum.name,
            None,
            None if value != value else value,
        )
        if rows.scope[at] != AGGREGATE:
            metadata = words.metadata[rows.metadata[at]]
            claim = replace(
                claim,
                table=UNCERTAIN,
                nominal=metadata.nominal,
                low=metadata.low,
                high=metadata.high,
                aggregation=metadata.aggregation,
            )
        yield claim, Place(files[int(rows.file[at])], int(rows.row[at]))


@dataclass(frozen=True)
class BoardRow:
    """One estimator's row of a leaderboard: its number among that estimator's rows, and its numbers by name."""

    estimator: str
    occurrence: int
    values: Mapping[str, float | None]


def claims_of_board(row: BoardRow, boards: Sequence[str]) -> Iterator[ClaimedValue]:
    """Yield what a row of a leaderboard claims.

    lrdbench writes its boards one behind the other, each estimator once in each, without the boards' names.
    """
    board = boards[row.occurrence] if row.occurrence < len(boards) else f"board {row.occurrence + 1}"
    for metric, value in row.values.items():
        yield ClaimedValue(BOARD, row.estimator, metric, None, None, value, board=board)
