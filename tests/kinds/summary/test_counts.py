"""Counts of forecasts in evaluation summaries, compared with the manifest's."""

from pathlib import Path

import pytest

from app.errors import ManifestRejected
from tests.cases.evidence_tables import make_manifest, problems, read

COLUMNS = "{entrant: model, task: task, n_forecasts: n}"
TASKS = "[{id: easy, n_forecasts: 140}, {id: hard}]"


def file(*counts: str) -> str:
    """Return a row of the task easy and one of hard with the given counts."""
    rows = [f"A,{task},1.0,{count}" for task, count in zip(("easy", "hard"), counts, strict=True)]
    return "\n".join(["model,task,MASE,n", *rows, ""])


@pytest.mark.parametrize("count", ["140", "140.0", "1.4e2", ""])
def test_the_declared_count_or_none_is_taken(tmp_path: Path, count: str) -> None:
    """However the program writes it; a row need not say it."""
    evidence = read(tmp_path, {"r.csv": file(count, "7")}, make_manifest(TASKS, COLUMNS))

    assert len(evidence.scores) == 2


def test_another_count_is_refused_where_it_stands(tmp_path: Path) -> None:
    """With the row, the count and the manifest's."""
    (problem,) = problems(tmp_path, {"r.csv": file("141", "7")}, make_manifest(TASKS, COLUMNS))

    assert (problem.row, problem.column, problem.value) == (2, "n", "141")
    assert "the manifest says 140" in problem.message


@pytest.mark.parametrize("count", ["1.5", "0", "1e-320", "0.9999"])
def test_what_is_no_count_is_refused_also_without_a_declared_one(tmp_path: Path, count: str) -> None:
    """A fraction of a forecast, or none, would make a time of it that is no time."""
    (problem,) = problems(tmp_path, {"r.csv": file("140", count)}, make_manifest(TASKS, COLUMNS))

    assert (problem.row, problem.column, problem.value) == (3, "n", count)
    assert "whole number" in problem.message


@pytest.mark.parametrize("tasks", [TASKS, "{open: true}"])
def test_an_undeclared_task_takes_any_whole_count(tmp_path: Path, tasks: str) -> None:
    """Nobody is refused because of what somebody else sent."""
    for count in ("7", "8"):
        assert len(read(tmp_path, {"r.csv": file("140", count)}, make_manifest(tasks, COLUMNS)).scores) == 2


def test_a_count_that_no_column_says_is_refused_in_a_manifest() -> None:
    """It could never be compared with anything."""
    with pytest.raises(ManifestRejected) as refused:
        make_manifest(TASKS)

    assert "columns.n_forecasts" in refused.value.problems[0].message
