"""Which boards are outdated, which submissions wait, and what is recorded when publishing fails."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, delete, func, insert, or_, select
from sqlalchemy.orm import Session

from app.db.models import (
    FAULTS,
    OF_BOARDS,
    PUBLICATION,
    Benchmark,
    Entry,
    ServerFault,
    Snapshot,
    Submission,
    SubmissionTable,
)
from app.store.benchmark_rows import lock_benchmark, mark_boards_changed, mark_data_changed
from app.store.snapshots import still_stands
from app.store.sql import is_due, one_of, retry_time


@dataclass(frozen=True)
class Fault:
    """A fault by its short number, what it cost (`app.db.models`), where and whom; `error` is not public.

    `place` is the name of a board or table.
    """

    number: str
    what: str
    error: str
    place: str | None = None
    submission_id: int | None = None


def note_publish_failure(session: Session, benchmark_id: int, fault: Fault) -> int:
    """Remember that the boards could not be published, for the pages to say, and return how often that happened.

    The sweep waits twice as long before each further try. Boards with evidence that was withdrawn since are taken down.
    """
    benchmark = lock_benchmark(session, benchmark_id)
    if benchmark.snapshot_id is not None and not still_stands(session, benchmark.snapshot_id):
        benchmark.snapshot_id = None
    forget_board_faults(session, benchmark_id, PUBLICATION)
    keep_faults(session, benchmark_id, [fault])
    benchmark.publish_error = f"fault {fault.number} of this server; its operators are told"
    benchmark.publish_tries += 1
    benchmark.publish_retry_at = retry_time(benchmark.publish_tries)
    session.flush()
    mark_boards_changed(session, benchmark_id)
    return benchmark.publish_tries


def forget_failures(session: Session, benchmark: Benchmark) -> None:
    """Clear the recorded faults of a locked benchmark's boards."""
    forget_board_faults(session, benchmark.id)
    benchmark.publish_error, benchmark.publish_tries, benchmark.publish_retry_at = None, 0, None


def stale_benchmarks(session: Session) -> Sequence[Benchmark]:
    """Return the benchmarks whose boards are behind their evidence, but for those that failed and wait a while."""
    query = select(Benchmark).where(_behind(), _due())
    return session.scalars(query.order_by(Benchmark.id)).all()


def mark_faulty(session: Session, code_version: str) -> None:
    """Mark the boards as outdated that lack something by a fault of another version: this one may have it mended."""
    query = select(Benchmark.id).join(Snapshot, Snapshot.id == Benchmark.snapshot_id)
    faulty = query.where(Snapshot.is_faulty, Snapshot.code_version != code_version).order_by(Benchmark.id)
    for benchmark_id in session.scalars(faulty).all():
        mark_data_changed(session, benchmark_id)


def is_behind(session: Session, benchmark_id: int, *, is_due: bool = False) -> bool:
    """Say whether the boards of a benchmark are behind its evidence, and, if asked, may be tried again already."""
    query = select(Benchmark.id).where(Benchmark.id == benchmark_id, _behind(), *([_due()] if is_due else []))
    return session.scalar(query) is not None


def _behind() -> ColumnElement[bool]:
    return Benchmark.data_version > Benchmark.published_version


def _due() -> ColumnElement[bool]:
    return is_due(Benchmark.publish_retry_at)


# What faults of the server cost, for the health page, /metrics and its alerts.


def keep_faults(session: Session, benchmark_id: int, faults: Iterable[Fault]) -> None:
    """Record faults of a benchmark."""
    rows = [{"benchmark_id": benchmark_id, **vars(fault)} for fault in faults]
    if rows:
        session.execute(insert(ServerFault), rows)


def forget_board_faults(session: Session, benchmark_id: int, *whats: str) -> None:
    """Remove what held until the boards were published anew, or only some of it."""
    here = ServerFault.benchmark_id == benchmark_id
    session.execute(delete(ServerFault).where(here, ServerFault.what.in_(whats or OF_BOARDS)))


def count_faults(session: Session) -> dict[str, int]:
    """Return how many things each kind of fault costs now, of the benchmarks that the reader may see."""
    query = select(ServerFault.what, func.count()).join(Benchmark, Benchmark.id == ServerFault.benchmark_id)
    counted = dict(session.execute(query.group_by(ServerFault.what)).all())
    return {what: counted.get(what, 0) for what in FAULTS}


def list_faults(session: Session, most: int) -> Sequence[tuple[str, ServerFault]]:
    """Return the newest faults that the reader may see, each with the slug of its benchmark."""
    query = select(Benchmark.slug, ServerFault).join(ServerFault, Benchmark.id == ServerFault.benchmark_id)
    return [(slug, fault) for slug, fault in session.execute(query.order_by(ServerFault.id.desc()).limit(most))]


# Submissions that wait to be evaluated, and which of them go together.

MOST_TOGETHER, MOST_ROWS_TOGETHER = 100, 150_000
"""Most submissions, and most rows, per transaction, so that a fault or another benchmark never has to wait long."""


def benchmarks_waiting(session: Session, older_than_s: float) -> Sequence[int]:
    """Return the benchmarks with a submission that has waited too long, power and debug runs among them."""
    age = func.extract("epoch", func.clock_timestamp() - Submission.received_at)
    # Younger than nothing is what came before the database's clock was set back: how long it has waited is not known.
    waits_long = or_(age > older_than_s, age < 0)
    query = select(Submission.benchmark_id).where(_waits(), waits_long).distinct()
    return session.scalars(query.order_by(Submission.benchmark_id)).all()


def next_together(session: Session, benchmark_id: int, tried: Collection[int] = ()) -> list[int]:
    """Return the submissions of a benchmark that can be evaluated together, the oldest that waits first.

    They were made under one version of its manifest, all to be ranked or all only to be shown, and no entrant is in two
    of them. Those `tried` before are left out.
    """
    together: list[int] = []
    alike, n_rows, entrants = None, 0, set[int]()
    for number, version, status, rows, named in session.execute(_oldest(benchmark_id, tried)):
        n_rows += rows
        if together and (alike != (version, status) or n_rows > MOST_ROWS_TOGETHER or entrants & set(named)):
            break
        alike, entrants = (version, status), entrants | set(named)
        together.append(number)
    return together


def _oldest(benchmark_id: int, tried: Collection[int]) -> Select[int, int, str, int, Any]:
    entrants = select(func.coalesce(func.array_agg(Entry.entrant_id), [])).where(Entry.submission_id == Submission.id)
    columns = (Submission.id, Submission.manifest_version_id, Submission.status, Submission.n_rows)
    of_benchmark = and_(Submission.benchmark_id == benchmark_id, ~one_of(Submission.id, tried))
    query = select(*columns, entrants.scalar_subquery()).where(of_benchmark, _waits())
    return query.order_by(Submission.id).limit(MOST_TOGETHER)


def _waits() -> ColumnElement[bool]:
    has_summary = select(SubmissionTable.name).where(
        SubmissionTable.submission_id == Submission.id, SubmissionTable.name == "summary"
    )
    shown_only = and_(
        Submission.status == "not_admitted", Submission.run_purpose != "leaderboard", ~has_summary.exists()
    )
    return and_(or_(Submission.status == "received", shown_only), is_due(Submission.evaluation_retry_at))
