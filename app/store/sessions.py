"""Browser sessions, and the identities of a provider by which somebody signs in.

Browser sessions: what represents a token in a browser, so that its text need not be kept there. Of a session's secret
only the hash is kept. A session ends with its token, after a while without use, after a day in any case, and when its
holder says so.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, func, select, update
from sqlalchemy.orm import Session
from sqlalchemy.sql.dml import ReturningUpdate

from app.config import GroupRole
from app.db.models import Benchmark, BrowserSession, SignInIdentity, Token
from app.errors import Forbidden, Unauthenticated
from app.names import is_holder
from app.store import benchmark_rows, roles, sql, tokens
from app.store.roles import Role
from app.store.tokens import Bounds

LASTS = timedelta(hours=24)

IDLE = timedelta(hours=2)

FRESH = timedelta(minutes=10)

NOTED_EVERY = timedelta(minutes=5)


def begin(session: Session, token: Token, proved_at: datetime | None = None) -> tuple[BrowserSession, str]:
    """Begin a session for a token that works, and return it with its secret, which is not kept.

    Its secret is new each time: one that was there before the login is worth nothing. `proved_at` is when its holder
    showed who they are, if not just now.
    """
    secret = secrets.token_urlsafe(32)
    now = sql.now(session)
    proved_at = now if proved_at is None else min(proved_at, now)
    values = {"proved_at": proved_at, "used_at": now, "expires_at": now + LASTS}
    begun = BrowserSession(hash=_hash(secret), token_id=token.id, **values)
    session.add(begun)
    session.flush()
    return begun, secret


def find(session: Session, secret: str) -> tuple[BrowserSession, Token] | None:
    """Return a session that has not ended, with its token, which works."""
    query = select(BrowserSession, Token).join(Token, Token.id == BrowserSession.token_id)
    row = session.execute(query.where(BrowserSession.hash == _hash(secret))).one_or_none()
    if row is None:
        return None
    browser_session, token = row
    now = sql.now(session)
    is_over = (
        browser_session.ended_at is not None
        or browser_session.expires_at <= now
        or browser_session.used_at + IDLE <= now
    )
    return None if is_over or tokens.why_ended(token) is not None else (browser_session, token)


def note_use(session: Session, browser_session: BrowserSession) -> None:
    """Note that a session was used, every few minutes: only then is it idle."""
    now = sql.now(session)
    if now - browser_session.used_at >= NOTED_EVERY:
        session.execute(update(BrowserSession).where(BrowserSession.id == browser_session.id).values(used_at=now))


def is_fresh(browser_session: BrowserSession) -> bool:
    """Say whether its holder proved their identity recently, as dangerous actions require."""
    return timedelta() <= sql.now_for(browser_session) - browser_session.proved_at < FRESH


def end(session: Session, secret: str) -> None:
    """End the session of a secret."""
    session.execute(_ending(BrowserSession.hash == _hash(secret)))


def end_all(session: Session, token_id: int, but: int | None = None) -> int:
    """End every session of a token, wherever it is, but for one perhaps, and return how many there were."""
    others = BrowserSession.token_id == token_id
    if but is not None:
        others &= BrowserSession.id != but
    return len(session.execute(_ending(others)).all())


def list_open(session: Session, token_id: int) -> list[BrowserSession]:
    """Return the sessions of a token that have not ended, the newest first."""
    now = sql.now(session)
    query = select(BrowserSession).where(
        BrowserSession.token_id == token_id,
        BrowserSession.ended_at.is_(None),
        BrowserSession.expires_at > now,
        BrowserSession.used_at > now - IDLE,
    )
    return list(session.scalars(query.order_by(BrowserSession.id.desc())))


def form_key(secret: str) -> str:
    """Return what every form of a session carries: no other site can know it."""
    return hmac.new(secret.encode(), b"plumbline form", hashlib.sha256).hexdigest()


def _ending(which: ColumnElement[bool]) -> ReturningUpdate[tuple[int]]:
    ending = update(BrowserSession).where(which, BrowserSession.ended_at.is_(None))
    return ending.values(ended_at=func.clock_timestamp()).returning(BrowserSession.id)


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


# Who signs in through an identity provider: their token, and the roles of their groups. For `app.web.sessions`.
#
# The token and the roles expire some time after each login, so that somebody removed at the provider soon loses
# access here; since they expire, they never count as a lasting steward or admin (`app.store.roles`,
# `app.store.tokens`).

EVERYBODY = "*"

RANK = {"submitter": 0, "reviewer": 0, "steward": 1, "admin": 2}

RENEWED_FROM = timedelta(hours=1)


@dataclass(frozen=True)
class Claimed:
    """A provider's claims about somebody: its address, its identifier for them, their display name, their groups."""

    issuer: str
    subject: str
    name: str
    groups: frozenset[str]


