"""Suites of classes: ROC-AUC and the other metrics of model selection, made from the estimates and truths of a run.

Beside other metrics, and alone: then no row of one series is written, so the estimates are the evidence.
"""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from app.boards.methods.weighted_rank.method import compute
from app.boards.methods.weighted_rank.records import CLASS_LABEL, CLASS_METRICS, WeightedRank, discriminations
from app.files.findings import Findings
from app.files.tables import Block
from app.files.uploads import ReceivedFile
from app.kinds.parse import parse_manifest
from app.kinds.reader import Evidence
from app.kinds.series.claims import STRATA
from app.kinds.series.contract import NO_SERIES, series_tables
from app.kinds.series.from_lrdbench import manifest_from_lrdbench
from app.kinds.series.read import RecordStrata
from app.kinds.series.summary import check_series_claims
from app.manifest.model import Manifest
from tests.cases.evidence_tables import problems, read
from tests.cases.lrdbench_http import make_benchmark, submit
from tests.cases.series_runs import (
    CLASSES_ONLY,
    GIVEN,
    LIMITS,
    MANIFESTS,
    Cells,
    changed,
    given_manifest,
    member,
    written,
)
from tests.cases.zips import replaced
from tests.fixtures import Site

MIXED = "small_lrd_model_selection"
BEST = "ICModelSelectDiscriminator"
METRICS, ESTIMATES, TRUTHS, RECORDS = (f"raw/{name}.csv" for name in ("metrics", "estimates", "truths", "records"))


def declared(run: str = MIXED, absent: str = "unranked") -> Manifest:
    """Return a run's suite as a benchmark whose grid is the run's records."""
    created = manifest_from_lrdbench((MANIFESTS / f"{run}.yaml").read_bytes())
    # A run time has no worst value, so it cannot rank where absence counts as the worst.
    created = created.replace(b"0.1, runtime: 0.1}", b"0.2}") if absent == "worst" else created
    records = ", ".join(row["record_id"] for row in member(run, RECORDS))
    return parse_manifest(created + f"grid: {{absent: {absent}, items: [{records}]}}\n".encode())


def taken(folder: Path, content: bytes | None = None, run: str = MIXED) -> Evidence:
    """Read a run, or a changed one, as a submission to its own benchmark."""
    sent = GIVEN[run].read_bytes() if content is None else content
    return read(folder, {"run.zip": sent}, declared(run), limits=LIMITS)


def with_text(name: str, old: str, new: str) -> bytes:
    """Return the run with some text of one of its tables changed."""
    return replaced(GIVEN[MIXED], {f"{MIXED}/{name}": (old, new)})


def values(evidence: Evidence) -> dict[tuple[str, str], float]:
    """Return each metric of classes by estimator."""
    return {(a.estimator, a.metric): a.value for a in discriminations(evidence.scores, CLASS_METRICS)}


def board(evidence: Evidence, run: str = MIXED, absent: str = "unranked") -> dict[str, dict[str, object]]:
    """Return the rows of the suite's board by entrant, in their order."""
    manifest = declared(run, absent)
    spec = manifest.leaderboards[0]
    assert isinstance(spec, WeightedRank)
    rows = compute(manifest, spec, evidence.scores).leaderboard.records()
    return {str(row["entrant"]): dict(row) for row in rows}


@pytest.mark.parametrize(("run", "n_values"), [(MIXED, 16), (CLASSES_ONLY, None)])
def test_every_metric_and_the_board_are_lrdbenchs_own(tmp_path: Path, run: str, n_values: int | None) -> None:
    """ROC-AUC, balanced accuracy, true and false positive rate of each discriminator; ranks, scores and components come
    out; whole records are drawn again, whatever their stratum, and what the run claims of itself agrees.
    """
    evidence = taken(tmp_path, run=run)
    theirs = {
        (row["estimator_name"], row["metric_name"]): float(row["value"])
        for row in member(run, "tables/per_stratum_metrics.csv")
        if row["metric_name"] in CLASS_METRICS
    }
    actual, expected = board(evidence, run), member(run, "tables/leaderboard.csv")
    claimed = [claim for claim in evidence.facts.claimed if claim.metric in CLASS_METRICS and claim.table == STRATA]
    (check,) = check_series_claims(declared(run), evidence.scores, claimed)

    assert n_values in (None, len(theirs))
    assert values(evidence) == {key: pytest.approx(value, abs=1e-12) for key, value in theirs.items()}
    assert [(name, row["rank"]) for name, row in actual.items()] == [
        (row["estimator_name"], int(row["rank"])) for row in expected
    ]
    for column in ("score", "metric__roc_auc"):
        assert [row[column] for row in actual.values()] == pytest.approx(
            [float(row[column]) for row in expected], abs=1e-12
        )
    assert all(row["rank_low"] is not None and row["score_lower"] < row["score_upper"] for row in actual.values())  # type: ignore[operator]
    assert check.reason == f"All {len(theirs)} claimed values that can be compared agree."
    assert evidence.warnings == ()


