"""Which failure policy applies to a run: only a manifest may permit best_effort. Called by `app.admission.rules`."""

from dataclasses import replace

from app.admission.case import Case
from app.admission.check import Check

RULE = "failure_policy_permitted"


def under_the_manifest(case: Case) -> Case:
    """Return the case with the policy in force: a registration alone does not excuse what is missing."""
    if case.registered is None or case.manifest.admission.failure_policy == "best_effort":
        return case
    prereg = replace(case.registered.prereg, failure_policy="strict")
    return replace(case, registered=replace(case.registered, prereg=prereg))


def check_permitted(case: Case) -> list[Check]:
    """Warn where a registration asks for best_effort and the manifest does not permit it."""
    if case.registered is None or case.registered.prereg.failure_policy != "best_effort":
        return []
    if case.manifest.admission.failure_policy == "best_effort":
        return []
    reason = (
        "The registration says best_effort, which only the manifest may permit, and it does not: what is missing is "
        "judged as strict."
    )
    return [Check(RULE, "warned", reason)]
