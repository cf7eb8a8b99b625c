"""When to try again what failed: later each time, by the database's clock.

Called by `app.store.benchmarks` and `app.store.submissions`, for publications and evaluations.
"""

from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, func

FIRST_DELAY_S = 5
LONGEST_DELAY_S = 600


def retry_time(n_tries: int) -> ColumnElement[datetime]:
    """Return when what has failed `n_tries` times is tried again; each wait is twice the one before."""
    delay = min(LONGEST_DELAY_S, FIRST_DELAY_S * 2 ** min(n_tries - 1, 20))
    return func.clock_timestamp() + timedelta(seconds=delay)
