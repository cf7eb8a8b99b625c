"""Bring a database to the newest schema, or see that it has it; the roles of owner and server, and their rights.

Why: docs/adr/034-migrations.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from psycopg import sql
from sqlalchemy import Connection, func, select, text
from sqlalchemy.exc import DBAPIError

from app.db.engine import QUEUE_SCHEMA, TransactionLimits, make_engine
from app.errors import PlumblineError
from app.program.bundled import bundled

MIGRATIONS = bundled("migrations")


class SchemaMismatch(PlumblineError):
    """The database has another schema than this program was written for."""


def upgrade(database_url: str, runtime_role: str | None = None) -> None:
    """Apply every missing revision, each in its own transaction. Safe to call from several processes at once.

    `runtime_role` is granted what a server needs, where it is another role than that of the address. Raises
    SchemaMismatch for a database that a newer plumbline has upgraded, one of before the first release, and one that
    the role of the address may not change.
    """
    config = _config()
    engine = make_engine(database_url, pool_size=1)
    try:
        with engine.connect() as connection:
            _refuse_unknown(_script(), _revisions(connection))
            config.attributes["connection"] = connection
            _run(config, connection)
            if runtime_role is not None and runtime_role != connection.scalar(text("SELECT session_user")):
                grant(connection, runtime_role)
            connection.commit()
    finally:
        engine.dispose()


def _run(config: Config, connection: Connection) -> None:
    if set(_revisions(connection)) == set(_script().get_heads()):
        return
    try:
        command.upgrade(config, "head")
    except DBAPIError as error:
        connection.rollback()
        if not is_forbidden(error):
            raise
        role = connection.scalar(text("SELECT session_user"))
        raise SchemaMismatch(
            f"The role {role} may not bring the database to the schema {', '.join(_script().get_heads())}: run "
            "plumbline db upgrade with the address of the owner of the tables in PLUMBLINE_OWNER_DATABASE_URL."
        ) from error


def is_forbidden(error: DBAPIError) -> bool:
    """Say whether the database refused a statement because its role may not."""
    return getattr(error.orig, "sqlstate", None) == "42501"  # insufficient_privilege


def check_schema(database_url: str) -> None:
    """Return when a database has exactly the schema of this program. Raises SchemaMismatch."""
    heads = _revisions_at(database_url)
    _refuse_unknown(_script(), heads)
    newest = _script().get_heads()
    if set(heads) != set(newest):
        raise SchemaMismatch(
            f"The database has {_named(heads)}, and this plumbline needs {_named(newest)}: run plumbline db upgrade."
        )


def refuse_newer(revision: str) -> None:
    """Refuse the schema of a copy that this program does not know. Raises SchemaMismatch."""
    _refuse_unknown(_script(), (revision,))


def refuse_newer_database(database_url: str) -> None:
    """Return when a database has a schema that this program knows, be it an older one. Raises SchemaMismatch."""
    _refuse_unknown(_script(), _revisions_at(database_url))


def _revisions_at(database_url: str) -> tuple[str, ...]:
    engine = make_engine(database_url, pool_size=1)
    try:
        with engine.connect() as connection:
            return _revisions(connection)
    finally:
        engine.dispose()


@dataclass(frozen=True)
class SchemaTrouble:
    """What is wrong with the schema of a database that a process serves. With a newer one it may go on for a while:
    a migration works with the code before it."""

    text: str
    is_newer: bool


def schema_trouble(connection: Connection) -> SchemaTrouble | None:
    """Return what is wrong with the schema of a database, None when it is this program's own. Asked each second."""
    try:
        heads = _revisions(connection)
    except SchemaMismatch as error:
        return SchemaTrouble(str(error), is_newer=False)
    try:
        _refuse_unknown(_script(), heads)
    except SchemaMismatch as error:
        return SchemaTrouble(str(error), is_newer=not any(map(is_unreleased, heads)))
    if set(heads) == set(_script().get_heads()):
        return None
    return SchemaTrouble(f"The database has {_named(heads)}: run plumbline db upgrade.", is_newer=False)


@cache
def _script() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config())


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    return config


def _revisions(connection: Connection) -> tuple[str, ...]:
    try:
        heads = MigrationContext.configure(connection).get_current_heads()
    except DBAPIError as error:
        connection.rollback()
        if not is_forbidden(error):
            raise
        role = connection.scalar(text("SELECT session_user"))
        connection.rollback()
        raise SchemaMismatch(
            f"The role {role} may not read the tables: run plumbline db upgrade with the address of their owner in "
            "PLUMBLINE_OWNER_DATABASE_URL, which grants it what it needs."
        ) from error
    connection.rollback()
    return heads


