"""Who has which role in which benchmark, granted and revoked by those above, kept as a history that only grows. Who
makes a benchmark is its first steward; admins are stewards of all without a grant. A reviewer reads what is private
and changes nothing; where submissions are invited only the benchmark's submitters may send some.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, or_, select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import Session, aliased

from app.db.models import Benchmark, LabelSecret, RoleGrant, Token
from app.errors import Conflict, NotFound
from app.rights import policy
from app.rights.policy import Holder, Relation
from app.store import benchmark_rows
from app.store.sql import one_of


@dataclass(frozen=True)
class Role:
    """A role in a benchmark, and when it ends; None: when it is revoked."""

    name: str
    until: datetime | None = None


@dataclass(frozen=True)
class Held:
    """A role that holds now, and whose it is."""

    token: Token
    role: str
    until: datetime | None


@dataclass(frozen=True)
class Grant:
    """A token was given a role or lost it: by whom and when."""

    token: Token
    role: str
    granted: bool
    until: datetime | None
    by: Token
    at: datetime


def grant(session: Session, benchmark: Benchmark, token: Token, role: Role, by_id: int) -> bool:
    """Give a token a role in a locked benchmark and say whether that is new, or ends at another time now.

    Raises Conflict for a token that is revoked, for a steward whose own role is that of a submitter, and for an end
    that would leave the benchmark without a lasting steward.
    """
    if token.revoked_at is not None:
        raise Conflict(f"Token {token.id} of {token.name} is revoked.", recorded=f"Token {token.id} is revoked.")
    if role.name == "steward" and token.role == "submitter":
        why = "has role submitter; a steward needs one of role steward."
        raise Conflict(f"Token {token.id} of {token.name} {why}", recorded=f"Token {token.id} {why}")
    held = {(each.token.id, each.role): each.until for each in list_roles(session, benchmark.id)}
    if (token.id, role.name) in held and held[token.id, role.name] == role.until:
        return False
    is_new, former = (token.id, role.name) not in held, held.get((token.id, role.name))
    if role.until is not None and (former is None or former > role.until):
        _refuse_last(session, benchmark, token, role.name)
    _note(session, benchmark, token, role, by_id, granted=True)
    if role.name == "steward" and is_new and session.get(LabelSecret, benchmark.id) is not None:
        # Whoever can read private labels is not ranked, see `app.store.disclosed`.
        benchmark_rows.mark_data_changed(session, benchmark.id)
    return True


def revoke(session: Session, benchmark: Benchmark, token: Token, role: str, by_id: int) -> None:
    """End a token's role in a locked benchmark; what it did there stays.

    Raises NotFound, or Conflict for the last lasting steward.
    """
    if not has_role(session, benchmark.id, token.id, role):
        why = f"is no {role} of {benchmark.slug}."
        raise NotFound(f"Token {token.id} of {token.name} {why}", recorded=f"Token {token.id} {why}")
    _refuse_last(session, benchmark, token, role)
    _note(session, benchmark, token, Role(role), by_id, granted=False)


def has_role(session: Session, benchmark_id: int, token_id: int, *roles: str) -> bool:
    """Say whether a token has one of some roles in a benchmark now."""
    return not roles_in(session, benchmark_id, token_id).isdisjoint(roles)


def roles_in(session: Session, benchmark_id: int, token_id: int) -> set[str]:
    """Return the roles that a token has in a benchmark now."""
    of_both = _newest().where(RoleGrant.benchmark_id == benchmark_id, RoleGrant.token_id == token_id).subquery()
    return set(session.scalars(select(of_both.c.role).where(_holds(of_both.c))))


def list_roles(session: Session, benchmark_id: int) -> list[Held]:
    """Return the roles that hold in a benchmark, of tokens that work, by role and name."""
    newest = _newest().where(RoleGrant.benchmark_id == benchmark_id).subquery()
    query = (
        select(Token, newest.c.role, newest.c.until)
        .join(newest, newest.c.token_id == Token.id)
        .where(_holds(newest.c), _works())
        .order_by(newest.c.role, Token.name)
    )
    return [Held(*row) for row in session.execute(query)]


def list_stewards(session: Session, benchmark_id: int) -> Sequence[Token]:
    """Return the stewards of a benchmark whose tokens work, by name."""
    held_here = [held for held in list_roles(session, benchmark_id) if held.role == "steward"]
    return [held.token for held in held_here if policy.counts(held.token.role, held.role)]


def stewards_by_slug(session: Session, slugs: Collection[str]) -> dict[str, list[str]]:
    """Return the names of the stewards of some benchmarks whose tokens work; one that has none is left out."""
    newest = _newest().where(RoleGrant.role == "steward").subquery()
    query = (
        select(Benchmark.slug, Token.name, Token.role)
        .join(newest, newest.c.benchmark_id == Benchmark.id)
        .join(Token, newest.c.token_id == Token.id)
        .where(_holds(newest.c), _works(), one_of(Benchmark.slug, slugs))
        .order_by(Token.name)
    )
    found: dict[str, list[str]] = {}
    for slug, name, own in session.execute(query):
        if policy.counts(own, "steward"):
            found.setdefault(slug, []).append(name)
    return found


def benchmark_ids_of(session: Session, token_id: int, *roles: str) -> set[int]:
    """Return the benchmarks in which a token has one of some roles now."""
    return {number for number, role in held_by(session, token_id) if role in roles}


def held_by(session: Session, token_id: int) -> list[tuple[int, str]]:
    """Return the number of the benchmark and the role of each role that a token has now."""
    newest = _newest().where(RoleGrant.token_id == token_id).subquery()
    query = select(newest.c.benchmark_id, newest.c.role, Token.role).join(Token, Token.id == newest.c.token_id)
    held = session.execute(query.where(_holds(newest.c)))
    return [(number, role) for number, role, own in held if policy.counts(own, role)]


def benchmarks_of(session: Session, token_id: int, *roles: str) -> list[str]:
    """Return the benchmarks in which a token has one of some roles now, by slug."""
    numbers = benchmark_ids_of(session, token_id, *roles)
    return list(session.scalars(select(Benchmark.slug).where(Benchmark.id.in_(numbers)).order_by(Benchmark.slug)))


def decides(session: Session, benchmark_id: int, token_id: int) -> bool:
    """Say whether a token belongs to a steward of a benchmark, or to an admin, who is steward of all.

    Whatever limits it: who decides knows the labels, and its names are not others'. What a token may do, with its
    limits, `allows` says.
    """
    token = session.get_one(Token, token_id)
    unlimited = Holder(token.id, token.name, token.role)
    held = Relation(roles=frozenset(roles_in(session, benchmark_id, token_id)))
    return policy.allows("see exact scores", unlimited, held)


def stewarded_slugs(session: Session, holder: Holder) -> list[str] | None:
    """Return the benchmarks whose affairs somebody sees as a steward, within their token's limits; None is all."""
    if holder.role == "admin":
        return None
    return [slug for slug in benchmarks_of(session, holder.id, "steward") if holder.may_write_to(slug)]


