"""The health of a server: what is waiting, failing, set aside or overdue."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from app.db.models import Benchmark, Submission, SubmissionEvent
from app.store import audit, current, labels, retention
from app.store.sql import one_of
from plumbline.retries import UNDER_WAY

STUCK_S = 300.0
"""Submissions pending longer than this are listed: by then the sweep has queued them sixty times."""
MOST_LISTED = 1000
LARGEST_TABLES = 15
SIZES = text(
    "SELECT relname, pg_total_relation_size(oid) FROM pg_class WHERE relkind IN ('r', 'p') "
    "AND relnamespace = 'public'::regnamespace ORDER BY 2 DESC LIMIT :most"
)
WORKERS = text("SELECT extract(epoch FROM clock_timestamp() - max(last_heartbeat)) FROM queue.procrastinate_workers")
EACH_WORKER = text(
    "SELECT id, extract(epoch FROM clock_timestamp() - last_heartbeat) FROM queue.procrastinate_workers ORDER BY id"
)
DATABASE = text("SELECT pg_database_size(current_database())")
# From the newest event backwards: with a backup each night it is among those of a day.
LAST_BACKUP = text(
    "SELECT extract(epoch FROM max(at)) FROM "
    "(SELECT at, action FROM audit_event ORDER BY id DESC LIMIT 200000) e WHERE action = :act"
)
MOST_SIZES = 50


@dataclass(frozen=True)
class ServerFigures:
    """Figures of a server, for the benchmarks visible to the reader; sizes and workers are global.

    `now` is the database's clock, in seconds of the epoch.
    """

    now: float
    by_status: Mapping[str, int]
    failing: Mapping[str, int]
    faults: Mapping[str, int]
    n_behind: int
    n_waiting: int
    oldest_s: float
    worker_silent_s: float
    each_worker_s: Mapping[str, float]
    table_bytes: Mapping[str, int]
    database_bytes: int


def count(session: Session) -> ServerFigures:
    """Return the figures of this instant."""
    by_status = select(Submission.status, func.count()).group_by(Submission.status).order_by(Submission.status)
    counted = _pairs(session.execute(by_status))
    oldest = select(func.min(Submission.received_at)).where(Submission.status.in_(UNDER_WAY))
    age = select(func.extract("epoch", func.clock_timestamp() - oldest.scalar_subquery()))
    failing = select(Benchmark.slug, Benchmark.publish_tries).where(Benchmark.publish_tries > 0)
    silent_s = worker_silent_s(session)
    return ServerFigures(
        now=float(session.scalar(select(func.extract("epoch", func.clock_timestamp()))) or 0),
        by_status=counted,
        failing=_pairs(session.execute(failing)),
        faults=current.count_faults(session),
        n_behind=len(current.stale_benchmarks(session)),
        n_waiting=sum(counted.get(status, 0) for status in UNDER_WAY),
        oldest_s=float(session.scalar(age) or 0),
        worker_silent_s=-1.0 if silent_s is None else silent_s,
        each_worker_s={str(number): float(seconds) for number, seconds in session.execute(EACH_WORKER)},
        table_bytes=_pairs(session.execute(SIZES, {"most": LARGEST_TABLES})),
        database_bytes=int(session.scalar(DATABASE) or 0),
    )


@dataclass(frozen=True)
class Slow:
    """What takes long to count: when the last backup was made, in seconds of the epoch, and bytes of benchmarks."""

    backed_up_at: float | None
    benchmark_bytes: Mapping[str, float]


def count_slowly(session: Session) -> Slow:
    """Return what is counted every few minutes; of the largest benchmarks, also of those that are not public."""
    each = retention.sizes(session)[1]
    sizes = {of.benchmark: of.snapshot_bytes + of.row_bytes for of in each}
    return Slow(last_backup(session), dict(sorted(sizes.items(), key=lambda one: -one[1])[:MOST_SIZES]))


def last_backup(session: Session) -> float | None:
    """Return when `plumbline db backup` last made one, in seconds of the epoch; None if it never has."""
    at = session.scalar(LAST_BACKUP, {"act": audit.BACKUP})
    return None if at is None else float(at)


def readable(session: Session, slugs: Collection[str]) -> frozenset[str]:
    """Return which of some benchmarks the reader may see."""
    return frozenset(session.scalars(select(Benchmark.slug).where(one_of(Benchmark.slug, slugs))))


def _pairs(rows: Iterable[Any]) -> dict[str, int]:
    return {str(row[0]): int(row[1]) for row in rows}


def worker_silent_s(session: Session) -> float | None:
    """Return how long ago any worker reported, None where none is known."""
    silent_s = session.scalar(WORKERS)
    return None if silent_s is None else float(silent_s)


@dataclass(frozen=True)
class Trouble:
    """One thing that a steward should look at: `what` is stuck, failing, set aside or overdue."""

    what: str
    benchmark: str
    submission: int | None
    since: datetime | None
    tries: int | None
    reason: str


def list_troubles(session: Session, within: Collection[str] | None) -> list[Trouble]:
    """Return what is wrong in some benchmarks, or in all of them, the worst kind first.

    Only whoever reads of all of them, an admin, reads the exceptions: their words may be of another's evidence.
    """
    faults = _faults(session, with_errors=within is None)
    troubles = [*_failing(session), *faults, *_stuck(session), *_overdue(session), *_set_aside(session)]
    return [each for each in troubles if within is None or each.benchmark in within][:MOST_LISTED]


def _failing(session: Session) -> Sequence[Trouble]:
    query = select(Benchmark).where(Benchmark.publish_tries > 0).order_by(Benchmark.slug)
    return [
        Trouble("failing", each.slug, None, each.publish_retry_at, each.publish_tries,
                f"The boards could not be published: {each.publish_error}. The next try is at the time given.")
        for each in session.scalars(query)
    ]  # fmt: skip


def _faults(session: Session, *, with_errors: bool) -> Sequence[Trouble]:
    return [
        Trouble(f"fault: {each.what}", slug, each.submission_id, each.at, None,
                f"Fault {each.number}{'' if each.place is None else f' of {each.place}'}. "
                f"{each.error if with_errors else 'An admin reads here what failed.'}")
        for slug, each in current.list_faults(session, MOST_LISTED)
    ]  # fmt: skip


def _stuck(session: Session) -> Sequence[Trouble]:
    age_s = func.extract("epoch", func.clock_timestamp() - Submission.received_at)
    query = (
        select(Benchmark.slug, Submission.id, Submission.received_at, Submission.status, Submission.evaluation_tries)
        .join(Submission, Submission.benchmark_id == Benchmark.id)
        .where(Submission.status.in_(UNDER_WAY), age_s > STUCK_S)
        .order_by(Submission.id)
        .limit(MOST_LISTED)
    )
    waits_for = {"received": "evaluated", "evaluated": "published"}
    return [
        Trouble("stuck", slug, number, since, tries, f"Received, and not {waits_for[status]} since. Is a worker there?")
        for slug, number, since, status, tries in session.execute(query)
    ]


def _overdue(session: Session) -> Sequence[Trouble]:
    reason = "Its time to close is over, and it is not closed: the sweep of a worker does it within seconds."
    return [Trouble("overdue", each.benchmark.slug, None, None, None, reason) for each in labels.due(session)]


def _set_aside(session: Session) -> Sequence[Trouble]:
    aside = (
        select(Submission.id).where(Submission.status == "set_aside").order_by(Submission.id.desc()).limit(MOST_LISTED)
    )
    numbers = session.scalars(aside).all()
    query = (
        select(Benchmark.slug, Submission.id, SubmissionEvent.at, SubmissionEvent.reason)
        .join(Submission, Submission.benchmark_id == Benchmark.id)
        .join(SubmissionEvent, SubmissionEvent.submission_id == Submission.id)
        .where(one_of(Submission.id, numbers), SubmissionEvent.status == "set_aside")
        .order_by(SubmissionEvent.id.desc())
    )
    return [Trouble("set aside", slug, number, at, None, reason) for slug, number, at, reason in session.execute(query)]
