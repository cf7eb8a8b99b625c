"""Migrations make exactly the tables that the models describe."""

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from app.db.engine import make_engine
from app.db.migrate import upgrade
from app.db.models import Base


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


def _ours(name: str | None, kind: str, _parents: object) -> bool:
    return kind != "table" or not (name or "").startswith("procrastinate_")
