"""The role that serves may add to the history and change nothing of it; what it may is declared table by table."""

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import text

from app.db.engine import make_engine
from app.db.migrate import GRANTED, NoGrant, SchemaMismatch, can_rewrite, differences, grant, powers, upgrade
from app.db.models import Base
from tests.cases.databases import as_owner, as_runtime, role_to_serve
from tests.fixtures import new_database

RECORDS = sorted(name for name, granted in GRANTED.items() if not granted.changes)


def test_every_table_has_its_grants_declared() -> None:
    """Whoever adds a table says in app/db/migrate.py what the server may do with it."""
    undeclared = sorted(set(Base.metadata.tables) - set(GRANTED))
    gone = sorted(set(GRANTED) - set(Base.metadata.tables) - {"alembic_version"})

    assert not undeclared, f"say in GRANTED of app/db/migrate.py what the server's role may do with: {undeclared}"
    assert not gone, f"GRANTED of app/db/migrate.py still names: {gone}"
    tables = Base.metadata.tables
    assert [
        f"{name}.{column}"
        for name, granted in GRANTED.items()
        for column in granted.changes
        if column not in tables[name].columns
    ] == []


def test_the_role_that_serves_has_exactly_its_grants(database_url: str) -> None:
    """No right too many and none too few, no power beside them, and nothing to warn of; the owner is warned of.

    A table whose rows the owner's triggers refuse to change has no column that the server's role may change.
    """
    with psycopg.connect(database_url) as connection:
        kept = connection.execute(
            "SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname = 'keep_history' AND tgrelid <> "
            "'audit_event'::regclass"
        ).fetchall()

    assert [name for (name,) in kept if GRANTED[name.strip('"')].changes] == []
    engine = make_engine(database_url)
    with engine.connect() as connection:
        assert list(differences(connection, role_to_serve())) == []
        assert powers(connection, role_to_serve()) == []
        assert can_rewrite(connection) is None
    engine.dispose()
    engine = make_engine(as_owner(database_url))
    with engine.connect() as connection:
        warning = can_rewrite(connection)
    engine.dispose()

    assert warning is not None
    assert "PLUMBLINE_OWNER_DATABASE_URL" in warning


REWRITING = (
    "ALTER TABLE audit_event DISABLE TRIGGER ALL",
    "SET session_replication_role = replica",
    "UPDATE audit_event SET token_id = 3",
    "DELETE FROM audit_event",
    "TRUNCATE audit_event",
    "DROP TRIGGER keep_history ON audit_event",
    "CREATE OR REPLACE FUNCTION refuse_tampering() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
    "CREATE FUNCTION public.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "INSERT INTO audit_event (action, subject, at) VALUES ('a', 'b', '2020-01-01')",
    "INSERT INTO audit_event (action, subject, salt) VALUES ('a', 'b', '\\x00')",
    "INSERT INTO audit_event (id, action, subject) OVERRIDING SYSTEM VALUE VALUES (5, 'a', 'b')",
    "INSERT INTO audit_unsealed VALUES (1)",
    "UPDATE audit_seal SET digest = ''",
    "DELETE FROM audit_seal",
    "UPDATE submission SET received_at = now()",
    "UPDATE submission SET digest = ''",
    "INSERT INTO submission_event (submission_id, status, reason, at) VALUES (1, 'a', 'b', '2020-01-01')",
    "UPDATE alembic_version SET version_num = 'x'",
    "SELECT setval('audit_event_id_seq', 1)",
    "SET ROLE plumbline_owner",
    "CREATE ROLE another SUPERUSER",
    "COPY token TO PROGRAM 'cat'",
    "SELECT pg_read_file('plumbline_owner.password')",
)


def test_the_role_that_serves_rewrites_nothing(database_url: str) -> None:
    """Postgres itself refuses it, whatever triggers say; of every record no column is updated, and none is emptied."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        for statement in REWRITING:
            with pytest.raises(psycopg.Error) as refused:
                connection.execute(statement)
            # insufficient_privilege, generated_always
            assert refused.value.sqlstate in ("42501", "428C9"), statement
        columns = "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND attidentity = ''"
        for table in RECORDS:
            column = connection.execute(columns, [f'public."{table}"']).fetchall()[0][0]
            for pattern in ("UPDATE {0} SET {1} = {1}", "TRUNCATE {0} CASCADE"):
                change = sql.SQL(pattern).format(sql.Identifier(table), sql.Identifier(column))
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(change)


def test_what_was_shown_becomes_no_draft_again(database_url: str) -> None:
    """Else its snapshots and manifests could be removed as a draft's are."""
    with psycopg.connect(database_url) as connection:
        connection.execute("INSERT INTO token (name, role, hash) VALUES ('t', 'admin', 'h')")
        connection.execute("INSERT INTO benchmark (slug, created_by) SELECT 'shown', id FROM token")
        with pytest.raises(psycopg.errors.RestrictViolation), connection.transaction():
            connection.execute("UPDATE benchmark SET visibility = 'draft'")
        with pytest.raises(psycopg.errors.RestrictViolation), connection.transaction():
            connection.execute("DELETE FROM benchmark")


def test_a_right_too_many_is_told_and_taken_back(database_url: str) -> None:
    """What somebody granted by hand is warned of until the next migration takes it back."""
    owner = as_owner(database_url)
    engine = make_engine(owner)
    with engine.begin() as connection:
        connection.execute(text(f"GRANT UPDATE (reason) ON submission_event TO {role_to_serve()}"))
        assert list(differences(connection, role_to_serve())) == [
            f"{role_to_serve()} may change submission_event.reason"
        ]
    upgrade(owner, role_to_serve())
    with engine.begin() as connection:
        assert list(differences(connection, role_to_serve())) == []
    engine.dispose()


def test_a_role_that_is_not_there_is_named(database_url: str) -> None:
    """The sentence says how to make it."""
    engine = make_engine(as_owner(database_url))
    with engine.connect() as connection, pytest.raises(NoGrant, match="CREATE ROLE nobody_here LOGIN"):
        grant(connection, "nobody_here")
    engine.dispose()


def test_the_role_that_serves_does_not_migrate(postgres_url: str) -> None:
    """It is told who does."""
    with new_database(postgres_url) as url:
        with pytest.raises(SchemaMismatch, match="PLUMBLINE_OWNER_DATABASE_URL"):
            upgrade(as_runtime(url))
        upgrade(url)
        with pytest.raises(SchemaMismatch, match="grants it what it needs"):
            upgrade(as_runtime(url))
        upgrade(url, role_to_serve())
        upgrade(as_runtime(url))
