"""The driver's own cursor of a session, for rows in bulk: SQLAlchemy would create an object for each of them.

Called by `app.store`. Errors are raised as SQLAlchemy would raise them, so that a lost connection is recognised as
such.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

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
