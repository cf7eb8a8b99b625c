"""Bring a database to the newest schema, or see that it has it.

Called by `plumbline db`, `plumbline serve`, the other commands that need a database, and the tests.
"""

from dataclasses import dataclass
from functools import cache

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from app.db.engine import make_engine
from app.db.grants import grant
from app.db.unreleased import is_unreleased
from app.errors import PlumblineError
from app.program.bundled import bundled

MIGRATIONS = bundled("migrations")


class SchemaMismatch(PlumblineError):
    """The database has another schema than this program was written for."""


def upgrade(database_url: str, runtime_role: str | None = None) -> None:
    """Apply every missing revision, each in its own transaction. Safe to call from several processes at once.

    `runtime_role` is granted what a server needs, where it is another role than that of the address. Raises
    SchemaMismatch for a database that a newer plumbline has upgraded, one of before the first release, and one that
    the role of the address may not change.
    """
    config = _config()
    engine = make_engine(database_url, pool_size=1)
    try:
        with engine.connect() as connection:
            _refuse_unknown(_script(), _revisions(connection))
            config.attributes["connection"] = connection
            _run(config, connection)
            if runtime_role is not None and runtime_role != connection.scalar(text("SELECT session_user")):
                grant(connection, runtime_role)
            connection.commit()
    finally:
        engine.dispose()


def _run(config: Config, connection: Connection) -> None:
    if set(_revisions(connection)) == set(_script().get_heads()):
        return
    try:
        command.upgrade(config, "head")
    except DBAPIError as error:
        connection.rollback()
        if not is_forbidden(error):
            raise
        role = connection.scalar(text("SELECT session_user"))
        raise SchemaMismatch(
            f"The role {role} may not bring the database to the schema {', '.join(_script().get_heads())}: run "
            "plumbline db upgrade with the address of the owner of the tables in PLUMBLINE_OWNER_DATABASE_URL."
        ) from error


def is_forbidden(error: DBAPIError) -> bool:
    """Say whether the database refused a statement because its role may not."""
    return getattr(error.orig, "sqlstate", None) == "42501"  # insufficient_privilege


def check_schema(database_url: str) -> None:
    """Return when a database has exactly the schema of this program. Raises SchemaMismatch."""
    engine = make_engine(database_url, pool_size=1)
    try:
        with engine.connect() as connection:
            heads = _revisions(connection)
    finally:
        engine.dispose()
    _refuse_unknown(_script(), heads)
    newest = _script().get_heads()
    if set(heads) != set(newest):
        raise SchemaMismatch(
            f"The database has {_named(heads)}, and this plumbline needs {_named(newest)}: run plumbline db upgrade."
        )


def refuse_newer(revision: str) -> None:
    """Refuse the schema of a copy that this program does not know. Raises SchemaMismatch."""
    _refuse_unknown(_script(), (revision,))


def refuse_newer_database(database_url: str) -> None:
    """Return when a database has a schema that this program knows, be it an older one. Raises SchemaMismatch."""
    engine = make_engine(database_url, pool_size=1)
    try:
        with engine.connect() as connection:
            _refuse_unknown(_script(), _revisions(connection))
    finally:
        engine.dispose()


@dataclass(frozen=True)
class SchemaTrouble:
    """What is wrong with the schema of a database that a process serves. With a newer one it may go on for a while:
    a migration works with the code before it."""

    text: str
    is_newer: bool


def schema_trouble(connection: Connection) -> SchemaTrouble | None:
    """Return what is wrong with the schema of a database, None when it is this program's own. Asked each second."""
    try:
        heads = _revisions(connection)
    except SchemaMismatch as error:
        return SchemaTrouble(str(error), is_newer=False)
    try:
        _refuse_unknown(_script(), heads)
    except SchemaMismatch as error:
        return SchemaTrouble(str(error), is_newer=not any(map(is_unreleased, heads)))
    if set(heads) == set(_script().get_heads()):
        return None
    return SchemaTrouble(f"The database has {_named(heads)}: run plumbline db upgrade.", is_newer=False)


@cache
def _script() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config())


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    return config


def _revisions(connection: Connection) -> tuple[str, ...]:
    try:
        heads = MigrationContext.configure(connection).get_current_heads()
    except DBAPIError as error:
        connection.rollback()
        if not is_forbidden(error):
            raise
        role = connection.scalar(text("SELECT session_user"))
        connection.rollback()
        raise SchemaMismatch(
            f"The role {role} may not read the tables: run plumbline db upgrade with the address of their owner in "
            "PLUMBLINE_OWNER_DATABASE_URL, which grants it what it needs."
        ) from error
    connection.rollback()
    return heads


def _refuse_unknown(script: ScriptDirectory, heads: tuple[str, ...]) -> None:
    known = {each.revision for each in script.walk_revisions()}
    unknown = set(heads) - known
    if any(map(is_unreleased, unknown)):
        raise SchemaMismatch(
            f"The database has {_named(heads)} of a version that was never released, which cannot be upgraded: run "
            "the version that made it, or make a new, empty database (another PLUMBLINE_DATA_DIR or "
            "PLUMBLINE_DATABASE_URL) and submit to it again."
        )
    if unknown:
        raise SchemaMismatch(
            f"The database has {_named(heads)}, which this plumbline does not know (its newest is "
            f"{', '.join(script.get_heads())}): a newer version upgraded it. Run that version or a later one, or "
            "restore a copy of the database from before."
        )


def _named(revisions: tuple[str, ...] | list[str]) -> str:
    return f"the schema {', '.join(revisions)}" if revisions else "no schema of plumbline"
