"""The job queue: the background tasks, and how they are requested.

Jobs are hints and rows are the truth: a job that is lost, repeated or late changes nothing, because each one
looks up what there is to do and the sweep asks again for what was not done.

Why: docs/adr/029-workers-and-queue.md.
"""

import asyncio
import gc
import json
import logging
import signal
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from procrastinate import App, PsycopgConnector, SyncPsycopgConnector
from procrastinate.exceptions import AlreadyEnqueued
from procrastinate.jobs import Job, JobInserted, Status
from procrastinate.manager import JobManager, get_channel_for_queues
from psycopg.conninfo import make_conninfo
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from app.db.engine import CONNECT_OPTIONS, JOBS, make_engine, make_session_factory, patience_with
from app.jobs import notifying
from app.jobs import refresh as refreshing
from app.jobs.notifying import NOWHERE, Outgoing
from app.jobs.refresh import at_work, is_at_work
from app.jobs.refresh import seal as seal_events
from app.telemetry import bind, carried, current_request, event, job_span

logger = logging.getLogger(__name__)

HEARTBEAT_S = 2.0
STALLED_AFTER_S = 8.0
LONG_S = 1.0


@cache
def make_app(
    database_url: str,
    outgoing: Outgoing = NOWHERE,
    tidy: Callable[[], object] = bool,
    kept_days: int | None = None,
) -> App:
    """Return the procrastinate app of a database, with its tasks bound to that database's sessions.

    `tidy` is called after a long refresh. Snapshots end after `kept_days`; None: never.
    """
    patience = patience_with(database_url)
    conninfo = make_conninfo(database_url, options=CONNECT_OPTIONS, application_name="plumbline-queue", **patience)
    app = App(connector=PsycopgConnector(conninfo=conninfo, min_size=1, max_size=6))
    app.job_manager = _WakingManager(app.connector)
    engine = make_engine(database_url, pool_size=6, lane=JOBS)
    sessions, jobs = make_session_factory(engine), QueuedJobs()

    @app.task(name="refresh")
    def refresh(benchmark_id: int, request_id: str | None = None, traceparent: str | None = None) -> None:
        about = {"benchmark_id": benchmark_id, "asked_by": request_id}
        with bind(**about), job_span("refresh", traceparent, **about), at_work(engine, benchmark_id):
            event(logger, "refresh begins")
            began = time.monotonic()
            refreshing.refresh(sessions, jobs, benchmark_id)
            seal_events(sessions)
        if time.monotonic() - began >= LONG_S:
            tidy()

    @app.periodic(cron="* * * * * */5")
    @app.task(name="sweep", queueing_lock="sweep")
    async def sweep(timestamp: int) -> None:
        await drop_lost(app, engine)
        await asyncio.to_thread(refreshing.sweep, sessions, jobs)

    @app.periodic(cron="* * * * *")
    @app.task(name="seal", queueing_lock="seal")
    async def seal(timestamp: int) -> None:
        await asyncio.to_thread(seal_events, sessions)

    @app.periodic(cron="*/10 * * * *")
    @app.task(name="prune", queueing_lock="prune")
    async def prune(timestamp: int) -> None:
        if kept_days is not None:
            await asyncio.to_thread(refreshing.prune, sessions, kept_days)

    # A lock of its own, so that slow receivers delay no boards.
    @app.periodic(cron="* * * * * */5")
    @app.task(name="tell", queueing_lock="tell", lock="tell")
    async def tell(timestamp: int) -> None:
        await notifying.deliver_due(sessions, outgoing)

    return app


class _WakingManager(JobManager):
    """Announces a job once more when the one ends whose lock it waited for.

    The queue announces a job when it is added. One that could not begin then would lie there until a worker next polls,
    a second later, and with it every submission that found a job queued already.
    """

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        """Set a job to its final state, and wake the workers if another one waits for its lock."""
        await super().finish_job(job, status, delete_job)
        for channel in get_channel_for_queues():
            await self.connector.execute_query_async(
                "SELECT pg_notify(%(channel)s, %(payload)s) "
                "WHERE EXISTS (SELECT FROM procrastinate_jobs WHERE lock = %(lock)s AND status = 'todo')",
                channel=channel,
                payload=json.dumps(JobInserted(type="job_inserted", job_id=job.id or 0)),
                lock=job.lock,
            )


