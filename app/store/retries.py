"""When to retry: with growing delays by the database's clock, and at once if that was set back.

Called by `app.store` for publications and evaluations.
"""

from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, SQLColumnExpression, func, or_

FIRST_DELAY_S = 5
LONGEST_DELAY_S = 600


def retry_time(n_tries: int) -> ColumnElement[datetime]:
    """Return when what has failed `n_tries` times is tried again; each wait is twice the one before."""
    delay = min(LONGEST_DELAY_S, FIRST_DELAY_S * 2 ** min(n_tries - 1, 20))
    return func.clock_timestamp() + timedelta(seconds=delay)


def is_due(retry_at: SQLColumnExpression[datetime | None]) -> ColumnElement[bool]:
    """Return whether something may be tried now, by the time of its next try or null.

    A time beyond the longest wait was noted by a clock that has been set back since: nothing waits for that one.
    """
    now = func.clock_timestamp()
    return or_(retry_at.is_(None), retry_at <= now, retry_at > now + timedelta(seconds=LONGEST_DELAY_S))
