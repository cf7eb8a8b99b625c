"""What a sentence about two entrants says they differ by: the board's own score, in its own units."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from app.boards.example import benchmark, rows
from app.boards.methods.borda import Borda
from app.boards.methods.mean import Mean
from app.boards.methods.mean_rank import MeanRank
from app.boards.methods.mean_win_rate import MeanWinRate
from app.boards.methods.skill_score import SkillScore
from app.boards.registry import compute_board
from app.boards.standing import letters_table
from app.boards.task_values import TaskValues, differences_table, side_by_side, task_values
from app.manifest.model import Leaderboard, Task
from app.render.against import (
    ahead_by,
    beside_baseline,
    chances,
    evidence_needed,
    find_pair,
    flagged,
    in_sums,
    lacking,
    measured_by,
    ruled_out,
    verdict,
)
from app.values.scores import Coded
from app.values.table import Column, Table

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


LACKING = {"Good": [0.3, 0.3, 0.3], "Sly": [0.1, 0.1], "Poor": [0.8, 0.9, 0.7]}


def test_who_lacks_tasks_on_a_board_of_points_is_behind_by_the_rule_and_the_words_say_so() -> None:
    """No result has no points, which is the worst and the board's own rule; no test decides."""
    board = Borda(name="b", method="borda", metric="error")
    declared = benchmark(board)
    tables = compute_board(declared, board, rows({"Best": [0.05, 0.05, 0.05], **LACKING}))
    assert tables.pairwise is not None
    pair = find_pair(tables.pairwise, "Best", "Sly")
    row = next(row for row in tables.leaderboard.records() if row["entrant"] == "Sly")

    assert (row["rank_if_worst"], row["rank_if_best"], row["may_be_first"]) == (row["rank"], 2, False)
    assert verdict(pair, measured_by(tables.pairwise, declared)).startswith(
        "Best is before Sly on mean of Borda points per task by the rule for missing results alone. By the scores of "
        "the board, Best’s mean of Borda points per task is higher than Sly’s by 1.667 (without an interval)"
    )
    assert ruled_out(replace(pair, forth={**pair.forth, "separable": False}), tables.leaderboard) == (
        "Sly is ruled out as first all the same: by the rule for missing results, not by a test.",
    )
    letters = letters_table(tables.leaderboard, tables.pairwise)
    assert "Of the pairs told apart, 1 is by the rule for missing results alone." in letters.notes
    beside = side_by_side(Table("matrix/b", "B", (), ()), ["Best", "Sly"], tables.pairwise)
    assert beside.notes[0] == "Best is before Sly by the rule for missing results alone."


def test_all_pairs_of_a_board_are_counted_of_which_the_table_has_those_of_the_best() -> None:
    """A test among 324 entrants is no test among the 200 whose pairs are published."""
    board = Mean(name="b", method="mean", metric="error")
    pairs = compute_board(benchmark(board), board, rows()).pairwise
    assert pairs is not None
    pair = find_pair(pairs, "Good", "Fair")
    near = replace(pair, forth={**pair.forth, "separable": False, "p_value": 0.001})
    more = replace(near, table=replace(pairs, meta={**pairs.meta, "power": {"n_pairs": 52_326}}))

    assert pairs.meta["power"]["n_pairs"] == 3
    assert "among all 3 pairs of the board the board's test, " in chances(near)[0]
    assert "among all 52,326 pairs of the board the board's test, " in chances(more)[0]


@pytest.mark.parametrize(
    ("board", "said"),
    [
        (Borda(name="b", method="borda", metric="error"), "over all 3 tasks: 3.0 Borda points"),
        (MeanRank(name="b", method="mean_rank", metric="error"), None),
    ],
)
def test_a_difference_per_task_is_told_as_the_board_counts_too(board: Leaderboard, said: str | None) -> None:
    """2.841 points per task stood beside a board that says 116.5; mean ranks are per task on the board, too."""
    tables = compute_board(benchmark(board), board, rows())
    assert tables.pairwise is not None
    points = {row["entrant"]: row[str(tables.leaderboard.meta["rank_by"])] for row in tables.leaderboard.records()}
    told = [list(in_sums(find_pair(tables.pairwise, *pair))) for pair in (("Good", "Fair"), ("Fair", "Good"))]

    assert told == [[f"As the board counts, {said}."] if said else []] * 2
    assert said is None or float(points["Good"] or 0) - float(points["Fair"] or 0) == 3.0


