"""Snapshots: immutable published states and their tables as they are read, and the history of a board."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from app import cache
from app.boards.provenance import owners_in, with_owners
from app.cache import Cache
from app.db.models import Benchmark, Entrant, Entry, ManifestVersion, Snapshot, SnapshotEntry, SnapshotTable, Token
from app.errors import NotFound
from app.store.measured import EvidenceRef
from app.store.packed_tables import unpack_table
from app.store.retention import refuse_ended
from app.values.table import Cell, Column, ColumnarRows, Table

BASES: Cache[Table] = Cache(32 << 20)
"""The tables that others rest on, and those that do, by their keys."""

BYTES_OF_CELL, BYTES_OF_OBJECT = 8, 40
"""Of a table by columns, and of one whose rows are tuples."""


def find_snapshot(session: Session, benchmark: Benchmark, number: int | None = None) -> Snapshot | None:
    """Return a snapshot by its number, or the current one (None before the first).

    Raises NotFound when there is none of that number, and Gone when its tables are no longer kept.
    """
    if number is None:
        return None if benchmark.snapshot_id is None else session.get(Snapshot, benchmark.snapshot_id)
    query = select(Snapshot).where(Snapshot.benchmark_id == benchmark.id, Snapshot.number == number)
    snapshot = session.scalar(query)
    if snapshot is None:
        raise NotFound(f"{benchmark.slug} has no snapshot {number}.")
    refuse_ended(session, benchmark, snapshot)
    return snapshot


def newest_snapshot(session: Session, benchmark_id: int) -> Snapshot | None:
    """Return the last snapshot that was made, which need not be the current one; None before the first."""
    query = select(Snapshot).where(Snapshot.benchmark_id == benchmark_id)
    return session.scalar(query.order_by(Snapshot.number.desc()).limit(1))


def list_snapshots(session: Session, benchmark_id: int) -> Sequence[Snapshot]:
    """Return every snapshot of a benchmark, the newest first."""
    query = select(Snapshot).where(Snapshot.benchmark_id == benchmark_id)
    return session.scalars(query.order_by(Snapshot.number.desc())).all()


def load_table(session: Session, snapshot_id: int, name: str) -> Table | None:
    """Return a published table, or None when the snapshot has none of that name; owners have their names of today."""
    stored = session.get(SnapshotTable, (snapshot_id, name))
    return None if stored is None else with_names(session, _unpacked(session, stored))


def _unpacked(session: Session, stored: SnapshotTable) -> Table:
    if stored.base_id is None:
        return unpack_table(stored.content)
    return remembered_table(session, stored.snapshot_id, stored.name)


def remembered_table(session: Session, snapshot_id: int, name: str) -> Table:
    """Return a table as it is stored, with what it rests on, and that with what it rests on.

    What is remembered is not read, such as all that this process published last.
    """
    is_it = (SnapshotTable.snapshot_id == snapshot_id, SnapshotTable.name == name)
    about = select(SnapshotTable.base_id, func.sha256(SnapshotTable.content)).where(*is_it)
    base_id, digest = session.execute(about).one()
    key = key_of_table(name, base_id, bytes(digest))
    table = BASES.get(key)
    if table is None:
        content = session.scalars(select(SnapshotTable.content).where(*is_it)).one()
        table = unpack_table(content, None if base_id is None else partial(remembered_table, session, base_id, name))
        keep_base(key, table)
    return table


def key_of_table(name: str, base_id: int | None, digest: bytes) -> bytes:
    """Return what stands for a stored table, by the SHA-256 of its bytes: the same bytes may rest on another table."""
    return cache.digest(name, str(base_id), digest)


def keep_base(key: bytes, table: Table) -> None:
    """Remember a table on which the next may rest."""
    of_cell = BYTES_OF_CELL if isinstance(table.rows, ColumnarRows) else BYTES_OF_OBJECT
    BASES.keep(key, table, of_cell * len(table.rows) * len(table.columns))


MOST_LINKS = 16
"""So many tables are unpacked at most to read one, and may have to be kept for one that is."""

LEAST_BYTES = 4096
"""Where whole tables are smaller, every one is stored whole."""

CHAINS = text("""
    WITH RECURSIVE chain AS (
        SELECT name, base_id, length(content) AS n_bytes FROM snapshot_table WHERE snapshot_id = :snapshot_id
        UNION ALL
        SELECT t.name, t.base_id, length(t.content)
        FROM chain JOIN snapshot_table t ON t.snapshot_id = chain.base_id AND t.name = chain.name
    )
    SELECT name, max(n_bytes) FILTER (WHERE base_id IS NULL) FROM chain GROUP BY name
    HAVING count(*) < :most_links AND max(n_bytes) FILTER (WHERE base_id IS NULL) >= :least_bytes
