"""The sweep: ask again for what was not done, erase what was kept long enough. Run every few seconds by the queue."""

from app.db.engine import SessionFactory
from app.jobs.refresh import Queue
from app.store import audit, rates, stale_boards, waiting
from app.store.labels import close_due

PATIENCE_S = 5.0


def sweep(sessions: SessionFactory, queue: Queue) -> None:
    """Close what is due, ask for benchmarks whose submissions wait or boards are behind, and erase old addresses.

    What is queued already is not queued twice, so asking too often is harmless.
    """
    with sessions.begin() as session:
        close_due(session)
        stale = {benchmark.id for benchmark in stale_boards.stale_benchmarks(session)}
        for benchmark_id in sorted(stale | set(waiting.benchmarks_waiting(session, PATIENCE_S))):
            queue.defer_refresh(session, benchmark_id)
        audit.erase_addresses(session)
        rates.forget(session)
