"""Publishes a benchmark: reads everything at one instant, computes every board, stores one immutable snapshot. Killed
at any moment it leaves the old snapshot served.

Why: docs/adr/030-publishing-and-set-aside.md.
"""

import hashlib
import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any

from sqlalchemy.orm import Session

from app.boards.nouns import in_nouns
from app.boards.provenance import OWNER, with_provenance
from app.db.engine import SessionFactory, is_transient, run_in_transaction
from app.db.models import PUBLICATION, SET_ASIDE, Snapshot
from app.jobs.boards import LAST_GOOD, LastGood, compute_tables, go_on
from app.jobs.claims import decide_benchmark
from app.jobs.evidence import current_evidence
from app.jobs.faults import TRIES, Outcome, count_fault, find_failing, note_fault, note_publication, said
from app.manifest.model import Leaderboard
from app.program.version import code_version
from app.store import benchmark_rows, current, grids, snapshots, submissions
from app.store.current import Fault
from app.store.packed_tables import pack_table
from app.store.publication import Inputs, PackedTable, Publication, read_inputs, read_provenance, store_publication
from app.store.snapshots import TableBase
from app.values.facts import LABEL_HOLDER
from app.values.table import Table

logger = logging.getLogger(__name__)

ASKING_S = 0.25
"""Seconds, at least, between checks whether a publication's inputs are still current."""


class Superseded(Exception):
    """The publication was ended, because its result would be out of date before it is shown."""


def publish(sessions: SessionFactory, benchmark_id: int, *, gives_way: bool = False) -> bool:
    """Bring a benchmark's boards up to date, and say whether the publication was completed.

    With `gives_way` a publication ends between two boards when its inputs are no longer current: an upload was
    withdrawn, or the manifest changed. Waiting submissions do not end it.

    A fault is noted for the page of the benchmark, whose boards stay as they are, and the sweep tries again, later each
    time. After some tries the submissions with which alone it fails are set aside.
    """
    began = time.monotonic()
    try:
        publication = _compute(sessions, benchmark_id, gives_way=gives_way)
        published = run_in_transaction(sessions, lambda session: store_publication(session, publication))
        note_publication(sessions, publication, published, time.monotonic() - began)
    except Superseded:
        logger.info("a publication of benchmark %s gives way to newer evidence", benchmark_id)
        return False
    except Exception as error:
        if is_transient(error):
            # The database is unavailable or busy: its contents are not at fault, and nothing could be recorded now.
            raise
        _note_failure(sessions, benchmark_id, error)
    return True


def _note_failure(sessions: SessionFactory, benchmark_id: int, error: Exception) -> None:
    fault = note_fault(error, PUBLICATION, f"benchmark {benchmark_id} could not be published")
    count_fault(sessions, benchmark_id)
    n_tries = run_in_transaction(sessions, lambda s: current.note_publish_failure(s, benchmark_id, fault))
    if n_tries < TRIES:
        return
    failing = _failing_submissions(sessions, benchmark_id)
    if failing:
        run_in_transaction(sessions, lambda session: _set_aside(session, benchmark_id, failing, fault))


def _failing_submissions(sessions: SessionFactory, benchmark_id: int) -> frozenset[int]:
    """Return the current submissions with each of which alone no publication succeeds."""
    with sessions() as session:
        standing = frozenset(s.submission_id for s in read_inputs(session, benchmark_id).standings)

    def alone(submission_ids: frozenset[int]) -> Outcome:
        return _attempt(sessions, benchmark_id, standing - submission_ids)

    return find_failing(sorted(standing, reverse=True), alone)


def _attempt(sessions: SessionFactory, benchmark_id: int, without: frozenset[int]) -> Outcome:
    """Say whether a publication without some submissions would succeed, by storing it and rolling back."""
    try:
        publication = _compute(sessions, benchmark_id, without)
        with sessions() as session:
            store_publication(session, publication)
            session.rollback()
    except Exception as error:
        if is_transient(error):
            raise
        return Outcome.FAILED
    return Outcome.COMPUTED if publication.inputs.standings else Outcome.NOTHING


