"""What a run claims of itself beside its own rows: which claims are compared with what, and what is said of the run."""

from dataclasses import replace
from typing import Any

import pytest

from app.boards.example import rows
from app.kinds.series.claims import about_run
from app.kinds.series.summary import check_series_claims
from app.manifest.model import Manifest
from app.values.facts import ClaimedValue
from tests.cases.series_runs import benchmark

RUN = rows({"GPH": [0.1, 0.1, 0.4], "RS": [0.3, 0.3, 0.6]}, "mae")
"""Of three strata of one record each: GPH is before RS on the one board, by a weighted rank of 1."""
OURS, THEIRS = (benchmark("[mae, bias]", rest=f"uncertainty: {{rng_seed: 7{stream}}}").model_copy(
    update={"title": "Long memory"}) for stream in ("", ", stream: lrdbench"))  # fmt: skip
AGREES = ClaimedValue("per_stratum_metrics", "GPH", "mae", "c", None, 0.4)
INTERVAL = ClaimedValue("benchmark_uncertainty", "GPH", "mae", "c", 0.95, 0.4, 0.4, 0.4)


def of_board(metric: str, value: float | None, board: str = "board") -> ClaimedValue:
    """Return a claim about GPH on a leaderboard."""
    return ClaimedValue("leaderboard", "GPH", metric, None, None, value, board=board)


SAID: dict[str, tuple[list[ClaimedValue], str, str]] = {
    "a mean of a stratum": ([AGREES], "passed", "All 1 claimed values that can be compared agree."),
    "a rank and a score": (
        [of_board("rank", 1.0), of_board("score", 1.0)], "passed", "All 2 claimed values that can be compared agree."),
    "a board by its number": (
        [of_board("rank", 1.0, "board 1")], "passed", "All 1 claimed values that can be compared agree."),
    "another rank": ([of_board("rank", 2.0)], "warned", "GPH rank in board: 2.0 claimed, 1.0 computed."),
    "an empty cell of another board's component": (
        [AGREES, of_board("bias", None)], "passed", "All 1 claimed values that can be compared agree."),
    "a value of another board's component": (
        [AGREES, of_board("bias", 0.5)], "warned",
        "agree. 1 more cannot be compared with anything of this benchmark."),
    "a board of the run's own": (
        [AGREES, of_board("rank", 1.0, "board 2")], "warned",
        "agree. 1 more cannot be compared with anything of this benchmark."),
    "a stratum of the run's own": (
        [AGREES, ClaimedValue("per_stratum_metrics", "GPH", "mae", "z", None, 0.4)], "passed",
        "agree. 1 more cannot be compared with anything of this benchmark."),
    "an interval that the benchmark draws in another way": (
        [INTERVAL], "warned", "None of the claimed values can be compared. 1 more cannot be compared"),
}  # fmt: skip


@pytest.mark.parametrize("name", SAID)
def test_a_claim_is_held_against_what_it_is_about(name: str) -> None:
    """What nothing here corresponds to neither agrees nor differs; of a whole board it is worth a warning."""
    claims, outcome, words = SAID[name]
    (actual,) = check_series_claims(OURS, RUN, claims)

    assert (actual.rule, actual.outcome, words in actual.reason) == ("claimed_values", outcome, True), actual.reason


def test_an_interval_is_compared_where_it_is_drawn_as_lrdbench_draws_it() -> None:
    """That of a single record has no width."""
    wide = replace(INTERVAL, high=0.5)
    first, second = (check_series_claims(THEIRS, RUN, [claim])[0].reason for claim in (INTERVAL, wide))

    assert first == "All 1 claimed values that can be compared agree."
    assert second.endswith("GPH mae in c: 0.4 to 0.5 claimed, 0.4 to 0.4 computed.")


SEED = {"seeds": {"global_seed": 9}}


@pytest.mark.parametrize(
    ("manifest", "stated", "columns"),
    [
        (THEIRS, {"name": "series"}, []),
        (THEIRS, {"name": "long_memory"}, []),
        (THEIRS, {"name": "other"}, ["name"]),
        (THEIRS, SEED, ["seeds.global_seed"]),
        (THEIRS, {"uncertainty": {"seed": 7}} | SEED, []),
        (THEIRS, {"uncertainty": {"seed": "8"}, "seeds": {"global_seed": 7}}, []),
        (OURS, SEED, []),
    ],
)
def test_a_run_is_told_that_it_is_of_another_suite_or_seed(
    manifest: Manifest, stated: dict[str, Any], columns: list[str]
) -> None:
    """Its seed matters where intervals are drawn as lrdbench draws them; a seed that is no number is none."""
    assert [problem.column for problem in about_run(manifest, stated, "manifest.yaml")] == columns
