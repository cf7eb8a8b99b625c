"""Tokens: who may write, where and until when, to what they are bounded, and which of them are one owner."""

import hashlib
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, ScalarSelect, func, literal, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.db.models import ROLES, SCOPES, Benchmark, OwnerLink, Token
from app.errors import Conflict, FieldRejected, NotFound, Problem
from app.names import HOLDER_RULE, clip_for_message, is_holder
from app.rights import roles
from app.store import benchmark_rows, sql

PREFIX = "plb_"

# A longer number is no token's, and does not fit into the column.
MAX_DIGITS = 10

NOTED_EVERY = timedelta(hours=1)

LONGEST_OVERLAP_H = 7 * 24


@dataclass(frozen=True)
class Bounds:
    """What limits a token beside its role: when it ends, and what it is for; None for no limit.

    `scopes` are some of read, submit and steward; `entrants` the names that it may submit.
    """

    expires_at: datetime | None = None
    benchmarks: Sequence[str] | None = None
    scopes: Sequence[str] | None = None
    entrants: Sequence[str] | None = None


UNBOUNDED = Bounds()


def create_token(session: Session, name: str, role: str, bounds: Bounds = UNBOUNDED) -> tuple[Token, str]:
    """Make a token and return it with its text, which is not kept.

    Raises FieldRejected, or Conflict when a token has the name, in whatever case: pages show names only, and what a
    revoked token did stays its own.
    """
    check_bounds(session, name, role, bounds)
    text = _new_text()
    return _store_token(session, name, role, text, bounds), text


def taken_names(session: Session, names: Collection[str]) -> set[str]:
    """Return the keys of those names that a token has already."""
    keys = {key_of_name(name) for name in names}
    return set(session.scalars(select(func.lower(Token.name)).where(func.lower(Token.name).in_(keys))))


def key_of_name(name: str) -> str:
    """Return what two names that are one have in common: tokens are named in whatever case."""
    return name.lower()


def renew_with_overlap(
    session: Session, token_id: int, overlap_h: int, asked_with: str | None = None
) -> tuple[Token, str]:
    """Return a token with its new text, which is not kept; the former text works for some hours more.

    `asked_with` is the text that asks. Where it is the former one already, as after an answer that was lost, it stays
    that: what still uses it goes on.
    Raises NotFound, or Conflict for a token that no longer works: a rotation prolongs nothing.
    """
    token = session.get(Token, token_id, with_for_update={"key_share": True})
    if token is None:
        raise NotFound(f"There is no token {token_id}.")
    if (ended := why_ended(token)) is not None:
        raise Conflict(f"Token {token_id} {ended}; make a new one.")
    text = _new_text()
    is_former = asked_with is not None and token.former_hash == hash_secret(asked_with)
    token.former_hash, token.hash = token.former_hash if is_former else token.hash, hash_secret(text)
    token.former_until = sql.now(session) + timedelta(hours=overlap_h)
    session.flush()
    return token, text


def why_ended(token: Token) -> str | None:
    """Say why a token no longer works; None for one that does."""
    if token.revoked_at is not None:
        return "was revoked"
    if token.expires_at is not None and token.expires_at <= sql.now_for(token):
        return f"expired on {token.expires_at:%Y-%m-%d %H:%M} UTC"
    return None


def in_short(token: Token) -> dict[str, Any]:
    """Return how the audit describes a created token: by its number, without its name."""
    ends = None if token.expires_at is None else token.expires_at.isoformat()
    return {
        "token": token.id,
        "role": token.role,
        "expires_at": ends,
        "benchmarks": token.benchmarks,
        "scopes": token.scopes,
    }


def note_use(session: Session, token: Token) -> None:
    """Note that a token was used, to the hour: not every write is worth another one."""
    now = sql.now(session)
    if token.used_at is None or now - token.used_at >= NOTED_EVERY:
        token.used_at = now


def renew_at_once(session: Session, token: Token) -> str:
    """Return a token's new text, which is not kept; the one that it had works no longer."""
    text = _new_text()
    token.hash, token.former_hash, token.former_until = hash_secret(text), None, None
    session.flush()
    return text


def free_name(session: Session, wanted: str) -> str:
    """Return a name that no token has: the wanted one, else with a number behind it."""
    taken = {token.name.lower() for token in list_tokens(session)}
    names = (wanted if n == 1 else f"{wanted} {n}" for n in range(1, len(taken) + 2))
    return next(name for name in names if name.lower() not in taken)


def find_token(session: Session, text: str) -> Token | None:
    """Return the token with this text, whether it works or not; with its former text while that is left to it."""
    return session.scalar(select(Token).where(_has_text(text)))


def find_linked_token(session: Session, text: str, slug: str | None) -> tuple[Token | None, int | None]:
    """Return the same with the owner that it was linked to last in a benchmark, if it ever was."""
    query = select(Token, newest_link(slug, Token.id)).where(_has_text(text))
    found = session.execute(query).one_or_none()
    return (None, None) if found is None else (found[0], found[1])


