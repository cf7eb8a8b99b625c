"""Which tokens are one owner in a benchmark.

By default every token is its own owner. If somebody has several, a steward links them, since a quota per token
could be evaded.
"""

from collections.abc import Mapping

from sqlalchemy import ColumnElement, ScalarSelect, literal, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.db.models import Benchmark, OwnerLink, Token
from app.errors import Conflict
from app.store import benchmark_rows, roles


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
    linked = owners(session, benchmark_id)
    return sorted({owner_id, *(token for token, owner in linked.items() if owner == owner_id)})


def link(session: Session, order: OwnerLink) -> None:
    """Count a token's submissions as another one's from now on, and all that it sent before; itself undoes it.

    Raises Conflict where that would make a chain of links.
    """
    linked = owners(session, order.benchmark_id)
    if order.owner_id in linked and order.owner_id != order.token_id:
        raise Conflict(f"Token {order.owner_id} is counted as token {linked[order.owner_id]}: name that one.")
    if order.token_id in linked.values() and order.token_id != order.owner_id:
        raise Conflict(
            f"Other tokens are counted as token {order.token_id}: link them to token {order.owner_id} first."
        )
    session.add(order)
    session.flush()
    # Who is one with somebody who can read private labels is not ranked, see `app.store.label_holders`.
    benchmark_rows.mark_data_changed(session, order.benchmark_id)


def knows_labels(session: Session, benchmark_id: int, token_id: int) -> bool:
    """Say whether a token is that of somebody who has the labels anyway: a steward of the benchmark, or an admin."""
    token = session.get_one(Token, token_id)
    return token.role == "admin" or (
        token.role == "steward" and roles.has_role(session, benchmark_id, token_id, "steward")
    )
