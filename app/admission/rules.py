"""Admission: compare evidence with the manifest and its preregistration, one check per rule. Pure: the
time is an argument. A failed check keeps a submission off the boards; a warning is shown beside it.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from app.admission.case import (
    Case,
    Check,
    KindRules,
    Registered,
    TokenHolder,
    check_attempts,
    identity_findings,
    in_utc,
    is_after,
    listed,
    meant,
    numbers,
    outcome_of_gap,
    policy_in_words,
    says_dirty,
    some,
)
from app.admission.forensics import check_forensics, check_started_at, lookalike_findings
from app.boards.coverage import has_rankings
from app.manifest.model import Manifest
from app.names import count
from app.prereg.fields import IID_REFUSED, Prereg
from app.prereg.prereg import AXES
from app.stats.arrays import BoolArray, IntArray
from app.values.facts import Finding
from app.values.scores import Coded, ScoreTable

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
        return Check(
            "entrants",
            "failed",
            f"Not among the registered entrants: {listed(undeclared)}." + meant(undeclared, prereg.entrants),
        )
    return Check("entrants", "passed", "Every entrant is registered.")


def _tasks(prereg: Prereg, case: Case, rules: KindRules) -> Check:
    declared = prereg.tasks if prereg.tasks is not None else case.manifest.task_ids()
    if declared is None:
        return Check("tasks", "passed", "Neither the preregistration nor the benchmark restricts the tasks.")
    undeclared = set(case.scores.task.words) - set(declared)
    if undeclared:
        return Check(
            "tasks", "failed", f"Not among the registered tasks: {listed(undeclared)}." + meant(undeclared, declared)
        )
    gaps = _missing_tasks(case.scores, set(declared))
    if gaps:
        return _judge_missing_tasks(prereg, rules, some(gaps))
    n, whose = len(set(declared)), "of the benchmark" if prereg.tasks is None else "of the registration"
    all_of_them = f"The one task {whose} is" if n == 1 else f"All {n:,} tasks {whose} are"
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


# Admission rules about a registration itself: which benchmark it is for, and who registered it.


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
        return [Check(rule, "passed", f"Submitted by who registered it, token {submitter.id}.")]
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
    None where it is open. What hypotheses compare: `app.admission.claims`.
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
    if not strange:
        return ""
    return f"The benchmark has no {what} {listed(strange)}; it has {listed(known or ())}.{meant(strange, known or ())}"


# Entrants that the manifest names: those that others are scored relative to, and those that are asked something else.
#
# A manipulated baseline shifts everybody's score, so its name belongs to the stewards: `app.store.entrants` refuses
# others. Who takes a name of which the grid asks five items reports its best five; that shifts nobody else's score,
# and is flagged for `app.receiving.upload`. Pure.

OWN_GRID = "own_grid"


def reference_boards(manifest: Manifest) -> dict[str, list[str]]:
    """Return by entrant the boards on which others are scored relative to it."""
    boards: dict[str, list[str]] = {}
    for board in manifest.leaderboards:
        for name in dict.fromkeys(board.required_entrants()):
            boards.setdefault(name, []).append(board.name)
    return boards


def own_grid_findings(manifest: Manifest, entrants: Iterable[str]) -> Iterator[Finding]:
    """Yield of which of these entrants, sent by someone who is not a steward, the grid asks something else."""
    own = {} if manifest.grid is None else manifest.grid.entrants
    for entrant in entrants:
        if entrant in own:
            yield Finding(OWN_GRID, entrant, f"{entrant}, which the manifest's grid names")


# The admission rule that counts seeds, where a benchmark requires some.


def check_min_seeds(manifest: Manifest, scores: ScoreTable, minimum: int, run_purpose: str) -> Check:
    """Count the distinct seeds with scores of each entrant in each task. Power and debug runs may have fewer."""
    runs = count_runs(scores, has_rankings(manifest, scores))
    few = [cells for cells in runs.values() if len(scored_seeds(cells)) < minimum]
    if runs and not few:
        return Check("min_seeds", "passed", f"Every entrant has at least {count(minimum, 'seed')} on every task.")
    counts = [f"{cells[0].entrant} has {_n_seeds(cells)} on {cells[0].task}" for cells in few]
    reason = f"{some(counts or ['The rows carry no seeds'])}; the benchmark requires {minimum}."
    if run_purpose != "leaderboard":
        return Check("min_seeds", "warned", f"{reason} A {run_purpose} run may have fewer: it is never ranked.")
    return Check("min_seeds", "failed", reason)


@dataclass(frozen=True)
class Cell:
    """The episodes of one entrant in one task, condition and seed; `n_scored` of them have every ranking score."""

    entrant: str
    task: str
    condition: str | None
    seed: int
    n_episodes: int
    n_scored: int

    def __str__(self) -> str:
        parts = [self.entrant, self.task, self.condition, f"seed {self.seed}"]
        return ", ".join(part for part in parts if part is not None)


def _n_seeds(cells: Sequence[Cell]) -> str:
    n_seeds = len(scored_seeds(cells))
    return count(n_seeds, "seed") + ("" if n_seeds == len(seeds_of(cells)) else " with scores")


# Count the episodes of a submission once: by entrant, task, condition and seed.

Runs = Mapping[str, Sequence[Cell]]
"""The cells by (entrant, task); no list is empty."""


def count_runs(scores: ScoreTable, scored: BoolArray) -> Runs:
    """Return the cells of every entrant and task; none where the rows carry no seeds. `scored` is [n_rows]."""
    runs: dict[str, list[Cell]] = {}
    for cell in _cells(scores, scored):
        runs.setdefault(f"{cell.entrant} on {cell.task}", []).append(cell)
    return runs


def seeds_of(cells: Sequence[Cell]) -> set[int]:
    """Return the distinct seeds of cells."""
    return {cell.seed for cell in cells}


def scored_seeds(cells: Sequence[Cell]) -> set[int]:
    """Return the distinct seeds with at least one scored episode."""
    return {cell.seed for cell in cells if cell.n_scored}


def number_rows(*columns: IntArray) -> IntArray:
    """Number the distinct rows of several columns from 0; equal rows get equal numbers."""
    numbers = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        position = np.unique(column, return_inverse=True)[1]
        # Renumbered after every column: the product of many columns would not fit into 64 bits.
        numbers = np.unique(numbers * (position.max(initial=0) + 1) + position, return_inverse=True)[1]
    return numbers


def codes_of(column: Coded | None, n_rows: int) -> IntArray:
    """Return a column's codes; all equal without a column."""
    return np.zeros(n_rows, dtype=np.int64) if column is None else column.codes


