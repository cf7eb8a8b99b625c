"""Migrations make exactly the tables that the models describe."""

import shutil
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy.exc import DBAPIError

from app.db.engine import make_engine
from app.db.migrate import MIGRATIONS, upgrade
from app.db.models import Base
from tests.cases.databases import as_owner
from tests.cases.running_server import environment
from tests.fixtures import new_database

UPGRADED_WITHIN_S = 60


def test_models_and_migrations_agree(database_url: str) -> None:
    """Nothing is left to generate, the queue's own tables aside; to upgrade a second time does nothing."""
    upgrade(database_url)
    engine = make_engine(database_url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_name": _ours})
        actual = compare_metadata(context, Base.metadata)
    engine.dispose()

    assert actual == []


def test_what_alembic_does_not_compare_agrees_too(database_url: str, postgres_url: str) -> None:
    """Primary keys, checks and defaults: the tables that the models make are those of the revision."""
    with new_database(postgres_url) as of_models:
        engine = make_engine(as_owner(of_models))
        Base.metadata.create_all(engine)
        engine.dispose()

        assert described(of_models) == described(as_owner(database_url))


DESCRIBED = r"""
    SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace
    UNION SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
    UNION SELECT table_name, column_name, concat_ws(' ', udt_name, is_nullable, is_identity,
        regexp_replace(column_default, '''(\d+)''::\w+', '\1'))
    FROM information_schema.columns WHERE table_schema = 'public'
"""


def described(url: str) -> set[tuple[str, ...]]:
    """Return every constraint, index and column of our tables in a database, as text."""
    with psycopg.connect(url) as connection:
        rows = connection.execute(DESCRIBED).fetchall()
    return {row for row in rows if row[0] != "alembic_version"}


def test_every_table_is_a_record_or_is_named_here(database_url: str) -> None:
    """The database refuses to rewrite any but those that say where something stands, and what is made of records."""
    with psycopg.connect(database_url) as connection:
        tables = connection.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND NOT EXISTS"
            " (SELECT 1 FROM pg_trigger WHERE tgrelid = pg_class.oid AND tgname = 'keep_history')"
        ).fetchall()
    rewritten = {
        "notification",
        "delivery",
        "token",
        "invitation",
        "browser_session",
        "rate",
        "try",
        "server_fault",
        "identity",
        "draft_manifest",
        "benchmark",
        "entrant",
        "task",
        "submission",
        "entry",
        "web_process",
        "unshown",
        "standing",
        "entrant_field",
    }

    assert {name for (name,) in tables} == rewritten | {"evidence", "measured", "audit_unsealed", "alembic_version"}


FAILING = """
from alembic import op

revision, down_revision = "{revision}", {before}


def upgrade():
    op.execute("{statement}")
"""
TIMEOUTS = "current_setting('lock_timeout') || ' ' || current_setting('statement_timeout')"


def revisions(folder: Path, *statements: str) -> Path:
    """Write revisions of one statement each, to be run as ours are."""
    (folder / "versions").mkdir()
    shutil.copy(MIGRATIONS / "env.py", folder)
    for at, statement in enumerate(statements):
        before = repr(f"r{at - 1}") if at else None
        source = FAILING.format(revision=f"r{at}", before=before, statement=statement)
        (folder / f"versions/r{at}.py").write_text(source)
    return folder


def test_a_revision_that_fails_takes_none_before_it_back(postgres_url: str, tmp_path: Path) -> None:
    """Every revision is a transaction: the first stays, of the second nothing does."""
    folder = revisions(tmp_path, "CREATE TABLE first ()", "CREATE TABLE second (); SELECT 1 / 0")
    with new_database(postgres_url) as url, psycopg.connect(url) as connection:
        with pytest.raises(DBAPIError):
            _upgrade_to(url, "head", folder)
        elsewhere = connection.execute("SELECT to_regclass('first')::text, to_regclass('second')::text").fetchone()
        reached = connection.execute("SELECT version_num FROM alembic_version").fetchall()

    assert elsewhere == ("first", None)
    assert reached == [("r0",)]


def test_a_revision_has_limits_to_its_waiting_and_its_work(postgres_url: str, tmp_path: Path) -> None:
    """The timeouts hold in every revision, not in the first one only."""
    folder = revisions(tmp_path, f"CREATE TABLE a AS SELECT {TIMEOUTS}", f"CREATE TABLE b AS SELECT {TIMEOUTS}")
    with new_database(postgres_url) as url:
        _upgrade_to(url, "head", folder)
        with psycopg.connect(url) as connection:
            limits = connection.execute("SELECT * FROM a UNION ALL SELECT * FROM b").fetchall()

    assert limits == [("10s 10min",)] * 2


def test_processes_that_start_at_once_migrate_one_after_the_other(postgres_url: str) -> None:
    """Each of them ends well, and the database is migrated once."""
    with new_database(postgres_url) as url:
        environ = environment(Path("unused"), PLUMBLINE_DATABASE_URL=url)
        command = [sys.executable, "-m", "app.cli", "db", "upgrade"]
        started = [subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL) for _ in range(3)]
        codes = [process.wait(UPGRADED_WITHIN_S) for process in started]

    assert codes == [0, 0, 0]


def _upgrade_to(url: str, revision: str, migrations: Path = MIGRATIONS) -> None:
    config = Config()
    config.set_main_option("script_location", str(migrations).replace("%", "%%"))
    engine = make_engine(url)
    try:
        with engine.connect() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, revision)
    finally:
        engine.dispose()


def _ours(name: str | None, kind: str, _parents: object) -> bool:
    return kind != "table" or not (name or "").startswith("procrastinate_")
