"""What happens to a run once its files are read: context is looked up, rules are checked, and it is stored or answered.

Called by `app.web.submissions`, and by `plumbline prereg check`, which has neither server nor session. Files are read
elsewhere before (in a separate process on the server, directly on the command line): evidence is an argument.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from sqlalchemy.orm import Session

from app.admission.attempts import History
from app.admission.case import Case
from app.admission.check import Check, CurrentRecord, Registered, TokenHolder
from app.admission.claims import Claimed
from app.admission.deviations import deviations_table
from app.admission.fields import Fields
from app.admission.references import own_grid_findings
from app.admission.rules import check_admission, findings_of
from app.db.models import Submission
from app.kinds.known import kind_of
from app.kinds.reader import Evidence
from app.manifest.manifest import Manifest
from app.receiving.citation import find_registered
from app.receiving.digest import digest_of
from app.store import arrivals, attempts, benchmark_rows, entrants, grids, roles, series
from app.store.arrivals import Arrival
from app.store.benchmarks import Declared
from app.store.life import refuse_retired
from app.store.quotas import count_attempt, look_up_quota, refuse_beyond, take_quota
from app.store.sizes import Sizes, refuse_larger
from app.store.submission_parts import Parts


@dataclass(frozen=True)
class Run:
    """A run whose files were read: its benchmark, its evidence, and the fields sent with it."""

    manifest: Manifest
    evidence: Evidence
    fields: Fields
    received_at: datetime


@dataclass(frozen=True)
class Known:
    """What a run is checked against besides its benchmark: its registration, and what only a server knows."""

    registered: Registered | None = None
    standing: Sequence[CurrentRecord] | None = None
    submitter: TokenHolder | None = None
    entrants: Sequence[str] = ()
    history: History | None = None


@dataclass(frozen=True)
class Sent:
    """A run that was sent to a server: by whom, for which version of the benchmark, and in which request."""

    declared: Declared
    submitter: TokenHolder
    run: Run
    request_id: str | None = None
    sizes: Sizes = field(default_factory=Sizes)


@dataclass(frozen=True)
class Stored:
    """The stored submission of a run, new or from when the same upload came before; its parts if available."""

    submission: Submission
    is_new: bool
    parts: Parts | None = None


def receive(session: Session, sent: Sent, evaluate_later: Callable[[Session, int], None]) -> Stored:
    """Store a complete run with its checks, admitted or not, and queue its evaluation; repeats are stored once.

    `evaluate_later` receives the number of the benchmark whose row this transaction has changed.

    Raises FieldRejected when it cites an unknown registration, Conflict when an entrant belongs to somebody else, and
    where labels are private whatever `app.store.quotas` raises.
    """
    refuse_retired(session, sent.declared.benchmark.id, sent.declared.manifest.slug)
    sent = with_grid(session, sent)
    known = look_up(session, sent)
    arrival = _arrival(sent, known, check_run(sent.run, known))
    repeat = arrivals.find_repeat(session, arrival)
    if repeat is not None:
        return Stored(repeat, is_new=False)
    _refuse_beyond(session, sent)
    is_scored = arrival.admitted or arrival.run_purpose != "leaderboard"
    quota = take_quota(session, sent.declared, sent.submitter.id) if is_scored else None
    if quota is not None:
        arrival = replace(arrival, checks=[*arrival.checks, quota.check()])
    written = arrivals.write_submission(session, arrival)
    submission = written.submission
    if quota is not None:
        count_attempt(session, sent.declared, submission.id, quota, sent.submitter.id)
    benchmark_rows.mark_pages_changed(session, submission.benchmark_id)
    arrivals.refuse_named_since(session, arrival)
    if is_scored:
        evaluate_later(session, submission.benchmark_id)
    return Stored(submission, is_new=True, parts=written.parts)


def _refuse_beyond(session: Session, sent: Sent) -> None:
    scores = sent.run.evidence.scores
    words = scores.entrant.words
    refuse_larger(session, sent.declared.benchmark.id, sent.submitter.id, words, scores.task.words, sent.sizes)
    refuse_beyond(session, sent.declared, sent.submitter.id, words, sent.run.received_at)


def rehearse(session: Session, sent: Sent) -> list[Check]:
    """Check a run as `receive` does, but store nothing. Raises what `receive` raises."""
    refuse_retired(session, sent.declared.benchmark.id, sent.declared.manifest.slug)
    sent = with_grid(session, sent)
    _refuse_beyond(session, sent)
    checks = check_run(sent.run, look_up(session, sent))
    quota = look_up_quota(session, sent.declared, sent.submitter.id)
    entrants.refuse_taken(session, sent.declared.benchmark, sent.run.evidence.scores.entrant.words, sent.submitter.id)
    return checks if quota is None else [*checks, quota.check()]


def with_grid(session: Session, sent: Sent) -> Sent:
    """Return the run with the items uploaded for the grid of its benchmark."""
    return replace(sent, run=replace(sent.run, manifest=grids.with_items(session, sent.declared)))


def check_run(run: Run, known: Known) -> list[Check]:
    """Apply every rule of admission."""
    return check_admission(_case(run, known), kind_of(run.manifest).rules)


def _case(run: Run, known: Known) -> Case:
    return Case(
        manifest=run.manifest,
        scores=run.evidence.scores,
        registered=known.registered,
        received_at=run.received_at,
        facts=run.evidence.facts,
        started_at=run.fields.started_at,
        dirty=run.fields.dirty,
        code_commit=run.fields.description.get("code_commit"),
        claims=run.fields.claims,
        standing=known.standing,
        submitter=known.submitter,
        entrants=known.entrants,
        forensics=run.evidence.forensics,
        history=known.history,
    )


def check_claims(run: Run, *, is_request: bool = False) -> list[Check]:
    """Return the evaluation's checks of the claims. With `is_request`, when somebody waits, slow ones are left out."""
    evidence = run.evidence
    claimed = Claimed(run.manifest, evidence.scores, evidence.facts, run.fields.claims, is_request)
    return kind_of(run.manifest).own_claims(claimed)


