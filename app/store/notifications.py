"""Whom to notify of submissions, what is due to be sent, and what failed. For `app.web` and `app.jobs.notifying`.

What is to be sent is written by the database with the event itself (migrations/initial/9_notifications.sql).
"""

import secrets
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import exists, func, or_, select, update
from sqlalchemy.orm import Session, aliased

from app.db.models import Benchmark, Delivery, Notification, Submission, Token
from app.errors import Conflict, FieldRejected, NotFound, Problem
from app.rights import visibility
from app.store.web_processes import is_unshown

MOST = 10
CONFIRM = "confirm"
# After the sixth try, some nine hours later, nobody is notified any more.
PAUSES = tuple(timedelta(minutes=n) for n in (1, 5, 25, 120, 400))
MAIL = "mailto:"


@dataclass(frozen=True)
class Due:
    """One notification that is due."""

    id: int
    token_id: int
    tries: int
    address: str
    secret: bytes
    event: str
    reason: str
    at: datetime
    submission: int | None
    benchmark: str | None


def add(session: Session, token_id: int, address: str, events: Iterable[str], benchmark_id: int | None) -> Notification:
    """Store whom to notify, of every benchmark where none is named; an address of mail is asked to confirm first.

    Raises Conflict beyond `MOST` of a token.
    """
    session.execute(select(Token.id).where(Token.id == token_id).with_for_update(key_share=True))
    if len(list_own(session, token_id)) >= MOST:
        raise Conflict(f"A token has at most {MOST} addresses to notify; remove one first.")
    is_mail = address.startswith(MAIL)
    notification = Notification(
        token_id=token_id,
        benchmark_id=benchmark_id,
        address=address,
        secret=secrets.token_bytes(24),
        events=sorted(set(events)),
        confirmed_at=None if is_mail else func.clock_timestamp(),
    )
    session.add(notification)
    session.flush()
    if is_mail:
        session.add(
            Delivery(
                notification_id=notification.id, event=CONFIRM, reason="Somebody asked for notifications by mail here."
            )
        )
    session.flush()
    session.refresh(notification)
    return notification


def list_own(session: Session, token_id: int) -> Sequence[Notification]:
    """Return the addresses that are notified of a token's submissions."""
    query = select(Notification).where(Notification.token_id == token_id, Notification.ended_at.is_(None))
    return session.scalars(query.order_by(Notification.id)).all()


def find_own(session: Session, number: int, token_id: int) -> Notification:
    """Return an address of a token's own. Raises NotFound."""
    notification = session.get(Notification, number, with_for_update=True)
    if notification is None or notification.token_id != token_id or notification.ended_at is not None:
        raise NotFound(f"You have no notification {number}.")
    return notification


def end(session: Session, notification: Notification, because: str) -> None:
    """Stop notifying an address."""
    session.execute(update(Delivery).where(Delivery.notification_id == notification.id).values(due_at=None))
    notification.ended_at, notification.ended_because = func.clock_timestamp(), because
    session.flush()


def confirm(session: Session, notification: Notification, code: str) -> None:
    """Confirm an e-mail address by the code that was sent there.

    Raises FieldRejected.
    """
    if not secrets.compare_digest(code_of(notification.secret).encode(), code.encode()):
        problem = Problem("not the code that was sent to this address", column="code")
        raise FieldRejected("The address is not confirmed.", [problem])
    notification.confirmed_at = func.clock_timestamp()
    session.flush()


def code_of(secret: bytes) -> str:
    """Return the code that confirms an e-mail address."""
    return secret.hex()[:20]


def last_errors(session: Session, notification_ids: Sequence[int]) -> dict[int, str | None]:
    """Return for some addresses why their newest notification failed; None: it did not."""
    tried = select(func.max(Delivery.id)).where(Delivery.notification_id.in_(notification_ids), Delivery.tries > 0)
    newest = tried.group_by(Delivery.notification_id).scalar_subquery()
    query = select(Delivery.notification_id, Delivery.last_error).where(Delivery.id.in_(newest))
    return dict(session.execute(query).all())


