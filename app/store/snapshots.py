"""Snapshots: immutable published states, their tables, and what changed from one to the next."""

import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from datetime import datetime
from typing import Any, Self

from sqlalchemy import ColumnElement, and_, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session, aliased

from app.boards.provenance import Provenance
from app.db.models import (
    Benchmark,
    Entrant,
    Entry,
    ManifestVersion,
    Snapshot,
    SnapshotEntry,
    SnapshotTable,
    Submission,
    SubmissionEvent,
)
from app.errors import NotFound
from app.store import benchmarks, entrants
from app.store.benchmarks import Declared
from app.store.measured import Piece
from app.values.table import Table

# A square of 200 entrants is 8 MB of JSON: the quickest level takes a quarter of the time for a fifth more bytes.
PACKED_AT = 1


@dataclass(frozen=True)
class Standing:
    """An entrant and a submission it stands on in a snapshot, for all of its tasks or for these."""

    entrant_id: int
    entrant: str
    submission_id: int
    submission_digest: str
    task_ids: tuple[int, ...] | None

    @property
    def piece(self) -> Piece:
        """The evidence that it is."""
        return Piece((self.submission_id, self.entrant_id), self.task_ids)

    def described(self) -> list[Any]:
        """Return what decides the numbers of the entrant."""
        tasks = [] if self.task_ids is None else [list(self.task_ids)]
        return [self.entrant, self.submission_id, self.submission_digest, *tasks]


@dataclass(frozen=True)
class Withdrawal:
    """A tombstone: what was withdrawn, when and why."""

    submission_id: int
    entrants: tuple[str, ...]
    at: datetime
    reason: str


@dataclass(frozen=True)
class Inputs:
    """Everything a snapshot is computed from, read at one instant; `known` is what stands on the rows beside ranks."""

    data_version: int
    declared: Declared
    standings: tuple[Standing, ...]
    withdrawals: tuple[Withdrawal, ...]
    superseded: tuple[int, ...]
    left_out: frozenset[int] = frozenset()
    known: Mapping[str, Provenance] = field(default_factory=dict)

    def by_entrant(self) -> dict[str, list[Standing]]:
        """Return what each entrant stands on, the oldest first."""
        stood: dict[str, list[Standing]] = {}
        for standing in self.standings:
            stood.setdefault(standing.entrant, []).append(standing)
        return stood

    def without(self, numbers: frozenset[int]) -> Self:
        """Return the same without some submissions: what would be published if they were not there."""
        kept = tuple(s for s in self.standings if s.submission_id not in numbers)
        return replace(self, standings=kept, left_out=numbers)

    def digest(self) -> str:
        """Return the SHA-256 of the admitted submissions, the superseded and withdrawn ones, and what is known."""
        described = {
            "admitted": [standing.described() for standing in self.standings],
            "superseded": list(self.superseded),
            "withdrawn": [w.submission_id for w in self.withdrawals],
            "known": {name: astuple(self.known[name]) for name in sorted(self.known)},
        }
        return hashlib.sha256(json.dumps(described, separators=(",", ":")).encode()).hexdigest()


@dataclass(frozen=True)
class Publication:
    """A computed state of a benchmark, ready to be stored; `changes` are those since the snapshot `before`."""

    inputs: Inputs
    tables: Sequence[Table]
    code_version: str
    changes: Sequence[Mapping[str, Any]]
    before: int | None


def read_inputs(session: Session, benchmark_id: int) -> Inputs:
    """Read what the boards are computed from; the caller's transaction makes it one instant."""
    benchmark = session.get(Benchmark, benchmark_id, populate_existing=True)
    if benchmark is None:
        raise NotFound(f"There is no benchmark with number {benchmark_id}.")
    return Inputs(
        data_version=benchmark.data_version,
        declared=benchmarks.load_declared(session, benchmark),
        standings=_standings(session, benchmark_id),
        withdrawals=_withdrawals(session, benchmark_id),
        superseded=_superseded(session, benchmark_id),
    )


def _superseded(session: Session, benchmark_id: int) -> tuple[int, ...]:
    """Return the submissions of which an entrant stands on newer evidence: their claims stay listed."""
    query = select(Entry.submission_id).join(Submission, Submission.id == Entry.submission_id)
    query = query.where(Submission.benchmark_id == benchmark_id, Entry.state == "superseded")
    return tuple(session.scalars(query.distinct().order_by(Entry.submission_id)).all())