def test_a_false_claim_is_named_with_both_numbers(tmp_path: Path) -> None:
    """And changes no value."""
    false = taken(tmp_path, with_text(METRICS, "roc_auc,0.9166666666666666", "roc_auc,0.99"))
    (differing,) = check_series_claims(declared(), false.scores, false.facts.claimed)

    assert f"{BEST} roc_auc in balanced_global: 0.99 claimed, 0.9166666666666666 computed" in differing.reason
    assert values(false) == values(taken(tmp_path))


def test_a_false_class_and_a_row_of_one_series_are_refused(tmp_path: Path) -> None:
    """The primary truth of the record, which its stratum states, says that there is no dependence; and a single series
    has no area under a curve.
    """
    first = next(row for row in member(MIXED, TRUTHS) if row["target_estimand"] == "lrd_class")
    truth = f"{first['record_id']},lrd_class,1.0"
    line = f"per_series,{member(MIXED, RECORDS)[0]['record_id']},{BEST},validity_rate,1.0"
    (of_class,), (of_one,) = (
        problems(tmp_path, {"run.zip": content}, declared())
        for content in (
            with_text(TRUTHS, truth, truth.replace("1.0", "0.0")),
            with_text(METRICS, line, line.replace("validity_rate", "roc_auc")),
        )
    )

    assert (of_class.column, of_class.value) == ("target_value", "0.0")
    assert "in its stratum, and a series has long-range dependence where that is above 0.5" in of_class.message
    assert "is computed from the estimates and truths of many records" in of_one.message


@pytest.mark.heavy
def test_calling_the_worst_records_invalid_does_not_pay(tmp_path: Path) -> None:
    """Where absence is the worst a record without a score is on the wrong side of all; else it cannot be first."""
    honest = taken(tmp_path)
    label = dict(
        zip((honest.scores.item or honest.scores.task).to_list(), honest.scores.value(CLASS_LABEL), strict=True)
    )

    def withhold(row: Cells) -> Cells:
        is_wrong = (float(row["point"]) >= 0.5) != bool(label[row["record_id"]])
        return {**row, "valid": "False"} if row["estimator_name"] == BEST and is_wrong else row

    kept_back = taken(tmp_path, changed(MIXED, ESTIMATES, withhold))
    before, after = (board(each, absent="worst")[BEST] for each in (honest, kept_back))
    apart = board(kept_back)[BEST]

    assert values(kept_back)[BEST, "balanced_accuracy"] == 1.0
    assert (apart["rank"], apart["n_failed"], apart["may_be_first"]) == (1, after["n_failed"], False)
    assert after["metric__roc_auc"] < before["metric__roc_auc"]  # type: ignore[operator]


def test_leaving_out_the_records_that_one_gets_wrong_loses_the_rank(tmp_path: Path) -> None:
    """Each is a cell of the grid that lacks its value."""
    label = {r["record_id"]: r["target_value"] for r in member(CLASSES_ONLY, TRUTHS)
             if r["target_estimand"] == "lrd_class"}  # fmt: skip

    def leave_out(row: Cells) -> Cells | None:
        is_wrong = (float(row["point"]) >= 0.5) != (float(label[row["record_id"]]) >= 0.5)
        return None if row["estimator_name"] == BEST and is_wrong else row

    kept_back = taken(tmp_path, changed(CLASSES_ONLY, ESTIMATES, leave_out), CLASSES_ONLY)

    assert values(kept_back)[BEST, "balanced_accuracy"] == 1.0
    assert board(kept_back, CLASSES_ONLY)[BEST]["rank"] is None


def test_a_run_without_its_truths_is_told_what_cannot_be_computed(tmp_path: Path) -> None:
    """Its claims of these metrics are compared with nothing, and the component takes the worst rank."""
    evidence = taken(tmp_path, replaced(GIVEN[MIXED], {}, without=(f"{MIXED}/{TRUTHS}",)))

    assert any("roc_auc, balanced_accuracy, true_positive_rate, false_positive_rate cannot be computed" in w.message
               for w in evidence.warnings)  # fmt: skip
    assert [row["metric__roc_auc"] for row in board(evidence).values()] == [None] * 4


