"""The sweep: requeues work that was not done and erases expired data. Run every few seconds by the queue."""

from app.db.engine import SessionFactory
from app.jobs.refresh import Queue
from app.program.version import code_version
from app.store import audit, rates, stale_boards, waiting
from app.store.labels import close_due

PATIENCE_S = 5.0


def mark_faulty(sessions: SessionFactory) -> None:
    """Let the next sweep queue what a fault of another version kept from being computed; once, when a worker begins."""
    with sessions.begin() as session:
        stale_boards.mark_faulty(session, code_version())


def sweep(sessions: SessionFactory, queue: Queue) -> None:
    """Close due benchmarks, queue those with waiting submissions or outdated boards, and erase old addresses.

    Nothing is queued twice, so queueing too often is harmless.
    """
    with sessions.begin() as session:
        close_due(session)
        stale = {benchmark.id for benchmark in stale_boards.stale_benchmarks(session)}
        for benchmark_id in sorted(stale | set(waiting.benchmarks_waiting(session, PATIENCE_S))):
            queue.defer_refresh(session, benchmark_id)
        audit.erase_addresses(session)
        rates.forget(session)