def _set_aside(session: Session, benchmark_id: int, failing: frozenset[int], fault: Fault) -> None:
    reason = (
        f"Set aside: with it alone the boards could not be published in {TRIES} tries, because of {said(fault)}. "
        "It may be submitted again, also unchanged."
    )
    for number in sorted(failing):
        current.set_aside(session, submissions.lock_submission(session, number), reason)
    current.forget_failures(session, benchmark_rows.lock_benchmark(session, benchmark_id))
    excluded = [replace(fault, what=SET_ASIDE, submission_id=number) for number in sorted(failing)]
    current.keep_faults(session, benchmark_id, excluded)
    benchmark_rows.mark_data_changed(session, benchmark_id)


def _compute(
    sessions: SessionFactory, benchmark_id: int, without: frozenset[int] = frozenset(), *, gives_way: bool = False
) -> Publication:
    with sessions() as session, ThreadPoolExecutor(1) as pool:
        session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        inputs = read_everything(session, benchmark_id, without)
        evidence, measuring = current_evidence(session, inputs)
        faults = list[Fault]()
        before_each = _InputsWatch(sessions, inputs).abort_if_stale if gives_way else go_on
        before = snapshots.find_snapshot(session, inputs.declared.benchmark)
        packing = Packing(pool, partial(finished, inputs), snapshots.find_bases(session, before))
        last_good = partial(_last_good, session, inputs, before)
        boards = compute_tables(
            evidence, before_each=before_each, after_each=packing.begin, last_good=last_good, faults=faults
        )
        boards, claims = packing.finished(boards), decide_benchmark(session, inputs)
        tables = [*boards, *packing.finished([] if claims is None else [claims])]
        changes = _changes(inputs, tables, None if before is None else load_state(session, before))
        content = packing.contents(tables)
    run_in_transaction(sessions, measuring.keep)
    number = None if before is None else before.number
    return Publication(inputs, content, code_version(), changes, number, tuple(faults))


def _last_good(session: Session, inputs: Inputs, before: Snapshot | None, spec: Leaderboard) -> LastGood | None:
    """Return a board of the current snapshot, or of that which computed it last; only of the very same manifest."""
    tables = {} if before is None else snapshots.stored_board(session, before.id, spec.name)
    board = tables.get(f"{BOARD}{spec.name}")
    if before is None or board is None:
        return None
    if LAST_GOOD in board.meta:
        earlier = snapshots.find_snapshot(session, inputs.declared.benchmark, board.meta[LAST_GOOD]["snapshot"])
        return _last_good(session, inputs, earlier, spec)
    if before.manifest_digest != inputs.declared.version.sha256 or "fault" in board.meta:
        return None
    return LastGood(
        list(tables.values()),
        before.number,
        before.published_at,
        frozenset(stood.ref.pair for stood in snapshots.load_refs(session, before.id)),
        snapshots.still_stands(session, before.id),
    )


def finished(inputs: Inputs, table: Table) -> Table:
    """Return a computed table as it is published: a board with what is known of its entrants beside their ranks."""
    if LAST_GOOD in table.meta and OWNER in table.column_names():
        return table
    metrics = inputs.declared.manifest.metrics
    best = {name: metric.best for name, metric in metrics.items() if metric.best is not None}
    told = with_provenance(table, inputs.known, best)
    return table if told is table else in_nouns(told, inputs.declared.manifest.nouns)


class _InputsWatch:
    """Checks, in transactions of its own, whether the inputs of a publication are still current."""

    def __init__(self, sessions: SessionFactory, inputs: Inputs) -> None:
        self._sessions, self._inputs = sessions, inputs
        self._asked_at = time.monotonic()

    def abort_if_stale(self) -> None:
        """Raise Superseded if they are not; small boards finish before a check is worthwhile."""
        if time.monotonic() - self._asked_at < ASKING_S:
            return
        self._asked_at = time.monotonic()
        with self._sessions() as session:
            if benchmark_rows.data_version(session, self._inputs.declared.benchmark.id) > self._inputs.data_version:
                raise Superseded


