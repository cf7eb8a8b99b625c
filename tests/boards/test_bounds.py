"""Ranks of who lacks something, if that were worst and best: those that the board itself would then give."""

from typing import Any

import numpy as np
import pytest

from app.boards.registry import compute_board
from app.kinds.parse import parse_manifest
from app.stats.arrays import FloatArray
from app.stats.pairs import borda_points, ranks_beside
from app.values.scores import Coded, ScoreTable
from app.values.table import Table

NAMES = ("Good", "Near", "Fair", "Poor")
TASKS = ("a", "b", "c", "d")
ERRORS = np.array([[0.1, 0.2, 0.3, 0.1], [0.3, 0.1, 0.2, 0.5], [0.4, 0.3, 0.4, 0.6], [0.8, 0.7, 0.9, 0.8]])
"""By entrant and task, from 0 to 1."""
GROUPS = "groups: {x: [a, b], y: [c, d]}"
METHODS = {
    "mean": "method: mean",
    "group mean": f"method: group_mean, {GROUPS}",
    "mean rank": "method: mean_rank, tasks: [a, b, c, d]",
    "mean win rate": "method: mean_win_rate, tasks: [a, b, c, d]",
    "borda": "method: borda, tasks: [a, b, c, d]",
}
SKILLS = {"skill": "rank_by: skill_score", "win rate": "rank_by: win_rate"}


def rows(values: FloatArray) -> ScoreTable:
    """Return a row for each value [n_entrants, n_tasks] that is there."""
    entrant, task = np.nonzero(~np.isnan(values))
    nothing = np.zeros(len(task), dtype=np.int64)
    return ScoreTable(Coded(NAMES, entrant), Coded(TASKS, task), ("x",), values[entrant, task][:, None],
                      nothing.astype(np.bool_), nothing, nothing)  # fmt: skip


def board(method: str, direction: str, values: FloatArray) -> Table:
    """Return the board of a method over the four tasks."""
    tasks = ", ".join(f"{{id: {task}}}" for task in TASKS)
    declared = parse_manifest(
        f"""
schema_version: 1
slug: small
title: Small
evidence: evaluation_summary
metrics: {{x: {{direction: {direction}, min: 0, max: 1}}}}
tasks: [{tasks}]
leaderboards: [{{name: board, metric: x, {method}}}]
""".encode()
    )
    return compute_board(declared, declared.leaderboards[0], rows(values)).leaderboard


def record(table: Table, entrant: str) -> dict[str, Any]:
    """Return the row of an entrant."""
    (result,) = [each for each in table.records() if each["entrant"] == entrant]
    return result


def with_gap(values: FloatArray, end: float) -> FloatArray:
    """Return the values with one of Near's in place of what was there."""
    changed = values.copy()
    changed[1, 2] = end
    return changed


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.heavy
def test_the_bounds_are_the_ranks_with_the_gap_filled(method: str, direction: str) -> None:
    """With the worst and with the best of the metric's range."""
    values = ERRORS if direction == "minimize" else 1.0 - ERRORS
    worst, best = (1.0, 0.0) if direction == "minimize" else (0.0, 1.0)
    actual = record(board(METHODS[method], direction, with_gap(values, np.nan)), "Near")

    assert actual["rank_if_worst"] == record(board(METHODS[method], direction, with_gap(values, worst)), "Near")["rank"]
    assert actual["rank_if_best"] == record(board(METHODS[method], direction, with_gap(values, best)), "Near")["rank"]
    assert actual["rank_if_best"] < actual["rank_if_worst"]


@pytest.mark.heavy
@pytest.mark.parametrize("rank_by", SKILLS)
def test_the_bounds_of_a_ratio_are_those_of_its_clip(rank_by: str) -> None:
    """An error a hundred times the baseline's, and one a hundredth of it."""
    method = f"method: skill_score, baseline: Fair, {SKILLS[rank_by]}"
    actual = record(board(method, "minimize", with_gap(ERRORS, np.nan)), "Near")
    ends = [record(board(method, "minimize", with_gap(ERRORS, end)), "Near")["rank"] for end in (40.0, 0.004)]

    assert [actual["rank_if_worst"], actual["rank_if_best"]] == ends


@pytest.mark.heavy
def test_who_lacks_nothing_has_no_bounds() -> None:
    """The others of such a board too."""
    table = board(METHODS["mean"], "minimize", with_gap(ERRORS, np.nan))

    assert [record(table, name)["rank_if_worst"] for name in ("Good", "Fair", "Poor")] == [None, None, None]


def test_ranks_beside_others_are_those_of_the_board_with_that_one_more() -> None:
    """Results with ties, none of them and none of the tasks alike; who is added is counted among the points."""
    rng = np.random.default_rng(1)
    others, owns = rng.integers(0, 5, (6, 30)).astype(float), rng.integers(-1, 6, (6, 20)).astype(float)
    owns[rng.random(owns.shape) < 0.2] = -np.inf
    boards = [borda_points(np.column_stack([own, others])).sum(axis=0) for own in owns.T]

    actual = ranks_beside(others, borda_points(others).sum(axis=0), owns, np.ones(6))

    assert actual.tolist() == [1 + int((points[1:] > points[0]).sum()) for points in boards]
