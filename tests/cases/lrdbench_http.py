"""Small runs of lrdbench, made on the spot and sent over HTTP."""

import csv
import gzip
import io
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from app.kinds.series.from_lrdbench import manifest_from_lrdbench
from tests.fixtures import Site

DATA = Path(__file__).parents[1] / "data" / "lrdbench_runs"

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

RUNS = {path.stem: path for path in (*DATA.glob("*.zip"), *EXAMPLES.glob("lrdbench*/results/*.zip"))}

YAML = {"Content-Type": "application/yaml"}

Row = Mapping[str, str]


def member(name: str, ending: str) -> list[Row]:
    """Return the rows of a table in a run's archive, empty when the run has none."""
    with zipfile.ZipFile(RUNS[name]) as archive:
        for path in archive.namelist():
            if path.removesuffix(".gz").endswith(ending):
                content = archive.read(path)
                text = gzip.decompress(content) if path.endswith(".gz") else content
                return list(csv.DictReader(io.StringIO(text.decode())))
    return []


def table(site: Site, slug: str, address: str) -> list[Row]:
    """Return a published CSV as rows."""
    answer = site.http.get(f"/benchmarks/{slug}/{address}")
    assert answer.status_code == 200, answer.text
    return list(csv.DictReader(io.StringIO(answer.text)))


def part_of(name: str, estimators: Iterable[str]) -> bytes:
    """Return a run archive with the per-series rows of some estimators alone."""
    return archive_of(row for row in per_series(name) if row["estimator_name"] in set(estimators))


def per_series(name: str) -> list[Row]:
    """Return the rows of a run that are evidence."""
    return [row for row in member(name, "raw/metrics.csv") if row["scope"] == "per_series"]


def archive_of(rows: Iterable[Row]) -> bytes:
    """Return a run archive with these rows."""
    kept = list(rows)
    text = io.StringIO()
    writer = csv.DictWriter(text, kept[0].keys())
    writer.writeheader()
    writer.writerows(kept)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("run/raw/metrics.csv", text.getvalue())
    return packed.getvalue()


def make_benchmark(site: Site, name: str, slug: str | None = None) -> str:
    """Import a run's manifest, under another name where one is given, and return the slug."""
    manifest = manifest_from_lrdbench((DATA / "manifests" / f"{name}.yaml").read_bytes(), slug)
    created = site.http.post("/benchmarks", content=manifest, headers=site.auth("steward") | YAML)
    assert created.status_code == 201, created.text
    return str(created.json()["slug"])


def submit(site: Site, slug: str, run: bytes, who: str = "alice") -> dict[str, Any]:
    """Send a run archive and return the answer to it."""
    files = [("files", (f"{who}.zip", run))]
    answer = site.http.post(f"/benchmarks/{slug}/submissions", files=files, headers=site.auth(who))
    assert answer.status_code == 202, answer.text
    sent: dict[str, Any] = answer.json()
    return sent
