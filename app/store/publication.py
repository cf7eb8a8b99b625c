"""Publishing in SQL: inputs read at one instant, a snapshot stored, provenance, and what a replay needs."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

from sqlalchemy import ColumnElement, and_, func, select, tuple_, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session, aliased

from app.boards.provenance import FRAME, Provenance
from app.db.engine import bulk_cursor
from app.db.models import (
    ASIDE,
    KEPT,
    MISSING,
    Benchmark,
    Entrant,
    Entry,
    LabelSecret,
    Snapshot,
    StoredFingerprint,
    StoredPrereg,
    StoredStanding,
    Submission,
    SubmissionEvent,
)
from app.errors import Conflict, NotFound
from app.kinds.registry import kind_of
from app.manifest.model import PUBLIC_PART, GridFacts, RequiredGrid
from app.rights import tokens
from app.store import benchmark_rows, benchmarks, current, grids, snapshots, web_processes
from app.store.benchmarks import Declared
from app.store.current import Fault
from app.store.disclosed import newest_shown
from app.store.entrants import is_gone, names_brought
from app.store.labels import deciding_part
from app.store.measured import EvidenceRef
from app.store.preregs import is_registered_or_cited
from app.store.row_blocks import pack_block
from app.store.rows import read_row_blocks, read_tasks, unowned_pairs
from app.store.sql import one_of
from app.values.facts import FAR_BEYOND

# What a publication is computed from, read at one instant in a fixed number of statements.


@dataclass(frozen=True)
class CurrentEvidence:
    """An entrant and a submission that is its evidence in a snapshot, for all of its tasks or for these.

    Where new results on private labels may not be shown, an older submission is `shown`, or the entrant is `silent`.
    """

    entrant_id: int
    entrant: str
    submission_id: int
    submission_digest: str
    task_ids: tuple[int, ...] | None
    shown: int | None = None
    silent: bool = False

    @property
    def ref(self) -> EvidenceRef:
        """The evidence that is shown."""
        return EvidenceRef((self.shown or self.submission_id, self.entrant_id), self.task_ids)

    def described(self) -> list[Any]:
        """Return everything that determines the entrant's numbers."""
        tasks = [] if self.task_ids is None else [list(self.task_ids)]
        disclosed = ["silent" if self.silent else self.shown] if self.silent or self.shown else []
        return [self.entrant, self.submission_id, self.submission_digest, *tasks, *disclosed]


