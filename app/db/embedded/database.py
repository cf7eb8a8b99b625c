"""The address of the embedded Postgres, its two roles and the database in it. Called by `embedded.server`."""

import os
import secrets
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql
from sqlalchemy import make_url

from app.db.embedded.account import Account
from app.db.embedded.place import PORT
from app.errors import EmbeddedDatabaseError

OWNER = "plumbline_owner"
"""Makes the tables, and is the superuser: what migrates, copies and restores."""
RUNTIME = "plumbline"
"""What web processes, workers and commands are: it may do what `app.db.grants` says."""
DATABASE = "plumbline"
MAINTENANCE_DATABASE = "postgres"
ANSWERS_WITHIN_S = 5


def password_file(cluster: Path, role: str) -> Path:
    """Return where the password of a role is: a file of the server's user, beside what it opens."""
    return cluster / f"{role}.password"


def make_password(path: Path, account: Account) -> None:
    """Write a new password into a file that only the server's user (and root) reads."""
    path.unlink(missing_ok=True)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "w") as opened:
        if account.is_other:
            os.chown(fd, account.uid, account.gid)
        opened.write(secrets.token_hex(32) + "\n")


def _password(cluster: Path, role: str) -> str:
    try:
        return password_file(cluster, role).read_text("utf-8").strip()
    except FileNotFoundError:
        raise EmbeddedDatabaseError(
            f"The database in {cluster} has no password of the role {role}: a version that was never released made it, "
            "or the file was removed. Run the version that made it, or set PLUMBLINE_DATA_DIR to another folder."
        ) from None


def database_url(socket_folder: Path, cluster: Path, database: str = DATABASE) -> str:
    """Return the owner's address of a database; it names the port because PGPORT would be taken otherwise."""
    host = quote(str(socket_folder), safe="")
    return f"postgresql://{OWNER}:{_password(cluster, OWNER)}@/{database}?host={host}&port={PORT}"


def runtime_url(owner_url: str, cluster: Path) -> str:
    """Return the address of the same database for the role that a server runs as."""
    as_runtime = make_url(owner_url).set(username=RUNTIME, password=_password(cluster, RUNTIME))
    return as_runtime.render_as_string(hide_password=False)


def ensure_database(socket_folder: Path, cluster: Path) -> None:
    """Create our database and its runtime role if they are not there. Raises psycopg.OperationalError when the server
    does not answer."""
    address = database_url(socket_folder, cluster, MAINTENANCE_DATABASE)
    with psycopg.connect(address, autocommit=True, connect_timeout=ANSWERS_WITHIN_S) as connection:
        if connection.execute("SELECT FROM pg_roles WHERE rolname = %s", [RUNTIME]).fetchone() is None:
            password = sql.Literal(_password(cluster, RUNTIME))
            connection.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(sql.Identifier(RUNTIME), password))
        if connection.execute("SELECT FROM pg_database WHERE datname = %s", [DATABASE]).fetchone() is None:
            connection.execute(f"CREATE DATABASE {DATABASE}")
