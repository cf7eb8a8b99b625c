"""`plumbline db`, and the one way in which the other commands come to their database."""

import os
import re
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from datetime import UTC
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated

import psycopg
import typer
from sqlalchemy import Connection, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError

from app.config import Settings
from app.db import dumps, transfer
from app.db.dumps import Note
from app.db.dumps import verify as verified
from app.db.embedded import Addresses, has_cluster, running_addresses
from app.db.engine import SessionFactory, make_engine, make_session_factory, refuse_pooler, run_in_transaction
from app.db.migrate import (
    can_rewrite,
    check_schema,
    clock_ahead_s,
    clock_trouble,
    refuse_newer_database,
    upgrade,
    why_unwritable,
)
from app.errors import PlumblineError, SettingsError
from app.store import audit
from app.store.audit import Act, AuditCheck, Change
from plumbline.cli.output import note, say

SCHEMES = ("postgresql", "postgres")
MOST_BREAKS = 50


class DatabaseUnavailable(PlumblineError):
    """The database that the settings name does not answer."""


@contextmanager
def open_database(settings: Settings, *, may_create: bool = False, as_owner: bool = False) -> Iterator[str]:
    """Yield the address of the database of the settings for the role that serves, or for the owner of the tables.

    Raises as `open_addresses`.
    """
    with open_addresses(settings, may_create=may_create) as addresses:
        yield addresses.owner if as_owner else addresses.runtime


@contextmanager
def open_addresses(settings: Settings, *, may_create: bool = False) -> Iterator[Addresses]:
    """Yield the addresses of the database of the settings; an embedded one runs for as long as it is needed.

    Raises DatabaseUnavailable where there is none yet, unless it may be made: a misspelt folder is no new server.
    """
    if settings.database_url is None and settings.owner_database_url is not None:
        raise SettingsError("PLUMBLINE_OWNER_DATABASE_URL also needs PLUMBLINE_DATABASE_URL, that of the role to serve")
    if settings.database_url is None and not may_create and not has_cluster(settings.data_dir):
        raise DatabaseUnavailable(
            f"There is no database in {settings.data_dir}: set PLUMBLINE_DATA_DIR to the folder of a server, or make "
            "one there with plumbline serve or plumbline db upgrade."
        )
    opening = running_addresses(settings.data_dir) if settings.database_url is None else nullcontext(_given(settings))
    with opening as addresses:
        try:
            yield addresses
        except (OperationalError, psycopg.OperationalError) as error:
            shown = make_url(addresses.runtime).render_as_string(hide_password=True)
            cause = " ".join(str(getattr(error, "orig", None) or error).split())
            raise DatabaseUnavailable(f"The database {shown} does not answer: {cause}") from error


def bring_up(addresses: Addresses) -> None:
    """Bring a database to the newest schema as its owner, and grant the role that serves what it needs.

    Raises SchemaMismatch.
    """
    role = make_url(addresses.runtime).username
    if addresses.owner != addresses.runtime and role is None:
        raise SettingsError("PLUMBLINE_DATABASE_URL names no role: expected postgresql://role@host/name")
    upgrade(addresses.owner, role)


@contextmanager
def open_migrated(settings: Settings, *, as_owner: bool = False) -> Iterator[str]:
    """Yield the address of the database of the settings, which has this program's own schema.

    Raises SchemaMismatch where it has an older one, or one that a newer plumbline has made.
    """
    with open_database(settings, as_owner=as_owner) as database_url:
        check_schema(database_url)
        yield database_url


@contextmanager
def sessions_of(database_url: str) -> Iterator[SessionFactory]:
    """Yield what opens sessions of a database, one at a time; its connection is closed at the end."""
    engine = make_engine(database_url, pool_size=1)
    try:
        yield make_session_factory(engine)
    finally:
        engine.dispose()


