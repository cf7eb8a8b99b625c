"""How much a board's numbers rest on: what was included, and which records more than half of the estimators have."""

import numpy as np
import pytest

from app.boards.registry import compute_board
from app.boards.weighted_rank.records import HeldRecords, count_attempts
from app.kinds.parse import parse_manifest
from app.stats.strata import Group
from app.values.scores import Coded, ScoreTable


def skill_rows(missing: str) -> dict[str, tuple[object, ...]]:
    """Return failed, attempted, included and imputed of A, who lacks one of three tasks, and of the baseline."""
    text = f"""
schema_version: 1
slug: small
title: Small
evidence: evaluation_summary
metrics: {{SQL: {{direction: minimize}}}}
tasks: {{open: true}}
leaderboards:
  - {{name: b, method: skill_score, metric: SQL, baseline: B, missing: {missing}, uncertainty: {{n_resamples: 100}}}}
"""
    declared = parse_manifest(text.encode())
    scores = ScoreTable(
        entrant=Coded(("A", "B"), np.array([0, 0, 1, 1, 1])),
        task=Coded(("t1", "t2", "t3"), np.array([0, 1, 0, 1, 2])),
        columns=("SQL",),
        values=np.array([[1.0], [2.0], [2.0], [2.0], [4.0]]),
        leaked=np.zeros(5, dtype=np.bool_),
        file=np.zeros(5, dtype=np.int64),
        row=np.arange(5),
    )
    board = compute_board(declared, declared.leaderboards[0], scores).leaderboard
    names = ("num_failures", "n_attempted", "n_included", "n_imputed")
    return {str(row["entrant"]): tuple(row[name] for name in names) for row in board.records()}


def test_a_dropped_task_is_included_for_nobody() -> None:
    """A fails one of three: two tasks are left, and both entrants are included with both of them."""
    assert skill_rows("drop") == {"A": (1, 3, 2, 0), "B": (0, 3, 2, 0)}


def test_an_imputed_result_is_not_an_included_one() -> None:
    """All three tasks are left: A is included with two of its own and one that was put in its place."""
    assert skill_rows("impute") == {"A": (1, 3, 2, 1), "B": (0, 3, 3, 0)}


HELD = np.array([[True, True, True], [True, True, True], [True, False, True], [True, False, False]])


def test_a_record_that_exactly_half_have_is_not_the_benchmarks() -> None:
    """Of four estimators four have r1, two r2 and three r3: ranks are about r1 and r3, and D alone lacks one."""
    held = HeldRecords(("A", "B", "C", "D"), ("r1", "r2", "r3"), ("s", "s", "s"), HELD)

    assert held.of_benchmark.tolist() == [True, False, True]
    assert held.lacking() == {"D": 1}
    assert held.holders_of_others() == ["A", "B"]


def test_a_value_that_exactly_half_have_is_not_asked_of_the_others() -> None:
    """The same rows as values of a metric: C attempted two and D one, and only r3 is absent of D."""
    groups = [
        Group(name, "mae", "s", np.ones(int(has.sum())), np.flatnonzero(has))
        for name, has in zip("ABCD", HELD, strict=True)
    ]
    counted = count_attempts(groups, ("A", "B", "C", "D"), ["mae"])

    assert [(each.n_attempted, each.n_included, each.n_absent) for each in counted.values()] == [
        (3, 3, 0), (3, 3, 0), (2, 2, 0), (2, 1, 1),
    ]  # fmt: skip


@pytest.mark.parametrize("n_holders", [1, 2, 3, 4])
def test_more_than_half_is_more_than_half(n_holders: int) -> None:
    """One record of one, two, three or four of four; where no record has more than half, all that anyone has count."""
    held = np.column_stack([np.ones(4, dtype=np.bool_), np.arange(4) < n_holders])
    found = HeldRecords(("A", "B", "C", "D"), ("all", "some"), ("s", "s"), held).of_benchmark

    assert found.tolist() == [True, n_holders > 2]
