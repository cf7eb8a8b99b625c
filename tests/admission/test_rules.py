"""The rules of admission that every kind of evidence has: registration, time, entrants, tasks, claims, clean code."""

from dataclasses import replace
from datetime import timedelta

import pytest

from app.admission.case import Case, Check
from app.admission.rules import is_admitted, reason_not_admitted
from app.kinds.parse import parse_manifest
from app.manifest.model import Admission
from app.prereg.fields import IID_REFUSED
from app.values.facts import RunFacts
from tests.cases.admission import (
    AXIS,
    EVALUATION,
    RECEIVED,
    REGISTERED,
    RUN_BEGAN,
    applied,
    case,
    check,
    demanding,
    facts,
    failed,
    grid,
    registered,
    rules,
    summary,
    table,
)
from tests.cases.chamber import MANIFEST, PREREG


def test_an_honest_bundle_breaks_no_rule() -> None:
    """Whatever is forged below is forged from this."""
    outcomes = {each.outcome for each in applied(case(facts()))}

    assert outcomes == {"passed"}


@pytest.mark.parametrize("submission", [case(facts()), case(), summary(), case(registered=registered(AXIS))])
def test_each_rule_is_one_check(submission: Case) -> None:
    """No rule speaks twice, in any form of prereg."""
    applied = rules(submission)

    assert len(applied) == len(set(applied))


def test_a_demanded_prereg_that_is_not_cited_is_refused() -> None:
    """The other rules of the benchmark are applied all the same."""
    submission = case(registered=None, dirty=True)

    assert list(failed(submission)) == ["prereg", "dirty"]


def test_a_benchmark_may_do_without_a_prereg() -> None:
    """Then its absence is told."""
    submission = case(registered=None, manifest=demanding(prereg="optional"))

    assert check(submission, "prereg").outcome == "warned"


def test_a_form_that_the_benchmark_does_not_take_is_refused() -> None:
    """With the forms that it takes."""
    reason = failed(case(registered=registered(AXIS)))["prereg_form"]

    assert reason == "The preregistration has the axis form; document is required."


def test_a_prereg_of_another_benchmark_is_refused() -> None:
    """It names the one that it is for."""
    reason = failed(summary(EVALUATION.replace(b"small", b"large")))["prereg_benchmark"]

    assert reason == "The preregistration is for large, not for small."


@pytest.mark.parametrize("purpose", ["power", "debug"])
def test_power_and_debug_runs_are_never_ranked(purpose: str) -> None:
    """That is the only rule they break."""
    actual = failed(case(facts(), registered=registered(PREREG, run_purpose=purpose)))

    assert actual == {
        "run_purpose": f"The registered run purpose is {purpose}: such runs are stored and shown, never ranked."
    }


def test_a_pooled_bootstrap_is_refused_for_a_ranked_run() -> None:
    """Also when a registration of old times was stored with it."""
    assert failed(case(registered=registered(PREREG, bootstrap_method="iid"))) == {"bootstrap_method": IID_REFUSED}


def test_a_power_run_may_pool_its_episodes() -> None:
    """The check says why."""
    submission = case(registered=registered(PREREG, bootstrap_method="iid", run_purpose="power"))

    assert check(submission, "bootstrap_method") == Check(
        "bootstrap_method",
        "passed",
        "The registered bootstrap method is iid, which a power run may use: it is never ranked.",
    )


def test_a_registration_before_the_run_is_told_with_both_times() -> None:
    """The server saw one of them; the other is the submitter's word."""
    assert check(case(), "registered_before_run").reason == (
        "Registered 2026-03-01 08:00:00 UTC (witnessed by the server), before the run began "
        "(2026-03-02 08:00:00 UTC, self-reported)."
    )


def test_a_registration_after_the_run_began_is_refused() -> None:
    """A plan that was made with the results at hand is no plan."""
    late = replace(registered(), registered_at=RUN_BEGAN + timedelta(seconds=1))

    assert "after the run began" in failed(case(registered=late))["registered_before_run"]


