"""Sentences of boards in full, where a test of the behaviour looks at a few of their words."""

from typing import Literal

import pytest

from app.boards.example import benchmark, rows
from app.boards.methods.mean import Mean
from app.boards.methods.mean_rank import MeanRank
from app.boards.methods.skill_score import SkillScore
from app.boards.registry import compute_board
from app.boards.statement import with_statement
from app.errors import ManifestRejected
from app.kinds.series.contract import note_estimands
from app.manifest.model import Leaderboard, Metric
from app.values.table import Column, Table
from tests.cases.boards import declare


def test_a_skill_score_of_what_is_maximized_is_refused_with_the_metric() -> None:
    """Ratios are of errors."""
    spec = SkillScore(name="m", method="skill_score", metric="accuracy", baseline="B")

    assert spec.check_metric(Metric(direction="maximize")) == (
        "skill_score compares errors; accuracy has direction maximize"
    )
    assert spec.check_metric(Metric(direction="minimize")) is None


def test_a_board_of_several_estimands_says_so() -> None:
    """Only leaderboards, before their other notes, estimands and estimators in alphabetical order."""
    board, pairs = (Table(name, name, (), (), ("Another note.",)) for name in ("leaderboard/b", "pairwise/b"))
    described = {
        "Z": {"target_estimand": "H"},
        "B": {"target_estimand": "alpha"},
        "A": {"target_estimand": "H"},
        "C": {},
    }
    noted = note_estimands([board, pairs], described)

    assert noted[0].notes == (
        "The estimators estimate different quantities, so ranks compare answers to different questions. "
        "H: A, Z; alpha: B; not declared: C.",
        "Another note.",
    )
    assert noted[1] is pairs
    assert note_estimands([board], {"A": {"target_estimand": "H"}, "B": {"target_estimand": "H"}}) == [board]


APART = {"Good": [0.1, 0.2, 0.3], "Fair": [0.5, 0.61, 0.7], "Poor": [0.9, 1.0, 1.12]}


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (
            Mean(name="main", method="mean", metric="error"),
            "All others are ruled out as first, at 95 %, from 3 tasks alone.",
        ),
        (
            MeanRank(name="main", method="mean_rank", metric="error"),
            "Nobody could be shown to be worse than the first, at 95 %, from 3 tasks alone, whatever the results.",
        ),
    ],
    ids=["scores", "ranks"],
)
def test_the_statement_says_from_how_few_tasks_it_is_and_where_no_results_would_do(
    spec: Leaderboard, said: str
) -> None:
    """Of ranks the same order on each of three tasks is a chance of one in four: that nobody is shown is no finding."""
    board = with_statement(compute_board(benchmark(spec), spec, rows(APART)).leaderboard)

    assert board.meta["statement"][-1] == said
    assert ("possible" in board.meta["power"]) == ("could" in said)


@pytest.mark.parametrize(
    ("score", "direction", "why", "is_said"),
    [
        (0.34, "maximize", None, True),
        (0.27, "maximize", None, False),
        (0.2, "minimize", None, True),
        (0.34, "maximize", "absent", False),
        (None, "maximize", None, False),
    ],
)
def test_who_is_shown_for_comparison_with_a_better_score_is_named(
    score: float | None, direction: Literal["minimize", "maximize"], why: str | None, is_said: bool
) -> None:
    """Who has no rank for what it lacks is not: its score is one of other results."""
    columns = (*(Column(name, name) for name in ("rank", "entrant", "may_be_first", "unranked_because")),
               Column("score", "Score", direction=direction))  # fmt: skip
    oracle = (None, "Oracle", None, why, score)
    for known in (True, None):
        for ranked in ([(1, "A", known, None, 0.27), (2, "B", known, None, 0.27)], [(1, "A", known, None, 0.27)]):
            board = Table("leaderboard/b", "B", columns, (*ranked, oracle), (), {"rank_by": "score"})
            statement = with_statement(board).meta["statement"]
            assert ("Oracle has a better score, but no rank." in statement) is is_said


SIDE = "weights: {a: 1.0}, conditions: {a: near}, against"
REFUSED = {
    "metrics: [x, x]": "metrics: one is named twice",
    "metrics: [x], rank_by: y": "rank_by must be one of metrics",
    "metrics: [x], statistics: {y: mean}": "statistics: not among metrics: y",
    "metrics: [x], composite: {weights: {a: 1.0}, conditions: {b: near}}": "conditions: not among weights: b",
    "metrics: [x], composite: {weights: {a: 1.0}, against: {a: near}}": "against: not among conditions: a",
    f"metrics: [x], composite: {{{SIDE}: {{a: near}}}}": "against: the counted condition itself: a",
}


@pytest.mark.parametrize("board", REFUSED)
def test_a_board_of_estimates_that_contradicts_itself_is_refused(board: str) -> None:
    """With the key and the value."""
    with pytest.raises(ManifestRejected) as refused:
        declare("episodes", "{x: {direction: minimize}}", f"method: estimate, {board}", "", "[{id: a}, {id: b}]")

    assert REFUSED[board] in [problem.message for problem in refused.value.problems]


def test_rows_are_not_ranked_by_a_method_that_measures_each_entrant() -> None:
    """A program's own mistake, said with the method."""
    declared = declare("episodes", "{x: {direction: minimize}}", "method: estimate, metrics: [x]")

    with pytest.raises(TypeError, match=r"^estimate measures each entrant apart$"):
        compute_board(declared, declared.leaderboards[0], rows())
