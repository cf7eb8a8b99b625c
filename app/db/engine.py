"""Engines and sessions on Postgres through psycopg 3, for the web and the worker processes."""

from sqlalchemy import Engine, create_engine, make_url
from sqlalchemy.orm import Session, sessionmaker

QUEUE_SCHEMA = "queue"
# procrastinate's functions name their tables without a schema, so its schema must be on the path.
CONNECT_OPTIONS = f"-c search_path=public,{QUEUE_SCHEMA}"

SessionFactory = sessionmaker[Session]


def make_engine(database_url: str, *, pool_size: int = 10) -> Engine:
    """Return an engine whose connections are checked before use, so that a restarted database is found again."""
    url = make_url(database_url).set(drivername="postgresql+psycopg")
    return create_engine(
        url,
        pool_pre_ping=True,
        pool_size=pool_size,
        max_overflow=pool_size,
        pool_timeout=10,
        # A failed statement is logged; its parameters may be private labels, or somebody's token.
        hide_parameters=True,
        connect_args={"options": CONNECT_OPTIONS, "connect_timeout": 5, "application_name": "plumbline"},
    )


def make_session_factory(engine: Engine) -> SessionFactory:
    """Return a factory of sessions whose objects stay readable after commit."""
    return sessionmaker(engine, expire_on_commit=False)