@dataclass(frozen=True)
class Inputs:
    """The inputs of a snapshot, read at one instant; `known` is the provenance shown beside ranks.

    Each of `withdrawals` says what was withdrawn, when and why, as a snapshot stores it.
    """

    data_version: int
    declared: Declared
    standings: tuple[CurrentEvidence, ...]
    withdrawals: Sequence[Mapping[str, Any]]
    superseded: tuple[int, ...]
    left_out: frozenset[int] = frozenset()
    known: Mapping[str, Provenance] = field(default_factory=dict)
    commitment: str | None = None

    def by_entrant(self) -> dict[str, list[CurrentEvidence]]:
        """Return the current evidence of each entrant, the oldest first."""
        stood: dict[str, list[CurrentEvidence]] = {}
        for standing in self.standings:
            stood.setdefault(standing.entrant, []).append(standing)
        return stood

    def submissions(self) -> dict[str, list[int]]:
        """Return the submissions that are the current evidence of each entrant, the oldest first."""
        return {name: [each.submission_id for each in stood] for name, stood in self.by_entrant().items()}

    def without(self, submission_ids: frozenset[int]) -> Self:
        """Return the same without some submissions: what would be published if they were not there."""
        kept = tuple(s for s in self.standings if s.submission_id not in submission_ids)
        return replace(self, standings=kept, left_out=submission_ids)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the admitted, superseded and withdrawn submissions, what is known, items and labels."""
        items, labels = self.declared.manifest.asked.facts.digest, self.declared.manifest.asked.facts.part
        described = {
            "admitted": [standing.described() for standing in self.standings],
            "superseded": list(self.superseded),
            "withdrawn": [withdrawal["submission"] for withdrawal in self.withdrawals],
            "known": {
                name: [getattr(self.known[name], part) for part in PROVENANCE_PARTS] for name in sorted(self.known)
            },
            **({} if items is None else {"items": items}),
            **({} if self.commitment is None else {"labels": self.commitment, "part": labels}),
        }
        return hashlib.sha256(json.dumps(described, separators=(",", ":")).encode()).hexdigest()


class PackedTable(NamedTuple):
    """A table as it is stored, and the snapshot on whose table of the same name it rests; None: it is whole."""

    content: bytes
    base_id: int | None = None


@dataclass(frozen=True)
class Publication:
    """A computed state of a benchmark, ready to be stored; `changes` are those since the snapshot `before`.

    `tables` are by name, already packed by `pack_table`, so that nothing is locked while packing. `faults` are those of
    the server that cost a board or somebody on it something.
    """

    inputs: Inputs
    tables: Mapping[str, PackedTable]
    code_version: str
    changes: Sequence[Mapping[str, Any]]
    before: int | None
    faults: Sequence[Fault] = ()


@dataclass(frozen=True)
class PublicationResult:
    """The result of a publication: the snapshot, and for each newly published submission the time since its upload.

    The snapshot is None where something newer is already published.
    """

    snapshot: Snapshot | None
    under_way_s: Mapping[int, float]


def store_publication(session: Session, publication: Publication) -> PublicationResult:
    """Store a snapshot and make it the current one, unless something newer is published already.

    The same inputs, manifest and code give the same snapshot, so a repeat only updates the counters; one that
    lacks something by a fault of the server never serves as the same.
    """
    inputs = publication.inputs
    _lock_evaluated(session, inputs)
    benchmark = benchmark_rows.lock_benchmark(session, inputs.declared.benchmark.id)
    if benchmark.snapshot_id is not None and benchmark.published_version > inputs.data_version:
        return PublicationResult(None, {})
    same = _find_same(session, publication)
    snapshot = same or _add_snapshot(session, publication)
    benchmark.snapshot_id = snapshot.id
    benchmark.published_version = inputs.data_version
    current.forget_failures(session, benchmark)
    if same is None:
        current.keep_faults(session, benchmark.id, publication.faults)
    session.flush()
    under_way_s = _mark_published(session, publication, snapshot)
    benchmark_rows.mark_boards_changed(session, benchmark.id)
    if under_way_s:
        web_processes.note_published(session, benchmark.id, under_way_s)
    return PublicationResult(snapshot, under_way_s)


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
        withdrawals=list(inputs.withdrawals),
        changes=list(publication.changes),
        before=publication.before,
        is_faulty=bool(publication.faults),
    )
    session.add(snapshot)
    session.flush()
    _change_standings(session, snapshot, inputs)
    _add_tables(session, snapshot.id, publication)
    return snapshot


def _add_tables(session: Session, snapshot_id: int, publication: Publication) -> None:
    # Binary: as a parameter of a statement each byte of a table would be written as text.
    statement = "COPY snapshot_table (snapshot_id, name, base_id, content) FROM STDIN (FORMAT BINARY)"
    with bulk_cursor(session) as cursor, cursor.copy(statement) as copy:
        copy.set_types(["int8", "text", "int8", "bytea"])
        for name, packed in publication.tables.items():
            copy.write_row((snapshot_id, name, packed.base_id, packed.content))


def _change_standings(session: Session, snapshot: Snapshot, inputs: Inputs) -> None:
    """Note what stands anew from a snapshot on, and what stood until the one before."""
    columns = (StoredStanding.entrant_id, StoredStanding.submission_id, StoredStanding.task_ids)
    is_open = (StoredStanding.benchmark_id == snapshot.benchmark_id, StoredStanding.until.is_(None))
    before = {
        (entrant, submission, None if tasks is None else tuple(tasks))
        for entrant, submission, tasks in session.execute(select(*columns).where(*is_open))
    }
    after = {(s.entrant_id, s.submission_id, s.task_ids) for s in inputs.standings}
    over = [(entrant, submission) for entrant, submission, _ in sorted(before - after, key=repr)]
    if over:
        pair = tuple_(StoredStanding.entrant_id, StoredStanding.submission_id)
        session.execute(update(StoredStanding).where(*is_open, pair.in_(over)).values(until=snapshot.number))
    statement = "COPY standing (benchmark_id, entrant_id, submission_id, since, task_ids) FROM STDIN (FORMAT BINARY)"
    with bulk_cursor(session) as cursor, cursor.copy(statement) as copy:
        copy.set_types(["int4", "int4", "int8", "int4", "int4[]"])
        for entrant, submission, tasks in sorted(after - before, key=repr):
            of_tasks = None if tasks is None else list(tasks)
            copy.write_row((snapshot.benchmark_id, entrant, submission, snapshot.number, of_tasks))


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


PROVENANCE_PARTS = tuple(each.name for each in fields(Provenance))


def read_inputs(session: Session, benchmark_id: int) -> Inputs:
    """Read what the boards are computed from; the caller's transaction makes it one instant."""
    benchmark = session.get(Benchmark, benchmark_id, populate_existing=True)
    if benchmark is None:
        raise NotFound(f"There is no benchmark with number {benchmark_id}.")
    declared = benchmarks.load_declared(session, benchmark)
    secret = session.get(LabelSecret, benchmark_id)
    return Inputs(
        data_version=benchmark.data_version,
        declared=declared,
        standings=_with_disclosure(session, declared, _standings(session, benchmark_id)),
        commitment=None if secret is None else secret.commitment,
        withdrawals=_withdrawals(session, benchmark_id),
        superseded=_superseded(session, benchmark_id),
    )


