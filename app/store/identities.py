"""Who signs in through an identity provider: their token, and the roles of their groups. For `app.web.oidc`.

The token and the roles expire some time after each login, so that somebody removed at the provider soon loses access
here; since they expire, they never count as a lasting steward or admin (`app.store.roles`, `app.store.tokens`).
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.config.oidc import GroupRole
from app.db.models import Benchmark, Identity, Token
from app.errors import Forbidden, Unauthenticated
from app.names import is_holder
from app.store import benchmark_rows, clock, roles, tokens
from app.store.roles import Role
from app.store.token_bounds import Bounds

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
    until = clock.now(session) + lasts
    token = _token(session, claimed, "submitter" if own == "reviewer" else own, until)
    for each in given:
        if each.benchmark is not None:
            _enter(session, each.benchmark, token, Role(each.role, until))
    return token


def find_identity(session: Session, token_id: int) -> Identity | None:
    """Return the provider's identity of a token's holder; None for a token created here."""
    return session.scalar(select(Identity).where(Identity.token_id == token_id))


def forget(session: Session, token_id: int) -> None:
    """Delete the provider's identity of a token's holder; their next login creates a new token."""
    session.execute(delete(Identity).where(Identity.token_id == token_id))


def _token(session: Session, claimed: Claimed, role: str, until: datetime) -> Token:
    key = (Identity.issuer == claimed.issuer, Identity.subject == claimed.subject)
    token = session.scalar(
        select(Token)
        .join(Identity, Identity.token_id == Token.id)
        .where(*key)
        .with_for_update(key_share=True, of=Token)
    )
    if token is None:
        name = tokens.free_name(session, called(claimed.name))
        token, _ = tokens.create_token(session, name, role, Bounds(until))
        session.add(Identity(issuer=claimed.issuer, subject=claimed.subject, token_id=token.id))
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
