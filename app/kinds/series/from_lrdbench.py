"""A benchmark manifest from lrdbench's own, as `plumbline benchmark import-lrdbench` and our examples use it. What a
run is made of (generators, seeds of series, report) stays with lrdbench; what its results mean (mode, metrics,
boards, uncertainty) comes over. Source of the defaults: lrdbench 2.0.
"""

import json
import math
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import typer
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from app.boards.methods.weighted_rank.records import (
    CLASS_ESTIMAND,
    CLASS_METRICS,
    DIAGNOSTIC,
    NO_TIE_BREAK,
    PAIRED_RATIO,
    THRESHOLD,
    identity_of,
    joined,
    split_identity,
)
from app.config import MIB
from app.errors import ManifestRejected, Problem
from app.files.findings import Findings, missing_column
from app.files.tables import FLAGS, open_table
from app.files.uploads import Limits, ReceivedFile, SentFile, Unpacking
from app.kinds.contract import CsvRow, Imported, RawFile
from app.kinds.series.estimates import NUMBERS, RECORDED_AS
from app.kinds.series.manifest_part import (
    CATALOG,
    DEFAULT_LEVEL,
    ESTIMATOR_RULE,
    OF_NULLS,
    VARIANT_MARK,
    is_estimator_name,
    slug_of,
)
from app.kinds.series.rows import COLUMNS, SCOPES, NotAnObject, object_of, stratum_of
from app.manifest.build import one_of, problems_from, yaml_of
from app.manifest.model import FEWEST_RESAMPLES, Name
from app.names import clip_for_message
from app.values.scores import ScoreTable
from app.values.table import Cell, Table
from app.yaml import read_yaml

MAX_MANIFEST_BYTES = 1 << 20
Records = Mapping[str, Sequence[str]]
OF_THE_ESTIMATOR = frozenset({"instability"})
"""Metrics that an estimator has or has not by how it is made, and not by what it estimates."""
DEFAULT_RESAMPLES = 200
BOARD_RESAMPLES = 1000
FIRST_BREAKS_TIES = "best_primary_metric"


@dataclass(frozen=True)
class RunRow:
    """That a run has a row of a metric, null or not, for an estimator and a record."""

    estimator: str
    metric: str
    record: str


def manifest_from_lrdbench(
    manifest_yaml: bytes,
    slug: str | None = None,
    title: str | None = None,
    records: Records | None = None,
    rows: Sequence[RunRow] = (),
) -> bytes:
    """Return the YAML of a manifest of series. Raises Rejected with everything that cannot be taken over.

    `records` are a run's, by stratum: the grid; its `rows` say on which of them a metric exists. The boards draw by
    name; lrdbench's stream is that of the table of its own uncertainty alone.
    """
    document = read_yaml(manifest_yaml, max_bytes=MAX_MANIFEST_BYTES, what="lrdbench's manifest")
    try:
        theirs = _Theirs.model_validate(document)
    except ValidationError as error:
        raise ManifestRejected(MALFORMED, problems_from(error, _Theirs)) from None
    if problems := list(_problems_of(theirs)):
        raise ManifestRejected(MALFORMED, problems)
    imported = _manifest(theirs, slug or slug_of(theirs.name), title or theirs.name, records)
    if asked := _asked(theirs, records or {}, rows):
        imported = {**imported, "asked": asked}
    return yaml_of(imported)


MALFORMED = "lrdbench's manifest cannot be imported."

Level = Annotated[float, Field(gt=0.0, lt=1.0)]


class _Read(BaseModel):
    """A part of lrdbench's manifest; keys that mean nothing here are passed over."""

    model_config = ConfigDict(frozen=True, strict=True)


class _Named(_Read):
    """A variant of an estimator, or an operator of the contamination."""

    name: Name
    params: dict[str, Any] | None = None


class _Estimator(_Read):
    name: str
    target_estimand: str | None = None
    variants: list[_Named] | None = None

    def names(self) -> list[str]:
        """Return the names under which its results come: its own, or one for each of its variants."""
        if self.variants is None:
            return [self.name]
        return [f"{self.name}{VARIANT_MARK}{variant.name}" for variant in self.variants]

    @model_validator(mode="after")
    def _has_allowed_names(self) -> Self:
        for name in self.names():
            if not is_estimator_name(name):
                raise ValueError(f"{clip_for_message(name)} is not a name that is allowed here: {ESTIMATOR_RULE}")
        return self


