"""Which evidence is current, and which boards are therefore outdated.

Evidence supersedes what was current of an entrant before: all of it, or, where a board is composed of tasks that are
each a run of their own, the tasks that it has. A withdrawal takes it off the boards.

Why: docs/adr/017-life-of-a-submission.md.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, delete, func, insert, or_, select, update
from sqlalchemy.orm import Session, aliased

from app.db.models import (
    FAULTS,
    OF_BOARDS,
    PUBLICATION,
    Benchmark,
    Entrant,
    EntrantTransfer,
    Entry,
    Score,
    ServerFault,
    Snapshot,
    StoredTask,
    Submission,
    SubmissionEvent,
    SubmissionTable,
)
from app.errors import Conflict
from app.store.benchmark_rows import lock_benchmark, mark_boards_changed, mark_data_changed
from app.store.snapshots import still_stands
from app.store.sql import is_due, one_of, retry_time
from app.store.submissions import entrant_ids, list_events, lock_rows, set_status


def make_current(session: Session, submission_ids: Collection[int]) -> None:
    """Make locked submissions the evidence of their entrants, superseding what was current before.

    No entrant is in two of them. An entrant that already has newer evidence keeps it: the later upload wins, whichever
    is evaluated first.
    """
    beside = _other_evidence(session, submission_ids)
    entries = _entries(session, submission_ids)
    for entry in entries:
        _make_current(session, entry, beside.get(entry.entrant_id, ()))
    session.flush()
    changed = [
        *entries,
        *(other for others in beside.values() for other in others if other.superseded_by in submission_ids),
    ]
    _close_superseded(session, {entry.submission_id for entry in changed if entry.state == "superseded"})


def close_entries(session: Session, submission: Submission) -> None:
    """Close all entries of a locked submission that was not admitted, so that they do not count.

    Names that the submitter holds by nothing else become free again.
    """
    for entry in _entries(session, [submission.id]):
        entry.state = "not_admitted"
    session.flush()
    _release_names(session, submission)


def withdraw(session: Session, submission: Submission, reason: str) -> None:
    """Take a locked submission off the boards; its rows, and the reason, stay public.

    What it superseded does not become current again: otherwise one could submit often and keep the best. Where its
    evidence was never current, its submitter also gives back the names of entrants that they own by nothing else.
    Raises Conflict when it was withdrawn already.
    """
    entries = _entries(session, [submission.id])
    if submission.status == "withdrawn":
        raise Conflict(f"Submission {submission.id} was withdrawn already.")
    for entry in entries:
        entry.state = "not_admitted" if entry.state == "not_admitted" else "withdrawn"
    set_status(session, submission, "withdrawn", reason)
    if not was_current(session, submission.id):
        _release_names(session, submission)


def set_aside(session: Session, submission: Submission, reason: str) -> None:
    """Take a locked submission off boards that cannot be published with it; the fault may be the server's.

    Its entrants' previous evidence becomes current again, so that nobody loses a rank, and the same bytes may be
    submitted again. Evidence superseded task by task does not come back.
    """
    returning: set[int] = set()
    for entry in _entries(session, [submission.id]):
        if entry.state == "current":
            entry.state = "set_aside"
            returning |= _bring_back(session, entry)
    set_status(session, submission, "set_aside", reason)
    for number in sorted(returning):
        (older,) = lock_rows(session, [number])
        if older.status == "superseded":
            set_status(session, older, "evaluated", f"Current again: submission {submission.id} was set aside.")


def _bring_back(session: Session, entry: Entry) -> set[int]:
    """Make what an entry superseded current again and return its submissions."""
    by_it = (Entry.superseded_by == entry.submission_id, Entry.entrant_id == entry.entrant_id)
    older = session.scalars(select(Entry).where(*by_it)).all()
    for other in older:
        other.state, other.superseded_by = "current", None
    return {other.submission_id for other in older}


def was_current(session: Session, submission_id: int) -> bool:
    """Say whether a submission was ever admitted and evaluated, published or not, whatever its status now."""
    return any(event.status == "evaluated" for event in list_events(session, submission_id))


def tasks_of(session: Session, entry: Entry) -> list[str] | None:
    """Return the tasks that an entry counts for by itself; None where entries count whole, or not at all."""
    if entry.task_ids is None or entry.state != "current":
        return None
    return list(
        session.scalars(
            select(StoredTask.name).where(StoredTask.id.in_(entry.task_ids)).order_by(StoredTask.name)
        ).all()
    )


def _entries(session: Session, submission_ids: Collection[int]) -> Sequence[Entry]:
    query = select(Entry).where(one_of(Entry.submission_id, submission_ids))
    return session.scalars(query.order_by(Entry.submission_id, Entry.entrant_id)).all()


def _release_names(session: Session, submission: Submission) -> None:
    """Release the submitter's ownership of its entrants, except where another submission, or a steward, granted it."""
    other = aliased(Entry)
    held = (
        select(other.submission_id)
        .join(Submission, Submission.id == other.submission_id)
        .where(
            other.entrant_id == Entrant.id,
            other.submission_id != submission.id,
            or_(other.state == "pending", _was_current(other)),
            Submission.token_id == submission.token_id,
        )
    )
    given = select(EntrantTransfer.id).where(EntrantTransfer.entrant_id == Entrant.id)
    session.execute(
        update(Entrant)
        .where(
            Entrant.id.in_(entrant_ids(session, submission.id)),
            Entrant.owner_id == submission.token_id,
            ~held.exists(),
            ~given.exists(),
        )
        .values(owner_id=None)
    )


