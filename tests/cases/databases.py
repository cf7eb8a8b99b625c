"""Databases of the tests: made empty or as copies of others, and dropped afterwards."""

import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy import URL, Connection, create_engine, make_url, text

from tests.cases.places import place


def forget_at_a_crash(url: str) -> None:
    """Let a server of tests not wait for the disk: most of the time of a new database, and of every commit, was that.

    What must survive a crash is tested on servers of its own, which `plumbline serve` starts as it always does.
    """
    with psycopg.connect(url, autocommit=True) as connection:
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            connection.execute(f"ALTER SYSTEM SET {setting} = off")
        connection.execute("SELECT pg_reload_conf()")


ROLES: dict[str, URL] = {}
"""The addresses of the server of the tests for its `owner` and its `runtime` role, once there is one."""


def as_runtime(url: str) -> str:
    """Return an address of a database for the role that a server runs as."""
    return _of("runtime", url)


def as_owner(url: str) -> str:
    """Return an address of a database for the owner of its tables, who may set triggers aside."""
    return _of("owner", url)


def _of(role: str, url: str) -> str:
    given = ROLES[role]
    return make_url(url).set(username=given.username, password=given.password).render_as_string(hide_password=False)


def role_to_serve() -> str:
    """Return the name of the role that a server runs as."""
    return str(ROLES["runtime"].username)


def note_roles(owner: str, runtime: str) -> None:
    """Note the addresses of the server of the tests."""
    ROLES.update(owner=make_url(owner), runtime=make_url(runtime))


@contextmanager
def tampering(url: str) -> Iterator[Connection]:
    """Yield a connection of the owner in a transaction in which no trigger stands."""
    engine = create_engine(make_url(as_owner(url)).set(drivername="postgresql+psycopg"))
    try:
        with engine.begin() as connection:
            connection.execute(text("SET LOCAL session_replication_role = replica"))
            yield connection
    finally:
        engine.dispose()


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
