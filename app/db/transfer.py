"""Everything that a server knows as a folder of JSON lines, and back: the way out of any version and into any other.

`docs/export-format.md` describes the folder. A line is a row with the names of its columns, so that a column which came
later takes its default, and the order of columns means nothing. What is made of other rows is not written.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from graphlib import TopologicalSorter
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal

import psycopg
from psycopg import sql
from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from app.db.dumps import BLOCK, INSTANT, BackupError, refuse_existing, schema_of
from app.db.embedded import appearing
from app.program.version import release

NAME = "export.json"

MADE_ANEW = frozenset({"alembic_version", "evidence", "measured", "rate", "unshown", "web_process", "browser_session"})
"""Tables that are not written: made of others, or of the moment."""

NO_LONGER = frozenset({"draft_board"})
"""Tables of before 0.1.0 that this version has no place for: drafts of single boards, which nobody had published."""

LINES_AT_ONCE, MOST_BYTES = 500, 16 << 20

TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"

COLUMNS = """
    SELECT attname, attidentity <> '' FROM pg_attribute
    WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""

REFERENCES = """
    SELECT DISTINCT c.conrelid::regclass::text, c.confrelid::regclass::text FROM pg_constraint c
    WHERE c.contype = 'f' AND c.connamespace = 'public'::regnamespace AND c.conrelid <> c.confrelid
"""

Connection = psycopg.Connection[Any]


class ExportedFile(BaseModel):
    """One file of an export."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    n_rows: int
    sha256: str


class Exported(BaseModel):
    """What `export.json` says: which version wrote it, of which instant, and each table's file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    product: Literal["plumbline"] = "plumbline"
    format: Literal[1, 2] = 2
    release: str
    schema_revision: str
    made_at: datetime
    tables: Mapping[Annotated[str, StringConstraints(pattern=r"^[a-z_][a-z0-9_]{0,62}$")], ExportedFile]


def export(database_url: str, folder: Path) -> Exported:
    """Write everything that a database of any version knows into a new folder: all of one instant.

    Raises BackupError; then the folder is not there.
    """
    refuse_existing(folder)
    with psycopg.connect(database_url) as connection:
        connection.execute(INSTANT)
        connection.execute("SET LOCAL timezone = 'UTC'")
        (made_at,) = connection.execute("SELECT clock_timestamp()").fetchall()[0]
        with appearing(folder) as partial:
            tables = [name for (name,) in connection.execute(TABLES).fetchall() if name not in MADE_ANEW]
            note = Exported(
                release=release(),
                schema_revision=schema_of(connection),
                made_at=made_at,
                tables={name: _write(connection, name, partial / f"{name}.jsonl") for name in tables},
            )
            (partial / NAME).write_text(note.model_dump_json(indent=2) + "\n", "utf-8")
    return note


def _write(connection: Connection, table: str, path: Path) -> ExportedFile:
    columns = [name for name, _ in connection.execute(COLUMNS, [f'public."{table}"']).fetchall()]
    query = sql.SQL("SELECT to_json(t)::text FROM public.{} t ORDER BY {}").format(
        sql.Identifier(table), sql.SQL(", ").join(sql.SQL("t.{}").format(sql.Identifier(each)) for each in columns[:4])
    )
    n_rows, digest = 0, sha256()
    with path.open("wb") as file, connection.cursor(f"export_{table}") as cursor:
        cursor.itersize = LINES_AT_ONCE
        for (text,) in cursor.execute(query):
            line = text.encode() + b"\n"
            digest.update(line)
            file.write(line)
            n_rows += 1
    return ExportedFile(n_rows=n_rows, sha256=digest.hexdigest())


def read_note(folder: Path) -> Exported:
    """Return the note of an export whose files are all as they were written.

    Raises BackupError for what plumbline did not write, what is of a newer format, and what was cut or changed.
    """
    try:
        note = Exported.model_validate_json((folder / NAME).read_bytes())
    except OSError:
        raise BackupError(f"{folder} is not an export of plumbline: it has no {NAME}, which is written last.") from None
    except ValidationError as error:
        first = error.errors()[0]
        if first["loc"] == ("product",) and first["type"] == "literal_error":
            raise BackupError(f"{folder} is an export of {first['input']!r}, not of plumbline.") from None
        if first["loc"] == ("format",) and first["type"] == "literal_error":
            raise BackupError(
                f"{folder} is an export of format {first['input']!r}, and this version, {release()}, reads formats 1 "
                "and 2: import it with the version that wrote it or a newer one."
            ) from None
        # What is written there is somebody's, and is shown on a terminal.
        where = ".".join(map(str, first["loc"])).encode("unicode_escape").decode()[:200] or "as a whole"
        raise BackupError(
            f"{folder / NAME} is not the note of an export that this plumbline knows: {where}: {first['msg']}."
        ) from None
    wrong = [name for name, listed in note.tables.items() if _written(folder / f"{name}.jsonl") != listed]
    if wrong:
        raise BackupError(
            f"The export in {folder} is not whole: the file of {', '.join(wrong)} is missing, cut short or changed "
            "since it was made."
        )
    return note


