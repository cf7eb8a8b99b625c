"""What runs claim of themselves, compared with their own rows on the given runs."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.kinds.reader import Evidence
from app.kinds.series.claims import BOARD
from app.kinds.series.summary import check_series_claims
from tests.cases.series_runs import given_manifest, read_given

RUNS = ("public_small_canonical_ground_truth", "public_small_stress_contamination", "smoke_ground_truth")


@pytest.fixture(scope="module", params=RUNS)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Evidence]:
    """Return a given run."""
    return request.param, read_given(request.param, tmp_path_factory.mktemp("run"))


def test_honest_boards_agree(run: tuple[str, Evidence]) -> None:
    """Every rank, score and component of the run's own leaderboards comes out of its rows."""
    name, evidence = run
    boards = [claim for claim in evidence.facts.claimed if claim.table == BOARD]
    (check,) = check_series_claims(given_manifest(name), evidence.scores, boards)

    assert boards
    assert check.outcome == "passed"
    assert check.reason == f"All {len(boards)} claimed values that can be compared agree."


@pytest.mark.parametrize(("metric", "value"), [("rank", 9.0), ("score", 9.5), ("mae", 0.0)])
def test_a_false_cell_of_a_leaderboard_is_named(tmp_path: Path, metric: str, value: float) -> None:
    """With the estimator, the board, what is claimed and what the rows give."""
    name = RUNS[0]
    evidence = read_given(name, tmp_path)
    at = next(at for at, claim in enumerate(evidence.facts.claimed) if claim.table == BOARD and claim.metric == metric)
    claims = list(evidence.facts.claimed)
    claims[at] = replace(claims[at], value=value)
    (check,) = check_series_claims(given_manifest(name), evidence.scores, claims)

    assert check.outcome == "warned"
    assert check.reason.startswith("1 claimed values differ")
    assert f"{claims[at].entrant} {metric} in canonical-accuracy: {value!r} claimed" in check.reason


def test_what_cannot_be_compared_does_not_count_as_agreeing(tmp_path: Path) -> None:
    """A claim about a board that the benchmark does not have."""
    evidence = read_given(RUNS[0], tmp_path)
    claims = [replace(claim, board="another") for claim in evidence.facts.claimed if claim.table == BOARD]
    (check,) = check_series_claims(given_manifest(RUNS[0]), evidence.scores, claims)

    assert check.reason == (
        f"None of the claimed values can be compared. {len(claims)} more cannot be compared with anything of "
        "this benchmark."
    )
    assert check.outcome == "warned"
