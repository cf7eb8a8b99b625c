"""The preset fev on fev's own result files."""

import csv
import io
from pathlib import Path

import pytest

from app.errors import EvidenceRejected
from app.files.uploads import SentFile
from app.kinds.reader import Evidence, read_evidence
from app.kinds.summary.from_fev import manifest_from_fev_tasks
from app.manifest.model import Manifest
from tests.cases.evidence_tables import FEV, LIMITS, parse, problems, read

OLD_NAMES = {
    "num_windows": "num_rolling_windows",
    "window_step_size": "rolling_step_size",
    "initial_cutoff": "cutoff",
    "target": "target_column",
    "generate_univariate_targets_from": "multiple_target_columns",
}


@pytest.fixture(scope="module")
def manifest() -> Manifest:
    """Return fev-bench as imported from fev's task lists."""
    lists = [(FEV / name).read_bytes() for name in ("tasks.yaml", "tasks_mini.yaml")]
    return parse(manifest_from_fev_tasks(lists[0], lists[1], "fev-bench", "fev-bench"))


@pytest.fixture(scope="module")
def evidence(manifest: Manifest) -> Evidence:
    """Return every given result file as one submission."""
    uploads = [SentFile(path.name, path) for path in sorted((FEV / "results").glob("*.csv"))]
    return read_evidence(manifest, uploads, None, LIMITS)


def table(name: str, **changes: str) -> str:
    """Return the first row of a result file with some columns changed or, where it has none, added."""
    row = next(csv.DictReader((FEV / "results" / name).read_text().splitlines()))
    row |= changes
    text = io.StringIO()
    writer = csv.DictWriter(text, row, lineterminator="\n")
    writer.writeheader()
    writer.writerow(row)
    return text.getvalue()


@pytest.mark.heavy
def test_every_given_row_is_accepted(evidence: Evidence) -> None:
    """30 models on 100 tasks, 15 failures, 56 rows of models that saw the data."""
    scores = evidence.scores

    assert (len(scores), len(scores.entrant.words), len(scores.task.words)) == (2985, 30, 100)
    assert int(scores.leaked.sum()) == 56
    assert len({scores.entrant.codes[row] for row in scores.leaked.nonzero()[0]}) == 6
    assert [file.n_rows for file in evidence.files if file.name == "toto-2_0.csv"] == [500]


def test_values_are_those_of_the_files(evidence: Evidence) -> None:
    """Read by another reader of CSV, every metric and measured quantity is the same to the last bit."""
    scores = evidence.scores
    columns = {
        "training_time_s": "training_time_s",
        "inference_time_s": "inference_time_s",
        "n_forecasts": "num_forecasts",
    }
    files = [list(csv.DictReader((FEV / "results" / f.name).read_text().splitlines())) for f in evidence.files]
    wanted = [
        [float(row.get(columns.get(name, name)) or "nan") for name in scores.columns] for rows in files for row in rows
    ]

    assert scores.columns == ("SQL", "MASE", "WAPE", "WQL", "training_time_s", "inference_time_s", "n_forecasts")
    assert str(scores.values.tolist()) == str(wanted)


def test_fingerprints_are_recorded(evidence: Evidence) -> None:
    """They disagree between models on every task and are no reason to refuse."""
    assert len(evidence.scores.recorded["dataset_fingerprint"].words) == 374


def test_warnings_say_what_a_file_lacks(evidence: Evidence) -> None:
    """One file does not count its forecasts and has columns of its own; the others are as usual."""
    assert [(w.file, w.column, w.message) for w in evidence.warnings] == [
        ("citras-fm.csv", "num_forecasts", "no column num_forecasts: n_forecasts is unknown"),
        (
            "citras-fm.csv",
            None,
            "columns that this benchmark does not read were ignored: model_config, forward_time_s",
        ),
    ]


def test_a_file_of_another_benchmark_is_refused_row_by_row(manifest: Manifest) -> None:
    """27 rows, 27 problems, each with its own row and what no task of the benchmark has."""
    path = FEV / "rejected" / "timecopilot.csv"
    with pytest.raises(EvidenceRejected) as refused:
        read_evidence(manifest, [SentFile(path.name, path)], None, LIMITS)

    assert refused.value.n_problems == 27
    assert [problem.row for problem in refused.value.problems] == list(range(2, 29))
    assert {problem.column for problem in refused.value.problems} == {"task_name"}
    assert "min_context_length -23" in refused.value.problems[0].message


def test_a_wrong_context_length_is_one_problem_a_row(manifest: Manifest, tmp_path: Path) -> None:
    """On a task that the benchmark has, the column that differs is named."""
    (problem,) = problems(tmp_path, {"r.csv": table("drift.csv", min_context_length="-23")}, manifest)

    assert (problem.row, problem.column, problem.value) == (2, "min_context_length", "-23")
    assert problem.message == "-23 is not the min_context_length of task ETT_15T; expected 1"


def test_old_column_names_are_read(manifest: Manifest, tmp_path: Path) -> None:
    """Files of older releases of fev are accepted."""
    text = table("drift.csv")
    header, rest = text.split("\n", 1)
    renamed = ",".join(OLD_NAMES.get(name, name) for name in header.split(","))

    assert len(read(tmp_path, {"r.csv": f"{renamed}\n{rest}"}, manifest).scores) == 1


@pytest.mark.parametrize(("new", "old"), [("num_windows", "num_rolling_windows"), ("target", "target_column")])
def test_a_row_with_an_old_and_a_new_name_is_refused(manifest: Manifest, tmp_path: Path, new: str, old: str) -> None:
    """Which of the two is meant would be a guess."""
    row = next(csv.DictReader((FEV / "results" / "drift.csv").read_text().splitlines()))

    (problem,) = problems(tmp_path, {"r.csv": table("drift.csv", **{old: row[new]})}, manifest)

    assert (problem.row, problem.column) == (2, old)
    assert problem.message == f"a deprecated name of {new}, which the row has too; send one of them"


def test_a_row_with_one_of_both_names_is_read(manifest: Manifest, tmp_path: Path) -> None:
    """Joined tables have both columns, each row only one of them."""
    row = next(csv.DictReader((FEV / "results" / "drift.csv").read_text().splitlines()))
    joined = table("drift.csv", num_rolling_windows=row["num_windows"], num_windows="")

    assert len(read(tmp_path, {"r.csv": joined}, manifest).scores) == 1


@pytest.mark.parametrize(
    "levels", ["[0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9]", "[0.1, 0.2, 0.30000000000000004, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]"]
)
def test_quantile_levels_agree_to_four_places(manifest: Manifest, tmp_path: Path, levels: str) -> None:
    """Levels that were computed are the same levels."""
    assert len(read(tmp_path, {"r.csv": table("drift.csv", quantile_levels=levels)}, manifest).scores) == 1


def test_other_quantile_levels_are_refused(manifest: Manifest, tmp_path: Path) -> None:
    """A level that differs in the third place is another task."""
    levels = "[0.101, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]"

    (problem,) = problems(tmp_path, {"r.csv": table("drift.csv", quantile_levels=levels)}, manifest)

    assert problem.column == "quantile_levels"
