"""Invitations: a code that makes one token, and tokens for whoever comes where a manifest lets anybody register. Only
the hash of a code is stored. When somebody loses a right, their invitations lose it, too.
"""

import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from app.db.models import Benchmark, Invitation, RoleGrant, SignInIdentity, Token
from app.errors import Conflict, NotFound, TooManyRequests
from app.rights import roles, tokens
from app.rights.policy import Holder
from app.rights.roles import Role
from app.rights.tokens import Bounds
from app.store import benchmark_rows, sql
from app.store.benchmarks import Declared

PREFIX = "pli_"
A_DAY_S = 24 * 3600


@dataclass(frozen=True)
class Terms:
    """What an invitation is for: a role, in a benchmark or on the server, how long the token works, and the code."""

    role: str
    benchmark: Benchmark | None
    token_days: int | None
    days: int


def invite(session: Session, terms: Terms, by_id: int) -> tuple[Invitation, str]:
    """Make an invitation and return it with its code, which is not kept."""
    code = PREFIX + secrets.token_urlsafe(32)
    invitation = Invitation(
        hash=tokens.hash_secret(code),
        role=terms.role,
        benchmark_id=None if terms.benchmark is None else terms.benchmark.id,
        token_days=terms.token_days,
        made_by=by_id,
        expires_at=sql.now(session) + timedelta(days=terms.days),
    )
    session.add(invitation)
    session.flush()
    return invitation, code


def redeem(session: Session, code: str, name: str) -> tuple[Invitation, Token, str]:
    """Create the token of an invitation; if a code is used twice at the same instant, one request gets it.

    Raises NotFound for a code that is not known, and Conflict for one that works no more or for a name that is taken.
    """
    used = session.scalar(
        update(Invitation)
        .where(Invitation.hash == tokens.hash_secret(code))
        .where(Invitation.used_at.is_(None), Invitation.revoked_at.is_(None))
        .where(Invitation.expires_at > func.clock_timestamp())
        .values(used_at=func.clock_timestamp())
        .returning(Invitation)
    )
    if used is None:
        raise _why_not(session, code)
    benchmark = None if used.benchmark_id is None else benchmark_rows.get_benchmark(session, used.benchmark_id)
    _refuse_if_lapsed(session, used, benchmark)
    token, text = _make_token(session, name, Role(used.role), benchmark, used.token_days)
    if benchmark is not None:
        _enter(session, benchmark, token, used.role, used.made_by)
    used.token_id = token.id
    session.flush()
    return used, token, text


def join(session: Session, declared: Declared, name: str) -> tuple[Token, str]:
    """Create a submitter's token for anybody who asks, where and as often as the manifest allows it.

    Raises NotFound where it does not, TooManyRequests, and Conflict for a name that is taken.
    """
    allowed = declared.manifest.admission.registration
    if allowed is None:
        raise NotFound(
            f"{declared.benchmark.slug} does not hand out tokens on request; its stewards invite submitters."
        )
    benchmark = benchmark_rows.lock_benchmark(session, declared.benchmark.id)
    if _joined_today(session, benchmark.id) >= allowed.per_day:
        detail = f"{benchmark.slug} gives {allowed.per_day} tokens a day; try again tomorrow, or ask for an invitation."
        raise TooManyRequests(detail, A_DAY_S)
    token, text = _make_token(session, name, Role("submitter"), benchmark, allowed.token_days)
    _enter(session, benchmark, token, "submitter", token.id)
    return token, text


def whose(session: Session, listed: Collection[Invitation]) -> dict[int, str]:
    """Return the name of each token that came of some invitations, by its number."""
    made = [each.token_id for each in listed if each.token_id is not None]
    rows = session.execute(select(Token.id, Token.name).where(Token.id.in_(made)))
    return {row.id: row.name for row in rows}


