"""The address of the embedded Postgres and the database in it. Called by `embedded.server`."""

from pathlib import Path
from urllib.parse import quote

import psycopg

from app.db.embedded.place import PORT

USER = "plumbline"
DATABASE = "plumbline"
MAINTENANCE_DATABASE = "postgres"
ANSWERS_WITHIN_S = 5


def database_url(socket_folder: Path, database: str = DATABASE) -> str:
    """Return the address of a database; it names the port because PGPORT would be taken otherwise."""
    return f"postgresql://{USER}@/{database}?host={quote(str(socket_folder), safe='')}&port={PORT}"


def ensure_database(socket_folder: Path) -> None:
    """Create our database if it is not there. Raises psycopg.OperationalError when the server does not answer."""
    address = database_url(socket_folder, MAINTENANCE_DATABASE)
    with psycopg.connect(address, autocommit=True, connect_timeout=ANSWERS_WITHIN_S) as connection:
        row = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
        if row is None:
            connection.execute(f"CREATE DATABASE {DATABASE}")
