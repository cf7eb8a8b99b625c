"""Times per forecast on boards of skill scores: whose count of forecasts counts."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from app.boards.methods.skill_score import _median
from app.boards.registry import compute_board
from app.kinds.parse import parse_manifest
from app.manifest.model import Manifest
from app.values.scores import ScoreTable
from app.values.table import Table
from tests.cases.fev_rows import FEV, fev_scores

TIME = "median_e2e_time_s_per100"
EXAMPLE = FEV.parents[2] / "examples" / "fev-bench" / "manifest.yaml"


def manifest(*, counted: bool) -> Manifest:
    """Return the example's manifest, with the counts of forecasts of its result files or without any."""
    declared = parse_manifest(EXAMPLE.read_bytes())
    assert isinstance(declared.tasks, list)
    counts = counts_of(fev_scores()) if counted else dict.fromkeys(declared.task_ids() or ())
    tasks = [task.model_copy(update={"n_forecasts": counts[task.id]}) for task in declared.tasks]
    return declared.model_copy(update={"tasks": tasks})


def counts_of(scores: ScoreTable) -> dict[str, int | None]:
    """Return the largest count of each task; on fev-bench all are equal."""
    counts = scores.value("n_forecasts")
    return {task: int(np.nanmax(counts[scores.task.codes == at])) for at, task in enumerate(scores.task.words)}


def with_count(scores: ScoreTable, entrant: str, factor: float) -> ScoreTable:
    """Return rows in which one entrant states other counts."""
    values = scores.values.copy()
    mine = scores.entrant.codes == scores.entrant.words.index(entrant)
    values[mine, scores.columns.index("n_forecasts")] *= factor
    return replace(scores, values=values)


def board(declared: Manifest, scores: ScoreTable, tasks: list[str] | None = None) -> Table:
    """Return the board of SQL."""
    changes = {
        "tasks": tasks,
        "uncertainty": declared.leaderboard("sql").uncertainty.model_copy(update={"n_resamples": 100}),
    }
    return compute_board(declared, declared.leaderboard("sql").model_copy(update=changes), scores).leaderboard


def times(table: Table) -> dict[str, float]:
    """Return each entrant's time."""
    return {row["entrant"]: row[TIME] for row in table.records()}


@pytest.mark.heavy
def test_the_manifests_count_decides_whatever_a_row_says() -> None:
    """Evidence that came before the manifest said how many does not change a time."""
    declared = manifest(counted=True)

    assert times(board(declared, with_count(fev_scores(), "Drift", 50.0))) == times(board(declared, fev_scores()))


def test_without_a_declared_count_the_times_are_those_of_agreeing_rows() -> None:
    """fev's own times come out from the rows alone."""
    expected = pd.read_csv(FEV / "expected" / "leaderboard_SQL_impute_leak_n1000.csv", index_col="model_name")[TIME]

    ours = pd.Series(times(board(manifest(counted=False), fev_scores())))[expected.index]

    assert np.abs(ours - expected).max() < 1e-12


def test_less_time_is_better() -> None:
    """Of every time, shown or not: by it a column is sorted and a front is drawn."""
    columns = board(manifest(counted=False), fev_scores()).columns

    assert {each.direction for each in columns if each.name.startswith("median_")} == {"minimize"}


@pytest.mark.heavy
@pytest.mark.parametrize("factor", [50.0])
def test_one_entrants_count_makes_nobodys_time_another(factor: float) -> None:
    """Times are null and flagged with who says what, instead of divided by the largest count."""
    table = board(manifest(counted=False), with_count(fev_scores(), "Drift", factor))

    assert set(times(table).values()) == {None}
    assert table.meta["time_reason"] == "forecast_counts_differ"
    assert any("by Drift" in note and "and on 97 more tasks" in note for note in table.notes)


@pytest.mark.parametrize("n_tasks", [1, 2, 7, 8])
def test_a_median_is_over_the_tasks_that_have_a_time(n_tasks: int) -> None:
    """It equals numpy's of those times to the digit, and is NaN where there is none."""
    rng = np.random.default_rng(n_tasks)
    times = np.where(rng.random((n_tasks, 60)) < 0.4, np.nan, rng.exponential(size=(n_tasks, 60)))
    expected = [np.median(own[~np.isnan(own)]) if (~np.isnan(own)).any() else np.nan for own in times.T]
    np.testing.assert_array_equal(_median(times), expected)


def test_a_task_of_which_every_count_is_zero_is_named() -> None:
    """Nobody has a time per forecast on it, and the board says why."""
    scores = fev_scores()
    values = scores.values.copy()
    values[scores.task.codes == 0, scores.columns.index("n_forecasts")] = 0.0
    table = board(manifest(counted=False), replace(scores, values=values), list(scores.task.words[:3]))

    assert (
        f"No time per forecast on {scores.task.words[0]}: every count sent there is of less than one forecast."
        in table.notes
    )
