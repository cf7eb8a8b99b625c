"""Which records a run of lrdbench is about: the grid of the benchmark that is made of it.

Called by `app.cli.benchmarks` with a run folder or its zip archive on this computer.
"""

import csv
import gzip
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import typer

from app.kinds.series.strata import stratum_of

PER_SERIES = ("raw/metrics.csv", "raw/metrics.csv.gz")


def records_of_run(run: Path) -> dict[str, list[str]]:
    """Return the records that a run has per-series rows of by their strata, sorted. Raises BadParameter for none."""
    strata = {
        (row["stratum_json"], row["record_id"])
        for content in _tables(run)
        for row in csv.DictReader(io.StringIO(content.decode("utf-8-sig")))
        if row.get("scope") == "per_series" and row.get("record_id") and row.get("stratum_json")
    }
    if not strata:
        raise typer.BadParameter(f"{run} has no per-series row in raw/metrics.csv")
    by_stratum: dict[str, list[str]] = {}
    for stratum, record in sorted(strata):
        by_stratum.setdefault(stratum_of(json.loads(stratum)).name, []).append(record)
    return {name: sorted(set(by_stratum[name])) for name in sorted(by_stratum)}


def _tables(run: Path) -> Iterator[bytes]:
    if run.is_dir():
        names = [path for path in sorted(run.rglob("*")) if path.as_posix().endswith(PER_SERIES)]
        yield from (_unpacked(path.name, path.read_bytes()) for path in names)
        return
    if not zipfile.is_zipfile(run):
        raise typer.BadParameter(f"{run} is neither a run folder nor a zip archive of one")
    with zipfile.ZipFile(run) as archive:
        for name in archive.namelist():
            if name.endswith(PER_SERIES):
                yield _unpacked(name, archive.read(name))


def _unpacked(name: str, content: bytes) -> bytes:
    return gzip.decompress(content) if name.endswith(".gz") else content
