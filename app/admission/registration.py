"""Admission rules about a registration itself: which benchmark it is for, and who registered it.

Called by `app.admission.rules`; `unknown_names` and `shortfalls` when one is registered.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime

from app.admission.check import Check, Registered, TokenHolder, in_utc, is_after, listed, numbers
from app.manifest.manifest import Manifest
from app.prereg.prereg import Prereg


def check_benchmark(registered: Registered, slug: str, started_at: datetime | None) -> Check:
    """Check that the preregistration is for this benchmark: that it names it, or was registered for it before the run.

    A form that names no benchmark could otherwise be registered many times elsewhere, where nobody counts attempts.
    """
    rule = "prereg_benchmark"
    named = registered.prereg.benchmark
    bound = registered.benchmarks if named is None else (named,)
    how = f"Who registered it can register it for {slug} too, before the run, with POST /preregs?benchmark={slug}."
    if not bound:
        return Check(rule, "failed", f"The preregistration was registered for no benchmark. {how}")
    if slug not in bound:
        reason = f"The preregistration is for {listed(bound)}, not for {slug}."
        return Check(rule, "failed", reason if named is not None else f"{reason} {how}")
    since = None if named is not None or registered.attested else registered.bound_at.get(slug)
    if since is not None and started_at is not None and is_after(since, started_at):
        began = in_utc(started_at)
        reason = f"Registered for {slug} {in_utc(since)}, after the run began ({began})."
        return Check(rule, "failed", reason)
    return Check(rule, "passed", f"The preregistration is for {slug}.")


def check_registrant(registered: Registered, submitter: TokenHolder | None) -> list[Check]:
    """Check that the run comes from its registrant; no check where no server knows who that is.

    It names token numbers: a check is a permanent record, but a name can be erased.
    """
    rule, registrant = "registered_by", registered.by
    if submitter is None or registrant is None:
        return []
    if submitter.id == registrant.id:
        return [Check(rule, "passed", f"Registered and submitted by token {submitter.id}.")]
    reason = (
        f"Registered by token {registrant.id}, submitted by token {submitter.id}: it does not count as a report by its "
        "registrant."
    )
    return [Check(rule, "warned", reason)]


def unknown_names(
    prereg: Prereg, manifest: Manifest, computed: Iterable[str] = (), enrolled: Collection[str] | None = None
) -> list[str]:
    """Return, in sentences, what a registration names that the benchmark does not have, to be shown before the run.

    `computed` are metrics that the server computes beside the declared ones, `enrolled` the closed list of entrants,
    None where it is open. What hypotheses compare: `app.admission.contrasts`.
    """
    metrics = {*manifest.metrics, *computed}
    asked = [*prereg.metrics, *(each.metric for each in prereg.hypotheses if each.metric is not None)]
    tasks = manifest.task_ids()
    sentences = [
        _unknown("metrics", asked, metrics),
        _unknown("tasks", prereg.tasks or (), tasks),
        _unknown("entrants", prereg.entrants or (), enrolled),
    ]
    if prereg.form not in manifest.admission.prereg_forms:
        wanted = " or ".join(manifest.admission.prereg_forms)
        sentences.append(
            f"The benchmark takes preregistrations of the {wanted} form; this one has the {prereg.form} form."
        )
    return [sentence for sentence in sentences if sentence]


def shortfalls(prereg: Prereg, manifest: Manifest) -> list[str]:
    """Return, in sentences, what the benchmark requires and a registration does not name, to be shown before the run.

    A registration cannot shrink the grid, so a run that follows it would lack these cells, or not be admitted.
    """
    grid = manifest.grid
    free = {} if grid is None else grid.registration_may_choose
    named = {axis: len(getattr(prereg, axis) or ()) for axis in free}
    sentences = [
        f"The benchmark asks for {wanted.at_least:,} {axis} or more, and the registration names {named[axis]:,}: "
        "a run of it would not be admitted."
        for axis, wanted in free.items()
        if named[axis] < wanted.at_least
    ]
    tasks = set(manifest.task_ids() or ()) - set(prereg.tasks or manifest.task_ids() or ())
    if tasks and prereg.axis is None:
        sentences.append(f"The benchmark asks for {listed(tasks)} too: a run without them is partial.")
    conditions = set((grid and grid.conditions) or ()) - set(prereg.conditions or (grid and grid.conditions) or ())
    if conditions:
        sentences.append(f"The benchmark asks for conditions {listed(conditions)} too: a run without them is partial.")
    return [*sentences, *_other_seeds(prereg, None if grid is None else grid.seeds)]


def _other_seeds(prereg: Prereg, asked: int | list[int] | None) -> Iterator[str]:
    """Yield how the seeds of a registration differ from those of the grid."""
    if asked is None or prereg.seeds is None:
        return
    if isinstance(asked, int):
        if len(prereg.seeds) != asked:
            yield f"The benchmark asks for {asked:,} seeds, and the registration names {len(prereg.seeds):,}."
        return
    if lacking := set(asked) - set(prereg.seeds):
        yield f"The benchmark asks for seeds {numbers(lacking)} too: a run without them is partial."
    if strange := set(prereg.seeds) - set(asked):
        yield f"The benchmark does not ask for seeds {numbers(strange)}: a run with them is not admitted."


def _unknown(what: str, names: Sequence[str], known: Collection[str] | None) -> str:
    """Return the sentence about names that a closed list lacks; empty where it has all, or is open (None)."""
    strange = set() if known is None else {name for name in names if name not in known}
    return f"The benchmark has no {what} {listed(strange)}; it has {listed(known or ())}." if strange else ""