def look_up(session: Session, sent: Sent) -> Known:
    """Return what the server knows of a run. Raises FieldRejected for a registration that it does not know."""
    run = sent.run
    registered = find_registered(session, run.fields, run.manifest.slug)
    standing = None
    if kind_of(run.manifest).rows.form == "records":
        standing = series.standing_records(session, sent.declared.benchmark.id, run.evidence.scores.entrant.words)
    history = attempts.read_history(session, sent.declared.benchmark.id, run.manifest, run.evidence, registered)
    own_grid = tuple(own_grid_findings(run.manifest, run.evidence.scores.entrant.words))
    if own_grid and not roles.decides(session, sent.declared.benchmark.id, sent.submitter.id):
        history = replace(history, findings=(*history.findings, *own_grid))
    known = entrants.names(session, sent.declared.benchmark.id)
    return Known(registered, standing, sent.submitter, known, history)


def _arrival(sent: Sent, known: Known, checks: Sequence[Check]) -> Arrival:
    return Arrival(
        declared=sent.declared,
        evidence=_with_deviations(sent.run, known.registered),
        fields=sent.run.fields,
        registered=known.registered,
        checks=checks,
        findings=findings_of(_case(sent.run, known)),
        token_id=sent.submitter.id,
        digest=digest_of(sent.declared.version.sha256, sent.run.evidence.files, sent.run.fields, known.registered),
        request_id=sent.request_id,
    )


def _with_deviations(run: Run, registered: Registered | None) -> Evidence:
    """Return the evidence, with the table of deviations added where it cites a registration."""
    if registered is None:
        return run.evidence
    computed = kind_of(run.manifest).rules.computed_metrics(run.manifest)
    deviations = deviations_table(registered, run.evidence.scores, run.evidence.facts.bundles, computed)
    return replace(run.evidence, attachments=(*run.evidence.attachments, deviations))
