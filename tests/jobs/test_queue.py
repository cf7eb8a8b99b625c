"""Deferring jobs inside a transaction."""

import pytest

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
        with site.sessions.begin() as session:
            benchmark = benchmark_rows.find_benchmark(session, "tiny")
            benchmark_rows.mark_data_changed(session, benchmark.id)
            QueuedJobs().defer_refresh(session, benchmark.id)

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
