"""Names that a registration keeps for its registrant until they are used, given free, or their time is over.

A name is reserved once for each token and benchmark: neither another registration nor the same one again prolongs it,
so nobody holds a name for ever without sending evidence.
"""

from collections.abc import Iterable, Set
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Row, Select, func, select
from sqlalchemy.orm import Session, aliased

from app.db.models import Benchmark, Entrant, EntrantRelease, EntrantReservation, Token
from app.errors import Conflict, NotFound
from app.names import first_few, name_key
from app.store.sql import one_of, take_turns

RESERVED_FOR = timedelta(days=90)
MAX_OPEN = 20
SHOWN = 20


@dataclass(frozen=True)
class Reserved:
    """A reserved name, its registrant, and its state: open, used, released or lapsed."""

    reservation: EntrantReservation
    holder: Token
    state: str
    release: EntrantRelease | None
    released_by: Token | None


def take_turns_at(session: Session, slug: str, token_id: int) -> None:
    """Wait until nobody else reserves in a benchmark or for a token; to be called first in a transaction."""
    take_turns(session, f"reservations in {slug}", f"reservations of {token_id}")


def reserve(session: Session, slug: str, sha256: str, names: Iterable[str], token_id: int) -> dict[str, str]:
    """Reserve the names that are free for a registrant; return why each of the others is not.

    What is the registrant's already, owned or reserved, is left as it is.
    """
    keys = {name: name_key(name) for name in names}
    hindered = _hindrances(session, slug, set(keys.values()), token_id)
    refused: dict[str, str] = {}
    free = MAX_OPEN - _count_open(session, token_id)
    for name, key in keys.items():
        reason = hindered.get(key)
        if reason is None and free <= 0:
            reason = f"You have {MAX_OPEN} reserved names that are not used yet."
        if reason is None:
            _add(session, slug, sha256, name, token_id)
            hindered[key] = ""
            free -= 1
        elif reason:
            refused[name] = reason
    return refused


def refuse_reserved(session: Session, benchmark: Benchmark, names: Iterable[str], token_id: int) -> None:
    """Raise Conflict naming every entrant that nobody owns and that is reserved for somebody else."""
    keys = {name_key(name) for name in names}
    query = _select().where(EntrantReservation.benchmark == benchmark.slug, EntrantReservation.token_id != token_id)
    query = query.where(one_of(EntrantReservation.name_key, keys), _is_open())
    taken = [_reserved(row) for row in session.execute(query.order_by(EntrantReservation.name))]
    if taken:
        shown = first_few(taken, SHOWN, lambda each: _in_words(each, each.holder.name), "; ")
        recorded = first_few(taken, SHOWN, lambda each: _in_words(each, f"token {each.holder.id}"), "; ")
        why = "Reserved by a registration for another submitter:"
        raise Conflict(
            f"{why} {shown}. Its registrant, or a steward of the benchmark, can release a name.",
            recorded=f"{why} {recorded}.",
        )


def find_open(session: Session, slug: str, name: str) -> Reserved | None:
    """Return the open reservation of a name in a benchmark, if nobody owns it yet."""
    query = _select().where(EntrantReservation.benchmark == slug, _is_open())
    row = session.execute(query.where(EntrantReservation.name_key == name_key(name))).first()
    return None if row is None else _reserved(row)


def find_open_or_raise(session: Session, slug: str, name: str) -> Reserved:
    """Return the open reservation of a name in a benchmark.

    Raises NotFound.
    """
    reserved = find_open(session, slug, name)
    if reserved is None:
        raise NotFound(f"No entrant {name} is reserved in {slug}.")
    return reserved


def release(session: Session, reserved: Reserved, by_id: int, reason: str) -> None:
    """Release a reserved name, and record by whom and why."""
    session.add(EntrantRelease(reservation_id=reserved.reservation.id, by_id=by_id, reason=reason))
    session.flush()


def list_of_prereg(session: Session, sha256: str) -> list[Reserved]:
    """Return the names that a registration reserved, the oldest first."""
    query = _select().where(EntrantReservation.prereg_sha256 == sha256).order_by(EntrantReservation.id)
    return [_reserved(row) for row in session.execute(query)]


def open_names(session: Session, slug: str) -> dict[str, list[EntrantReservation]]:
    """Return the names that are reserved in a benchmark, by the registration that reserved them."""
    query = select(EntrantReservation).where(EntrantReservation.benchmark == slug, _is_open())
    by_prereg: dict[str, list[EntrantReservation]] = {}
    for reservation in session.scalars(query.order_by(EntrantReservation.id)):
        by_prereg.setdefault(reservation.prereg_sha256, []).append(reservation)
    return by_prereg