def _given(settings: Settings) -> Addresses:
    """Return the addresses of the Postgres itself: where requests go through a pooler, the direct one."""
    address, variable = settings.database_url or "", "PLUMBLINE_DATABASE_URL"
    _refuse_other(address, variable)
    if settings.direct_database_url is not None:
        address, variable = settings.direct_database_url, "PLUMBLINE_DIRECT_DATABASE_URL"
        _refuse_other(address, variable)
    refuse_pooler(address, variable)
    if settings.owner_database_url is None:
        return Addresses(address, address)
    _refuse_other(settings.owner_database_url, "PLUMBLINE_OWNER_DATABASE_URL")
    refuse_pooler(settings.owner_database_url, "PLUMBLINE_OWNER_DATABASE_URL")
    return Addresses(settings.owner_database_url, address)


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
    group.command("rebuild")(rebuild)
    import_module("app.cli.retention").register(group)
    group.command("check")(check)
    group.command("url")(show_url)
    group.command("backup")(backup)
    group.command("verify")(verify)
    group.command("restore")(restore)
    group.command("export")(export)
    group.command("import")(import_folder)
    app.add_typer(group, name="db")


def upgrade_database() -> None:
    """Bring the database to the newest schema; an embedded one that is not there is made. Safe to repeat."""
    with open_addresses(Settings.from_env(), may_create=True) as addresses:
        bring_up(addresses)
    note("The database has the newest schema.")


class RecordBroken(PlumblineError):
    """The audit record is not what was sealed."""


def check(
    *,
    quick: Annotated[bool, typer.Option("--quick", help="Leave the history out, as health checks do.")] = False,
    seal: Annotated[
        list[str] | None,
        typer.Option(metavar="NUMBER:DIGEST", help="A seal that was written down earlier; give it again for more."),
    ] = None,
) -> None:
    """Say whether the database answers, takes writes, has the newest schema, and holds the history as it was sealed.

    The exit code is 0 when it does. A role that could rewrite the history is warned of, and a clock that
    is not this machine's.
    """
    heads = dict(map(_read_head, seal or ()))
    with open_migrated(Settings.from_env()) as database_url:
        engine = make_engine(database_url, pool_size=1)
        with engine.connect() as connection:
            version = connection.scalar(text("SELECT current_setting('server_version')"))
            unwritable = why_unwritable(connection)
            if unwritable is not None:
                raise DatabaseUnavailable(unwritable)
            _check_pooler(Settings.from_env())
            say(f"Postgres {version} answers, takes writes and has the newest schema.")
            warnings = (can_rewrite(connection), clock_trouble(clock_ahead_s(connection)))
            connection.rollback()
            for warning in filter(None, warnings):
                note(f"Warning: {warning}", style="yellow")
            if not quick or heads:
                _check_history(connection, heads)
        engine.dispose()


def _read_head(text: str) -> tuple[int, str]:
    number, _, digest = text.partition(":")
    if not number.isdigit() or not re.fullmatch("[0-9a-fA-F]{64}", digest):
        raise SettingsError(f"--seal {text!r} is no seal: expected NUMBER:DIGEST, as in 12:9f86d0… with 64 digits")
    return int(number), digest


def _check_history(connection: Connection, heads: Mapping[int, str]) -> None:
    checking, n_broken = AuditCheck(connection, heads), 0
    for broken in checking.breaks():
        n_broken += 1
        if n_broken <= MOST_BREAKS:
            note(f"{broken.kind}: {broken.text}", style="red")
    checked = checking.checked()
    if n_broken:
        more = f", {n_broken - MOST_BREAKS} of them not shown" if n_broken > MOST_BREAKS else ""
        raise RecordBroken(f"The audit record is broken in {n_broken} places{more}; {checked.n_seals} seals were read.")
    if checked.head is None:
        say("Nothing of the audit record is sealed yet.")
    else:
        head = checked.head
        say(f"{checked.n_events:,} audit events are as they were sealed; the newest seal is "
            f"{head.number}:{head.digest.hex()} of {head.at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}.")  # fmt: skip
    if checked.waiting_since is not None:
        since = f"{checked.waiting_since.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
        note(f"{checked.n_waiting} audit events wait for a seal, since {since}.")


def _check_pooler(settings: Settings) -> None:
    """Ask the database through the pooler too, where there is one. Raises DatabaseUnavailable."""
    if settings.direct_database_url is None or settings.database_url is None:
        return
    try:
        with psycopg.connect(settings.database_url, connect_timeout=5) as connection:
            connection.execute("SELECT 1", prepare=False)
    except psycopg.OperationalError as error:
        shown = make_url(settings.database_url).render_as_string(hide_password=True)
        raise DatabaseUnavailable(
            f"The pooler {shown} (PLUMBLINE_DATABASE_URL) does not answer: {' '.join(str(error).split())}; the "
            "Postgres behind it (PLUMBLINE_DIRECT_DATABASE_URL) does."
        ) from error