def _with_disclosure(
    session: Session, declared: Declared, standings: tuple[CurrentEvidence, ...]
) -> tuple[CurrentEvidence, ...]:
    """Return the current evidence with what may be shown of each entrant, while part of the labels is held back."""
    if deciding_part(session, declared) != PUBLIC_PART:
        return standings
    newest = newest_shown(session, declared.benchmark.id)
    return tuple(
        each if (shown := newest.get(each.entrant_id)) == each.submission_id
        else replace(each, shown=shown, silent=shown is None)
        for each in standings
    )  # fmt: skip


def _superseded(session: Session, benchmark_id: int) -> tuple[int, ...]:
    """Return the submissions of which an entrant has newer evidence: their claims stay listed."""
    query = select(Entry.submission_id).join(Submission, Submission.id == Entry.submission_id)
    query = query.where(Submission.benchmark_id == benchmark_id, Entry.state == "superseded")
    return tuple(session.scalars(query.distinct().order_by(Entry.submission_id)).all())


def _standings(session: Session, benchmark_id: int) -> tuple[CurrentEvidence, ...]:
    """Return the current evidence of each entrant, by name, the oldest first."""
    query = (
        select(Entrant.id, Entrant.name, Entry.submission_id, Submission.digest, Entry.task_ids)
        .join(Entry, Entry.entrant_id == Entrant.id)
        .join(Submission, Submission.id == Entry.submission_id)
        .where(Entrant.benchmark_id == benchmark_id, Entry.state == "current")
        .order_by(Entrant.name, Entry.submission_id)
    )
    return tuple(
        CurrentEvidence(number, name, submission, digest, None if tasks is None else tuple(tasks))
        for number, name, submission, digest, tasks in session.execute(query)
    )


def _withdrawals(session: Session, benchmark_id: int) -> list[dict[str, Any]]:
    stood = aliased(SubmissionEvent)
    evaluated = select(stood.id).where(stood.submission_id == Submission.id, stood.status == "evaluated")
    query = (
        select(Submission.id, names_brought(), SubmissionEvent.at, SubmissionEvent.reason)
        .join(SubmissionEvent, SubmissionEvent.submission_id == Submission.id)
        .where(Submission.benchmark_id == benchmark_id, SubmissionEvent.status == "withdrawn", evaluated.exists())
        .order_by(Submission.id)
    )
    return [
        {"submission": number, "entrants": list(brought or ()), "at": at.isoformat(), "reason": reason}
        for number, brought, at, reason in session.execute(query)
    ]


def described_facts(session: Session, stood: Mapping[str, Sequence[int]]) -> dict[str, dict[str, Any]]:
    """Return what entrants are said to be by the newest submission of each; nothing of those that it says nothing of.

    `stood` are the submissions of each entrant, the oldest first.
    """
    newest = {name: numbers[-1] for name, numbers in stood.items()}
    described = Submission.facts["described"]
    query = select(Submission.id, described).where(one_of(Submission.id, newest.values()), described != {})
    by_submission = {number: about for number, about in session.execute(query) if about}
    return {
        name: by_submission[number][name] for name, number in newest.items() if name in by_submission.get(number, {})
    }


# How often the owner of each entrant tried: registrations, entrants and submissions, counted at one instant.

ALL_TASKS: tuple[int | None, ...] = (None,)