def _standings(session: Session, benchmark_id: int) -> tuple[Standing, ...]:
    digests = select(Submission.id, Submission.digest).where(Submission.benchmark_id == benchmark_id)
    by_id = dict(session.execute(digests).all())
    return tuple(
        Standing(
            entrant.id,
            entrant.name,
            entry.submission_id,
            by_id[entry.submission_id],
            None if entry.task_ids is None else tuple(entry.task_ids),
        )
        for entrant, entry in entrants.current_entries(session, benchmark_id)
    )


def _withdrawals(session: Session, benchmark_id: int) -> tuple[Withdrawal, ...]:
    stood = aliased(SubmissionEvent)
    evaluated = select(stood.id).where(stood.submission_id == Submission.id, stood.status == "evaluated")
    query = (
        select(Submission.id, SubmissionEvent.at, SubmissionEvent.reason)
        .join(SubmissionEvent, SubmissionEvent.submission_id == Submission.id)
        .where(Submission.benchmark_id == benchmark_id, SubmissionEvent.status == "withdrawn", evaluated.exists())
        .order_by(Submission.id)
    )
    return tuple(
        Withdrawal(number, _entrant_names(session, number), at, reason) for number, at, reason in session.execute(query)
    )


def _entrant_names(session: Session, submission_id: int) -> tuple[str, ...]:
    query = select(Entrant.name).join(Entry, Entry.entrant_id == Entrant.id)
    return tuple(session.scalars(query.where(Entry.submission_id == submission_id).order_by(Entrant.name)).all())


def store_publication(session: Session, publication: Publication) -> Snapshot | None:
    """Store a snapshot and make it the current one, unless something newer is published already.

    The same inputs, manifest and code make the same snapshot, so a repeat only moves the counters.
    Returns None when a newer state is published already.
    """
    inputs = publication.inputs
    _lock_evaluated(session, inputs)
    benchmark = benchmarks.lock_benchmark(session, inputs.declared.benchmark.id)
    if benchmark.snapshot_id is not None and benchmark.published_version > inputs.data_version:
        return None
    snapshot = _find_same(session, publication) or _add_snapshot(session, publication)
    benchmark.snapshot_id = snapshot.id
    benchmark.published_version = inputs.data_version
    benchmarks.forget_failures(benchmark)
    session.flush()
    _mark_published(session, publication, snapshot)
    benchmarks.mark_boards_changed(session, benchmark.id)
    return snapshot


def _lock_evaluated(session: Session, inputs: Inputs) -> None:
    """Lock the submissions that are about to be published, because submissions come before the benchmark."""
    query = select(Submission.id).where(_is_evaluated(inputs)).order_by(Submission.id)
    session.execute(query.with_for_update(key_share=True))


def _is_evaluated(inputs: Inputs) -> ColumnElement[bool]:
    return and_(Submission.id.in_({s.submission_id for s in inputs.standings}), Submission.status == "evaluated")


def _find_same(session: Session, publication: Publication) -> Snapshot | None:
    inputs = publication.inputs
    return session.scalar(
        select(Snapshot).where(
            Snapshot.benchmark_id == inputs.declared.benchmark.id,
            Snapshot.input_digest == inputs.digest(),
            Snapshot.manifest_digest == inputs.declared.version.sha256,
            Snapshot.code_version == publication.code_version,
        )
    )


def _add_snapshot(session: Session, publication: Publication) -> Snapshot:
    inputs = publication.inputs
    benchmark_id = inputs.declared.benchmark.id
    newest = session.scalar(select(func.max(Snapshot.number)).where(Snapshot.benchmark_id == benchmark_id))
    boards = inputs.declared.manifest.leaderboards
    snapshot = Snapshot(
        benchmark_id=benchmark_id,
        number=(newest or 0) + 1,
        manifest_version_id=inputs.declared.version.id,
        input_digest=inputs.digest(),
        manifest_digest=inputs.declared.version.sha256,
        code_version=publication.code_version,
        rng_seeds={board.name: board.uncertainty.rng_seed for board in boards},
        withdrawals=[_tombstone(withdrawal) for withdrawal in inputs.withdrawals],
        changes=list(publication.changes),
        before=publication.before,
    )
    session.add(snapshot)
    session.flush()
    _add_tables(session, snapshot.id, publication)
    return snapshot


def _add_tables(session: Session, snapshot_id: int, publication: Publication) -> None:
    session.add_all(
        SnapshotEntry(
            snapshot_id=snapshot_id,
            entrant_id=s.entrant_id,
            submission_id=s.submission_id,
            task_ids=None if s.task_ids is None else list(s.task_ids),
        )
        for s in publication.inputs.standings
    )
    session.add_all(
        SnapshotTable(snapshot_id=snapshot_id, name=table.name, content=pack_table(table))
        for table in publication.tables
    )
    session.flush()


