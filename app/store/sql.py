"""What all SQL here shares: the database's clock, its locks, arrays as arguments, and times of the next try.

The database's clock decides, so that clocks of processes and machines need not agree. A process's own clock
(`time.monotonic`) only measures durations, and nothing that is stored or compared with stored times.

Why: docs/adr/035-clock.md.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    Integer,
    SQLColumnExpression,
    Text,
    any_,
    bindparam,
    func,
    or_,
    select,
    text,
)
from sqlalchemy.orm import InstrumentedAttribute, Session, object_session

from app.db.models import Base
from plumbline.retries import pause_s


def now(session: Session) -> datetime:
    """Return the database's current time, not that of the start of the transaction."""
    time: datetime = session.scalars(select(func.clock_timestamp())).one()
    return time


def now_for(stored: Base) -> datetime:
    """Return the database's time for a row that some session holds. Raises RuntimeError for a row of none."""
    session = object_session(stored)
    if session is None:
        raise RuntimeError("a row that no session holds has no clock")
    return now(session)


# Locks by name for transactions, where there is no row to lock yet.

# Rows come in the order of the array, so that all transactions take locks in the same order.
TAKE = text(
    "SELECT pg_advisory_xact_lock(hashtextextended('plumbline ' || name, 0)) FROM unnest(:names) AS name"
).bindparams(bindparam("names", type_=ARRAY(Text)))


def take_turns(session: Session, *names: str) -> None:
    """Wait until no other transaction holds one of the names, and hold them until this one ends.

    To be called first in a transaction: names come before rows.
    """
    session.execute(TAKE, {"names": sorted(names)})


# Conditions over many values at once: one array, whatever its length, where a list has a parameter for each of them.
# A statement has at most 65,535 parameters.


def one_of(
    column: InstrumentedAttribute[Any] | ColumnElement[Any], values: Iterable[int] | Iterable[str]
) -> ColumnElement[bool]:
    """Return the condition that a column holds one of the numbers or texts."""
    kind = BigInteger() if isinstance(column.type, Integer) else Text()
    wanted = bindparam(None, sorted(set(values)), type_=ARRAY(kind), unique=True)
    return column == any_(wanted)


# When to retry: with growing delays by the database's clock, and at once if that was set back.

FIRST_DELAY_S = 5

LONGEST_DELAY_S = 600


def retry_time(n_tries: int) -> ColumnElement[datetime]:
    """Return when what has failed `n_tries` times is tried again (`pause_s`)."""
    delay_s = pause_s(n_tries, first_s=FIRST_DELAY_S, longest_s=LONGEST_DELAY_S)
    return func.clock_timestamp() + timedelta(seconds=delay_s)


def is_due(retry_at: SQLColumnExpression[datetime | None]) -> ColumnElement[bool]:
    """Return whether something may be tried now, by the time of its next try or null.

    A time beyond the longest wait was noted by a clock that has been set back since: nothing waits for that one.
    """
    now = func.clock_timestamp()
    return or_(retry_at.is_(None), retry_at <= now, retry_at > now + timedelta(seconds=LONGEST_DELAY_S))