""")


class TableBase(NamedTuple):
    """A table on which the next of its name may rest, its snapshot, and the bytes of the whole one below it."""

    snapshot_id: int
    table: Table
    n_bytes: int


def find_bases(session: Session, snapshot: Snapshot | None) -> dict[str, TableBase]:
    """Return by name on what the tables of the snapshot after this one may rest: on its own, but for long chains."""
    if snapshot is None:
        return {}
    asked = {"snapshot_id": snapshot.id, "most_links": MOST_LINKS, "least_bytes": LEAST_BYTES}
    return {
        name: TableBase(snapshot.id, remembered_table(session, snapshot.id, name), n_bytes)
        for name, n_bytes in session.execute(CHAINS, asked).all()
    }


def with_names(session: Session, table: Table) -> Table:
    """Return a board whose owners are numbers with their names of today."""
    owners = owners_in(table)
    query = select(Token.id, Token.name).where(Token.id.in_(owners))
    return with_owners(table, dict(session.execute(query).all())) if owners else table


def stored_board(session: Session, snapshot_id: int, board: str) -> dict[str, Table]:
    """Return a board and its further tables by name, its own first, as they are stored: owners by their numbers."""
    kinds = SnapshotTable.name.endswith(f"/{board}", autoescape=True) & ~SnapshotTable.name.startswith("tables/")
    query = select(SnapshotTable).where(SnapshotTable.snapshot_id == snapshot_id, kinds)
    stored = sorted(session.scalars(query), key=lambda row: (row.name != f"leaderboard/{board}", row.name))
    return {each.name: _unpacked(session, each) for each in stored}


def still_stands(session: Session, snapshot_id: int) -> bool:
    """Say whether all evidence of a snapshot still counts, or was only superseded: nothing is withdrawn since."""
    standing = (
        select(Entry.submission_id)
        .where(
            Entry.submission_id == SnapshotEntry.submission_id,
            Entry.entrant_id == SnapshotEntry.entrant_id,
            Entry.state.in_(("current", "superseded")),
        )
        .exists()
    )
    gone = select(SnapshotEntry.submission_id).where(SnapshotEntry.snapshot_id == snapshot_id, ~standing)
    return session.scalar(gone.limit(1)) is None


def table_names(session: Session, snapshot_id: int) -> Sequence[str]:
    """Return the names of a snapshot's tables, in the order of the alphabet."""
    query = select(SnapshotTable.name).where(SnapshotTable.snapshot_id == snapshot_id)
    return session.scalars(query.order_by(SnapshotTable.name)).all()


def load_standings(session: Session, snapshot_id: int) -> dict[str, list[int]]:
    """Return which submissions were each entrant's evidence in a snapshot, the oldest first."""
    query = (
        select(Entrant.name, SnapshotEntry.submission_id)
        .join(Entrant, Entrant.id == SnapshotEntry.entrant_id)
        .where(SnapshotEntry.snapshot_id == snapshot_id)
        .order_by(Entrant.name, SnapshotEntry.submission_id)
    )
    stood: dict[str, list[int]] = {}
    for name, number in session.execute(query):
        stood.setdefault(name, []).append(number)
    return stood


@dataclass(frozen=True)
class SnapshotRef:
    """The evidence of an entrant in a snapshot, and for which of its tasks; None: for all of them."""

    entrant: str
    ref: EvidenceRef


