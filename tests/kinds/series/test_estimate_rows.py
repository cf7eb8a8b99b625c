"""Suites whose metrics are of classes alone: no row of one series is written, so the estimates are the evidence."""

import csv
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from app.boards.methods.weighted_rank.method import compute
from app.boards.methods.weighted_rank.records import CLASS_METRICS, WeightedRank, discriminations
from app.files.findings import Findings
from app.files.tables import Block
from app.files.uploads import ReceivedFile
from app.kinds.parse import parse_manifest
from app.kinds.reader import Evidence
from app.kinds.series.contract import NO_SERIES, series_tables
from app.kinds.series.from_lrdbench import manifest_from_lrdbench
from app.kinds.series.read import RecordStrata
from app.kinds.series.summary import check_series_claims
from app.manifest.model import Manifest
from tests.cases.evidence_tables import problems, read
from tests.cases.lrdbench_http import make_benchmark, submit
from tests.cases.series_runs import CLASSES_ONLY, GIVEN, LIMITS, MANIFESTS, given_manifest, member
from tests.cases.zips import replaced
from tests.fixtures import Site

MIXED = "small_lrd_model_selection"
BEST = "ICModelSelectDiscriminator"
RECORDS, ESTIMATES, METRICS = "raw/records.csv", "raw/estimates.csv", "raw/metrics.csv"
Cells = dict[str, str]


def declared() -> Manifest:
    """Return the suite as a benchmark whose grid is the run's records."""
    records = ", ".join(row["record_id"] for row in member(CLASSES_ONLY, RECORDS))
    created = manifest_from_lrdbench((MANIFESTS / f"{CLASSES_ONLY}.yaml").read_bytes())
    return parse_manifest(created + f"grid: {{items: [{records}]}}\n".encode())


