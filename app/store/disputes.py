"""Disputes: objections to submissions, and the stewards' answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from app.db.models import Dispute, DisputeAnswer, Submission, Token
from app.errors import Conflict, NotFound

MOST_OPEN = 5
"""Most open disputes of one person in a benchmark, so that nobody can flood the stewards."""
MOST_LISTED = 50


@dataclass(frozen=True)
class ReadDispute:
    """A dispute with its answer, null while it is open; `by` is its author, shown to stewards only."""

    id: int
    submission: int
    at: datetime
    text: str
    by: str
    by_id: int
    answered_at: datetime | None
    answer: str | None


def dispute(session: Session, submission: Submission, token_id: int, text: str) -> Dispute:
    """Store a dispute of a submission.

    Raises Conflict if too many of its author's are still open.
    """
    # Concurrent disputes of one person are counted one after the other.
    session.execute(select(Token.id).where(Token.id == token_id).with_for_update(key_share=True))
    waiting = [each for each in _waiting(session, submission.benchmark_id) if each.by_id == token_id]
    if any(each.submission == submission.id for each in waiting):
        raise Conflict(f"Your dispute of submission {submission.id} is still waiting for an answer.")
    if len(waiting) >= MOST_OPEN:
        raise Conflict(
            f"{MOST_OPEN} disputes of yours are waiting for an answer here; raise another once one is answered."
        )
    new = Dispute(submission_id=submission.id, by_id=token_id, text=text)
    session.add(new)
    session.flush()
    return new


def answer(session: Session, submission: Submission, number: int, token_id: int, text: str) -> ReadDispute:
    """Answer a dispute of a submission, once, and return it. Raises NotFound, and Conflict where it is answered."""
    asked = next((each for each in of_submission(session, submission.id) if each.id == number), None)
    if asked is None:
        raise NotFound(f"Submission {submission.id} has no dispute {number}.")
    if asked.answer is not None:
        raise Conflict(f"Dispute {number} is answered, and an answer is never rewritten.")
    session.add(DisputeAnswer(dispute_id=number, by_id=token_id, text=text))
    session.flush()
    return asked


def of_submission(session: Session, submission_id: int) -> Sequence[ReadDispute]:
    """Return all disputes of a submission, oldest first."""
    return _read(session, _all().where(Dispute.submission_id == submission_id).order_by(Dispute.id))


def waiting_here(session: Session, benchmark_id: int) -> Sequence[ReadDispute]:
    """Return the disputes of a benchmark that wait for an answer, the oldest first."""
    return _waiting(session, benchmark_id)[:MOST_LISTED]


def _waiting(session: Session, benchmark_id: int) -> Sequence[ReadDispute]:
    of_it = (Submission.benchmark_id == benchmark_id, DisputeAnswer.dispute_id.is_(None))
    joined = _all().join(Submission, Submission.id == Dispute.submission_id)
    return _read(session, joined.where(*of_it).order_by(Dispute.id))


def _all() -> Select[Any]:
    columns = (Dispute.id, Dispute.submission_id, Dispute.at, Dispute.text, Token.name, Dispute.by_id)
    query = cast("Select[Any]", select(*columns, DisputeAnswer.at, DisputeAnswer.text))
    return query.join(Token, Token.id == Dispute.by_id).outerjoin(DisputeAnswer, DisputeAnswer.dispute_id == Dispute.id)


def _read(session: Session, query: Select[Any]) -> Sequence[ReadDispute]:
    return [ReadDispute(*row) for row in session.execute(query)]


def shown_disputes(session: Session, submission_id: int) -> dict[str, Any]:
    """Return the key `disputes` of a submission's document, which one without any has not.

    An open dispute shows only its time: an accusation is published with its answer or not at all.
    """
    known = of_submission(session, submission_id)
    shown = [
        {"id": each.id, "at": each.at.isoformat(), "text": None if each.answered_at is None else each.text,
         "answer": each.answer, "answered_at": each.answered_at and each.answered_at.isoformat()}
        for each in known
    ]  # fmt: skip
    return {"disputes": shown} if shown else {}
