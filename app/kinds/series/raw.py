"""raw/metrics.csv and raw/estimates.csv of a benchmark of series, in the columns of lrdbench's output contract."""

import json
import math
from collections.abc import Iterator

from app.boards.methods.weighted_rank.records import DIAGNOSTIC, PAIRED_RATIO, split_identity
from app.kinds.contract import CsvRow, RawFile
from app.kinds.series.estimates import NUMBERS, RECORDED_AS
from app.values.scores import ScoreTable
from app.values.table import Cell, Table

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
