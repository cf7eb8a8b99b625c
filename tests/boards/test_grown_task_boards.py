"""A board of points that gains an entrant compares that one: who won a task among the others stays as it was."""

import numpy as np
import pytest

from app.boards import remembered
from app.boards.registry import compute_board
from app.cache import Cache
from app.kinds.parse import parse_manifest
from app.values.scores import Coded, ScoreTable
from app.values.table import Table

N_TASKS, N_ENTRANTS = 12, 9
GROUPS = "groups: {one: [t0, t1, t2, t3, t4, t5], two: [t6, t7, t8, t9, t10, t11]}"
METHODS = {
    "borda": "method: borda",
    "group_mean": f"method: group_mean, {GROUPS}",
    "mean_win_rate": "method: mean_win_rate",
    "mean_rank": "method: mean_rank",
}


def pairwise(board: str, n_entrants: int) -> Table:
    """Return the pairs of a board on which the last entrant is the worst everywhere, so that points of all change."""
    tasks = ", ".join(f"{{id: t{at}}}" for at in range(N_TASKS))
    declared = parse_manifest(
        f"""
schema_version: 1
slug: grown
title: Grown
evidence: evaluation_summary
metrics: {{x: {{direction: maximize}}}}
tasks: [{tasks}]
leaderboards: [{{name: board, metric: x, {board}, uncertainty: {{n_resamples: 100}}}}]
""".encode()
    )
    values = np.random.default_rng(3).normal(size=(N_ENTRANTS, N_TASKS)) - 3.0 * np.arange(N_ENTRANTS)[:, None]
    values = values[:n_entrants]
    n_rows = values.size
    rows = ScoreTable(
        entrant=Coded(tuple(f"e{at}" for at in range(n_entrants)), np.repeat(np.arange(n_entrants), N_TASKS)),
        task=Coded(tuple(f"t{at}" for at in range(N_TASKS)), np.tile(np.arange(N_TASKS), n_entrants)),
        columns=("x",),
        values=values.reshape(-1, 1),
        leaked=np.zeros(n_rows, dtype=np.bool_),
        file=np.zeros(n_rows, dtype=np.int64),
        row=np.arange(n_rows),
    )
    result = compute_board(declared, declared.leaderboards[0], rows).pairwise
    assert result is not None
    return result


@pytest.mark.parametrize("method", sorted(METHODS))
def test_a_board_that_grew_has_the_pairs_of_one_computed_anew(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With and without what was remembered every cell is the same."""
    monkeypatch.setattr(remembered, "COMPUTED", Cache[object](1 << 20))
    pairwise(METHODS[method], N_ENTRANTS - 1)
    grown = pairwise(METHODS[method], N_ENTRANTS)
    monkeypatch.setattr(remembered, "COMPUTED", Cache[object](1 << 20))

    assert grown.rows == pairwise(METHODS[method], N_ENTRANTS).rows
