"""raw/metrics.csv and raw/estimates.csv of a series benchmark: what was sent, then the aggregates and intervals.

Called by `app.web.exports`, which writes them; rows in parts, so that no more than one part is in memory.
"""

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from sqlalchemy.orm import Session

from app.boards.methods.weighted_rank.groups import PAIRED_RATIO
from app.boards.methods.weighted_rank.identity import split_identity
from app.db.engine import SessionFactory, read_for_export
from app.kinds.series.estimates import NUMBERS, RECORDED_AS
from app.store import snapshots
from app.store.assembly import STRATUM
from app.store.series import DIAGNOSTIC, ROLE, read_parts
from app.values.scores import ScoreTable
from app.values.table import Cell, Table

HEADER = ("scope", "record_id", "estimator_name", "metric_name", "value", "stratum_json", "metadata_json")
ESTIMATES = ("record_id", "estimator_name", "point", "ci_low", "ci_high", "stderr", "valid", "runtime_seconds",
             "failure_reason", "warnings", "bootstrap_cis_json")  # fmt: skip
SCOPES = {"aggregate": "tables/per_stratum_metrics", "uncertainty": "tables/benchmark_uncertainty"}


Row = Sequence[Cell]


def metric_rows(sessions: SessionFactory, snapshot_id: int) -> Iterator[Iterable[Row]]:
    """Yield the file in parts, the header first; no session is open while a part is being read."""
    yield [HEADER]
    pairs = read_for_export(sessions, lambda session: snapshots.entrant_ids(session, snapshot_id))
    for part in read_parts(sessions, pairs):
        yield _per_series(part)
    for scope, name in SCOPES.items():
        table = read_for_export(sessions, partial(_load, snapshot_id=snapshot_id, name=name))
        yield [] if table is None else _computed(scope, table)


def estimate_rows(sessions: SessionFactory, snapshot_id: int) -> Iterator[Iterable[Row]]:
    """Yield raw/estimates.csv in parts, as `metric_rows`: each estimate with its own intervals, as it was sent."""
    yield [ESTIMATES]
    pairs = read_for_export(sessions, lambda session: snapshots.entrant_ids(session, snapshot_id))
    for part in read_parts(sessions, pairs):
        yield _estimates(part)


def _load(session: Session, snapshot_id: int, name: str) -> Table | None:
    return snapshots.load_table(session, snapshot_id, name)


def _estimates(scores: ScoreTable) -> Iterator[Row]:
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


def _per_series(scores: ScoreTable) -> Iterator[Row]:
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


def _computed(scope: str, table: Table) -> Iterator[Row]:
    for row in table.records():
        cells = (row["estimator_name"], row["metric_name"], row["value"], row["stratum_json"], row["metadata_json"])
        yield (scope, None, *cells)
