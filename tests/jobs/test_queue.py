"""Deferring jobs inside a transaction."""

import asyncio

import psycopg
import pytest
from procrastinate.jobs import Status

from app.jobs import queue
from app.jobs.queue import QueuedJobs, make_app
from app.store import benchmark_rows
from tests.cases.walkthrough import declare
from tests.fixtures import Site


def data_version(site: Site) -> int:
    """Return the counter of the benchmark."""
    with site.sessions() as session:
        return benchmark_rows.find_benchmark(session, "tiny").data_version


def test_a_job_that_is_queued_already_undoes_nothing(site: Site) -> None:
    """What the transaction wrote is committed although its job was a duplicate."""
    declare(site)
    before = data_version(site)

    for _ in range(2):
        defer(site)

    assert data_version(site) == before + 2


def test_a_worker_tidies_up_after_a_long_job_and_not_after_a_short_one(
    site: Site, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory that a large board took is looked for when its readers have it."""
    declare(site)
    with site.sessions() as session:
        number = benchmark_rows.find_benchmark(session, "tiny").id
    tidied: list[int] = []
    refresh = make_app(database_url, tidy=lambda: tidied.append(number)).tasks["refresh"]

    refresh(benchmark_id=number)
    assert not tidied
    monkeypatch.setattr(queue, "LONG_S", 0.0)
    refresh(benchmark_id=number)

    assert tidied == [number]


@pytest.mark.parametrize("n_waiting", [0, 1])
def test_a_job_that_waited_for_a_lock_is_announced_when_the_lock_is_free(
    site: Site, database_url: str, n_waiting: int
) -> None:
    """A worker hears of it at once; nobody is woken where nothing waits."""
    declare(site)
    app = make_app.__wrapped__(database_url)

    async def finish_one() -> None:
        async with app.open_async():
            worker = await app.job_manager.register_worker()
            defer(site)
            job = await app.job_manager.fetch_job(queues=None, worker_id=worker)
            assert job is not None
            for _ in range(n_waiting):
                defer(site)
            listener.execute("LISTEN procrastinate_any_queue_v1")
            assert await app.job_manager.fetch_job(queues=None, worker_id=worker) is None
            await app.job_manager.finish_job(job, Status.SUCCEEDED, delete_job=True)

    with psycopg.connect(database_url, autocommit=True) as listener:
        asyncio.run(finish_one())
        heard = list(listener.notifies(timeout=0.5 if n_waiting == 0 else 30.0, stop_after=1))

    assert len(heard) == n_waiting


def defer(site: Site) -> None:
    """Queue a refresh of the benchmark."""
    with site.sessions.begin() as session:
        benchmark = benchmark_rows.find_benchmark(session, "tiny")
        benchmark_rows.mark_data_changed(session, benchmark.id)
        QueuedJobs().defer_refresh(session, benchmark.id)
