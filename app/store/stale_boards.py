"""Which boards are outdated, and what is recorded when publishing them fails.

Called by `app.jobs`, and by the page of whoever runs the server.
"""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from app.db.models import Benchmark, Snapshot
from app.db.models.server_faults import PUBLICATION
from app.store.benchmark_rows import lock_benchmark, mark_boards_changed, mark_data_changed
from app.store.retries import is_due, retry_time
from app.store.server_faults import Fault, forget_board_faults, keep_faults
from app.store.snapshots import still_stands


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