def read_everything(session: Session, benchmark_id: int, without: frozenset[int] = frozenset()) -> Inputs:
    """Return what boards are computed from now, minus some submissions, with the manifest's grids and provenance."""
    inputs = read_inputs(session, benchmark_id).without(without)
    known = read_provenance(session, inputs)
    declared = replace(inputs.declared, manifest=grids.with_grids(session, inputs.declared, inputs.submissions()))
    holding = declared.manifest.asked.facts.label_holders
    flagged = {name: replace(known[name], flags=(*known[name].flags, LABEL_HOLDER)) for name in holding}
    return replace(inputs, declared=declared, known={**known, **flagged})


@dataclass(frozen=True)
class PublishedState:
    """What change lists need of a published state: each entrant's submissions, newest last, and rank per board.

    Versions of a manifest that have the same bytes, and so the same digest, are the same manifest.
    """

    manifest_digest: str
    manifest_version: int
    standings: Mapping[str, Sequence[int]]
    ranks: Mapping[str, Mapping[str, int]]
    statements: Mapping[str, Sequence[str]] = field(default_factory=dict)
    withdrawn: Collection[str] = ()


def _changes(inputs: Inputs, tables: list[Table], before: PublishedState | None) -> list[dict[str, Any]]:
    after = PublishedState(
        manifest_digest=inputs.declared.version.sha256,
        manifest_version=inputs.declared.version.version,
        standings=inputs.submissions(),
        ranks=ranks_by_board(tables),
        statements={table.name.removeprefix(BOARD): table.meta.get("statement", ()) for table in tables},
        withdrawn={name for withdrawal in inputs.withdrawals for name in withdrawal["entrants"]},
    )
    return list_changes(before, after)


# Tables of a publication, packed while those that follow are computed.


class Packing:
    """Finished tables and their bytes; each table is finished and packed once, as soon as it is computed."""

    def __init__(
        self, pool: Executor, finish: Callable[[Table], Table], bases: Mapping[str, TableBase] = MappingProxyType({})
    ) -> None:
        self._pool, self._finish, self._bases = pool, finish, bases
        self._finished: dict[int, Table] = {}
        # Each table is kept alive, so that no other gets its `id()`.
        self._packed: dict[int, tuple[Table, Future[PackedTable]]] = {}

    def begin(self, tables: Sequence[Table]) -> None:
        """Pack tables that are computed, each finished first."""
        for table in tables:
            finished = self._finished[id(table)] = self._finish(table)
            self._packed[id(table)] = table, self._pool.submit(_pack, finished, self._bases.get(finished.name))
            self._packed[id(finished)] = finished, self._packed[id(table)][1]

    def finished(self, tables: Sequence[Table]) -> list[Table]:
        """Return tables as they are published, packing those that were not begun yet."""
        self.begin([table for table in tables if id(table) not in self._finished])
        return [self._finished[id(table)] for table in tables]

    def contents(self, tables: Iterable[Table]) -> dict[str, PackedTable]:
        """Return the bytes of finished tables by name."""
        return {table.name: self._packed[id(table)][1].result() for table in tables}


WORTH = 0.75
"""A table rests on an earlier one where it takes at most so much of one that is whole; else it is stored whole."""


def _pack(table: Table, base: TableBase | None) -> PackedTable:
    packed = (
        PackedTable(pack_table(table)) if base is None else PackedTable(pack_table(table, base.table), base.snapshot_id)
    )
    if base is not None and len(packed.content) > WORTH * base.n_bytes:
        packed = PackedTable(pack_table(table))
    # The next publication rests on it, and compares it to find what changed.
    key = snapshots.key_of_table(table.name, packed.base_id, hashlib.sha256(packed.content).digest())
    snapshots.keep_base(key, table)
    return packed


