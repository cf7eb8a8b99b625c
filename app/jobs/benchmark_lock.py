"""A database lock on a benchmark, held as long as the worker's own connection lives.

Taken around each job by `app.jobs.queue`, which checks it before giving up a job whose worker has not reported: a
worker that computes, or was paused, still has its connection, while the database closes that of a dead worker at once.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine, text

KEY = "hashtextextended('plumbline works on ' || :benchmark, 0)"
TAKE, TRY, LEAVE = (
    text(f"SELECT {name}({KEY})") for name in ("pg_advisory_lock", "pg_try_advisory_lock", "pg_advisory_unlock")
)
# Nobody closes the connection of a machine that is gone: the database probes it after ten silent seconds.
ASK_OFTEN = text(
    "SELECT set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false), "
    "set_config('tcp_keepalives_count', '3', false)"
)


@contextmanager
def at_work(engine: Engine, benchmark_id: int) -> Iterator[None]:
    """Hold the lock of a benchmark while the block runs, after waiting for its current holder."""
    about = {"benchmark": str(benchmark_id)}
    with _connected(engine) as connection:
        connection.execute(ASK_OFTEN)
        connection.execute(TAKE, about)
        try:
            yield
        finally:
            connection.execute(LEAVE, about)


def is_at_work(engine: Engine, benchmark_id: int) -> bool:
    """Say whether any worker's connection holds the lock of a benchmark."""
    about = {"benchmark": str(benchmark_id)}
    with _connected(engine) as connection:
        if not connection.execute(TRY, about).scalar_one():
            return True
        connection.execute(LEAVE, about)
        return False


@contextmanager
def _connected(engine: Engine) -> Iterator[Connection]:
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        yield connection