@pytest.mark.parametrize(("how", "is_told"), [("percentiles of resampled differences", True), ("Student's t", False)])
def test_an_interval_that_is_not_of_the_test_beside_it_says_so(how: str, is_told: bool) -> None:
    """Of weighted ranks no t distribution makes the interval and the p-value of a pair from one error."""
    board = Mean(name="b", method="mean", metric="error")
    declared = benchmark(board)
    pairs = compute_board(declared, board, rows(ERRORS)).pairwise
    assert pairs is not None
    told = replace(pairs, meta={**pairs.meta, "contrast_interval": how})
    said = verdict(find_pair(told, "Good", "Poor"), measured_by(told, declared))

    assert ("interval, from percentiles of resamples and their mirror image: " in said) is is_told


def test_two_that_differ_by_rounding_alone_take_more_data_than_there_can_be() -> None:
    """Means of the same values in another order may differ in the last bit, and the page is there all the same."""
    board = Mean(name="b", method="mean", metric="error")
    pairs = compute_board(benchmark(board), board, rows()).pairwise
    assert pairs is not None
    pair = find_pair(pairs, "Good", "Fair")
    equal = {"separable": False, "advantage": 1e-17, "advantage_lower": -0.1, "advantage_upper": 0.1}
    (said,) = evidence_needed(replace(pair, forth={**pair.forth, **equal}), None)

    assert "if they do not differ, no amount is enough" in said


def test_beyond_the_sixtieth_nobody_has_letters_and_all_that_have_some_agree_with_the_pairs() -> None:
    """Two sorts, far apart and alike within: those with a letter in common are those that no pair separates."""
    rng = np.random.default_rng(1)
    of_all = {
        f"M{at:02}": [float(error) for error in (1.0 if at < 40 else 9.0) + 0.1 * rng.random(20)] for at in range(70)
    }
    board = Mean(name="b", method="mean", metric="error", missing="drop")
    names = tuple(f"t{at:02}" for at in range(20))
    declared = benchmark(board).model_copy(update={"tasks": [Task(id=name) for name in names]})
    given = rows(of_all)
    tables = compute_board(declared, board, replace(given, task=Coded(names, given.task.codes), item=None))
    assert tables.pairwise is not None
    lettered = letters_table(tables.leaderboard, tables.pairwise)
    apart = {(row["entrant_a"], row["entrant_b"]) for row in tables.pairwise.records() if row["separable"]}
    of_each = {str(row["entrant"]): row["letters"] for row in lettered.records()}

    assert [letters is None for letters in of_each.values()] == [False] * 60 + [True] * 10
    assert "Only the best 60 have letters." in lettered.notes
    assert len(apart) == 2 * 40 * 30
    named = [name for name, letters in of_each.items() if letters]
    for a, b in combinations(named, 2):
        assert bool(set(str(of_each[a])) & set(str(of_each[b]))) == ((a, b) not in apart)


def test_flags_of_either_of_two_stand_beside_their_comparison() -> None:
    """A board said that its first can read the labels, and the page of the pair did not."""
    tables = compute_board(benchmark(board := Mean(name="b", method="mean", metric="error")), board, rows(ERRORS))
    assert tables.pairwise is not None
    pair = find_pair(tables.pairwise, "Good", "Poor")
    columns = (Column("entrant", "Entrant", "text"), Column("flags", "Flags", "text"), Column("nearest", "N", "text"))
    shown = (("Good", "label_holder", None), ("Poor", None, None), ("Else", "renamed", None))

    assert list(flagged(pair, Table("leaderboard/b", "B", columns, shown))) == [
        "Good is flagged: who sent it can read the private labels that it is scored against."
    ]
    copies = (("Good", "near_rows renamed", "Poor"), ("Poor", None, "Good"))
    assert list(flagged(pair, Table("leaderboard/b", "B", columns, copies))) == [
        "Good is flagged: a later name of an owner who withdrew an earlier one."
    ]


OF_PLACES = {"mean_rank": MeanRank, "mean_win_rate": MeanWinRate, "borda": Borda}


@pytest.mark.parametrize("method", OF_PLACES)
def test_over_so_few_tasks_no_amount_of_data_is_named(method: str) -> None:
    """Good is better on each of three tasks, which is no more than chance: "as much data as there is" would not do."""
    board = OF_PLACES[method](name="b", method=method, metric="error")
    pairs = compute_board(benchmark(board), board, rows()).pairwise
    assert pairs is not None
    pair = find_pair(pairs, "Good", "Poor")

    assert pair.forth["separable"] is False
    assert evidence_needed(pair, None) == ()


