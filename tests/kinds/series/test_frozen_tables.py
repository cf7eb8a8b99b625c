"""What one submission of series gets to read, whole: its own numbers, its claims, the contract's leaderboard."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.admission.case import CurrentRecord
from app.admission.claims import SubmissionClaims
from app.boards.example import rows
from app.kinds.series.contract import contract_leaderboard, series_tables
from app.kinds.series.rules import check_records
from app.kinds.series.summary import own_claims, summarise_series
from app.values.scores import Coded
from tests.cases.boards import MIRRORED, given
from tests.cases.evidence_tables import read
from tests.cases.frozen import assert_same, checks_as_text, tables_as_text
from tests.cases.series_runs import LIMITS, SHORT, benchmark, given_manifest, metrics, read_given, series, table, zipped


@pytest.mark.parametrize("run", ["smoke_ground_truth", "small_lrd_model_selection"])
def test_the_own_numbers_of_a_run_are_as_they_were(run: str, tmp_path: Path) -> None:
    """The means over strata, and the check of what the run claims; claimed means of another size differ."""
    manifest, evidence = given_manifest(run), read_given(run, tmp_path)
    own = summarise_series(manifest, evidence.scores)
    means = {row["entrant"]: {str(row["metric"]): 0.5} for row in own.records()}
    checks = [
        (name, own_claims(SubmissionClaims(manifest, evidence.scores, evidence.facts, claims)))
        for name, claims in (("of the run", None), ("of the submitter", means))
    ]

    assert_same(f"series-own-{run}", tables_as_text([own]) + checks_as_text(checks))  # type: ignore[arg-type]


def test_the_leaderboard_of_the_contract_is_as_it_was() -> None:
    """Of one board, and of two whose components differ."""
    errors, rates = (MIRRORED["weighted-rank"][way](given()).leaderboard for way in ("minimize", "maximize"))

    tables = [contract_leaderboard([errors]), contract_leaderboard([errors, rates])]
    assert_same("series-contract", tables_as_text(tables))


@pytest.mark.heavy
def test_the_tables_of_stress_are_as_they_were(tmp_path: Path) -> None:
    """What stress came to, record by record, and what failed."""
    manifest, evidence = given_manifest("rich_stress"), read_given("rich_stress", tmp_path)
    tables = [table for table in series_tables(manifest, evidence.scores)
              if table.name in ("tables/stress_metrics", "tables/failures")]  # fmt: skip

    assert len(tables) == 2
    assert_same("series-stress", tables_as_text(tables))


HELD = rows({"GPH": [0.1, 0.2], "DFA": [0.3, 0.4]}, "mae")
OTHERS = {
    "nobody else": [],
    "the same": [CurrentRecord("a", "a", 3), CurrentRecord("b", "b", 3)],
    "another stratum": [CurrentRecord("a", "c", 3), CurrentRecord("b", "b", 4)],
    "more records": [CurrentRecord(record, record, 5) for record in "abcdefg"],
}


CLASSES = {
    "a truth decides each": ("long_memory_parameter", [1.0, 0.0], []),
    "no truth decides": ("dispersion", [1.0, 0.0], []),
    "one class as another has it": ("dispersion", [1.0, 0.0], [CurrentRecord("a", "a", 3, class_label=1.0)]),
    "the same classes": (
        "dispersion",
        [1.0, 0.0],
        [CurrentRecord("a", "a", 3, class_label=1.0), CurrentRecord("b", "b", 4, class_label=0.0)],
    ),
    "another class": ("dispersion", [1.0, 0.0], [CurrentRecord("b", "b", 3, class_label=1.0)]),
    "no class": ("dispersion", [float("nan")] * 2, [CurrentRecord("b", "b", 3, class_label=1.0)]),
}


def test_the_checks_of_classes_are_as_they_were() -> None:
    """By the truth in the stratum of a record, or by the word of the first run that states it."""
    checks = []
    for name, (estimand, labels, held) in CLASSES.items():
        scores = rows({"GPH": labels}, "class_label")
        stratum = Coded((json.dumps({"target_estimand": estimand}),), np.zeros(2, dtype=np.int64))
        checks.append((name, check_records(replace(scores, recorded={"stratum_json": stratum}), held)))

    assert_same("series-classes", checks_as_text(checks))


def test_the_checks_of_records_are_as_they_were() -> None:
    """Against those of the other estimators: the same ones, others, and more than are named."""
    assert_same("series-records", checks_as_text((name, check_records(HELD, held)) for name, held in OTHERS.items()))


def test_the_tables_of_corrections_and_of_warned_failures_are_as_they_were(tmp_path: Path) -> None:
    """A record with its correction, and one that failed with a warning of the run."""
    about = {"preprocessing_operator": "detrend", "correction_target": "trend"}
    sent = {
        "raw/metrics.csv": metrics(
            series("r1", "RS", "mae", 0.1, SHORT),
            series("r1", "RS", "correction_drift", 0.02, SHORT, **about),
            series("r1", "RS", "cross_estimator_dispersion", 0.3, SHORT),
            series("r2", "RS", "mae", None, SHORT),
        ),
        "raw/estimates.csv": table(
            ("record_id", "estimator_name", "valid", "failure_reason", "point", "warnings"),
            [("r1", "RS", "True", "", "0.6", ""), ("r2", "RS", "False", "too short", "", "few points")],
        ),
    }
    manifest = benchmark("[mae, correction_drift, cross_estimator_dispersion]")
    evidence = read(tmp_path, {"run.zip": zipped(sent)}, manifest, limits=LIMITS)

    assert_same("series-corrections", tables_as_text(series_tables(manifest, evidence.scores)))