def allows(
    session: Session, action: str, holder: Holder, benchmark: Benchmark | None, owner_id: int | None = None
) -> bool:
    """Say whether somebody may do something in a benchmark, to what is of `owner_id`; see `app.rights.policy`."""
    return policy.allows(action, holder, _relation(session, holder, benchmark, owner_id))


def require(
    session: Session,
    action: str,
    holder: Holder,
    benchmark: Benchmark | None,
    owner_id: int | None = None,
    *,
    is_open: bool = False,
) -> None:
    """Refuse whoever may not do something in a benchmark, and name whom to ask.

    With `is_open` whoever is no reviewer counts as a submitter. Raises Forbidden and SignedInLongAgo.
    """
    relation = _relation(session, holder, benchmark, owner_id)
    if is_open and "reviewer" not in relation.roles:
        relation = replace(relation, roles=relation.roles | {"submitter"})
    whom = None if benchmark is None else partial(_whom_to_ask, session, benchmark.id)
    policy.require(action, holder, relation, whom)


def _relation(session: Session, holder: Holder, benchmark: Benchmark | None, owner_id: int | None) -> Relation:
    is_owner = owner_id is not None and owner_id == holder.id
    if benchmark is None:
        return Relation(is_owner=is_owner)
    held = roles_in(session, benchmark.id, holder.id)
    return Relation(benchmark.slug, frozenset(held), is_owner)


