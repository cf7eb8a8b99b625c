"""A benchmark manifest from lrdbench's own, as `plumbline benchmark import-lrdbench` and our examples use it. What a
run is made of (generators, seeds of series, report) stays with lrdbench; what its results mean (mode, metrics,
boards, uncertainty) comes over. Source of the defaults: lrdbench 2.0.
"""

import csv
import gzip
import io
import json
import math
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

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
from app.errors import ManifestRejected, Problem
from app.files.tables import FLAGS
from app.kinds.contract import CsvRow, Imported, RawFile
from app.kinds.series.estimates import NUMBERS, RECORDED_AS
from app.kinds.series.manifest_part import CATALOG, OF_NULLS, VARIANT_MARK, is_estimator_name, slug_of
from app.kinds.series.rows import stratum_of
from app.manifest.build import SCHEMA_LINE
from app.names import clip_for_message, is_name
from app.values.scores import ScoreTable
from app.values.table import Cell, Table
from app.yaml import read_yaml

MAX_MANIFEST_BYTES = 1 << 20
MODES = ("ground_truth", "stress_test", "observational")
DEFAULT_LEVEL = 0.95
Records = Mapping[str, Sequence[str]]
OF_THE_ESTIMATOR = frozenset({"instability"})
"""Metrics that an estimator has or has not by how it is made, and not by what it estimates."""
DEFAULT_RESAMPLES = 200
FEWEST_RESAMPLES = 100
BOARD_RESAMPLES = 1000
RULE, FIRST_BREAKS_TIES = "weighted_rank", "best_primary_metric"


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
    if not isinstance(document, dict):
        raise ManifestRejected("This is no manifest of lrdbench.", [Problem("expected a mapping at the top level")])
    problems = [*_problems_of_shape(document)]
    if not problems:
        problems = [
            *_problems_of_metrics(document),
            *_problems_of_boards(document),
            *_problems_of_uncertainty(document),
        ]
    if problems:
        raise ManifestRejected("lrdbench's manifest cannot be imported.", problems)
    imported = _manifest(document, slug or slug_of(document["name"]), title or document["name"], records)
    if asked := _asked(document, records or {}, rows):
        imported = {**imported, "asked": asked}
    text = yaml.safe_dump(imported, sort_keys=False, allow_unicode=True, width=120, default_flow_style=None)
    return f"{SCHEMA_LINE}{text}".encode()


def _problems_of_shape(document: Mapping[str, Any]) -> Iterator[Problem]:
    if not isinstance(document.get("name"), str) or not slug_of(document["name"]):
        yield Problem("name must be text with a letter or a digit", column="name")
    if document.get("mode") not in MODES:
        shown = clip_for_message(str(document.get("mode")))
        yield Problem(f"mode must be one of {', '.join(MODES)}", column="mode", value=shown)
    for key in ("estimators", "metrics", "leaderboards"):
        if not isinstance(document.get(key), list) or not document[key]:
            yield Problem("expected a list with something in it", column=key)
    for key in ("contamination", "uncertainty", "seeds"):
        if not isinstance(document.get(key) or {}, dict):
            yield Problem("expected a mapping", column=key)
    yield from _problems_of_estimators(document.get("estimators"))
    yield from _problems_of_operators(document.get("contamination"))


def _problems_of_estimators(estimators: Any) -> Iterator[Problem]:
    for position, entry in enumerate(estimators if isinstance(estimators, list) else ()):
        for name in _estimator_names(entry):
            if not is_estimator_name(name):
                column = f"estimators.{position}.name"
                yield Problem("not a name that is allowed here", column=column, value=clip_for_message(name))


def _problems_of_operators(contamination: Any) -> Iterator[Problem]:
    operators = contamination.get("operators") if isinstance(contamination, dict) else None
    for position, operator in enumerate(operators if isinstance(operators, list) else ()):
        is_described = isinstance(operator, dict) and isinstance(operator.get("params") or {}, dict)
        if not is_described or not is_name(str(operator.get("name"))):
            yield Problem("an operator has a name and params", column=f"contamination.operators.{position}")