def _has_text(text: str) -> ColumnElement[bool]:
    digest = hash_secret(text)
    is_former = (Token.former_hash == digest) & (Token.former_until > func.now())
    return or_(Token.hash == digest, is_former)


def list_tokens(session: Session) -> Sequence[Token]:
    """Return every token, the oldest first."""
    return session.scalars(select(Token).order_by(Token.id)).all()


def list_shown(session: Session) -> list[tuple[Token, list[str] | None]]:
    """Return every token with the benchmarks that it is for, without what the reader of this request may not see."""
    listed = list_tokens(session)
    known = benchmark_rows.known_slugs(session, {slug for token in listed for slug in token.benchmarks or ()})
    shown = [(each, None if each.benchmarks is None else [s for s in each.benchmarks if s in known]) for each in listed]
    return [(token, slugs) for token, slugs in shown if slugs is None or slugs]


def get_token(session: Session, token_id: int) -> Token:
    """Return one token. Raises NotFound."""
    token = session.get(Token, token_id)
    if token is None:
        raise NotFound(f"There is no token {token_id}.")
    return token


def find_named(session: Session, asked: str) -> Token:
    """Return the token of a number or of a name, in whatever case. Raises NotFound."""
    if asked.isascii() and asked.isdigit() and len(asked) < MAX_DIGITS:
        return get_token(session, int(asked))
    token = session.scalar(select(Token).where(func.lower(Token.name) == asked.lower()))
    if token is None:
        raise NotFound(f"There is no token {clip_for_message(asked)}.", recorded="There is no token of this name.")
    return token


def revoke_token(session: Session, token_id: int) -> Token:
    """Revoke a token.

    Raises NotFound, or Conflict for the last working admin token or a benchmark's last steward.
    """
    session.execute(select(Token.id).where(Token.role == "admin").order_by(Token.id).with_for_update(key_share=True))
    token = get_token(session, token_id)
    if token.revoked_at is None:
        if _admins(session) == [token.id]:
            raise Conflict(f"Token {token_id} is the last admin token; make another one first.")
        roles.refuse_orphans(session, token)
        token.revoked_at = session.scalar(select(func.now()))
        roles.mark_pages_changed(session, token.id)
    return token


def ensure_admin_token(session: Session, given: str | None) -> str | None:
    """Make sure that an admin can sign in.

    With `given` (PLUMBLINE_ADMIN_TOKEN) that text becomes an admin token unless it is one. Without it, an
    installation that has no admin token gets one, whose text is returned: the only time it can be shown.
    """
    session.execute(select(func.pg_advisory_xact_lock(func.hashtext("plumbline.ensure_admin_token"))))
    if given is not None:
        if session.scalar(select(Token).where(Token.hash == hash_secret(given))) is None:
            _store_token(session, free_name(session, "admin"), "admin", given)
        return None
    if _admins(session):
        return None
    return create_token(session, free_name(session, "admin"), "admin")[1]


def useless_as_admin(session: Session, given: str) -> str | None:
    """Say what a text is if it is a token by which no admin signs in; None for any other text."""
    token = session.scalar(select(Token).where(Token.hash == hash_secret(given)))
    if token is None or (token.revoked_at is None and token.role == "admin"):
        return None
    if token.revoked_at is None:
        return f"token {token.id} ({token.name}), whose role is {token.role}, not admin"
    return f"token {token.id} ({token.name}), which was revoked on {token.revoked_at:%Y-%m-%d} and stays so"


def _admins(session: Session) -> Sequence[int]:
    """Return the admin tokens that keep an admin's rights unless revoked.

    One that expires is not the last one, nor is one that is limited: it makes no other.
    """
    lasting = select(Token.id).where(Token.role == "admin", Token.revoked_at.is_(None), Token.expires_at.is_(None))
    return session.scalars(lasting.where(Token.scopes.is_(None), Token.entrants.is_(None))).all()


def _store_token(session: Session, name: str, role: str, text: str, bounds: Bounds = UNBOUNDED) -> Token:
    values = {
        "name": name,
        "role": role,
        "hash": hash_secret(text),
        "expires_at": bounds.expires_at,
        "benchmarks": _sorted(bounds.benchmarks),
        "scopes": _sorted(bounds.scopes),
        "entrants": _sorted(bounds.entrants),
    }
    token: Token | None = session.scalar(insert(Token).values(values).on_conflict_do_nothing().returning(Token))
    if token is None:
        raise Conflict(
            f"There is a token of the name {name} already, or there was one; each name is given once.",
            recorded="There is a token of this name already, or there was one.",
        )
    return token


def _sorted(names: Sequence[str] | None) -> list[str] | None:
    return None if names is None else sorted(set(names))


def _new_text() -> str:
    return PREFIX + secrets.token_urlsafe(32)


def hash_secret(text: str) -> bytes:
    """Return by what a secret is stored: it holds 256 random bits, so a fast hash without salt cannot be searched."""
    return hashlib.sha256(text.encode()).digest()


# The limits of a token besides its role, and their validation: expiry, benchmarks, scopes and entrants.


