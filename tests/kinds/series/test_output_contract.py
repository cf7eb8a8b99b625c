"""What a benchmark exports, compared with lrdbench's contract of files and columns, as its `validate-output` does."""

import csv
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.cli.__main__ import run as run_command
from tests.cases.lrdbench_http import DATA, RUNS, YAML, make_benchmark, member, submit, table
from tests.fixtures import Site

CONTRACT = json.loads((DATA / "public_output_contract.json").read_text())
OF_A_RUN = {"html/report.html", "manifest/environment.json", "artefacts/artefact_index.csv", "raw/records.csv",
            "raw/artefacts.csv"}  # fmt: skip
"""What only a run has: its report, its machine, its files and its series."""


def complaints(archive: zipfile.ZipFile) -> Iterator[str]:
    """Yield what `lrdbench validate-output` says of an unpacked archive, by its contract."""
    names = set(archive.namelist())
    required = [name for files in CONTRACT["required_files"].values() for name in files]
    yield from (name for name in required if name not in names)
    for name, columns in CONTRACT["required_columns"].items():
        if name in names:
            header = next(csv.reader(io.StringIO(archive.read(name).decode())), [])
            yield from (f"{name}: {column}" for column in columns if column not in header)


@pytest.mark.parametrize("run", ["public_small_stress_contamination", "small_lrd_model_selection"])
def test_nothing_is_missing_but_what_only_a_run_has(roomy_site: Site, run: str) -> None:
    """Every required file with every required column; and the estimates with their own intervals, as they were sent."""
    slug = make_benchmark(roomy_site, run)
    submit(roomy_site, slug, RUNS[run].read_bytes())
    roomy_site.work()
    packed = io.BytesIO(roomy_site.http.get(f"/benchmarks/{slug}/tables.zip").content)
    with zipfile.ZipFile(packed) as archive:
        actual, estimates = set(complaints(archive)), archive.read("raw/estimates.csv").decode()

    assert actual == OF_A_RUN
    assert list(csv.DictReader(io.StringIO(estimates))) == member(run, "raw/estimates.csv")
    assert table(roomy_site, slug, "raw/estimates.csv") == member(run, "raw/estimates.csv")


def test_the_leaderboard_of_an_imported_run_is_lrdbenchs_over_http(roomy_site: Site, tmp_path: Path) -> None:
    """Made with `import-lrdbench --run`: tables.zip has rank and score wherever lrdbench has, and the claims agree."""
    run = DATA / "ranked" / "small_null_rates.zip"
    with zipfile.ZipFile(run) as archive:
        theirs = archive.read("small_null_rates/tables/leaderboard.csv").decode()
        (tmp_path / "theirs.yaml").write_bytes(archive.read("small_null_rates/manifest/benchmark_manifest.yaml"))
    made = str(tmp_path / "made.yaml")
    assert run_command(
        ["benchmark", "import-lrdbench", str(tmp_path / "theirs.yaml"), "--run", str(run), "-o", made]
    ) == 0  # fmt: skip
    content = Path(made).read_bytes()
    created = roomy_site.http.post("/benchmarks", content=content, headers=roomy_site.auth("steward") | YAML)
    sent = submit(roomy_site, created.json()["slug"], run.read_bytes())
    roomy_site.work()
    packed = io.BytesIO(roomy_site.http.get(f"/benchmarks/{created.json()['slug']}/tables.zip").content)
    with zipfile.ZipFile(packed) as archive:
        ours = list(csv.DictReader(io.StringIO(archive.read("tables/leaderboard.csv").decode())))
    checks = roomy_site.http.get(f"/submissions/{sent['id']}.json").json()["checks"]

    assert [(row["estimator_name"], row["rank"], float(row["score"])) for row in ours] == [
        (row["estimator_name"], row["rank"], float(row["score"])) for row in csv.DictReader(io.StringIO(theirs))
    ]
    assert {check["rule"]: check["outcome"] for check in checks}["claimed_values"] == "passed"
