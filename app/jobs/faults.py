"""Faults of ours: numbered for the public, logged for admins, and traced to the submissions that alone cause them."""

import hashlib
import logging
import traceback
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from app import telemetry
from app.db.engine import SessionFactory
from app.db.models import Benchmark
from app.names import clip_for_message
from app.store import benchmark_rows, submissions
from app.store.current import Fault
from app.store.publication import Publication, PublicationResult
from app.telemetry import event

logger = logging.getLogger(__name__)

TRIES = 3
"""How often something is tried before a fault of ours is taken to be of what was tried."""

LONGEST_FAULT = 300

LONGEST_TRACEBACK = 4000


def note_fault(error: Exception, what: str, about: str, place: str | None = None, number: int | None = None) -> Fault:
    """Log an exception, and return it as a fault that can be recorded; `about` says in the log what it concerns."""
    fault = Fault(_number(error), what, _described(error), place, number)
    logger.error("fault %s: %s", fault.number, about, exc_info=error)
    return fault


def said(fault: Fault) -> str:
    """Return what the public may know of a fault.

    >>> said(Fault("3f9a1c07", "board kept", "IndexError: tuple index out of range"))
    'a fault of this server (fault 3f9a1c07); its operators are told'
    """
    return f"a fault of this server (fault {fault.number}); its operators are told"


def _number(error: Exception) -> str:
    """Return the same number for the same fault, so that a snapshot can be recomputed to the byte."""
    frames = traceback.extract_tb(error.__traceback__)
    where = [f"{Path(frame.filename).name}:{frame.lineno}:{frame.name}" for frame in frames]
    return hashlib.sha256("\n".join([type(error).__name__, *where]).encode()).hexdigest()[:8]


def _described(error: Exception) -> str:
    """Return what failed and where, without the statements and values in database errors."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    first = (str(cause).strip() or "no further words").splitlines()[0]
    frames = "".join(traceback.format_tb(error.__traceback__))[-LONGEST_TRACEBACK:]
    return f"{clip_for_message(f'{type(cause).__name__}: {first}', LONGEST_FAULT)}\n{frames}"


# Finds the submissions whose evidence alone makes a computation fail, by halving, in few attempts.

MOST_ATTEMPTS = 256
"""Each level of halving computes everybody once, so this many cost about as much as a few whole computations."""


class Outcome(Enum):
    """The outcome of a computation of some submissions; NOTHING means that it succeeded with nothing to show."""

    COMPUTED = "computed"
    NOTHING = "nothing"
    FAILED = "failed"


def find_failing(newest_first: Sequence[int], attempt: Callable[[frozenset[int]], Outcome]) -> frozenset[int]:
    """Return the submissions that fail alone, as far as they are found within the attempts; all together failed.

    An attempt computes some submissions alone, beside only what the manifest requires.
    Those that fail only beside others are nobody's fault. If everybody fails, or what the manifest requires fails
    without them, the fault is the computation's.
    """
    if not newest_first or attempt(frozenset()) is Outcome.FAILED:
        return frozenset()
    n_attempts, failing, failed = 1, set[int](), [list(newest_first)]
    while failed and n_attempts < MOST_ATTEMPTS:
        group = failed.pop()
        if len(group) == 1:
            failing.add(group[0])
            continue
        middle = len(group) // 2
        # The newest half is looked into first: there the cause nearly always is.
        for half in (group[middle:], group[:middle]):
            n_attempts += 1
            outcome = attempt(frozenset(half))
            # One whose gaps prevent a computation may hide another who breaks it.
            if outcome is Outcome.FAILED or (outcome is Outcome.NOTHING and len(half) > 1):
                failed.append(half)
    return frozenset() if len(failing) == len(newest_first) else frozenset(failing)


# Logs and counts evaluations and publications, so that a submission can be followed to its board.

State = tuple[int, str | None, str]
"""A submission, the request that brought it, and its state."""


def log_states(what: str, states: Iterable[State]) -> None:
    """Log a line for each submission with its state and the request that brought it."""
    for number, request_id, status in states:
        event(logger, what, submission=number, request_id=request_id, status=status)


def note_publication(
    sessions: SessionFactory, publication: Publication, published: PublicationResult, took_s: float
) -> None:
    """Log and count a stored publication, and how long its new submissions took from upload to board."""
    if published.snapshot is None:
        return
    benchmark = publication.inputs.declared.benchmark
    telemetry.PUBLICATIONS.labels(_label(benchmark)).inc()
    telemetry.PUBLICATION_S.observe(took_s)
    for under_way_s in published.under_way_s.values():
        telemetry.POST_TO_BOARD_S.observe(max(0.0, under_way_s))
    number = published.snapshot.number
    event(logger, "benchmark published", benchmark=benchmark.slug, snapshot=number, seconds=round(took_s, 3))
    with sessions() as session:
        states = submissions.followed(session, published.under_way_s.keys())
    log_states("submission published", states)


def count_fault(sessions: SessionFactory, benchmark_id: int) -> None:
    """Count a publication that ended in a fault; the caller, who has the traceback, logs it."""
    with sessions() as session:
        benchmark = benchmark_rows.get_benchmark(session, benchmark_id)
    telemetry.PUBLICATION_FAILURES.labels(_label(benchmark)).inc()


def _label(benchmark: Benchmark) -> str:
    return benchmark.slug if benchmark.visibility == "public" else telemetry.NOT_PUBLIC