def _problems_of_metrics(document: Mapping[str, Any]) -> Iterator[Problem]:
    for position, entry in enumerate(document["metrics"]):
        name, levels = _metric(entry)
        column = f"metrics.{position}"
        if name not in CATALOG:
            yield Problem("not a metric of lrdbench", column=column, value=clip_for_message(name))
        elif name in CLASS_METRICS and isinstance(entry, dict) and entry.get("threshold", THRESHOLD) != THRESHOLD:
            message = f"only a threshold of {THRESHOLD} is known"
            yield Problem(message, column=f"{column}.threshold", value=clip_for_message(str(entry["threshold"])))
        elif name in OF_NULLS and isinstance(entry, dict) and {"threshold", "null_max"} & set(entry):
            yield Problem("only lrdbench's own threshold and null_max are known; leave them out", column=column)
        elif not all(isinstance(level, float) and 0.0 < level < 1.0 for level in levels):
            yield Problem("levels are numbers between 0 and 1", column=f"{column}.levels")


def _problems_of_boards(document: Mapping[str, Any]) -> Iterator[Problem]:
    for position, board in enumerate(document["leaderboards"]):
        column = f"leaderboards.{position}"
        if not isinstance(board, dict) or not isinstance(board.get("weights"), dict):
            yield Problem("a leaderboard is a mapping with weights", column=column)
            continue
        components = board.get("component_metrics")
        if not isinstance(components, list) or sorted(map(str, components)) != sorted(board["weights"]):
            yield Problem("component_metrics and weights must name the same metrics", column=f"{column}.weights")
            continue
        yield from (Problem(message, column=f"{column}.{key}") for key, message in _broken_rules(document, board))


