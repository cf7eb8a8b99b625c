"""The boards of the MTEB example against MTEB's own ranks, points and means, for every one of 324 models."""

from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from app.boards.methods.mean import Mean
from app.boards.registry import compute_board
from app.boards.tables import BoardTables
from app.kinds.parse import parse_manifest
from app.manifest.model import Manifest
from app.values.scores import ScoreTable
from app.values.table import Table
from tests.cases.fev_rows import to_scores

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "mteb-eng-v2"


@cache
def manifest() -> Manifest:
    """Return the manifest of the example."""
    return parse_manifest((EXAMPLE / "manifest.yaml").read_bytes())


@cache
def rows() -> ScoreTable:
    """Return the rows of the example."""
    read = pd.read_csv(EXAMPLE / "results" / "eng_v2.csv")
    named = read.rename(columns={"model": "model_name", "task": "task_name"})
    absent = dict.fromkeys(("training_time_s", "inference_time_s", "num_forecasts"), float("nan"))
    return to_scores(named.assign(trained_on_this_dataset=False, **absent), ["main_score"])


@cache
def board(name: str) -> BoardTables:
    """Compute a board of the example."""
    return compute_board(manifest(), manifest().leaderboard(name), rows())


@cache
def expected() -> pd.DataFrame:
    """Return what MTEB computes, by model."""
    return pd.read_csv(ROOT / "tests" / "data" / "mteb" / "eng_v2_summary.csv", index_col="model")


def by_entrant(table: Table) -> dict[str, dict[str, Any]]:
    """Return a board's rows by entrant."""
    return {str(row["entrant"]): dict(row) for row in table.records()}


def test_every_borda_rank_equals_mtebs() -> None:
    """Ranks and points of all 324, of those without every task too."""
    actual = by_entrant(board("borda").leaderboard)
    ours = {name: (row["rank"], row["borda_points"]) for name, row in actual.items()}

    assert ours == {name: (row.rank_borda, row.borda_points) for name, row in expected().iterrows()}


def test_every_mean_over_tasks_equals_mtebs() -> None:
    """To twelve digits where a model has every task, and none where it lacks one."""
    actual = by_entrant(board("borda").leaderboard)
    theirs = expected().mean_task

    assert {name for name, row in actual.items() if row["mean_main_score"] is None} == set(theirs[theirs.isna()].index)
    assert [actual[name]["mean_main_score"] for name in theirs.dropna().index] == pytest.approx(
        list(theirs.dropna()), rel=1e-12
    )


def test_every_mean_over_task_types_equals_mtebs() -> None:
    """The mean of means, and the mean of each type."""
    actual = by_entrant(board("mean-task-type").leaderboard)
    theirs = expected()
    for ours, column in [
        ("group_mean_main_score", "mean_task_type"),
        ("mean:Retrieval", "Retrieval"),
        ("mean:STS", "STS"),
    ]:
        known = theirs[column].dropna()
        assert [actual[name][ours] for name in known.index] == pytest.approx(list(known), rel=1e-12)


def test_who_lacks_a_task_has_a_borda_rank_and_may_not_be_first() -> None:
    """It keeps MTEB's rank, with how many tasks of how many, and by the rule for gaps the first places are others'."""
    row = by_entrant(board("borda").leaderboard)["jinaai/jina-embeddings-v5-text-small"]

    assert (row["rank"], row["n_included"], row["n_attempted"]) == (19, 40, 41)
    assert (row["may_be_first"], row["first_p"], row["first_resamples_share"]) == (False, None, 0.0)
    assert 2 <= row["rank_low"] <= 19 <= row["rank_high"] <= 324


@pytest.mark.parametrize("name", ["mean-task-type", "win-rate", "mean-rank"])
def test_who_lacks_a_task_stands_apart_on_the_other_boards(name: str) -> None:
    """103 are ranked, 221 follow without a rank."""
    rows = list(by_entrant(board(name).leaderboard).values())

    assert [row["rank"] is None for row in rows] == [False] * 103 + [True] * 221
    assert sum(row["first_resamples_share"] or 0.0 for row in rows) == pytest.approx(1.0)


def test_leaving_out_the_hardest_task_wins_no_rank() -> None:
    """The leader without its worst task is not before the others on borda, and not on the other boards at all."""
    scores = rows()
    leader = scores.entrant.words.index("jcorners/ingot-8b-r3")
    own = scores.entrant.codes == leader
    worst = int(scores.value("main_score")[own].argmin())
    values = scores.values.copy()
    values[own.nonzero()[0][worst]] = float("nan")
    less = ScoreTable(**{**vars(scores), "values": values})
    spec = manifest().leaderboard("borda")

    before = by_entrant(board("borda").leaderboard)["jcorners/ingot-8b-r3"]
    after = by_entrant(compute_board(manifest(), spec, less).leaderboard)["jcorners/ingot-8b-r3"]

    assert after["borda_points"] < before["borda_points"]
    assert (after["may_be_first"], after["rank_low"] > before["rank_low"]) == (False, True)


@pytest.mark.parametrize(
    ("spec", "column"),
    [
        (Mean(name="mean", method="mean", metric="main_score", uncertainty={"n_resamples": 0}), "mean_task"),
        ("mean-task-type", "mean_task_type"),
    ],
    ids=["tasks", "task types"],
)
def test_every_mean_is_in_mtebs_order(spec: Mean | str, column: str) -> None:
    """The 103 models with every task, which alone have a mean there, by rank; a tie in the last digit is a tie."""
    shown = board(spec) if isinstance(spec, str) else compute_board(manifest(), spec, rows())
    theirs = expected()[column].where(expected().mean_task.notna()).dropna().round(12)
    ranks = {name: row["rank"] for name, row in by_entrant(shown.leaderboard).items() if row["rank"] is not None}

    assert len(ranks) == 103
    assert ranks == theirs.rank(ascending=False, method="min").to_dict()
