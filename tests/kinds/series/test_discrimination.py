"""Suites of model selection: ROC-AUC and the other metrics of classes, made from the estimates and truths of a run."""

import csv
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from app.boards.methods.weighted_rank.method import compute
from app.boards.methods.weighted_rank.records import CLASS_LABEL, CLASS_METRICS, WeightedRank, discriminations
from app.kinds.parse import parse_manifest
from app.kinds.reader import Evidence
from app.kinds.series.claims import STRATA
from app.kinds.series.from_lrdbench import manifest_from_lrdbench
from app.kinds.series.summary import check_series_claims
from app.manifest.model import Manifest
from tests.cases.evidence_tables import problems, read
from tests.cases.series_runs import GIVEN, LIMITS, MANIFESTS, member
from tests.cases.zips import replaced

RUN = "small_lrd_model_selection"
BEST = "ICModelSelectDiscriminator"
METRICS, ESTIMATES, TRUTHS = (f"{RUN}/raw/{name}.csv" for name in ("metrics", "estimates", "truths"))
Cells = dict[str, str]


def declared(absent: str = "unranked") -> Manifest:
    """Return the run's suite as a benchmark whose grid is the run's records."""
    created = manifest_from_lrdbench((MANIFESTS / f"{RUN}.yaml").read_bytes())
    # A run time has no worst value, so it cannot rank where absence counts as the worst.
    created = created.replace(b"0.1, runtime: 0.1}", b"0.2}") if absent == "worst" else created
    records = ", ".join(row["record_id"] for row in member(RUN, "raw/records.csv"))
    return parse_manifest(created + f"grid: {{absent: {absent}, items: [{records}]}}\n".encode())


def taken(folder: Path, **changes: tuple[str, str] | None) -> Evidence:
    """Read the run, some text of its files changed, as a submission to its own benchmark."""
    named = {"metrics": METRICS, "estimates": ESTIMATES, "truths": TRUTHS}
    content = replaced(GIVEN[RUN], {named[name]: change for name, change in changes.items()})
    return read(folder, {"run.zip": content}, declared(), limits=LIMITS)


