"""Deferring jobs inside a transaction."""

from app.jobs.queue import QueuedJobs
from app.store import benchmarks
from tests.cases.walkthrough import declare
from tests.conftest import Site


def data_version(site: Site) -> int:
    """Return the counter of the benchmark."""
    with site.sessions() as session:
        return benchmarks.find_benchmark(session, "tiny").data_version


def test_a_job_that_is_queued_already_undoes_nothing(site: Site) -> None:
    """What the transaction wrote is committed although its job was a duplicate."""
    declare(site)
    before = data_version(site)

    for _ in range(2):
        with site.sessions.begin() as session:
            benchmark = benchmarks.find_benchmark(session, "tiny")
            benchmarks.mark_data_changed(session, benchmark.id)
            QueuedJobs().defer_refresh(session, benchmark.id)

    assert data_version(site) == before + 2
