"""Bring a database to the newest schema; called by `plumbline db upgrade`, `plumbline serve` and the tests."""

from pathlib import Path

from alembic import command
from alembic.config import Config

from app.db.engine import make_engine

MIGRATIONS = Path(__file__).resolve().parents[2] / "migrations"


def upgrade(database_url: str) -> None:
    """Apply every missing revision in one transaction. Safe to call from several processes at once."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    engine = make_engine(database_url, pool_size=1)
    try:
        with engine.connect() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    finally:
        engine.dispose()
