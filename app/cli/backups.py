"""`plumbline db backup`, `verify` and `restore`: copies of a database's rows, and the way back from them."""

import signal
from pathlib import Path
from typing import Annotated

import typer

from app.cli.database import open_database
from app.cli.output import note
from app.config import Settings
from app.db import dumps
from app.db.dumps import Note
from app.db.dumps import verify as verified
from app.db.migrate import refuse_newer_database

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the backup.")]


def register(group: typer.Typer) -> None:
    """Add the commands to `plumbline db`."""
    group.command("backup")(backup)
    group.command("verify")(verify)
    group.command("restore")(restore)


def backup(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder to create; it must not exist yet.")],
) -> None:
    """Copy the database while it is used: all of one instant, noted and verified. A copy cut short leaves nothing."""
    # A stop from outside leaves nothing half made either, as Ctrl-C does: schedules end what takes too long by SIGTERM.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with open_database(Settings.from_env(), as_owner=True) as database_url:
        refuse_newer_database(database_url)
        written = dumps.make_dump(database_url, folder)
    note(f"{folder} holds {_described(written)}.")


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


def _described(of: Note) -> str:
    made_at = of.made_at.isoformat(timespec="seconds")
    rows = f"{sum(of.rows.values()):,} rows of {made_at}"
    return f"{rows}, schema {of.schema_revision}, Postgres {of.programs}, plumbline {of.release}"
