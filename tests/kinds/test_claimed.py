"""What a submission claims of itself against its own rows: by the evaluation, and by what only checks."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.admission.case import Check, Claims
from app.admission.claims import SubmissionClaims, own_means
from app.cli.demo import Example
from app.config import Settings
from app.files.uploads import Limits, SentFile
from app.kinds.episodes.summary import episodes_drawn
from app.kinds.parse import parse_manifest
from app.kinds.reader import Evidence, read_evidence
from app.kinds.registry import kind_of
from app.kinds.series.manifest_part import SeriesPart
from app.manifest.model import Manifest, part_of
from app.values.facts import RunFacts
from app.values.scores import ScoreTable
from tests.cases.admission import facts, grid, table
from tests.cases.chamber import EXAMPLES, MANIFEST, manifest

TABLE = b"""
schema_version: 1
slug: small
title: Small
evidence: evaluation_summary
metrics: {success: {direction: maximize}}
tasks: {open: true}
leaderboards: [{name: mean, method: mean, metric: success}]
"""
GIVEN = ("chamber-handover", "chamber-cocarry")
ONE = {"success_mean": 1.0, "success_iqm": 1.0, "success_ci_low": 1.0, "success_ci_high": 1.0}


def given(name: str, at: int = 0) -> tuple[Manifest, Evidence]:
    """Return one of the examples' submissions, read."""
    example = Example(EXAMPLES / name)
    declared = parse_manifest(Path(example.manifest).read_bytes())
    submission = example.submissions[at]
    uploads = [SentFile(path.name, path) for path in submission.files]
    return declared, read_evidence(declared, uploads, submission.entrant, Limits.from_settings(Settings()))


def check_own_claims(
    declared: Manifest, scores: ScoreTable, stated: RunFacts, claims: Claims | None, *, is_request: bool = False
) -> list[Check]:
    """Return what the benchmark's kind of evidence makes of the claims."""
    return kind_of(declared).own_claims(SubmissionClaims(declared, scores, stated, claims, is_request))


def summarised(n_bundles: int = 1, **changed: Any) -> RunFacts:
    """Return bundles that claim what forty successes give, with what is changed."""
    drawn = {"n_resamples": 2000, "bootstrap_root_seed": 0}
    return RunFacts(tuple(facts(summary={**ONE, **drawn, **changed}) for _ in range(n_bundles)))


UNSEEN = "Not verified, because they cannot be computed again: run, success_ci_high, success_ci_low ("
SUMMARIES: dict[str, tuple[dict[str, Any], str, str]] = {
    "what comes out": ({}, "passed", "Every claimed summary comes out of the episodes, within 1e-09."),
    "a sum that was rounded another way": (
        {"success_mean": 1.0 - 1e-12}, "passed", "Every claimed summary comes out of the episodes, within 1e-09."),
    "another sum": ({"success_mean": 1.0 - 1e-6}, "failed", "success_mean"),
    **{f"a false interval of {what}": ({"success_ci_low": 0.2, **changed}, "warned", UNSEEN) for what, changed in {
        "a negative root": {"bootstrap_root_seed": -1}, "no root": {"bootstrap_root_seed": None},
        "half a root": {"bootstrap_root_seed": 0.5}, "too many resamples": {"n_resamples": 20_001}}.items()},
    **{f"a false interval of a whole {key} with a point": (
        {"success_ci_low": 0.2, key: value}, "failed", "success_ci_low: 0.2 claimed, 1.0 computed")
       for key, value in {"bootstrap_root_seed": 0.0, "n_resamples": 2000.0}.items()},
    "nulls": (dict.fromkeys((*ONE, "n_resamples", "bootstrap_root_seed")), "warned",
              "every value of its summary is null"),
}  # fmt: skip


@pytest.mark.parametrize("name", SUMMARIES)
def test_a_summary_is_held_against_forty_successes(name: str) -> None:
    """What cannot be drawn again is told by its name, and never said to come out to the last digit."""
    changed, outcome, words = SUMMARIES[name]
    (actual,) = check_own_claims(manifest(), table(grid()), summarised(**changed), None)

    assert (actual.rule, actual.outcome) == ("claimed_summary", outcome)
    assert words in actual.reason


def test_a_summary_counts_an_episode_without_a_score_as_the_worst() -> None:
    """A mean of the scored episodes alone is not the mean."""
    scores = table(grid())
    scores.values[0, 0] = np.nan
    (actual,) = check_own_claims(manifest(), scores, summarised(), None)

    assert "success_mean: 1.0 claimed, 0.975 computed" in actual.reason


