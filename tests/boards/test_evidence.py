"""What boards are computed from: whose evidence is left out, kept and added, of rows and of measurements."""

import pytest

from app.boards.coverage import common_tasks
from app.boards.evidence import BoardEvidence, LeftOut, Standing, board_of, rows_of
from app.boards.example import benchmark, measured, rows
from app.boards.measured import Measurement
from app.boards.methods.estimate import EstimateBoard
from app.boards.methods.mean import Mean
from app.manifest.model import Leaderboard
from app.values.scores import ScoreTable

BOARD = Mean(name="main", method="mean", metric="error")
STANDINGS = [Standing("Fair", 2, (2, 0)), Standing("Good", 1, (1, 1)), Standing("Poor", 1, (1, 2))]


def kept(left_out: LeftOut) -> ScoreTable:
    """Return the rows of who is not left out."""
    return rows_of(rows(), {each.entrant for each in STANDINGS if each.pair not in left_out})


def measurements(_: Leaderboard, left_out: LeftOut) -> list[Measurement]:
    """Return measurements of who is not left out."""
    return [measured(each.entrant, 0.5) for each in STANDINGS if each.pair not in left_out]


EVIDENCE = BoardEvidence(manifest=benchmark(BOARD), standings=STANDINGS, scores=kept, measurements=measurements)


def of(evidence: BoardEvidence, left_out: LeftOut = frozenset()) -> tuple[list[str], list[str], list[str]]:
    """Return who stands, who has rows, and who is measured."""
    scores = evidence.scores(left_out)
    assert sorted(set(scores.entrant.to_list())) == sorted(scores.entrant.words)
    names = [each.entrant for each in evidence.measurements(BOARD, left_out)]
    return evidence.entrants(), sorted(scores.entrant.words), names


def test_evidence_is_left_out_by_submission_by_entrant_or_all_but_some() -> None:
    """Each as the pairs that it is shown by."""
    assert EVIDENCE.of_submissions({1}) == {(1, 1), (1, 2)}
    assert EVIDENCE.of_entrants({"Fair", "Nobody"}) == {(2, 0)}
    assert EVIDENCE.not_in(frozenset({(2, 0), (1, 2)})) == {(1, 1)}
    assert of(EVIDENCE, EVIDENCE.of_submissions({1})) == (["Fair", "Good", "Poor"], ["Fair"], ["Fair"])


def test_some_alone_are_neither_beside_others_nor_without_what_is_left_out() -> None:
    """In what stands, in rows and in measurements."""
    some = EVIDENCE.among({"Poor", "Fair", "Nobody"})

    assert of(some) == (["Fair", "Poor"],) * 3
    assert of(some, EVIDENCE.of_entrants({"Poor"})) == (["Fair", "Poor"], ["Fair"], ["Fair"])
    assert of(EVIDENCE) == (["Fair", "Good", "Poor"],) * 3


def test_newer_evidence_of_an_entrant_takes_the_place_of_what_stands() -> None:
    """And that of a new one stands beside the others, by name; what is left out of the others stays so."""
    mine = [measured("Poor", 0.9), measured("Away", 0.8)]
    newer = EVIDENCE.with_newer(["Poor", "Away"], lambda scores: rows_of(scores, {"Good"}), lambda _: mine)
    together = newer.measurements(BOARD, frozenset())

    assert [(each.entrant, each.submission, each.pair) for each in newer.standings] == [
        ("Away", 0, (0, 1)), ("Fair", 2, (2, 0)), ("Good", 1, (1, 1)), ("Poor", 0, (0, 0))
    ]  # fmt: skip
    assert [(each.entrant, each.estimates["success"].point) for each in together] == [
        ("Away", 0.8), ("Fair", 0.5), ("Good", 0.5), ("Poor", 0.9)
    ]  # fmt: skip
    assert [each.entrant for each in newer.measurements(BOARD, frozenset({(2, 0)}))] == ["Away", "Good", "Poor"]
    assert newer.scores(frozenset()).entrant.words == ("Good",)


def test_rows_of_some_are_theirs_and_of_nobody_else() -> None:
    """In the order of the table; nothing is copied where all are wanted."""
    every = rows()
    some = rows_of(every, {"Poor", "Good"})

    assert (some.entrant.words, some.entrant.to_list()) == (("Good", "Poor"), ["Good"] * 3 + ["Poor"] * 3)
    assert some.value("error").tolist() == [0.1, 0.2, 0.3, 0.8, 0.8, 0.8]
    assert rows_of(every, {"Good", "Fair", "Poor", "Nobody"}) is every
    assert len(rows_of(every, {"Nobody"})) == 0


def test_evidence_that_is_not_measured_has_no_board_of_measurements() -> None:
    """The kind is named."""
    board = EstimateBoard(name="main", method="estimate", metrics=["success"])
    with pytest.raises(TypeError, match=r"^evidence of kind evaluation_summary is not measured one entrant at a time$"):
        board_of(EVIDENCE, board)


def test_a_task_is_common_that_an_owner_has_with_any_of_its_entrants() -> None:
    """Two names of one owner are one; whoever has no row is not asked, and a NaN is none."""
    scores = rows({"A": [0.1, float("nan")], "B": [0.1, 0.2], "C": [0.3, 0.3]})

    assert common_tasks(scores, ["A", "B", "C"], [0, 0, 1]) == ["a", "b"]
    assert common_tasks(scores, ["A", "B", "C"], [0, 1, 2]) == ["a"]
    assert common_tasks(scores, ["Nobody", "A", "C"], [0, 1, 2]) == ["a"]