def _hindrances(session: Session, slug: str, keys: Set[str], token_id: int) -> dict[str, str]:
    """Return by key why names cannot be reserved; nothing to say of those that are the registrant's.

    Asked at once of all names: whoever else reserves waits meanwhile.
    """
    in_benchmark, is_one = EntrantReservation.benchmark == slug, one_of(EntrantReservation.name_key, keys)
    own = select(EntrantReservation).where(in_benchmark, is_one, EntrantReservation.token_id == token_id)
    found = {
        kept.name_key: f"It was reserved for you once, until {kept.until:%Y-%m-%d}, and is not reserved again."
        for kept in session.scalars(own)
    }
    for standing in map(_reserved, session.execute(_select().where(in_benchmark, is_one, _is_open()))):
        holder = standing.holder
        is_own = holder.id == token_id
        found[standing.reservation.name_key] = "" if is_own else f"It is {_until(standing, holder.name)}."
    owned = select(Entrant.name_key, Token.id, Token.name).join(Token, Entrant.owner_id == Token.id)
    owned = owned.join(Benchmark, Benchmark.id == Entrant.benchmark_id)
    for key, owner, called in session.execute(owned.where(Benchmark.slug == slug, one_of(Entrant.name_key, keys))):
        found[key] = "" if owner == token_id else f"It belongs to {called}."
    return found


def _add(session: Session, slug: str, sha256: str, name: str, token_id: int) -> None:
    now: datetime = session.scalars(select(func.now())).one()
    reservation = EntrantReservation(
        benchmark=slug,
        name=name,
        name_key=name_key(name),
        token_id=token_id,
        prereg_sha256=sha256,
        until=now + RESERVED_FOR,
    )
    session.add(reservation)
    session.flush()


def _count_open(session: Session, token_id: int) -> int:
    query = select(func.count()).select_from(EntrantReservation)
    return session.scalars(query.where(EntrantReservation.token_id == token_id, _is_open())).one()


def _is_open() -> ColumnElement[bool]:
    """Say whether a name is kept: in time, not given free, owned by nobody, for a token that works."""
    released = select(EntrantRelease.reservation_id).where(EntrantRelease.reservation_id == EntrantReservation.id)
    working = select(Token.id).where(Token.id == EntrantReservation.token_id, Token.revoked_at.is_(None))
    kept = ~_exists(released) & ~_is_owned() & _exists(working)
    return (EntrantReservation.until > func.now()) & kept


def _exists(query: Select[int]) -> ColumnElement[bool]:
    # The queries that ask may join the same tables; only the reservation is theirs.
    return query.correlate(EntrantReservation).exists()


def _is_owned() -> ColumnElement[bool]:
    """Say whether somebody owns the name: an owner decides about it, and no reservation."""
    owned = (
        select(Entrant.id)
        .join(Benchmark, Benchmark.id == Entrant.benchmark_id)
        .where(
            Benchmark.slug == EntrantReservation.benchmark,
            Entrant.name_key == EntrantReservation.name_key,
            Entrant.owner_id.is_not(None),
        )
    )
    return _exists(owned)


def _select() -> Select[EntrantReservation, Token, EntrantRelease, Token, bool, bool]:
    released_by = aliased(Token)
    return (
        select(
            EntrantReservation,
            Token,
            EntrantRelease,
            released_by,
            _is_owned().label("is_owned"),
            (EntrantReservation.until > func.now()).label("is_in_time"),
        )
        .join(Token, Token.id == EntrantReservation.token_id)
        .outerjoin(EntrantRelease, EntrantRelease.reservation_id == EntrantReservation.id)
        .outerjoin(released_by, released_by.id == EntrantRelease.by_id)
    )


def _reserved(row: Row[EntrantReservation, Token, EntrantRelease, Token, bool, bool]) -> Reserved:
    reservation, holder, released, by, is_owned, is_in_time = row
    if released is not None:
        state = "released"
    elif is_owned:
        state = "used"
    else:
        state = "open" if is_in_time and holder.revoked_at is None else "lapsed"
    return Reserved(reservation, holder, state, released, by)


def _in_words(reserved: Reserved, holder: str) -> str:
    return f"{reserved.reservation.name} ({_until(reserved, holder)})"


def _until(reserved: Reserved, holder: str) -> str:
    kept = reserved.reservation
    return f"reserved for {holder} until {kept.until:%Y-%m-%d} by registration {kept.prereg_sha256[:12]}"
