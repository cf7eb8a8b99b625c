"""The rules of admission that every kind of evidence has: registration, time, entrants, tasks, claims, clean code."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from app.admission.case import Case, Check, History, TokenHolder, check_attempts, listed
from app.admission.claims import check_claims
from app.admission.rules import check_benchmark, is_admitted, number_rows, reason_not_admitted
from app.kinds.parse import parse_manifest
from app.manifest.model import Admission, AtLeast, Grid, Manifest
from app.prereg.fields import IID_REFUSED
from app.values.facts import Finding, Forensics, RunFacts
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
from tests.cases.chamber import MANIFEST, PREREG, manifest

NULLS = table(grid(), ["success", "violation"])
NULLS.values[:, 1] = float("nan")
AXES = parse_manifest(MANIFEST.replace(b"{id: place}", b"{id: AS}, {id: OM}").replace(b"[document]", b"[axis]"))
SECOND = table([*grid(), *grid(entrant="other")], ["success", "violation"])
SECOND.values[40:, 1] = float("nan")
SIX = EVALUATION.replace(b"[place, reach]", b"[a, b, c, d, e, f]")
CLAIMED, BEGUN = demanding(claims="required"), demanding(started_at="required")
BOTH = [*grid(), *grid(entrant="naive")]


def at(moment: object, *, attested: bool = False, started_at: object = None) -> Case:
    """Return a submission whose registration is of this moment; the run says when it began, or does not."""
    return case(registered=replace(registered(), registered_at=moment, attested=attested), started_at=started_at)


ANN = TokenHolder(3, "ann")
BY_ANN = replace(registered(), by=ANN)


def freeing(**axes: AtLeast) -> Manifest:
    """Return the small benchmark, whose registrations may choose some axes."""
    free = (manifest().grid or Grid()).model_copy(update={"registration_may_choose": axes})
    return manifest().model_copy(update={"grid": free})


REFUSED: dict[str, tuple[Case, dict[str, str]]] = {
    "no registration, and the other rules are applied all the same": (
        case(registered=None, dirty=True),
        {"prereg": "arm admits only runs that cite a preregistration; none was cited.",
         "dirty": "The run came from a dirty working tree (metadata.dirty), which this benchmark does not admit."}),
    "a form that is not taken": (
        case(registered=registered(AXIS)),
        {"prereg_form": "The preregistration has the axis form; document is required."}),
    "of another benchmark": (
        summary(EVALUATION.replace(b"small", b"large")),
        {"prereg_benchmark": "The preregistration is for large, not for small."}),
    "a power run": (
        case(facts(), registered=registered(PREREG, run_purpose="power")),
        {"run_purpose": "The registered run purpose is power: such runs are stored and shown, never ranked."}),
    "a debug run": (case(registered=registered(PREREG, run_purpose="debug")), {"run_purpose": "is debug"}),
    "a pooled bootstrap": (
        case(registered=registered(PREREG, bootstrap_method="iid")), {"bootstrap_method": IID_REFUSED}),
    "registered after the run began": (
        at(RUN_BEGAN + timedelta(seconds=1), started_at=RUN_BEGAN),
        {"registered_before_run": "Registered 2026-03-02 08:00:01 UTC (witnessed by the server), after the run began "
                                  "(2026-03-02 08:00:00 UTC)."}),
    "attested after the upload": (
        at(RECEIVED + timedelta(seconds=1), attested=True),
        {"registered_before_run": "dated 2026-03-03 08:00:01 UTC (attested by the steward), after the upload."}),
    "begun after the upload": (
        case(started_at=RECEIVED + timedelta(days=1)),
        {"registered_before_run": "The run claims to have begun 2026-03-04 08:00:00 UTC, after the upload."}),
    "a stranger": (summary(entrant="stranger"), {"entrants": "Not among the registered entrants: stranger."}),
    "another task": (
        summary(tasks=("place", "reach", "throw")), {"tasks": "Not among the registered tasks: throw."}),
    "a misspelt task": (
        summary(tasks=("place", "reach", "raech")),
        {"tasks": "Not among the registered tasks: raech. Did you mean reach?"}),
    "a registered task without episodes": (
        case(registered=registered(PREREG, tasks=("place", "reach"))),
        {"tasks": "Registered tasks are missing: mover lacks 1 of 2 tasks (reach). The failure policy is strict."}),
    "a metric that was not delivered": (
        summary(EVALUATION.replace(b"[MASE]", b"[MASE, WQL]")),
        {"metrics": "Registered metrics that were not delivered: WQL."}),
    "a metric without any value": (
        case(scores=NULLS, registered=registered(PREREG, metrics=("violation",))),
        {"metrics": "Registered metrics without any value: violation of mover."}),
    "episodes of another axis": (
        case(rows=grid(task="OM"), registered=registered(AXIS), manifest=AXES),
        {"axis": "The registered axis is AS, the episodes are of OM."}),
    "a dirty tree, as a bundle says": (
        case(facts(dirty=True), dirty=False),
        {"dirty": "The run came from a dirty working tree (run), which this benchmark does not admit."}),
    "a metric without any value of the second": (
        case(scores=SECOND, registered=registered(PREREG, metrics=("success", "violation"))),
        {"metrics": "Registered metrics without any value: violation of other."}),
    "a commit that calls itself dirty": (
        case(facts(), facts(name="late", code_commit="0" * 40 + "-dirty")), {"dirty": "working tree (late)"}),
    "a beginning that is demanded": (
        case(manifest=BEGUN, started_at=None), {"started_at": '{"started_at": "2026-03-03T08:00:00Z"}.'}),
    "a beginning after the upload": (
        case(manifest=BEGUN, started_at=RECEIVED + timedelta(days=1)),
        {"registered_before_run": "", "started_at": "begun 2026-03-04 08:00:00 UTC, after the upload."}),
    "a beginning that is demanded without a registration": (
        case(manifest=demanding(started_at="required", prereg="optional"), registered=None, started_at=None),
        {"started_at": ""}),
    "no claim": (
        case(manifest=CLAIMED), {"claims": "The benchmark requires claimed values; there are none for mover."}),
    "an empty claim": (case(claims={"mover": {}}, manifest=CLAIMED), {"claims": "there are none for mover."}),
    "a claim of one of two entrants": (
        case(rows=BOTH, claims={"naive": {"success": 1.0}}, manifest=CLAIMED), {"claims": "there are none for mover."}),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_submission_is_refused_by_the_rules_that_it_breaks_and_by_no_other(name: str) -> None:
    """In words that name what is wrong; whatever is forged here is forged from one that breaks none."""
    submission, said = REFUSED[name]
    actual = failed(submission)

    assert actual.keys() == said.keys()
    assert [rule for rule, words in said.items() if words not in actual[rule]] == []


TOLD: dict[str, tuple[Case, str, str, str]] = {
    "no registration where none is needed": (
        case(registered=None, manifest=demanding(prereg="optional")), "prereg", "warned", "does not require one"),
    "a power run that pools": (
        case(registered=registered(PREREG, bootstrap_method="iid", run_purpose="power")),
        "bootstrap_method", "passed",
        "The registered bootstrap method is iid, which a power run may use: it is never ranked."),
    "registered before the run": (
        case(), "registered_before_run", "passed",
        "Registered 2026-03-01 08:00:00 UTC (witnessed by the server), before the run began "
        "(2026-03-02 08:00:00 UTC, self-reported)."),
    "registered in the second of the run": (
        at(RUN_BEGAN, started_at=RUN_BEGAN), "registered_before_run", "passed",
        "(2026-03-02 08:00:00 UTC, self-reported)."),
    "attested": (
        at(REGISTERED, attested=True, started_at=RUN_BEGAN), "registered_before_run", "passed",
        "(attested by the steward), before the run began"),
    "registered with the upload": (at(RECEIVED), "registered_before_run", "warned", "unknown"),
    "witnessed by a clock that was set back": (
        at(RECEIVED + timedelta(hours=5)), "registered_before_run", "warned", ""),
    "a run that does not say when it began": (case(started_at=None), "registered_before_run", "warned", "unknown"),
    "a summary that lacks a task": (
        summary(tasks=("place",)), "tasks", "warned", "Counted as failures: mover lacks 1 of 2 tasks (reach)."),
    "a summary of which the second lacks four tasks": (
        summary(SIX, rows=[*(("mover", task, None, 0, "") for task in "abcdef"), ("naive", "b", None, 0, ""),
                           ("naive", "e", None, 0, "")]),
        "tasks", "warned", f"Counted as failures: naive lacks 4 of 6 tasks ({listed('acdf', 3)})."),
    "every task of a registration": (
        summary(), "tasks", "passed", "All 2 tasks of the registration are there for every entrant."),
    "the one task of a benchmark": (
        case(), "tasks", "passed", "The one task of the registration is there for every entrant."),
    "a task of the benchmark that nobody registered": (
        case(manifest=AXES, rows=grid(task="AS"), registered=registered(PREREG, tasks=None)),
        "tasks", "warned", "The preregistration restricts no tasks; without episodes: mover lacks 1 of 2 tasks (OM)."),
    "a registered task without episodes, under best effort": (
        case(registered=registered(PREREG, tasks=("place", "reach"), failure_policy="best_effort")), "tasks", "warned",
        "mover lacks 1 of 2 tasks (reach). The failure policy is best_effort: they are absent, and the boards count"),
    "the registered axis": (
        case(rows=grid(task="AS"), registered=registered(AXIS), manifest=AXES), "axis", "passed",
        "The episodes are of the registered axis, AS."),
    "seeds of a summary": (
        summary(EVALUATION + b"seeds: [1, 2]\n"), "seeds", "warned", "this kind of evidence does not carry seeds"),
    "a dirty tree where it is allowed": (
        case(dirty=True, manifest=demanding(dirty="allow")), "dirty", "warned",
        "The run came from a dirty working tree (metadata.dirty); this benchmark allows it."),
    "silence on the tree": (case(dirty=None), "dirty", "warned", "was committed (metadata.dirty)."),
    "silence of one bundle": (
        case(facts(), facts(name="late", dirty=None), dirty=None), "dirty", "warned", "and dirty in late)."),
    "a clean tree by the form": (case(facts(dirty=None), dirty=False), "dirty", "passed", "a clean working tree"),
    "a clean tree by every bundle": (case(facts(), dirty=None), "dirty", "passed", ""),
    "claimed averages without an interval": (
        case(claims={"mover": {"success": 1.0}}, manifest=CLAIMED), "claims", "warned",
        "The claims hold averages and no interval: only a bundle's summary can claim one."),
    "sent by the registrant": (
        case(registered=BY_ANN, submitter=ANN), "registered_by", "passed", "Submitted by who registered it, token 3."),
    "sent by another": (
        case(registered=BY_ANN, submitter=TokenHolder(4, "bob")), "registered_by", "warned",
        "Registered by token 3, submitted by token 4: it does not count as a report by its registrant."),
    "enough of what may be chosen": (
        case(manifest=freeing(seeds=AtLeast(at_least=5))), "chosen_axes", "passed",
        "The registration names enough of what it may choose: seeds."),
    "too little of what may be chosen": (
        case(manifest=freeing(seeds=AtLeast(at_least=6))), "chosen_axes", "failed",
        "The registration names 5 seeds; it may choose 6 or more."),
    "nothing noticed": (case(forensics=Forensics()), "forensics", "passed", "within the submission."),
    "nothing noticed, also before": (
        case(forensics=Forensics(), history=History()), "forensics", "passed",
        "within the submission or in earlier ones."),
    "noticed before": (
        case(forensics=Forensics(), history=History(findings=(Finding("other_results", "mover", "3 rows"),))),
        "other_results", "warned", "3 rows"),
    "a name alike": (
        case(forensics=Forensics(), entrants=("mover.",)), "lookalikes", "warned", "differ by a small mark"),
    "a beginning": (
        case(manifest=BEGUN, started_at=RUN_BEGAN), "started_at", "passed", "The run began 2026-03-02 08:00:00 UTC"),
}  # fmt: skip


@pytest.mark.parametrize("name", TOLD)
def test_what_keeps_nobody_out_is_told(name: str) -> None:
    """As passed, or as a warning: an unknown order and silence on the tree are no pass."""
    submission, rule, outcome, words = TOLD[name]
    actual = check(submission, rule)

    assert (actual.outcome, words in actual.reason) == (outcome, True)


@pytest.mark.parametrize("submission", [case(facts()), case(), summary(), case(registered=registered(AXIS))])
def test_each_rule_is_one_check(submission: Case) -> None:
    """No rule speaks twice, in any form of prereg."""
    assert len(rules(submission)) == len(set(rules(submission)))


def test_rules_of_what_is_not_there_are_silent() -> None:
    """An honest bundle breaks none; plain tables say nothing of themselves, and an optional claim is not asked for."""
    about_bundles = {"prereg_unchanged", "git_tag", "schedule", "schema_version", "resamples"}

    assert {each.outcome for each in applied(case(facts()))} == {"passed"}
    assert about_bundles & set(rules(case(facts=RunFacts()))) == set()
    assert "claims" not in rules(case(manifest=demanding(claims="optional")))


def test_failed_checks_alone_keep_a_submission_out() -> None:
    """The reasons of all of them make its reason."""
    checks = [Check(*each) for each in (("a", "failed", "A is wrong."), ("b", "warned", "B is odd."),
                                        ("c", "passed", "C is right."), ("d", "failed", "D is wrong."))]  # fmt: skip

    assert not is_admitted(checks)
    assert is_admitted(checks[1:3])
    assert reason_not_admitted(checks) == "A is wrong. D is wrong."


def test_a_rule_of_the_manifest_is_known_to_admission() -> None:
    """A new rule of the manifest needs a check or a right: this list is to be read when it changes."""
    checks = {"prereg", "prereg_forms", "min_seeds", "claims", "dirty", "report_within_days", "failure_policy",
              "started_at"}  # fmt: skip
    rights = {"submissions", "registration"}

    assert set(Admission.model_fields) == checks | rights


def test_a_run_that_began_before_its_registration_for_the_benchmark_is_refused_with_both_times() -> None:
    """A form that names no benchmark is registered for one by an address, and only what comes after counts; but what
    a steward attested existed before the run, whenever it was bound."""
    began = REGISTERED - timedelta(hours=1, seconds=30)
    bound = replace(registered(benchmark=None), bound_at={"bench": REGISTERED}, benchmarks=("bench",))
    before = check_benchmark(bound, "bench", began)

    assert before.outcome == "failed"
    assert before.reason == (
        f"Registered for bench {REGISTERED:%Y-%m-%d %H:%M:%S} UTC, after the run began ({began:%Y-%m-%d %H:%M:%S} UTC)."
    )
    assert check_benchmark(bound, "bench", REGISTERED).outcome == "passed"
    assert check_benchmark(replace(bound, attested=True), "bench", began).outcome == "passed"


def test_which_attempt_it_is_is_one_sentence() -> None:
    """Of its registration first, then of each entrant; the first of all is not worth a warning."""
    (again,) = check_attempts(History(n_of_prereg=2, n_of_entrant={"b": 3, "a": 1}))
    (first,) = check_attempts(History(n_of_prereg=1, n_of_entrant={"a": 1}))
    (more,) = check_attempts(History(3, 2, {"a": 1}))
    (unregistered,) = check_attempts(History(None, 1, {"a": 1}))

    assert (again.outcome, again.reason) == ("warned", "Submission 2 under this registration; attempt 3 of b.")
    assert (first.outcome, first.reason) == (
        "passed",
        "Submission 1 under this registration; the first of a.",
    )
    assert (more.outcome, unregistered.outcome) == ("warned", "passed")


@pytest.mark.parametrize(
    ("claimed", "ours", "outcome"),
    [
        *((0.5 + off, 0.5, "passed" if abs(off) < 1e-6 else "failed") for off in (0.0, 9e-7, -9e-7, 2e-6, -2e-6)),
        (2e6 + 1.5, 2e6, "passed"),
        (2e6 + 3.0, 2e6, "failed"),
        (0.5, None, "failed"),
    ],
)
def test_a_claimed_mean_is_held_to_its_sixth_digit(claimed: float, ours: float | None, outcome: str) -> None:
    """A millionth is rounding, of one or of a large value; two are another number, and what has no value is none."""
    assert [each.outcome for each in check_claims({"A": {"x": claimed}}, {("A", "x"): ours})] == [outcome]


def test_distinct_rows_are_numbered_and_no_row_has_no_number() -> None:
    """Equal rows have equal numbers, in the order of their columns."""
    columns = np.array([5, 5, 2, 5]), np.array([0, 9, 9, 0])

    assert number_rows(*columns).tolist() == [1, 2, 0, 1]
    assert number_rows(*(each[:0] for each in columns)).tolist() == []
