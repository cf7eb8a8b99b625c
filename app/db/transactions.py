"""Work in one transaction, repeated when the database aborted it in favour of another one.

Called by `app.web` and `app.jobs` around everything that writes.
"""

from collections.abc import Callable
from typing import TypeVar

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session

from app.db.engine import SessionFactory

T = TypeVar("T")

MAX_ATTEMPTS = 4
# https://www.postgresql.org/docs/current/errcodes-appendix.html: serialization_failure, deadlock_detected.
BROKEN_OFF = frozenset({"40001", "40P01"})


def is_broken_off(error: BaseException) -> bool:
    """Say whether the database aborted a transaction in favour of another one, so that it should be repeated."""
    return isinstance(error, DBAPIError) and getattr(error.orig, "sqlstate", None) in BROKEN_OFF


# Classes of errors not caused by the statement: unavailable or closing, aborted, out of space, busy.
TRANSIENT = frozenset({"08", "25", "40", "53", "55", "57", "58"})


def is_transient(error: BaseException) -> bool:
    """Say whether an error is temporary: the same work may succeed later, and no evidence is at fault."""
    if isinstance(error, PoolTimeout):
        return True
    if not isinstance(error, DBAPIError):
        return False
    state = getattr(error.orig, "sqlstate", None)
    lost = error.connection_invalidated or (state is None and isinstance(error, OperationalError | InterfaceError))
    return lost or (state is not None and state[:2] in TRANSIENT)


def run_in_transaction(sessions: SessionFactory, work: Callable[[Session], T]) -> T:
    """Return the result of `work` in one transaction; its only effects are in the database, so it can be repeated.

    Raises what `work` raises, and DBAPIError when it was aborted every time.
    """
    for _ in range(MAX_ATTEMPTS - 1):
        try:
            with sessions.begin() as session:
                return work(session)
        except DBAPIError as error:
            if not is_broken_off(error):
                raise
    with sessions.begin() as session:
        return work(session)
