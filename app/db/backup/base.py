"""Copies of a database's files by pg_basebackup, and the log of its changes (WAL) by which they come forward.

Called by `app.cli.backups`; `app.db.backup.recover` brings them back. They belong to one major version of Postgres.
"""

import os
import subprocess
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg

from app.db.backup.dump import refuse_existing, schema_of
from app.db.backup.note import FILES, Note, note_files, write_note
from app.db.backup.programs import BackupError, complaint, find_program, run, without_password
from app.db.embedded.place import appearing
from app.program.version import release

SLOT = "plumbline_wal"
SEGMENT_SIZE = "SELECT setting::bigint FROM pg_settings WHERE name = 'wal_segment_size'"
MAKING = ("--format=tar", "--gzip", "--wal-method=stream", "--checkpoint=fast", "--manifest-checksums=SHA256")


def make_base(database_url: str, target: Path) -> Note:
    """Write the files of a whole server into a new folder and return the note, without interrupting its users.

    Raises BackupError; then the folder is not there.
    """
    refuse_existing(target)
    with psycopg.connect(database_url, autocommit=True) as connection:
        major = connection.info.server_version // 10_000
        schema = schema_of(connection)
        program = find_program("pg_basebackup", major, exactly=True)
        with appearing(target) as partial:
            command: list[str | Path] = [program, *MAKING, "--no-password", f"--pgdata={partial}"]
            run("The files of the database could not be copied", command, database_url)
            _refuse_tablespaces(partial)
            note = Note(
                kind="base",
                schema_revision=schema,
                release=release(),
                made_at=_now(connection),
                programs=major,
                files=note_files(partial),
                rows={},
            )
            write_note(partial, note)
    return note


def _refuse_tablespaces(partial: Path) -> None:
    others = sorted(path.name for path in partial.iterdir() if path.name not in FILES["base"])
    if others:
        raise BackupError(
            f"The server keeps files in tablespaces of their own ({', '.join(others)}), which this cannot bring back: "
            "make a backup of its rows, without --base."
        )


def _now(connection: psycopg.Connection[Any]) -> datetime:
    now: datetime = connection.execute("SELECT clock_timestamp()").fetchall()[0][0]
    return now


def _empty_cut_segments(target: Path, segment_bytes: int) -> None:
    """Empty segments that a full disk left shorter than their full length: nothing was received into them yet.

    pg_receivewal goes on with a segment that is empty or of full length, and refuses any other for ever.
    """
    for begun in target.glob("*.partial"):
        if 0 < begun.stat().st_size < segment_bytes:
            os.truncate(begun, 0)


def receive_wal(database_url: str, target: Path, wait: Callable[["subprocess.Popen[str]"], int]) -> None:
    """Write every change of a server into a folder as it happens, until `wait` says that it ended.

    It goes on where it ended before: the server keeps what was not received yet (replication slot `plumbline_wal`).
    Raises BackupError.
    """
    with psycopg.connect(database_url) as connection:
        major = connection.info.server_version // 10_000
        schema_of(connection)
        segment_bytes = connection.execute(SEGMENT_SIZE).fetchall()[0][0]
    program = find_program("pg_receivewal", major)
    target.mkdir(parents=True, exist_ok=True)
    _empty_cut_segments(target, segment_bytes)
    command: list[str | Path] = [program, f"--directory={target}", f"--slot={SLOT}", "--no-password"]
    run("The server does not hand out its log", [*command, "--create-slot", "--if-not-exists"], database_url)
    environ = dict(os.environ)
    address = without_password(database_url, environ)
    with subprocess.Popen(  # noqa: S603 - a program of Postgres
        [*command, f"--dbname={address}", "--synchronous", "--no-loop"],
        env=environ | {"LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as receiving:
        status = wait(receiving)
        printed = "" if receiving.stderr is None else receiving.stderr.read()
    if status != 0:
        raise BackupError(f"The log of the database is no longer received: {complaint(printed)}.")