def _cells(scores: ScoreTable, scored: BoolArray) -> Iterator[Cell]:
    if scores.seed is None:
        return
    condition = codes_of(scores.condition, len(scores))
    cell = number_rows(scores.entrant.codes, scores.task.codes, condition, scores.seed)
    _, rows, counts = np.unique(cell, return_index=True, return_counts=True)
    n_scored = np.bincount(cell[scored], minlength=len(counts)).tolist()
    for row, n_episodes, n_with_score in zip(rows.tolist(), counts.tolist(), n_scored, strict=True):
        entrant, task = scores.entrant.at(row) or "", scores.task.at(row) or ""
        word = None if scores.condition is None else scores.condition.at(row)
        yield Cell(entrant, task, word, int(scores.seed[row]), n_episodes, n_with_score)


# The rule for axes that a registration may choose: it must name enough values of each before the run.

CHOSEN_AXES_RULE = "chosen_axes"


def check_chosen(case: Case) -> list[Check]:
    """Require, for each axis that the manifest leaves to registrations, that enough values are named."""
    grid = case.manifest.grid
    if grid is None or not grid.registration_may_choose or case.registered is None:
        return []
    wrong = list(_too_few(case, case.registered.prereg))
    if wrong:
        return [Check(CHOSEN_AXES_RULE, "failed", f"{' '.join(wrong)}")]
    named = ", ".join(grid.registration_may_choose)
    return [Check(CHOSEN_AXES_RULE, "passed", f"The registration names enough of what it may choose: {named}.")]


def _too_few(case: Case, prereg: Prereg) -> Iterator[str]:
    free = {} if case.manifest.grid is None else case.manifest.grid.registration_may_choose
    for axis, wanted in free.items():
        named = getattr(prereg, axis) or ()
        if len(named) < wanted.at_least:
            yield f"The registration names {len(named)} {axis}; it may choose {wanted.at_least} or more."


# Which failure policy applies to a run: only a manifest may permit best_effort.

FAILURE_POLICY_RULE = "failure_policy_permitted"


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
    return [Check(FAILURE_POLICY_RULE, "warned", reason)]