def _refuse_unknown(script: ScriptDirectory, heads: tuple[str, ...]) -> None:
    known = {each.revision for each in script.walk_revisions()}
    unknown = set(heads) - known
    if any(map(is_unreleased, unknown)):
        raise SchemaMismatch(
            f"The database has {_named(heads)} of a version that was never released, which cannot be upgraded: carry "
            "it over into a new one with plumbline db export and db import (docs/export-format.md, From before 0.1.0), "
            "or run the version that made it."
        )
    if unknown:
        raise SchemaMismatch(
            f"The database has {_named(heads)}, which this plumbline does not know (its newest is "
            f"{', '.join(script.get_heads())}): a newer version upgraded it. Run that version or a later one, or "
            "restore a copy of the database from before."
        )


def _named(revisions: tuple[str, ...] | list[str]) -> str:
    return f"the schema {', '.join(revisions)}" if revisions else "no schema of plumbline"


PREFIX = "unreleased_"

NUMBERED = frozenset({*(f"{number:04}" for number in range(1, 10)), "r0001"})
"""Names that schemas had before the first release, beside those with `PREFIX`; no release takes one of them."""


def is_unreleased(revision: str) -> bool:
    """Say whether a revision's name is one of before the first release."""
    return revision in NUMBERED or revision.startswith(PREFIX)


# What the role that a server runs as may do with each table: read all, add to records, change only what is declared.
#
# Two roles: the *owner* makes the tables (`plumbline db upgrade`), the *runtime* role is that of web processes,
# workers and commands. It owns nothing, so it cannot set a trigger aside, and has no right to rewrite what is a
# record: whoever takes the server's own connection can add to the history, and change nothing of it. `app.db.migrate`
# grants after every migration, `plumbline db check` and /readyz say where a role may more.

GRANT_LOCK = 7_046_029_254_386_353_132


class NoGrant(PlumblineError):
    """A table has no declaration of what may be done with it, or a role cannot be granted it."""


@dataclass(frozen=True)
class Granted:
    """What the runtime role may do with a table beside reading it: add rows, change these columns, remove rows.

    Where rows are added to a record, the database itself fills what it has a clock, a counter or chance for.
    """

    adds: bool = True
    changes: tuple[str, ...] = ()
    removes: bool = False


READ = Granted(adds=False)

RECORD = Granted()

# Triggers of the owner let go only what belongs to a draft (migrations/versions/0001_initial.py).
OF_A_DRAFT = Granted(removes=True)

GRANTED: Mapping[str, Granted] = {
    "alembic_version": READ,
    "audit_event": Granted(changes=("address", "address_salt")),
    "audit_seal": RECORD,
    "audit_unsealed": Granted(adds=False, removes=True),
    "benchmark": Granted(
        changes=(
            "data_version", "published_version", "change_version", "boards_version", "snapshot_id", "publish_error",
            "publish_tries", "publish_retry_at", "visibility",
        ),
        removes=True,
    ),
    "benchmark_change": OF_A_DRAFT,
    "browser_session": Granted(changes=("proved_at", "used_at", "expires_at", "ended_at")),
    "delivery": Granted(changes=("due_at", "tries", "told_at", "last_error"), removes=True),
    "dispute": RECORD,
    "dispute_answer": RECORD,
    "draft_manifest": Granted(changes=("yaml", "put_by", "put_at"), removes=True),
    "entrant": Granted(changes=("owner_id",)),
    "entrant_field": Granted(changes=("value",)),
    "entrant_release": RECORD,
    "entrant_reservation": RECORD,
    "entrant_transfer": RECORD,
    "entry": Granted(changes=("state", "superseded_by", "task_ids")),
    "evidence": RECORD,
    "fingerprint": RECORD,
    "identity": Granted(removes=True),
    "invitation": Granted(changes=("revoked_at", "used_at", "token_id"), removes=True),
    "item_set": OF_A_DRAFT,
    "label_answer": RECORD,
    "label_attempt": RECORD,
    "label_close": RECORD,
    "label_part": RECORD,
    "label_secret": RECORD,
    "label_set": OF_A_DRAFT,
    "manifest_version": OF_A_DRAFT,
    "measured": RECORD,
    "notification": Granted(changes=("address", "confirmed_at", "ended_at", "ended_because"), removes=True),
    "owner_link": RECORD,
    "prediction": RECORD,
    "prereg": RECORD,
    "prereg_attestation": RECORD,
    "prereg_binding": RECORD,
    "rate": Granted(changes=("used_until",), removes=True),
    "role_grant": OF_A_DRAFT,
    "score": RECORD,
    "server_fault": Granted(removes=True),
    "snapshot": OF_A_DRAFT,
    "snapshot_end": RECORD,
    "snapshot_pin": RECORD,
    "snapshot_table": OF_A_DRAFT,
    "standing": Granted(changes=("until",)),
    "submission": Granted(changes=("status", "description", "evaluation_tries", "evaluation_retry_at")),
    "submission_check": RECORD,
    "submission_event": RECORD,
    "submission_file": RECORD,
    "submission_table": RECORD,
    "task": Granted(changes=("stratum",), removes=True),
    "token": Granted(
        changes=("name", "role", "hash", "revoked_at", "expires_at", "used_at", "former_hash", "former_until"),
    ),
    "try": Granted(removes=True),
    "unshown": Granted(changes=("boards_version",), removes=True),
    "web_process": Granted(changes=("seen_at",), removes=True),
}  # fmt: skip
"""By table; `tests/db/test_grants.py` names a table that is not here. The queue's own are all the runtime role's."""

