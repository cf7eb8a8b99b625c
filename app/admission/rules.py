"""Admission: compare evidence with the manifest and its preregistration, one check per rule.

Called by `app.receiving.receive` before anything is stored, for a dry run and for `plumbline prereg check`. Pure: the
time is an argument. A failed check keeps a submission off the boards; a warning is shown beside it.
"""

from collections.abc import Iterable

import numpy as np

from app.admission.attempts import check_attempts
from app.admission.beginnings import check_started_at
from app.admission.case import Case, KindRules
from app.admission.check import Check, Registered, in_utc, is_after, listed, outcome_of_gap, policy_in_words, some
from app.admission.chosen_axes import check_chosen
from app.admission.failure_policy import check_permitted, under_the_manifest
from app.admission.forensics import check_forensics
from app.admission.identity import identity_findings, says_dirty
from app.admission.lookalikes import lookalike_findings
from app.admission.registration import check_benchmark, check_registrant
from app.admission.seeds import check_min_seeds
from app.manifest.manifest import Manifest
from app.prereg.forms import AXES
from app.prereg.prereg import Prereg
from app.prereg.shared import IID_REFUSED
from app.values.forensics import Finding
from app.values.scores import ScoreTable

# The one rule that needs the server's clock.
WITNESSED_RULE = "registered_before_run"


def check_admission(case: Case, rules: KindRules) -> list[Check]:
    """Apply every rule of the benchmark, including those of its kind of evidence, and return one check for each."""
    about_policy = check_permitted(case)
    case = under_the_manifest(case)
    checks = [*about_policy, *check_chosen(case), *_manifest_checks(case, rules)]
    if case.registered is None:
        return [_missing_prereg(case.manifest), *checks]
    return [*_prereg_checks(case, case.registered, rules), *checks]


def is_admitted(checks: Iterable[Check]) -> bool:
    """Say whether no check failed."""
    return all(check.outcome != "failed" for check in checks)


def reason_not_admitted(checks: Iterable[Check]) -> str:
    """Return the reasons of the failed checks as one text."""
    return " ".join(check.reason for check in checks if check.outcome == "failed")


def _missing_prereg(manifest: Manifest) -> Check:
    if manifest.admission.prereg == "required":
        return Check(
            "prereg", "failed", f"{manifest.slug} admits only runs that cite a preregistration; none was cited."
        )
    return Check("prereg", "warned", "No preregistration was cited; this benchmark does not require one.")


def _prereg_checks(case: Case, registered: Registered, rules: KindRules) -> list[Check]:
    prereg = registered.prereg
    return [
        _form(prereg, case.manifest),
        check_benchmark(registered, case.manifest.slug, case.started_at),
        *check_registrant(registered, case.submitter),
        _run_purpose(prereg),
        _bootstrap_method(prereg),
        _registered_before(registered, case),
        _entrants(prereg, case.scores),
        _tasks(prereg, case, rules),
        _metrics(prereg, case, rules),
        *_axis(prereg, case),
        *rules.prereg(case, registered),
    ]


def _manifest_checks(case: Case, rules: KindRules) -> list[Check]:
    claims = rules.claims(case) if case.manifest.admission.claims == "required" else []
    noticed = (
        [] if case.forensics is None else check_forensics(findings_of(case), was_compared=case.history is not None)
    )
    stated = [*check_started_at(case), _dirty(case), *claims]
    own = [*rules.scores(case), *_min_seeds(case), *stated, *rules.run(case)]
    return [*own, *check_attempts(case.history), *noticed]


def findings_of(case: Case) -> tuple[Finding, ...]:
    """Return the findings on a submission: in its rows, against earlier ones, and in its stated identity."""
    within = () if case.forensics is None else case.forensics.findings
    before = () if case.history is None else case.history.findings
    earlier = () if case.history is None else case.history.identities
    prereg = None if case.registered is None else case.registered.prereg
    stated = identity_findings(prereg, case.facts.bundles, case.code_commit, earlier)
    alike = lookalike_findings(case.scores.entrant.words, case.entrants)
    return (*within, *before, *stated, *alike)


