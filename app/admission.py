"""Admission: hold evidence against the manifest and its preregistration, one check a rule.

Called by `web.submissions` before anything is stored (also for a dry run) and by nobody else. Pure: the
clock is handed in. A failed check keeps a submission off the boards; a warning is shown beside it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from app.admission_check import SHOWN, Check, Registered, listed
from app.admission_episodes import check_bundles, check_min_seeds, check_prereg_episodes
from app.facts import RunFacts
from app.manifest import Manifest
from app.prereg import Prereg
from app.prereg_shared import IID_REFUSED
from app.scores import ScoreTable


@dataclass(frozen=True)
class Case:
    """Everything that admission looks at. `started_at` is when the run began, as the submitter says."""

    manifest: Manifest
    scores: ScoreTable
    registered: Registered | None
    received_at: datetime
    facts: RunFacts = field(default_factory=RunFacts)
    started_at: datetime | None = None
    dirty: bool | None = None
    claims: Mapping[str, Mapping[str, float]] | None = None


def check_admission(case: Case) -> list[Check]:
    """Apply every rule of the benchmark and return one check for each."""
    checks = [*_manifest_checks(case)]
    if case.registered is None:
        return [_missing_prereg(case.manifest), *checks]
    return [*_prereg_checks(case, case.registered), *checks]


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


def _prereg_checks(case: Case, registered: Registered) -> list[Check]:
    prereg = registered.prereg
    scores = case.scores
    return [
        _form(prereg, case.manifest),
        _benchmark(prereg, case.manifest),
        _run_purpose(prereg),
        _bootstrap_method(prereg),
        _registered_before(registered, case),
        _entrants(prereg, scores),
        _tasks(prereg, case),
        _metrics(prereg, scores),
        *_seeded(registered, case),
    ]


def _seeded(registered: Registered, case: Case) -> list[Check]:
    if case.manifest.evidence != "episodes":
        return _seeds_of_other_kinds(registered.prereg)
    return check_prereg_episodes(registered, case.scores, case.facts.bundles)


def _manifest_checks(case: Case) -> list[Check]:
    bundles = check_bundles(case.manifest, case.facts.bundles, has_claims=case.claims is not None)
    return [*_min_seeds(case), _dirty(case), *_claims(case), *bundles]


def _form(prereg: Prereg, manifest: Manifest) -> Check:
    allowed = manifest.admission.prereg_forms
    if prereg.form in allowed:
        return Check("prereg_form", "passed", f"The preregistration has the {prereg.form} form.")
    wanted = " or ".join(allowed)
    return Check("prereg_form", "failed", f"The preregistration has the {prereg.form} form; {wanted} is required.")


def _benchmark(prereg: Prereg, manifest: Manifest) -> Check:
    if prereg.benchmark is None:
        return Check("prereg_benchmark", "passed", "The preregistration names no benchmark.")
    if prereg.benchmark == manifest.slug:
        return Check("prereg_benchmark", "passed", f"The preregistration is for {manifest.slug}.")
    return Check(
        "prereg_benchmark", "failed", f"The preregistration is for {prereg.benchmark}, not for {manifest.slug}."
    )


def _run_purpose(prereg: Prereg) -> Check:
    if prereg.run_purpose == "leaderboard":
        return Check("run_purpose", "passed", "The registered run purpose is leaderboard.")
    return Check(
        "run_purpose",
        "failed",
        f"The registered run purpose is {prereg.run_purpose}: such runs are stored and shown, never ranked.",
    )


def _bootstrap_method(prereg: Prereg) -> Check:
    if prereg.bootstrap_method == "iid" and prereg.run_purpose == "leaderboard":
        return Check("bootstrap_method", "failed", IID_REFUSED)
    return Check("bootstrap_method", "passed", f"The registered bootstrap method is {prereg.bootstrap_method}.")


def _registered_before(registered: Registered, case: Case) -> Check:
    rule = "registered_before_run"
    when = f"{registered.registered_at:%Y-%m-%d %H:%M:%S} UTC"
    source = "attested by the steward" if registered.attested else "witnessed by the server"
    if registered.registered_at > case.received_at:
        return Check(rule, "failed", f"The preregistration is dated {when} ({source}), after the upload.")
    if case.started_at is None:
        reason = (
            f"Registered {when} ({source}). The submission gives no started_at, so whether it was registered "
            "before the run is unknown."
        )
        return Check(rule, "warned", reason)
    began = f"{case.started_at:%Y-%m-%d %H:%M:%S} UTC"
    if case.started_at > case.received_at:
        return Check(rule, "failed", f"The run is said to have begun {began}, after the upload.")
    if registered.registered_at > case.started_at:
        return Check(rule, "failed", f"Registered {when} ({source}), after the run began ({began}).")
    return Check(rule, "passed", f"Registered {when} ({source}), before the run began ({began}, self-reported).")


def _entrants(prereg: Prereg, scores: ScoreTable) -> Check:
    if prereg.entrants is None:
        return Check("entrants", "passed", "The preregistration does not restrict the entrants.")
    undeclared = set(scores.entrant.words) - set(prereg.entrants)
    if undeclared:
        return Check("entrants", "failed", f"Not among the registered entrants: {listed(undeclared)}.")
    return Check("entrants", "passed", "Every entrant is registered.")


def _tasks(prereg: Prereg, case: Case) -> Check:
    declared = prereg.tasks if prereg.tasks is not None else case.manifest.task_ids()
    if declared is None:
        return Check("tasks", "passed", "Neither the preregistration nor the benchmark restricts the tasks.")
    undeclared = set(case.scores.task.words) - set(declared)
    if undeclared:
        return Check("tasks", "failed", f"Not among the registered tasks: {listed(undeclared)}.")
    return _missing_tasks(prereg, case.scores, declared)


def _missing_tasks(prereg: Prereg, scores: ScoreTable, declared: Iterable[str]) -> Check:
    wanted = set(declared)
    gaps = []
    for code, entrant in enumerate(scores.entrant.words):
        delivered = {scores.task.words[task] for task in set(scores.task.codes[scores.entrant.codes == code].tolist())}
        missing = wanted - delivered
        gaps += [f"{entrant} lacks {len(missing)} of {len(wanted)} tasks ({listed(missing, 3)})"] if missing else []
    if not gaps:
        return Check("tasks", "passed", f"All {len(wanted)} registered tasks are there for every entrant.")
    # A task that failed is an absent row in this kind of evidence: it is counted as a failure, never dropped.
    return Check("tasks", "warned", f"Counted as failures: {'; '.join(gaps[:SHOWN])}.")


def _metrics(prereg: Prereg, scores: ScoreTable) -> Check:
    missing = set(prereg.metrics) - set(scores.columns)
    if missing:
        return Check("metrics", "failed", f"Registered metrics that were not delivered: {listed(missing)}.")
    return Check("metrics", "passed", "Every registered metric was delivered.")


def _seeds_of_other_kinds(prereg: Prereg) -> list[Check]:
    if prereg.seeds is None:
        return []
    return [Check("seeds", "warned", "Seeds are registered, but this kind of evidence does not carry seeds.")]


def _min_seeds(case: Case) -> list[Check]:
    minimum = case.manifest.admission.min_seeds
    if minimum is None:
        return []
    run_purpose = "leaderboard" if case.registered is None else case.registered.prereg.run_purpose
    return [check_min_seeds(case.scores, minimum, run_purpose)]


def _dirty(case: Case) -> Check:
    said = [case.dirty, *(bundle.dirty for bundle in case.facts.bundles)]
    if any(said):
        if case.manifest.admission.dirty == "allow":
            return Check("dirty", "warned", "The run came from a dirty working tree; this benchmark allows it.")
        return Check("dirty", "failed", "The run came from a dirty working tree, which this benchmark does not admit.")
    if all(dirty is None for dirty in said):
        return Check("dirty", "warned", "The submission does not say whether its code was committed (metadata.dirty).")
    return Check("dirty", "passed", "The submitter reports a clean working tree.")


def _claims(case: Case) -> list[Check]:
    if case.claims is not None or case.facts.bundles or case.manifest.admission.claims == "optional":
        return []
    return [Check("claims", "failed", "The benchmark requires claimed values; the submission has none.")]