OF_THE_DATABASE = ("clock_timestamp()", "now()", "uuid_send(gen_random_uuid())")
"""Defaults that nobody but the database fills in a record: a row cannot be dated back, and its salt not chosen."""

COLUMNS = text("""
    SELECT t.relname AS table, a.attname AS column,
        a.attidentity <> '' OR coalesce(pg_get_expr(d.adbin, d.adrelid) = ANY(:of_the_database), false) AS is_filled,
        has_column_privilege(CAST(:role AS name), t.oid, a.attnum, 'SELECT') AS reads,
        has_column_privilege(CAST(:role AS name), t.oid, a.attnum, 'INSERT') AS adds,
        has_column_privilege(CAST(:role AS name), t.oid, a.attnum, 'UPDATE') AS changes,
        has_table_privilege(CAST(:role AS name), t.oid, 'DELETE') AS removes,
        has_table_privilege(CAST(:role AS name), t.oid, 'TRUNCATE, TRIGGER') AS rules
    FROM pg_class t
    JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef d ON d.adrelid = t.oid AND d.adnum = a.attnum
    WHERE t.relkind IN ('r', 'p') AND t.relnamespace = 'public'::regnamespace
    ORDER BY t.relname, a.attnum
""")

POWERS = text("""
    SELECT mighty.rolname, mighty.rolsuper,
        mighty.rolname IN ('pg_execute_server_program', 'pg_write_server_files', 'pg_write_all_data') AS is_of_server,
        EXISTS (SELECT FROM pg_class t WHERE t.relowner = mighty.oid AND t.relkind IN ('r', 'p')
                AND t.relnamespace IN ('public'::regnamespace, to_regnamespace(:queue))) AS owns,
        mighty.rolcreaterole AND current_setting('server_version_num')::int < 160000 AS makes_roles
    FROM pg_roles mighty WHERE pg_has_role(CAST(:role AS name), mighty.oid, 'MEMBER')
""")


def grant(connection: Connection, role: str) -> None:
    """Give a role what the runtime role needs and nothing else, unless it has that. For the owner of the tables.

    Raises NoGrant for a role that is not there, and for a table of which nothing is declared.
    """
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": GRANT_LOCK})
    if connection.scalar(text("SELECT count(*) FROM pg_roles WHERE rolname = :role"), {"role": role}) != 1:
        raise NoGrant(
            f"There is no role {role} to serve with: make it, CREATE ROLE {role} LOGIN PASSWORD '…', or name another "
            "in PLUMBLINE_DATABASE_URL."
        )
    if not powers(connection, role) and any(differences(connection, role)):
        cursor: Any = connection.connection.driver_connection
        for statement in _statements(connection, role):
            cursor.execute(statement)


def _statements(connection: Connection, role: str) -> Iterator[sql.Composable]:
    to, queue = sql.Identifier(role), sql.Identifier(QUEUE_SCHEMA)
    for line in (
        "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
        "REVOKE ALL ON ALL TABLES IN SCHEMA public, {queue} FROM {to}",
        "REVOKE ALL ON ALL SEQUENCES IN SCHEMA public, {queue} FROM {to}",
        "GRANT USAGE ON SCHEMA public, {queue} TO {to}",
        "GRANT SELECT ON ALL TABLES IN SCHEMA public TO {to}",
        # For a copy by pg_dump; a counter that is a column's identity needs no right to be counted on.
        "GRANT SELECT ON ALL SEQUENCES IN SCHEMA public TO {to}",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {queue} TO {to}",
        "GRANT SELECT, USAGE ON ALL SEQUENCES IN SCHEMA {queue} TO {to}",
    ):
        yield sql.SQL(line).format(to=to, queue=queue)
    for table, columns in _columns(connection, role).items():
        declared, of = _declared(table), sql.Identifier(table)
        added = [each.column for each in columns if declared.adds and not _is_databases(declared, each)]
        for right, names in (("INSERT", added), ("UPDATE", declared.changes)):
            if names:
                listed = sql.SQL(", ").join(map(sql.Identifier, names))
                yield sql.SQL("GRANT " + right + " ({}) ON {} TO {}").format(listed, of, to)
        if declared.removes:
            yield sql.SQL("GRANT DELETE ON {} TO {}").format(of, to)