def _form(prereg: Prereg, manifest: Manifest) -> Check:
    allowed = manifest.admission.prereg_forms
    if prereg.form in allowed:
        return Check("prereg_form", "passed", f"The preregistration has the {prereg.form} form.")
    wanted = " or ".join(allowed)
    return Check("prereg_form", "failed", f"The preregistration has the {prereg.form} form; {wanted} is required.")


def _run_purpose(prereg: Prereg) -> Check:
    if prereg.run_purpose == "leaderboard":
        return Check("run_purpose", "passed", "The registered run purpose is leaderboard.")
    return Check(
        "run_purpose",
        "failed",
        f"The registered run purpose is {prereg.run_purpose}: such runs are stored and shown, never ranked.",
    )


def _bootstrap_method(prereg: Prereg) -> Check:
    rule = "bootstrap_method"
    if prereg.bootstrap_method != "iid":
        return Check(rule, "passed", f"The registered bootstrap method is {prereg.bootstrap_method}.")
    if prereg.run_purpose == "leaderboard":
        return Check(rule, "failed", IID_REFUSED)
    reason = f"The registered bootstrap method is iid, which a {prereg.run_purpose} run may use: it is never ranked."
    return Check(rule, "passed", reason)


def _registered_before(registered: Registered, case: Case) -> Check:
    rule = WITNESSED_RULE
    when = in_utc(registered.registered_at)
    source = "attested by the steward" if registered.attested else "witnessed by the server"
    # A registration witnessed by the server precedes an upload that cites it, even if the clock was set back since.
    if registered.attested and registered.registered_at > case.received_at:
        return Check(rule, "failed", f"The preregistration is dated {when} ({source}), after the upload.")
    if case.started_at is None:
        reason = (
            f"Registered {when} ({source}). The submission gives no started_at, so whether it was registered "
            "before the run is unknown."
        )
        return Check(rule, "warned", reason)
    began = in_utc(case.started_at)
    if is_after(case.started_at, case.received_at):
        return Check(rule, "failed", f"The run claims to have begun {began}, after the upload.")
    if is_after(registered.registered_at, case.started_at):
        return Check(rule, "failed", f"Registered {when} ({source}), after the run began ({began}).")
    return Check(rule, "passed", f"Registered {when} ({source}), before the run began ({began}, self-reported).")


def _entrants(prereg: Prereg, scores: ScoreTable) -> Check:
    if prereg.entrants is None:
        return Check("entrants", "passed", "The preregistration does not restrict the entrants.")
    undeclared = set(scores.entrant.words) - set(prereg.entrants)
    if undeclared:
        return Check("entrants", "failed", f"Not among the registered entrants: {listed(undeclared)}.")
    return Check("entrants", "passed", "Every entrant is registered.")


def _tasks(prereg: Prereg, case: Case, rules: KindRules) -> Check:
    declared = prereg.tasks if prereg.tasks is not None else case.manifest.task_ids()
    if declared is None:
        return Check("tasks", "passed", "Neither the preregistration nor the benchmark restricts the tasks.")
    undeclared = set(case.scores.task.words) - set(declared)
    if undeclared:
        return Check("tasks", "failed", f"Not among the registered tasks: {listed(undeclared)}.")
    gaps = _missing_tasks(case.scores, set(declared))
    if gaps:
        return _judge_missing_tasks(prereg, rules, some(gaps))
    n = len(set(declared))
    all_of_them = "The registered task is" if n == 1 else f"All {n:,} registered tasks are"
    return Check("tasks", "passed", f"{all_of_them} there for every entrant.")


def _missing_tasks(scores: ScoreTable, wanted: set[str]) -> list[str]:
    delivered: dict[int, set[str]] = {}
    for pair in np.unique(scores.entrant.codes * len(scores.task.words) + scores.task.codes).tolist():
        entrant, task = divmod(pair, len(scores.task.words))
        delivered.setdefault(entrant, set()).add(scores.task.words[task])
    lacking = {entrant: wanted - delivered.get(code, set()) for code, entrant in enumerate(scores.entrant.words)}
    return [f"{e} lacks {len(gap)} of {len(wanted)} tasks ({listed(gap, 3)})" for e, gap in lacking.items() if gap]


