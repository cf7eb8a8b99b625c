"""Rules of admission about a registration itself: for which benchmark it is, and who registered it.

Called by `app.admission.rules`, and `unknown_names` by whoever registers one.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from app.admission.check import Check, Registered, TokenHolder, in_utc, is_after, listed, numbers
from app.manifest.manifest import Manifest
from app.prereg.prereg import Prereg


def check_benchmark(registered: Registered, slug: str, started_at: datetime | None) -> Check:
    """Compare what the preregistration names, and what it was registered for before the run, with the benchmark.

    A form that names no benchmark could otherwise be registered many times over where nobody counts it.
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
    """Say whether the run comes from who registered it; nothing where no server knows who that is.

    By the numbers of their tokens: a check is a record, and a name can be erased.
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


def unknown_names(prereg: Prereg, manifest: Manifest, computed: Iterable[str] = ()) -> list[str]:
    """Return what a registration asks for that the benchmark cannot give, each in a sentence: answered before the run.

    `computed` are metrics that the server computes beside the declared ones.
    """
    metrics = {*manifest.metrics, *computed}
    asked = [*prereg.metrics, *(each.metric for each in prereg.hypotheses if each.metric is not None)]
    tasks = manifest.task_ids()
    strange = [] if tasks is None or prereg.tasks is None else [task for task in prereg.tasks if task not in tasks]
    sentences = [
        _unknown("metrics", [metric for metric in asked if metric not in metrics], metrics),
        _unknown("tasks", strange, tasks or ()),
    ]
    if prereg.form not in manifest.admission.prereg_forms:
        wanted = " or ".join(manifest.admission.prereg_forms)
        sentences.append(
            f"The benchmark takes preregistrations of the {wanted} form; this one has the {prereg.form} form."
        )
    return [sentence for sentence in sentences if sentence]


def shortfalls(prereg: Prereg, manifest: Manifest) -> list[str]:
    """Return what the benchmark asks for and a registration does not name, each in a sentence: answered before the run.

    A registration shrinks no grid, so a run that is made by it would lack these, or would not be admitted.
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


def _unknown(what: str, names: Sequence[str], known: Iterable[str]) -> str:
    return f"The benchmark has no {what} {listed(set(names))}; it has {listed(known)}." if names else ""
