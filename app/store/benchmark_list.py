"""The list of benchmarks, with what each has. For the pages that show it."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import distinct, func, select
from sqlalchemy.orm import Session

from app.db.models import Benchmark, Entry, Snapshot, Submission
from app.manifest.manifest import Manifest
from app.store.benchmarks import load_declared
from app.store.life import Retirement, list_retired


@dataclass(frozen=True)
class BenchmarkSummary:
    """What the front page says of a benchmark."""

    slug: str
    manifest: Manifest
    n_entrants: int
    n_submissions: int
    snapshot_number: int | None
    published_at: datetime | None
    retired: Retirement | None = None


def list_benchmarks(session: Session) -> list[BenchmarkSummary]:
    """Return what the front page shows, in the order of the slugs."""
    entrants = select(func.count(distinct(Entry.entrant_id))).where(
        Entry.state == "current", Entry.submission_id == Submission.id, Submission.benchmark_id == Benchmark.id
    )
    submissions = select(func.count()).where(Submission.benchmark_id == Benchmark.id)
    query = (
        select(Benchmark, entrants.scalar_subquery(), submissions.scalar_subquery(), Snapshot)
        .outerjoin(Snapshot, Snapshot.id == Benchmark.snapshot_id)
        .order_by(Benchmark.slug)
    )
    retired = list_retired(session)
    return [
        BenchmarkSummary(
            slug=benchmark.slug,
            manifest=load_declared(session, benchmark).manifest,
            n_entrants=n_entrants,
            n_submissions=n_submissions,
            snapshot_number=snapshot.number if snapshot else None,
            published_at=snapshot.published_at if snapshot else None,
            retired=retired.get(benchmark.id),
        )
        for benchmark, n_entrants, n_submissions, snapshot in session.execute(query)
    ]


def count_benchmarks(session: Session) -> int:
    """Return how many benchmarks there are."""
    return session.scalars(select(func.count()).select_from(Benchmark)).one()
