"""A job belongs to its worker as long as the worker's connection stands: merely busy is not lost."""

import asyncio
from collections.abc import Awaitable, Callable

import psycopg

from app.db.engine import make_engine
from app.jobs.queue import QueuedJobs, drop_lost, make_app
from app.jobs.refresh import KEY, at_work, is_at_work
from app.store import benchmark_rows
from tests.cases.walkthrough import declare
from tests.fixtures import Site


def begin_silently(site: Site, database_url: str) -> int:
    """Have a worker take the refresh of a benchmark that has not reported since, and return the benchmark."""
    declare(site)
    with site.sessions.begin() as session:
        benchmark = benchmark_rows.find_benchmark(session, "tiny")
        benchmark_rows.mark_data_changed(session, benchmark.id)
        QueuedJobs().defer_refresh(session, benchmark.id)
    with psycopg.connect(database_url, options="-c search_path=queue") as connection:
        connection.execute("INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - interval '1 hour')")
        connection.execute("SELECT procrastinate_fetch_job_v2(NULL, (SELECT max(id) FROM procrastinate_workers))")
    return benchmark.id


def n_jobs_in_hand(database_url: str) -> int:
    """Return how many jobs are being done, as far as the queue knows."""
    with psycopg.connect(database_url, options="-c search_path=queue") as connection:
        result = connection.execute("SELECT count(*) FROM procrastinate_jobs WHERE status = 'doing'").fetchone()
    return 0 if result is None else int(result[0])


def drop(database_url: str) -> None:
    """Drop the lost jobs, as the sweep does."""
    app, engine = make_app.__wrapped__(database_url), make_engine(database_url)

    async def run(work: Callable[[], Awaitable[None]]) -> None:
        async with app.open_async():
            await work()

    asyncio.run(run(lambda: drop_lost(app, engine)))
    engine.dispose()


def test_a_worker_that_is_merely_busy_keeps_its_job(site: Site, database_url: str) -> None:
    """It has not reported for an hour, and its connection stands."""
    benchmark_id, engine = begin_silently(site, database_url), make_engine(database_url)

    with at_work(engine, benchmark_id):
        drop(database_url)
        kept = n_jobs_in_hand(database_url)
    engine.dispose()

    assert kept == 1


def test_the_job_of_a_worker_that_died_is_given_up(site: Site, database_url: str) -> None:
    """Nobody holds its lock any more, so the benchmark is free for the next worker."""
    begin_silently(site, database_url)
    taken = n_jobs_in_hand(database_url)

    drop(database_url)

    assert (taken, n_jobs_in_hand(database_url)) == (1, 0)


def test_the_lock_goes_with_the_connection(database_url: str) -> None:
    """A connection that is closed without a word, as by kill -9, leaves nothing behind."""
    engine = make_engine(database_url)
    holder = psycopg.connect(database_url, autocommit=True)
    holder.execute(f"SELECT pg_advisory_lock({KEY.replace(':benchmark', '%s')})", ("7",))
    before = is_at_work(engine, 7)
    holder.pgconn.finish()

    with engine.connect() as connection:
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({KEY.replace(':benchmark', '%s')})", ("7",))
    after = is_at_work(engine, 7)
    engine.dispose()

    assert (before, after) == (True, False)