def test_a_registration_at_the_very_start_counts() -> None:
    """Before, or at the same second."""
    assert check(case(registered=replace(registered(), registered_at=RUN_BEGAN)), "registered_before_run").outcome == (
        "passed"
    )


def test_a_registration_after_the_upload_is_refused() -> None:
    """A steward's word of it, even without a word on when the run began."""
    late = replace(registered(), registered_at=RECEIVED + timedelta(seconds=1), attested=True)

    assert "after the upload" in failed(case(registered=late, started_at=None))["registered_before_run"]


def test_a_witnessed_registration_that_is_cited_was_there_before() -> None:
    """The server has it already: a later date says that the database's clock was set back, not that it came later."""
    ahead = replace(registered(), registered_at=RECEIVED + timedelta(hours=5))

    assert check(case(registered=ahead, started_at=None), "registered_before_run").outcome == "warned"


def test_a_registration_with_the_upload_is_not_after_it() -> None:
    """The order of registration and run is unknown then."""
    together = replace(registered(), registered_at=RECEIVED)

    assert check(case(registered=together, started_at=None), "registered_before_run").outcome == "warned"


def test_a_run_that_begins_after_its_upload_is_refused() -> None:
    """No clock is that wrong by accident."""
    submission = case(started_at=RECEIVED + timedelta(days=1))

    assert "claims to have begun" in failed(submission)["registered_before_run"]


def test_an_unknown_order_is_told() -> None:
    """It is a warning, not a pass."""
    actual = check(case(started_at=None), "registered_before_run")

    assert actual.outcome == "warned"
    assert "unknown" in actual.reason


def test_an_attested_registration_is_told_as_such() -> None:
    """It counts, and never as witnessed."""
    attested = replace(registered(), registered_at=REGISTERED, attested=True)
    actual = check(case(registered=attested), "registered_before_run")

    assert actual.outcome == "passed"
    assert "attested by the steward" in actual.reason
    assert "witnessed" not in actual.reason


def test_an_unregistered_entrant_is_refused() -> None:
    """By its name."""
    assert failed(summary(entrant="stranger")) == {"entrants": "Not among the registered entrants: stranger."}


def test_an_unregistered_task_is_refused() -> None:
    """By its name."""
    actual = failed(summary(tasks=("place", "reach", "throw")))

    assert actual == {"tasks": "Not among the registered tasks: throw."}


def test_a_summary_that_lacks_a_task_is_told_as_a_failure() -> None:
    """In that kind of evidence an absent row is a failed task; the boards count it."""
    assert check(summary(tasks=("place",)), "tasks") == Check(
        "tasks", "warned", "Counted as failures: mover lacks 1 of 2 tasks (reach)."
    )


@pytest.mark.parametrize(("policy", "outcome"), [("strict", "failed"), ("best_effort", "warned")])
def test_a_registered_task_without_episodes_is_a_gap(policy: str, outcome: str) -> None:
    """An episode that failed is a row: a task without rows was not run, and the failure policy decides."""
    declared = registered(PREREG, tasks=("place", "reach"), failure_policy=policy)
    submission = case(registered=declared, manifest=demanding())

    assert check(submission, "tasks").outcome == outcome


def test_a_metric_that_was_not_delivered_is_refused() -> None:
    """By its name."""
    actual = failed(summary(EVALUATION.replace(b"[MASE]", b"[MASE, WQL]")))

    assert actual == {"metrics": "Registered metrics that were not delivered: WQL."}


def test_a_registered_metric_without_any_value_is_refused() -> None:
    """A column of nulls is no delivery."""
    scores = table(grid(), ["success", "violation"])
    scores.values[:, 1] = float("nan")

    assert failed(case(scores=scores, registered=registered(PREREG, metrics=("violation",)))) == {
        "metrics": "Registered metrics without any value: violation of mover."
    }


