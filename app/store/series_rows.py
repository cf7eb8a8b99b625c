"""raw/metrics.csv of a series benchmark: the per-series rows as they were sent, then the aggregates and intervals.

Called by `app.web.exports`; rows of CSV text, one after the other.
"""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy.orm import Session

from app.db.models import Snapshot
from app.lrdbench_catalog import PAIRED_RATIO, split_identity
from app.scores import ScoreTable
from app.store import snapshots
from app.store.series import STRATUM, read_series
from app.table import Table

HEADER = ("scope", "record_id", "estimator_name", "metric_name", "value", "stratum_json", "metadata_json")
SCOPES = {"aggregate": "tables/per_stratum_metrics", "uncertainty": "tables/benchmark_uncertainty"}


def metric_rows(session: Session, snapshot: Snapshot) -> Iterator[str]:
    """Yield the lines of the file, the header first."""
    yield _line(HEADER)
    yield from _per_series(read_series(session, snapshots.entrant_ids(session, snapshot.id)))
    for scope, name in SCOPES.items():
        table = snapshots.load_table(session, snapshot.id, name)
        yield from (_line(row) for row in ([] if table is None else _computed(scope, table)))


def _per_series(scores: ScoreTable) -> Iterator[str]:
    place = {name: at for at, name in enumerate(scores.columns)}
    recorded = scores.recorded
    for at in range(len(scores)):
        stratum = recorded[STRATUM].at(at) or "{}"
        metadata = json.loads((recorded["metadata"].at(at) if "metadata" in recorded else None) or "{}")
        key = [list(pair) for pair in sorted(json.loads(stratum).items())]
        for metric in (recorded["metrics"].at(at) or "").split() if "metrics" in recorded else scores.columns:
            name, level = split_identity(metric)
            about = {**metadata.get(metric, {}), "stratum_key": key} | ({} if level is None else {"nominal": level})
            value = None if metric == PAIRED_RATIO else scores.values[at, place[metric]].item()
            who = (scores.item.at(at) if scores.item else None, scores.entrant.at(at))
            yield _line(("per_series", *who, name, value, stratum, json.dumps(about, sort_keys=True)))


def _computed(scope: str, table: Table) -> Iterator[Sequence[Any]]:
    for row in table.records():
        cells = (row["estimator_name"], row["metric_name"], row["value"], row["stratum_json"], row["metadata_json"])
        yield (scope, None, *cells)


def _line(cells: Sequence[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(
        ["" if cell is None or cell != cell else _plain(cell) for cell in cells]
    )
    return text.getvalue()


def _plain(cell: Any) -> str:
    return repr(cell) if isinstance(cell, float) else str(cell)
