"""Everything: the tables by subject in migrations/initial/*.sql, the history that is never rewritten, the job queue.

As 0.1.0 was released with it, and so what it runs is never another again: tests/db/test_releases.py holds its digest,
and docs/operations.md, "Changing the schema", says how the schema grows. There is no downgrade: before it there is
nothing to go back to.
"""

from collections.abc import Iterator
from pathlib import Path

from alembic import op
from procrastinate.schema import SchemaManager

SUBJECTS = Path(__file__).parent.parent / "initial"

RECORDS = (
    "manifest_version",
    "role_grant",
    "prereg",
    "prereg_binding",
    "prereg_attestation",
    "entrant_transfer",
    "entrant_reservation",
    "entrant_release",
    "submission_event",
    "submission_file",
    "submission_check",
    "submission_table",
    "fingerprint",
    "score",
    "label_set",
    "label_secret",
    "label_part",
    "label_close",
    "label_attempt",
    "label_answer",
    "owner_link",
    "benchmark_change",
    "dispute",
    "dispute_answer",
    "item_set",
    "prediction",
    "snapshot",
    "snapshot_end",
    "snapshot_pin",
    "snapshot_table",
    "audit_seal",
)


# Of a draft, which nobody was shown, these rows may be removed: how each finds its benchmark. The tables of a snapshot
# that has ended may be removed too.
OF_A_DRAFT = {
    "manifest_version": "gone",
    "role_grant": "gone",
    "label_set": "gone",
    "snapshot": "gone",
    "benchmark_change": "gone",
    "snapshot_table": "gone JOIN snapshot s ON s.id = gone.snapshot_id "
    "AND NOT EXISTS (SELECT FROM snapshot_end e WHERE e.snapshot_id = s.id)",
    "item_set": "gone JOIN manifest_version s ON s.id = gone.manifest_version_id",
}


HISTORY = """
    CREATE FUNCTION refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION '% is a record: its rows are never changed or removed', TG_TABLE_NAME
            USING ERRCODE = 'restrict_violation';
    END $$
"""


# What was shown to others is never a draft again, so that nothing of it may be removed after all.
DRAFTS = """
    CREATE FUNCTION keep_shown() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'benchmark % is %: it becomes no draft again, and is not removed', OLD.slug, OLD.visibility
            USING ERRCODE = 'restrict_violation';
    END $$;
    CREATE TRIGGER keep_shown BEFORE UPDATE OF visibility ON benchmark FOR EACH ROW
        WHEN (OLD.visibility <> 'draft' AND NEW.visibility = 'draft') EXECUTE FUNCTION keep_shown();
    CREATE TRIGGER keep_shown_rows BEFORE DELETE ON benchmark FOR EACH ROW
        WHEN (OLD.visibility <> 'draft') EXECUTE FUNCTION keep_shown()
"""


def upgrade() -> None:
    """Run the statements as they stand: to the driver a colon and a percent sign mean nothing without parameters."""
    with op.get_bind().connection.driver_connection.cursor() as cursor:
        for statement in statements():
            cursor.execute(statement)


def statements() -> Iterator[str]:
    """Yield what makes the tables in the order of their files, then what keeps them, then the queue."""
    for subject in sorted(SUBJECTS.glob("*.sql")):
        yield subject.read_text(encoding="utf-8")
    yield from _keep_history()
    yield from _make_queue()


def _keep_history() -> Iterator[str]:
    """Let the database itself refuse to change or remove the rows of what is a record."""
    yield HISTORY
    for table in RECORDS:
        changes = "UPDATE OR TRUNCATE" if table in OF_A_DRAFT else "UPDATE OR DELETE OR TRUNCATE"
        yield (
            f"CREATE TRIGGER keep_history BEFORE {changes} ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting()"
        )
    yield DRAFTS
    for table, rows in OF_A_DRAFT.items():
        yield _let_drafts_go(table, rows)


def _let_drafts_go(table: str, rows: str) -> str:
    """Let the database refuse to remove rows of a table, but for those of a draft."""
    key = "gone.benchmark_id" if rows == "gone" else "s.benchmark_id"
    return f"""
        CREATE FUNCTION keep_{table}() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF EXISTS (SELECT FROM {rows} LEFT JOIN benchmark b ON b.id = {key}
                       WHERE b.visibility IS DISTINCT FROM 'draft') THEN
                RAISE EXCEPTION '{table} is a record: its rows are never changed or removed'
                    USING ERRCODE = 'restrict_violation';
            END IF;
            RETURN NULL;
        END $$;
        CREATE TRIGGER keep_rows AFTER DELETE ON {table} REFERENCING OLD TABLE AS gone
            FOR EACH STATEMENT EXECUTE FUNCTION keep_{table}()
    """  # noqa: S608 - of the names above


def _make_queue() -> Iterator[str]:
    """Run procrastinate's own SQL, that of the installed library, in a schema of its own.

    A later release of it that changes its schema gets a revision that applies the library's own migration files, where
    a database does not have what they add.
    """
    yield "CREATE SCHEMA queue"
    yield "SET LOCAL search_path TO queue"
    yield SchemaManager.get_schema()
    yield "SET LOCAL search_path TO public, queue"


revision = "v0001"
down_revision = None