class _Metric(_Read):
    name: str
    levels: list[Level] | None = None
    threshold: float | None = None
    null_max: float | None = None

    def identities(self) -> list[str]:
        """Return its name with each of its levels, the default one where it has levels and names none."""
        if not CATALOG[self.name].has_level:
            return [self.name]
        return [identity_of(self.name, level) for level in self.levels or [DEFAULT_LEVEL]]

    @model_validator(mode="after")
    def _is_known(self) -> Self:
        if self.name not in CATALOG:
            known = one_of(self.name, tuple(CATALOG))
            raise ValueError(f"{clip_for_message(self.name)} is not a metric of lrdbench: {known}")
        if self.name in CLASS_METRICS and self.threshold not in (None, THRESHOLD):
            raise ValueError(f"only a threshold of {THRESHOLD} is known, not {self.threshold}")
        if self.name in OF_NULLS and {"threshold", "null_max"} & self.model_fields_set:
            raise ValueError("only lrdbench's own threshold and null_max are known; leave them out")
        return self


class _DeclaredBoard(_Read):
    name: str | None = None
    mode: str | None = None
    component_metrics: list[str] = Field(min_length=1)
    weights: dict[str, float]
    ranking_rule: Literal["weighted_rank"] = "weighted_rank"
    tie_break_rule: str = FIRST_BREAKS_TIES


class _Contamination(_Read):
    operators: list[_Named] | None = None


class _Uncertainty(_Read):
    enabled: bool = True
    n_bootstrap: int = Field(DEFAULT_RESAMPLES, ge=FEWEST_RESAMPLES)
    ci_levels: list[Level] = Field(default_factory=lambda: [DEFAULT_LEVEL])
    seed: int | None = None
    metrics: list[str] | None = None
    paired: bool = False
    paired_metrics: list[str] | None = None


class _Seeds(_Read):
    global_seed: int = 0


# A metric may be given by its name alone.
OrName = BeforeValidator(lambda metric: {"name": metric} if isinstance(metric, str) else metric)

# A section that is named and empty is as one that is left out.
OrEmpty = BeforeValidator(lambda section: {} if section is None else section)


class _Theirs(_Read):
    name: str
    mode: Literal["ground_truth", "stress_test", "observational"]
    description: str | None = None
    estimators: list[_Estimator] = Field(min_length=1)
    metrics: list[Annotated[_Metric, OrName]] = Field(min_length=1)
    leaderboards: list[_DeclaredBoard] = Field(min_length=1)
    contamination: Annotated[_Contamination, OrEmpty] = Field(default_factory=_Contamination)
    uncertainty: Annotated[_Uncertainty, OrEmpty] = Field(default_factory=_Uncertainty)
    seeds: Annotated[_Seeds, OrEmpty] = Field(default_factory=_Seeds)

    def identities(self, name: str | None = None) -> list[str]:
        """Return every metric with its own level, or those of one name."""
        named = [metric for metric in self.metrics if name in (None, metric.name)]
        return list(dict.fromkeys(identity for metric in named for identity in metric.identities()))

    def rng_seed(self) -> int:
        """Return the seed of the draws: their own, or that of the run."""
        return self.seeds.global_seed if self.uncertainty.seed is None else self.uncertainty.seed


def _problems_of(theirs: _Theirs) -> Iterator[Problem]:
    if not slug_of(theirs.name):
        yield Problem("must have a letter or a digit", column="name", value=clip_for_message(theirs.name))
    for position, board in enumerate(theirs.leaderboards):
        for key, message in _broken_rules(theirs, board):
            yield Problem(message, column=f"leaderboards.{position}.{key}")
    drawn = theirs.uncertainty
    for key, names in (("metrics", drawn.metrics), ("paired_metrics", drawn.paired_metrics)):
        for name in names or ():
            if not theirs.identities(name):
                message = "not among the metrics of the manifest"
                yield Problem(message, column=f"uncertainty.{key}", value=clip_for_message(name))


def _broken_rules(theirs: _Theirs, board: _DeclaredBoard) -> Iterator[tuple[str, str]]:
    if sorted(board.component_metrics) != sorted(board.weights):
        yield "weights", "component_metrics and weights must name the same metrics"
        return
    if board.mode not in (None, theirs.mode):
        yield "mode", f"the board is of another mode; the manifest's is {theirs.mode}"
    if board.tie_break_rule not in (FIRST_BREAKS_TIES, NO_TIE_BREAK, *board.component_metrics):
        yield "tie_break_rule", f"ties are broken by {FIRST_BREAKS_TIES}, by a component or by {NO_TIE_BREAK}; name one"
    for name in board.component_metrics:
        if not theirs.identities(name):
            yield "component_metrics", f"{clip_for_message(name)} must be a metric of the manifest"


