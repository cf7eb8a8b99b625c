"""Whether a database takes writes now, and if not, who holds which table. For `/readyz` and `plumbline db check`.

A forgotten `LOCK TABLE`, a `VACUUM FULL` or a migration that is stuck lets a database answer every question, while
nothing can be stored.
"""

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from app.db.engine import QUEUE_SCHEMA, Lane

TRYING = Lane(lock_s=0.8, statement_s=1.5, idle_s=10)
"""Less than a second for a lock: then the database looks for deadlocks, and nothing of ours should be in one."""
LATE = ("55P03", "57014")
OURS = f"relnamespace IN ('public'::regnamespace, '{QUEUE_SCHEMA}'::regnamespace)"
# The role that serves may write some columns only of many a table, and LOCK none of these: to plan an INSERT takes the
# same lock.
PLANNED = text(
    "SELECT string_agg(format('EXPLAIN INSERT INTO %s (%I) SELECT %I FROM %s', "  # noqa: S608 - a constant
    "oid::regclass, attname, attname, "
    "oid::regclass), '; ' ORDER BY oid) FROM pg_class, LATERAL (SELECT attname FROM pg_attribute WHERE attrelid = oid "
    "AND attnum > 0 AND NOT attisdropped AND attidentity = '' AND has_column_privilege(oid, attnum, 'INSERT') "
    f"ORDER BY attnum LIMIT 1) AS written WHERE relkind IN ('r', 'p') AND {OURS}"
)
WRITE = text("INSERT INTO public.web_process (id, seen_at) VALUES (gen_random_uuid()::text, '-infinity')")
HOLDER = text(
    "SELECT relname, pid, mode, coalesce(nullif(application_name, ''), 'unnamed'), "  # noqa: S608 - a constant
    "extract(epoch FROM clock_timestamp() - xact_start) "
    "FROM pg_locks JOIN pg_class ON pg_class.oid = relation LEFT JOIN pg_stat_activity USING (pid) "
    "WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND granted "
    "AND mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock') "
    f"AND relkind IN ('r', 'p') AND {OURS} AND pid <> pg_backend_pid() ORDER BY xact_start LIMIT 1"
)


def why_unwritable(connection: Connection) -> str | None:
    """Return in one sentence why nothing can be written to any table of ours; None where it can.

    Takes the lock of a writer on every table, writes a row, and rolls all of it back. Raises what the database raises
    for other reasons than that something else holds a table.
    """
    try:
        connection.execute(text(TRYING.begin()))
        connection.exec_driver_sql(str(connection.scalar(PLANNED)))
        connection.execute(WRITE)
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) not in LATE:
            raise
        connection.rollback()
        return _describe(connection)
    finally:
        connection.rollback()
    return None


def _describe(connection: Connection) -> str:
    connection.execute(text(TRYING.begin()))
    held = connection.execute(HOLDER).first()
    if held is None:
        return "The database answers, but was not able to write within a second."
    table, pid, mode, program, since_s = held
    lasting = "" if since_s is None else f" for {since_s:.0f} s"
    return (
        f"The database answers, but takes no writes: session {pid} ({program}) has held the table {table} "
        f"({mode}){lasting}. SELECT pg_terminate_backend({pid}) ends it."
    )