def _written(path: Path) -> ExportedFile | None:
    if not path.is_file():
        return None
    n_rows, digest = 0, sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            n_rows += block.count(b"\n")
            digest.update(block)
    return ExportedFile(n_rows=n_rows, sha256=digest.hexdigest())


def import_folder(folder: Path, database_url: str) -> Exported:
    """Bring an export into a database of this version in which nothing is yet, all or nothing.

    Raises BackupError for an export that is not whole, that has what this version does not know, or whose rows the
    database refuses; and for a database in which something is.
    """
    note = read_note(folder)
    with psycopg.connect(database_url) as connection:
        known = [name for (name,) in connection.execute(TABLES).fetchall()]
        _refuse_unknown(note, known, schema_of(connection))
        _refuse_filled(connection, known)
        try:
            _bring_in(connection, folder, note, known)
        except psycopg.Error as error:
            connection.rollback()
            cause = " ".join(str(error).split())
            raise BackupError(f"Nothing was imported, because the database refuses a row: {cause[:300]}") from None
    return note


def _refuse_unknown(note: Exported, known: Sequence[str], revision: str) -> None:
    """Raise BackupError for an export of a later schema, of unknown tables, and of this schema without one of its own.

    A later schema may keep in the same tables what this version cannot read.
    """
    if _since_release(note.schema_revision) > _since_release(revision):
        raise BackupError(
            f"The export is of plumbline {note.release} and its schema {note.schema_revision}, later than {revision}, "
            f"that of this version, {release()}. Import it with that version or a newer one."
        )
    lacking = sorted(set(known) - MADE_ANEW - set(note.tables)) if note.schema_revision == revision else []
    if lacking:
        raise BackupError(f"The export is not whole: its {NAME} does not list {', '.join(lacking)}.")
    foreign = sorted(set(note.tables) - set(known) - set(EARLIER) - NO_LONGER)
    if foreign:
        raise BackupError(
            f"The export is of plumbline {note.release} and has what this version, {release()}, does not know: "
            f"{', '.join(foreign)}. Import it with that version or a newer one."
        )


def _since_release(revision: str) -> int:
    """Return the number of a revision of 0.1.0 or later, v0002 of 2; 0 of those before it."""
    numbered = re.fullmatch(r"v(\d{1,9})", revision)
    return int(numbered[1]) if numbered else 0


def _refuse_filled(connection: Connection, known: Sequence[str]) -> None:
    for table in known:
        if table not in MADE_ANEW:
            query = sql.SQL("SELECT EXISTS (SELECT FROM public.{})").format(sql.Identifier(table))
            if connection.execute(query).fetchall()[0][0]:
                raise BackupError(
                    f"There is something in the database already ({table} has rows): an export is imported into a new "
                    "one, which plumbline db upgrade makes. Where an import was cut off after its rows were in, "
                    "plumbline db rebuild finishes it."
                )


def _bring_in(connection: Connection, folder: Path, note: Exported, known: Sequence[str]) -> None:
    own = [name for name in known if name not in MADE_ANEW]
    earlier = {table: EARLIER[table] for table in EARLIER if table in note.tables}
    # What these triggers keep is as the export has it: its times, its seals, what nobody could add later.
    _let_triggers(connection, known, "DISABLE")
    for table, (into, _) in earlier.items():
        connection.execute(into)
        _insert(connection, folder, table, ())
    for table in _ordered(connection, own):
        if table in note.tables:
            _insert(connection, folder, table, LATER.get(table, ()))
    for table, columns in LATER.items():
        _fill_in(connection, folder, table, columns)
    for statement in [*(made for _, made in earlier.values()), *MENDED]:
        connection.execute(statement)
    _let_triggers(connection, known, "ENABLE")
    for table in own:
        _count_on(connection, table)


def _let_triggers(connection: Connection, tables: Sequence[str], what: Literal["DISABLE", "ENABLE"]) -> None:
    for table in tables:
        connection.execute(sql.SQL("ALTER TABLE public.{} " + what + " TRIGGER USER").format(sql.Identifier(table)))


LATER: Mapping[str, tuple[str, ...]] = {"benchmark": ("snapshot_id",)}
"""Columns that refer to what is imported after their own table."""

