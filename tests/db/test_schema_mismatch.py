"""A database whose schema is not this program's is refused in one sentence, by every command."""

import psycopg
import pytest

from app.db.migrate import check_schema
from tests.cases.databases import as_owner
from tests.cases.offline import plumbline
from tests.fixtures import new_database


@pytest.fixture
def newer(database_url: str) -> str:
    """A database that a newer plumbline has upgraded."""
    with psycopg.connect(as_owner(database_url), autocommit=True) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    return database_url


@pytest.mark.parametrize(
    "command",
    [["serve"], ["worker"], ["db", "upgrade"], ["db", "check"], ["token", "list"], ["token", "create", "me"]],
)
def test_a_newer_schema_is_told_in_one_sentence(newer: str, command: list[str]) -> None:
    """Which schema was found and what can be done, and no traceback; nothing is started."""
    done = plumbline(*command, PLUMBLINE_DATABASE_URL=newer, PLUMBLINE_PORT="0")

    assert done.returncode == 2
    assert "Error: The database has the schema 9999, which this plumbline does not know" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("revision", "command"),
    [
        ("0001", ["serve"]),
        ("0009", ["worker"]),
        ("r0001", ["serve"]),
        ("r0001", ["db", "upgrade"]),
        ("unreleased_0123456789abcdef", ["db", "check"]),
    ],
)
def test_a_schema_of_before_the_first_release_is_carried_over(
    database_url: str, revision: str, command: list[str]
) -> None:
    """One sentence says so; it is taken neither for the schema of a newer version nor for our own.

    `r0001` was the name of the one revision whatever it held: a folder of an earlier state
    was served, and answered 500.
    """
    with psycopg.connect(as_owner(database_url), autocommit=True) as connection:
        connection.execute("UPDATE alembic_version SET version_num = %s", [revision])
    done = plumbline(*command, PLUMBLINE_DATABASE_URL=database_url, PLUMBLINE_PORT="0")

    assert done.returncode == 2
    assert f"Error: The database has the schema {revision} of a version that was never released" in done.stderr
    assert "plumbline db export and db import" in done.stderr
    assert "newer" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", [["worker"], ["db", "check"]])
def test_a_database_that_was_not_migrated_is_told_with_what_to_run(postgres_url: str, command: list[str]) -> None:
    """A worker does not start on tables that are not there."""
    with new_database(postgres_url) as url:
        done = plumbline(*command, PLUMBLINE_DATABASE_URL=url)

    assert done.returncode == 2
    assert "The database has no schema of plumbline" in done.stderr
    assert "run plumbline db upgrade" in done.stderr


def test_the_programs_own_schema_is_fine(database_url: str) -> None:
    """Nothing is said of it."""
    check_schema(database_url)
    done = plumbline("db", "check", PLUMBLINE_DATABASE_URL=database_url)

    assert (done.returncode, done.stderr) == (0, "")
