"""Episodes without a score: an empty cell fails or counts as the worst, and never leaves a failure out."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from app.admission.case import Case
from app.boards.coverage import with_worst
from app.kinds.parse import parse_manifest
from app.manifest.model import Manifest, Metric
from app.values.scores import ScoreTable
from tests.cases.admission import case, check, demanding, failed, grid, registered, table
from tests.cases.chamber import MANIFEST, PREREG, manifest

BEST_EFFORT = PREREG + b"failure_policy: best_effort\n"


def emptied(*at: int, metric: str = "success") -> ScoreTable:
    """Return the small benchmark's episodes with some scores left empty."""
    scores = table(grid(), ("success", "violation"))
    values = scores.values.copy()
    values[list(at), scores.columns.index(metric)] = np.nan
    return replace(scores, values=values)


def lacking(*at: int, prereg: bytes | None = PREREG, **changed: Any) -> Case:
    """Return a submission with some successes left empty; `prereg` None cites none."""
    cited = None if prereg is None else registered(prereg)
    return case(registered=cited, **({"scores": emptied(*at)} | changed))


def unbounded() -> Manifest:
    """Return the small benchmark whose ranking metric has no least value."""
    return parse_manifest(MANIFEST.replace(b"direction: maximize, min: 0, max: 1", b"direction: maximize, max: 1"))


def test_an_empty_score_is_refused_under_strict() -> None:
    """Two failures left empty would lift the mean."""
    actual = check(lacking(0, 1), "scores_present")

    assert actual.outcome == "failed"
    assert actual.reason == (
        "Episodes without a score that ranks: success of mover in 2 of 40. The registered failure policy is strict."
    )


def test_an_empty_score_counts_as_the_worst_under_best_effort() -> None:
    """And the check says as what."""
    actual = check(lacking(0, prereg=BEST_EFFORT), "scores_present")

    assert actual.outcome == "warned"
    assert actual.reason.endswith("each counts as the worst there is (success 0).")


def test_an_empty_score_without_a_worst_value_is_refused_under_any_policy() -> None:
    """There is nothing that it could count as."""
    actual = check(lacking(0, prereg=BEST_EFFORT, manifest=unbounded()), "scores_present")

    assert actual.outcome == "failed"
    assert actual.reason.endswith("declares no worst value that they could count as: success.")


@pytest.mark.parametrize(("policy", "outcome"), [("strict", "failed"), ("best_effort", "warned")])
def test_the_benchmark_judges_a_run_without_registration(policy: str, outcome: str) -> None:
    """Its own policy, strict unless it says otherwise."""
    actual = check(lacking(0, prereg=None, manifest=demanding(failure_policy=policy)), "scores_present")

    assert (demanding().admission.failure_policy, actual.outcome) == ("strict", outcome)
    assert f"The benchmark's failure policy is {policy}" in actual.reason


def test_every_episode_with_its_scores_passes() -> None:
    """The honest submission."""
    assert check(case(), "scores_present").outcome == "passed"


def test_an_empty_score_of_another_metric_is_told() -> None:
    """It does not rank, so it is left out of that metric's average."""
    actual = check(case(scores=emptied(0, metric="violation")), "scores_present")

    assert actual.outcome == "warned"
    assert "violation of mover in 1 of 40" in actual.reason


def test_seeds_are_counted_by_their_scored_episodes() -> None:
    """A seed of which nothing was scored is none of the five."""
    actual = check(lacking(*range(8), prereg=BEST_EFFORT), "min_seeds")

    assert actual.outcome == "failed"
    assert actual.reason == "mover has 4 seeds with scores on place; the benchmark requires 5."


def test_episodes_are_counted_by_their_scores() -> None:
    """Four rows, three of them scored."""
    actual = check(lacking(0), "episodes_per_seed")

    assert actual.outcome == "failed"
    assert "mover, place, left, seed 0 has 4, 3 with scores" in actual.reason


def test_more_rows_than_registered_are_refused_however_few_are_scored() -> None:
    """To score only the best four of five is to choose."""
    rows = [*grid(), ("mover", "place", "left", 2, "more")]
    scores = table(rows, ("success", "violation"))
    scores.values[-1, 0] = np.nan

    assert (
        "not admitted under any policy"
        in failed(case(scores=scores, registered=registered(BEST_EFFORT)))["episodes_per_seed"]
    )


def test_a_score_of_a_task_that_no_board_ranks_may_be_empty() -> None:
    """The board reads another task."""
    elsewhere = parse_manifest(
        MANIFEST.replace(b"[{id: place}]", b"[{id: place}, {id: lift}]").replace(
            b"{name: success,", b"{name: success, tasks: [lift],"
        )
    )

    assert check(lacking(0, manifest=elsewhere), "scores_present").outcome == "passed"


@pytest.mark.parametrize(
    ("declared", "worst"),
    [
        ({"direction": "maximize", "min": 0, "max": 1}, 0.0),
        ({"direction": "minimize", "min": 0, "max": 5}, 5.0),
        ({"direction": "minimize"}, None),
        ({"direction": "minimize", "above": 130}, 1.0),
        ({"direction": "maximize", "above": 130, "min": -7}, 0.0),
    ],
)
def test_the_worst_value_follows_from_direction_and_range(declared: dict[str, Any], worst: float | None) -> None:
    """A metric above a limit is yes or no."""
    assert Metric.model_validate(declared).worst == worst


def test_only_what_ranks_is_filled_with_the_worst() -> None:
    """Another metric stays unknown."""
    scores = emptied(0)
    scores.values[1, 1] = np.nan
    filled = with_worst(manifest(), scores)

    assert filled.value("success")[:2].tolist() == [0.0, 1.0]
    assert np.isnan(filled.value("violation")[1])
    assert np.isnan(scores.value("success")[0])