def test_a_score_at_the_threshold_is_a_call(tmp_path: Path) -> None:
    """And ties of a score share it: of scores that are all equal the area is one half."""
    equal = changed(MIXED, ESTIMATES, lambda row: {**row, "point": "0.5"} if row["estimator_name"] == BEST else row)
    actual = values(taken(tmp_path, equal))

    assert [actual[BEST, metric] for metric in CLASS_METRICS] == [0.5, 0.5, 1.0, 1.0]
    assert not np.isnan(list(actual.values())).any()


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


def test_a_run_of_classes_alone_needs_its_records_and_one_estimate_of_each(tmp_path: Path) -> None:
    """Without records nothing says in which stratum a series is; annotations that are no object are refused with their
    row; a second estimate could replace the first. There is no value of one series that could be missing, and the
    tables of failures say so.
    """
    first = member(CLASSES_ONLY, RECORDS)[0]["record_id"]
    twice = written(member(CLASSES_ONLY, ESTIMATES)[:1]).splitlines()[1]
    odd = changed(
        CLASSES_ONLY, RECORDS, lambda row: {**row, "annotations_json": "[1]"} if row["record_id"] == first else row
    )
    without, annotated, doubled = (
        problems(tmp_path, {"run.zip": content}, declared(CLASSES_ONLY))
        for content in (
            replaced(GIVEN[CLASSES_ONLY], {}, without=[f"{CLASSES_ONLY}/{RECORDS}"]),
            odd,
            replaced(GIVEN[CLASSES_ONLY], {f"{CLASSES_ONLY}/{ESTIMATES}": (twice, f"{twice}\n{twice}")}),
        )
    )
    tables = {
        table.name: table for table in series_tables(declared(CLASSES_ONLY), taken(tmp_path, None, CLASSES_ONLY).scores)
    }

    assert ["raw/estimates.csv none of a record of raw/records.csv" in each.message for each in without] == [True]
    assert [each.row for each in annotated if each.column == "annotations_json"] == [2]
    assert "has an estimate of this record already" in doubled[0].message
    for name in ("failures", "failure_map"):
        assert (tables[f"tables/{name}"].rows, tables[f"tables/{name}"].notes) == ((), (NO_SERIES,))


def of_other_truths(estimators: set[str], turned: str | None = None) -> bytes:
    """Return the run of some estimators whose strata say no Hurst exponent; one record's class may be turned over."""
    truths, records = member(CLASSES_ONLY, TRUTHS), member(CLASSES_ONLY, RECORDS)
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
            archive.writestr(f"run/raw/{name}.csv", written(rows))
        manifest = "manifest/benchmark_manifest.yaml"
        archive.writestr(f"run/{manifest}", given.read(f"{CLASSES_ONLY}/{manifest}"))
    return packed.getvalue()


def test_a_class_that_no_stratum_tells_is_said_to_be_the_runs_and_cannot_be_turned_later(shared_site: Site) -> None:
    """Else who comes second, or stands first in the alphabet, decides who else is right."""
    slug = make_benchmark(shared_site, CLASSES_ONLY, "untold")
    names = sorted({row["estimator_name"] for row in member(CLASSES_ONLY, ESTIMATES)})
    record = member(CLASSES_ONLY, RECORDS)[0]["record_id"]
    first = submit(shared_site, slug, of_other_truths(set(names[2:])))
    outcomes = [
        {
            check["rule"]: check
            for check in submit(shared_site, slug, of_other_truths(set(names[:2]), turned), "bob")["checks"]
        }
        for turned in (record, None)
    ]
    (own,) = [check for check in first["checks"] if check["rule"] == "classes"]

    assert own["outcome"] == "warned"
    assert own["reason"].startswith("Only this run states the class of 22 of 22 records")
    assert [each["classes"]["outcome"] for each in outcomes] == ["failed", "passed"]
    assert f"{record} is of class 0 here and of 1 in submission {first['id']}" in outcomes[0]["classes"]["reason"]


def test_a_class_that_its_stratum_tells_is_said_to_follow_from_it(shared_site: Site) -> None:
    """Nobody needs to believe the run."""
    slug = make_benchmark(shared_site, CLASSES_ONLY)
    checks = {each["rule"]: each for each in submit(shared_site, slug, GIVEN[CLASSES_ONLY].read_bytes())["checks"]}

    assert checks["classes"]["reason"] == "The class of every record follows from the truth in its stratum."
