"""Counts of forecasts in evaluation summaries, compared with the manifest's."""

from pathlib import Path

import pytest

from app.errors import ManifestRejected
from app.kinds.registry import kind_of
from tests.cases.evidence_tables import OPEN, make_manifest, problems, read

COLUMNS = "{entrant: model, task: task, n_forecasts: n}"
TASKS = "[{id: easy, n_forecasts: 140}, {id: hard}]"


def file(*counts: str) -> str:
    """Return a row of the task easy and one of hard with the given counts."""
    rows = [f"A,{task},1.0,{count}" for task, count in zip(("easy", "hard"), counts, strict=True)]
    return "\n".join(["model,task,MASE,n", *rows, ""])


@pytest.mark.parametrize(
    ("tasks", "counts"),
    [*((TASKS, (count, "7")) for count in ("140", "140.0", "1.4e2", "")), (TASKS, ("140", "8")), (OPEN, ("141", "8"))],
)
def test_the_declared_count_or_none_is_taken(tmp_path: Path, tasks: str, counts: tuple[str, str]) -> None:
    """However the program writes it; a task without a count takes any, and a row need not say it."""
    assert len(read(tmp_path, {"r.csv": file(*counts)}, make_manifest(tasks, COLUMNS)).scores) == 2


@pytest.mark.parametrize(
    ("counts", "row", "words"),
    [(("141", "7"), 2, "the manifest says 140")]
    + [(("140", count), 3, "whole number") for count in ("1.5", "0", "1e-320", "0.9999")],
)
def test_another_count_or_none_at_all_is_refused_where_it_stands(
    tmp_path: Path, counts: tuple[str, str], row: int, words: str
) -> None:
    """A fraction of a forecast, or none, would make a time of it that is no time."""
    (problem,) = problems(tmp_path, {"r.csv": file(*counts)}, make_manifest(TASKS, COLUMNS))

    assert (problem.row, problem.column, problem.value) == (row, "n", counts[row - 2])
    assert words in problem.message


def test_the_example_upload_has_the_declared_count() -> None:
    """Another one would be refused."""
    declared = make_manifest(TASKS, COLUMNS)
    example = kind_of(declared).pages.example(declared)

    assert example is not None
    assert {each.name: each.cell for each in example.columns}["n"] == "140"


def test_a_count_that_no_column_says_is_refused_in_a_manifest() -> None:
    """It could never be compared with anything."""
    with pytest.raises(ManifestRejected) as refused:
        make_manifest(TASKS)

    assert "columns.n_forecasts" in refused.value.problems[0].message
