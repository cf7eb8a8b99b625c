"""Tokens: who may write. Only hashes are kept, so a lost token is replaced, never looked up."""

import hashlib
import secrets
from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from app.db.models import ROLES, Token
from app.errors import Conflict, FieldRejected, NotFound, Problem
from app.names import HOLDER_RULE, clip_for_message, is_holder
from app.store import stewards

PREFIX = "plb_"
# A longer number is no token's, and does not fit into the column.
MAX_DIGITS = 10


def create_token(session: Session, name: str, role: str) -> tuple[Token, str]:
    """Make a token and return it with its text, which is not kept.

    Raises FieldRejected, or Conflict when a token has the name, in whatever case: pages show names only, and what a
    revoked token did stays its own.
    """
    _check_name_and_role(name, role)
    text = _new_text()
    return _store_token(session, name, role, text), text


def renew_token(session: Session, token: Token) -> str:
    """Give a token another text, which is not kept, in the place of the one that it had, and return it."""
    text = _new_text()
    token.hash = _hash(text)
    session.flush()
    return text


def free_name(session: Session, wanted: str) -> str:
    """Return a name that no token has: the wanted one, else with a number behind it."""
    taken = {token.name.lower() for token in list_tokens(session)}
    names = (wanted if n == 1 else f"{wanted} {n}" for n in range(1, len(taken) + 2))
    return next(name for name in names if name.lower() not in taken)


def find_token(session: Session, text: str) -> Token | None:
    """Return the token with this text unless it was revoked."""
    return session.scalar(select(Token).where(Token.hash == _hash(text), Token.revoked_at.is_(None)))


def list_tokens(session: Session) -> Sequence[Token]:
    """Return every token, the oldest first."""
    return session.scalars(select(Token).order_by(Token.id)).all()


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
        raise NotFound(f"There is no token {clip_for_message(asked)}.")
    return token


def revoke_token(session: Session, token_id: int) -> Token:
    """Make a token useless from now on. Raises NotFound, or Conflict for the last working admin token."""
    session.execute(select(Token.id).where(Token.role == "admin").order_by(Token.id).with_for_update(key_share=True))
    token = get_token(session, token_id)
    if token.revoked_at is None:
        admins = session.scalars(select(Token.id).where(Token.role == "admin", Token.revoked_at.is_(None))).all()
        if admins == [token.id]:
            raise Conflict(f"Token {token_id} is the last admin token; make another one first.")
        token.revoked_at = session.scalar(select(func.now()))
        stewards.mark_pages_changed(session, token.id)
    return token


def ensure_admin_token(session: Session, given: str | None) -> str | None:
    """Make sure that an admin can sign in.

    With `given` (PLUMBLINE_ADMIN_TOKEN) that text becomes an admin token unless it is one. Without it, an
    installation that has no admin token gets one, whose text is returned: the only time it can be shown.
    """
    session.execute(select(func.pg_advisory_xact_lock(func.hashtext("plumbline.ensure_admin_token"))))
    if given is not None:
        if session.scalar(select(Token).where(Token.hash == _hash(given))) is None:
            _store_token(session, free_name(session, "admin"), "admin", given)
        return None
    if session.scalar(select(Token.id).where(Token.role == "admin", Token.revoked_at.is_(None)).limit(1)):
        return None
    return create_token(session, free_name(session, "admin"), "admin")[1]


def useless_as_admin(session: Session, given: str) -> str | None:
    """Say what a text is if it is a token by which no admin signs in; None for any other text."""
    token = session.scalar(select(Token).where(Token.hash == _hash(given)))
    if token is None or (token.revoked_at is None and token.role == "admin"):
        return None
    if token.revoked_at is None:
        return f"token {token.id} ({token.name}), whose role is {token.role}, not admin"
    return f"token {token.id} ({token.name}), which was revoked on {token.revoked_at:%Y-%m-%d} and stays so"


def _store_token(session: Session, name: str, role: str, text: str) -> Token:
    values = {"name": name, "role": role, "hash": _hash(text)}
    token: Token | None = session.scalar(insert(Token).values(values).on_conflict_do_nothing().returning(Token))
    if token is None:
        raise Conflict(f"There is a token of the name {name} already, or there was one; each name is given once.")
    return token


def _new_text() -> str:
    return PREFIX + secrets.token_urlsafe(32)


def _hash(text: str) -> bytes:
    # A token holds 256 random bits, so a fast hash without salt cannot be searched.
    return hashlib.sha256(text.encode()).digest()


def _check_name_and_role(name: str, role: str) -> None:
    problems = []
    if not is_holder(name):
        problems.append(Problem(f"expected {HOLDER_RULE}", column="name", value=clip_for_message(name)))
    if role not in ROLES:
        problems.append(Problem(f"expected one of {', '.join(ROLES)}", column="role", value=clip_for_message(role)))
    if problems:
        raise FieldRejected("The token cannot be made.", problems)