def show_url(
    *,
    keep_running: Annotated[
        bool, typer.Option("--hold", help="Keep an embedded database running until Enter is pressed.")
    ] = False,
    owner: Annotated[
        bool, typer.Option("--owner", help="That of the owner of the tables, not of the role that serves.")
    ] = False,
) -> None:
    """Print the address of the database, for psql and other programs."""
    with open_database(Settings.from_env(), as_owner=owner) as database_url:
        say(database_url)
        if keep_running:
            note("Press Enter to release the database.")
            os.read(0, 1)


# Copies of a database's rows, and the way back from them.

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the backup.")]


def backup(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder to create; it must not exist yet.")],
) -> None:
    """Copy the database while it is used: all of one instant, noted and verified. A copy cut short leaves nothing."""
    # A stop from outside leaves nothing half made either, as Ctrl-C does: schedules end what takes too long by SIGTERM.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with open_database(Settings.from_env(), as_owner=True) as database_url:
        refuse_newer_database(database_url)
        written = dumps.make_dump(database_url, folder)
        _note_backup(database_url, written)
    note(f"{folder} holds {_described(written)}.")


def _note_backup(database_url: str, written: Note) -> None:
    """Note in the audit that a backup was made: /metrics says how long ago. Not where nothing can be written."""
    change = Change(after={"rows": sum(written.rows.values()), "schema": written.schema_revision})
    try:
        with sessions_of(database_url) as sessions, sessions.begin() as session:
            audit.record(session, Act(audit.BACKUP), None, change)
    except DBAPIError as error:
        reason = str(error.orig).splitlines()[0]
        note(f"Warning: that it was made could not be noted in the audit: {reason}", style="yellow")


def verify(folder: Folder) -> None:
    """Say what a backup is of, and see that no byte of it is missing or changed."""
    note(f"{folder} is whole: {_described(verified(folder))}.")


def restore(folder: Folder) -> None:
    """Bring a backup back where there is nothing yet. What goes wrong leaves the target as empty as it was."""
    settings = Settings.from_env()
    verified(folder)
    with open_database(settings, may_create=True, as_owner=True) as database_url:
        restored = dumps.restore_dump(folder, database_url)
    note(f"Restored {_described(restored)}.")
    note("plumbline serve and plumbline db upgrade bring it to the newest schema.")


def export(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder to create; it must not exist yet.")],
) -> None:
    """Write everything that the server knows as JSON lines, which every later version reads: docs/export-format.md."""
    with open_database(Settings.from_env(), as_owner=True) as database_url:
        written = transfer.export(database_url, folder)
    note(f"{folder} holds {sum(each.n_rows for each in written.tables.values()):,} rows of {written.made_at:%Y-%m-%d}.")


def import_folder(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="What plumbline db export wrote.")],
) -> None:
    """Bring an export into a new database, all or nothing, and pack its rows for boards."""
    transfer.read_note(folder)
    with open_addresses(Settings.from_env(), may_create=True) as addresses:
        bring_up(addresses)
        read = transfer.import_folder(folder, addresses.owner)
    note(f"Imported {sum(each.n_rows for each in read.tables.values()):,} rows of plumbline {read.release}.")
    rebuild()
    note("plumbline db check reads the seals of the audit record.")


def rebuild() -> None:
    """Make the packed evidence anew from the rows, which are the truth; what is the same stays. Safe while it runs."""
    rows = import_module("app.store.rows")
    with open_migrated(Settings.from_env(), as_owner=True) as database_url, sessions_of(database_url) as sessions:
        with sessions() as session:
            numbers = rows.all_submissions(session)
        anew = (partial(rows.rebuild_submission, submission=number) for number in numbers)
        n_changed = sum(run_in_transaction(sessions, each) for each in anew)
    note(f"{len(numbers)} submissions examined, {n_changed} of them repacked.")


def _described(of: Note) -> str:
    made_at = of.made_at.isoformat(timespec="seconds")
    rows = f"{sum(of.rows.values()):,} rows of {made_at}"
    return f"{rows}, schema {of.schema_revision}, Postgres {of.programs}, plumbline {of.release}"
