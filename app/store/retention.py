"""Which snapshots are kept and which end, and how many bytes a benchmark takes and will take.

A snapshot that ends loses its tables; its number, digests, changes and submissions stay. The database itself refuses
to end one that is pinned or shown (migrations/initial/9_standings.sql).

Why: docs/adr/049-snapshots-that-end.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

from sqlalchemy import func, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from app.db.models import Benchmark, Snapshot, SnapshotEnd, SnapshotPin
from app.errors import Gone, TooManyRequests
from app.store import benchmark_rows

CITED = "Somebody asked how to cite it."

MOST_CITED = 20
"""Snapshots of a benchmark that become cited in a day, at most: otherwise anybody could keep all of them."""


def refuse_ended(session: Session, benchmark: Benchmark, snapshot: Snapshot) -> None:
    """Raise Gone for a snapshot whose tables are no longer kept, with since when and why."""
    end = session.get(SnapshotEnd, snapshot.id)
    if end is not None:
        raise Gone(
            f"Snapshot {snapshot.number} of {benchmark.slug}, published on {snapshot.published_at:%Y-%m-%d}, is gone "
            f"since {end.at:%Y-%m-%d}: {end.reason}"
        )


def pin(session: Session, benchmark: Benchmark, snapshot: Snapshot, reason: str) -> None:
    """Keep a snapshot for ever; pinning it again changes nothing. Raises Gone for one that has ended."""
    refuse_ended(session, benchmark, snapshot)
    session.execute(insert(SnapshotPin).values(snapshot_id=snapshot.id, reason=reason).on_conflict_do_nothing())


def cite(session: Session, benchmark: Benchmark, snapshot: Snapshot) -> None:
    """Keep a snapshot for ever because somebody cites it. Raises Gone, and TooManyRequests beyond MOST_CITED a day."""
    refuse_ended(session, benchmark, snapshot)
    if session.get(SnapshotPin, snapshot.id) is not None:
        return
    of_benchmark = select(func.count()).select_from(SnapshotPin).join(Snapshot)
    lately = (SnapshotPin.reason == CITED, SnapshotPin.at > func.clock_timestamp() - timedelta(days=1))
    n_lately = session.scalar(of_benchmark.where(Snapshot.benchmark_id == benchmark.id, *lately)) or 0
    if n_lately >= MOST_CITED:
        raise TooManyRequests(
            f"{n_lately} other snapshots of {benchmark.slug} were cited for the first time in the last day, and no "
            "more are kept for ever in a day. Those that are cited already can be cited now; who runs the server can "
            "keep this one, too (plumbline db pin).",
            3600,
        )
    pin(session, benchmark, snapshot, CITED)


# Of each benchmark stay what is shown, what was published since the last snapshot without a fault (boards that could
# not be computed are taken from there), the first and the last of each day, and what is pinned.

ENDING = text("""
    WITH placed AS (
        SELECT s.id, s.benchmark_id, s.number, s.published_at,
            row_number() OVER (day ORDER BY s.number) AS from_first,
            row_number() OVER (day ORDER BY s.number DESC) AS from_last,
            max(s.number) FILTER (WHERE NOT s.is_faulty) OVER (PARTITION BY s.benchmark_id) AS newest_sound
        FROM snapshot s
        WINDOW day AS (PARTITION BY s.benchmark_id, (s.published_at AT TIME ZONE 'UTC')::date)
    )
    SELECT p.id, b.slug, p.number, p.published_at,
        (SELECT sum(length(t.content)) FROM snapshot_table t WHERE t.snapshot_id = p.id) AS n_bytes
    FROM placed p JOIN benchmark b ON b.id = p.benchmark_id
    WHERE p.published_at < clock_timestamp() - make_interval(days => :days)
        AND p.from_first > 1 AND p.from_last > 1 AND p.number < p.newest_sound
        AND p.id IS DISTINCT FROM b.snapshot_id
        AND NOT EXISTS (SELECT FROM snapshot_pin WHERE snapshot_id = p.id)
        AND NOT EXISTS (SELECT FROM snapshot_end WHERE snapshot_id = p.id)
    ORDER BY b.slug, p.number LIMIT :most
""")

# A table on which one that is kept rests, itself or through others, stays until that one has ended too.
FREED = """
    WITH RECURSIVE ended AS (SELECT snapshot_id FROM snapshot_end UNION SELECT unnest(CAST(:ending AS bigint[]))),
    needed AS (
        SELECT t.base_id AS snapshot_id, t.name FROM snapshot_table t
        WHERE t.base_id IS NOT NULL AND t.snapshot_id NOT IN (SELECT snapshot_id FROM ended)
        UNION
        SELECT t.base_id, t.name FROM needed JOIN snapshot_table t USING (snapshot_id, name) WHERE t.base_id IS NOT NULL
    ),
    freed AS (
        SELECT t.snapshot_id, t.name, length(t.content) AS n_bytes FROM snapshot_table t JOIN ended USING (snapshot_id)
        WHERE (t.snapshot_id, t.name) NOT IN (SELECT snapshot_id, name FROM needed)
    )