EARLIER: Mapping[str, tuple[str, str]] = {
    # Of before 0.1.0: who stood in a snapshot, a row for each of its entrants.
    "snapshot_entry": (
        "CREATE TEMPORARY TABLE snapshot_entry (snapshot_id bigint, entrant_id integer, submission_id bigint, "
        "task_ids integer[]) ON COMMIT DROP",
        """
        INSERT INTO standing (benchmark_id, entrant_id, submission_id, task_ids, since, until)
        SELECT benchmark_id, entrant_id, submission_id, task_ids, min(stood.number),
            (SELECT min(next.number) FROM snapshot next
             WHERE next.benchmark_id = stood.benchmark_id AND next.number > max(stood.number))
        FROM (SELECT s.benchmark_id, s.number, e.entrant_id, e.submission_id, e.task_ids,
                dense_rank() OVER (PARTITION BY s.benchmark_id ORDER BY s.number)
                    - row_number() OVER (PARTITION BY s.benchmark_id, e.entrant_id, e.submission_id, e.task_ids
                                         ORDER BY s.number) AS run
              FROM pg_temp.snapshot_entry e JOIN snapshot s ON s.id = e.snapshot_id) stood
        GROUP BY benchmark_id, entrant_id, submission_id, task_ids, run
        """,
    ),
}
"""Tables of earlier versions: where their rows are read into, and what is made of them."""

MENDED = (
    # Of before 0.1.0: addresses without their salted digest, and events that no seal was made for.
    "UPDATE audit_event SET address_salt = uuid_send(gen_random_uuid()) "
    "WHERE address IS NOT NULL AND address_salt IS NULL",
    "UPDATE audit_event SET address_digest = sha256(address_salt || convert_to(address, 'UTF8')) "
    "WHERE address IS NOT NULL AND address_digest IS NULL",
    "INSERT INTO audit_unsealed SELECT id FROM audit_event EXCEPT SELECT unnest(events) FROM audit_seal "
    "EXCEPT SELECT event_id FROM audit_unsealed",
)


def _ordered(connection: Connection, tables: Sequence[str]) -> Sequence[str]:
    """Return tables so that each comes after those to which it refers."""
    later = {(table, other) for table in LATER for other in ("snapshot",)}
    needs = {table: set[str]() for table in tables}
    for table, other in connection.execute(REFERENCES).fetchall():
        if table.strip('"') in needs and (table, other) not in later:
            needs[table.strip('"')].add(other.strip('"'))
    return list(TopologicalSorter(needs).static_order())


def _insert(connection: Connection, folder: Path, table: str, without: Sequence[str]) -> None:
    place = sql.Identifier(table) if table in EARLIER else sql.SQL("public.{}").format(sql.Identifier(table))
    query = "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"
    known = {name for (name,) in connection.execute(query, [place.as_string(connection)]).fetchall()}
    for rows, lines in _lines(folder / f"{table}.jsonl"):
        columns = [name for name in rows[0] if name not in without]
        unknown = sorted({name for row in rows for name in row} - known - set(without))
        if unknown:
            raise BackupError(f"The export's {table} has the column {unknown[0]}, which this version does not know.")
        if any(row.keys() != rows[0].keys() for row in rows):
            raise BackupError(f"The rows of the export's {table} do not all have the same columns.")
        listed = sql.SQL(", ").join(map(sql.Identifier, columns))
        statement = sql.SQL(
            "INSERT INTO {place} ({listed}) OVERRIDING SYSTEM VALUE "
            "SELECT {listed} FROM json_populate_recordset(NULL::{place}, %s::json)"
        ).format(place=place, listed=listed)
        connection.execute(statement, [f"[{','.join(lines)}]"])


def _fill_in(connection: Connection, folder: Path, table: str, columns: Sequence[str]) -> None:
    statement = sql.SQL("UPDATE public.{} SET {} = %s WHERE id = %s")
    for rows, _ in _lines(folder / f"{table}.jsonl"):
        for row in rows:
            for column in columns:
                query = statement.format(sql.Identifier(table), sql.Identifier(column))
                connection.execute(query, [row.get(column), row.get("id")])


def _lines(path: Path) -> Iterator[tuple[list[dict[str, Any]], list[str]]]:
    """Yield the rows of a file and their text, some at a time. Raises BackupError for a line that is no row.

    The text is what the database reads: its numbers have more digits than Python's.
    """
    rows, lines, size = list[dict[str, Any]](), list[str](), 0
    with path.open("rb") as file:
        for at, line in enumerate(file, start=1):
            try:
                row = json.loads(line)
                lines.append(line.decode())
            except (ValueError, RecursionError):
                row = None
            if not isinstance(row, dict) or not row:
                raise BackupError(f"Line {at} of {path.name} is no row: expected a JSON object with columns.")
            rows.append(row)
            size += len(line)
            if len(rows) == LINES_AT_ONCE or size > MOST_BYTES:
                yield rows, lines
                rows, lines, size = [], [], 0
    if rows:
        yield rows, lines


def _count_on(connection: Connection, table: str) -> None:
    """Let a table's counters go on after the largest number that was imported."""
    name = f'public."{table}"'
    for column, counts in connection.execute(COLUMNS, [name]).fetchall():
        if counts:
            query = sql.SQL(
                "SELECT setval(pg_get_serial_sequence(%s, %s), max({c})) FROM public.{t} HAVING max({c}) > 0"
            )
            connection.execute(query.format(c=sql.Identifier(column), t=sql.Identifier(table)), [name, column])
