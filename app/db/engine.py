"""Engines and sessions on Postgres through psycopg 3, for the web and the worker processes."""

import asyncio
import time

from sqlalchemy import Connection, Engine, QueuePool, create_engine, event, make_url
from sqlalchemy.orm import Session, sessionmaker

from app.db.patience import patience_with

QUEUE_SCHEMA = "queue"
# procrastinate's functions name their tables without a schema, so its schema must be on the path.
CONNECT_OPTIONS = f"-c search_path=public,{QUEUE_SCHEMA}"

LAST_STATEMENTS_S = 5.0

SessionFactory = sessionmaker[Session]


PATH_OF_TRANSACTION = f"SET LOCAL search_path TO public, {QUEUE_SCHEMA}"


def make_engine(database_url: str, *, pool_size: int = 10, is_pooled: bool = False) -> Engine:
    """Return an engine whose connections are checked before use, so that a restarted database is found again.

    `is_pooled` says that a pooler such as pgbouncer hands out a server's connection for one transaction at a time: then
    nothing is prepared, and every transaction says itself where its tables are.
    """
    of_session: dict[str, str | None] = {"prepare_threshold": None} if is_pooled else {"options": CONNECT_OPTIONS}
    engine = _create(database_url, pool_size, of_session)
    if is_pooled:
        event.listen(engine, "begin", _set_path)
    return engine


def _set_path(connection: Connection) -> None:
    connection.exec_driver_sql(PATH_OF_TRANSACTION)


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


async def dispose_unused(engine: Engine, wait_s: float = LAST_STATEMENTS_S) -> None:
    """Close an engine's connections once no thread has one, or the time is over.

    A thread goes on when the task that waits for it is cancelled, and a connection that it still has would stay open.
    """
    deadline = time.monotonic() + wait_s
    while isinstance(engine.pool, QueuePool) and engine.pool.checkedout() and time.monotonic() < deadline:
        await asyncio.sleep(0.01)
    engine.dispose()


def make_session_factory(engine: Engine) -> SessionFactory:
    """Return a factory of sessions whose objects stay readable after commit."""
    return sessionmaker(engine, expire_on_commit=False)
