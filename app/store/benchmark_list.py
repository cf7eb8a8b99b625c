"""The list of benchmarks with their counts, and which of them somebody publishes."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, delete, exists, func, select
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased

from app.db.models import (
    Benchmark,
    BenchmarkChange,
    Delivery,
    DraftManifest,
    Entrant,
    Entry,
    Invitation,
    ItemSet,
    LabelSet,
    ManifestVersion,
    Notification,
    PreregBinding,
    RoleGrant,
    Snapshot,
    SnapshotTable,
    StoredTask,
    Submission,
    Try,
)
from app.errors import Conflict
from app.rights.visibility import DRAFT, ORDER
from app.store import benchmark_rows
from app.store.benchmarks import Retirement, list_retired, newest_text


@dataclass(frozen=True)
class BenchmarkNames:
    """What a benchmark is called: its slug and title, and the names and titles of its leaderboards."""

    slug: str
    title: str
    leaderboards: Sequence[Mapping[str, str]]


@dataclass(frozen=True)
class BenchmarkSummary:
    """What the front page says of a benchmark."""

    names: BenchmarkNames
    evidence: str
    n_entrants: int
    n_submissions: int
    snapshot_number: int | None
    published_at: datetime | None
    retired: Retirement | None = None


def list_names(session: Session) -> list[BenchmarkNames]:
    """Return what every benchmark is called, in the order of the slugs."""
    query = (
        select(Benchmark.slug, *_shown_of_manifest())
        .select_from(Benchmark)
        .join(ManifestVersion, _is_newest())
        .order_by(Benchmark.slug)
    )
    return [BenchmarkNames(slug, new or title, boards) for slug, new, title, boards in session.execute(query)]


def list_benchmarks(session: Session, offset: int = 0, at_most: int | None = None) -> list[BenchmarkSummary]:
    """Return what the front page shows in the order of the slugs, of `at_most` benchmarks from the one at `offset`."""
    wanted = None if at_most is None else _numbers(session, offset, at_most)
    query = (
        select(Benchmark, ManifestVersion.evidence, Snapshot, *_shown_of_manifest())
        .select_from(Benchmark)
        .join(ManifestVersion, _is_newest())
        .outerjoin(Snapshot, Snapshot.id == Benchmark.snapshot_id)
        .order_by(Benchmark.slug)
    )
    rows = session.execute(query if wanted is None else query.where(Benchmark.id.in_(wanted))).all()
    entrants, submissions = _count_entrants(session, wanted), _counted(session, Submission.benchmark_id, wanted)
    retired = list_retired(session)
    return [
        BenchmarkSummary(
            names=BenchmarkNames(benchmark.slug, new_title or title, boards),
            evidence=evidence,
            n_entrants=entrants.get(benchmark.id, 0),
            n_submissions=submissions.get(benchmark.id, 0),
            snapshot_number=snapshot.number if snapshot else None,
            published_at=snapshot.published_at if snapshot else None,
            retired=retired.get(benchmark.id),
        )
        for benchmark, evidence, snapshot, new_title, title, boards in rows
    ]


def count_benchmarks(session: Session) -> int:
    """Return how many benchmarks there are."""
    return session.scalars(select(func.count()).select_from(Benchmark)).one()


def _numbers(session: Session, offset: int, at_most: int) -> list[int]:
    # Selected alone, they come from the index of slugs; joined with the rest, whole tables would be scanned.
    return list(session.scalars(select(Benchmark.id).order_by(Benchmark.slug).offset(offset).limit(at_most)))


def _count_entrants(session: Session, of: Collection[int] | None) -> dict[int, int]:
    """Return how many entrants have evidence that counts, by benchmark: of those asked for, or of all."""
    has_evidence = exists().where(Entry.entrant_id == Entrant.id, Entry.state == "current")
    return _counted(session, Entrant.benchmark_id, of, has_evidence)


def _counted(
    session: Session, benchmark_id: InstrumentedAttribute[int], of: Collection[int] | None, *where: ColumnElement[bool]
) -> dict[int, int]:
    asked = [] if of is None else [benchmark_id.in_(of)]
    query = select(benchmark_id, func.count()).where(*asked, *where).group_by(benchmark_id)
    return dict(session.execute(query).all())


def _shown_of_manifest() -> tuple[Any, ...]:
    return newest_text(BenchmarkChange.title), ManifestVersion.title, ManifestVersion.leaderboards


def _is_newest() -> ColumnElement[bool]:
    other = aliased(ManifestVersion)
    newest = select(func.max(other.version)).where(other.benchmark_id == Benchmark.id).correlate(Benchmark)
    return (ManifestVersion.benchmark_id == Benchmark.id) & (ManifestVersion.version == newest.scalar_subquery())


# Widens who may read a benchmark, with a summary of what becomes visible; deletes drafts. For `app.web.account`.


@dataclass(frozen=True)
class Contents:
    """What readers of a benchmark can see: how much of it, and who is named. Labels are never visible."""

    manifest_versions: int
    snapshots: int
    submissions: int
    registrations: int
    entrants: list[str]


def contents_of(session: Session, benchmark: Benchmark) -> Contents:
    """Return what who may read a benchmark finds there."""
    versions, snapshots, submissions = (
        session.scalars(select(func.count()).select_from(model).where(model.benchmark_id == benchmark.id)).one()
        for model in (ManifestVersion, Snapshot, Submission)
    )
    bound = select(func.count()).select_from(PreregBinding).where(PreregBinding.benchmark == benchmark.slug)
    names = select(Entrant.name).where(Entrant.benchmark_id == benchmark.id).order_by(Entrant.name)
    return Contents(versions, snapshots, submissions, session.scalars(bound).one(), list(session.scalars(names)))


def widen(session: Session, benchmark: Benchmark, visibility: str) -> None:
    """Let more people read a locked benchmark. Raises Conflict for fewer: what was public is known."""
    if ORDER.index(visibility) < ORDER.index(benchmark.visibility):
        raise Conflict(
            f"{benchmark.slug} is {benchmark.visibility} and cannot be made {visibility} again: what was read is known."
        )
    benchmark.visibility = visibility
    session.flush()
    benchmark_rows.mark_boards_changed(session, benchmark.id)


def delete_draft(session: Session, benchmark: Benchmark) -> None:
    """Delete a locked draft with all that is its own; the database refuses it for anything else. Raises Conflict."""
    if benchmark.visibility != DRAFT:
        raise Conflict(f"{benchmark.slug} is {benchmark.visibility}; only a draft can be deleted.")
    number = benchmark.id
    benchmark.snapshot_id = None
    session.flush()
    snapshots = select(Snapshot.id).where(Snapshot.benchmark_id == number)
    versions = select(ManifestVersion.id).where(ManifestVersion.benchmark_id == number)
    session.execute(delete(SnapshotTable).where(SnapshotTable.snapshot_id.in_(snapshots)))
    session.execute(delete(ItemSet).where(ItemSet.manifest_version_id.in_(versions)))
    notified = select(Notification.id).where(Notification.benchmark_id == number)
    session.execute(delete(Delivery).where(Delivery.notification_id.in_(notified)))
    for model in (Notification, BenchmarkChange, DraftManifest, Try, Snapshot, ManifestVersion, LabelSet, StoredTask,
                  RoleGrant, Invitation):  # fmt: skip
        session.execute(delete(model).where(model.benchmark_id == number))
    session.delete(benchmark)
    session.flush()
