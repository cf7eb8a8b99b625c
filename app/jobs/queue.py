"""The job queue: what can be done in the background, and how it is asked for.

Jobs are hints and rows are the truth: a job that is lost, repeated or late changes nothing, because each one
looks up what there is to do and the sweep asks again for what was not done.
"""

import asyncio
import logging
from functools import cache
from typing import Any

from procrastinate import App, PsycopgConnector, RetryStrategy
from procrastinate.exceptions import AlreadyEnqueued
from psycopg.conninfo import make_conninfo
from sqlalchemy.orm import Session

from app.db.engine import CONNECT_OPTIONS, SessionFactory, make_engine, make_session_factory
from app.jobs import evaluate as evaluating
from app.jobs import publish as publishing
from app.jobs import sweep as sweeping

logger = logging.getLogger(__name__)

HEARTBEAT_S = 2.0
STALLED_AFTER_S = 8.0
MAX_ATTEMPTS = 4
# Evaluations come first, so that a burst of submissions is published once and not one by one.
EVALUATE_PRIORITY, PUBLISH_PRIORITY = 10, 0


@cache
def make_app(database_url: str) -> App:
    """Return the procrastinate app of a database, with its tasks bound to that database's sessions."""
    conninfo = make_conninfo(database_url, options=CONNECT_OPTIONS, application_name="plumbline-queue")
    app = App(connector=PsycopgConnector(conninfo=conninfo, min_size=1, max_size=6))
    sessions = make_session_factory(make_engine(database_url, pool_size=4))
    retry = RetryStrategy(max_attempts=MAX_ATTEMPTS, exponential_wait=2)

    @app.task(name="evaluate", priority=EVALUATE_PRIORITY, retry=retry, pass_context=True)
    def evaluate(context: Any, submission_id: int) -> None:
        final = context.job.attempts + 1 >= MAX_ATTEMPTS
        evaluating.evaluate(sessions, QueuedJobs(app), submission_id, give_up=final)

    @app.task(name="publish", priority=PUBLISH_PRIORITY, retry=retry)
    def publish(benchmark_id: int) -> None:
        publishing.publish(sessions, QueuedJobs(app), benchmark_id)

    @app.periodic(cron="* * * * * */5")
    @app.task(name="sweep", queueing_lock="sweep", pass_context=True)
    async def sweep(context: Any, timestamp: int) -> None:
        await _retry_stalled(app)
        await asyncio.to_thread(sweeping.sweep, sessions, QueuedJobs(app))

    return app


class QueuedJobs:
    """Defers jobs inside a session's own transaction, so that a job exists exactly when its rows do."""

    def __init__(self, app: App) -> None:
        self._app = app

    def defer_evaluate(self, session: Session, submission_id: int) -> None:
        """Ask for the evaluation of a submission; asking twice is asking once."""
        self._defer(session, "evaluate", f"evaluate:{submission_id}", submission_id=submission_id)

    def defer_publish(self, session: Session, benchmark_id: int) -> None:
        """Ask for a publication; asking again before it has begun is asking once.

        The caller must have changed the benchmark's row in this transaction: publication begins by locking
        that row, so a job that is already waiting sees what is committed here.
        """
        self._defer(session, "publish", f"publish:{benchmark_id}", benchmark_id=benchmark_id)

    def _defer(self, session: Session, task: str, lock: str, **arguments: int) -> None:
        # A duplicate lock aborts the statement, so it gets a savepoint of its own.
        connection = session.connection().connection.driver_connection
        deferrer = self._app.configure_task(task, lock=lock, queueing_lock=lock, connection=connection)
        try:
            with session.begin_nested():
                deferrer.defer(**arguments)
        except AlreadyEnqueued:
            logger.debug("%s is queued already", lock)


async def _retry_stalled(app: App) -> None:
    """Give the jobs of workers that no longer report to the workers that do."""
    stalled = await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=STALLED_AFTER_S)
    for job in stalled:
        logger.warning("job %s (%s) lost its worker; it is tried again", job.id, job.task_name)
        await app.job_manager.retry_job(job)


def run_worker(database_url: str, *, concurrency: int = 2) -> None:
    """Work until told to stop by SIGINT or SIGTERM; a job in hand is finished first."""
    app = make_app(database_url)

    async def work() -> None:
        async with app.open_async():
            await _retry_stalled(app)
            await app.run_worker_async(
                concurrency=concurrency,
                wait=True,
                delete_jobs="successful",
                fetch_job_polling_interval=1.0,
                update_heartbeat_interval=HEARTBEAT_S,
                stalled_worker_timeout=STALLED_AFTER_S,
                shutdown_graceful_timeout=20,
            )

    asyncio.run(work())


def open_sessions(database_url: str) -> SessionFactory:
    """Return the session factory that jobs of this database use."""
    return make_session_factory(make_engine(database_url, pool_size=4))
