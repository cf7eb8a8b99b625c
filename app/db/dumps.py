"""Copies of a database's rows by pg_dump: all of one instant, restored into a database with nothing in it. It can be
restored into any Postgres as new as the one that it was made of.

Why: docs/adr/037-backups.md.
"""

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from pydantic import BaseModel, ConfigDict, ValidationError

from app.db.embedded import appearing, own_programs
from app.db.migrate import refuse_newer
from app.errors import EmbeddedDatabaseError, PlumblineError
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


class FileNote(BaseModel):
    """One file of a copy."""

    model_config = ConfigDict(frozen=True)

    n_bytes: int
    sha256: str


class Note(BaseModel):
    """A copy of a database: a `dump` of its rows.

    `schema_revision` is what the database had, `programs` the major version of Postgres that can read the copy,
    `made_at` the instant that it shows. `rows` counts those of each table at that instant.
    """

    model_config = ConfigDict(frozen=True)

    product: Literal["plumbline"] = "plumbline"
    layout: Literal[1] = 1
    kind: Literal["dump"]
    schema_revision: str
    release: str
    made_at: datetime
    programs: int
    files: Mapping[str, FileNote]
    rows: Mapping[str, int]


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
            note = Note(
                kind="dump",
                schema_revision=schema_of(connection),
                release=release(),
                made_at=made_at,
                programs=major_of(program) or 0,
                files=note_files(partial),
                rows=count_rows(connection),
            )
            run("The dump cannot be read", [program.with_name("pg_restore"), "--list", partial / DUMP])
            write_note(partial, note)
    return note


def refuse_existing(target: Path) -> None:
    """Raise BackupError where a copy would be written over something."""
    if target.exists():
        raise BackupError(f"{target} is there already: name a folder that is not, for it is made.")
    if not target.absolute().parent.is_dir():
        raise BackupError(f"There is no folder {target.absolute().parent} in which {target.name} could be made.")


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


# `backup.json`: what a copy contains, and the digests that prove it complete.
#
# Written last, so that a copy that was cut short has none.

NAME = "backup.json"

BLOCK = 1 << 20

FILES = {"database.dump"}
"""Files that a restore reads: all must be listed, since an unlisted one would not be verified."""


def note_files(folder: Path) -> dict[str, FileNote]:
    """Return the sizes and digests of the files in a folder."""
    return {path.name: _note(path) for path in sorted(folder.iterdir()) if path.name != NAME}


def _note(path: Path) -> FileNote:
    digest = hashlib.sha256()
    with path.open("rb") as opened:
        while block := opened.read(BLOCK):
            digest.update(block)
    return FileNote(n_bytes=path.stat().st_size, sha256=digest.hexdigest())


def write_note(folder: Path, note: Note) -> None:
    """Write the note of a copy, which makes it one."""
    (folder / NAME).write_text(note.model_dump_json(indent=2) + "\n", "utf-8")


def read_note(folder: Path) -> Note:
    """Return the note of a copy.

    Raises BackupError for anything that plumbline did not create.
    """
    try:
        text = (folder / NAME).read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        raise BackupError(
            f"{folder} is not a backup of plumbline: it has no {NAME}, which plumbline db backup writes last."
        ) from None
    except UnicodeDecodeError:
        raise BackupError(f"{folder / NAME} is not the note of a backup of plumbline: it is no text.") from None
    try:
        return Note.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "as a whole"
        raise BackupError(
            f"{folder / NAME} is not the note of a backup that this plumbline knows: {where}: {first['msg']}."
        ) from None


def verify(folder: Path) -> Note:
    """Return the note of a copy whose files are as they were written. Raises BackupError naming all that are not."""
    note = read_note(folder)
    if set(note.files) != FILES:
        raise BackupError(
            f"{folder / NAME} is not the note of a backup that this plumbline knows: it lists "
            f"{', '.join(sorted(note.files)) or 'no file'}, and a {note.kind} is {', '.join(sorted(FILES))}."
        )
    wrong = [name for name, expected in note.files.items() if not _is_whole(folder / name, expected)]
    if wrong:
        raise BackupError(
            f"The backup in {folder} is not whole: {', '.join(wrong)} is missing, cut short or changed since it was "
            "made. Take another copy of it, or another backup."
        )
    return note


def _is_whole(path: Path, expected: FileNote) -> bool:
    return path.is_file() and path.stat().st_size == expected.n_bytes and _note(path) == expected


# The programs of Postgres that make and restore copies: found, and run with one sentence where they fail. The wheel
# brings those of one major version; for a newer server its own must be installed, because no program of Postgres
# copies a server newer than itself.

DEBIAN = Path("/usr/lib/postgresql")


class BackupError(PlumblineError):
    """A copy could not be made, is not whole, or cannot be restored there."""


def find_program(name: str, major: int) -> Path:
    """Return the oldest installed program of this name that is of a major version or newer.

    Raises BackupError, which says what to install.
    """
    versions = [(version, path) for path in _candidates(name) if (version := major_of(path)) is not None]
    suitable = [each for each in versions if each[0] >= major]
    if not suitable:
        seen = ", ".join(sorted({str(version) for version, _ in versions})) or "none"
        raise BackupError(
            f"This needs the program {name} of Postgres {major} or newer, and here is {seen}: install the package "
            f"postgresql-client-{major}."
        )
    return min(suitable)[1]


def _candidates(name: str) -> Iterator[Path]:
    with suppress(EmbeddedDatabaseError):
        # The wheel brings more than one version of Postgres: pginstall/bin, pginstall18/bin.
        yield from sorted(own_programs().parent.parent.glob(f"pginstall*/bin/{name}"))
    if (on_path := shutil.which(name)) is not None:
        yield Path(on_path)
    yield from sorted(DEBIAN.glob(f"*/bin/{name}"))


def major_of(program: Path) -> int | None:
    """Return the major version that a program says it is of, or None where it does not run."""
    try:
        answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)  # noqa: S603
    except OSError:
        return None
    number = re.search(r"\(PostgreSQL\) (\d+)", answer.stdout)
    return None if number is None else int(number[1])


def run(what: str, command: Sequence[str | Path], database_url: str | None = None) -> None:
    """Run a program to its end. Raises BackupError with the first line of its complaint.

    The address of a database becomes its argument `--dbname`, without the password: that is in the environment.
    """
    arguments, environ = [*command], dict(os.environ)
    if database_url is not None:
        arguments.insert(1, f"--dbname={without_password(database_url, environ)}")
    done = subprocess.run(  # noqa: S603 - only programs of Postgres
        arguments, env=environ | {"LC_ALL": "C"}, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise BackupError(f"{what}: {complaint(done.stderr or done.stdout)}.")


def without_password(database_url: str, environ: dict[str, str]) -> str:
    """Return an address as the libraries of Postgres take it, with its password put into the environment."""
    parts = conninfo_to_dict(database_url)
    if (password := parts.pop("password", None)) is not None:
        environ["PGPASSWORD"] = str(password)
    return make_conninfo("", **parts)


def complaint(printed: str) -> str:
    """Return the line of an error in what a program printed."""
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    cause = next((line for line in lines if "error:" in line or "FATAL:" in line), lines[-1] if lines else "no reason")
    return cause.rstrip(".")