def with_estimates(folder: Path, change: Callable[[Cells], Cells]) -> Evidence:
    """Read the run with other rows of estimates."""
    before = member(RUN, "raw/estimates.csv")
    text, old = io.StringIO(), io.StringIO()
    for out, rows in ((old, before), (text, [change(dict(row)) for row in before])):
        writer = csv.DictWriter(out, before[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return taken(folder, estimates=(old.getvalue(), text.getvalue()))


def values(evidence: Evidence) -> dict[tuple[str, str], float]:
    """Return each metric of classes by estimator."""
    return {(a.estimator, a.metric): a.value for a in discriminations(evidence.scores, CLASS_METRICS)}


def board(evidence: Evidence, absent: str = "unranked") -> list[dict[str, object]]:
    """Return the board of the suite."""
    manifest = declared(absent)
    spec = manifest.leaderboards[0]
    assert isinstance(spec, WeightedRank)
    return [dict(row) for row in compute(manifest, spec, evidence.scores).leaderboard.records()]


def test_every_metric_is_lrdbenchs_own(tmp_path: Path) -> None:
    """ROC-AUC, balanced accuracy, true and false positive rate of four discriminators."""
    theirs = {
        (row["estimator_name"], row["metric_name"]): float(row["value"])
        for row in member(RUN, "tables/per_stratum_metrics.csv")
        if row["metric_name"] in CLASS_METRICS
    }
    ours = values(taken(tmp_path))

    assert len(theirs) == 16
    assert ours == {key: pytest.approx(value, abs=1e-12) for key, value in theirs.items()}


def test_the_board_is_lrdbenchs_own_with_intervals_of_the_ranks(tmp_path: Path) -> None:
    """Ranks, scores and components come out; whole records are drawn again, whatever their stratum."""
    actual, theirs = board(taken(tmp_path)), member(RUN, "tables/leaderboard.csv")

    assert [(row["entrant"], row["rank"]) for row in actual] == [
        (row["estimator_name"], int(row["rank"])) for row in theirs
    ]
    for column in ("score", "metric__roc_auc"):
        assert [row[column] for row in actual] == pytest.approx([float(row[column]) for row in theirs], abs=1e-12)
    assert all(row["rank_low"] is not None and row["score_lower"] < row["score_upper"] for row in actual)  # type: ignore[operator]


def test_what_the_run_claims_of_them_is_compared(tmp_path: Path) -> None:
    """An honest claim agrees, a false one is named with both numbers."""
    honest = taken(tmp_path)
    false = taken(tmp_path, metrics=("roc_auc,0.9166666666666666", "roc_auc,0.99"))
    claimed = [claim for claim in honest.facts.claimed if claim.metric in CLASS_METRICS and claim.table == STRATA]
    (agreeing,) = check_series_claims(declared(), honest.scores, claimed)
    (differing,) = check_series_claims(declared(), false.scores, false.facts.claimed)

    assert agreeing.reason == "All 16 claimed values that can be compared agree."
    assert f"{BEST} roc_auc in balanced_global: 0.99 claimed, 0.9166666666666666 computed" in differing.reason
    assert values(false) == values(honest)


def test_a_false_class_is_refused(tmp_path: Path) -> None:
    """The primary truth of the record, which its stratum states, says that there is no dependence."""
    first = next(row for row in member(RUN, "raw/truths.csv") if row["target_estimand"] == "lrd_class")
    line = f"{first['record_id']},lrd_class,1.0"
    content = replaced(GIVEN[RUN], {TRUTHS: (line, line.replace("1.0", "0.0"))})
    (problem,) = problems(tmp_path, {"run.zip": content}, declared())

    assert (problem.column, problem.value) == ("target_value", "0.0")
    assert "in its stratum, and a series has long-range dependence where that is above 0.5" in problem.message


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

    kept_back = with_estimates(tmp_path, withhold)
    before, after = ({row["entrant"]: row for row in board(e, "worst")}[BEST] for e in (honest, kept_back))
    apart = {row["entrant"]: row for row in board(kept_back)}[BEST]

    assert values(kept_back)[BEST, "balanced_accuracy"] == 1.0
    assert (apart["rank"], apart["n_failed"], apart["may_be_first"]) == (1, after["n_failed"], False)
    assert after["metric__roc_auc"] < before["metric__roc_auc"]  # type: ignore[operator]


def test_a_run_without_its_truths_is_told_what_cannot_be_computed(tmp_path: Path) -> None:
    """Its claims of these metrics are compared with nothing, and the component takes the worst rank."""
    content = replaced(GIVEN[RUN], {}, without=(TRUTHS,))
    evidence = read(tmp_path, {"run.zip": content}, declared(), limits=LIMITS)

    assert any("roc_auc, balanced_accuracy, true_positive_rate, false_positive_rate cannot be computed" in w.message
               for w in evidence.warnings)  # fmt: skip
    assert [row["metric__roc_auc"] for row in board(evidence)] == [None] * 4


def test_a_row_of_one_series_is_refused(tmp_path: Path) -> None:
    """A single series has no area under a curve."""
    (line,) = [f"per_series,{row['record_id']},{BEST},validity_rate,1.0" for row in member(RUN, "raw/records.csv")][:1]
    content = replaced(GIVEN[RUN], {METRICS: (line, line.replace("validity_rate", "roc_auc"))})
    (problem,) = problems(tmp_path, {"run.zip": content}, declared())

    assert "is computed from the estimates and truths of many records" in problem.message


def test_a_score_at_the_threshold_is_a_call(tmp_path: Path) -> None:
    """And ties of a score share it: of scores that are all equal the area is one half."""
    evidence = with_estimates(tmp_path, lambda row: {**row, "point": "0.5"} if row["estimator_name"] == BEST else row)
    actual = values(evidence)

    assert [actual[BEST, metric] for metric in CLASS_METRICS] == [0.5, 0.5, 1.0, 1.0]
    assert not np.isnan(list(actual.values())).any()
