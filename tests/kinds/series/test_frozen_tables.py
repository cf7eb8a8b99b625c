"""What one submission of series gets to read, whole: its own numbers, its claims, the contract's leaderboard."""

from pathlib import Path

import pytest

from app.admission.claims import SubmissionClaims
from app.kinds.series.contract import series_tables
from app.kinds.series.summary import own_claims, summarise_series
from tests.cases.evidence_tables import read
from tests.cases.frozen import assert_same, checks_as_text, tables_as_text
from tests.cases.series_runs import LIMITS, SHORT, benchmark, given_manifest, metrics, read_given, series, table, zipped


@pytest.mark.parametrize("run", ["smoke_ground_truth"])
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


@pytest.mark.heavy
def test_the_tables_of_stress_are_as_they_were(tmp_path: Path) -> None:
    """What stress came to, record by record, and what failed."""
    manifest, evidence = given_manifest("rich_stress"), read_given("rich_stress", tmp_path)
    tables = [table for table in series_tables(manifest, evidence.scores)
              if table.name in ("tables/stress_metrics", "tables/failures")]  # fmt: skip

    assert len(tables) == 2
    assert_same("series-stress", tables_as_text(tables))


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