def take_due(session: Session, busy: Collection[int] = ()) -> Due | None:
    """Return the next due notification, counted as an attempt, so that it is retried if the worker is killed.

    None of the tokens in `busy`, and none to an address that is being notified or paused since it failed.
    """
    while (delivery := _next_due(session, busy)) is not None:
        if _may_hear(session, delivery):
            return _counted(session, delivery)
        # It is not sent later either: somebody who regains a role must subscribe again.
        delivery.due_at, delivery.last_error = None, "Its token may no longer read this benchmark."
        session.flush()
    return None


def _next_due(session: Session, busy: Collection[int]) -> Delivery | None:
    is_working = or_(Token.expires_at.is_(None), Token.expires_at > func.clock_timestamp())
    of_working = select(Notification.id).join(Token, Token.id == Notification.token_id)
    of_working = of_working.where(Notification.ended_at.is_(None), Token.revoked_at.is_(None), is_working)
    of_working = of_working.where(Token.id.not_in(busy))
    other = aliased(Delivery)
    is_paused = exists().where(
        other.notification_id == Delivery.notification_id, other.tries > 0, other.due_at > func.clock_timestamp()
    )
    delivery: Delivery | None = session.scalar(
        select(Delivery)
        .where(Delivery.due_at <= func.clock_timestamp(), Delivery.notification_id.in_(of_working))
        .where(or_(Delivery.event != "published", ~is_unshown(Delivery.submission_id)), ~is_paused)
        .order_by(Delivery.due_at)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    return delivery


def _may_hear(session: Session, delivery: Delivery) -> bool:
    """Say whether the subscribed token may still read what it would be notified of."""
    if delivery.submission_id is None:
        return True
    submission = session.get_one(Submission, delivery.submission_id)
    benchmark = session.get_one(Benchmark, submission.benchmark_id)
    if benchmark.visibility == visibility.PUBLIC:
        return True
    token = session.get_one(Token, session.get_one(Notification, delivery.notification_id).token_id)
    reader = visibility.viewer_of(session, token)
    return reader.sees_all or benchmark.id in reader.benchmark_ids


def _counted(session: Session, delivery: Delivery) -> Due:
    waiting = select(func.max(Delivery.tries)).where(Delivery.notification_id == delivery.notification_id)
    delivery.tries = 1 + (session.scalar(waiting.where(Delivery.due_at.is_not(None))) or 0)
    pause = PAUSES[delivery.tries - 1] if delivery.tries <= len(PAUSES) else None
    delivery.due_at = None if pause is None else func.clock_timestamp() + pause
    session.flush()
    return _due(session, delivery)


def _due(session: Session, delivery: Delivery) -> Due:
    notification = session.get_one(Notification, delivery.notification_id)
    query = select(Benchmark.slug).join(Submission, Submission.benchmark_id == Benchmark.id)
    slug = session.scalar(query.where(Submission.id == delivery.submission_id))
    return Due(
        id=delivery.id,
        token_id=notification.token_id,
        tries=delivery.tries,
        address=notification.address,
        secret=notification.secret,
        event=delivery.event,
        reason=delivery.reason,
        at=delivery.made_at,
        submission=delivery.submission_id,
        benchmark=slug,
    )


def note_delivered(session: Session, delivery_id: int) -> None:
    """Remember that a notification was delivered."""
    delivered = {"told_at": func.clock_timestamp(), "due_at": None, "last_error": None}
    session.execute(update(Delivery).where(Delivery.id == delivery_id).values(delivered))


def note_failure(session: Session, delivery_id: int, error: str) -> None:
    """Remember why a notification could not be delivered; it is tried again when it is due.

    Whatever else waits for its address waits as long, and is given up with it: an address that fails is paused.
    """
    failed = session.get_one(Delivery, delivery_id)
    failed.last_error = error[:500]
    waiting = update(Delivery).where(Delivery.notification_id == failed.notification_id, Delivery.due_at.is_not(None))
    session.execute(waiting.values(tries=failed.tries, due_at=failed.due_at, last_error=error[:500]))