def _manifest(theirs: _Theirs, slug: str, title: str, records: Records | None) -> dict[str, Any]:
    operators = [_operator(operator) for operator in theirs.contamination.operators or ()]
    is_drawn = theirs.uncertainty.enabled and theirs.uncertainty.model_fields_set
    return {
        "schema_version": 1,
        "slug": slug,
        "title": title,
        "description": theirs.description or "",
        "evidence": "series_metrics",
        "mode": theirs.mode,
        **({"contamination": operators} if operators else {}),
        "estimators": [name for estimator in theirs.estimators for name in estimator.names()],
        "metrics": {"catalog": "lrdbench", "use": theirs.identities()},
        "nouns": {"entrant": "estimator"},
        "tasks": {"open": True},
        **({"grid": {"tasks": {name: {"items": list(own)} for name, own in records.items()}}} if records else {}),
        "leaderboards": [_board(theirs, board, at) for at, board in enumerate(theirs.leaderboards)],
        **({"uncertainty": _uncertainty(theirs)} if is_drawn else {}),
    }


def _asked(theirs: _Theirs, records: Records, rows: Sequence[RunRow]) -> list[dict[str, Any]]:
    """Return on which records metrics are asked that do not exist on all of them.

    A metric exists on a record for an estimator where any estimator of the same estimand has a row of it, so that who
    leaves a row out, or fails, does not decide what is asked. Only whether an instability can be had is a matter of the
    single estimator: it exists where that one has it, and where its estimate is invalid.
    """
    estimands = {name: str(each.target_estimand) for each in theirs.estimators for name in each.names()}
    has: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        if row.estimator in estimands:
            whose = row.estimator if row.metric in OF_THE_ESTIMATOR else estimands[row.estimator]
            has.setdefault((row.metric, whose), set()).add(row.record)
    every = {record for own in records.values() for record in own}
    rules: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for identity in theirs.identities() if rows else ():
        metric = split_identity(identity)[0]
        if metric == "coverage_error" or CATALOG[metric].diagnostic:
            continue
        of_each: dict[tuple[str, ...], list[str]] = {}
        for name, estimand in estimands.items():
            if CATALOG[metric].is_classification:
                known = every if estimand == CLASS_ESTIMAND else set()
            else:
                known = has.get((metric, name if metric in OF_THE_ESTIMATOR else estimand), set())
            if known & every != every:
                of_each.setdefault(tuple(sorted(known & every)), []).append(name)
        for where, names in of_each.items():
            rules.setdefault((where, tuple(names)), []).append(identity)
    return [_rule(metrics, names, set(where), records, estimands) for (where, names), metrics in rules.items()]


def _rule(
    metrics: list[str], names: Sequence[str], where: set[str], records: Records, estimands: Mapping[str, str]
) -> dict[str, Any]:
    whole = [stratum for stratum, own in records.items() if where.issuperset(own)]
    rest = sorted(where - {record for stratum in whole for record in records[stratum]})
    return {
        "metrics": metrics,
        **({} if set(names) == set(estimands) else {"estimators": list(names)}),
        "tasks": whole,
        **({"records": rest} if rest else {}),
    }


def _operator(operator: _Named) -> dict[str, Any]:
    listed = {key: value if isinstance(value, list) else [value] for key, value in (operator.params or {}).items()}
    return {"name": operator.name, **({"params": listed} if listed else {})}


def _board(theirs: _Theirs, board: _DeclaredBoard, position: int) -> dict[str, Any]:
    named = {name: _component(theirs.identities(name)) for name in board.component_metrics}
    breaking = {FIRST_BREAKS_TIES: next(iter(named.values())), NO_TIE_BREAK: NO_TIE_BREAK, **named}
    name = board.name or f"board-{position + 1}"
    return {
        "name": slug_of(name),
        "title": name,
        "method": "weighted_rank",
        "ranking_rule": 2,
        "weights": {named[metric]: board.weights[metric] for metric in named},
        "tie_break": breaking[board.tie_break_rule],
        "uncertainty": {"n_resamples": BOARD_RESAMPLES, "level": DEFAULT_LEVEL, "rng_seed": theirs.rng_seed()},
    }


def _component(identities: Sequence[str]) -> str:
    """Return a component's name: lrdbench ranks the mean over the levels of a metric that has several."""
    return joined(identities) if len(identities) > 1 else identities[0]


