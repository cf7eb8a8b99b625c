"""Claims that a submission of predictions makes about itself: compared once measured, and never with private labels."""

import pytest

from app.admission.case import Claims
from app.admission.claims import SubmissionClaims
from app.kinds.contract import Evaluation
from app.kinds.parse import parse_manifest
from app.kinds.predictions.kind import own_claims, summarise, summary_board
from app.values.facts import RunFacts
from tests.cases.prediction_boards import BINARY, benchmark, benchmark_text, empty_scores, measure, two_classes

KEPT = "Claims about private labels are kept and shown, and never compared: an answer would tell labels."
LATER = "Claims about predictions are decided at evaluation: only then are they measured."


def checks(labels: str, claims: Claims | None) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return the outcomes and reasons of claims while somebody waits, and at the evaluation."""
    manifest = benchmark(f"{BINARY}, labels: {labels}", ["accuracy"])
    truth, scores = two_classes(60)
    measured = measure(manifest, "A", scores, truth)
    evaluation = Evaluation(manifest=manifest, rows=empty_scores(), facts=RunFacts(), claims=claims,
                            bootstrap_method="cluster", measure=lambda board: [measured])  # fmt: skip
    early = own_claims(SubmissionClaims(manifest, empty_scores(), RunFacts(), claims))
    return tuple([(each.outcome, each.reason) for each in some] for some in (early, summarise(evaluation).checks))  # type: ignore[return-value]


def test_a_submission_is_summarised_by_every_metric_whichever_a_board_has() -> None:
    """By a board that has all of them; where each has some, by one made so."""
    board = "leaderboards: [{name: board, method: estimate, metrics: ['accuracy', 'f1']}]"
    text = benchmark_text(BINARY, {"accuracy": "maximize", "f1": "maximize"})
    assert board in text
    parted = text.replace(board, board.replace(", 'f1'", ""))
    boards = [summary_board(parse_manifest(each.encode())) for each in (text, parted)]

    assert [(each.name, each.metrics) for each in boards] == [
        ("board", ["accuracy", "f1"]),
        ("summary", ["accuracy", "f1"]),
    ]


@pytest.mark.parametrize("labels", ["public", "private"])
def test_without_claims_there_is_nothing_to_say(labels: str) -> None:
    """Neither early nor late."""
    assert checks(labels, None) == ([], [])


def test_claims_about_private_labels_are_never_compared() -> None:
    """An answer to each claim would tell a label at a time."""
    assert checks("private", {"A": {"accuracy": 0.5}}) == ([("warned", KEPT)], [("warned", KEPT)])


def test_claims_about_public_labels_wait_for_the_evaluation() -> None:
    """Which compares them with what it measured."""
    early, late = checks("public", {"A": {"accuracy": 2.0}})

    assert early == [("warned", LATER)]
    assert [outcome for outcome, _ in late] == ["failed"]
    assert "A accuracy: 2.0 claimed" in late[0][1]
