"""Which records a run of lrdbench is about, and which metrics it has of each: the grid of the benchmark made of it."""

import csv
import gzip
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import typer

from app.files.columns import FLAGS
from app.kinds.series.from_lrdbench import OF_THE_ESTIMATOR, RunRow
from app.kinds.series.rows import stratum_of

PER_SERIES = ("raw/metrics.csv", "raw/metrics.csv.gz")
ESTIMATES = ("raw/estimates.csv", "raw/estimates.csv.gz")


def records_of_run(run: Path) -> dict[str, list[str]]:
    """Return the records that a run has per-series rows of by their strata, sorted. Raises BadParameter for none."""
    strata = {
        (row["stratum_json"], row["record_id"])
        for row in _rows(run, PER_SERIES)
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
        for row in _rows(run, PER_SERIES)
        if row.get("scope") == "per_series" and row.get("record_id")
    ]
    rows += [
        RunRow(row["estimator_name"], metric, row["record_id"])
        for row in _rows(run, ESTIMATES)
        if not FLAGS.get(row.get("valid") or "", True)
        for metric in OF_THE_ESTIMATOR
    ]
    return list(dict.fromkeys(rows))


def _rows(run: Path, names: tuple[str, ...]) -> Iterator[dict[str, str]]:
    for content in _tables(run, names):
        yield from csv.DictReader(io.StringIO(content.decode("utf-8-sig")))


def _tables(run: Path, wanted: tuple[str, ...]) -> Iterator[bytes]:
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
