"""`plumbline db backup`, `verify`, `wal` and `restore`: copies of a database, and the way back from them."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer
from sqlalchemy.engine import make_url

from app.cli.database import open_database
from app.cli.output import note
from app.config.settings import Settings
from app.db.backup import base, dump, recover
from app.db.backup.note import Note, read_note
from app.db.backup.note import verify as verified
from app.db.backup.programs import BackupError
from app.db.migrate import refuse_newer_database

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the backup.")]
STOPS_WITHIN_S = 30
INSTANT_FORMATS = ["%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M:%S.%f%z"]


def register(group: typer.Typer) -> None:
    """Add the commands to `plumbline db`."""
    group.command("backup")(backup)
    group.command("verify")(verify)
    group.command("wal")(wal)
    group.command("restore")(restore)


def backup(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder to create; it must not exist yet.")],
    *,
    files: Annotated[
        bool, typer.Option("--base", help="The files of the server, to be brought forward by the log of `db wal`.")
    ] = False,
) -> None:
    """Copy the database while it is used: all of one instant, noted and verified. A copy cut short leaves nothing."""
    # A stop from outside leaves nothing half made either, as Ctrl-C does: schedules end what takes too long by SIGTERM.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with open_database(Settings.from_env(), as_owner=True) as database_url:
        refuse_newer_database(database_url)
        written = base.make_base(database_url, folder) if files else dump.make_dump(database_url, folder)
    note(f"{folder} holds {_described(written)}.")


def verify(folder: Folder) -> None:
    """Say what a backup is of, and see that no byte of it is missing or changed."""
    note(f"{folder} is whole: {_described(verified(folder))}.")


def wal(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The folder for the log; an existing log is continued.")
    ],
) -> None:
    """Write every change of the database into a folder until stopped, so that `db restore` can reach any instant."""
    with open_database(Settings.from_env(), as_owner=True) as database_url:
        refuse_newer_database(database_url)
        note(f"The log of the database is written to {folder} until this is stopped.")
        base.receive_wal(database_url, folder, _until_stopped)


def _until_stopped(receiving: "subprocess.Popen[str]") -> int:
    with _passing_on(receiving):
        return receiving.wait()


@contextmanager
def _passing_on(receiving: "subprocess.Popen[str]") -> Iterator[None]:
    """Have a stop of this process end the receiver in order, as SIGINT does."""

    def stop(number: int, frame: FrameType | None) -> None:
        receiving.send_signal(signal.SIGINT)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def restore(
    folder: Folder,
    *,
    log: Annotated[
        Path | None, typer.Option("--wal", metavar="FOLDER", help="The log that `db wal` wrote, for a base backup.")
    ] = None,
    until: Annotated[
        datetime | None,
        typer.Option(formats=INSTANT_FORMATS, help="Bring a base backup to this instant and no further."),
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Lay a base backup out as the data directory of a Postgres of your own."),
    ] = None,
) -> None:
    """Bring a backup back where there is nothing yet. What goes wrong leaves the target as empty as it was."""
    settings, kind = Settings.from_env(), read_note(folder).kind
    if kind == "dump":
        _refuse_options(log, until, into)
        restored = _restore_dump(folder, settings)
    elif into is not None:
        restored = recover.lay_out(folder, log, until, into)
        note(
            f"Give {into} to the user of Postgres {restored.programs} (chown -R) and start it there: it recovers then."
        )
    elif settings.database_url is None:
        restored = recover.recover_embedded(folder, log, until, settings.data_dir)
    else:
        raise BackupError(
            f"The backup in {folder} is of a server's files, which cannot be sent to "
            f"{make_url(settings.database_url).render_as_string(hide_password=True)}: lay them out with --into."
        )
    reached = "the end of the log" if until is None else until.isoformat()
    forward = f", brought forward to {reached}" if log is not None else ""
    note(f"Restored {_described(restored)}{forward}.")
    note("plumbline serve and plumbline db upgrade bring it to the newest schema.")


def _refuse_options(*given: object) -> None:
    if any(each is not None for each in given):
        raise BackupError("A dump is of one instant: --wal, --until and --into are for a base backup.")


def _restore_dump(folder: Path, settings: Settings) -> Note:
    verified(folder)
    with open_database(settings, may_create=True, as_owner=True) as database_url:
        return dump.restore_dump(folder, database_url)


def _described(of: Note) -> str:
    what = f"{sum(of.rows.values()):,} rows" if of.kind == "dump" else "the files of a server"
    made_at = of.made_at.isoformat(timespec="seconds")
    return f"{what} of {made_at}, schema {of.schema_revision}, Postgres {of.programs}, plumbline {of.release}"
