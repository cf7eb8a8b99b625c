"""Boards of few seeds that are shared and hardly differ: what one number says of a pair, no other contradicts."""

from dataclasses import replace

import numpy as np
import pytest

from app.boards.measured import EntrantEvidence
from app.boards.methods.estimate import assemble_board
from app.boards.tables import BoardTables
from app.kinds.registry import measured_kind
from app.values.scores import Coded, ScoreTable
from tests.cases.boards import declare

N_EPISODES, NAMES = 50, ("A", "B", "C")


def board_of(successes: np.ndarray) -> BoardTables:
    """Return the board of three entrants from how many of 50 episodes succeed, [3, n_seeds], by shared seeds."""
    right = np.arange(N_EPISODES) < successes[:, :, None]
    entrant, seed, item = np.indices(right.shape).reshape(3, -1)
    one = np.zeros(len(entrant), dtype=np.int64)
    rows = ScoreTable(
        entrant=Coded(NAMES, entrant), task=Coded(("lift",), one), columns=("success",),
        values=right.reshape(-1, 1).astype(np.float64), leaked=one.astype(np.bool_), file=one,
        row=np.arange(len(one)), item=Coded(tuple(map(str, range(N_EPISODES))), item), seed=seed,
        condition=Coded(("near",), one),
    )  # fmt: skip
    metrics = "{success: {direction: maximize, min: 0, max: 1}}"
    more = f"seeds: shared\ngrid: {{seeds: {right.shape[1]}, items: {N_EPISODES}, conditions: [near]}}"
    manifest = declare("episodes", metrics, "method: estimate, metrics: [success]", more, "[{id: lift}]")
    spec, kind = manifest.leaderboards[0], measured_kind(manifest)
    taken = [(name, rows.take(np.flatnonzero(entrant == at))) for at, name in enumerate(NAMES)]
    own = [(name, replace(each, entrant=Coded((name,), 0 * each.entrant.codes))) for name, each in taken]
    return assemble_board(manifest, spec, [kind.measure(manifest, spec, EntrantEvidence(*each)) for each in own], kind)


def expect_one_answer(successes: np.ndarray) -> None:
    """Expect that a pair is separable only with a small p and an interval without zero, and the first by their p."""
    board = board_of(successes)
    assert board.pairwise is not None
    pairs = [row for row in board.pairwise.records() if row["p_value"] is not None]
    assert [row for row in pairs if row["separable"] and row["p_value"] > 0.05] == []
    assert [row for row in pairs if row["separable"] and row["difference_lower"] <= 0 <= row["difference_upper"]] == []
    assert all(row["may_be_first"] == (row["first_p"] > 0.05) for row in board.leaderboard.records())


def test_of_seeds_nearly_a_tenth_apart_nothing_unseen_cancels() -> None:
    """Of one better by a constant in every seed all that is left open is its own."""
    expect_one_answer(np.array([25, 25, 29, 29, 27]) + np.array([[0], [1], [2]]))


@pytest.mark.parametrize("trial", range(40))
def test_what_is_separable_has_a_small_p_and_an_interval_without_zero(trial: int) -> None:
    """By a constant, or almost, better in every seed: nothing of what is unseen cancels, wherever seeds lie apart."""
    rng = np.random.default_rng(trial)
    n_seeds, apart = int(rng.integers(3, 9)), int(rng.integers(0, 5))
    base = int(rng.integers(5, 35)) + rng.integers(0, apart + 1, n_seeds)
    better = np.array([[0], [1], [int(rng.integers(2, 9))]])
    almost = trial % 2 and apart < 4
    expect_one_answer(base + better + rng.integers(0, 2 if almost else 1, (3, n_seeds)))