def sign_in(session: Session, claimed: Claimed, known: Collection[GroupRole], lasts: timedelta) -> Token:
    """Return the token of somebody, made at their first login, with the roles that their groups give them now.

    Raises Forbidden for who is in no group that has a role, and Unauthenticated for a token that was revoked.
    """
    given = [each for each in known if each.group in (EVERYBODY, *claimed.groups)]
    if not given:
        raise Forbidden("You are known to the identity provider, but none of your groups has a role on this server.")
    own = max((each.role for each in given), key=lambda role: RANK[role])
    until = sql.now(session) + lasts
    token = _token(session, claimed, "submitter" if own == "reviewer" else own, until)
    for each in given:
        if each.benchmark is not None:
            _enter(session, each.benchmark, token, Role(each.role, until))
    return token


def find_identity(session: Session, token_id: int) -> SignInIdentity | None:
    """Return the provider's identity of a token's holder; None for a token created here."""
    return session.scalar(select(SignInIdentity).where(SignInIdentity.token_id == token_id))


def forget(session: Session, token_id: int) -> None:
    """Delete the provider's identity of a token's holder; their next login creates a new token."""
    session.execute(delete(SignInIdentity).where(SignInIdentity.token_id == token_id))


def _token(session: Session, claimed: Claimed, role: str, until: datetime) -> Token:
    key = (SignInIdentity.issuer == claimed.issuer, SignInIdentity.subject == claimed.subject)
    token = session.scalar(
        select(Token)
        .join(SignInIdentity, SignInIdentity.token_id == Token.id)
        .where(*key)
        .with_for_update(key_share=True, of=Token)
    )
    if token is None:
        name = tokens.free_name(session, called(claimed.name))
        token, _ = tokens.create_token(session, name, role, Bounds(until))
        session.add(SignInIdentity(issuer=claimed.issuer, subject=claimed.subject, token_id=token.id))
    if token.revoked_at is not None:
        raise Unauthenticated("Your token was revoked here; ask an admin.")
    token.role, token.expires_at = role, until
    session.flush()
    return token


def called(name: str) -> str:
    """Return somebody's name here: the provider's, as far as it is allowed.

    >>> called("Ann Lee"), called("ann@example.org"), called("Анна")
    ('Ann Lee', 'ann example.org', 'someone')
    """
    plain = re.sub(r"\s+", " ", re.sub(r"[^A-Za-z0-9._+() -]", " ", name)).strip()[:90].strip()
    return plain if is_holder(plain) and len(plain) * 2 > len(name) else "someone"


def _enter(session: Session, slug: str, token: Token, role: Role) -> None:
    """Give the role of a group until its time, unless it is held for longer; a benchmark may not be there yet."""
    benchmark = session.scalar(select(Benchmark).where(Benchmark.slug == slug))
    if benchmark is None or role.until is None:
        return
    held = {each.role: each.until for each in roles.list_roles(session, benchmark.id) if each.token.id == token.id}
    ends = held.get(role.name)
    if role.name in held and (ends is None or ends > role.until - RENEWED_FROM):
        return
    locked = benchmark_rows.lock_benchmark(session, benchmark.id)
    roles.grant(session, locked, token, role, token.id)
    benchmark_rows.mark_pages_changed(session, benchmark.id)
