"""Which evidence is current: what a submission supersedes, and what a withdrawal takes off the boards. Evidence
supersedes what was current of an entrant before: all of it, or, where a board is composed of tasks that are each a
run of their own, the tasks that it has.
"""

from collections.abc import Collection, Sequence

from sqlalchemy import ColumnElement, and_, or_, select, update
from sqlalchemy.orm import Session, aliased

from app.db.models import Entrant, EntrantTransfer, Entry, Score, StoredTask, Submission, SubmissionEvent
from app.errors import Conflict
from app.store.sql import one_of
from app.store.submissions import entrant_ids, list_events, lock_rows, set_status


def make_current(session: Session, numbers: Collection[int]) -> None:
    """Make locked submissions the evidence of their entrants, superseding what was current before.

    No entrant is in two of them. An entrant that already has newer evidence keeps it: the later upload wins, whichever
    is evaluated first.
    """
    beside = _other_evidence(session, numbers)
    entries = _entries(session, numbers)
    for entry in entries:
        _make_current(session, entry, beside.get(entry.entrant_id, ()))
    session.flush()
    changed = [*entries, *(other for others in beside.values() for other in others if other.superseded_by in numbers)]
    _close_superseded(session, {entry.submission_id for entry in changed if entry.state == "superseded"})


def close_entries(session: Session, submission: Submission) -> None:
    """Close all entries of a locked submission that was not admitted, so that they do not count.

    Names that the submitter holds by nothing else become free again.
    """
    for entry in _entries(session, [submission.id]):
        entry.state = "not_admitted"
    session.flush()
    _release_names(session, submission)


def withdraw(session: Session, submission: Submission, reason: str) -> None:
    """Take a locked submission off the boards; its rows, and the reason, stay public.

    What it superseded does not become current again: otherwise one could submit often and keep the best. A submission
    that was never on a board leaves nothing behind, not even its names.
    Raises Conflict when it was withdrawn already.
    """
    entries = _entries(session, [submission.id])
    if submission.status == "withdrawn":
        raise Conflict(f"Submission {submission.id} was withdrawn already.")
    for entry in entries:
        entry.state = "not_admitted" if entry.state == "not_admitted" else "withdrawn"
    set_status(session, submission, "withdrawn", reason)
    if not was_current(session, submission.id):
        _release_names(session, submission)


def set_aside(session: Session, submission: Submission, reason: str) -> None:
    """Take a locked submission off boards that cannot be published with it; the fault may be the server's.

    Its entrants' previous evidence becomes current again, so that nobody loses a rank, and the same bytes may be
    submitted again. Evidence superseded task by task does not come back.
    """
    returning: set[int] = set()
    for entry in _entries(session, [submission.id]):
        if entry.state == "current":
            entry.state = "set_aside"
            returning |= _bring_back(session, entry)
    set_status(session, submission, "set_aside", reason)
    for number in sorted(returning):
        (older,) = lock_rows(session, [number])
        if older.status == "superseded":
            set_status(session, older, "evaluated", f"Current again: submission {submission.id} was set aside.")


def _bring_back(session: Session, entry: Entry) -> set[int]:
    """Make what an entry superseded current again and return its submissions."""
    older = [other for other in _superseded_by(session, entry.submission_id) if other.entrant_id == entry.entrant_id]
    for other in older:
        other.state, other.superseded_by = "current", None
    return {other.submission_id for other in older}


def was_current(session: Session, submission_id: int) -> bool:
    """Say whether a submission was ever on a board, whatever its status now."""
    return any(event.status == "evaluated" for event in list_events(session, submission_id))


def tasks_of(session: Session, entry: Entry) -> list[str] | None:
    """Return the tasks that an entry counts for by itself; None where entries count whole, or not at all."""
    if entry.task_ids is None or entry.state != "current":
        return None
    return list(
        session.scalars(
            select(StoredTask.name).where(StoredTask.id.in_(entry.task_ids)).order_by(StoredTask.name)
        ).all()
    )