def test_of_a_pair_in_which_somebody_lacks_a_result_no_amount_of_data_is_named() -> None:
    """What stands in a gap counts as a result, and spreads the difference as no result would; who lacks it is named."""
    board = Mean(name="b", method="mean", metric="error")
    pairs = compute_board(benchmark(board), board, rows()).pairwise
    assert pairs is not None
    pair = find_pair(pairs, "Good", "Fair")
    open_ = {"separable": False, "advantage": 0.05, "advantage_lower": -0.1, "advantage_upper": 0.2}
    pair = replace(pair, forth={**pair.forth, **open_})
    columns = (Column("entrant", "Entrant", kind="text"), Column("n_included", "In"), Column("n_attempted", "Of"))

    def said(*included: int) -> Sequence[str]:
        ranked = tuple((name, n, 3) for name, n in zip(("Good", "Fair", "Poor"), included, strict=True))
        return evidence_needed(pair, Table("leaderboard/b", "B", columns, ranked))

    assert said(3, 3, 3)
    assert said(3, 3, 2) == said(3, 3, 3)
    assert (said(2, 3, 3), said(3, 2, 3)) == ((), ())
    gaps = Table("leaderboard/b", "B", columns, (("Good", 3, 3), ("Fair", 1, 3), ("Poor", 0, 3)))
    said_of_gaps = "Fair lacks 2 of 3 results. What the board counts in their place is in the difference, its interval"
    assert list(lacking(pair, gaps)) == [f"{said_of_gaps}, its p and the win rate."]
    without = {name: value for name, value in pair.forth.items() if name != "win_rate"}
    assert list(lacking(replace(pair, forth=without), gaps)) == [f"{said_of_gaps} and its p."]


def test_a_pair_with_the_baseline_says_why_the_score_has_another_interval() -> None:
    """The score is the skill relative to the baseline: the same number twice, with two intervals."""
    board = SkillScore(name="b", method="skill_score", metric="error", baseline="Fair")
    pairs = compute_board(benchmark(board), board, rows()).pairwise
    assert pairs is not None
    said = [list(beside_baseline(find_pair(pairs, *pair))) for pair in (("Good", "Fair"), ("Fair", "Good"))]

    assert said[0] == said[1]
    assert said[0][0].startswith("Good’s score is its skill relative to Fair.")
    assert list(beside_baseline(find_pair(pairs, "Good", "Poor"))) == []


def skills(errors: dict[str, list[float]]) -> tuple[SkillScore, Table, TaskValues]:
    """Return a board of skill scores relative to Fair, its pairs, and the values by task."""
    board = SkillScore(name="b", method="skill_score", metric="error", baseline="Fair")
    declared, sent = benchmark(board), rows(errors)
    pairs = compute_board(declared, board, sent).pairwise
    assert pairs is not None
    return board, pairs, task_values(declared, board, sent)


@pytest.mark.parametrize(("fair", "is_decided"), [(0.001, False), (0.1, True)])
def test_which_task_decides_is_not_said_of_errors_that_are_clipped(fair: float, is_decided: bool) -> None:
    """Good is 500 times as bad as Fair on a task, which counts as 100, and Poor 800 times: on it they are equal."""
    board, pairs, by_task = skills({"Fair": [fair, 0.2, 0.3], "Good": [0.5, 0.1, 0.1], "Poor": [0.8, 0.09, 0.08]})
    on_board = ahead_by(find_pair(pairs, "Good", "Poor"))
    table = differences_table(board, benchmark(board).metrics["error"], by_task, ("Good", "Poor"), on_board)

    assert ("decides" in table.column_names()) == is_decided
    assert ("compared as it was sent" in table.notes[-1]) != is_decided


def test_two_who_are_clipped_alike_have_the_same_score() -> None:
    """Neither is ahead of the other by 0."""
    _, pairs, _ = skills({"Fair": [0.001] * 3, "Good": [0.5, 0.4, 0.3], "Poor": [0.8, 0.9, 0.7]})
    board = SkillScore(name="b", method="skill_score", metric="error", baseline="Fair")
    said = verdict(find_pair(pairs, "Poor", "Good"), measured_by(pairs, benchmark(board)))

    assert said.startswith("Not settled: Poor and Good have the same skill score on error (without an interval)")


def test_two_who_differ_by_a_third_are_not_said_to_differ_by_their_own_p() -> None:
    """Decisions are closed: A before B and B before C are A before C, whatever a test of A and C says."""
    _, pairs, _ = skills({"Fair": [0.1, 0.2, 0.3], "Good": [0.05, 0.1, 0.1], "Poor": [0.8, 0.9, 0.7]})
    pair = find_pair(pairs, "Good", "Poor")
    implied = replace(pair, forth={**pair.forth, "separable": True, "p_value": 0.0625})
    shown = replace(pair, forth={**pair.forth, "separable": True, "p_value": 0.0001})

    assert chances(implied)[0].startswith("The two differ since the board shows one to be better than an entrant that")
    assert chances(shown)[0].startswith("The two differ also with all 3 pairs of the board tested at once")
