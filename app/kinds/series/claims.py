"""What a run of lrdbench computed itself, read as claims: aggregates, intervals, leaderboards.

`app.kinds.series.summary` compares them with ours; registered claims are others: `app.jobs.claims`. A claim that no
per-series row backs is a problem; one that the benchmark has no use for is left out.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from app.boards.methods.weighted_rank.records import (
    CLASS_ESTIMAND,
    CLASS_METRICS,
    CLASS_SCORE,
    identity_of,
    split_identity,
)
from app.errors import Problem
from app.files.findings import Findings
from app.files.tables import Block, Cells
from app.files.uploads import ReceivedFile
from app.kinds.series import rows as series_run
from app.kinds.series.manifest_part import CATALOG, SeriesPart, is_estimator_cell, slug_of
from app.kinds.series.rows import (
    AGGREGATE,
    BALANCED_GLOBAL,
    LOOSE,
    MetricRowReader,
    MetricRows,
    NotAnObject,
    Words,
    object_of,
)
from app.manifest.model import Manifest, part_of
from app.names import clip_for_message, first_few
from app.values.facts import ClaimedValue
from app.values.scores import NONE, ScoreTable

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
class ClaimPlace:
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

    def take(self, claims: Iterable[tuple[ClaimedValue, ClaimPlace]]) -> None:
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

    def take_board(self, rows: Iterable[tuple["ClaimedRow", ClaimPlace]], boards: Sequence[str]) -> None:
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


def claims_of_rows(
    rows: MetricRows, words: Words, files: Mapping[int, str]
) -> Iterator[tuple[ClaimedValue, ClaimPlace]]:
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
        yield claim, ClaimPlace(files[int(rows.file[at])], int(rows.row[at]))


@dataclass(frozen=True)
class ClaimedRow:
    """One estimator's row of a leaderboard: its number among that estimator's rows, and its numbers by name."""

    estimator: str
    occurrence: int
    values: Mapping[str, float | None]


def claims_of_board(row: ClaimedRow, boards: Sequence[str]) -> Iterator[ClaimedValue]:
    """Yield what a row of a leaderboard claims.

    lrdbench writes its boards one behind the other, each estimator once in each, without the boards' names.
    """
    board = boards[row.occurrence] if row.occurrence < len(boards) else f"board {row.occurrence + 1}"
    for metric, value in row.values.items():
        yield ClaimedValue(BOARD, row.estimator, metric, None, None, value, board=board)


# The tables in which a run repeats its aggregates, intervals and leaderboards, as claims. The cells of these tables
# count, not what their metadata repeats.

ROW_COLUMNS = ("estimator_name", "metric_name", "value", "stratum_json", "metadata_json")

INTERVAL_COLUMNS = ("nominal", "ci_low", "ci_high")

AGGREGATION = "aggregation"

# The tables of claims, with the columns that each must have.
CLAIMED = {series_run.STRATA: ROW_COLUMNS, series_run.UNCERTAIN: (*ROW_COLUMNS, *INTERVAL_COLUMNS)}

BOARD_COLUMNS = ("estimator_name", "rank", "score")

COMPONENTS, PREFIX = "components_json", "metric__"


@dataclass(frozen=True)
class ClaimedTable:
    """A table of claims, by its name in the contract; `reader` reads its cells as those of raw/metrics.csv."""

    name: str
    file: ReceivedFile
    blocks: Iterator[Block]
    reader: MetricRowReader
    findings: Findings

    def claims(self) -> Iterator[tuple[ClaimedValue, ClaimPlace]]:
        """Yield what each row claims."""
        for block in self.blocks:
            rows = self.reader.read(self._as_metric_rows(block), self.file)
            stated = claims_of_rows(rows, self.reader.words(), {self.file.position: self.file.name})
            yield from stated if self.name == series_run.STRATA else self._with_cells(stated, block)

    def _as_metric_rows(self, block: Block) -> Block:
        scope = pa.array(["aggregate" if self.name == series_run.STRATA else "uncertainty"] * len(block), pa.string())
        return Block(block.rows, {**block.columns, "scope": scope, "record_id": pa.nulls(len(block), pa.string())})

    def _with_cells(
        self, claims: Iterator[tuple[ClaimedValue, ClaimPlace]], block: Block
    ) -> Iterator[tuple[ClaimedValue, ClaimPlace]]:
        cells = Cells(self.file.name, block.rows, block.columns, self.findings)
        nominal, low, high = (cells.numbers(column, LOOSE).values.tolist() for column in INTERVAL_COLUMNS)
        aggregation = cells.texts(AGGREGATION).to_pylist()
        position = {row: at for at, row in enumerate(block.rows.tolist())}
        for claim, place in claims:
            at = position[place.row]
            level, ends = series_run.null(nominal[at]), (series_run.null(low[at]), series_run.null(high[at]))
            stated_aggregation = aggregation[at] or claim.aggregation
            yield replace(claim, nominal=level, low=ends[0], high=ends[1], aggregation=stated_aggregation), place


def board_rows(
    file: ReceivedFile, blocks: Iterator[Block], findings: Findings
) -> Iterator[tuple[ClaimedRow, ClaimPlace]]:
    """Yield the rows of a table of leaderboards; components are in columns, or in a column of JSON."""
    seen: Counter[str] = Counter()
    for block in blocks:
        cells = Cells(file.name, block.rows, block.columns, findings)
        wanted = [*BOARD_COLUMNS[1:], *(name for name in block.columns if name.startswith(PREFIX))]
        numbers = {name.removeprefix(PREFIX): cells.numbers(name, LOOSE).values.tolist() for name in wanted}
        for at, name in enumerate(_names(cells)):
            values = {column: series_run.null(cells_of[at]) for column, cells_of in numbers.items()}
            place = ClaimPlace(file.name, int(block.rows[at]))
            yield ClaimedRow(name, seen[name], {**values, **_components(cells, at)}), place
            seen[name] += 1


def _names(cells: Cells) -> list[str]:
    texts = cells.texts("estimator_name").to_pylist()
    wrong = np.array([text is None or not is_estimator_cell(text) for text in texts], dtype=np.bool_)
    cells.refuse("estimator_name", wrong, lambda _: "not the name of an estimator")
    return [text or "" for text in texts]


def _components(cells: Cells, at: int) -> Mapping[str, float | None]:
    text = cells.texts(COMPONENTS)[at].as_py()
    try:
        components = {} if text is None else object_of(text)
    except NotAnObject as error:
        row, value = int(cells.rows[at]), clip_for_message(text)
        cells.findings.add(Problem(str(error), cells.file, row, COMPONENTS, value))
        return {}
    return {name: float(value) if isinstance(value, float | int) else None for name, value in components.items()}


# What a run says of itself that is not what the benchmark says: its suite, its seed, its estimators' estimands. None
# of it refuses a run; the submitter gets warnings.

SHOWN = 10


def about_run(manifest: Manifest, stated: Mapping[str, Any], file: str) -> Iterator[Problem]:
    """Yield where a run's own manifest is of another suite, or draws from another seed."""
    name = stated.get("name")
    if isinstance(name, str) and slug_of(name) not in (manifest.slug, slug_of(manifest.title)):
        message = f"the run is of another suite than {manifest.title}; its records must still be the benchmark's"
        yield Problem(message, file, column="name", value=clip_for_message(name))
    drawn = part_of(manifest, SeriesPart).uncertainty
    seed = _seed(stated)
    if drawn is not None and drawn.stream == "lrdbench" and seed is not None and seed != drawn.rng_seed:
        message = f"the run draws its intervals from another seed than the benchmark's {drawn.rng_seed}; they differ"
        yield Problem(message, file, column="seeds.global_seed", value=str(seed))