def _broken_rules(document: Mapping[str, Any], board: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    components = board["component_metrics"]
    if board.get("mode", document["mode"]) != document["mode"]:
        yield "mode", f"the board is of another mode; the manifest's is {document['mode']}"
    if board.get("ranking_rule", RULE) != RULE:
        yield "ranking_rule", f"only {RULE} is known"
    if board.get("tie_break_rule", FIRST_BREAKS_TIES) not in (FIRST_BREAKS_TIES, NO_TIE_BREAK, *components):
        yield "tie_break_rule", f"ties are broken by {FIRST_BREAKS_TIES}, by a component or by {NO_TIE_BREAK}; name one"
    for name in components:
        if not _identities(document, name):
            yield "component_metrics", f"{clip_for_message(name)} must be a metric of the manifest"
    if not all(isinstance(weight, int | float) for weight in board["weights"].values()):
        yield "weights", "a weight is a number"


def _problems_of_uncertainty(document: Mapping[str, Any]) -> Iterator[Problem]:
    uncertainty = document.get("uncertainty") or {}
    n_resamples = uncertainty.get("n_bootstrap", DEFAULT_RESAMPLES)
    if not isinstance(n_resamples, int) or n_resamples < FEWEST_RESAMPLES:
        message = f"at least {FEWEST_RESAMPLES} resamples are drawn here"
        yield Problem(message, column="uncertainty.n_bootstrap", value=clip_for_message(str(n_resamples)))
    levels = uncertainty.get("ci_levels", [DEFAULT_LEVEL])
    if not isinstance(levels, list) or not all(isinstance(level, float) and 0.0 < level < 1.0 for level in levels):
        yield Problem("expected a list of numbers between 0 and 1", column="uncertainty.ci_levels")
    for key in ("metrics", "paired_metrics"):
        for name in uncertainty.get(key) or ():
            if not _identities(document, str(name)):
                message = "not among the metrics of the manifest"
                yield Problem(message, column=f"uncertainty.{key}", value=clip_for_message(str(name)))
    for part, key in (("uncertainty", "seed"), ("seeds", "global_seed")):
        if not isinstance((document.get(part) or {}).get(key, 0), int):
            yield Problem("a seed is a whole number", column=f"{part}.{key}")


def _metric(entry: Any) -> tuple[str, Sequence[Any]]:
    """Return a metric's name and its levels, the default one where it has levels and names none."""
    name = str(entry.get("name")) if isinstance(entry, dict) else str(entry)
    known = CATALOG.get(name)
    if known is None or not known.has_level:
        return name, ()
    levels = entry.get("levels") if isinstance(entry, dict) else None
    return name, levels if isinstance(levels, list) and levels else (DEFAULT_LEVEL,)


def _identities(document: Mapping[str, Any], name: str | None = None) -> list[str]:
    """Return every metric with its own level, or those of one name."""
    identities: dict[str, None] = {}
    for entry in document["metrics"]:
        metric, levels = _metric(entry)
        if name in (None, metric):
            identities |= dict.fromkeys([identity_of(metric, level) for level in levels] or [metric])
    return list(identities)


def _estimator_names(entry: Any) -> list[str]:
    """Return the names under which an entry's results come: its own, or one for each of its variants."""
    name = str(entry.get("name")) if isinstance(entry, dict) else ""
    variants = entry.get("variants") if isinstance(entry, dict) else None
    if not isinstance(variants, list):
        return [name]
    return [f"{name}{VARIANT_MARK}{v.get('name')}" for v in variants if isinstance(v, dict)]


def _manifest(document: Mapping[str, Any], slug: str, title: str, records: Records | None) -> dict[str, Any]:
    operators = (document.get("contamination") or {}).get("operators") or []
    contamination = {"contamination": [_operator(operator) for operator in operators]} if operators else {}
    uncertainty = document.get("uncertainty") or {"enabled": False}
    return {
        "schema_version": 1,
        "slug": slug,
        "title": title,
        "description": str(document.get("description") or ""),
        "evidence": "series_metrics",
        "mode": document["mode"],
        **contamination,
        "estimators": [name for entry in document["estimators"] for name in _estimator_names(entry)],
        "metrics": {"catalog": "lrdbench", "use": _identities(document)},
        "nouns": {"entrant": "estimator"},
        "tasks": {"open": True},
        **({"grid": {"tasks": {name: {"items": list(own)} for name, own in records.items()}}} if records else {}),
        "leaderboards": [_board(document, board, at) for at, board in enumerate(document["leaderboards"])],
        **({} if uncertainty.get("enabled") is False else {"uncertainty": _uncertainty(document, uncertainty)}),
    }


def _asked(document: Mapping[str, Any], records: Records, rows: Sequence[RunRow]) -> list[dict[str, Any]]:
    """Return on which records metrics are asked that do not exist on all of them.

    A metric exists on a record for an estimator where any estimator of the same estimand has a row of it, so that who
    leaves a row out, or fails, does not decide what is asked. Only whether an instability can be had is a matter of the
    single estimator: it exists where that one has it, and where its estimate is invalid.
    """
    estimands = {
        name: str(entry.get("target_estimand")) for entry in document["estimators"] for name in _estimator_names(entry)
    }
    has: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        if row.estimator in estimands:
            whose = row.estimator if row.metric in OF_THE_ESTIMATOR else estimands[row.estimator]
            has.setdefault((row.metric, whose), set()).add(row.record)
    every = {record for own in records.values() for record in own}
    rules: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for identity in _identities(document) if rows else ():
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


def _operator(operator: Mapping[str, Any]) -> dict[str, Any]:
    params = operator.get("params") or {}
    listed = {key: value if isinstance(value, list) else [value] for key, value in params.items()}
    return {"name": operator["name"], **({"params": listed} if listed else {})}


def _board(document: Mapping[str, Any], board: Mapping[str, Any], position: int) -> dict[str, Any]:
    named = {name: _component(_identities(document, name)) for name in board["component_metrics"]}
    rule = board.get("tie_break_rule", FIRST_BREAKS_TIES)
    breaking = {FIRST_BREAKS_TIES: next(iter(named.values())), NO_TIE_BREAK: NO_TIE_BREAK, **named}[rule]
    name = str(board.get("name") or f"board-{position + 1}")
    return {
        "name": slug_of(name),
        "title": name,
        "method": "weighted_rank",
        "ranking_rule": 2,
        "weights": {named[metric]: float(board["weights"][metric]) for metric in named},
        "tie_break": breaking,
        "uncertainty": {"n_resamples": BOARD_RESAMPLES, "level": DEFAULT_LEVEL, "rng_seed": _rng_seed(document)},
    }


def _component(identities: Sequence[str]) -> str:
    """Return a component's name: lrdbench ranks the mean over the levels of a metric that has several."""
    return joined(identities) if len(identities) > 1 else identities[0]


def _rng_seed(document: Mapping[str, Any]) -> int:
    of_run = (document.get("seeds") or {}).get("global_seed", 0)
    return int((document.get("uncertainty") or {}).get("seed", of_run))


def _uncertainty(document: Mapping[str, Any], declared: Mapping[str, Any]) -> dict[str, Any]:
    lists = {
        key: [identity for name in declared[key] for identity in _identities(document, name)]
        for key in ("metrics", "paired_metrics")
        if declared.get(key)
    }
    return {
        "n_resamples": declared.get("n_bootstrap", DEFAULT_RESAMPLES),
        "levels": [float(level) for level in declared.get("ci_levels", [DEFAULT_LEVEL])],
        "rng_seed": _rng_seed(document),
        "paired": bool(declared.get("paired", False)),
        "stream": "lrdbench",
        **lists,
    }


# Which records a run is about, and which metrics it has of each: the grid of the benchmark made of it.

PER_SERIES = ("raw/metrics.csv", "raw/metrics.csv.gz")
RUN_ESTIMATES = ("raw/estimates.csv", "raw/estimates.csv.gz")


def records_of_run(run: Path) -> dict[str, list[str]]:
    """Return the records that a run has per-series rows of by their strata, sorted. Raises BadParameter for none."""
    strata = {
        (row["stratum_json"], row["record_id"])
        for row in _run_rows(run, PER_SERIES)
        if row.get("scope") == "per_series" and row.get("record_id") and row.get("stratum_json")
    }
    if not strata:
        raise typer.BadParameter(f"{run} has no per-series row in raw/metrics.csv")
    by_stratum: dict[str, list[str]] = {}
    for stratum, record in sorted(strata):
        by_stratum.setdefault(stratum_of(json.loads(stratum)).name, []).append(record)
    return {name: sorted(set(by_stratum[name])) for name in sorted(by_stratum)}


def rows_of_run(run: Path) -> list[RunRow]:
    """Return of which metrics a run has per-series rows, once for each estimator and record.

    An estimate that is invalid has one of every metric that its estimator may lack by how it is made.
    """
    rows = [
        RunRow(row["estimator_name"], row["metric_name"], row["record_id"])
        for row in _run_rows(run, PER_SERIES)
        if row.get("scope") == "per_series" and row.get("record_id")
    ]
    rows += [
        RunRow(row["estimator_name"], metric, row["record_id"])
        for row in _run_rows(run, RUN_ESTIMATES)
        if not FLAGS.get(row.get("valid") or "", True)
        for metric in OF_THE_ESTIMATOR
    ]
    return list(dict.fromkeys(rows))


def _run_rows(run: Path, names: tuple[str, ...]) -> Iterator[dict[str, str]]:
    for content in _run_tables(run, names):
        yield from csv.DictReader(io.StringIO(content.decode("utf-8-sig")))


def _run_tables(run: Path, wanted: tuple[str, ...]) -> Iterator[bytes]:
    if run.is_dir():
        names = [path for path in sorted(run.rglob("*")) if path.as_posix().endswith(wanted)]
        yield from (_unpacked(path.name, path.read_bytes()) for path in names)
        return
    if not zipfile.is_zipfile(run):
        raise typer.BadParameter(f"{run} is neither a run folder nor a zip archive of one")
    with zipfile.ZipFile(run) as archive:
        for name in archive.namelist():
            if name.endswith(wanted):
                yield _unpacked(name, archive.read(name))


def _unpacked(name: str, content: bytes) -> bytes:
    return gzip.decompress(content) if name.endswith(".gz") else content


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

HEADER = ("scope", "record_id", "estimator_name", "metric_name", "value", "stratum_json", "metadata_json")

ESTIMATES = ("record_id", "estimator_name", "point", "ci_low", "ci_high", "stderr", "valid", "runtime_seconds",
             "failure_reason", "warnings", "bootstrap_cis_json")  # fmt: skip

SCOPES = {"tables/per_stratum_metrics": "aggregate", "tables/benchmark_uncertainty": "uncertainty"}


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
                "per_series",
                *who,
                name,
                None if math.isnan(value) else value,
                stratum,
                json.dumps(about, sort_keys=True),
            )


def _computed(table: Table) -> Iterator[CsvRow]:
    scope = SCOPES[table.name]
    for row in table.records():
        cells = (row["estimator_name"], row["metric_name"], row["value"], row["stratum_json"], row["metadata_json"])
        yield (scope, None, *cells)


RAW = {
    "metrics.csv": RawFile(header=HEADER, of_sent=_per_series, tables=tuple(SCOPES), of_table=_computed),
    "estimates.csv": RawFile(header=ESTIMATES, of_sent=_estimates),
}