def _uncertainty(theirs: _Theirs) -> dict[str, Any]:
    drawn = theirs.uncertainty
    lists = {"metrics": drawn.metrics, "paired_metrics": drawn.paired_metrics}
    return {
        "n_resamples": drawn.n_bootstrap,
        "levels": drawn.ci_levels,
        "rng_seed": theirs.rng_seed(),
        "paired": drawn.paired,
        "stream": "lrdbench",
        **{key: [each for name in names for each in theirs.identities(name)] for key, names in lists.items() if names},
    }


# Which records a run is about, and which metrics it has of each: the grid of the benchmark made of it.

LIMITS = Limits(max_unpacked_bytes=4096 * MIB, max_json_bytes=64 * MIB, max_files=10_000, max_rows=20_000_000)

# The ends of their names: of a member of an archive, and of a file of a folder, whose path becomes a name.
RUN_METRICS = ("raw/metrics.csv", "raw-metrics.csv")
RUN_ESTIMATES = ("raw/estimates.csv", "raw-estimates.csv")

(PER_SERIES, *_) = SCOPES


def records_of_run(run: Path) -> dict[str, list[str]]:
    """Return the records that a run has per-series rows of by their strata, sorted.

    Raises BadParameter for none, ManifestRejected where its files cannot be read.
    """
    strata = {
        (row["stratum_json"], row["record_id"])
        for row in _run_rows(run, RUN_METRICS, COLUMNS)
        if row["scope"] == PER_SERIES and row["record_id"] and row["stratum_json"]
    }
    if not strata:
        raise typer.BadParameter(f"{run} has no per-series row in raw/metrics.csv")
    by_stratum: dict[str, list[str]] = {}
    for stratum, record in sorted(strata):
        by_stratum.setdefault(_stratum_name(run, stratum), []).append(record)
    return {name: sorted(set(by_stratum[name])) for name in sorted(by_stratum)}


def _stratum_name(run: Path, stratum: str) -> str:
    try:
        return stratum_of(object_of(stratum)).name
    except NotAnObject as error:
        shown = clip_for_message(stratum)
        raise typer.BadParameter(f"{run}: stratum_json of raw/metrics.csv is {shown}; {error}") from None


def rows_of_run(run: Path) -> list[RunRow]:
    """Return of which metrics a run has per-series rows, once for each estimator and record.

    An estimate that is invalid has one of every metric that its estimator may lack by how it is made. Raises
    ManifestRejected where its files cannot be read.
    """
    rows = [
        RunRow(row["estimator_name"], row["metric_name"], row["record_id"])
        for row in _run_rows(run, RUN_METRICS, COLUMNS)
        if row["scope"] == PER_SERIES and row["record_id"]
    ]
    rows += [
        RunRow(row["estimator_name"], metric, row["record_id"])
        for row in _run_rows(run, RUN_ESTIMATES, ("record_id", "estimator_name", "valid"))
        if not FLAGS.get(row["valid"], True)
        for metric in OF_THE_ESTIMATOR
    ]
    return list(dict.fromkeys(rows))


def _run_rows(run: Path, wanted: tuple[str, ...], columns: Sequence[str]) -> Iterator[dict[str, str]]:
    """Yield the rows of one table of a run, an empty cell as empty text."""
    findings = Findings()
    sent = _sent(run)
    with tempfile.TemporaryDirectory(prefix="plumbline-run-") as folder:
        unpacking = Unpacking(LIMITS, Path(folder), findings, RUN_METRICS + RUN_ESTIMATES)
        if sent:
            unpacking.take_all(sent)
        for file in unpacking.files:
            if file.suffix in wanted:
                yield from _rows(replace(file, suffix=".csv"), columns, findings)
    if findings.n_problems:
        what = f"{run} cannot be read; of a run, raw/metrics.csv and raw/estimates.csv are, each also .gz."
        raise ManifestRejected(what, findings.kept)


def _sent(run: Path) -> list[SentFile]:
    if run.is_dir():
        run = run.resolve()
        named = [("-".join(path.relative_to(run.parent).parts), path) for path in sorted(run.rglob("*"))]
        ends = RUN_METRICS + RUN_ESTIMATES
        return [SentFile(name, path) for name, path in named if name.removesuffix(".gz").endswith(ends)]
    if not zipfile.is_zipfile(run):
        raise typer.BadParameter(f"{run} is neither a run folder nor a zip archive of one")
    return [SentFile(f"{run.name.removesuffix('.zip')}.zip", run)]


