"""Migrations make exactly the tables that the models describe."""

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import text

from app.db.engine import make_engine
from app.db.migrate import MIGRATIONS, upgrade
from app.db.models import Base
from tests.conftest import new_database


def test_models_and_migrations_agree(database_url: str) -> None:
    """Nothing is left to generate, the queue's own tables aside."""
    engine = make_engine(database_url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_name": _ours})
        found = compare_metadata(context, Base.metadata)
    engine.dispose()

    assert found == []


def test_upgrading_twice_is_upgrading_once(database_url: str) -> None:
    """The second time there is nothing to do."""
    upgrade(database_url)


def test_the_benchmark_of_a_registration_becomes_a_binding(postgres_url: str) -> None:
    """With the time and the submitter of the registration; one that was for no benchmark has none."""
    with new_database(postgres_url) as url:
        engine = make_engine(url)
        _upgrade_to(url, "0003")
        with engine.begin() as connection:
            connection.execute(text("INSERT INTO token (name, role, hash) VALUES ('alice', 'submitter', 'x')"))
            connection.execute(
                text(
                    "INSERT INTO prereg (sha256, git_blob_sha1, yaml, form, run_purpose, benchmark, registered_by) "
                    "VALUES ('a', 'a', '', 'axis', 'leaderboard', 'arm', 1), "
                    "('b', 'b', '', 'axis', 'leaderboard', NULL, 1)"
                )
            )
        upgrade(url)
        with engine.connect() as connection:
            bound = connection.execute(text("SELECT prereg_sha256, benchmark, bound_at, bound_by FROM prereg_binding"))
            registered_at = connection.scalar(text("SELECT registered_at FROM prereg WHERE sha256 = 'a'"))
            found = bound.all()
        engine.dispose()

    assert found == [("a", "arm", registered_at, 1)]


def test_tokens_of_one_name_are_told_apart_and_makers_become_stewards(postgres_url: str) -> None:
    """The oldest keeps the name; a number that is a name already is passed over. Nobody loses a benchmark they made."""
    with new_database(postgres_url) as url:
        engine = make_engine(url)
        _upgrade_to(url, "0006")
        with engine.begin() as connection:
            named = ["dup", "Dup (3)", "DUP", "other", "dup"]
            for number, name in enumerate(named):
                order = text("INSERT INTO token (name, role, hash) VALUES (:name, 'steward', :hash)")
                connection.execute(order, {"name": name, "hash": bytes([number])})
            connection.execute(text("INSERT INTO benchmark (slug, created_by) VALUES ('arm', 4)"))
        upgrade(url)
        with engine.connect() as connection:
            names = connection.scalars(text("SELECT name FROM token ORDER BY id")).all()
            grants = connection.execute(text("SELECT benchmark_id, token_id, granted FROM steward_grant")).all()
        engine.dispose()

    assert names == ["dup", "Dup (3)", "DUP (4)", "other", "dup (5)"]
    assert grants == [(1, 4, True)]


def _upgrade_to(url: str, revision: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    engine = make_engine(url)
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
    engine.dispose()


def _ours(name: str | None, kind: str, _parents: object) -> bool:
    return kind != "table" or not (name or "").startswith("procrastinate_")
