"""Who is steward of which benchmark: granted and revoked by admins, kept as a history that only grows.

Called by `app.web`. Who makes a benchmark is its first steward; admins are stewards of all without a grant.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session, aliased

from app.db.models import Benchmark, StewardGrant, Token
from app.errors import Conflict, NotFound
from app.store import benchmarks


@dataclass(frozen=True)
class Grant:
    """A token became steward of a benchmark, or ceased to be: by whom and when."""

    token: Token
    granted: bool
    by: Token
    at: datetime


def grant(session: Session, benchmark: Benchmark, token: Token, by_id: int) -> bool:
    """Make a token steward of a locked benchmark and say whether that is new.

    Raises Conflict for a token that is revoked, or whose role is that of a submitter.
    """
    if token.revoked_at is not None:
        raise Conflict(f"Token {token.id} of {token.name} is revoked.")
    if token.role == "submitter":
        raise Conflict(f"Token {token.id} of {token.name} has role submitter; a steward needs one of role steward.")
    return _note(session, benchmark, token, by_id, granted=True)


def revoke(session: Session, benchmark: Benchmark, token: Token, by_id: int) -> None:
    """End a token's stewardship of a locked benchmark; what it did there stays. Raises NotFound."""
    if not _note(session, benchmark, token, by_id, granted=False):
        raise NotFound(f"Token {token.id} of {token.name} is no steward of {benchmark.slug}.")


def is_steward(session: Session, benchmark_id: int, token_id: int) -> bool:
    """Say whether an admin gave a benchmark to a token, or it made the benchmark, and kept it."""
    return token_id in _holding(session, benchmark_id)


def list_stewards(session: Session, benchmark_id: int) -> Sequence[Token]:
    """Return the stewards of a benchmark whose tokens work, by name."""
    query = select(Token).where(Token.id.in_(_holding(session, benchmark_id)), Token.revoked_at.is_(None))
    return session.scalars(query.order_by(Token.name)).all()


def stewarded(session: Session, token_id: int, slugs: Collection[str]) -> list[str]:
    """Return those of the benchmarks that a token is steward of, by slug."""
    query = select(Benchmark).where(Benchmark.slug.in_(slugs)).order_by(Benchmark.slug)
    return [each.slug for each in session.scalars(query) if is_steward(session, each.id, token_id)]


def benchmarks_of(session: Session, token_id: int) -> list[str]:
    """Return the benchmarks that a token is steward of, by slug."""
    query = select(Benchmark.slug).join(StewardGrant, StewardGrant.benchmark_id == Benchmark.id)
    return stewarded(session, token_id, set(session.scalars(query.where(StewardGrant.token_id == token_id))))


def mark_pages_changed(session: Session, token_id: int) -> None:
    """Say that the pages which name a token as a steward show something old."""
    query = select(StewardGrant.benchmark_id).where(StewardGrant.token_id == token_id).distinct()
    for benchmark_id in sorted(session.scalars(query)):
        benchmarks.mark_pages_changed(session, benchmark_id)


def list_grants(session: Session, benchmark_id: int) -> list[Grant]:
    """Return who was made steward of a benchmark and who ceased to be, the oldest first."""
    token, by = aliased(Token), aliased(Token)
    query = (
        select(token, StewardGrant.granted, by, StewardGrant.at)
        .join(token, token.id == StewardGrant.token_id)
        .join(by, by.id == StewardGrant.by_id)
        .where(StewardGrant.benchmark_id == benchmark_id)
        .order_by(StewardGrant.id)
    )
    return [Grant(*row) for row in session.execute(query)]


def _note(session: Session, benchmark: Benchmark, token: Token, by_id: int, *, granted: bool) -> bool:
    if is_steward(session, benchmark.id, token.id) == granted:
        return False
    session.add(StewardGrant(benchmark_id=benchmark.id, token_id=token.id, granted=granted, by_id=by_id))
    session.flush()
    return True


def _holding(session: Session, benchmark_id: int) -> set[int]:
    """Return the tokens whose newest grant of a benchmark is one."""
    query = select(StewardGrant.token_id, StewardGrant.granted).where(StewardGrant.benchmark_id == benchmark_id)
    newest: dict[int, bool] = dict(session.execute(query.order_by(StewardGrant.id)).all())
    return {token_id for token_id, granted in newest.items() if granted}