def check_bounds(session: Session, name: str, role: str, bounds: Bounds) -> None:
    """Raise FieldRejected, naming all that is wrong, unless a token of this name, role and limits may be made."""
    problems = []
    if not is_holder(name):
        problems.append(Problem(f"expected {HOLDER_RULE}", column="name", value=clip_for_message(name)))
    if role not in ROLES:
        problems.append(Problem(f"expected one of {', '.join(ROLES)}", column="role", value=clip_for_message(role)))
    problems += [*_of_end(session, bounds), *_of_benchmarks(session, role, bounds), *_of_scopes(role, bounds)]
    if problems:
        raise FieldRejected("The token cannot be made.", problems)


def _of_end(session: Session, bounds: Bounds) -> Iterator[Problem]:
    if bounds.expires_at is not None and bounds.expires_at <= sql.now(session):
        given = bounds.expires_at.isoformat()
        yield Problem("expected a time in the future", column="expires_at", value=given)


def _of_scopes(role: str, bounds: Bounds) -> Iterator[Problem]:
    known = SCOPES if role != "submitter" else SCOPES[:2]
    for scope in sorted(set(bounds.scopes or ()) - set(known)):
        message = f"expected some of {', '.join(known)} for a token of role {role}"
        yield Problem(message, column="scopes", value=clip_for_message(scope))
    for column, given in (("scopes", bounds.scopes), ("entrants", bounds.entrants)):
        if given is not None and not given:
            yield Problem("expected at least one; leave it out for a token without this limit", column=column)


def _of_benchmarks(session: Session, role: str, bounds: Bounds) -> Iterator[Problem]:
    if bounds.benchmarks is None:
        return
    if role == "admin":
        yield Problem("an admin's token is for every benchmark", column="benchmarks")
    if not bounds.benchmarks:
        yield Problem("expected at least one benchmark; leave it out for a token that is for all", column="benchmarks")
    for slug in sorted(set(bounds.benchmarks) - benchmark_rows.known_slugs(session, bounds.benchmarks)):
        yield Problem("there is no benchmark of this name", column="benchmarks", value=clip_for_message(slug))


# Which tokens are one owner in a benchmark: by default every token is its own. If somebody has several, a steward links
# them, since a quota per token could be evaded.


def owners(session: Session, benchmark_id: int) -> Mapping[int, int]:
    """Return the owner of each token that is linked to another one; any other token is its own."""
    query = select(OwnerLink.token_id, OwnerLink.owner_id).where(OwnerLink.benchmark_id == benchmark_id)
    newest: dict[int, int] = dict(session.execute(query.order_by(OwnerLink.id)).all())
    return {token: owner for token, owner in newest.items() if token != owner}


def newest_link(slug: str | None, token_id: ColumnElement[int] | InstrumentedAttribute[int]) -> ScalarSelect[int]:
    """Return the owner that a token was linked to last in a benchmark, to be read with what else is asked of it."""
    query = select(OwnerLink.owner_id).join(Benchmark, Benchmark.id == OwnerLink.benchmark_id)
    query = query.where(Benchmark.slug == slug, OwnerLink.token_id == token_id)
    return query.order_by(OwnerLink.id.desc()).limit(1).scalar_subquery()


def find_linked(session: Session, slug: str | None, token_id: int) -> int | None:
    """Return the owner that a token was linked to last in a benchmark, if it ever was."""
    return None if slug is None else session.scalar(select(newest_link(slug, literal(token_id))))


def owner_of(session: Session, benchmark_id: int, token_id: int) -> int:
    """Return the token under which a token's submissions are counted."""
    return owners(session, benchmark_id).get(token_id, token_id)


def tokens_of(session: Session, benchmark_id: int, owner_id: int) -> list[int]:
    """Return every token of an owner."""
    return _with_linked(owners(session, benchmark_id), owner_id)


def tokens_beside(session: Session, benchmark_id: int, token_id: int) -> list[int]:
    """Return every token of a token's owner, itself too."""
    linked = owners(session, benchmark_id)
    return _with_linked(linked, linked.get(token_id, token_id))


def _with_linked(linked: Mapping[int, int], owner_id: int) -> list[int]:
    return sorted({owner_id, *(token for token, owner in linked.items() if owner == owner_id)})


def link(session: Session, order: OwnerLink) -> None:
    """Count a token's submissions as another one's from now on, and all that it sent before; itself undoes it.

    Raises Conflict where that would make a chain of links.
    """
    if order.owner_id != order.token_id:
        linked = owners(session, order.benchmark_id)
        if order.owner_id in linked:
            raise Conflict(f"Token {order.owner_id} is counted as token {linked[order.owner_id]}: name that one.")
        if order.token_id in linked.values():
            raise Conflict(
                f"Other tokens are counted as token {order.token_id}: link them to token {order.owner_id} first."
            )
    session.add(order)
    session.flush()
    # Who is one with somebody who can read private labels is not ranked, see `app.store.disclosed`.
    benchmark_rows.mark_data_changed(session, order.benchmark_id)
