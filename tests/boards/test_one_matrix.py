"""What a board says comes from one matrix of decisions: rows, pairs, letters, sentence and badge never disagree."""

from itertools import cycle, islice
from typing import Any

import numpy as np
import pytest

from app.boards.standing import letters_table
from app.boards.tables import BoardTables
from app.render.syndication import place_of
from app.values.table import Table
from tests.cases.boards import CASES, ENTRANTS, Case, given

ALPHA = 0.05


def random_board(case: Case, seed: int) -> BoardTables:
    """Return a board of entrants whose errors differ in mean and in spread, some of them ties."""
    rng = np.random.default_rng([31, seed])
    errors = given().errors
    centres = 0.5 + rng.choice([0.0, 0.02, 0.1]) * rng.normal(size=(len(ENTRANTS), 1))
    spreads = rng.choice([0.005, 0.05, 0.2], size=(len(ENTRANTS), 1))
    drawn = np.abs(centres + 0.04 * rng.normal(size=errors.shape[1]) + spreads * rng.normal(size=errors.shape)) + 1e-3
    if rng.random() < 0.2:
        drawn[1] = drawn[0]
    return case.build(given(errors=drawn))


def better_pairs(pairwise: Table, board: Table) -> set[tuple[Any, Any]]:
    """Return which ordered pairs are separable with the first as the better one, by the ranks of the board."""
    ranks = {row["entrant"]: row["rank"] for row in board.records()}
    named = [(row["entrant_a"], row["entrant_b"]) for row in pairwise.records() if row["separable"]]
    return {(a, b) for a, b in named if ranks[a] < ranks[b]}


def assert_one_matrix(tables: BoardTables) -> None:
    """Hold all that a board says to its pairs."""
    board, pairwise = tables.leaderboard, tables.pairwise
    assert pairwise is not None
    rows = {row["entrant"]: row for row in board.records()}
    better, n = better_pairs(pairwise, board), len(rows)
    for name, row in rows.items():
        low, high = row["rank_low"], row["rank_high"]
        assert (low, high) == (1 + sum(b == name for _, b in better), n - sum(a == name for a, _ in better))
        assert low <= row["rank"] <= high
        assert row["may_be_first"] == (low == 1) == (row["first_p"] > ALPHA)
        for other, its in rows.items():
            assert high >= its["rank_low"] or (name, other) in better
    assert all((a, c) in better for a, b in better for also, c in better if also == b)
    said = " ".join(board.meta["statement"])
    first, _, rest = said.partition(" No other")
    assert [name for name in rows if str(name) in first] == [name for name in rows if rows[name]["may_be_first"]]
    assert not any(str(name) in rest for name in rows)
    shared = {row["entrant"]: set(str(row["letters"])) for row in letters_table(board, pairwise).records()}
    assert all(
        bool(shared[a] & shared[b]) == ((a, b) not in better and (b, a) not in better) for a in rows for b in rows
    )
    for name, row in rows.items():
        low, high = row["rank_low"], row["rank_high"]
        assert f"({low})" in (words := place_of(board, str(name), is_current=True, snapshot=1).words) or (
            f"({low}–{high})" in words
        )


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name}-{case.direction}")
def test_everything_that_a_board_says_is_read_from_its_pairs(case: Case) -> None:
    """Of every method: rank sets, who may be first, the sentence, the letters and the badge."""
    assert_one_matrix(random_board(case, CASES.index(case)))


@pytest.mark.slow
def test_so_it_is_on_a_thousand_boards() -> None:
    """Of every method in turn."""
    for seed, case in enumerate(islice(cycle(CASES), 1_000)):
        assert_one_matrix(random_board(case, seed))