def read_provenance(session: Session, inputs: Inputs) -> dict[str, Provenance]:
    """Return what is known of each current entrant, by its name."""
    benchmark = inputs.declared.benchmark
    flags = _flags(session, benchmark.id)
    attempts, of_prereg = _attempts(session, benchmark.id), _of_prereg(session, benchmark.id)
    owners, renamed = _owners(session, benchmark.id), _renamed(session, benchmark.id)
    registered, entrants, sent = (
        _registrations(session, benchmark), Counter[int | None](owners.values()), _sent(session, benchmark.id)
    )  # fmt: skip
    provenance = {}
    for name, stood in inputs.by_entrant().items():
        newest = stood[-1]
        owner = owners.get(newest.entrant_id)
        raised = (flag for each in stood for flag in flags.get((each.submission_id, each.entrant_id), ()))
        # Version 0.1 asked on arrival who is far beyond the others; it is asked of the board now.
        of_all = [flag for flag in raised if flag != FAR_BEYOND]
        of_all += ["renamed"] if newest.entrant_id in renamed else []
        provenance[name] = Provenance(
            attempt=attempts[newest.submission_id, newest.entrant_id],
            attempt_of_prereg=of_prereg.get(newest.submission_id),
            owner=owner,
            n_registrations=registered[owner],
            n_entrants=entrants[owner],
            n_submissions=sent[owner],
            flags=tuple(dict.fromkeys(of_all)),
        )
    return provenance


def _flags(session: Session, benchmark_id: int) -> Mapping[tuple[int, int], list[str]]:
    query = (
        select(StoredFingerprint.submission_id, StoredFingerprint.entrant_id, StoredFingerprint.flags)
        .join(Entrant, Entrant.id == StoredFingerprint.entrant_id)
        .where(Entrant.benchmark_id == benchmark_id, func.cardinality(StoredFingerprint.flags) > 0)
    )
    return {(number, entrant): flags for number, entrant, flags in session.execute(query)}


def _renamed(session: Session, benchmark_id: int) -> set[int]:
    """Return the entrants that their owner, linked tokens included, first sent after another that was wholly withdrawn.

    At its own upload an entrant is flagged where the other was withdrawn before; the other order is only known later.
    """
    query = (
        select(Entry.entrant_id, Entrant.owner_id, func.min(Submission.id), is_gone())
        .join(Entrant, Entrant.id == Entry.entrant_id)
        .join(Submission, Submission.id == Entry.submission_id)
        .where(Submission.benchmark_id == benchmark_id, Entrant.owner_id.is_not(None))
        .group_by(Entry.entrant_id, Entrant.owner_id)
    )
    linked = tokens.owners(session, benchmark_id)
    sent = [(entrant, linked.get(owner or 0, owner or 0), first, bool(gone))
            for entrant, owner, first, gone in session.execute(query)]  # fmt: skip
    withdrawn: dict[int, int] = {}
    for _, owner, first, gone in sent:
        if gone:
            withdrawn[owner] = min(first, withdrawn.get(owner, first))
    return {entrant for entrant, owner, first, gone in sent if not gone and withdrawn.get(owner, first) < first}


def _attempts(session: Session, benchmark_id: int) -> Mapping[tuple[int, int], int]:
    """Number the submissions of each entrant, those of the same tasks where every task is a run of its own."""
    query = (
        select(Entry.submission_id, Entry.entrant_id, Entry.task_ids)
        .join(Entrant, Entrant.id == Entry.entrant_id)
        .where(Entrant.benchmark_id == benchmark_id)
        .order_by(Entry.submission_id)
    )
    counts: Counter[tuple[int, int | None]] = Counter()
    numbers = {}
    for submission_id, entrant_id, tasks in session.execute(query):
        asked = [(entrant_id, task) for task in (tasks or ALL_TASKS)]
        counts.update(asked)
        numbers[submission_id, entrant_id] = max(counts[each] for each in asked)
    return numbers


def _of_prereg(session: Session, benchmark_id: int) -> Mapping[int, int]:
    """Number the submissions under each registration, from 1."""
    number = func.row_number().over(partition_by=Submission.prereg_sha256, order_by=Submission.id)
    query = select(Submission.id, number).where(
        Submission.benchmark_id == benchmark_id, Submission.prereg_sha256.is_not(None)
    )
    numbers: dict[int, int] = dict(session.execute(query).all())
    return numbers


