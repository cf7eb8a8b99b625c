"""What the role that a server runs as may do with each table: read all, add to records, change only what is declared.

Two roles: the *owner* makes the tables (`plumbline db upgrade`), the *runtime* role is that of web processes, workers
and commands. It owns nothing, so it cannot set a trigger aside, and has no right to rewrite what is a record: whoever
takes the server's own connection can add to the history, and change nothing of it. `app.db.migrate` grants after every
migration, `plumbline db check` and /readyz say where a role may more.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import sql
from sqlalchemy import Connection, text

from app.db.engine import QUEUE_SCHEMA
from app.errors import PlumblineError

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
    "draft_board": Granted(changes=("yaml", "put_by", "put_at"), removes=True),
    "entrant": Granted(changes=("owner_id",)),
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
    "snapshot_entry": RECORD,
    "snapshot_table": OF_A_DRAFT,
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
