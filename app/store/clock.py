"""The time: the database's clock decides, so that clocks of processes and machines need not agree.

A process's own clock (`time.monotonic`) only measures durations, and nothing that is stored or compared with stored
times. Called by `app.store` and `app.web` for all that begins or ends at a time.
"""

from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session, object_session

from app.db.models import Base


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
