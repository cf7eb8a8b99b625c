"""Widens who may read a benchmark, with a summary of what becomes visible; deletes drafts. For `app.web.publishing`."""

from dataclasses import dataclass

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from app.db.models import (
    Benchmark,
    BenchmarkChange,
    Delivery,
    DraftBoard,
    Entrant,
    Invitation,
    ItemSet,
    LabelSet,
    ManifestVersion,
    Notification,
    PreregBinding,
    RoleGrant,
    Snapshot,
    SnapshotTable,
    Submission,
    Task,
    Try,
)
from app.errors import Conflict
from app.store import benchmark_rows
from app.store.visibility import DRAFT, ORDER


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
    for model in (Notification, BenchmarkChange, DraftBoard, Try, Snapshot, ManifestVersion, LabelSet, Task, RoleGrant,
                  Invitation):  # fmt: skip
        session.execute(delete(model).where(model.benchmark_id == number))
    session.delete(benchmark)
    session.flush()
