"""Work in one transaction, done again when the database broke it off for the sake of another one.

Called by `app.web` and `app.jobs` around everything that writes.
"""

from collections.abc import Callable
from typing import TypeVar

from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from app.db.engine import SessionFactory

T = TypeVar("T")

MAX_ATTEMPTS = 4
# https://www.postgresql.org/docs/current/errcodes-appendix.html: serialization_failure, deadlock_detected.
BROKEN_OFF = frozenset({"40001", "40P01"})


def is_broken_off(error: BaseException) -> bool:
    """Say whether the database ended a transaction so that another one could go on: doing it again is the remedy."""
    return isinstance(error, DBAPIError) and getattr(error.orig, "sqlstate", None) in BROKEN_OFF


def run_in_transaction(sessions: SessionFactory, work: Callable[[Session], T]) -> T:
    """Return what `work` does in one transaction; its only effects are in the database, so it can be done again.

    Raises what `work` raises, and DBAPIError when it was broken off every time.
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
