"""Storing a computed state of a benchmark as one immutable snapshot. Called by `app.jobs.publish`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, and_, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from app.db.driver import bulk_cursor
from app.db.models import Snapshot, Submission, SubmissionEvent
from app.db.models.server_faults import ASIDE, KEPT, MISSING
from app.store import benchmark_rows, server_faults, stale_boards, web_processes
from app.store.publication_inputs import Inputs, Withdrawal
from app.store.server_faults import Fault
from app.store.sql_arrays import one_of


@dataclass(frozen=True)
class Publication:
    """A computed state of a benchmark, ready to be stored; `changes` are those since the snapshot `before`.

    `tables` are by name, already packed by `pack_table`, so that nothing is locked while packing. `faults` are those of
    the server that cost a board or somebody on it something.
    """

    inputs: Inputs
    tables: Mapping[str, bytes]
    code_version: str
    changes: Sequence[Mapping[str, Any]]
    before: int | None
    faults: Sequence[Fault] = ()


@dataclass(frozen=True)
class Published:
    """The result of a publication: the snapshot, and for each newly published submission the time since its upload.

    The snapshot is None where something newer is already published.
    """

    snapshot: Snapshot | None
    under_way_s: Mapping[int, float]


def store_publication(session: Session, publication: Publication) -> Published:
    """Store a snapshot and make it the current one, unless something newer is published already.

    The same inputs, manifest and code give the same snapshot, so a repeat only updates the counters; one that
    lacks something by a fault of the server never serves as the same.
    """
    inputs = publication.inputs
    _lock_evaluated(session, inputs)
    benchmark = benchmark_rows.lock_benchmark(session, inputs.declared.benchmark.id)
    if benchmark.snapshot_id is not None and benchmark.published_version > inputs.data_version:
        return Published(None, {})
    same = _find_same(session, publication)
    snapshot = same or _add_snapshot(session, publication)
    benchmark.snapshot_id = snapshot.id
    benchmark.published_version = inputs.data_version
    stale_boards.forget_failures(session, benchmark)
    if same is None:
        server_faults.keep_faults(session, benchmark.id, publication.faults)
    session.flush()
    under_way_s = _mark_published(session, publication, snapshot)
    benchmark_rows.mark_boards_changed(session, benchmark.id)
    if under_way_s:
        web_processes.note_published(session, benchmark.id, under_way_s)
    return Published(snapshot, under_way_s)


def _lock_evaluated(session: Session, inputs: Inputs) -> None:
    """Lock the submissions that are about to be published, because submissions come before the benchmark."""
    query = select(Submission.id).where(_is_evaluated(inputs)).order_by(Submission.id)
    session.execute(query.with_for_update(key_share=True))


def _is_evaluated(inputs: Inputs) -> ColumnElement[bool]:
    return and_(one_of(Submission.id, (s.submission_id for s in inputs.standings)), Submission.status == "evaluated")


def _find_same(session: Session, publication: Publication) -> Snapshot | None:
    inputs = publication.inputs
    return session.scalar(
        select(Snapshot).where(
            Snapshot.benchmark_id == inputs.declared.benchmark.id,
            Snapshot.input_digest == inputs.digest,
            Snapshot.manifest_digest == inputs.declared.version.sha256,
            Snapshot.code_version == publication.code_version,
            ~Snapshot.is_faulty,
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
        input_digest=inputs.digest,
        manifest_digest=inputs.declared.version.sha256,
        code_version=publication.code_version,
        rng_seeds={board.name: board.uncertainty.rng_seed for board in boards},
        withdrawals=[_tombstone(withdrawal) for withdrawal in inputs.withdrawals],
        changes=list(publication.changes),
        before=publication.before,
        is_faulty=bool(publication.faults),
    )
    session.add(snapshot)
    session.flush()
    _add_tables(session, snapshot.id, publication)
    return snapshot


def _add_tables(session: Session, snapshot_id: int, publication: Publication) -> None:
    statement = "COPY snapshot_entry (snapshot_id, entrant_id, submission_id, task_ids) FROM STDIN (FORMAT BINARY)"
    with bulk_cursor(session) as cursor, cursor.copy(statement) as copy:
        copy.set_types(["int8", "int4", "int8", "int4[]"])
        for s in publication.inputs.standings:
            tasks = None if s.task_ids is None else list(s.task_ids)
            copy.write_row((snapshot_id, s.entrant_id, s.submission_id, tasks))
    # Binary too: as a parameter of a statement each byte of a table would be written as text.
    statement = "COPY snapshot_table (snapshot_id, name, content) FROM STDIN (FORMAT BINARY)"
    with bulk_cursor(session) as cursor, cursor.copy(statement) as copy:
        copy.set_types(["int8", "text", "bytea"])
        for name, content in publication.tables.items():
            copy.write_row((snapshot_id, name, content))


def _tombstone(withdrawal: Withdrawal) -> dict[str, Any]:
    return {
        "submission": withdrawal.submission_id,
        "entrants": list(withdrawal.entrants),
        "at": withdrawal.at.isoformat(),
        "reason": withdrawal.reason,
    }


def _mark_published(session: Session, publication: Publication, snapshot: Snapshot) -> dict[int, float]:
    """Move the evaluated submissions that the snapshot shows to published, in one statement."""
    age_s = func.extract("epoch", func.clock_timestamp() - Submission.received_at)
    changed = update(Submission).where(_is_evaluated(publication.inputs)).values(status="published")
    moved = {number: float(s) for number, s in session.execute(changed.returning(Submission.id, age_s))}
    if moved:
        events = [
            {"submission_id": number, "status": "published", "reason": _reason(publication, snapshot, number)}
            for number in sorted(moved)
        ]
        session.execute(insert(SubmissionEvent).values(events))
    return moved


def _reason(publication: Publication, snapshot: Snapshot, number: int) -> str:
    """Say since when a submission is on the boards, and on which it is not by a fault of the server."""
    lost = {
        f"{fault.place} (fault {fault.number})": None
        for fault in publication.faults
        if snapshot.is_faulty
        and (fault.what in (KEPT, MISSING) or (fault.what == ASIDE and fault.submission_id == number))
    }
    if not lost:
        return f"On the boards since snapshot {snapshot.number}."
    return f"Part of snapshot {snapshot.number}, but by a fault of this server not on {', '.join(lost)}."