def _was_current(entry: type[Entry]) -> ColumnElement[bool]:
    """Say whether an entry was ever the evidence of its entrant, whatever became of it."""
    evaluated = select(SubmissionEvent.id).where(
        SubmissionEvent.submission_id == entry.submission_id, SubmissionEvent.status == "evaluated"
    )
    return or_(entry.state.in_(("current", "superseded")), and_(entry.state == "withdrawn", evaluated.exists()))


def _other_evidence(session: Session, submission_ids: Collection[int]) -> dict[int, list[Entry]]:
    """Return the other evidence that the entrants of submissions ever had, by entrant, the oldest first."""
    own = select(Entry.entrant_id).where(one_of(Entry.submission_id, submission_ids))
    query = (
        select(Entry)
        .where(Entry.entrant_id.in_(own), ~one_of(Entry.submission_id, submission_ids), _was_current(Entry))
        .order_by(Entry.submission_id)
    )
    by_entrant: dict[int, list[Entry]] = {}
    for entry in session.scalars(query):
        by_entrant.setdefault(entry.entrant_id, []).append(entry)
    return by_entrant


def _make_current(session: Session, entry: Entry, beside: Sequence[Entry]) -> None:
    entry.state = "current"
    for other in beside:
        if other.submission_id > entry.submission_id:
            _supersede(session, entry, other)
    for standing in beside:
        if standing.submission_id < entry.submission_id and standing.state == "current":
            _supersede(session, standing, entry)


def _supersede(session: Session, entry: Entry, newer: Entry) -> None:
    """Remove the tasks covered by newer evidence; an entry left without tasks is superseded."""
    if entry.state != "current":
        return
    left = set() if newer.task_ids is None else _task_ids(session, entry) - set(newer.task_ids)
    if left:
        entry.task_ids = sorted(left)
    else:
        entry.state, entry.superseded_by = "superseded", newer.submission_id


def _task_ids(session: Session, entry: Entry) -> set[int]:
    if entry.task_ids is not None:
        return set(entry.task_ids)
    query = select(Score.task_id).where(
        Score.submission_id == entry.submission_id, Score.entrant_id == entry.entrant_id
    )
    return set(session.scalars(query.distinct()).all())


def _close_superseded(session: Session, submission_ids: Collection[int]) -> None:
    """Mark submissions that are no longer any entrant's evidence as superseded."""
    if not submission_ids:
        return
    held: dict[int, list[Entry]] = {}
    for entry in _entries(session, submission_ids):
        held.setdefault(entry.submission_id, []).append(entry)
    closed = [number for number, entries in held.items() if {entry.state for entry in entries} == {"superseded"}]
    for submission in lock_rows(session, closed):
        if submission.status != "superseded":
            newer = ", ".join(str(n) for n in sorted({entry.superseded_by or 0 for entry in held[submission.id]}))
            set_status(session, submission, "superseded", f"Newer evidence of every entrant: submission {newer}.")


@dataclass(frozen=True)
class Fault:
    """A fault by its short number, what it cost (`app.db.models`), where and whom; `error` is not public.

    `place` is the name of a board or table.
    """

    number: str
    what: str
    error: str
    place: str | None = None
    submission_id: int | None = None


def note_publish_failure(session: Session, benchmark_id: int, fault: Fault) -> int:
    """Remember that the boards could not be published, for the pages to say, and return how often that happened.

    The sweep waits twice as long before each further try. Boards with evidence that was withdrawn since are taken down.
    """
    benchmark = lock_benchmark(session, benchmark_id)
    if benchmark.snapshot_id is not None and not still_stands(session, benchmark.snapshot_id):
        benchmark.snapshot_id = None
    forget_board_faults(session, benchmark_id, PUBLICATION)
    keep_faults(session, benchmark_id, [fault])
    benchmark.publish_error = f"fault {fault.number} of this server; its operators are told"
    benchmark.publish_tries += 1
    benchmark.publish_retry_at = retry_time(benchmark.publish_tries)
    session.flush()
    mark_boards_changed(session, benchmark_id)
    return benchmark.publish_tries


def forget_failures(session: Session, benchmark: Benchmark) -> None:
    """Clear the recorded faults of a locked benchmark's boards."""
    forget_board_faults(session, benchmark.id)
    benchmark.publish_error, benchmark.publish_tries, benchmark.publish_retry_at = None, 0, None


def stale_benchmarks(session: Session) -> Sequence[Benchmark]:
    """Return the benchmarks whose boards are behind their evidence, but for those that failed and wait a while."""
    query = select(Benchmark).where(_behind(), _due())
    return session.scalars(query.order_by(Benchmark.id)).all()