def written(rows: list[Cells], header: list[str]) -> str:
    """Return rows as a run writes them."""
    text = io.StringIO()
    writer = csv.DictWriter(text, header, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def changed(run: str, name: str, change: Callable[[Cells], Cells | None], without: tuple[str, ...] = ()) -> bytes:
    """Return a given run in which the rows of one table are others, or left out."""
    rows = member(run, name)
    kept = [new for row in rows if (new := change(dict(row))) is not None]
    texts = (written(rows, list(rows[0])), written(kept, list(rows[0])))
    return replaced(GIVEN[run], {f"{run}/{name}": texts}, without=[f"{run}/{each}" for each in without])


def taken(folder: Path, content: bytes | None = None) -> Evidence:
    """Read the run, or a changed one, as a submission to its own benchmark."""
    sent = GIVEN[CLASSES_ONLY].read_bytes() if content is None else content
    return read(folder, {"run.zip": sent}, declared(), limits=LIMITS)


def values(evidence: Evidence) -> dict[tuple[str, str], float]:
    """Return each metric of classes by estimator."""
    return {(a.estimator, a.metric): a.value for a in discriminations(evidence.scores, CLASS_METRICS)}


def ranks(evidence: Evidence) -> dict[object, object]:
    """Return the ranks on the suite's board."""
    manifest = declared()
    spec = manifest.leaderboards[0]
    assert isinstance(spec, WeightedRank)
    return {row["entrant"]: row["rank"] for row in compute(manifest, spec, evidence.scores).leaderboard.records()}


def test_the_values_and_the_ranks_are_lrdbenchs_own(tmp_path: Path) -> None:
    """Nothing but estimates, truths and records makes them, and what the run claims of itself agrees."""
    evidence = taken(tmp_path)
    theirs = {(r["estimator_name"], r["metric_name"]): float(r["value"]) for r in member(CLASSES_ONLY, METRICS)}
    (check,) = check_series_claims(declared(), evidence.scores, evidence.facts.claimed)

    assert values(evidence) == {key: pytest.approx(value, abs=1e-12) for key, value in theirs.items()}
    assert ranks(evidence) == {
        row["estimator_name"]: int(row["rank"]) for row in member(CLASSES_ONLY, "tables/leaderboard.csv")
    }
    assert check.reason == f"All {len(evidence.facts.claimed)} claimed values that can be compared agree."
    assert evidence.warnings == ()


@pytest.mark.parametrize("run", [MIXED, "public_small_stress_contamination", "smoke_ground_truth"])
def test_a_records_stratum_is_the_one_that_lrdbench_writes(run: str) -> None:
    """Made of raw/records.csv, as where no row of one series says it."""
    rows = member(run, RECORDS)
    columns = {name: pa.array([row[name] or None for row in rows]) for name in rows[0]}
    strata = RecordStrata(Findings())
    strata.read(Block(np.arange(len(rows)), columns), ReceivedFile("records.csv", Path("records.csv"), ".csv", 0))
    actual = strata.beside(Block(np.arange(len(rows)), {"record_id": columns["record_id"]})).columns
    created = dict(zip(actual["record_id"].to_pylist(), actual["stratum_json"].to_pylist(), strict=True))
    message = {
        r["record_id"]: json.loads(r["stratum_json"]) for r in member(run, METRICS) if r["scope"] == "per_series"
    }

    assert {record: json.loads(created[record]) for record in message} == message


def test_an_estimator_without_a_row_of_one_series_is_taken_beside_others(tmp_path: Path) -> None:
    """In a suite with other metrics too, whose rows of this estimator are left out."""
    manifest = given_manifest(MIXED)
    honest = read(tmp_path, {"run.zip": GIVEN[MIXED].read_bytes()}, manifest, limits=LIMITS)
    partly = changed(
        MIXED,
        METRICS,
        lambda row: row if row["scope"] == "per_series" and row["estimator_name"] != BEST else None,
        without=("tables/per_stratum_metrics.csv", "tables/leaderboard.csv", "raw/leaderboards.csv"),
    )

    assert values(read(tmp_path, {"run.zip": partly}, manifest, limits=LIMITS)) == values(honest)


def test_leaving_out_the_records_that_one_gets_wrong_loses_the_rank(tmp_path: Path) -> None:
    """Each is a cell of the grid that lacks its value."""
    label = {r["record_id"]: r["target_value"] for r in member(CLASSES_ONLY, "raw/truths.csv")
             if r["target_estimand"] == "lrd_class"}  # fmt: skip

    def leave_out(row: Cells) -> Cells | None:
        is_wrong = (float(row["point"]) >= 0.5) != (float(label[row["record_id"]]) >= 0.5)
        return None if row["estimator_name"] == BEST and is_wrong else row

    kept_back = taken(tmp_path, changed(CLASSES_ONLY, ESTIMATES, leave_out))

    assert values(kept_back)[BEST, "balanced_accuracy"] == 1.0
    assert ranks(kept_back)[BEST] is None


def test_a_run_without_its_records_is_told_what_is_missing(tmp_path: Path) -> None:
    """Without them nothing says in which stratum a series is."""
    content = replaced(GIVEN[CLASSES_ONLY], {}, without=[f"{CLASSES_ONLY}/{RECORDS}"])
    (problem,) = problems(tmp_path, {"run.zip": content}, declared())

    assert "raw/estimates.csv none of a record of raw/records.csv" in problem.message


def test_annotations_that_are_no_object_are_refused_with_their_row(tmp_path: Path) -> None:
    """As every cell of JSON is."""
    first = member(CLASSES_ONLY, RECORDS)[0]["record_id"]
    content = changed(
        CLASSES_ONLY, RECORDS, lambda row: {**row, "annotations_json": "[1]"} if row["record_id"] == first else row
    )
    actual = problems(tmp_path, {"run.zip": content}, declared())

    assert [(each.row, each.column) for each in actual if each.column == "annotations_json"] == [
        (2, "annotations_json")
    ]


def test_an_estimate_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    """Else a second one could replace the first."""
    line = written(member(CLASSES_ONLY, ESTIMATES)[:1], list(member(CLASSES_ONLY, ESTIMATES)[0])).splitlines()[1]
    content = replaced(GIVEN[CLASSES_ONLY], {f"{CLASSES_ONLY}/{ESTIMATES}": (line, f"{line}\n{line}")})

    assert "has an estimate of this record already" in problems(tmp_path, {"run.zip": content}, declared())[0].message


def test_tables_of_failures_say_why_they_are_empty(tmp_path: Path) -> None:
    """There is no value of one series that could be missing."""
    tables = {table.name: table for table in series_tables(declared(), taken(tmp_path).scores)}

    assert [
        (tables[f"tables/{name}"].rows, tables[f"tables/{name}"].notes) for name in ("failures", "failure_map")
    ] == [((), (NO_SERIES,))] * 2


def of_other_truths(estimators: set[str], turned: str | None = None) -> bytes:
    """Return the run of some estimators whose strata say no Hurst exponent; one record's class may be turned over."""
    truths, records = member(CLASSES_ONLY, "raw/truths.csv"), member(CLASSES_ONLY, RECORDS)
    for row in truths:
        row["target_estimand"] = {"hurst_scaling_proxy": "persistence"}.get(
            row["target_estimand"], row["target_estimand"]
        )
        if (row["record_id"], row["target_estimand"]) == (turned, "lrd_class"):
            row["target_value"] = str(1.0 - float(row["target_value"]))
    for row in records:
        row["target_estimand"] = "persistence"
    estimates = [row for row in member(CLASSES_ONLY, ESTIMATES) if row["estimator_name"] in estimators]
    metrics = [row for row in member(CLASSES_ONLY, METRICS) if row["estimator_name"] in estimators]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive, zipfile.ZipFile(GIVEN[CLASSES_ONLY]) as given:
        for name, rows in (("truths", truths), ("records", records), ("estimates", estimates), ("metrics", metrics)):
            archive.writestr(f"run/raw/{name}.csv", written(rows, list(rows[0])))
        manifest = "manifest/benchmark_manifest.yaml"
        archive.writestr(f"run/{manifest}", given.read(f"{CLASSES_ONLY}/{manifest}"))
    return packed.getvalue()


def test_a_class_that_no_stratum_tells_is_said_to_be_the_runs_and_cannot_be_turned_later(site: Site) -> None:
    """Else who comes second, or stands first in the alphabet, decides who else is right."""
    slug = make_benchmark(site, CLASSES_ONLY)
    names = sorted({row["estimator_name"] for row in member(CLASSES_ONLY, ESTIMATES)})
    record = member(CLASSES_ONLY, RECORDS)[0]["record_id"]
    first = submit(site, slug, of_other_truths(set(names[2:])))
    outcomes = [
        {check["rule"]: check for check in submit(site, slug, of_other_truths(set(names[:2]), turned), "bob")["checks"]}
        for turned in (record, None)
    ]
    (own,) = [check for check in first["checks"] if check["rule"] == "classes"]

    assert own["outcome"] == "warned"
    assert own["reason"].startswith("Only this run states the class of 22 of 22 records")
    assert [each["classes"]["outcome"] for each in outcomes] == ["failed", "passed"]
    assert f"{record} is of class 0 here and of 1 in submission {first['id']}" in outcomes[0]["classes"]["reason"]


def test_a_class_that_its_stratum_tells_is_said_to_follow_from_it(roomy_site: Site) -> None:
    """Nobody needs to believe the run."""
    slug = make_benchmark(roomy_site, CLASSES_ONLY)
    checks = {each["rule"]: each for each in submit(roomy_site, slug, GIVEN[CLASSES_ONLY].read_bytes())["checks"]}

    assert checks["classes"]["reason"] == "The class of every record follows from the truth in its stratum."
