"""Who may read what: a private or draft benchmark does not exist for those who may not read it.

`narrow_to_reader` makes the sessions of the web so that whatever a request selects lacks the rows that its reader may
not see: each address then answers as it does where there is no such benchmark, also one that is added later. Jobs and
commands have other sessions, which see everything.

Why: docs/adr/024-private-is-absent.md.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, and_, exists, false, func, or_, select, true
from sqlalchemy import event as sqlalchemy_event
from sqlalchemy.orm import ORMExecuteState, Session, with_loader_criteria
from sqlalchemy.orm.interfaces import ORMOption

from app.db.engine import SessionFactory
from app.db.models import Benchmark, EntrantReservation, PreregBinding, RoleGrant, StoredPrereg, Submission, Token
from app.rights import roles
from app.rights.policy import RIGHTS

PUBLIC, PRIVATE, DRAFT = "public", "private", "draft"
ORDER = (DRAFT, PRIVATE, PUBLIC)


@dataclass(frozen=True)
class ReadingRights:
    """Who reads: the token, and the numbers of the benchmarks that are not public and that it may read.

    `decides` are those that it is steward or reviewer of, who see behind embargoes. `sees_all` is true of admins alone.
    """

    token_id: int | None = None
    benchmark_ids: frozenset[int] = frozenset()
    decides: frozenset[int] = frozenset()
    sees_all: bool = False


STRANGER = ReadingRights()
_reading: ContextVar[ReadingRights] = ContextVar("reading", default=STRANGER)


def read_as(reader: ReadingRights) -> None:
    """Restrict all further queries of this request to what a reader may see."""
    _reading.set(reader)


@contextmanager
def reading_all() -> Iterator[None]:
    """Lift the restriction for a block of code, for queries that do not depend on the reader."""
    before = _reading.set(ReadingRights(sees_all=True))
    try:
        yield
    finally:
        _reading.reset(before)


def viewer_of(session: Session, token: Token) -> ReadingRights:
    """Return what the holder of a working token may read beside what is public, as `app.rights.policy` says."""
    if token.role == "admin":
        return ReadingRights(token.id, sees_all=True)
    held = roles.held_by(session, token.id)
    if not held:
        return ReadingRights(token.id)
    of_draft, of_private, behind = (
        {number for number, role in held if role in RIGHTS[action].roles}
        for action in ("read a draft", "read a private benchmark", "read a registration under embargo")
    )
    table = _table(Benchmark)
    is_read = or_(table.c.id.in_(of_draft), and_(table.c.id.in_(of_private), table.c.visibility == PRIVATE))
    query = select(table.c.id, is_read).where(table.c.id.in_(of_draft | of_private | behind))
    if token.benchmarks is not None:
        query = query.where(table.c.slug.in_(token.benchmarks))
    within: dict[int, bool] = dict(session.execute(query).all())
    return ReadingRights(
        token.id, frozenset(n for n, reads in within.items() if reads), frozenset(behind & within.keys())
    )


def narrow_to_reader(sessions: SessionFactory) -> SessionFactory:
    """Return the sessions, which from now on select only what the reader of the request may see."""
    sqlalchemy_event.listen(sessions, "do_orm_execute", _narrow)
    return sessions


def _narrow(state: ORMExecuteState) -> None:
    reader = _reading.get()
    if not state.is_select or reader.sees_all:
        return
    state.statement = state.statement.options(*_criteria(reader))


# Cached, because building these takes longer than most statements that they restrict.
@lru_cache(maxsize=256)
def _criteria(reader: ReadingRights) -> tuple[ORMOption, ...]:
    return (
        with_loader_criteria(Benchmark, _may_read(reader, _table(Benchmark)), include_aliases=True),
        with_loader_criteria(Submission, _of_readable(reader), include_aliases=True),
        with_loader_criteria(PreregBinding, ~_is_hidden(reader, _table(PreregBinding)), include_aliases=True),
        with_loader_criteria(EntrantReservation, ~_is_hidden(reader, _table(EntrantReservation)), include_aliases=True),
        with_loader_criteria(StoredPrereg, _is_shown(reader), include_aliases=True),
    )


def _may_read(reader: ReadingRights, benchmark: Any) -> ColumnElement[bool]:
    return or_(benchmark.c.visibility == PUBLIC, benchmark.c.id.in_(reader.benchmark_ids))


def _of_readable(reader: ReadingRights) -> ColumnElement[bool]:
    hidden = _table(Benchmark).alias("hidden")
    query = select(hidden.c.id).where(hidden.c.visibility != PUBLIC, hidden.c.id.not_in(reader.benchmark_ids))
    return Submission.benchmark_id.not_in(query)


def _is_hidden(reader: ReadingRights, row: Any) -> ColumnElement[bool]:
    """Say of what names a benchmark by its slug that it came from inside of one that the reader may not read.

    What a stranger wrote about the same slug is shown as if there were no such benchmark: hiding it would reveal that
    there is one.
    """
    hidden = _table(Benchmark).alias("hidden")
    by, at = (row.c.bound_by, row.c.bound_at) if "bound_by" in row.c else (row.c.token_id, row.c.reserved_at)
    is_unreadable = and_(hidden.c.visibility != PUBLIC, hidden.c.id.not_in(reader.benchmark_ids))
    is_later = at >= hidden.c.created_at
    of_slug = exists().where(hidden.c.slug == row.c.benchmark, is_unreadable, is_later, _belonged(hidden, by))
    return and_(of_slug, by != reader.token_id if reader.token_id is not None else true())


def _belonged(hidden: Any, by: ColumnElement[int]) -> ColumnElement[bool]:
    grant, token = _table(RoleGrant).alias("given"), _table(Token).alias("holder")
    # Not EXISTS: what is correlated reaches one level up, and `by` is of two levels up.
    holders = select(grant.c.token_id).where(grant.c.benchmark_id == hidden.c.id)
    return or_(by.in_(holders), by.in_(select(token.c.id).where(token.c.role == "admin")))


def _is_shown(reader: ReadingRights) -> ColumnElement[bool]:
    """Say of a registration that it is the reader's own, or neither under embargo nor for hidden benchmarks alone."""
    prereg, binding = _table(StoredPrereg), _table(PreregBinding).alias("bound")
    is_bound = exists().where(binding.c.prereg_sha256 == prereg.c.sha256)
    is_bound_openly = is_bound.where(~_is_hidden(reader, binding))
    own = prereg.c.registered_by == reader.token_id if reader.token_id is not None else false()
    return or_(own, and_(or_(~is_bound, is_bound_openly), _embargo_is_over(reader)))


def _embargo_is_over(reader: ReadingRights) -> ColumnElement[bool]:
    """An embargo ends with its time, or with the first submission under it; stewards and reviewers see behind it."""
    prereg, submission = _table(StoredPrereg), _table(Submission).alias("citing")
    binding, benchmark = _table(PreregBinding).alias("of"), _table(Benchmark).alias("theirs")
    hidden = _table(Benchmark).alias("unread")
    unreadable = select(hidden.c.id).where(hidden.c.visibility != PUBLIC, hidden.c.id.not_in(reader.benchmark_ids))
    is_cited = exists().where(
        submission.c.prereg_sha256 == prereg.c.sha256, submission.c.benchmark_id.not_in(unreadable)
    )
    is_theirs = exists().where(
        binding.c.prereg_sha256 == prereg.c.sha256,
        benchmark.c.slug == binding.c.benchmark,
        benchmark.c.id.in_(reader.decides),
    )
    is_over = or_(prereg.c.embargo_until.is_(None), prereg.c.embargo_until <= func.clock_timestamp())
    return or_(is_over, is_cited, is_theirs)


def _table(model: Any) -> Any:
    return model.__table__
