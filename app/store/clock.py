"""What time it is: the database's clock decides, so that web processes, workers and machines need not agree on theirs.

A clock of a process itself is for the time between two of its own readings (`time.monotonic`), and for nothing that is
stored or compared with what is. Called by `app.store` and `app.web` for all that begins or ends at a time.
"""

from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session, object_session

from app.db.models import Base


def now(session: Session) -> datetime:
    """Return the database's time at this instant, not that at which its transaction began."""
    time: datetime = session.scalars(select(func.clock_timestamp())).one()
    return time


def now_for(stored: Base) -> datetime:
    """Return the database's time for a row that some session holds. Raises RuntimeError for a row of none."""
    session = object_session(stored)
    if session is None:
        raise RuntimeError("a row that no session holds has no clock")
    return now(session)
