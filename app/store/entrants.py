"""Entrants: names, who owns them, and which submission is the evidence that counts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.db.models import Benchmark, Entrant, EntrantTransfer, Entry, SnapshotEntry, Submission, Token
from app.errors import Conflict, NotFound
from app.names import first_few, name_key
from app.store import references, reservations
from app.store.benchmark_rows import add_names, refuse_respelled
from app.store.sql import one_of


@dataclass(frozen=True)
class Move:
    """A steward moved an entrant from one owner to another."""

    before: Token | None
    to: Token
    by: Token
    at: datetime
    reason: str


@dataclass(frozen=True)
class Ownership:
    """The owner of an entrant, and its transfers, oldest first."""

    owner: Token | None
    moves: tuple[Move, ...]


def find_entrant(session: Session, benchmark_id: int, name: str) -> Entrant:
    """Return an entrant. Raises NotFound."""
    entrant = session.scalar(select(Entrant).where(Entrant.benchmark_id == benchmark_id, Entrant.name == name))
    if entrant is None:
        raise NotFound(f"There is no entrant {name} in this benchmark.")
    return entrant


def names(session: Session, benchmark_id: int) -> Sequence[str]:
    """Return the name of every entrant that evidence was ever submitted for."""
    return session.scalars(select(Entrant.name).where(Entrant.benchmark_id == benchmark_id)).all()


def lock_entrant(session: Session, benchmark_id: int, name: str) -> Entrant:
    """Return an entrant whose row stays locked until the transaction ends. Raises NotFound."""
    return lock_numbered(session, [find_entrant(session, benchmark_id, name).id])[0]


def lock_numbered(session: Session, entrant_ids: Iterable[int]) -> Sequence[Entrant]:
    """Return entrants as they are now, locked until the transaction ends, in the order in which everyone locks."""
    query = select(Entrant).where(one_of(Entrant.id, entrant_ids)).order_by(Entrant.id).with_for_update(key_share=True)
    return session.scalars(query.execution_options(populate_existing=True)).all()


def lock_entrants(session: Session, benchmark_id: int, names: Iterable[str]) -> dict[str, Entrant]:
    """Create new entrants and lock all of them, so that two submissions of one entrant take turns.

    Raises Conflict when a name is a stored one in another spelling, see `app.names.name_key`.
    """
    wanted = sorted(names)
    add_names(session, Entrant, benchmark_id, wanted)
    keys = {name_key(name) for name in wanted}
    query = select(Entrant).where(Entrant.benchmark_id == benchmark_id, one_of(Entrant.name_key, keys))
    entrants = session.scalars(query.order_by(Entrant.id).with_for_update(key_share=True)).all()
    refuse_respelled("an entrant", {entrant.name for entrant in entrants}, wanted)
    return {entrant.name: entrant for entrant in entrants}


def refuse_foreign(entrants: Iterable[Entrant], token_id: int) -> None:
    """Raise Conflict naming every entrant that belongs to another submitter."""
    foreign = sorted(e.name for e in entrants if e.owner_id is not None and e.owner_id != token_id)
    if foreign:
        raise Conflict(
            f"Owned by another submitter: {first_few(foreign, 20)}. Only the owner of an entrant may submit for it; "
            "a steward can move ownership."
        )


def refuse_not_theirs(
    session: Session, benchmark: Benchmark, names: Iterable[str], known: Iterable[Entrant], token_id: int
) -> None:
    """Raise Conflict naming every entrant that belongs to another submitter or to stewards, or is reserved for one.

    `known` are the stored ones of the names. A registration reserves no reference entrant, not one of before either.
    """
    wanted, named = sorted(names), references.current(session, benchmark)
    references.refuse_reference(session, benchmark, named, wanted, token_id)
    refuse_foreign(known, token_id)
    reservations.refuse_reserved(session, benchmark, named.without(wanted), token_id)


def claim(entrants: Iterable[Entrant], token_id: int) -> None:
    """Make the token the owner of those entrants that have none."""
    for entrant in entrants:
        if entrant.owner_id is None:
            entrant.owner_id = token_id


def transfer(session: Session, entrant: Entrant, to: Token, by: Token, reason: str) -> None:
    """Move a locked entrant to another owner and record it; moving it to its own owner changes nothing.

    Raises Conflict when the token is revoked: nobody could submit for the entrant.
    """
    if to.revoked_at is not None:
        why = f"is revoked, so nobody could submit for {entrant.name}."
        raise Conflict(f"Token {to.id} of {to.name} {why}", recorded=f"Token {to.id} {why}")
    if entrant.owner_id == to.id:
        return
    session.add(
        EntrantTransfer(entrant_id=entrant.id, from_id=entrant.owner_id, to_id=to.id, by_id=by.id, reason=reason)
    )
    entrant.owner_id = to.id
    session.flush()


def read_ownership(session: Session, entrant: Entrant) -> Ownership:
    """Return an entrant's owner and its transfers, oldest first."""
    query = select(EntrantTransfer).where(EntrantTransfer.entrant_id == entrant.id).order_by(EntrantTransfer.id)
    transfers = session.scalars(query).all()
    named = {entrant.owner_id, *(number for t in transfers for number in (t.from_id, t.to_id, t.by_id))}
    tokens = {token.id: token for token in session.scalars(select(Token).where(Token.id.in_(named - {None})))}
    moves = tuple(
        Move(None if t.from_id is None else tokens[t.from_id], tokens[t.to_id], tokens[t.by_id], t.at, t.reason)
        for t in transfers
    )
    return Ownership(None if entrant.owner_id is None else tokens[entrant.owner_id], moves)


def entries_of(session: Session, entrant_id: int) -> Sequence[Entry]:
    """Return every piece of evidence an entrant ever had, the newest first."""
    query = select(Entry).where(Entry.entrant_id == entrant_id)
    return session.scalars(query.order_by(Entry.submission_id.desc())).all()


# What submitters state of their entrants, for filtering boards.

Described = Mapping[str, Mapping[str, Any]]


def described_entrants(session: Session, snapshot_id: int) -> Described:
    """Return the metadata of each entrant of a snapshot; a later submission's replace an earlier one's."""
    query = (
        select(Entrant.name, Submission.description)
        .join(SnapshotEntry, SnapshotEntry.entrant_id == Entrant.id)
        .join(Submission, Submission.id == SnapshotEntry.submission_id)
        .where(SnapshotEntry.snapshot_id == snapshot_id)
        .order_by(Submission.id)
    )
    described: dict[str, dict[str, Any]] = {}
    for name, description in session.execute(query):
        described.setdefault(name, {}).update(description)
    return described
