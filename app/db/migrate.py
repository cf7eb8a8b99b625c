"""Bring a database to the newest schema, or see that it has it.

Called by `plumbline db`, `plumbline serve`, the other commands that need a database, and the tests.
"""

from dataclasses import dataclass
from functools import cache

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from app.db.engine import make_engine
from app.db.unreleased import is_unreleased
from app.errors import PlumblineError
from app.program.bundled import bundled

MIGRATIONS = bundled("migrations")


class SchemaMismatch(PlumblineError):
    """The database has another schema than this program was written for."""


def upgrade(database_url: str) -> None:
    """Apply every missing revision, each in its own transaction. Safe to call from several processes at once.

    Raises SchemaMismatch for a database that a newer plumbline has upgraded, or one of before the first release.
    """
    config = _config()
    engine = make_engine(database_url, pool_size=1)
    try:
        with engine.connect() as connection:
            _refuse_unknown(_script(), _revisions(connection))
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    finally:
        engine.dispose()


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
    heads = _revisions(connection)
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
    heads = MigrationContext.configure(connection).get_current_heads()
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
