"""Databases of the tests: made empty or as copies of others, and dropped afterwards."""

import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy import make_url

from tests.cases.places import place


def forget_at_a_crash(url: str) -> None:
    """Let a server of tests not wait for the disk: most of the time of a new database, and of every commit, was that.

    What must survive a crash is tested on servers of its own, which `plumbline serve` starts as it always does.
    """
    with psycopg.connect(url, autocommit=True) as connection:
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            connection.execute(f"ALTER SYSTEM SET {setting} = off")
        connection.execute("SELECT pg_reload_conf()")


@contextmanager
def passing_folder() -> Iterator[Path]:
    """Yield the name of a folder, where also an unprivileged user may make one, and remove it afterwards."""
    folder = place() / f"plumbline-tests-{uuid.uuid4().hex[:8]}"
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def new_database(postgres_url: str, template: str = "template1", name: str | None = None) -> Iterator[str]:
    """Make a database, empty or a copy of a template, and drop it afterwards."""
    name = name or f"test_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        # Copied as files, nothing of it is written twice; where the disk is waited for, that costs two checkpoints.
        copies_files = connection.execute("SHOW fsync").fetchone() == ("off",)
        strategy = "STRATEGY file_copy" if copies_files else ""
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}" {strategy}')
    try:
        yield make_url(postgres_url).set(database=name).render_as_string(hide_password=False)
    finally:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            _drop(connection, name)


def _drop(connection: psycopg.Connection[Any], name: str) -> None:
    try:
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
    except psycopg.errors.InsufficientPrivilege:
        # A role without privileges may not end a worker of autovacuum; a drop without force has it end by itself.
        connection.execute(f'DROP DATABASE "{name}"')