def load_refs(session: Session, snapshot_id: int, entrant: int | None = None) -> list[SnapshotRef]:
    """Return everything that counted in a snapshot, of one entrant or of all, by entrant, the oldest first."""
    query = (
        select(Entrant.name, SnapshotEntry.submission_id, SnapshotEntry.entrant_id, SnapshotEntry.task_ids)
        .join(Entrant, Entrant.id == SnapshotEntry.entrant_id)
        .where(SnapshotEntry.snapshot_id == snapshot_id)
        .order_by(Entrant.name, SnapshotEntry.submission_id)
    )
    if entrant is not None:
        query = query.where(SnapshotEntry.entrant_id == entrant)
    return [
        SnapshotRef(name, EvidenceRef((submission, number), None if tasks is None else tuple(tasks)))
        for name, submission, number, tasks in session.execute(query)
    ]


def manifest_numbers(session: Session, benchmark_id: int) -> dict[int, int]:
    """Return the version of each stored manifest of a benchmark by its id."""
    query = select(ManifestVersion.id, ManifestVersion.version).where(ManifestVersion.benchmark_id == benchmark_id)
    return dict(session.execute(query).all())


def manifest_version_number(session: Session, snapshot: Snapshot) -> int:
    """Return the version of the manifest that a snapshot was computed under."""
    query = select(ManifestVersion.version).where(ManifestVersion.id == snapshot.manifest_version_id)
    return session.scalars(query).one()


# How the top ranks of a board changed from snapshot to snapshot.
#
# No statistics: published ranks, reconstructed backwards from each snapshot's list of changes.

MOST_SNAPSHOTS = 200

FIRST = 10

ONLY_ONE = "There is one snapshot alone: nothing has moved yet."
FIRST_SEEN = "None of these was ranked in an earlier snapshot: nothing has moved yet."


def board_history(session: Session, benchmark: Benchmark, shown: Snapshot | None, board: Table) -> Table:
    """Return the ranks of a snapshot's top entrants, in it and in each earlier one since they entered."""
    listed = [each for each in list_snapshots(session, benchmark.id)
              if shown is not None and each.number <= shown.number][:MOST_SNAPSHOTS]  # fmt: skip
    name = board.name.partition("/")[2]
    rows = [row for entrant, rank in _first(board) for row in walk_back(listed, name, entrant, rank)]
    ordered = sorted(rows, key=lambda row: (int(str(row[0])), int(str(row[3] or 0)), str(row[2])))
    days = sorted(str(row[1])[:10] for row in rows)
    since = f", {' to '.join(dict.fromkeys((days[0], days[-1])))}" if days else ""
    columns = (
        Column("snapshot", f"Snapshot{since}", "integer"),
        Column("published_at", "Published", "time"),
        Column("entrant", "Entrant", "text"),
        Column("rank", "Rank", "integer"),
    )
    several = len({row[0] for row in rows}) > 1
    plot = {"kind": "lines", "x": "snapshot", "y": "rank", "by": "entrant", "falls": True, "direct": "end"}
    seen = f"The first {FIRST} of the board as it is in the last of these snapshots."
    notes = (seen if several else FIRST_SEEN if len(listed) > 1 else ONLY_ONE,)
    title = f"{board.title}: ranks over time"
    return Table(f"history/{name}", title, columns, tuple(ordered), notes, {"plot": plot} if several else {})


def _first(board: Table) -> Iterator[tuple[str, Cell]]:
    if {"rank", "entrant"} <= set(board.column_names()):
        ranked = [record for record in board.records() if isinstance(record["rank"], int)]
        for record in sorted(ranked, key=lambda record: int(str(record["rank"])))[:FIRST]:
            yield str(record["entrant"]), record["rank"]


def walk_back(listed: Sequence[Snapshot], board: str, entrant: str, rank: Cell) -> Iterator[tuple[Cell, ...]]:
    """Yield the rank in each snapshot, the newest first, until the one in which the entrant entered.

    Each row is the number and the time of the snapshot, the entrant and its rank; there is none where it had no rank,
    as on a board that could not be computed yet.
    """
    for snapshot in listed:
        if rank is not None:
            yield snapshot.number, snapshot.published_at.isoformat(), entrant, rank
        own = [change for change in snapshot.changes if change.get("entrant") == entrant]
        if any(change["kind"] == "entered" for change in own):
            return
        moved = [change for change in own if change["kind"] == "rank" and change["board"] == board]
        rank = moved[0]["from"] if moved else rank