def _rows(file: ReceivedFile, columns: Sequence[str], findings: Findings) -> Iterator[dict[str, str]]:
    table = open_table(file, findings, [], LIMITS.max_rows)
    if table is None:
        return
    missing = [name for name in columns if name not in table.header]
    findings.extend(missing_column(name, table.header, file.name) for name in missing)
    for block in table.blocks(columns) if not missing else ():
        cells = [block.columns[name].fill_null("").to_pylist() for name in columns]
        yield from (dict(zip(columns, row, strict=True)) for row in zip(*cells, strict=True))


# `plumbline benchmark import-lrdbench`.


def import_lrdbench(
    manifest: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="lrdbench's own manifest.")
    ],
    *,
    slug: Annotated[str | None, typer.Option(help="The benchmark's slug; default: from its name.")] = None,
    title: Annotated[str | None, typer.Option(help="The benchmark's title; default: its name.")] = None,
    run: Annotated[
        Path | None, typer.Option(exists=True, help="A run of it, folder or zip: its records become the grid.")
    ] = None,
) -> Imported:
    """
    Make a manifest from one of lrdbench. No server is needed.

    Which records there are is in a run and not in its manifest; without one the boards are provisional.
    """
    records = {} if run is None else records_of_run(run)
    rows = [] if run is None else rows_of_run(run)
    imported = manifest_from_lrdbench(manifest.read_bytes(), slug, title, records, rows)
    no_grid = "No grid: without --run the records are undeclared, and the boards are provisional."
    return Imported(imported, () if records else (no_grid,))


ROLE, STRATUM = "role", "stratum_json"

ESTIMATES = ("record_id", "estimator_name", "point", "ci_low", "ci_high", "stderr", "valid", "runtime_seconds",
             "failure_reason", "warnings", "bootstrap_cis_json")  # fmt: skip

SCOPE_OF = {"tables/per_stratum_metrics": "aggregate", "tables/benchmark_uncertainty": "uncertainty"}


def _estimates(scores: ScoreTable) -> Iterator[CsvRow]:
    """Yield the estimates of estimators; a row that came without one, or is between estimators, has none."""
    recorded = scores.recorded
    valid, role = recorded.get("valid"), recorded.get(ROLE)
    kept = [(name, recorded.get(RECORDED_AS.get(name, name))) for name in ESTIMATES[2:]]
    for at in range(len(scores)):
        if valid is None or valid.at(at) is None or (role is not None and role.at(at) == DIAGNOSTIC):
            continue
        who = (scores.item.at(at) if scores.item else None, scores.entrant.at(at))
        yield (*who, *(None if column is None else _as_sent(name, column.at(at)) for name, column in kept))


def _as_sent(name: str, text: str | None) -> Cell:
    """Return a cell of the estimates, which are kept as texts: a number as one, so that -1.5 gets no guard."""
    is_number = name in NUMBERS and text is not None and text.strip() and math.isfinite(float(text))
    return float(text) if text and is_number else text


def _per_series(scores: ScoreTable) -> Iterator[CsvRow]:
    place = {name: at for at, name in enumerate(scores.columns)}
    recorded = scores.recorded
    for at in range(len(scores)):
        stratum = recorded[STRATUM].at(at) or "{}"
        metadata = json.loads((recorded["metadata"].at(at) if "metadata" in recorded else None) or "{}")
        key = [list(pair) for pair in sorted(json.loads(stratum).items())]
        for metric in (recorded["metrics"].at(at) or "").split() if "metrics" in recorded else scores.columns:
            name, level = split_identity(metric)
            about = {**metadata.get(metric, {}), "stratum_key": key} | ({} if level is None else {"nominal": level})
            value = math.nan if metric == PAIRED_RATIO else scores.values[at, place[metric]].item()
            who = (scores.item.at(at) if scores.item else None, scores.entrant.at(at))
            yield (
                PER_SERIES,
                *who,
                name,
                None if math.isnan(value) else value,
                stratum,
                json.dumps(about, sort_keys=True),
            )


def _computed(table: Table) -> Iterator[CsvRow]:
    scope = SCOPE_OF[table.name]
    for row in table.records():
        cells = (row["estimator_name"], row["metric_name"], row["value"], row["stratum_json"], row["metadata_json"])
        yield (scope, None, *cells)


RAW = {
    "metrics.csv": RawFile(
        title="Every row", header=COLUMNS, of_sent=_per_series, tables=tuple(SCOPE_OF), of_table=_computed
    ),
    "estimates.csv": RawFile(title="Every estimate", header=ESTIMATES, of_sent=_estimates),
}
