"""Logs and counts evaluations and publications, so that a submission can be followed to its board.

Called by `app.jobs.evaluate` and `app.jobs.publish` after the commit.
"""

import logging
from collections.abc import Iterable

from app.db.engine import SessionFactory
from app.db.models import Benchmark
from app.store import benchmark_rows, submissions
from app.store.publication import Publication, Published
from app.telemetry import metrics
from app.telemetry.logs import event

logger = logging.getLogger(__name__)


State = tuple[int, str | None, str]
"""A submission, the request that brought it, and its state."""


def log_states(what: str, states: Iterable[State]) -> None:
    """Log a line for each submission with its state and the request that brought it."""
    for number, request_id, status in states:
        event(logger, what, submission=number, request_id=request_id, status=status)


def note_publication(sessions: SessionFactory, publication: Publication, published: Published, took_s: float) -> None:
    """Log and count a stored publication, and how long its new submissions took from upload to board."""
    if published.snapshot is None:
        return
    benchmark = publication.inputs.declared.benchmark
    metrics.PUBLICATIONS.labels(_label(benchmark)).inc()
    metrics.PUBLICATION_S.observe(took_s)
    for under_way_s in published.under_way_s.values():
        metrics.POST_TO_BOARD_S.observe(max(0.0, under_way_s))
    number = published.snapshot.number
    event(logger, "benchmark published", benchmark=benchmark.slug, snapshot=number, seconds=round(took_s, 3))
    with sessions() as session:
        states = submissions.followed(session, published.under_way_s.keys())
    log_states("submission published", states)


def count_fault(sessions: SessionFactory, benchmark_id: int) -> None:
    """Count a publication that ended in a fault; the caller, who has the traceback, logs it."""
    with sessions() as session:
        benchmark = benchmark_rows.get_benchmark(session, benchmark_id)
    metrics.PUBLICATION_FAILURES.labels(_label(benchmark)).inc()


def _label(benchmark: Benchmark) -> str:
    return benchmark.slug if benchmark.visibility == "public" else metrics.NOT_PUBLIC
