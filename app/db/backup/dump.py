"""Copies of a database's rows by pg_dump: all of one instant, restored into a database with nothing in it.

Called by `app.cli.backups`. It can be restored into any Postgres as new as the one that it was made of.
"""

from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from app.db.backup.note import Note, note_files, verify, write_note
from app.db.backup.programs import BackupError, find_program, major_of, run
from app.db.embedded.place import appearing
from app.db.migrate import refuse_newer
from app.program.version import release

DUMP = "database.dump"
# Roles of one server need not be there on another.
OF_NOBODY = ("--no-owner", "--no-privileges")
OURS = ("public", "queue")
INSTANT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
TABLES = "SELECT schemaname, tablename FROM pg_tables WHERE schemaname = ANY(%s) ORDER BY 1, 2"
OTHERS = (
    "SELECT DISTINCT application_name FROM pg_stat_activity WHERE datname = current_database() "
    "AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
)

Connection = psycopg.Connection[Any]


def make_dump(database_url: str, target: Path) -> Note:
    """Write a dump of a database into a new folder and return its note, without interrupting its users.

    Raises BackupError; then the folder is not there.
    """
    refuse_existing(target)
    with psycopg.connect(database_url) as connection:
        connection.execute(INSTANT)
        snapshot, made_at = connection.execute("SELECT pg_export_snapshot(), clock_timestamp()").fetchall()[0]
        program = find_program("pg_dump", connection.info.server_version // 10_000)
        with appearing(target) as partial:
            command: list[str | Path] = [
                program,
                "--format=custom",
                *OF_NOBODY,
                f"--snapshot={snapshot}",
            ]
            run("The database could not be dumped", [*command, f"--file={partial / DUMP}"], database_url)
            note = _note_of(connection, partial, made_at, major_of(program) or 0)
            run("The dump cannot be read", [program.with_name("pg_restore"), "--list", partial / DUMP])
            write_note(partial, note)
    return note


def refuse_existing(target: Path) -> None:
    """Raise BackupError where a copy would be written over something."""
    if target.exists():
        raise BackupError(f"{target} is there already: name a folder that is not, for it is made.")
    if not target.absolute().parent.is_dir():
        raise BackupError(f"There is no folder {target.absolute().parent} in which {target.name} could be made.")


def _note_of(connection: Connection, partial: Path, made_at: datetime, programs: int) -> Note:
    return Note(
        kind="dump",
        schema_revision=schema_of(connection),
        release=release(),
        made_at=made_at,
        programs=programs,
        files=note_files(partial),
        rows=count_rows(connection),
    )


def schema_of(connection: Connection) -> str:
    """Return the revision of a database's schema. Raises BackupError where it has none of ours."""
    with suppress(psycopg.errors.UndefinedTable):
        row = connection.execute("SELECT version_num FROM public.alembic_version").fetchone()
        if row is not None:
            return str(row[0])
    raise BackupError("The database has no schema of plumbline, so there is nothing to make a backup of.")


def count_rows(connection: Connection) -> dict[str, int]:
    """Return how many rows each of our tables has."""
    counted = {}
    for schema, table in connection.execute(TABLES, [list(OURS)]).fetchall():
        query = sql.SQL("SELECT count(*) FROM {}.{}").format(sql.Identifier(schema), sql.Identifier(table))
        counted[f"{schema}.{table}"] = int(connection.execute(query).fetchall()[0][0])
    return counted


def restore_dump(folder: Path, database_url: str) -> Note:
    """Restore a dump into an empty database, all or nothing, and check that every row arrived.

    Raises BackupError for a copy that is not whole, a target that runs or holds something, and a Postgres that is too
    old; SchemaMismatch for a copy of a newer plumbline.
    """
    note = verify(folder)
    refuse_newer(note.schema_revision)
    with psycopg.connect(database_url, autocommit=True) as connection:
        _refuse_in_use(connection)
        program = find_program("pg_restore", note.programs)
        command: list[str | Path] = [
            program,
            "--single-transaction",
            "--exit-on-error",
            *OF_NOBODY,
            "--no-privileges",
        ]
        run("The backup could not be restored; the database is as empty as before", [*command, folder / DUMP],
            database_url)  # fmt: skip
        _refuse_other_rows(note, count_rows(connection))
        connection.execute("ANALYZE")
    return note


def _refuse_in_use(connection: Connection) -> None:
    others = sorted(str(name or "another program") for (name,) in connection.execute(OTHERS).fetchall())
    if others:
        raise BackupError(f"The target is running: {', '.join(others)} uses it. Stop that first.")
    held = connection.execute(TABLES, [list(OURS)]).fetchall()
    if held:
        raise BackupError(
            f"The target holds {len(held)} tables already ({held[0][0]}.{held[0][1]} is the first): a backup is "
            "restored into an empty database. Name another one with PLUMBLINE_DATABASE_URL or PLUMBLINE_DATA_DIR."
        )


def _refuse_other_rows(note: Note, counted: dict[str, int]) -> None:
    differing = [name for name, n_rows in note.rows.items() if counted.get(name) != n_rows]
    if differing:
        raise BackupError(
            f"After the restoring {', '.join(differing)} has another number of rows than was counted when the backup "
            "was made: do not use this database."
        )
