"""Submissions: written once with their checks and rows, then moved from state to state with a reason each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, and_, func, or_, select, update
from sqlalchemy.orm import Session, aliased

from app.admission_check import Check
from app.db.models import (
    Benchmark,
    Entrant,
    EntrantTransfer,
    Entry,
    Submission,
    SubmissionCheck,
    SubmissionEvent,
    SubmissionFile,
    SubmissionTable,
)
from app.errors import Conflict, NotFound
from app.evidence.reader import Evidence
from app.store import benchmarks, entrants, predictions, scores, series
from app.store.benchmarks import Declared
from app.store.locks import take_turns
from app.table import Table


@dataclass(frozen=True)
class Arrival:
    """What is stored of an upload. `digest` is over every file and field of it."""

    declared: Declared
    evidence: Evidence
    checks: Sequence[Check]
    token_id: int
    digest: str
    idempotency_key: str | None
    prereg_sha256: str | None
    run_purpose: str
    description: Mapping[str, Any]
    claims: Mapping[str, Any] | None
    admitted: bool
    reason: str


def find_repeat(session: Session, arrival: Arrival) -> Submission | None:
    """Return the submission that these bytes, or this Idempotency-Key, made before.

    Bytes that were withdrawn may come again, as a new submission; a key stays with the submission that it made, so
    that a repeated request never undoes a withdrawal. Whoever sends the same at the same instant waits here until
    this transaction ends. Raises Conflict when the key was used for other bytes.
    """
    benchmark_id, token_id, digest = arrival.declared.benchmark.id, arrival.token_id, arrival.digest
    key = arrival.idempotency_key
    take_turns(session, f"bytes {token_id} {digest}", *([] if key is None else [f"key {token_id} {key}"]))
    if key is not None:
        query = select(Submission).where(Submission.token_id == token_id, Submission.idempotency_key == key)
        earlier = session.scalar(query)
        if earlier is not None and (earlier.digest != digest or earlier.benchmark_id != benchmark_id):
            raise Conflict(f"This Idempotency-Key was used for submission {earlier.id} with other content.")
        if earlier is not None:
            return earlier
    return session.scalar(
        select(Submission).where(
            Submission.benchmark_id == benchmark_id,
            Submission.token_id == token_id,
            Submission.digest == digest,
            Submission.status != "withdrawn",
        )
    )


def write_submission(session: Session, arrival: Arrival) -> Submission:
    """Store an upload whole: submission, files, checks, entries and every row, in the caller's transaction.

    Raises Conflict when an entrant belongs to another submitter.
    """
    table = arrival.evidence.scores
    benchmark_id = arrival.declared.benchmark.id
    locked = entrants.lock_entrants(session, benchmark_id, table.entrant.words)
    diagnostics = series.diagnostic_names(table)
    named = {name: entrant for name, entrant in locked.items() if name not in diagnostics}
    entrants.refuse_foreign(named.values(), arrival.token_id)
    if arrival.admitted:
        entrants.claim(named.values(), arrival.token_id)
    submission = _add_submission(session, arrival)
    _add_parts(session, submission, arrival)
    _add_entries(session, submission, arrival, named)
    tasks = benchmarks.ensure_tasks(session, benchmark_id, table.task.words)
    keys = scores.RowKeys(submission.id, {name: entrant.id for name, entrant in locked.items()}, tasks)
    session.flush()
    scores.copy_scores(session, series.keep_strata(session, table, tasks), keys)
    predictions.write_blocks(session, arrival.evidence.predictions, keys)
    return submission


def _add_submission(session: Session, arrival: Arrival) -> Submission:
    submission = Submission(
        benchmark_id=arrival.declared.benchmark.id,
        manifest_version_id=arrival.declared.version.id,
        prereg_sha256=arrival.prereg_sha256,
        token_id=arrival.token_id,
        digest=arrival.digest,
        idempotency_key=arrival.idempotency_key,
        status="received" if arrival.admitted else "not_admitted",
        run_purpose=arrival.run_purpose,
        columns=list(arrival.evidence.scores.columns),
        n_rows=len(arrival.evidence.scores),
        description=dict(arrival.description),
        claims=None if arrival.claims is None else dict(arrival.claims),
        facts=arrival.evidence.facts.as_dict(),
    )
    session.add(submission)
    session.flush()
    return submission


def _add_parts(session: Session, submission: Submission, arrival: Arrival) -> None:
    session.add_all(
        SubmissionFile(
            submission_id=submission.id,
            position=position,
            name=file.name,
            sha256=file.sha256,
            n_bytes=file.n_bytes,
            n_rows=file.n_rows,
        )
        for position, file in enumerate(arrival.evidence.files)
    )
    add_checks(session, submission.id, arrival.checks)
    for table in arrival.evidence.attachments:
        write_table(session, submission.id, table)
    session.add(SubmissionEvent(submission_id=submission.id, status="received", reason="The upload is stored whole."))
    if not arrival.admitted:
        session.flush()
        session.add(SubmissionEvent(submission_id=submission.id, status="not_admitted", reason=arrival.reason))


def _add_entries(session: Session, submission: Submission, arrival: Arrival, locked: Mapping[str, Entrant]) -> None:
    counts = arrival.evidence.scores.entrant
    state = "pending" if arrival.admitted else "not_admitted"
    for code, name in enumerate(counts.words):
        if name not in locked:
            continue
        n_rows = int((counts.codes == code).sum())
        session.add(Entry(submission_id=submission.id, entrant_id=locked[name].id, n_rows=n_rows, state=state))


def add_checks(session: Session, submission_id: int, checks: Sequence[Check]) -> None:
    """Append checks to those that a submission has."""
    query = select(func.count()).where(SubmissionCheck.submission_id == submission_id)
    first = session.scalars(query).one()
    session.add_all(
        SubmissionCheck(
            submission_id=submission_id,
            position=first + offset,
            rule=check.rule,
            outcome=check.outcome,
            reason=check.reason,
        )
        for offset, check in enumerate(checks)
    )


def find_submission(session: Session, submission_id: int) -> Submission:
    """Return a submission. Raises NotFound."""
    submission = session.get(Submission, submission_id)
    if submission is None:
        raise NotFound(f"There is no submission {submission_id}.")
    return submission


def lock_submission(session: Session, submission_id: int) -> Submission:
    """Return a submission that stays locked, and its entrants with it, until the transaction ends. Raises NotFound.

    Everyone who moves a submission locks in this order: entrants, submissions, the benchmark; each kind by number.
    The locks leave the keys alone, so that rows that refer to what is locked can be added meanwhile.
    """
    entrants.lock_numbered(session, _entrant_ids(session, submission_id))
    return _lock_row(session, submission_id)


def _entrant_ids(session: Session, submission_id: int) -> Sequence[int]:
    return session.scalars(select(Entry.entrant_id).where(Entry.submission_id == submission_id)).all()


def _lock_row(session: Session, submission_id: int) -> Submission:
    submission = session.get(Submission, submission_id, with_for_update={"key_share": True}, populate_existing=True)
    if submission is None:
        raise NotFound(f"There is no submission {submission_id}.")
    return submission


def set_status(session: Session, submission: Submission, status: str, reason: str) -> None:
    """Move a submission to a state and keep when and why."""
    submission.status = status
    session.add(SubmissionEvent(submission_id=submission.id, status=status, reason=reason))
    session.flush()


def stand_on_boards(session: Session, submission: Submission) -> None:
    """Make a locked submission the evidence of its entrants, superseding what stood before.

    An entrant that has newer evidence already keeps it: the later upload wins, whichever was evaluated first.
    """
    entries = session.scalars(
        select(Entry).where(Entry.submission_id == submission.id).order_by(Entry.entrant_id)
    ).all()
    for entry in entries:
        _stand(session, submission, entry)
    session.flush()
    _close_superseded(session, {submission.id} | {e.submission_id for e in _superseded_by(session, submission.id)})


def close_entries(session: Session, submission: Submission) -> None:
    """Say of every entrant of a locked submission that was not admitted that it does not count.

    Names that nothing else of its submitter holds are anybody's again.
    """
    for entry in session.scalars(select(Entry).where(Entry.submission_id == submission.id)):
        entry.state = "not_admitted"
    session.flush()
    _release_names(session, submission)


def _release_names(session: Session, submission: Submission) -> None:
    """Take its entrants from the submitter, but for those that another submission, or a steward, gave to it."""
    other = aliased(Entry)
    held = (
        select(other.submission_id)
        .join(Submission, Submission.id == other.submission_id)
        .where(
            other.entrant_id == Entrant.id,
            other.submission_id != submission.id,
            or_(other.state == "pending", _stood(other)),
            Submission.token_id == submission.token_id,
        )
    )
    given = select(EntrantTransfer.id).where(EntrantTransfer.entrant_id == Entrant.id)
    session.execute(
        update(Entrant)
        .where(
            Entrant.id.in_(_entrant_ids(session, submission.id)),
            Entrant.owner_id == submission.token_id,
            ~held.exists(),
            ~given.exists(),
        )
        .values(owner_id=None)
    )


def _stood(entry: type[Entry]) -> ColumnElement[bool]:
    """Say whether an entry was ever the evidence of its entrant, whatever became of it."""
    evaluated = select(SubmissionEvent.id).where(
        SubmissionEvent.submission_id == entry.submission_id, SubmissionEvent.status == "evaluated"
    )
    return or_(entry.state.in_(("current", "superseded")), and_(entry.state == "withdrawn", evaluated.exists()))


def _stand(session: Session, submission: Submission, entry: Entry) -> None:
    newer = session.scalar(
        select(func.min(Entry.submission_id)).where(
            Entry.entrant_id == entry.entrant_id,
            Entry.submission_id > submission.id,
            _stood(Entry),
        )
    )
    if newer is not None:
        entry.state, entry.superseded_by = "superseded", newer
        return
    standing = session.scalar(select(Entry).where(Entry.entrant_id == entry.entrant_id, Entry.state == "current"))
    if standing is not None and standing is not entry:
        standing.state, standing.superseded_by = "superseded", submission.id
        session.flush()
    entry.state = "current"


def _superseded_by(session: Session, submission_id: int) -> Sequence[Entry]:
    return session.scalars(select(Entry).where(Entry.superseded_by == submission_id)).all()


def _close_superseded(session: Session, submission_ids: set[int]) -> None:
    """Mark as superseded every one of the submissions that no entrant stands on any more."""
    for submission_id in sorted(submission_ids):
        entries = session.scalars(select(Entry).where(Entry.submission_id == submission_id)).all()
        if {entry.state for entry in entries} != {"superseded"}:
            continue
        submission = _lock_row(session, submission_id)
        if submission.status != "superseded":
            newer = ", ".join(str(number) for number in sorted({e.superseded_by or 0 for e in entries}))
            set_status(session, submission, "superseded", f"Newer evidence of every entrant: submission {newer}.")


def withdraw(session: Session, submission: Submission, reason: str) -> None:
    """Take a locked submission off the boards; its rows, and the reason, stay public.

    What it had superseded does not come back: otherwise one could submit often and keep the best. One that never
    stood on a board leaves nothing behind there, not even its names.
    Raises Conflict when it was withdrawn already.
    """
    entries = session.scalars(
        select(Entry).where(Entry.submission_id == submission.id).order_by(Entry.entrant_id)
    ).all()
    if submission.status == "withdrawn":
        raise Conflict(f"Submission {submission.id} was withdrawn already.")
    for entry in entries:
        entry.state = "not_admitted" if entry.state == "not_admitted" else "withdrawn"
    set_status(session, submission, "withdrawn", reason)
    if not has_stood(session, submission.id):
        _release_names(session, submission)


def has_stood(session: Session, submission_id: int) -> bool:
    """Say whether a submission was ever evidence for a board, whatever became of it."""
    return any(event.status == "evaluated" for event in list_events(session, submission_id))


def list_events(session: Session, submission_id: int) -> Sequence[SubmissionEvent]:
    """Return the states a submission was in, the first one first."""
    query = select(SubmissionEvent).where(SubmissionEvent.submission_id == submission_id)
    return session.scalars(query.order_by(SubmissionEvent.id)).all()


def list_checks(session: Session, submission_id: int) -> Sequence[SubmissionCheck]:
    """Return the checks of a submission in the order in which they were made."""
    query = select(SubmissionCheck).where(SubmissionCheck.submission_id == submission_id)
    return session.scalars(query.order_by(SubmissionCheck.position)).all()


def list_files(session: Session, submission_id: int) -> Sequence[SubmissionFile]:
    """Return the files of a submission in the order in which they were sent."""
    query = select(SubmissionFile).where(SubmissionFile.submission_id == submission_id)
    return session.scalars(query.order_by(SubmissionFile.position)).all()


def list_entries(session: Session, submission_id: int) -> list[tuple[Entrant, Entry]]:
    """Return the entrants of a submission and how each of them stands, by name."""
    query = (
        select(Entrant, Entry)
        .join(Entry, Entry.entrant_id == Entrant.id)
        .where(Entry.submission_id == submission_id)
        .order_by(Entrant.name)
    )
    return list(session.execute(query).all())


def list_submissions(session: Session, benchmark_id: int, limit: int = 1000) -> Sequence[Submission]:
    """Return the submissions of a benchmark, the newest first."""
    query = select(Submission).where(Submission.benchmark_id == benchmark_id)
    return session.scalars(query.order_by(Submission.id.desc()).limit(limit)).all()


def slug_of(session: Session, submission: Submission) -> str:
    """Return the slug of the benchmark that a submission was made to."""
    return session.scalars(select(Benchmark.slug).where(Benchmark.id == submission.benchmark_id)).one()


def unevaluated(session: Session, older_than_s: float) -> Sequence[int]:
    """Return the submissions that have waited too long to be evaluated, power and debug runs among them."""
    age = func.extract("epoch", func.clock_timestamp() - Submission.received_at)
    has_summary = select(SubmissionTable.name).where(
        SubmissionTable.submission_id == Submission.id, SubmissionTable.name == "summary"
    )
    shown_only = and_(
        Submission.status == "not_admitted", Submission.run_purpose != "leaderboard", ~has_summary.exists()
    )
    waiting = or_(Submission.status == "received", shown_only)
    query = select(Submission.id).where(waiting, age > older_than_s)
    return session.scalars(query.order_by(Submission.id)).all()


def write_table(session: Session, submission_id: int, table: Table) -> None:
    """Keep a table that was computed from this submission alone."""
    session.merge(SubmissionTable(submission_id=submission_id, name=table.name, content=table.to_json()))


def read_table(session: Session, submission_id: int, name: str) -> Table | None:
    """Return a table computed from this submission alone, or None before there is one."""
    stored = session.get(SubmissionTable, (submission_id, name))
    return None if stored is None else Table.from_json(stored.content)


def read_tables(session: Session, submission_id: int) -> list[Table]:
    """Return every table of this submission: its own numbers first, then its claims, then the rest by name."""
    query = select(SubmissionTable).where(SubmissionTable.submission_id == submission_id)
    first = {"summary": 0, "claims": 1, "deviations": 2}
    stored = sorted(session.scalars(query), key=lambda kept: (first.get(kept.name, len(first)), kept.name))
    return [Table.from_json(kept.content) for kept in stored]
