"""`plumbline db`, and the one way in which the other commands come to their database."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from typing import Annotated

import psycopg
import typer
from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, OperationalError

from app.cli.output import note, say
from app.config.settings import Settings
from app.db.embedded.place import has_cluster
from app.db.embedded.running import running_server
from app.db.engine import make_engine
from app.db.migrate import check_schema, upgrade
from app.db.pooling import refuse_pooler
from app.errors import PlumblineError, SettingsError

SCHEMES = ("postgresql", "postgres")


class DatabaseUnavailable(PlumblineError):
    """The database that the settings name does not answer."""


@contextmanager
def open_database(settings: Settings, *, may_create: bool = False) -> Iterator[str]:
    """Yield the address of the database of the settings; an embedded one runs for as long as it is needed.

    Raises DatabaseUnavailable where there is none yet, unless it may be made: a misspelt folder is no new server.
    """
    if settings.database_url is None and not may_create and not has_cluster(settings.data_dir):
        raise DatabaseUnavailable(
            f"There is no database in {settings.data_dir}: set PLUMBLINE_DATA_DIR to the folder of a server, or make "
            "one there with plumbline serve or plumbline db upgrade."
        )
    with running_server(settings.data_dir) if settings.database_url is None else _given(settings) as database_url:
        try:
            yield database_url
        except (OperationalError, psycopg.OperationalError) as error:
            shown = make_url(database_url).render_as_string(hide_password=True)
            cause = " ".join(str(getattr(error, "orig", None) or error).split())
            raise DatabaseUnavailable(f"The database {shown} does not answer: {cause}") from error


@contextmanager
def open_migrated(settings: Settings) -> Iterator[str]:
    """Yield the address of the database of the settings, which has this program's own schema.

    Raises SchemaMismatch where it has an older one, or one that a newer plumbline has made.
    """
    with open_database(settings) as database_url:
        check_schema(database_url)
        yield database_url


def _given(settings: Settings) -> AbstractContextManager[str]:
    """Return the address of the Postgres itself: where requests go through a pooler, the direct one."""
    address, variable = settings.database_url or "", "PLUMBLINE_DATABASE_URL"
    _refuse_other(address, variable)
    if settings.direct_database_url is not None:
        address, variable = settings.direct_database_url, "PLUMBLINE_DIRECT_DATABASE_URL"
        _refuse_other(address, variable)
    refuse_pooler(address, variable)
    return nullcontext(address)


def _refuse_other(address: str, variable: str) -> None:
    try:
        is_postgres = make_url(address).drivername in SCHEMES
    except ArgumentError:
        is_postgres = False
    if not is_postgres:
        # Without the value: it may hold a password.
        raise SettingsError(f"{variable} is not the address of a Postgres: expected postgresql://user@host/name")


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    group = typer.Typer(no_args_is_help=True, help="Administer the database.")
    group.command("upgrade")(upgrade_database)
    import_module("app.cli.rebuild").register(group)
    group.command("check")(check)
    group.command("url")(show_url)
    import_module("app.cli.backups").register(group)
    app.add_typer(group, name="db")


def upgrade_database() -> None:
    """Bring the database to the newest schema; an embedded one that is not there is made. Safe to repeat."""
    with open_database(Settings.from_env(), may_create=True) as database_url:
        upgrade(database_url)
    note("The database has the newest schema.")


def check() -> None:
    """Say whether the database answers and has the newest schema; the exit code is 0 when it does."""
    with open_migrated(Settings.from_env()) as database_url:
        engine = make_engine(database_url, pool_size=1)
        with engine.connect() as connection:
            version = connection.scalar(text("SELECT current_setting('server_version')"))
        engine.dispose()
    say(f"Postgres {version} answers and has the newest schema.")


def show_url(
    *,
    keep_running: Annotated[
        bool, typer.Option("--hold", help="Keep an embedded database running until Enter is pressed.")
    ] = False,
) -> None:
    """Print the address of the database, for psql and other programs."""
    with open_database(Settings.from_env()) as database_url:
        say(database_url)
        if keep_running:
            note("Press Enter to release the database.")
            os.read(0, 1)