def test_a_request_leaves_what_takes_long_to_the_evaluation() -> None:
    """It says so; without a request all of it is drawn."""
    many = summarised(20)
    scores = table(grid())
    (later,) = check_own_claims(manifest(), scores, many, None, is_request=True)
    (now,) = check_own_claims(manifest(), scores, many, None)

    assert (later.outcome, now.outcome) == ("warned", "passed")
    assert "decided at evaluation" in later.reason


def test_summaries_that_are_not_drawn_again_cost_nothing() -> None:
    """More resamples than are drawn, one, or a summary without any."""
    scores = table(grid())

    assert episodes_drawn(scores, summarised(n_resamples=10**9).bundles) == 0
    assert episodes_drawn(scores, summarised(n_resamples=1).bundles) == 0
    assert episodes_drawn(scores, [facts(summary={})]) == 0
    assert episodes_drawn(scores, summarised().bundles) == 2000 * 540


@pytest.mark.heavy
@pytest.mark.parametrize(("name", "at"), [(name, at) for name in GIVEN for at in range(3)])
def test_every_claimed_number_of_the_given_bundles_comes_out_bit_for_bit(name: str, at: int) -> None:
    """Point estimates, both ends of the interval and the count; the next float is another number."""
    declared, evidence = given(name, at)
    (bundle,) = evidence.facts.bundles
    (actual,) = check_own_claims(declared, evidence.scores, evidence.facts, None)
    others = {key: float(np.nextafter(bundle.summary[key], 2.0)) for key in (*ONE, "n_episodes")}
    forged = [replace(bundle, summary={**bundle.summary, key: value}) for key, value in others.items()]
    reported = [check_own_claims(declared, evidence.scores, RunFacts((each,)), None)[0] for each in forged]

    assert actual.reason == "Every claimed summary comes out of the episodes, to the last digit."
    assert [check.outcome for check in reported] == ["failed"] * 5


def test_values_that_a_run_of_lrdbench_claims_are_compared_within_a_request() -> None:
    """One of them is changed, and told as a warning."""
    declared, evidence = given("lrdbench-canonical")
    at = next(at for at, claim in enumerate(evidence.facts.claimed) if claim.table == "per_stratum_metrics")
    wrong = list(evidence.facts.claimed)
    wrong[at] = replace(wrong[at], value=99.0)
    (actual,) = check_own_claims(declared, evidence.scores, evidence.facts, None, is_request=True)
    changed = replace(evidence.facts, claimed=tuple(wrong))
    (reported,) = check_own_claims(declared, evidence.scores, changed, None, is_request=True)

    assert (actual.rule, actual.outcome) == ("claimed_values", "passed")
    assert reported.outcome == "warned"
    assert "99.0 claimed" in reported.reason


def test_many_values_of_lrdbench_are_left_to_the_evaluation() -> None:
    """Where a request would draw for long."""
    declared, evidence = given("lrdbench-canonical")
    drawn = part_of(declared, SeriesPart).drawn.model_copy(update={"n_resamples": 100_000})
    heavy = declared.model_copy(update={"part": declared.part.model_copy(update={"uncertainty": drawn})})
    scores = replace(evidence.scores, values=np.tile(evidence.scores.values, (10, 1)))
    (actual,) = check_own_claims(heavy, scores, evidence.facts, None, is_request=True)

    assert (actual.rule, actual.outcome) == ("claimed_values", "warned")
    assert "decided at evaluation" in actual.reason


def test_a_claimed_mean_is_over_tasks() -> None:
    """A task with many episodes weighs no more than one with a single one."""
    declared = parse_manifest(MANIFEST.replace(b"[{id: place}]", b"[{id: place}, {id: lift}]"))
    scores = table([*grid(), *grid([0], ["left"], n=1, task="lift")])
    scores.values[40:] = 0.0

    assert own_means(declared.model_copy(update={"metrics": {"success": declared.metrics["success"]}}), scores) == {
        ("mover", "success"): 0.5
    }


@pytest.mark.parametrize(("claimed", "outcome"), [(1.0, "passed"), (0.9, "failed")])
def test_claimed_means_of_a_table_are_compared_within_a_request(claimed: float, outcome: str) -> None:
    """A kind that says nothing of claims compares means over tasks."""
    declared = parse_manifest(TABLE)
    (actual,) = check_own_claims(declared, table(grid()), RunFacts(), {"mover": {"success": claimed}}, is_request=True)

    assert (actual.rule, actual.outcome) == ("claims", outcome)