def _judge_missing_tasks(prereg: Prereg, rules: KindRules, gaps: str) -> Check:
    if rules.counts_missing_tasks:
        # In these kinds of evidence a failed task is an absent row: it counts as a failure and is never dropped.
        return Check("tasks", "warned", f"Counted as failures: {gaps}.")
    if prereg.tasks is None:
        return Check("tasks", "warned", f"The preregistration restricts no tasks; without episodes: {gaps}.")
    # A failed episode is a row, but a task without rows was not run, and nothing else would count it.
    return Check("tasks", outcome_of_gap(prereg), f"Registered tasks are missing: {gaps}. {policy_in_words(prereg)}")


def _metrics(prereg: Prereg, case: Case, rules: KindRules) -> Check:
    missing = set(prereg.metrics) - set(case.scores.columns) - set(rules.computed_metrics(case.manifest))
    if missing:
        return Check("metrics", "failed", f"Registered metrics that were not delivered: {listed(missing)}.")
    empty = _unmeasured(prereg, case.scores) if rules.needs_values else []
    if empty:
        return Check("metrics", "failed", f"Registered metrics without any value: {some(empty)}.")
    return Check("metrics", "passed", "Every registered metric was delivered.")


def _unmeasured(prereg: Prereg, scores: ScoreTable) -> list[str]:
    unmeasured = []
    for metric in prereg.metrics:
        measured = set(scores.entrant.codes[~np.isnan(scores.value(metric))].tolist())
        unmeasured += [f"{metric} of {e}" for code, e in enumerate(scores.entrant.words) if code not in measured]
    return unmeasured


def _axis(prereg: Prereg, case: Case) -> list[Check]:
    """Compare the registered axis with the tasks, where any task of the benchmark is named after an axis."""
    known = [task for task in case.manifest.task_ids() or case.scores.task.words if task in AXES]
    if prereg.axis is None or not known:
        return []
    if prereg.axis not in known:
        reason = f"The registered axis is {prereg.axis}; the benchmark is about {listed(known)}."
        return [Check("axis", "failed", reason)]
    if other := set(case.scores.task.words) - {prereg.axis}:
        reason = f"The registered axis is {prereg.axis}, the episodes are of {listed(other)}."
        return [Check("axis", "failed", reason)]
    return [Check("axis", "passed", f"The episodes are of the registered axis, {prereg.axis}.")]


def _min_seeds(case: Case) -> list[Check]:
    minimum = case.manifest.admission.least_seeds(None if case.registered is None else case.registered.prereg.form)
    if minimum is None:
        return []
    run_purpose = "leaderboard" if case.registered is None else case.registered.prereg.run_purpose
    return [check_min_seeds(case.manifest, case.scores, minimum, run_purpose)]


def _dirty(case: Case) -> Check:
    by_source = {"metadata.dirty": case.dirty, **{bundle.name: says_dirty(bundle) for bundle in case.facts.bundles}}
    if dirty := [source for source, is_dirty in by_source.items() if is_dirty]:
        return _judge_dirty(case.manifest, listed(dirty))
    silent = [bundle.name for bundle in case.facts.bundles if bundle.dirty is None]
    if case.dirty is None and (silent or not case.facts.bundles):
        where = f"metadata.dirty, and dirty in {listed(silent)}" if silent else "metadata.dirty"
        return Check("dirty", "warned", f"The submission does not say whether its code was committed ({where}).")
    return Check("dirty", "passed", "The submitter reports a clean working tree.")


def _judge_dirty(manifest: Manifest, sources: str) -> Check:
    reason = f"The run came from a dirty working tree ({sources})"
    if manifest.admission.dirty == "allow":
        return Check("dirty", "warned", f"{reason}; this benchmark allows it.")
    return Check("dirty", "failed", f"{reason}, which this benchmark does not admit.")
