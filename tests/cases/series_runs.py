"""What the tests of series share: the given runs of lrdbench, and small runs made on the spot."""

import csv
import gzip
import io
import json
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from app.files.uploads import Limits
from app.kinds.parse import parse_manifest
from app.kinds.reader import Evidence
from app.kinds.series.from_lrdbench import manifest_from_lrdbench
from app.manifest.model import Manifest
from tests.cases.evidence_tables import read
from tests.cases.zips import replaced

RUNS = Path(__file__).parents[1] / "data" / "lrdbench_runs"
MANIFESTS = RUNS / "manifests"
EXAMPLES = Path(__file__).parents[2] / "examples"
LIMITS = Limits(max_unpacked_bytes=100_000_000, max_json_bytes=1_000_000, max_files=100, max_rows=100_000)
GIVEN = {path.stem: path for path in sorted([*RUNS.glob("*.zip"), *EXAMPLES.glob("lrdbench*/results/*.zip")], key=str)}
CLASSES_ONLY = "small_lrd_classes_only"
"""A run of a suite whose metrics are of classes alone, so that it has no row of one series."""
COLUMNS = ("scope", "record_id", "estimator_name", "metric_name", "value", "stratum_json", "metadata_json")
SHORT, LONG = {"H": 0.5, "n": 128}, {"H": 0.9, "n": 128}

Row = tuple[str, str, str, str, str, str, str]


def given_manifest(run: str) -> Manifest:
    """Return the benchmark of a given run, imported from lrdbench's own manifest."""
    return parse_manifest(manifest_from_lrdbench((MANIFESTS / f"{run}.yaml").read_bytes()))


def read_given(run: str, folder: Path) -> Evidence:
    """Read a given run as a submission to its own benchmark."""
    return read(folder, {f"{run}.zip": GIVEN[run].read_bytes()}, given_manifest(run), limits=LIMITS)


def member(run: str, name: str) -> list[dict[str, str]]:
    """Return the rows of one table of a given run."""
    return rows_of_member(GIVEN[run], name)


def rows_of_member(path: Path, name: str) -> list[dict[str, str]]:
    """Return the rows of one table of an archive, which is named after its run."""
    with zipfile.ZipFile(path) as archive:
        text = archive.read(f"{path.stem}/{name}").decode()
    return list(csv.DictReader(io.StringIO(text)))


Cells = dict[str, str]


def written(rows: Sequence[Cells]) -> str:
    """Return rows as a run writes them."""
    return table(list(rows[0]), [row.values() for row in rows])


def changed(run: str, name: str, change: Callable[[Cells], Cells | None], without: Sequence[str] = ()) -> bytes:
    """Return a given run in which the rows of one table are others, or left out for None; `without` are its tables."""
    kept = [row for each in member(run, name) if (row := change(dict(each))) is not None]
    texts = (written(member(run, name)), written(kept))
    return replaced(GIVEN[run], {f"{run}/{name}": texts}, without=[f"{run}/{each}" for each in without])


def series(
    record: str, estimator: str, metric: str, value: float | str | None, stratum: Mapping[str, Any], **metadata: Any
) -> Row:
    """Return a row of scope per_series."""
    return _row("per_series", record, estimator, metric, value, stratum, metadata)


def aggregate(estimator: str, metric: str, value: float | None, stratum: Mapping[str, Any], **metadata: Any) -> Row:
    """Return a row of scope aggregate."""
    return _row("aggregate", "", estimator, metric, value, stratum, metadata)


def uncertain(estimator: str, metric: str, value: float | None, stratum: Mapping[str, Any], **metadata: Any) -> Row:
    """Return a row of scope uncertainty."""
    return _row("uncertainty", "", estimator, metric, value, stratum, metadata)


def _row(
    scope: str,
    record: str,
    estimator: str,
    metric: str,
    value: float | str | None,
    stratum: Mapping[str, Any],
    metadata: Mapping[str, Any],
) -> Row:
    text = "" if value is None else str(value)
    return (scope, record, estimator, metric, text, json.dumps(stratum), json.dumps(metadata))


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a CSV file."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def metrics(*rows: Sequence[object]) -> str:
    """Return a raw/metrics.csv."""
    return table(COLUMNS, rows)


def estimates(*rows: Sequence[object]) -> str:
    """Return a raw/estimates.csv of (record, estimator, valid, failure reason, point)."""
    return table(("record_id", "estimator_name", "valid", "failure_reason", "point"), rows)


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    """Return a zip archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def gzipped(text: str) -> bytes:
    """Return a text as gzip."""
    return gzip.compress(text.encode(), mtime=0)


def benchmark(
    use: str = "[mae, validity_rate]",
    mode: str = "ground_truth",
    rest: str = "",
    weights: str = "{mae: 1.0}",
) -> Manifest:
    """Return a benchmark of series with one board."""
    return parse_manifest(
        f"""
schema_version: 1
slug: series
title: Series
evidence: series_metrics
mode: {mode}
metrics: {{catalog: lrdbench, use: {use}}}
tasks: {{open: true}}
leaderboards: [{{name: board, method: weighted_rank, weights: {weights}}}]
{rest}
""".encode()
    )