def _tombstone(withdrawal: Withdrawal) -> dict[str, Any]:
    return {
        "submission": withdrawal.submission_id,
        "entrants": list(withdrawal.entrants),
        "at": withdrawal.at.isoformat(),
        "reason": withdrawal.reason,
    }


def _mark_published(session: Session, publication: Publication, snapshot: Snapshot) -> None:
    """Move the evaluated submissions that the snapshot shows to published, in one statement."""
    moved = session.scalars(
        update(Submission).where(_is_evaluated(publication.inputs)).values(status="published").returning(Submission.id)
    ).all()
    if moved:
        reason = f"On the boards since snapshot {snapshot.number}."
        events = [{"submission_id": number, "status": "published", "reason": reason} for number in sorted(moved)]
        session.execute(insert(SubmissionEvent).values(events))


def find_snapshot(session: Session, benchmark: Benchmark, number: int | None = None) -> Snapshot | None:
    """Return a snapshot by its number, or the current one (None before the first).

    Raises NotFound when there is none of that number.
    """
    if number is None:
        return None if benchmark.snapshot_id is None else session.get(Snapshot, benchmark.snapshot_id)
    query = select(Snapshot).where(Snapshot.benchmark_id == benchmark.id, Snapshot.number == number)
    snapshot = session.scalar(query)
    if snapshot is None:
        raise NotFound(f"{benchmark.slug} has no snapshot {number}.")
    return snapshot


def newest_snapshot(session: Session, benchmark_id: int) -> Snapshot | None:
    """Return the last snapshot that was made, which need not be the current one; None before the first."""
    query = select(Snapshot).where(Snapshot.benchmark_id == benchmark_id)
    return session.scalar(query.order_by(Snapshot.number.desc()).limit(1))


def list_snapshots(session: Session, benchmark_id: int) -> Sequence[Snapshot]:
    """Return every snapshot of a benchmark, the newest first."""
    query = select(Snapshot).where(Snapshot.benchmark_id == benchmark_id)
    return session.scalars(query.order_by(Snapshot.number.desc())).all()


def load_table(session: Session, snapshot_id: int, name: str) -> Table | None:
    """Return one published table, or None when the snapshot has none of that name."""
    stored = session.get(SnapshotTable, (snapshot_id, name))
    return None if stored is None else _unpack(stored.content)


def table_names(session: Session, snapshot_id: int) -> Sequence[str]:
    """Return the names of a snapshot's tables, in the order of the alphabet."""
    query = select(SnapshotTable.name).where(SnapshotTable.snapshot_id == snapshot_id)
    return session.scalars(query.order_by(SnapshotTable.name)).all()


def load_standings(session: Session, snapshot_id: int) -> dict[str, list[int]]:
    """Return which submissions each entrant stood on in a snapshot, the oldest first."""
    query = (
        select(Entrant.name, SnapshotEntry.submission_id)
        .join(Entrant, Entrant.id == SnapshotEntry.entrant_id)
        .where(SnapshotEntry.snapshot_id == snapshot_id)
        .order_by(Entrant.name, SnapshotEntry.submission_id)
    )
    stood: dict[str, list[int]] = {}
    for name, number in session.execute(query):
        stood.setdefault(name, []).append(number)
    return stood


def entrant_ids(session: Session, snapshot_id: int) -> list[tuple[int, int]]:
    """Return (submission, entrant) numbers of a snapshot, for reading its rows."""
    query = select(SnapshotEntry.submission_id, SnapshotEntry.entrant_id)
    return list(session.execute(query.where(SnapshotEntry.snapshot_id == snapshot_id)).all())


def pack_table(table: Table) -> bytes:
    """Return a table as it is stored. Raises ValueError or TypeError when something in it cannot be."""
    return zlib.compress(json.dumps(table.to_json(), separators=(",", ":"), allow_nan=False).encode(), PACKED_AT)


def _unpack(content: bytes) -> Table:
    return Table.from_json(json.loads(zlib.decompress(content)))


def manifest_numbers(session: Session, benchmark_id: int) -> dict[int, int]:
    """Return the version of each stored manifest of a benchmark by its id."""
    query = select(ManifestVersion.id, ManifestVersion.version).where(ManifestVersion.benchmark_id == benchmark_id)
    return dict(session.execute(query).all())


def manifest_version_number(session: Session, snapshot: Snapshot) -> int:
    """Return the version of the manifest that a snapshot was computed under."""
    query = select(ManifestVersion.version).where(ManifestVersion.id == snapshot.manifest_version_id)
    return session.scalars(query).one()