def _seed(stated: Mapping[str, Any]) -> int | None:
    parts = [stated.get(part) for part in ("uncertainty", "seeds")]
    seeds = [part.get(key) for part, key in zip(parts, ("seed", "global_seed"), strict=True) if isinstance(part, dict)]
    return next((seed for seed in seeds if type(seed) is int), None)


def about_estimators(
    estimators: Sequence[str], described: Mapping[str, Mapping[str, Any]], estimands: Collection[str]
) -> Iterator[Problem]:
    """Yield which estimators the run does not describe, and which estimate something of which it has no truth."""
    unknown = [name for name in estimators if "target_estimand" not in described.get(name, {})]
    # A few rows without any description or truth are no run that forgot one.
    if unknown and (described or estimands):
        without = "; where a record has several truths, what depends on them is empty" if len(estimands) > 1 else ""
        said = "neither the run's manifest nor estimator_metadata.csv says what these estimate"
        message = f"{said}{without}: {_some(unknown)}"
        yield Problem(message, column="estimator_name")
    others = [
        f"{name} ({clip_for_message(str(estimand))})"
        for name in estimators
        if (estimand := described.get(name, {}).get("target_estimand")) is not None and estimand not in estimands
    ]
    if others and estimands:
        yield Problem(f"the run has no truth of what these estimate: {_some(others)}", column="target_estimand")


def about_classes(metrics: Collection[str], scores: ScoreTable) -> Iterator[Problem]:
    """Yield which metrics cannot be computed without the scores and classes that they are made of."""
    wanted = [name for name in metrics if name in CLASS_METRICS]
    if wanted and (CLASS_SCORE not in scores.columns or np.isnan(scores.value(CLASS_SCORE)).all()):
        message = (
            f"{', '.join(wanted)} cannot be computed: they need raw/estimates.csv, and raw/truths.csv with the class "
            f"of each record ({CLASS_ESTIMAND}), and an estimator of it"
        )
        yield Problem(message, column="metric_name")


def _some(names: Sequence[str]) -> str:
    return first_few(names, SHOWN, clip_for_message)