def differences(connection: Connection, role: str) -> Iterator[str]:
    """Yield what a role may that it should not, or may not that it must, a sentence for each right of a table."""
    for table, columns in _columns(connection, role).items():
        declared = _declared(table)
        may: list[tuple[str, bool, bool]] = []
        for each in columns:
            wanted = (True, declared.adds and not _is_databases(declared, each), each.column in declared.changes)
            may += [
                (f"{verb} {table}.{each.column}", actual, right)
                for verb, actual, right in zip(
                    ("read", "add", "change"), (each.reads, each.adds, each.changes), wanted, strict=True
                )
            ]
        may += [(f"remove rows of {table}", columns[0].removes, declared.removes)]
        may += [(f"truncate {table} or make triggers on it", columns[0].rules, False)]
        for what, actual, right in may:
            if actual != right:
                yield f"{role} {'may' if actual else 'may not'} {what}"


def powers(connection: Connection, role: str) -> Sequence[str]:
    """Return by which powers a role could rewrite records whatever it was granted, a phrase for each."""
    found = []
    for name, is_super, is_of_server, owns, makes_roles in connection.execute(
        POWERS, {"role": role, "queue": QUEUE_SCHEMA}
    ):
        as_whom = "" if name == role else f" as a member of {name}"
        found += [f"is a superuser{as_whom}"] if is_super else []
        found += [f"owns the tables{as_whom}"] if owns and not is_super else []
        found += [f"writes beside the tables' rights{as_whom}"] if is_of_server and as_whom else []
        found += [f"may make itself a member of any role{as_whom}"] if makes_roles and not is_super else []
    return found


CLOCK_S = 60.0
"""Clocks of two machines that are set by the network differ by less than a second."""


def clock_ahead_s(connection: Connection) -> float:
    """Return by how much the database's clock is before this machine's; negative: behind."""
    now: datetime = connection.execute(select(func.clock_timestamp())).scalar_one()
    return (now - datetime.now(UTC)).total_seconds()


def clock_trouble(ahead_s: float) -> str | None:
    """Say that the database's clock is not this machine's, of which it is ahead; None where they agree."""
    if abs(ahead_s) < CLOCK_S:
        return None
    return (
        f"The database's clock is {timedelta(seconds=round(abs(ahead_s)))} {'ahead of' if ahead_s > 0 else 'behind'} "
        "this machine's. What is stored is dated by the database's: set right whichever is wrong."
    )


def can_rewrite(connection: Connection) -> str | None:
    """Return a sentence where the role of a connection could rewrite records, None where Postgres refuses it."""
    role = str(connection.scalar(text("SELECT session_user")))
    phrases = powers(connection, role)
    if not phrases:
        phrases = [each.removeprefix(f"{role} ") for each in differences(connection, role) if " may not " not in each]
    if not phrases:
        return None
    more = f" and {len(phrases) - 1} more" if len(phrases) > 1 else ""
    return (
        f"The role {role} {phrases[0]}{more}, so it could rewrite the history: serve with a role that owns nothing "
        "(PLUMBLINE_DATABASE_URL) and migrate with the owner (PLUMBLINE_OWNER_DATABASE_URL, plumbline db upgrade)."
    )


def _columns(connection: Connection, role: str) -> Mapping[str, Sequence[Any]]:
    tables: dict[str, list[Any]] = {}
    for row in connection.execute(COLUMNS, {"role": role, "of_the_database": list(OF_THE_DATABASE)}):
        tables.setdefault(row.table, []).append(row)
    return tables


def _declared(table: str) -> Granted:
    if table not in GRANTED:
        raise NoGrant(f"Nothing says what the server's role may do with the table {table}: add it to GRANTED.")
    return GRANTED[table]


def _is_databases(declared: Granted, column: Any) -> bool:
    """Say whether only the database fills a column: in a record each that it can, elsewhere none but counters."""
    return bool(column.is_filled) and (declared in (RECORD, OF_A_DRAFT) or column.table == "audit_event")


# Whether a database takes writes now, and if not, who holds which table. For `/readyz` and `plumbline db check`.
#
# A forgotten `LOCK TABLE`, a `VACUUM FULL` or a migration that is stuck lets a database answer every question, while
# nothing can be stored.

TRYING = TransactionLimits(lock_s=0.8, statement_s=1.5, idle_s=10)
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