"""
FREE = text(f"""
    {FREED} DELETE FROM snapshot_table t USING freed WHERE (t.snapshot_id, t.name) = (freed.snapshot_id, freed.name)
    RETURNING freed.n_bytes
""")  # noqa: S608 (two constants)
N_FREED = text(f"{FREED} SELECT coalesce(sum(n_bytes), 0) FROM freed")  # noqa: S608 (two constants)

MOST_AT_ONCE = 1000


class Ending(NamedTuple):
    """A snapshot that would end, and the bytes of its tables."""

    id: int
    benchmark: str
    number: int
    published_on: str
    n_bytes: int


def find_ending(session: Session, days: int, most: int = MOST_AT_ONCE) -> Sequence[Ending]:
    """Return what ends where every snapshot is kept for some days, by benchmark and number; at most so many."""
    rows = session.execute(ENDING, {"days": days, "most": most})
    return [Ending(key, slug, number, f"{at:%Y-%m-%d}", int(n or 0)) for key, slug, number, at, n in rows]


def bytes_freed(session: Session, ending: Sequence[Ending]) -> int:
    """Return the bytes of the tables that go when these snapshots end: those on which no kept one rests."""
    return int(session.scalar(N_FREED, {"ending": [each.id for each in ending]}) or 0)


def end(session: Session, ending: Sequence[Ending], days: int) -> int:
    """End snapshots, remove their tables and return their bytes; the caller's transaction makes it all or nothing."""
    if not ending:
        return 0
    for slug in sorted({each.benchmark for each in ending}):
        # Whoever publishes has this lock: what is shown stays what is shown until the end.
        benchmark = benchmark_rows.lock_benchmark(session, benchmark_rows.find_benchmark(session, slug).id)
        benchmark_rows.mark_boards_changed(session, benchmark.id)
    reason = (
        f"this server keeps every snapshot for {days} days, and then the first and the last of each day and those that "
        "are cited or pinned. Its entrants, changes and digests are still listed."
    )
    session.execute(insert(SnapshotEnd), [{"snapshot_id": each.id, "reason": reason} for each in ending])
    return sum(session.scalars(FREE, {"ending": [each.id for each in ending]}))


# How large it is, and will be.

SIZES = text("""
    SELECT b.slug, count(*), count(*) FILTER (WHERE e.snapshot_id IS NULL), coalesce(sum(t.n_bytes), 0),
        count(*) FILTER (WHERE s.published_at > clock_timestamp() - make_interval(days => :window)),
        coalesce(sum(t.n_bytes) FILTER (WHERE s.published_at > clock_timestamp() - make_interval(days => :window)), 0),
        (SELECT coalesce(sum(n_rows), 0) FROM submission u WHERE u.benchmark_id = b.id),
        (SELECT coalesce(sum(n_rows), 0) FROM submission u WHERE u.benchmark_id = b.id
            AND u.received_at > clock_timestamp() - make_interval(days => :window)),
        least(:window, extract(epoch FROM clock_timestamp() - min(s.published_at)) / 86400)
    FROM benchmark b JOIN snapshot s ON s.benchmark_id = b.id
    LEFT JOIN snapshot_end e ON e.snapshot_id = s.id
    LEFT JOIN LATERAL (
        SELECT sum(length(content)) AS n_bytes FROM snapshot_table WHERE snapshot_id = s.id) t ON true
    GROUP BY b.id, b.slug ORDER BY 4 DESC, b.slug
""")

ROW_BYTES = text("""
    SELECT (pg_total_relation_size('score') + pg_total_relation_size('evidence'))
        / greatest(1, (SELECT coalesce(sum(n_rows), 0) FROM submission))::float, pg_database_size(current_database())
""")

WINDOW_DAYS = 30


@dataclass(frozen=True)
class Size:
    """What a benchmark takes, in bytes, and what it took in each of the last days; `days` is how many these are."""

    benchmark: str
    n_snapshots: int
    n_kept: int
    snapshot_bytes: float
    row_bytes: float
    days: float
    n_lately: int
    bytes_lately: float

    @property
    def bytes_a_publication(self) -> float:
        """What one of the last publications took, with the rows that it published."""
        return self.bytes_lately / max(1, self.n_lately)

    @property
    def bytes_a_day(self) -> float:
        """What a day takes, as the last ones did; of a benchmark's first day as if that were over."""
        return self.bytes_lately / max(1.0, self.days)


def sizes(session: Session) -> tuple[int, Sequence[Size]]:
    """Return the bytes of the whole database, and those of each benchmark with snapshots, the largest first."""
    each_row, in_all = session.execute(ROW_BYTES).one()
    rows = session.execute(SIZES, {"window": WINDOW_DAYS})
    return int(in_all), [
        Size(slug, n, n_kept, float(of_tables), each_row * n_rows, float(days), lately,
             float(tables_lately) + each_row * rows_lately)
        for slug, n, n_kept, of_tables, lately, tables_lately, n_rows, rows_lately, days in rows
    ]  # fmt: skip
