"""Rules of admission about a registration itself: for which benchmark it is, and who registered it.

Called by `app.admission.rules`.
"""

from app.admission.check import Check, Registered, TokenHolder, listed


def check_benchmark(registered: Registered, slug: str) -> Check:
    """Hold what the preregistration names, and what it was registered for, against the benchmark."""
    rule = "prereg_benchmark"
    named = registered.prereg.benchmark
    bound = registered.benchmarks if named is None else (named,)
    if not bound:
        return Check(rule, "passed", "The preregistration names no benchmark.")
    if slug in bound:
        return Check(rule, "passed", f"The preregistration is for {slug}.")
    reason = f"The preregistration is for {listed(bound)}, not for {slug}."
    more = f" Who registered it can register it for {slug} too, with POST /preregs?benchmark={slug}."
    return Check(rule, "failed", reason if named is not None else reason + more)


def check_registrant(registered: Registered, submitter: TokenHolder | None) -> list[Check]:
    """Say whether the run comes from who registered it; nothing where no server knows who that is."""
    rule, registrant = "registered_by", registered.by
    if submitter is None or registrant is None:
        return []
    if submitter.id == registrant.id:
        return [Check(rule, "passed", f"Registered and submitted by {submitter.name}.")]
    reason = (
        f"Registered by {registrant.name} (token {registrant.id}), submitted by {submitter.name} "
        f"(token {submitter.id}): it does not count as a report by {registrant.name}."
    )
    return [Check(rule, "warned", reason)]
