"""The evidence of a snapshot, from which a reader's choice is computed. Called by `app.web.explore`.

The one computation within a request: bounded by the rows it reads, which are kept for the next choice on the same
snapshot, because reading takes most of the time.
"""

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.boards.explore import Evidence
from app.boards.measured import Measurement
from app.boards.open_grid import common_tasks
from app.boards.registry import measured_method
from app.db.models import Benchmark, Entry, Snapshot, SnapshotEntry
from app.errors import FieldRejected, Problem
from app.jobs.measuring import Measuring
from app.kinds.known import kind_of, measured_evidence
from app.manifest.leaderboard import Leaderboard
from app.manifest.manifest import Manifest
from app.manifest.tasks import Task
from app.store import benchmarks, grids, snapshots
from app.store.benchmarks import Declared
from app.store.measured import Piece
from app.store.rows import read_rows, strata_of
from app.values.scores import ScoreTable

MOST_ROWS = 5_000_000
MOST_MEASURED_ROWS = 200_000
"""Above this many rows a choice of tasks, which measures every entrant anew, would take minutes; entrants can still be
chosen.
"""
MOST_KEPT_ROWS = 8_000_000


class KeptRows:
    """A cache of the rows of recently used snapshots, up to a number of rows; shared by the threads of a process."""

    def __init__(self, most_rows: int = MOST_KEPT_ROWS) -> None:
        self._kept: OrderedDict[int, ScoreTable] = OrderedDict()
        self._most_rows = most_rows
        self._lock = threading.Lock()

    def get(self, snapshot_id: int) -> ScoreTable | None:
        """Return the rows of a snapshot, or None if they are not cached."""
        with self._lock:
            if snapshot_id in self._kept:
                self._kept.move_to_end(snapshot_id)
            return self._kept.get(snapshot_id)

    def put(self, snapshot_id: int, rows: ScoreTable) -> None:
        """Cache the rows of a snapshot in place of the least recently used ones."""
        with self._lock:
            self._kept[snapshot_id] = rows
            while len(self._kept) > 1 and sum(map(len, self._kept.values())) > self._most_rows:
                self._kept.popitem(last=False)


@dataclass(frozen=True)
class SnapshotEvidence:
    """What a snapshot was computed from: its manifest, with the grid as it was, and the evidence of its entrants."""

    session: Session
    declared: Declared
    snapshot: Snapshot
    kept: KeptRows

    @property
    def manifest(self) -> Manifest:
        """Return the manifest of the snapshot."""
        return self.declared.manifest

    def of(self, spec: Leaderboard) -> Evidence:
        """Return the evidence for a board. Raises FieldRejected where there is too much of it."""
        pieces = self._pieces()
        self._refuse_too_many(spec)
        return Evidence(
            entrants=sorted(pieces),
            scores=lambda: self._rows(pieces),
            measurements=lambda chosen, names: self._measure(spec, chosen, {name: pieces[name] for name in names}),
            measured=lambda: measured_evidence(self.manifest),
            open_tasks=self.open_tasks,
        )

    def open_tasks(self) -> list[Task]:
        """Return the tasks that count where the manifest leaves them open, with their columns; otherwise none.

        Also none where there are too many rows to read, or no scores.
        """
        is_closed = self.manifest.task_ids() is not None
        if is_closed or kind_of(self.manifest).rows.form == "packed" or self._count() > MOST_ROWS:
            return []
        pieces = self._pieces()
        names = common_tasks(self._rows(pieces), list(pieces), self.manifest.asked.facts.owners_of(list(pieces)))
        means = strata_of(self.session, self.declared.benchmark.id)
        return [Task.model_construct(id=name, where=dict(means.get(name, {}))) for name in names]

    def rows(self, *entrants: str) -> ScoreTable | None:
        """Return the rows of everybody, or of some; None where the evidence is not scores.

        Raises FieldRejected.
        """
        if kind_of(self.manifest).rows.form == "packed":
            return None
        pieces = self._pieces()
        if entrants:
            own = [piece for name in entrants for piece in pieces.get(name, ())]
            tasks_of = {piece.pair: piece.task_ids for piece in own}
            return read_rows(self.session, self.manifest, list(tasks_of), tasks_of)
        if (n_rows := self._count()) > MOST_ROWS:
            raise _too_many(n_rows, MOST_ROWS, "a matrix")
        return self._rows(pieces)

    def entrants(self) -> list[str]:
        """Return the entrants with evidence in the snapshot."""
        return sorted(self._pieces())

    def pieces(self) -> dict[str, list[Piece]]:
        """Return the evidence of each entrant."""
        return self._pieces()

    def n_rows(self) -> int:
        """Return how many rows the snapshot was computed from."""
        return self._count()

    def _pieces(self) -> dict[str, list[Piece]]:
        pieces: dict[str, list[Piece]] = {}
        for stood in snapshots.load_pieces(self.session, self.snapshot.id):
            pieces.setdefault(stood.entrant, []).append(stood.piece)
        return pieces

    def _rows(self, pieces: Mapping[str, Sequence[Piece]]) -> ScoreTable:
        rows = self.kept.get(self.snapshot.id)
        if rows is None:
            tasks_of = {piece.pair: piece.task_ids for own in pieces.values() for piece in own}
            rows = read_rows(self.session, self.manifest, list(tasks_of), tasks_of)
            self.kept.put(self.snapshot.id, rows)
        return rows

    def _measure(
        self, spec: Leaderboard, chosen: Leaderboard, pieces: Mapping[str, Sequence[Piece]]
    ) -> Sequence[Measurement]:
        if chosen.tasks != spec.tasks:
            self._refuse_other_tasks()
        return Measuring(self.session, self.declared, pieces).measure(chosen)

    def _refuse_too_many(self, spec: Leaderboard) -> None:
        if measured_method(spec) is None and (n_rows := self._count()) > MOST_ROWS:
            raise _too_many(n_rows, MOST_ROWS, "a choice")

    def _refuse_other_tasks(self) -> None:
        if kind_of(self.manifest).rows.form == "packed":
            text = "the predictions of a benchmark are measured on all of its tasks; entrants can be chosen"
            raise FieldRejected("This board is not computed over some of its tasks.", [Problem(text, column="task")])
        if (n_rows := self._count()) > MOST_MEASURED_ROWS:
            raise _too_many(n_rows, MOST_MEASURED_ROWS, "a choice of tasks")

    def _count(self) -> int:
        entries = (Entry.submission_id == SnapshotEntry.submission_id) & (Entry.entrant_id == SnapshotEntry.entrant_id)
        query = select(func.sum(Entry.n_rows)).join(SnapshotEntry, entries)
        return self.session.scalar(query.where(SnapshotEntry.snapshot_id == self.snapshot.id)) or 0


def _too_many(n_rows: int, most: int, what: str) -> FieldRejected:
    text = f"the evidence has {n_rows:,} rows, and {what} is computed of at most {most:,}"
    return FieldRejected("This board is too large to be computed while you wait.", [Problem(text)])


def snapshot_evidence(session: Session, benchmark: Benchmark, snapshot: Snapshot, kept: KeptRows) -> SnapshotEvidence:
    """Return what a snapshot of a benchmark was computed from."""
    declared = benchmarks.load_declared(session, benchmark, snapshot.manifest_version_id)
    stood = snapshots.load_standings(session, snapshot.id)
    filled = replace(declared, manifest=grids.with_grids(session, declared, stood))
    return SnapshotEvidence(session, filled, snapshot, kept)
