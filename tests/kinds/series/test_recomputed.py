"""Per-series values made again from the estimates and the truths of the given runs."""

from pathlib import Path

import numpy as np
import pytest

from app.kinds.reader import Evidence
from app.kinds.series.manifest_part import Pair, RecordEstimate
from tests.cases.evidence_tables import problems, read
from tests.cases.series_runs import GIVEN, LIMITS, Cells, changed, given_manifest, member

RUN = "public_small_canonical_ground_truth"
STRESS, NULLS = "public_small_stress_contamination", "public_small_null_false_positive"


def taken(folder: Path, content: bytes, run: str = RUN) -> Evidence:
    """Read a run as a submission to its own benchmark."""
    return read(folder, {"run.zip": content}, given_manifest(run), limits=LIMITS)


def differing(evidence: Evidence) -> list[str]:
    """Return what is said of values that do not follow."""
    return [w.message for w in evidence.warnings if "do not follow from the run's estimates" in w.message]


@pytest.mark.parametrize("run", sorted(GIVEN))
@pytest.mark.heavy
def test_every_value_of_an_honest_run_comes_out_again(tmp_path: Path, run: str) -> None:
    """mae, bias, rmse, coverage, width, availability, validity and run time, to 1e-9."""
    evidence = read(tmp_path, {f"{run}.zip": GIVEN[run].read_bytes()}, given_manifest(run), limits=LIMITS)

    assert differing(evidence) == []


def test_errors_made_smaller_in_the_metrics_do_not_count(tmp_path: Path) -> None:
    """One estimator's mae at a hundredth, beside the honest estimates and truths."""

    def shrink(row: Cells) -> Cells:
        is_mine = row["scope"] == "per_series" and (row["estimator_name"], row["metric_name"]) == ("RS", "mae")
        return {**row, "value": str(float(row["value"]) / 100)} if is_mine and row["value"] else row

    honest = taken(tmp_path, GIVEN[RUN].read_bytes())
    evidence = taken(tmp_path, changed(RUN, "raw/metrics.csv", shrink))

    assert np.array_equal(evidence.scores.value("mae"), honest.scores.value("mae"), equal_nan=True)
    (message,) = differing(evidence)
    assert "RS mae of" in message


@pytest.mark.parametrize("leave", ["empty", "out"])
def test_errors_that_are_left_out_are_made_all_the_same(tmp_path: Path, leave: str) -> None:
    """Neither an empty cell nor a row that is not there takes the worst records out of a mean."""
    record = member(RUN, "raw/estimates.csv")[0]["record_id"]

    def hide(row: Cells) -> Cells | None:
        if (row["scope"], row["metric_name"], row["estimator_name"]) != ("per_series", "mae", "RS"):
            return row
        if row["record_id"] != record:
            return row
        return {**row, "value": ""} if leave == "empty" else None

    honest = taken(tmp_path, GIVEN[RUN].read_bytes())
    evidence = taken(tmp_path, changed(RUN, "raw/metrics.csv", hide))

    assert np.array_equal(evidence.scores.value("mae"), honest.scores.value("mae"), equal_nan=True)


def test_a_value_without_an_estimate_is_none(tmp_path: Path) -> None:
    """What the metrics state of a record that the estimator never estimated is null."""
    record = member(RUN, "raw/estimates.csv")[0]["record_id"]
    content = changed(
        RUN, "raw/estimates.csv", lambda r: None if (r["record_id"], r["estimator_name"]) == (record, "RS") else r
    )
    scores = taken(tmp_path, content).scores
    assert scores.item is not None
    at = [
        at for at in range(len(scores)) if (scores.item.at(at), scores.entrant.at(at)) == (record, "RS")
    ]  # fmt: skip

    assert np.isnan(scores.value("mae")[at]).all()


