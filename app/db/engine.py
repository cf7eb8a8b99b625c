"""Engines, sessions and transactions on Postgres; `run_in_transaction` repeats one that the database broke off.

For the web and the worker processes, through psycopg 3. Each transaction has limits of time, by what it is for: a
request has those of `REQUESTS`, until `allow` gives it others.
"""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg
from sqlalchemy import Connection, Engine, QueuePool, create_engine, event, make_url, text
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session, sessionmaker

from app.errors import SettingsError
from plumbline.retries import pause_s

QUEUE_SCHEMA = "queue"

# procrastinate's functions name their tables without a schema, so its schema must be on the path.
CONNECT_OPTIONS = f"-c search_path=public,{QUEUE_SCHEMA}"

LAST_STATEMENTS_S = 5.0

SessionFactory = sessionmaker[Session]

T = TypeVar("T")


@dataclass(frozen=True)
class TransactionLimits:
    """How long a transaction may wait for a lock, take over one statement, and do nothing, in seconds; 0: for ever.

    Whoever takes longer is refused by the database, and with a request everything that it did is rolled back.
    """

    lock_s: float = 0
    statement_s: float = 0
    idle_s: float = 0

    def settings(self) -> dict[str, int]:
        """Return the settings of Postgres, in milliseconds.

        >>> TransactionLimits(lock_s=5).settings()
        {'lock_timeout': 5000, 'statement_timeout': 0, 'idle_in_transaction_session_timeout': 0}
        """
        by_name = {
            "lock_timeout": self.lock_s,
            "statement_timeout": self.statement_s,
            "idle_in_transaction_session_timeout": self.idle_s,
        }
        return {name: round(1000 * seconds) for name, seconds in by_name.items()}

    def begin(self, search_path: str | None = None) -> str:
        """Return the statement by which a transaction takes these limits, and where it finds its tables."""
        settings = {**({} if search_path is None else {"search_path": search_path}), **self.settings()}
        return "SELECT " + ", ".join(f"set_config('{name}', '{value}', true)" for name, value in settings.items())


UNLIMITED = TransactionLimits()

REQUESTS = TransactionLimits(lock_s=5, statement_s=15, idle_s=120)

LONG_REQUESTS = TransactionLimits(lock_s=10, statement_s=120, idle_s=300)
"""Of what stores an upload, or computes with all rows of a benchmark; uploads to one may wait for each other."""

EXPORTS = TransactionLimits(lock_s=5)
"""As long as they take: a reader of a million rows may be slow."""

JOBS = TransactionLimits(lock_s=30)
"""Publications take as long as they take; one that waits for a lock too long fails, and the sweep queues it again."""


def make_engine(
    database_url: str, *, pool_size: int = 10, is_pooled: bool = False, lane: TransactionLimits = UNLIMITED
) -> Engine:
    """Return an engine whose connections are checked before use, so that a restarted database is found again.

    `is_pooled` says that a pooler such as pgbouncer hands out a server's connection for one transaction at a time: then
    nothing is prepared, and every transaction says itself where its tables are and how long it may take.
    """
    if is_pooled:
        engine = _create(database_url, pool_size, {"prepare_threshold": None})
        beginning = lane.begin(f"public, {QUEUE_SCHEMA}")
        event.listen(engine, "begin", lambda connection: _begin(connection, beginning))
        return engine
    limits = "".join(f" -c {name}={value}" for name, value in lane.settings().items() if value)
    return _create(database_url, pool_size, {"options": CONNECT_OPTIONS + limits})


def _begin(connection: Connection, statement: str) -> None:
    connection.exec_driver_sql(statement)


def allow(session: Session, lane: TransactionLimits) -> None:
    """Give the rest of a session's transaction other limits of time."""
    session.execute(text(lane.begin()))


def read_for_export(sessions: SessionFactory, work: Callable[[Session], T]) -> T:
    """Return what `work` reads in a session of its own, which may take as long as an export does."""
    with sessions() as session:
        allow(session, EXPORTS)
        return work(session)


