"""The sweep: ask again for what was not done, erase what was kept long enough. Run every few seconds by the queue."""

from app.db.engine import SessionFactory
from app.jobs.evaluate import Queue
from app.store import audit, benchmarks, submissions

PATIENCE_S = 5.0


def sweep(sessions: SessionFactory, queue: Queue) -> None:
    """Ask for the evaluation of waiting submissions and the publication of stale benchmarks; erase old addresses.

    What is queued already is not queued twice, so asking too often is harmless.
    """
    with sessions.begin() as session:
        for submission_id in submissions.unevaluated(session, PATIENCE_S):
            queue.defer_evaluate(session, submission_id)
        for benchmark in benchmarks.stale_benchmarks(session):
            queue.defer_publish(session, benchmark.id)
        audit.erase_addresses(session)
