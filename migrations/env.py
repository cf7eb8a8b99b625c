"""Run the revisions on the connection that `app.db.migrate` hands over, one transaction each, under an advisory lock.

The lock lets several processes start at once: it belongs to the session, so that it lasts over the transactions. The
short lock timeout keeps a revision from queueing behind a long reader and blocking everybody behind itself. The
statement timeout ends one that holds its own locks too long; a revision that must rewrite many rows says
`SET LOCAL statement_timeout` itself.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from alembic import context
from sqlalchemy import Connection, text

from app.db.models import Base

MIGRATION_LOCK = 7_046_029_254_386_353_131
TIMEOUTS = {"lock_timeout": "10s", "statement_timeout": "10min"}


@contextmanager
def alone(connection: Connection) -> Iterator[None]:
    """Hold the lock, for which a process waits as long as another one migrates, and keep the timeouts after it."""
    connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": MIGRATION_LOCK})
    for name, limit in TIMEOUTS.items():
        connection.execute(text("SELECT set_config(:name, :limit, false)"), {"name": name, "limit": limit})
    # Alembic begins a transaction per revision only on a connection that is in none.
    connection.commit()
    try:
        yield
    finally:
        connection.rollback()
        for name in TIMEOUTS:
            connection.execute(text(f"RESET {name}"))
        connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": MIGRATION_LOCK})
        connection.commit()


with alone(context.config.attributes["connection"]):
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=Base.metadata,
        transactional_ddl=True,
        transaction_per_migration=True,
    )
    with context.begin_transaction():
        context.run_migrations()