def list_invitations(session: Session, slugs: Collection[str] | None) -> Sequence[tuple[Invitation, str | None, str]]:
    """Return the invitations to some benchmarks, None for all of them, each with the slug and who made it."""
    query = (
        select(Invitation, Benchmark.slug, Token.name)
        .outerjoin(Benchmark, Benchmark.id == Invitation.benchmark_id)
        .join(Token, Token.id == Invitation.made_by)
        .order_by(Invitation.id)
    )
    if slugs is not None:
        query = query.where(Benchmark.slug.in_(slugs))
    return [(invitation, slug, by) for invitation, slug, by in session.execute(query)]


def get_invitation(session: Session, number: int) -> Invitation:
    """Return an invitation, locked. Raises NotFound."""
    invitation = session.get(Invitation, number, with_for_update=True)
    if invitation is None:
        raise NotFound(f"There is no invitation {number}.")
    return invitation


def revoke(invitation: Invitation) -> None:
    """Make a locked invitation useless. Raises Conflict for one that was used: its token is what to revoke."""
    if invitation.used_at is not None:
        raise Conflict(f"Invitation {invitation.id} was used; revoke token {invitation.token_id}.")
    invitation.revoked_at = invitation.revoked_at or sql.now_for(invitation)


def state_of(invitation: Invitation) -> str:
    """Return the state of an invitation: open, used, revoked or expired."""
    if invitation.used_at is not None:
        return "used"
    if invitation.revoked_at is not None:
        return "revoked"
    return "expired" if invitation.expires_at <= sql.now_for(invitation) else "open"


def _why_not(session: Session, code: str) -> NotFound | Conflict:
    known = session.scalar(select(Invitation).where(Invitation.hash == tokens.hash_secret(code)))
    if known is None:
        return NotFound("This invitation is not known here; look whether its code is whole.")
    words = {"used": "was used", "revoked": "was revoked", "expired": f"ended on {known.expires_at:%Y-%m-%d %H:%M} UTC"}
    return Conflict(f"This invitation {words.get(state_of(known), 'was just used')}; ask for another one.")


def _refuse_if_lapsed(session: Session, invitation: Invitation, benchmark: Benchmark | None) -> None:
    """Refuse an invitation whose creator could no longer create it: otherwise it would outlast their role."""
    by = tokens.get_token(session, invitation.made_by)
    is_of_admins = benchmark is None or invitation.role == "steward"
    action = "invite stewards, or to the whole server" if is_of_admins else "invite to a benchmark"
    if tokens.why_ended(by) is not None or not roles.allows(session, action, Holder.of(by), benchmark):
        raise Conflict("Who made this invitation may no longer invite; ask a steward for another one.")


def _make_token(
    session: Session, name: str, role: Role, benchmark: Benchmark | None, days: int | None
) -> tuple[Token, str]:
    ends = None if days is None else sql.now(session) + timedelta(days=days)
    slugs = None if benchmark is None else [benchmark.slug]
    scopes = ["read"] if role.name == "reviewer" else None
    own_role = "steward" if role.name == "steward" else "submitter"
    return tokens.create_token(session, name, own_role, Bounds(ends, slugs, scopes))


def _enter(session: Session, benchmark: Benchmark, token: Token, role: str, by_id: int) -> None:
    locked = benchmark_rows.lock_benchmark(session, benchmark.id)
    roles.grant(session, locked, token, Role(role), by_id)
    if role == "steward":
        benchmark_rows.mark_pages_changed(session, benchmark.id)


def _joined_today(session: Session, benchmark_id: int) -> int:
    """Return how many tokens were created by self-service here in the last 24 hours."""
    since = func.clock_timestamp() - timedelta(days=1)
    query = select(func.count()).where(
        RoleGrant.benchmark_id == benchmark_id, RoleGrant.by_id == RoleGrant.token_id, RoleGrant.at > since,
        # Those admitted through a group of the identity provider do not count towards the limit.
        RoleGrant.token_id.not_in(select(SignInIdentity.token_id)),
    )  # fmt: skip
    return session.scalars(query.where(RoleGrant.role == "submitter")).one()
