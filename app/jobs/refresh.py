"""Refreshes a benchmark: evaluates waiting submissions, then publishes. The queue's only job for a benchmark.

Waiting submissions are evaluated together and published once: during a publication the next ones gather. One benchmark
has one worker at a time, so that a busy one leaves the others to the rest.
"""

import math
import time
from collections.abc import Collection
from typing import Protocol

from sqlalchemy.orm import Session

from app.db.engine import SessionFactory
from app.jobs.evaluate import evaluate
from app.jobs.publish import publish
from app.store import benchmark_rows, stale_boards, waiting

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
        return waiting.next_together(session, benchmark_id, tried)


def _wait_for_writers(sessions: SessionFactory, benchmark_id: int) -> None:
    """Wait until no transaction that changed the benchmark is open.

    A submission that found this job still waiting in the queue did not ask for another one. It held the
    benchmark's row then, so what it committed is visible once the row can be locked.
    """
    with sessions.begin() as session:
        benchmark_rows.lock_benchmark(session, benchmark_id)


def _is_behind(sessions: SessionFactory, benchmark_id: int, *, is_due: bool = False) -> bool:
    with sessions() as session:
        return stale_boards.is_behind(session, benchmark_id, is_due=is_due)
