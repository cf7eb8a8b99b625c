"""What a sentence about two entrants says they differ by: the board's own score, in its own units."""

from dataclasses import replace

import pytest

from app.boards.example import benchmark, rows
from app.boards.methods.borda import Borda
from app.boards.methods.mean import Mean
from app.boards.methods.mean_rank import MeanRank
from app.boards.methods.mean_win_rate import MeanWinRate
from app.boards.registry import compute_board
from app.manifest.model import Leaderboard
from app.render.against import find_pair, measured_by, verdict

ERRORS = {"Good": [0.1, 0.2, 0.3], "Poor": [0.8, 0.9, 0.7]}


@pytest.mark.parametrize(
    ("board", "said"),
    [
        (Borda(name="b", method="borda", metric="error"), "mean of Borda points per task is higher than Poor’s by 1.0"),
        (MeanWinRate(name="b", method="mean_win_rate", metric="error"), "mean win rate is higher than Poor’s by 1.0"),
        (MeanRank(name="b", method="mean_rank", metric="error"), "mean rank is lower than Poor’s by 1.0"),
        (Mean(name="b", method="mean", metric="error"), "mean error is lower than Poor’s by 0.6"),
    ],
    ids=lambda value: value.method if isinstance(value, Leaderboard) else "",
)
def test_two_entrants_differ_in_what_the_board_ranks_by(board: Leaderboard, said: str) -> None:
    """Points, rates and ranks are no mean of the metric: a Borda board said "mean Main score: advantage −6.378"."""
    declared = benchmark(board)
    pairs = compute_board(declared, board, rows(ERRORS)).pairwise
    assert pairs is not None
    sentence = verdict(find_pair(pairs, "Good", "Poor"), measured_by(pairs, declared))

    assert said in sentence


def test_an_effect_of_an_unknown_name_or_none_is_told_as_it_is() -> None:
    """A method of somebody else has its own measure of a difference, or says only how probably one is better."""
    board = Mean(name="b", method="mean", metric="error")
    declared = benchmark(board)
    pairs = compute_board(declared, board, rows(ERRORS)).pairwise
    assert pairs is not None
    renamed = replace(
        pairs,
        columns=tuple(
            replace(
                column,
                name=column.name.replace("advantage", "log_ratio"),
                interval=column.interval and tuple(end.replace("advantage", "log_ratio") for end in column.interval),
            )
            for column in pairs.columns
        ),
    )
    kept = [at for at, column in enumerate(pairs.columns) if not column.name.startswith("advantage")]
    without = replace(
        pairs,
        columns=tuple(pairs.columns[at] for at in kept),
        rows=tuple(tuple(row[at] for at in kept) for row in pairs.rows),
    )
    said = [verdict(find_pair(table, "Poor", "Good"), measured_by(table, declared)) for table in (renamed, without)]

    assert said[0].startswith("Good is better than Poor on error: log ratio 0.6")
    assert said[1] == "Good is better than Poor on error."