def _whom_to_ask(session: Session, benchmark_id: int) -> str:
    names = [steward.name for steward in list_stewards(session, benchmark_id)]
    return f"its stewards ({', '.join(names)})" if names else "an admin"


def refuse_orphans(session: Session, token: Token) -> None:
    """Refuse to end a token without which a benchmark has no lasting steward. Raises Conflict."""
    for benchmark_id in sorted(benchmark_ids_of(session, token.id, "steward")):
        _refuse_last(session, benchmark_rows.lock_benchmark(session, benchmark_id), token, "steward")


def mark_pages_changed(session: Session, token_id: int) -> None:
    """Mark the pages that name a token as a steward as stale."""
    query = select(RoleGrant.benchmark_id).where(RoleGrant.token_id == token_id, RoleGrant.role == "steward")
    for benchmark_id in sorted(set(session.scalars(query))):
        benchmark_rows.mark_pages_changed(session, benchmark_id)


def list_grants(session: Session, benchmark_id: int) -> list[Grant]:
    """Return who was given a role in a benchmark and who lost it, the oldest first."""
    token, by = aliased(Token), aliased(Token)
    query = (
        select(token, RoleGrant.role, RoleGrant.granted, RoleGrant.until, by, RoleGrant.at)
        .join(token, token.id == RoleGrant.token_id)
        .join(by, by.id == RoleGrant.by_id)
        .where(RoleGrant.benchmark_id == benchmark_id)
        .order_by(RoleGrant.id)
    )
    return [Grant(*row) for row in session.execute(query)]


def _refuse_last(session: Session, benchmark: Benchmark, token: Token, role: str) -> None:
    """Refuse to end the role of the last steward whose role and token both last.

    Not so that of an admin, which is steward of everything: there is always one.
    """
    if role != "steward" or token.role == "admin":
        return
    held_here = list_roles(session, benchmark.id)
    stewards = [held for held in held_here if held.role == "steward" and _is_able(held.token, benchmark.slug)]
    lasting = {held.token.id for held in stewards if held.until is None and held.token.expires_at is None}
    others = {held.token.id for held in stewards} - {token.id}
    is_one = token.id in {held.token.id for held in stewards}
    if not is_one or (others and lasting != {token.id}):
        return
    why = f"{benchmark.slug} would be left without a steward:"
    raise Conflict(
        f"{why} {token.name} is the last one without an end. Make another "
        "one first; a text that got into wrong hands is ended at once by renewing the token with overlap_h 0.",
        recorded=f"{why} token {token.id} is the last one without an end.",
    )


def _is_able(token: Token, slug: str) -> bool:
    """Say whether the limits of a token let it do a steward's work in a benchmark."""
    return policy.allows("grant or revoke a role", Holder.of(token), Relation(slug, frozenset({"steward"})))


def _note(session: Session, benchmark: Benchmark, token: Token, role: Role, by_id: int, *, granted: bool) -> None:
    session.add(
        RoleGrant(
            benchmark_id=benchmark.id,
            token_id=token.id,
            role=role.name,
            granted=granted,
            until=role.until,
            by_id=by_id,
        )
    )
    session.flush()


def _newest() -> Select[Any]:
    """Return the newest grant or revocation of each role of each token in each benchmark."""
    keys = (RoleGrant.benchmark_id, RoleGrant.token_id, RoleGrant.role)
    return select(RoleGrant).ext(distinct_on(*keys)).order_by(*keys, RoleGrant.id.desc())


def _holds(newest: Any) -> ColumnElement[bool]:
    return and_(newest.granted, or_(newest.until.is_(None), newest.until > func.clock_timestamp()))


def _works() -> ColumnElement[bool]:
    return and_(Token.revoked_at.is_(None), or_(Token.expires_at.is_(None), Token.expires_at > func.clock_timestamp()))
