"""Who did what: an event for every write, done or refused, and the chain of seals over the events.

The event of a write is stored in its transaction. Events identify people only by the numbers of their tokens: a name
can be erased, but an event cannot be changed.

Why: docs/adr/025-audit-and-seals.md.
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from sqlalchemy import ColumnElement, Connection, Select, delete, func, select, update
from sqlalchemy.orm import Session

from app.db.models import AuditEvent, AuditSeal, AuditUnsealed, Token
from app.names import clip_for_message, first_few
from app.store.sql import now, one_of, take_turns

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
class ListedEvent:
    """An event, with the current name of its token."""

    event: AuditEvent
    holder: str | None


@dataclass(frozen=True)
class EventQuery:
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


BACKUP = "plumbline db backup"
"""The act of a backup that was made."""


def record(session: Session, act: Act, status: int | None, change: Change = NOTHING) -> None:
    """Note what an act did, in the transaction that did it."""
    _add(session, act, status, change, None)


def record_refusal(session: Session, act: Act, status: int, refusal: str) -> None:
    """Note an act that was refused, and why."""
    _add(session, act, status, NOTHING, without_tokens(refusal))


def without_tokens(text: str) -> str:
    """Return a text, cut to a limited length, without anything that looks like a token."""
    return clip_for_message(_TOKEN_LIKE.sub(lambda match: f"pl{match[1]}_…", text), MAX_TEXT)


def list_events(session: Session, wanted: EventQuery) -> Sequence[ListedEvent]:
    """Return the events that are asked for, the newest first."""
    named = cast("Select[Any]", select(AuditEvent, Token.name).outerjoin(Token, Token.id == AuditEvent.token_id))
    query = named.where(*_conditions(wanted))
    rows = session.execute(query.order_by(AuditEvent.id.desc()).limit(min(wanted.limit, MOST_LISTED)))
    return [ListedEvent(event, holder) for event, holder in rows]


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


def _conditions(wanted: EventQuery) -> Iterator[ColumnElement[bool]]:
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
    if wanted.since is not None:
        yield AuditEvent.at >= wanted.since
    if wanted.until is not None:
        yield AuditEvent.at < wanted.until
    if wanted.before is not None:
        yield AuditEvent.id < wanted.before


# Seals over the audit record, each over a batch of events and the seal before it, and checking all of them.
#
# Workers seal every minute and after a publication (`app.jobs.queue`), `plumbline db check` checks,
# `/audit/seals.json` shows. An event's leaf is SHA-256 over its salt and its fields; an address is in it by a salted
# digest, so that it can be erased when its time is over, and names are in no event. Whoever wrote a seal down can
# tell a later rewrite: the chain then has another digest under its number.

MOST_SEALED = 1000
"""Events under one seal; what waits beyond gets the next one."""

CHECKED_TOGETHER = 10_000
"""Events in memory at a time while the chain is checked."""

LATE = timedelta(hours=1)
"""How long before its commit an event may be, how far a clock may be set back, how long an event may lack a seal."""

LEAF_BYTES = 32

SEALED = (
    "id", "at", "action", "subject", "benchmark", "token_id", "session_id", "address_until", "address_digest", "status",
    "refusal", "before", "after", "reason",
)  # fmt: skip
"""The fields of an event that a seal covers: all but the address, its salt and the salt of the leaf."""


@dataclass(frozen=True)
class Break:
    """One place where the record is not what was sealed: `kind` in a word or two, and a sentence."""

    kind: str
    text: str


@dataclass(frozen=True)
class Checked:
    """How much a check looked at; the newest seal, and how many events wait for one since when."""

    n_events: int
    n_seals: int
    head: AuditSeal | None
    n_waiting: int
    waiting_since: datetime | None


def leaf(event: Any) -> bytes:
    """Return the digest of an event: SHA-256 over its salt and its fields as JSON with sorted keys."""
    return hashlib.sha256(event.salt + _canonical({name: getattr(event, name) for name in SEALED})).digest()


def seal_digest(number: int, at: datetime, events: Sequence[int], leaves: bytes, previous: bytes | None) -> bytes:
    """Return the digest of a seal: over what `shown` gives of it, as JSON with sorted keys."""
    return hashlib.sha256(_canonical(_covered(number, at, events, leaves, previous))).digest()


def shown(seal: AuditSeal) -> Mapping[str, Any]:
    """Return what anybody may know of a seal: `digest` is SHA-256 over the rest, as JSON with sorted keys."""
    covered = _covered(seal.number, seal.at, seal.events, seal.leaves, seal.previous)
    return {**covered, "digest": seal.digest.hex()}


def _covered(
    number: int, at: datetime, events: Sequence[int], leaves: bytes, previous: bytes | None
) -> Mapping[str, Any]:
    of_events = hashlib.sha256(_canonical(list(events)) + leaves).hexdigest()
    return {"number": number, "at": _plain(at), "events": of_events, "previous": _plain(previous)}


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_plain).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    return value.hex() if isinstance(value, bytes) else value


def seal_waiting(session: Session) -> AuditSeal | None:
    """Seal the events that wait, at most `MOST_SEALED` of those committed by now; None where none waits.

    In the transaction of the caller, which should hold nothing else: one seal at a time is written.
    """
    take_turns(session, "audit seal")
    waiting = session.scalars(select(AuditUnsealed.event_id).order_by(AuditUnsealed.event_id).limit(MOST_SEALED)).all()
    if not waiting:
        return None
    last = newest(session)
    events = session.scalars(select(AuditEvent).where(AuditEvent.id.in_(waiting)).order_by(AuditEvent.id)).all()
    numbers, leaves = [event.id for event in events], b"".join(map(leaf, events))
    number, previous = (1, None) if last is None else (last.number + 1, last.digest)
    at = now(session)
    digest = seal_digest(number, at, numbers, leaves, previous)
    seal = AuditSeal(number=number, at=at, events=numbers, leaves=leaves, previous=previous, digest=digest)
    session.add(seal)
    session.execute(delete(AuditUnsealed).where(AuditUnsealed.event_id.in_(numbers)))
    session.flush()
    return seal


def newest(session: Session) -> AuditSeal | None:
    """Return the newest seal; None before the first."""
    return session.scalar(select(AuditSeal).order_by(AuditSeal.number.desc()).limit(1))


def list_seals(session: Session, before: int | None, limit: int) -> Sequence[AuditSeal]:
    """Return seals, the newest first, those before a number."""
    query = select(AuditSeal).order_by(AuditSeal.number.desc()).limit(limit)
    return session.scalars(query if before is None else query.where(AuditSeal.number < before)).all()


class AuditCheck:
    """Reads the whole record once, in one transaction and bounded memory, and yields every break of it."""

    def __init__(self, connection: Connection, heads: Mapping[int, str] | None = None) -> None:
        """`heads` are digests of seals that somebody kept, by number, in hexadecimal digits."""
        self._connection = connection
        self._heads = dict(heads or {})
        self._now: Any = None
        self._last: Any = None
        self._n_events = 0
        self._n_seals = 0

    def breaks(self) -> Iterator[Break]:
        """Yield where the record is not what was sealed; at the end `checked` says how much was looked at."""
        self._connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        self._now = self._connection.scalar(select(func.clock_timestamp()))
        together: list[Any] = []
        n_events = 0
        seals = select(AuditSeal.__table__).order_by(AuditSeal.number)
        for seal in self._connection.execute(seals, execution_options={"yield_per": 100}):
            together.append(seal)
            n_events += len(seal.events)
            if n_events >= CHECKED_TOGETHER:
                yield from self._check(together)
                together, n_events = [], 0
        yield from self._check(together)
        yield from self._check_heads()
        yield from self._outside()

    def checked(self) -> Checked:
        """Return how much was looked at."""
        waits = self._connection.execute(
            select(func.count(), func.min(AuditEvent.at))
            .select_from(AuditUnsealed)
            .outerjoin(AuditEvent, AuditEvent.id == AuditUnsealed.event_id)
        ).one()
        return Checked(self._n_events, self._n_seals, self._last, waits[0], waits[1])

    def _check(self, together: Sequence[Any]) -> Iterator[Break]:
        numbers = {number for seal in together for number in seal.events}
        rows = self._connection.execute(select(AuditEvent.__table__).where(one_of(AuditEvent.id, numbers)))
        events = {row.id: row for row in rows}
        for seal in together:
            yield from self._check_seal(seal)
            yield from self._check_events(seal, events)
            self._last = seal
            self._n_seals += 1
            self._n_events += len(seal.events)

    def _check_seal(self, seal: Any) -> Iterator[Break]:
        before, previous = (0, None) if self._last is None else (self._last.number, self._last.digest)
        if seal.number != before + 1:
            yield Break("seals missing", f"{_span(before + 1, seal.number - 1, 'seal')} of the chain missing.")
        elif seal.previous != previous:
            yield Break("seal changed", f"Seal {seal.number} does not follow seal {before}: one of them was exchanged.")
        if seal_digest(seal.number, seal.at, seal.events, seal.leaves, seal.previous) != seal.digest:
            yield Break("seal changed", f"Seal {seal.number} is not what it was: its digest is of something else.")
        kept = self._heads.pop(seal.number, None)
        if kept is not None and kept.lower() != seal.digest.hex():
            yield Break(
                "rewritten",
                f"Seal {seal.number} was {kept.lower()} when it was written down and is {seal.digest.hex()} now: the "
                "record was rewritten up to there, or is restored from a copy of before.",
            )

    def _check_events(self, seal: Any, events: Mapping[int, Any]) -> Iterator[Break]:
        missing, changed, dated = [], [], []
        earliest = None if self._last is None else self._last.at - LATE
        for at, number in enumerate(seal.events):
            event = events.get(number)
            if event is None:
                missing.append(number)
                continue
            if leaf(event) != seal.leaves[at * LEAF_BYTES : (at + 1) * LEAF_BYTES] or not _is_address_sound(
                event, self._now
            ):
                changed.append(number)
            if event.at > seal.at + LATE or (earliest is not None and event.at < earliest):
                dated.append(number)
        where = f"under seal {seal.number} of {_plain(seal.at)}"
        for kind, numbers in (("missing", missing), ("changed", changed), ("dated", dated)):
            if numbers:
                yield Break(kind, f"{_listed(numbers)} {SAID[kind]} {where}.")

    def _check_heads(self) -> Iterator[Break]:
        newest_number = 0 if self._last is None else self._last.number
        for number, kept in sorted(self._heads.items()):
            yield Break(
                "seals missing",
                f"Seal {number} ({kept.lower()}), which was written down, is not there: the newest is {newest_number}.",
            )

    def _outside(self) -> Iterator[Break]:
        """Yield what no seal covers and nothing awaits, what later seals left out, and what waits and is not there."""
        for kind, query in OUTSIDE.items():
            numbers = self._connection.exec_driver_sql(query, {"late": LATE}).scalars().all()
            if numbers:
                yield Break(kind, f"{_listed(numbers)} {SAID[kind]}.")


OUTSIDE = {
    "inserted later": """
        SELECT id FROM audit_event e WHERE NOT EXISTS (SELECT FROM audit_unsealed u WHERE u.event_id = e.id)
        AND NOT EXISTS (SELECT FROM (SELECT unnest(events) AS id FROM audit_seal) s WHERE s.id = e.id) ORDER BY id
    """,
    "sealed twice": "SELECT id FROM (SELECT unnest(events) AS id FROM audit_seal) s GROUP BY id HAVING count(*) > 1",
    "missing": """
        SELECT event_id FROM audit_unsealed u WHERE NOT EXISTS (SELECT FROM audit_event e WHERE e.id = u.event_id)
        ORDER BY event_id
    """,
    "dated": """
        SELECT e.id FROM audit_event e JOIN audit_unsealed u ON u.event_id = e.id
        WHERE e.at > clock_timestamp() + %(late)s OR e.at < (SELECT max(at) FROM audit_seal) - %(late)s ORDER BY e.id
    """,
}

SAID = {
    "missing": "missing",
    "changed": "changed since being sealed",
    "dated": "of a time at which nothing was written",
    "inserted later": "in no seal, and awaiting none: inserted beside the record",
    "sealed twice": "in more than one seal",
}


def _is_address_sound(event: Any, now: datetime) -> bool:
    """Say whether an address is the one that was written, or was emptied when its time was over."""
    if event.address is not None:
        salted: bytes = (event.address_salt or b"") + event.address.encode()
        return bool(hashlib.sha256(salted).digest() == event.address_digest)
    return event.address_digest is None or bool(event.address_until <= now)


def _listed(numbers: Iterable[int]) -> str:
    """Return event numbers as spans, the first of them where there are many.

    >>> _listed([3, 4, 5, 9])
    'Events 3 to 5, 9:'
    """
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    listed = first_few(spans, MOST_SPANS, _written)
    one = len(spans) == 1 and spans[0][0] == spans[0][1]
    return f"{'Event' if one else 'Events'} {listed}:"


MOST_SPANS = 20


def _written(span: Sequence[int]) -> str:
    first, last = span
    return f"{first}" if first == last else f"{first} to {last}"


def _span(first: int, last: int, what: str) -> str:
    return f"{what.capitalize()} {first} is" if first == last else f"{what.capitalize()}s {first} to {last} are"
