"""How much a board's numbers rest on: what was included and what was imputed."""

import numpy as np

from app.boards.registry import compute_board
from app.kinds.parse import parse_manifest
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


def test_a_dropped_task_is_included_of_who_has_it() -> None:
    """A fails one of three: two tasks are left for the scores, and B is included with the three that it has."""
    assert skill_rows("drop") == {"A": (1, 3, 2, 0), "B": (0, 3, 3, 0)}


def test_an_imputed_result_is_not_an_included_one() -> None:
    """All three tasks are left: A is included with two of its own and one that was put in its place."""
    assert skill_rows("impute") == {"A": (1, 3, 2, 1), "B": (0, 3, 3, 0)}


def test_what_is_filled_with_the_worst_has_failed_all_the_same() -> None:
    """Of a board of means whose absent tasks count as the worst there is: Failed is absent and without a value."""
    text = """
schema_version: 1
slug: small
title: Small
evidence: evaluation_summary
metrics: {x: {direction: minimize, min: 0, max: 1}}
tasks: [{id: t1}, {id: t2}, {id: t3}]
grid: {absent: worst}
leaderboards: [{name: b, method: mean, metric: x, uncertainty: {n_resamples: 100}}]
"""
    declared = parse_manifest(text.encode())
    scores = ScoreTable(
        entrant=Coded(("A", "B"), np.array([0, 0, 1, 1, 1])),
        task=Coded(("t1", "t2", "t3"), np.array([0, 1, 0, 1, 2])),
        columns=("x",),
        values=np.array([[0.1], [np.nan], [0.2], [0.2], [0.4]]),
        leaked=np.zeros(5, dtype=np.bool_),
        file=np.zeros(5, dtype=np.int64),
        row=np.arange(5),
    )
    board = compute_board(declared, declared.leaderboards[0], scores).leaderboard
    counted = {row["entrant"]: (row["num_failures"], row["n_absent"], row["n_failed"]) for row in board.records()}

    assert counted == {"A": (2, 1, 1), "B": (0, 0, 0)}
    assert board.notes[0] == "2 entrants on 3 tasks; 2 failures."
