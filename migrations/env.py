"""Run the revisions on the connection that `app.db.migrate` hands over, under an advisory lock.

The lock lets several processes start at once; the short lock timeout keeps a revision from queueing behind
a long reader and blocking everybody behind itself.
"""

from alembic import context
from sqlalchemy import text

from app.db.models import Base

MIGRATION_LOCK = 7_046_029_254_386_353_131

connection = context.config.attributes["connection"]
with connection.begin():
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
    connection.execute(text("SET LOCAL lock_timeout = '10s'"))
    context.configure(connection=connection, target_metadata=Base.metadata, transactional_ddl=True)
    with context.begin_transaction():
        context.run_migrations()