def _owners(session: Session, benchmark_id: int) -> Mapping[int, int]:
    query = select(Entrant.id, Entrant.owner_id).where(Entrant.owner_id.is_not(None))
    rows = session.execute(query.where(Entrant.benchmark_id == benchmark_id))
    return {entrant: owner for entrant, owner in rows if owner is not None}


def _registrations(session: Session, benchmark: Benchmark) -> Counter[int | None]:
    """Count by registrant what was registered for the benchmark, or cited by a submission to it."""
    query = select(StoredPrereg.registered_by, func.count()).where(is_registered_or_cited(benchmark))
    return Counter(dict(session.execute(query.group_by(StoredPrereg.registered_by)).all()))


def _sent(session: Session, benchmark_id: int) -> Counter[int | None]:
    query = select(Submission.token_id, func.count()).where(Submission.benchmark_id == benchmark_id)
    return Counter(dict(session.execute(query.group_by(Submission.token_id)).all()))


# All inputs of a snapshot, as members of a zip: what `plumbline replay` recomputes it of. Rows are packed as the
# server keeps them, so that they take the same way again; nothing is in it that the pages do not show.

FORMAT = 1

FACTS, MANIFEST = "snapshot.json", "manifest.yaml"

Member = tuple[str, bytes]


def replay_members(session: Session, benchmark: Benchmark, snapshot: Snapshot) -> Iterator[Member]:
    """Yield the members of the export of a snapshot. Raises Conflict where its labels cannot be handed out."""
    declared = benchmarks.load_declared(session, benchmark, snapshot.manifest_version_id)
    if kind_of(declared.manifest).rows.are_packed:
        raise Conflict(
            f"{benchmark.slug} is scored against labels, which are not published, so that nobody else can recompute it."
        )
    stood = snapshots.load_standings(session, snapshot.id)
    filled = replace(declared, manifest=grids.with_grids(session, declared, stood))
    names = list(snapshots.table_names(session, snapshot.id))
    facts = {
        "format": FORMAT,
        "benchmark": benchmark.slug,
        "snapshot": snapshot.number,
        "code_version": snapshot.code_version,
        "title": declared.manifest.title,
        "tables": names,
        # Counts of the server, not of the rows: what no rows say cannot be recomputed of them.
        "counted_by_the_server": [column.name for column in FRAME.columns],
        "tasks": {str(number): about for number, about in read_tasks(session, benchmark.id).items()},
        "asked": _asked(filled.manifest.asked.facts),
        "described": described_facts(session, stood),
    }
    yield FACTS, _json(facts)
    yield MANIFEST, declared.version.yaml
    for name in names:
        table = snapshots.load_table(session, snapshot.id, name)
        if table is not None:
            yield f"tables/{name}.json", _json(table.to_json())
    yield from _rows(session, snapshot.id)


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def _asked(facts: GridFacts) -> dict[str, Any]:
    items = None if facts.items is None else {task: list(items) for task, items in facts.items.items()}
    return {
        "items": items,
        "digest": facts.digest,
        "chosen": {name: {axis: list(values) for axis, values in of.items()} for name, of in facts.chosen.items()},
        "earlier": {name: [_earlier(asked) for asked in grids] for name, grids in facts.earlier.items()},
        "owners": dict(facts.owners),
        "arrivals": dict(facts.arrivals),
    }


def _earlier(asked: RequiredGrid) -> dict[str, Any]:
    return {
        "grid": asked.grid.model_dump(mode="json"),
        "tasks": asked.tasks,
        "metrics": asked.metrics,
        "asked": _asked(asked.facts),
    }


def _rows(session: Session, snapshot_id: int) -> Iterator[Member]:
    refs = snapshots.load_refs(session, snapshot_id)
    counted = {stood.ref.pair: stood.ref.task_ids for stood in refs}
    submissions = {submission for submission, _ in counted}
    # What a run measured between its estimators belongs to nobody, and counts where it is the only run.
    between = unowned_pairs(session, submissions.pop()) if len(submissions) == 1 else []
    tasks_of = {**dict.fromkeys(between), **counted}
    for at, stored in enumerate(read_row_blocks(session, list(tasks_of), tasks_of)):
        about = {"submission": stored.submission, "entrant_id": stored.entrant_id, "entrant": stored.entrant,
                 "between": (stored.submission, stored.entrant_id) not in counted}  # fmt: skip
        yield f"rows/{at:06}.json", _json(about)
        yield f"rows/{at:06}.block", pack_block(stored.block)