def _create(database_url: str, pool_size: int, about_pooling: dict[str, str | None]) -> Engine:
    url = make_url(database_url).set(drivername="postgresql+psycopg")
    return create_engine(
        url,
        pool_pre_ping=True,
        pool_size=pool_size,
        max_overflow=pool_size,
        pool_timeout=10,
        # A failed statement is logged; its parameters may be private labels, or somebody's token.
        hide_parameters=True,
        connect_args={"application_name": "plumbline", **patience_with(database_url), **about_pooling},
    )


async def dispose_unused(engine: Engine) -> None:
    """Close an engine's connections once no thread has one, or the time is over.

    A thread goes on when the task that waits for it is cancelled, and a connection that it still has would stay open.
    """
    deadline = time.monotonic() + LAST_STATEMENTS_S
    while isinstance(engine.pool, QueuePool) and engine.pool.checkedout() and time.monotonic() < deadline:
        await asyncio.sleep(0.01)
    engine.dispose()


def make_session_factory(engine: Engine) -> SessionFactory:
    """Return a factory of sessions whose objects stay readable after commit."""
    return sessionmaker(engine, expire_on_commit=False)


# Work in one transaction, repeated when the database aborted it in favour of another one.

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
    for attempt in range(1, MAX_ATTEMPTS):
        try:
            with sessions.begin() as session:
                return work(session)
        except DBAPIError as error:
            if not is_broken_off(error):
                raise
            time.sleep(pause_s(attempt, first_s=0.01, longest_s=0.1))
    with sessions.begin() as session:
        return work(session)


# How long a connection waits for a Postgres that vanished silently: a machine that lost power, a cut line.
#
# The system's defaults are a quarter of an hour for sent data and two hours for awaited data. No live connection is
# cut: the server's machine acknowledges in time however long a statement takes. Used wherever a process of ours stays
# connected; a setting in the address itself wins, and a socket of the same machine knows none of them.

PATIENCE: Mapping[str, int] = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}
"""By libpq's names; the last in milliseconds, the others in seconds."""


def patience_with(database_url: str) -> dict[str, int]:
    """Return the settings of a connection which its address does not have.

    >>> patience_with("postgresql://db/x?keepalives_idle=60&tcp_user_timeout=0")
    {'connect_timeout': 5, 'keepalives_interval': 5, 'keepalives_count': 3}
    """
    given = make_url(database_url).query
    return {name: value for name, value in PATIENCE.items() if name not in given}


# Whether an address is that of a Postgres or of a pooler in front of one, which keeps no session.

SEEN = "plumbline.session"

REFUSED = "unsupported startup parameter"


def refuse_pooler(database_url: str, variable: str) -> None:
    """Return when sessions of an address keep their settings, or it does not answer now. Raises SettingsError."""
    try:
        with psycopg.connect(database_url, options=f"-c {SEEN}=on", connect_timeout=5) as connection:
            kept = connection.execute("SELECT current_setting(%s, true)", [SEEN], prepare=False).fetchall()[0][0]
    except psycopg.OperationalError as error:
        # One that is away is reported elsewhere, or waited for.
        kept = None if REFUSED in str(error) else "on"
    if kept != "on":
        raise SettingsError(
            f"{variable} leads to a pooler (pgbouncer), which keeps no session, and plumbline's locks and "
            "notifications are of sessions: set PLUMBLINE_DIRECT_DATABASE_URL to the address of the Postgres "
            "itself; then the pooler serves the requests."
        )


# The driver's own cursor of a session, for rows in bulk: SQLAlchemy would create an object for each of them. Errors
# are raised as SQLAlchemy would raise them, so that a lost connection is recognised as such.

ROWS_AT_ONCE = 64 if psycopg.capabilities.has_stream_chunked() else 1
"""How many rows a stream fetches together: waiting for each alone takes longer than reading it."""


@contextmanager
def bulk_cursor(session: Session) -> Iterator[psycopg.Cursor[Any]]:
    """Yield a binary cursor inside the session's own transaction. Raises DBAPIError for what the database refuses."""
    session.flush()
    connection = session.connection().connection.driver_connection
    if connection is None:
        raise RuntimeError("the session has lost its connection")
    try:
        with connection.cursor(binary=True) as cursor:
            yield cursor
    except psycopg.Error as error:
        lost = bool(connection.closed)
        raise DBAPIError.instance(
            "rows in bulk", None, error, psycopg.Error, hide_parameters=True, connection_invalidated=lost
        ) from error