def mark_faulty(session: Session, code_version: str) -> None:
    """Mark the boards as outdated that lack something by a fault of another version: this one may have it mended."""
    query = select(Benchmark.id).join(Snapshot, Snapshot.id == Benchmark.snapshot_id)
    faulty = query.where(Snapshot.is_faulty, Snapshot.code_version != code_version).order_by(Benchmark.id)
    for benchmark_id in session.scalars(faulty).all():
        mark_data_changed(session, benchmark_id)


def is_behind(session: Session, benchmark_id: int, *, is_due: bool = False) -> bool:
    """Say whether the boards of a benchmark are behind its evidence, and, if asked, may be tried again already."""
    query = select(Benchmark.id).where(Benchmark.id == benchmark_id, _behind(), *([_due()] if is_due else []))
    return session.scalar(query) is not None


def _behind() -> ColumnElement[bool]:
    return Benchmark.data_version > Benchmark.published_version


def _due() -> ColumnElement[bool]:
    return is_due(Benchmark.publish_retry_at)


# What faults of the server cost, for the health page, /metrics and its alerts.


def keep_faults(session: Session, benchmark_id: int, faults: Iterable[Fault]) -> None:
    """Record faults of a benchmark."""
    rows = [{"benchmark_id": benchmark_id, **vars(fault)} for fault in faults]
    if rows:
        session.execute(insert(ServerFault), rows)


def forget_board_faults(session: Session, benchmark_id: int, *whats: str) -> None:
    """Remove what held until the boards were published anew, or only some of it."""
    here = ServerFault.benchmark_id == benchmark_id
    session.execute(delete(ServerFault).where(here, ServerFault.what.in_(whats or OF_BOARDS)))


def count_faults(session: Session) -> dict[str, int]:
    """Return how many things each kind of fault costs now, of the benchmarks that the reader may see."""
    query = select(ServerFault.what, func.count()).join(Benchmark, Benchmark.id == ServerFault.benchmark_id)
    counted = dict(session.execute(query.group_by(ServerFault.what)).all())
    return {what: counted.get(what, 0) for what in FAULTS}


def list_faults(session: Session, most: int) -> Sequence[tuple[str, ServerFault]]:
    """Return the newest faults that the reader may see, each with the slug of its benchmark."""
    query = select(Benchmark.slug, ServerFault).join(ServerFault, Benchmark.id == ServerFault.benchmark_id)
    return [(slug, fault) for slug, fault in session.execute(query.order_by(ServerFault.id.desc()).limit(most))]


# Submissions that wait to be evaluated, and which of them go together.

MOST_TOGETHER, MOST_ROWS_TOGETHER = 100, 150_000
"""Most submissions, and most rows, per transaction, so that a fault or another benchmark never has to wait long."""


def benchmarks_waiting(session: Session, older_than_s: float) -> Sequence[int]:
    """Return the benchmarks with a submission that has waited too long, power and debug runs among them."""
    age = func.extract("epoch", func.clock_timestamp() - Submission.received_at)
    # Younger than nothing is what came before the database's clock was set back: how long it has waited is not known.
    waits_long = or_(age > older_than_s, age < 0)
    query = select(Submission.benchmark_id).where(_waits(), waits_long).distinct()
    return session.scalars(query.order_by(Submission.benchmark_id)).all()


def next_together(session: Session, benchmark_id: int, tried: Collection[int] = ()) -> list[int]:
    """Return the submissions of a benchmark that can be evaluated together, the oldest that waits first.

    They were made under one version of its manifest, all to be ranked or all only to be shown, and no entrant is in two
    of them. Those `tried` before are left out.
    """
    together: list[int] = []
    alike, n_rows, entrants = None, 0, set[int]()
    for number, version, status, rows, named in session.execute(_oldest(benchmark_id, tried)):
        n_rows += rows
        if together and (alike != (version, status) or n_rows > MOST_ROWS_TOGETHER or entrants & set(named)):
            break
        alike, entrants = (version, status), entrants | set(named)
        together.append(number)
    return together


def _oldest(benchmark_id: int, tried: Collection[int]) -> Select[int, int, str, int, Any]:
    entrants = select(func.coalesce(func.array_agg(Entry.entrant_id), [])).where(Entry.submission_id == Submission.id)
    columns = (Submission.id, Submission.manifest_version_id, Submission.status, Submission.n_rows)
    of_benchmark = and_(Submission.benchmark_id == benchmark_id, ~one_of(Submission.id, tried))
    query = select(*columns, entrants.scalar_subquery()).where(of_benchmark, _waits())
    return query.order_by(Submission.id).limit(MOST_TOGETHER)


def _waits() -> ColumnElement[bool]:
    has_summary = select(SubmissionTable.name).where(
        SubmissionTable.submission_id == Submission.id, SubmissionTable.name == "summary"
    )
    shown_only = and_(
        Submission.status == "not_admitted", Submission.run_purpose != "leaderboard", ~has_summary.exists()
    )
    return and_(or_(Submission.status == "received", shown_only), is_due(Submission.evaluation_retry_at))
