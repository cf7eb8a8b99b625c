"""Calibrated intervals of means over groups of tasks: what groups differ by is fixed, and no end leaves the range."""

from typing import Any

import numpy as np
import pytest

from app.boards.registry import compute_board
from app.stats.arrays import FloatArray
from app.values.scores import Coded, ScoreTable
from app.values.table import Table
from bench.families import share_of_groups
from tests.cases.boards import declare

TASKS = tuple(f"t{at}" for at in range(12))
VALUES = np.array([[0.92, 0.95, 0.91, 0.2, 0.4], [0.9, 0.94, 0.93, 0.3, 0.35]])
OF_TWO, OF_ONE = "{easy: [t0, t1, t2], hard: [t3, t4]}", "{easy: [t0, t1], hard: [t2, t3], a: [t4]}"
MOVED = np.array([0.0, 0.0, 0.0, 0.0, 6.0])


def board_of(values: FloatArray, within: str = "", groups: str = OF_TWO, way: str = "maximize") -> Table:
    """Return the board of the means over groups of A and B, whose values are [2, n_tasks]."""
    tasks = ", ".join(f"{{id: {task}}}" for task in TASKS[: values.shape[1]])
    board = f"metric: x, method: group_mean, groups: {groups}"
    manifest = declare("evaluation_summary", f"{{x: {{direction: {way}{within}}}}}", board, tasks=f"[{tasks}]")
    n_entrants, n_tasks = values.shape
    entrant, task = np.repeat(np.arange(n_entrants), n_tasks), np.tile(np.arange(n_tasks), n_entrants)
    nothing = np.zeros(values.size, dtype=np.int64)
    rows = ScoreTable(
        Coded(("A", "B"), entrant), Coded(TASKS, task), ("x",), values.reshape(-1, 1), nothing.astype(bool),
        nothing, nothing,
    )  # fmt: skip
    return compute_board(manifest, manifest.leaderboards[0], rows).leaderboard


def ends(values: FloatArray, within: str = "", groups: str = OF_TWO, way: str = "maximize") -> list[dict[str, Any]]:
    """Return point, low, high and the reason of each entrant's mean over groups, in the order of the entrants."""
    by_name = {str(row["entrant"]): row for row in board_of(values, within, groups, way).records()}
    names = {"point": "", "low": "_calibrated_low", "high": "_calibrated_high", "how": "_calibrated_how"}
    return [{key: by_name[who][f"group_mean_x{end}"] for key, end in names.items()} for who in ("A", "B")]


def test_no_end_leaves_the_declared_range() -> None:
    """Groups that differ much are no noise: before, the ends were below 0 and above 1."""
    for row in ends(VALUES, ", min: 0, max: 1"):
        assert 0.0 < row["low"] < row["point"] < row["high"] < 1.0
        assert row["how"] == "wilson_neff"


def test_a_constant_that_is_added_moves_the_ends_by_itself() -> None:
    """The width does not depend on where zero of the unit is."""
    for row, moved in zip(ends(VALUES), ends(VALUES + 50.0), strict=True):
        assert [moved["low"] - 50.0, moved["high"] - 50.0] == pytest.approx([row["low"], row["high"]])


def test_the_value_in_a_group_of_one_task_adds_nothing_to_the_width() -> None:
    """What it adds is that of the other groups, as a note says: whatever its value is, the width is the same."""
    first, other = (ends(values, groups=OF_ONE)[0] for values in (VALUES, VALUES + MOVED))

    assert other["high"] - other["low"] == pytest.approx(first["high"] - first["low"])
    assert other["point"] == pytest.approx(first["point"] + 2.0)


ALL_OF_ONE = "{a: [t0], b: [t1], c: [t2], d: [t3], e: [t4]}"


def test_groups_of_one_task_alone_have_no_interval() -> None:
    """There is nothing that could vary, and the cell says so, and the board why."""
    for row in ends(VALUES, groups=ALL_OF_ONE):
        assert (row["low"], row["high"]) == (None, None)
    meta = board_of(VALUES, groups=ALL_OF_ONE).meta
    assert (meta["interval"], meta["interval_reason"]) == (None, "too_few_clusters")


def test_units_are_few_where_little_is_known_of_the_spread() -> None:
    """Of two groups that weigh the same, one of two tasks has most of the spread, which one difference tells."""
    values = np.random.default_rng(3).normal(size=(2, 12))
    names = [f"t{at}" for at in range(12)]
    for n_first, is_said in ((6, False), (2, True)):
        groups = f"{{a: [{', '.join(names[:n_first])}], b: [{', '.join(names[n_first:])}]}}"
        notes = board_of(values, groups=groups).notes
        assert any("worth fewer than eight" in note for note in notes) is is_said, notes


def test_equals_over_small_groups_are_not_told_apart() -> None:
    """Three groups of two tasks have nearly all of a difference's variance: of 60 boards 30 told some of 20 apart."""
    assert share_of_groups((2, 2, 2, 12), 20, 60) <= 0.1
