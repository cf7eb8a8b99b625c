"""Runs that MLflow tracked, as rows to submit; the table was written by MLflow itself."""

from pathlib import Path

import pandas as pd
import pytest

import plumbline
from app.errors import EvidenceRejected
from tests.cases.harnesses import SUMMARY, read

RUNS = Path(__file__).parents[1] / "data" / "run_tables" / "mlflow_runs.csv"


def finished() -> pd.DataFrame:
    """Return the runs that finished."""
    frame = pd.read_csv(RUNS)
    return frame[frame["status"] == "FINISHED"]


def test_runs_are_rows_of_their_model_and_data_set(tmp_path: Path) -> None:
    """The frame is submitted as CSV, and a benchmark of summaries takes it."""
    rows = plumbline.from_mlflow(finished(), entrant="params.model", task="params.dataset")
    path = tmp_path / "rows.csv"
    rows.to_csv(path, index=False)
    scores = read([path], SUMMARY.format(column="accuracy")).scores

    assert list(rows.columns) == ["entrant", "task", "run_id", "accuracy", "loss"]
    actual = dict(zip(zip(scores.entrant.to_list(), scores.task.to_list(), strict=True), scores.value("score").tolist(),
                     strict=True))  # fmt: skip
    assert actual == {("large", "sst2"): 0.85, ("large", "imdb"): 0.9, ("small", "sst2"): 0.7, ("small", "imdb"): 0.8}


def test_a_run_that_did_not_finish_is_refused_with_its_row() -> None:
    """What it logged may be half of it."""
    with pytest.raises(EvidenceRejected) as refused:
        plumbline.from_mlflow(RUNS, entrant="params.model", task="params.dataset")

    assert [(each.column, each.value, each.file) for each in refused.value.problems] == [
        ("status", "FAILED", "mlflow_runs.csv")
    ]


def test_two_runs_of_one_entrant_and_task_are_refused() -> None:
    """The best of several is not a result."""
    twice = pd.concat([finished(), finished().head(1)])
    with pytest.raises(EvidenceRejected) as refused:
        plumbline.from_mlflow(twice, entrant="params.model", task="params.dataset")

    assert [each.row for each in refused.value.problems] == [6]


@pytest.mark.parametrize(
    ("columns", "missing"),
    [({"entrant": "params.name", "task": "params.dataset"}, "params.name"),
     ({"entrant": "params.model", "task": "params.dataset", "metrics": ["f1"]}, "metrics.f1")],
)  # fmt: skip
def test_a_column_that_is_not_there_is_named_beside_those_that_are(columns: dict[str, str], missing: str) -> None:
    """With what the table has."""
    with pytest.raises(EvidenceRejected) as refused:
        plumbline.from_mlflow(finished(), **columns)  # type: ignore[arg-type]

    assert [each.column for each in refused.value.problems] == [missing]
    assert "params.model" in refused.value.problems[0].message


def test_another_table_is_refused() -> None:
    """One without metrics."""
    with pytest.raises(EvidenceRejected, match="cannot be submitted"):
        plumbline.from_mlflow(pd.DataFrame({"a": [1]}), entrant="a", task="a")