def _entries(session: Session, numbers: Collection[int]) -> Sequence[Entry]:
    query = select(Entry).where(one_of(Entry.submission_id, numbers))
    return session.scalars(query.order_by(Entry.submission_id, Entry.entrant_id)).all()


def _release_names(session: Session, submission: Submission) -> None:
    """Release the submitter's ownership of its entrants, except where another submission, or a steward, granted it."""
    other = aliased(Entry)
    held = (
        select(other.submission_id)
        .join(Submission, Submission.id == other.submission_id)
        .where(
            other.entrant_id == Entrant.id,
            other.submission_id != submission.id,
            or_(other.state == "pending", _was_current(other)),
            Submission.token_id == submission.token_id,
        )
    )
    given = select(EntrantTransfer.id).where(EntrantTransfer.entrant_id == Entrant.id)
    session.execute(
        update(Entrant)
        .where(
            Entrant.id.in_(entrant_ids(session, submission.id)),
            Entrant.owner_id == submission.token_id,
            ~held.exists(),
            ~given.exists(),
        )
        .values(owner_id=None)
    )


def _was_current(entry: type[Entry]) -> ColumnElement[bool]:
    """Say whether an entry was ever the evidence of its entrant, whatever became of it."""
    evaluated = select(SubmissionEvent.id).where(
        SubmissionEvent.submission_id == entry.submission_id, SubmissionEvent.status == "evaluated"
    )
    return or_(entry.state.in_(("current", "superseded")), and_(entry.state == "withdrawn", evaluated.exists()))


def _other_evidence(session: Session, numbers: Collection[int]) -> dict[int, list[Entry]]:
    """Return the other evidence that the entrants of submissions ever had, by entrant, the oldest first."""
    own = select(Entry.entrant_id).where(one_of(Entry.submission_id, numbers))
    query = (
        select(Entry)
        .where(Entry.entrant_id.in_(own), ~one_of(Entry.submission_id, numbers), _was_current(Entry))
        .order_by(Entry.submission_id)
    )
    by_entrant: dict[int, list[Entry]] = {}
    for entry in session.scalars(query):
        by_entrant.setdefault(entry.entrant_id, []).append(entry)
    return by_entrant


def _make_current(session: Session, entry: Entry, beside: Sequence[Entry]) -> None:
    entry.state = "current"
    for other in beside:
        if other.submission_id > entry.submission_id:
            _give_way(session, entry, other)
    for standing in beside:
        if standing.submission_id < entry.submission_id and standing.state == "current":
            _give_way(session, standing, entry)


def _give_way(session: Session, entry: Entry, newer: Entry) -> None:
    """Remove the tasks covered by newer evidence; an entry left without tasks is superseded."""
    if entry.state != "current":
        return
    left = set() if newer.task_ids is None else _task_ids(session, entry) - set(newer.task_ids)
    if left:
        entry.task_ids = sorted(left)
    else:
        entry.state, entry.superseded_by = "superseded", newer.submission_id


def _task_ids(session: Session, entry: Entry) -> set[int]:
    if entry.task_ids is not None:
        return set(entry.task_ids)
    query = select(Score.task_id).where(
        Score.submission_id == entry.submission_id, Score.entrant_id == entry.entrant_id
    )
    return set(session.scalars(query.distinct()).all())


def _superseded_by(session: Session, submission_id: int) -> Sequence[Entry]:
    return session.scalars(select(Entry).where(Entry.superseded_by == submission_id)).all()


def _close_superseded(session: Session, numbers: Collection[int]) -> None:
    """Mark submissions that are no longer any entrant's evidence as superseded."""
    if not numbers:
        return
    held: dict[int, list[Entry]] = {}
    for entry in _entries(session, numbers):
        held.setdefault(entry.submission_id, []).append(entry)
    closed = [number for number, entries in held.items() if {entry.state for entry in entries} == {"superseded"}]
    for submission in lock_rows(session, closed):
        if submission.status != "superseded":
            newer = ", ".join(str(n) for n in sorted({entry.superseded_by or 0 for entry in held[submission.id]}))
            set_status(session, submission, "superseded", f"Newer evidence of every entrant: submission {newer}.")