def test_an_invalid_estimate_has_validity_zero_whatever_is_stated(tmp_path: Path) -> None:
    """The flag of the estimate counts, and its errors are null."""
    record = member(RUN, "raw/estimates.csv")[0]["record_id"]

    def invalid(row: Cells) -> Cells:
        return {**row, "valid": "False"} if (row["record_id"], row["estimator_name"]) == (record, "RS") else row

    scores = taken(tmp_path, changed(RUN, "raw/estimates.csv", invalid)).scores
    assert scores.item is not None
    (at,) = [at for at in range(len(scores)) if (scores.item.at(at), scores.entrant.at(at)) == (record, "RS")]

    assert scores.value("validity_rate")[at] == 0.0
    assert np.isnan(scores.value("mae")[at])


def test_a_truth_of_ones_own_is_refused(tmp_path: Path) -> None:
    """The primary truth of a record is in its stratum, which every run shares."""
    first = member(RUN, "raw/truths.csv")[0]

    def easier(row: Cells) -> Cells:
        return {**row, "target_value": "0.123"} if row == first else row

    actual = problems(tmp_path, {"run.zip": changed(RUN, "raw/truths.csv", easier)}, given_manifest(RUN))

    assert [(p.row, p.column, p.value) for p in actual] == [(2, "target_value", "0.123")]
    assert "in its stratum" in actual[0].message


@pytest.mark.heavy
@pytest.mark.parametrize("metric", ["estimate_drift", "relative_degradation_ratio"])
@pytest.mark.parametrize("how", ["smaller", "out"])
def test_what_stress_did_is_made_from_both_estimates(tmp_path: Path, metric: str, how: str) -> None:
    """Neither a smaller value nor a row that is left out counts: the pair of estimates says what it was."""
    mine = [row for row in member(STRESS, "raw/metrics.csv")
            if (row["scope"], row["metric_name"], row["estimator_name"]) == ("per_series", metric, "RS")]  # fmt: skip
    worst = max(mine, key=lambda row: float(row["value"] or 0.0))

    def forge(row: Cells) -> Cells | None:
        if row != worst:
            return row
        return None if how == "out" else {**row, "value": "0.001"}

    honest = taken(tmp_path, GIVEN[STRESS].read_bytes(), STRESS)
    evidence = taken(tmp_path, changed(STRESS, "raw/metrics.csv", forge), STRESS)

    assert np.array_equal(evidence.scores.value(metric), honest.scores.value(metric), equal_nan=True)
    assert bool(differing(evidence)) == (how == "smaller")


def test_the_errors_of_a_ratio_are_those_of_both_estimates() -> None:
    """Of a series under stress and of the clean one; nothing where one of them is invalid."""
    stressed, clean = (RecordEstimate(True, point, (None, None), (), None) for point in (0.9, 0.6))
    invalid = RecordEstimate(False, 0.6, (None, None), (), None)

    assert Pair(stressed, clean, 0.5).errors() == pytest.approx((0.4, 0.1))
    assert np.isnan(Pair(stressed, invalid, 0.5).errors()).all()
    assert Pair(stressed, clean, 0.5).value("relative_degradation_ratio") == pytest.approx(4.0)
    assert Pair(stressed, clean, 0.5).value("absolute_error_inflation") == pytest.approx(0.3)
    assert Pair(stressed, clean, 0.6).value("relative_degradation_ratio") is None  # a clean error of next to nothing
    assert Pair(invalid, clean, 0.5).value("validity_collapse") == 1.0


def test_a_false_positive_cannot_be_left_out(tmp_path: Path) -> None:
    """An estimate from 0.6 on of a series without dependence is one, whether a row says so or not."""

    def hide(row: Cells) -> Cells | None:
        is_one = (row["scope"], row["metric_name"]) == ("per_series", "false_positive_lrd_rate")
        return None if is_one and float(row["value"] or 0) == 1.0 else row

    honest = taken(tmp_path, GIVEN[NULLS].read_bytes(), NULLS)
    evidence = taken(tmp_path, changed(NULLS, "raw/metrics.csv", hide), NULLS)
    rate = honest.scores.value("false_positive_lrd_rate")

    assert np.nansum(rate) > 0
    assert np.array_equal(evidence.scores.value("false_positive_lrd_rate"), rate, equal_nan=True)