def test_episodes_of_another_axis_are_refused() -> None:
    """Where the benchmark's tasks are the axes."""
    axes = MANIFEST.replace(b"{id: place}", b"{id: AS}, {id: OM}").replace(b"[document]", b"[axis]")
    submission = case(rows=grid(task="OM"), registered=registered(AXIS), manifest=parse_manifest(axes))

    assert failed(submission) == {"axis": "The registered axis is AS, the episodes are of OM."}


def test_seeds_of_a_summary_are_told_as_not_checked() -> None:
    """Its rows carry none."""
    assert check(summary(EVALUATION + b"seeds: [1, 2]\n"), "seeds").outcome == "warned"


def test_a_dirty_tree_is_refused_with_who_says_so() -> None:
    """The form or any bundle."""
    reason = failed(case(facts(dirty=True), dirty=False))["dirty"]

    assert reason == "The run came from a dirty working tree (run), which this benchmark does not admit."


def test_a_benchmark_may_allow_a_dirty_tree() -> None:
    """Then it is a warning."""
    assert check(case(dirty=True, manifest=demanding(dirty="allow")), "dirty").outcome == "warned"


def test_silence_on_the_tree_is_not_clean() -> None:
    """Neither of the form, nor of one bundle among others."""
    assert check(case(dirty=None), "dirty").outcome == "warned"
    assert check(case(facts(), facts(dirty=None), dirty=None), "dirty").outcome == "warned"


def test_a_clean_tree_is_the_word_of_the_form_or_of_every_bundle() -> None:
    """Either is enough."""
    assert check(case(dirty=False), "dirty").outcome == "passed"
    assert check(case(facts(dirty=None), dirty=False), "dirty").outcome == "passed"
    assert check(case(facts(), dirty=None), "dirty").outcome == "passed"


@pytest.mark.parametrize("claims", [None, {}, {"mover": {}}, {"other": {"success": 0.5}}])
def test_a_demanded_claim_that_is_missing_is_refused(claims: dict[str, dict[str, float]] | None) -> None:
    """For every entrant; an empty claim is none."""
    submission = case(claims=claims, manifest=demanding(claims="required"))

    assert failed(submission) == {"claims": "The benchmark requires claimed values; there are none for mover."}


def test_each_entrant_needs_its_own_claim() -> None:
    """One of two is not enough."""
    rows = [*grid(), *grid(entrant="naive")]
    submission = case(rows=rows, claims={"naive": {"success": 1.0}}, manifest=demanding(claims="required"))

    assert failed(submission)["claims"].endswith("there are none for mover.")


def test_claimed_averages_are_told_to_have_no_interval() -> None:
    """Plain tables of episodes have no place for one."""
    submission = case(claims={"mover": {"success": 1.0}}, manifest=demanding(claims="required"))

    assert check(submission, "claims").outcome == "warned"


def test_a_claim_is_not_asked_for_where_it_is_optional() -> None:
    """There is no such check then."""
    assert "claims" not in rules(case(manifest=demanding(claims="optional")))


def test_failed_checks_alone_keep_a_submission_out() -> None:
    """The reasons of all of them make its reason."""
    checks = [
        Check("a", "failed", "A is wrong."),
        Check("b", "warned", "B is odd."),
        Check("c", "passed", "C is right."),
        Check("d", "failed", "D is wrong."),
    ]

    assert not is_admitted(checks)
    assert is_admitted(checks[1:3])
    assert reason_not_admitted(checks) == "A is wrong. D is wrong."


def test_a_rule_of_the_manifest_is_known_to_admission() -> None:
    """A new rule of the manifest needs a check or a right: this list is to be read when it changes."""
    checks = {"prereg", "prereg_forms", "min_seeds", "claims", "dirty", "report_within_days", "failure_policy",
              "started_at"}  # fmt: skip
    rights = {"submissions", "registration"}

    assert set(Admission.model_fields) == checks | rights


def test_a_case_without_bundles_has_no_check_of_them() -> None:
    """Plain tables say nothing of themselves."""
    about_bundles = {"prereg_unchanged", "git_tag", "schedule", "schema_version", "resamples"}

    assert about_bundles & set(rules(case(facts=RunFacts()))) == set()