class QueuedJobs:
    """Defers jobs inside a session's own transaction, so that a job exists exactly when its rows do."""

    def __init__(self) -> None:
        # Never opened: every job is deferred on the connection of a session.
        self._app = App(connector=SyncPsycopgConnector())

    def defer_refresh(self, session: Session, benchmark_id: int) -> None:
        """Queue a refresh of a benchmark; queueing it again before it has begun has no effect.

        The job begins by locking the benchmark's row, so one that waits already sees what is committed here, if this
        transaction has changed that row, and whatever was committed before.
        """
        # A duplicate lock aborts the statement, so it gets a savepoint of its own: the driver's, because the
        # session's is only made with the session's next statement.
        connection = session.connection().connection.driver_connection
        if connection is None:
            raise RuntimeError("the session has lost its connection")
        # In order of request. A benchmark has at most one running and one waiting job.
        lock = f"refresh:{benchmark_id}"
        deferrer = self._app.configure_task("refresh", lock=lock, queueing_lock=lock, connection=connection)
        try:
            with connection.transaction():
                deferrer.defer(benchmark_id=benchmark_id, request_id=current_request(), traceparent=carried())
        except AlreadyEnqueued:
            logger.debug("%s is queued already", lock)


async def drop_lost(app: App, engine: Engine) -> None:
    """Drop the jobs whose worker no longer reports and has lost its connection; the sweep queues their work again.

    A worker that is merely busy keeps its job, however long it does not report. Dropped jobs are not requeued: a job
    with the same queueing lock may be waiting, and there cannot be two.
    """
    for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=STALLED_AFTER_S):
        benchmark_id = job.task_kwargs.get("benchmark_id")
        if isinstance(benchmark_id, int) and await asyncio.to_thread(is_at_work, engine, benchmark_id):
            continue
        logger.warning("job %s (%s) lost its worker", job.id, job.task_name)
        await app.job_manager.finish_job(job, status=Status.FAILED, delete_job=True)


Beside = Callable[[], Coroutine[Any, Any, None]]


def run_worker(
    database_url: str,
    *,
    concurrency: int = 2,
    grace_s: float = 5,
    beside: Beside | None = None,
    outgoing: Outgoing = NOWHERE,
    tidy: Callable[[], object] = bool,
    kept_days: int | None = None,
) -> bool:
    """Work until stopped by SIGINT or SIGTERM, and say whether that was the end; a running job has `grace_s` seconds.

    Without having been asked it ends where the connection that hears of jobs breaks: who started it starts it again.
    `beside` runs on the worker's event loop once it can work, and must not end before it is cancelled. `tidy` is called
    after a long job. Snapshots end after `kept_days`; None: never.
    """
    app = make_app(database_url, outgoing, tidy, kept_days)

    async def work() -> bool:
        async with app.open_async():
            engine = make_engine(database_url, pool_size=1)
            await drop_lost(app, engine)
            await asyncio.to_thread(refreshing.mark_faulty, make_session_factory(engine))
            # Referenced by a name, because the loop itself keeps no task alive.
            beats = None if beside is None else asyncio.create_task(beside())  # noqa: F841
            # The libraries' hundreds of thousands of permanent objects would take 0.2 s in each garbage collection.
            gc.collect()
            gc.freeze()
            logger.info("the worker is connected and waits for jobs")
            working = asyncio.ensure_future(
                app.run_worker_async(
                    concurrency=concurrency,
                    wait=True,
                    delete_jobs="always",
                    fetch_job_polling_interval=1.0,
                    update_heartbeat_interval=HEARTBEAT_S,
                    stalled_worker_timeout=STALLED_AFTER_S,
                    shutdown_graceful_timeout=grace_s,
                    install_signal_handlers=False,
                )
            )
            with stopped_by_signals(working) as asked:
                await asyncio.wait([working])
            if not working.cancelled():
                working.result()
            return bool(asked)

    return asyncio.run(work())


STOPPED_BY = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stopped_by_signals(task: "asyncio.Future[None]") -> Iterator[list[signal.Signals]]:
    """Cancel a task at the first SIGINT or SIGTERM, and yield where that is noted; a second one ends the process."""
    loop, asked = asyncio.get_running_loop(), list[signal.Signals]()

    def stop(number: signal.Signals) -> None:
        asked.append(number)
        forget()
        task.cancel()

    def forget() -> None:
        for each in STOPPED_BY:
            loop.remove_signal_handler(each)

    for each in STOPPED_BY:
        loop.add_signal_handler(each, stop, each)
    try:
        yield asked
    finally:
        forget()
