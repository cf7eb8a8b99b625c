"""A reader's weights: nothing leaves its range, equal weights change nothing, and one task alone makes nobody sure."""

from typing import Any

import numpy as np
import pytest

from app.boards.registry import compute_board
from app.manifest.model import Explored
from app.values.scores import Coded, ScoreTable
from tests.cases.boards import declare

TASKS = ("t0", "t1", "t2", "t3", "t4")
VALUES = np.array([[0.97, 0.95, 0.5, 0.96, 0.4], [0.9, 0.99, 0.93, 0.3, 0.35], [0.8, 0.2, 0.6, 0.5, 0.3]])
SCORES = {"mean": ("mean_x", 0.0, 1.0), "mean_win_rate": ("win_rate", 0.0, 1.0), "mean_rank": ("mean_rank", 1.0, 3.0)}
EVERY = pytest.mark.parametrize("method", list(SCORES))
ODD, DOMINATED, EQUAL = {"t0": 6.0, "t3": 0.5}, {"t0": 1000.0}, {"t0": 7.0, **dict.fromkeys(TASKS[1:], 7.0)}


def board(method: str, weights: dict[str, float]) -> list[dict[str, Any]]:
    """Return the rows of the board of a metric from 0 to 1 under a reader's weights."""
    tasks = ", ".join(f"{{id: {task}}}" for task in TASKS)
    metric = "{x: {direction: maximize, min: 0, max: 1}}"
    manifest = declare("evaluation_summary", metric, f"metric: x, method: {method}", tasks=f"[{tasks}]")
    n_entrants, n_tasks = VALUES.shape
    entrant, task = np.repeat(np.arange(n_entrants), n_tasks), np.tile(np.arange(n_tasks), n_entrants)
    nothing = np.zeros(VALUES.size, dtype=np.int64)
    rows = ScoreTable(
        Coded(("A", "B", "C"), entrant), Coded(TASKS, task), ("x",), VALUES.reshape(-1, 1), nothing.astype(bool),
        nothing, nothing,
    )  # fmt: skip
    spec = manifest.leaderboards[0]
    chosen = spec.as_chosen(None, Explored(weights)) if weights else spec
    return [dict(row) for row in compute_board(manifest, chosen, rows).leaderboard.records()]


@EVERY
def test_no_end_leaves_the_range(method: str) -> None:
    """A win rate of -0.78 to 1.81 was drawn for three models and four tasks."""
    name, low, high = SCORES[method]
    for row in board(method, ODD):
        assert low <= row[f"{name}_calibrated_low"] < row[name] < row[f"{name}_calibrated_high"] <= high


@EVERY
def test_equal_weights_change_nothing(method: str) -> None:
    """Seven for every task: the intervals of one for every task."""
    name = SCORES[method][0]
    for row, plain in zip(board(method, EQUAL), board(method, {}), strict=True):
        columns = ("", "_calibrated_low", "_calibrated_high", "_calibrated_units")
        assert [row[f"{name}{end}"] for end in columns] == pytest.approx([plain[f"{name}{end}"] for end in columns])
        assert [row[end] for end in ("rank_low", "rank_high")] == [plain[end] for end in ("rank_low", "rank_high")]


@EVERY
def test_one_task_with_nearly_all_the_weight_makes_nobody_sure(method: str) -> None:
    """It is as if it were the only one: no interval, no rank interval; it said 1 to 1 within half a point."""
    name = SCORES[method][0]
    for row in board(method, DOMINATED):
        assert (row["rank_low"], row["rank_high"], row[f"{name}_calibrated_low"]) == (None, None, None)
        assert row[f"{name}_calibrated_how"] == "too_few_units"


@EVERY
def test_a_task_with_much_of_the_weight_leaves_too_few_for_narrow_ranks(method: str) -> None:
    """Five tasks that count as 2.3 do not say who is first, nor who is last."""
    assert [(row["rank_low"], row["rank_high"]) for row in board(method, ODD)] == [(1, 3)] * 3
