"""Who did what: an event for every write, in its own transaction, and for every write that was refused.

Called by `app.web` and by the commands that open the database. Events identify people only by the numbers of their
tokens: a name can be erased, but an event cannot be changed.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import ColumnElement, Select, func, select, update
from sqlalchemy.orm import Session

from app.db.models import AuditEvent, Token
from app.names import clip_for_message

MAX_TEXT = 500
MOST_LISTED = 1000
# Text that looks like a token or an invitation code may be one that was sent to the wrong place.
_TOKEN_LIKE = re.compile(r"pl(b[a-z]?|i)_[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class Act:
    """Who is about to do what, and from where, as known before it is done.

    `address` is kept for `kept_days`; `benchmark` is the slug that the address names.
    """

    action: str
    subject: str = ""
    benchmark: str | None = None
    token_id: int | None = None
    session_id: int | None = None
    address: str | None = None
    kept_days: int = 0


@dataclass(frozen=True)
class Change:
    """What an act changed, in short; `benchmark` where the act itself does not name it, `reason` where one is asked."""

    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None
    reason: str | None = None
    benchmark: str | None = None


NOTHING = Change()


@dataclass(frozen=True)
class Listed:
    """An event, with the current name of its token."""

    event: AuditEvent
    holder: str | None


@dataclass(frozen=True)
class Wanted:
    """Which events are asked for, the newest first: those before a number, within a time, of a benchmark, of a token.

    `within` are the benchmarks that the reader may see the events of; None: of all, and those of none.
    """

    within: Collection[str] | None = None
    benchmark: str | None = None
    token_id: int | None = None
    action: str | None = None
    refused: bool | None = None
    since: datetime | None = None
    until: datetime | None = None
    before: int | None = None
    limit: int = 100


def record(session: Session, act: Act, status: int | None, change: Change = NOTHING) -> None:
    """Note what an act did, in the transaction that did it."""
    _add(session, act, status, change, None)


def record_refusal(session: Session, act: Act, status: int, refusal: str) -> None:
    """Note an act that was refused, and why."""
    _add(session, act, status, NOTHING, without_tokens(refusal))


def without_tokens(text: str) -> str:
    """Return a text, cut to a limited length, without anything that looks like a token."""
    return clip_for_message(_TOKEN_LIKE.sub(lambda match: f"pl{match[1]}_…", text), MAX_TEXT)


def list_events(session: Session, wanted: Wanted) -> Sequence[Listed]:
    """Return the events that are asked for, the newest first."""
    named = cast("Select[Any]", select(AuditEvent, Token.name).outerjoin(Token, Token.id == AuditEvent.token_id))
    query = _narrowed(named, wanted)
    rows = session.execute(query.order_by(AuditEvent.id.desc()).limit(min(wanted.limit, MOST_LISTED)))
    return [Listed(event, holder) for event, holder in rows]


def erase_addresses(session: Session) -> int:
    """Erase expired addresses and return how many there were."""
    due = (AuditEvent.address.is_not(None), AuditEvent.address_until <= func.clock_timestamp())
    erased = session.execute(
        update(AuditEvent).where(*due).values(address=None, address_salt=None).returning(AuditEvent.id)
    )
    return len(erased.all())


def _add(session: Session, act: Act, status: int | None, change: Change, refusal: str | None) -> None:
    is_kept = act.address is not None and act.kept_days > 0
    session.add(
        AuditEvent(
            action=act.action,
            subject=without_tokens(act.subject),
            benchmark=change.benchmark or act.benchmark,
            token_id=act.token_id,
            session_id=act.session_id,
            address=act.address if is_kept else None,
            address_until=func.clock_timestamp() + timedelta(days=act.kept_days) if is_kept else None,
            status=status,
            refusal=refusal,
            before=None if change.before is None else dict(change.before),
            after=None if change.after is None else dict(change.after),
            reason=change.reason,
        )
    )
    session.flush()


def _narrowed(query: Select[Any], wanted: Wanted) -> Select[Any]:
    for condition in _conditions(wanted):
        query = query.where(condition)
    return query


def _conditions(wanted: Wanted) -> Iterator[ColumnElement[bool]]:
    if wanted.within is not None:
        yield AuditEvent.benchmark.in_(wanted.within)
    if wanted.benchmark is not None:
        yield AuditEvent.benchmark == wanted.benchmark
    if wanted.token_id is not None:
        yield AuditEvent.token_id == wanted.token_id
    if wanted.action is not None:
        yield AuditEvent.action.icontains(wanted.action, autoescape=True)
    if wanted.refused is not None:
        yield AuditEvent.refusal.is_not(None) if wanted.refused else AuditEvent.refusal.is_(None)
    yield from _times(wanted)


def _times(wanted: Wanted) -> Iterator[ColumnElement[bool]]:
    if wanted.since is not None:
        yield AuditEvent.at >= wanted.since
    if wanted.until is not None:
        yield AuditEvent.at < wanted.until
    if wanted.before is not None:
        yield AuditEvent.id < wanted.before
