"""Browser sessions: what represents a token in a browser, so that its text need not be kept there.

Of a session's secret only the hash is kept. A session ends with its token, after a while without use, after a day in
any case, and when its holder says so.
"""

import hashlib
import hmac
import secrets
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.orm import Session
from sqlalchemy.sql.dml import ReturningUpdate

from app.db.models import BrowserSession, Token
from app.rights import tokens
from app.store import sql

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
    begun = BrowserSession(hash=tokens.hash_secret(secret), token_id=token.id, **values)
    session.add(begun)
    session.flush()
    return begun, secret


def find(session: Session, secret: str) -> tuple[BrowserSession, Token] | None:
    """Return a session that has not ended, with its token, which works."""
    query = select(BrowserSession, Token).join(Token, Token.id == BrowserSession.token_id)
    row = session.execute(query.where(BrowserSession.hash == tokens.hash_secret(secret))).one_or_none()
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
    session.execute(_ending(BrowserSession.hash == tokens.hash_secret(secret)))


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
