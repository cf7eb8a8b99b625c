"""The jobs of the queue: refreshing a benchmark, the sweep, pruning what is kept for a while, and sealing the audit.

A refresh evaluates a benchmark's waiting submissions, then publishes. It is the queue's only job for a benchmark.

Waiting submissions are evaluated together and published once: during a publication the next ones gather. One benchmark
has one worker at a time, so that a busy one leaves the others to the rest.
"""

import logging
import math
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Protocol

from sqlalchemy import Connection, Engine, text
from sqlalchemy.orm import Session

from app.db.engine import SessionFactory
from app.jobs.evaluate import evaluate
from app.jobs.publish import publish
from app.program.version import code_version
from app.store import audit, benchmark_rows, current, rates, retention
from app.store.labels import close_due
from app.telemetry import event

EVALUATING_S = 2.0
"""Seconds of evaluating after which boards are published, so that a steady stream of uploads cannot delay them."""

MOST_ABANDONED = 2
"""How often a publication may give way to newer evidence before one is completed regardless."""


class Queue(Protocol):
    """How work is queued inside a session's own transaction."""

    def defer_refresh(self, session: Session, benchmark_id: int) -> None:
        """Queue a refresh of a benchmark."""


def refresh(sessions: SessionFactory, queue: Queue, benchmark_id: int, within_s: float = EVALUATING_S) -> None:
    """Evaluate a benchmark's waiting submissions and publish its boards if outdated; queue again if more wait."""
    _wait_for_writers(sessions, benchmark_id)
    all_of_them = evaluate_waiting(sessions, benchmark_id, within_s)
    if _is_behind(sessions, benchmark_id):
        _publish(sessions, benchmark_id)
    # A failed publication is retried by the sweep, with growing delays.
    if not all_of_them or _is_behind(sessions, benchmark_id, is_due=True):
        with sessions.begin() as session:
            queue.defer_refresh(session, benchmark_id)


def _publish(sessions: SessionFactory, benchmark_id: int) -> None:
    """Publish what is current; continual changes cannot postpone it for ever."""
    if not any(publish(sessions, benchmark_id, gives_way=True) for _ in range(MOST_ABANDONED)):
        publish(sessions, benchmark_id)


def evaluate_waiting(sessions: SessionFactory, benchmark_id: int, within_s: float = math.inf) -> bool:
    """Evaluate a benchmark's waiting submissions, and say whether there was time for all of them."""
    began, tried = time.monotonic(), set[int]()
    while together := _next_together(sessions, benchmark_id, tried):
        evaluate(sessions, together)
        tried.update(together)
        if time.monotonic() - began >= within_s:
            return False
    return True


def _next_together(sessions: SessionFactory, benchmark_id: int, tried: Collection[int]) -> list[int]:
    with sessions() as session:
        return current.next_together(session, benchmark_id, tried)


def _wait_for_writers(sessions: SessionFactory, benchmark_id: int) -> None:
    """Wait until no transaction that changed the benchmark is open.

    A submission that found this job still waiting in the queue did not ask for another one. It held the
    benchmark's row then, so what it committed is visible once the row can be locked.
    """
    with sessions.begin() as session:
        benchmark_rows.lock_benchmark(session, benchmark_id)


def _is_behind(sessions: SessionFactory, benchmark_id: int, *, is_due: bool = False) -> bool:
    with sessions() as session:
        return current.is_behind(session, benchmark_id, is_due=is_due)


# The sweep: requeues work that was not done and erases expired data. Run every few seconds by the queue.

PATIENCE_S = 5.0


def mark_faulty(sessions: SessionFactory) -> None:
    """Let the next sweep queue what a fault of another version kept from being computed; once, when a worker begins."""
    with sessions.begin() as session:
        current.mark_faulty(session, code_version())


def sweep(sessions: SessionFactory, queue: Queue) -> None:
    """Close due benchmarks, queue those with waiting submissions or outdated boards, and erase old addresses.

    Nothing is queued twice, so queueing too often is harmless.
    """
    with sessions.begin() as session:
        close_due(session)
        stale = {benchmark.id for benchmark in current.stale_benchmarks(session)}
        for benchmark_id in sorted(stale | set(current.benchmarks_waiting(session, PATIENCE_S))):
            queue.defer_refresh(session, benchmark_id)
        audit.erase_addresses(session)
        rates.forget(session)


def prune(sessions: SessionFactory, kept_days: int) -> None:
    """End the snapshots that the setting no longer keeps, and say in the log which."""
    with sessions.begin() as session:
        ending = retention.find_ending(session, kept_days)
        retention.end(session, ending, kept_days)
    for each in ending:
        event(logger, "snapshot ended", benchmark=each.benchmark, number=each.number, n_bytes=each.n_bytes)


# Seals the audit record: run by the queue every minute and after every refresh of a benchmark.

logger = logging.getLogger(__name__)


def seal(sessions: SessionFactory) -> None:
    """Seal every event that waits, a batch to a transaction. Each seal is logged: the log is where it is not kept."""
    n_sealed = audit.MOST_SEALED
    while n_sealed == audit.MOST_SEALED:
        with sessions.begin() as session:
            made = audit.seal_waiting(session)
            n_sealed = 0 if made is None else len(made.events)
        if made is not None:
            event(logger, "audit sealed", seal=made.number, n_events=n_sealed, digest=made.digest.hex())


# A database lock on a benchmark, held as long as the worker's own connection lives.
#
# Taken around each job by `app.jobs.queue`, which checks it before giving up a job whose worker has not reported: a
# worker that computes, or was paused, still has its connection, while the database closes that of a dead worker at
# once.

KEY = "hashtextextended('plumbline works on ' || :benchmark, 0)"

TAKE, TRY, LEAVE = (
    text(f"SELECT {name}({KEY})") for name in ("pg_advisory_lock", "pg_try_advisory_lock", "pg_advisory_unlock")
)

# Nobody closes the connection of a machine that is gone: the database probes it after ten silent seconds.
ASK_OFTEN = text(
    "SELECT set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false), "
    "set_config('tcp_keepalives_count', '3', false)"
)


@contextmanager
def at_work(engine: Engine, benchmark_id: int) -> Iterator[None]:
    """Hold the lock of a benchmark while the block runs, after waiting for its current holder."""
    about = {"benchmark": str(benchmark_id)}
    with _connected(engine) as connection:
        connection.execute(ASK_OFTEN)
        connection.execute(TAKE, about)
        try:
            yield
        finally:
            connection.execute(LEAVE, about)


def is_at_work(engine: Engine, benchmark_id: int) -> bool:
    """Say whether any worker's connection holds the lock of a benchmark."""
    about = {"benchmark": str(benchmark_id)}
    with _connected(engine) as connection:
        if not connection.execute(TRY, about).scalar_one():
            return True
        connection.execute(LEAVE, about)
        return False


@contextmanager
def _connected(engine: Engine) -> Iterator[Connection]:
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        yield connection