# What differs between two published states of a benchmark.

BOARD = "leaderboard/"


def load_state(session: Session, snapshot: Snapshot) -> PublishedState:
    """Return what a snapshot published."""
    names = [name for name in snapshots.table_names(session, snapshot.id) if name.startswith(BOARD)]
    return PublishedState(
        manifest_digest=snapshot.manifest_digest,
        manifest_version=snapshots.manifest_version_number(session, snapshot),
        standings=snapshots.load_standings(session, snapshot.id),
        ranks=ranks_by_board(snapshots.remembered_table(session, snapshot.id, name) for name in names),
        withdrawn={name for tombstone in snapshot.withdrawals for name in tombstone["entrants"]},
    )


def list_changes(before: PublishedState | None, after: PublishedState) -> list[dict[str, Any]]:
    """Return what differs: the manifest, who entered, was superseded or withdrawn, and which ranks changed.

    An entrant with new evidence in addition to all that was current before is `extended`.
    """
    old = before or PublishedState(after.manifest_digest, after.manifest_version, {}, {})
    return [*_manifest_change(old, after), *_standing_changes(old, after), *_rank_moves(old, after)]


def _manifest_change(old: PublishedState, new: PublishedState) -> list[dict[str, Any]]:
    if old.manifest_digest == new.manifest_digest:
        return []
    return [{"kind": "manifest", "version": new.manifest_version, "was": old.manifest_version}]


def _standing_changes(old: PublishedState, new: PublishedState) -> list[dict[str, Any]]:
    before, after = old.standings, new.standings
    changes: list[dict[str, Any]] = []
    for entrant in sorted(after.keys() - before.keys()):
        changes.append({"kind": "entered", "entrant": entrant, "submission": after[entrant][-1]})
    for entrant in sorted(after.keys() & before.keys()):
        if after[entrant] != before[entrant]:
            kind = "extended" if set(before[entrant]) < set(after[entrant]) else "superseded"
            change = {"kind": kind, "entrant": entrant, "submission": after[entrant][-1], "was": before[entrant][-1]}
            changes.append(change)
    for entrant in sorted(before.keys() - after.keys()):
        kind = "withdrawn" if entrant in new.withdrawn else "left"
        changes.append({"kind": kind, "entrant": entrant, "was": before[entrant][-1]})
    return changes


def _rank_moves(old: PublishedState, new: PublishedState) -> list[dict[str, Any]]:
    moves: list[dict[str, Any]] = []
    # Whoever enters or leaves is said to. Who stays has no rank before or after where a board begins or cannot be made.
    stay = sorted(old.standings.keys() & new.standings.keys())
    for board, after in sorted(new.ranks.items()):
        before = old.ranks.get(board, {})
        said = " ".join(new.statements.get(board, ()))
        for entrant in stay:
            was, now = before.get(entrant), after.get(entrant)
            if was != now:
                move = {"kind": "rank", "board": board, "entrant": entrant, "from": was, "to": now}
                moves.append({**move, "statement": said} if said and now == 1 else move)
    return moves


def ranks_by_board(tables: Iterable[Table]) -> dict[str, dict[str, int]]:
    """Return each entrant's rank on each table that is a board."""
    return {table.name.removeprefix(BOARD): _ranks(table) for table in tables if table.name.startswith(BOARD)}


def _ranks(table: Table) -> dict[str, int]:
    """Return each entrant's rank; nothing of a board that could not be computed."""
    if not {"rank", "entrant"} <= set(table.column_names()):
        return {}
    rank, entrant = table.index("rank"), table.index("entrant")
    ranked = ((str(row[entrant]), row[rank]) for row in table.rows)
    return {name: int(place) for name, place in ranked if isinstance(place, int | float)}
