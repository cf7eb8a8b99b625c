"""Evidence as the input of boards: in memory, of a snapshot under a reader's choice, measured entrant by entrant.

Why: docs/adr/042-readers-boards-and-dry-runs.md.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.boards.coverage import common_tasks
from app.boards.evidence import NOBODY, BoardEvidence, LeftOut, Standing, rows_of
from app.boards.measured import EntrantEvidence, Measurement, held_back
from app.boards.registry import measured_method
from app.cache import Cache, digest
from app.db.models import Benchmark, Entry, Snapshot, SnapshotEntry
from app.errors import FieldRejected, Problem
from app.kinds.contract import Described
from app.kinds.registry import kind_of, measured_kind
from app.manifest.model import GridFacts, Leaderboard, Manifest, Task
from app.program.version import code_version
from app.store import benchmarks, grids, snapshots
from app.store.benchmarks import Declared
from app.store.disclosed import shown_evidence
from app.store.measured import EvidenceRef, Place, keep_measurements, load_measurements, place_of, read_entrant
from app.store.publication import Inputs, described_facts
from app.store.rows import EntrantBlock, by_entrant, by_upload, read_rows, read_tasks
from app.values.scores import Labels, PredictionBlock, ScoreTable


@dataclass(frozen=True)
class RowsInMemory:
    """The blocks that count; `tasks` and `strata` are names and strata by the numbers that the blocks have.

    `predictions` are by submission, which are not rows, and `labels` what they are scored against. `between` holds
    measurements between the estimators of the only run, which belong to none of them.
    """

    manifest: Manifest
    stood: Sequence[EntrantBlock]
    tasks: Mapping[int, str]
    strata: Mapping[int, Any]
    described: Described = field(default_factory=dict)
    predictions: Mapping[int, Sequence[PredictionBlock]] = field(default_factory=dict)
    labels: Mapping[str, Labels] = field(default_factory=dict)
    between: Sequence[EntrantBlock] = ()

    def evidence(self) -> BoardEvidence:
        """Return what boards are computed from."""
        ordered = sorted(self.stood, key=lambda s: (s.entrant, s.submission))
        return BoardEvidence(
            manifest=self.manifest,
            standings=[Standing(s.entrant, s.submission, (s.submission, s.entrant_id)) for s in ordered],
            scores=self._scores,
            measurements=self._measure,
            measured=kind_of(self.manifest).measured,
            described=lambda: self.described,
            n_rows=lambda: sum(len(stood.block) for stood in self.stood),
        )

    def rows_of(self, stood: Sequence[EntrantBlock], columns: Sequence[str]) -> ScoreTable:
        """Return the rows of some blocks with the wanted columns."""
        return by_entrant(stood, self.tasks, columns)

    def _kept(self, left_out: LeftOut) -> list[EntrantBlock]:
        return [stood for stood in self.stood if (stood.submission, stood.entrant_id) not in left_out]

    def _scores(self, left_out: LeftOut) -> ScoreTable:
        kept, rows = self._kept(left_out), kind_of(self.manifest).rows
        if rows.in_upload_order:
            return by_upload([*kept, *self.between], self.tasks, self.strata)
        brought = {name for stood in kept for name in stood.block.columns}
        beside = [name for name in rows.beside if name in brought]
        return self.rows_of(kept, [*self.manifest.metrics, *beside])

    def _measure(self, spec: Leaderboard, left_out: LeftOut) -> list[Measurement]:
        kept, measure = self._kept(left_out), measured_kind(self.manifest).measure
        entrants = sorted({stood.entrant for stood in kept})
        return [measure(self.manifest, spec, self._evidence(name, kept)) for name in entrants]

    def _evidence(self, entrant: str, kept: Sequence[EntrantBlock]) -> EntrantEvidence:
        own = [stood for stood in kept if stood.entrant == entrant]
        scores = self.rows_of(own, list(self.manifest.metrics))
        if not kind_of(self.manifest).rows.are_packed:
            return EntrantEvidence(entrant, scores)
        blocks = [block for number in dict.fromkeys(stood.submission for stood in own)
                 for block in self.predictions.get(number, ()) if block.entrant == entrant]  # fmt: skip
        return EntrantEvidence(entrant, scores, blocks, self.labels)


# The evidence of a snapshot, from which a reader's choice is computed.
#
# Computed while the reader waits, so bounded by the rows it reads. These are kept for the next choice on the same
# snapshot, because reading takes most of the time.

MOST_ROWS = 5_000_000

MOST_MEASURED_ROWS = 200_000
"""Above this many rows a choice of tasks, which measures every entrant anew, would take minutes; entrants can still be
chosen.
"""

MOST_KEPT_ROWS = 8_000_000


def kept_rows() -> Cache[ScoreTable]:
    """Return a cache of the rows of recently used snapshots: they are counted, not their bytes."""
    return Cache(MOST_KEPT_ROWS)


def snapshot_evidence(
    session: Session,
    benchmark: Benchmark,
    snapshot: Snapshot,
    kept: Cache[ScoreTable] | None = None,
    *,
    only: Collection[str] | None = None,
    under: Declared | None = None,
) -> BoardEvidence:
    """Return what a snapshot was computed from: its manifest, with the grid as it was, and everybody's evidence.

    Of some entrants alone with `only`, with what their rows record besides, which does not go with `kept`: the rows of
    everybody under one version of the manifest, which are read from and added to. Under another version than the
    snapshot's with `under`.
    """
    declared = under or benchmarks.load_declared(session, benchmark, snapshot.manifest_version_id)
    filled = grids.with_grids(session, declared, snapshots.load_standings(session, snapshot.id))
    declared = replace(declared, manifest=filled)
    refs: dict[str, list[EvidenceRef]] = {}
    for stood in snapshots.load_refs(session, snapshot.id):
        if only is None or stood.entrant in only:
            refs.setdefault(stood.entrant, []).append(stood.ref)
    rows = kept_rows() if kept is None else kept
    key = snapshot.id.to_bytes(8) + declared.version.id.to_bytes(8)
    measuring = cache(lambda: Measuring(session, declared, refs))

    def scores(left_out: LeftOut) -> ScoreTable:
        everybody = rows.get(key)
        if everybody is None:
            tasks_of = {ref.pair: ref.task_ids for own in refs.values() for ref in own}
            everybody = read_rows(session, filled, list(tasks_of), tasks_of, has_texts=only is not None)
            rows.keep(key, everybody, len(everybody))
        return rows_of(everybody, {name for name, own in refs.items() if _is_left(own, left_out)})

    def open_tasks() -> list[Task]:
        is_closed = filled.task_ids() is not None
        if is_closed or kind_of(filled).rows.are_packed or evidence.n_rows() > MOST_ROWS:
            return []
        names = common_tasks(scores(NOBODY), list(refs), filled.asked.facts.arrivals_of(list(refs)))
        strata = dict(read_tasks(session, benchmark.id).values())
        return [Task.model_construct(id=name, where=dict(strata.get(name) or {})) for name in names]

    evidence = BoardEvidence(
        manifest=filled,
        standings=[Standing(name, p.pair[0], p.pair) for name, own in sorted(refs.items()) for p in own],
        scores=scores,
        measurements=lambda spec, left_out: measuring().measure(spec, left_out),
        measured=kind_of(filled).measured,
        open_tasks=open_tasks,
        n_rows=cache(partial(_count_rows, session, snapshot)),
    )
    return evidence


def _is_left(own: Sequence[EvidenceRef], left_out: LeftOut) -> bool:
    return any(ref.pair not in left_out for ref in own)


def _count_rows(session: Session, snapshot: Snapshot) -> int:
    entries = (Entry.submission_id == SnapshotEntry.submission_id) & (Entry.entrant_id == SnapshotEntry.entrant_id)
    query = select(func.sum(Entry.n_rows)).join(SnapshotEntry, entries)
    return session.scalar(query.where(SnapshotEntry.snapshot_id == snapshot.id)) or 0


def for_a_reader(evidence: BoardEvidence, spec: Leaderboard) -> BoardEvidence:
    """Return the evidence for a board that a reader waits for. Raises FieldRejected where there is too much of it.

    So does measuring entrants for other tasks than the board's own.
    """
    if measured_method(spec) is None:
        refuse_too_many(evidence, "a choice")

    def measurements(chosen: Leaderboard, left_out: LeftOut) -> Sequence[Measurement]:
        if chosen.tasks != spec.tasks and kind_of(evidence.manifest).rows.are_packed:
            text = "the predictions of a benchmark are measured on all of its tasks; entrants can be chosen"
            problem = Problem(text, column="task")
            raise FieldRejected("This board is not computed over some of its tasks.", [problem])
        if chosen.tasks != spec.tasks:
            refuse_too_many(evidence, "a choice of tasks", MOST_MEASURED_ROWS)
        return evidence.measurements(chosen, left_out)

    return replace(evidence, measurements=measurements)


def refuse_too_many(evidence: BoardEvidence, what: str, most: int = MOST_ROWS) -> None:
    """Raise FieldRejected where there are more rows than a reader can wait for; `what` is computed of them."""
    if (n_rows := evidence.n_rows()) > most:
        text = f"the evidence has {n_rows:,} rows, and {what} is computed of at most {most:,}"
        raise FieldRejected("This board is too large to be computed while you wait.", [Problem(text)])


# What stands in a benchmark now, for its next publication.


def current_evidence(session: Session, inputs: Inputs) -> tuple[BoardEvidence, "Measuring"]:
    """Return what the boards of a benchmark are computed from now, and what measures its entrants.

    That has no entrants where no board needs it, because what they refer to is much.
    """
    manifest = inputs.declared.manifest
    stood = inputs.by_entrant() if any(map(measured_method, manifest.leaderboards)) else {}
    refs = {name: [each.ref for each in own] for name, own in stood.items()}
    measuring = Measuring(session, inputs.declared, refs)
    standings = [Standing(each.entrant, each.submission_id, each.ref.pair) for each in inputs.standings]

    def scores(left_out: LeftOut) -> ScoreTable:
        return read_rows(session, manifest, [s.pair for s in standings if s.pair not in left_out])

    evidence = BoardEvidence(
        manifest=manifest,
        standings=standings,
        scores=lru_cache(maxsize=2)(scores),
        measurements=measuring.measure,
        measured=kind_of(manifest).measured,
        described=partial(described_facts, session, inputs.submissions()),
    )
    return evidence, measuring


# Measures entrants separately, and stores the measurements for the next publication.


class Measuring:
    """The entrants of one benchmark, each measured at most once for each board.

    Where labels are private only evidence that may be shown is measured, an older submission in place of a newer one
    that is held back, and nothing is published for an entrant without any; with `is_asked`, everything is measured, to
    decide what may be shown.
    """

    def __init__(
        self,
        session: Session,
        declared: Declared,
        entrants: Mapping[str, Sequence[EvidenceRef]],
        *,
        is_asked: bool = False,
    ) -> None:
        self._session = session
        self._declared = declared
        self._given = entrants
        shown, self._silent = (entrants, frozenset()) if is_asked else shown_evidence(session, declared, entrants)
        self._entrants = dict(sorted(shown.items()))
        self._measured: dict[Place, Measurement] = {}

    def measure(self, spec: Leaderboard, left_out: LeftOut = NOBODY) -> list[Measurement]:
        """Return one measurement for each entrant, in the order of their names; rows are read only for new ones.

        Pairs in `left_out` are ignored, and an entrant whose evidence is all among them.
        """
        key = measurement_key(self._declared.manifest, spec)
        stood = {entrant: [p for p in all_of if p.pair not in left_out] for entrant, all_of in self._entrants.items()}
        refs = {name: left for name, left in stood.items() if left and _is_left(self._given[name], left_out)}
        facts = self._declared.manifest.asked.facts
        places = {
            entrant: place_of(left, entrant_key(key, facts, entrant))
            for entrant, left in refs.items()
            if entrant not in self._silent
        }
        known = load_measurements(self._session, places.values())
        for entrant, place in places.items():
            if place not in known and place not in self._measured:
                self._measured[place] = self._measure(spec, entrant, refs[entrant])
        nothing = {entrant: held_back(entrant, spec.metric_names()) for entrant in refs if entrant in self._silent}
        measured = {entrant: known.get(place) or self._measured[place] for entrant, place in places.items()}
        return [(measured | nothing)[entrant] for entrant in refs]

    def measure_every_board(self) -> None:
        """Measure the entrants for every board whose method measures them separately."""
        for spec in self._declared.manifest.leaderboards:
            if measured_method(spec) is not None:
                self.measure(spec)

    def keep(self, session: Session) -> None:
        """Store the new measurements."""
        if self._measured:
            keep_measurements(session, self._measured, measured_kind(self._declared.manifest).of_best)

    def _measure(self, spec: Leaderboard, entrant: str, refs: Sequence[EvidenceRef]) -> Measurement:
        pairs = [ref.pair for ref in refs]
        evidence = read_entrant(self._session, self._declared, pairs, entrant)
        return measured_kind(self._declared.manifest).measure(self._declared.manifest, spec, evidence)


def entrant_key(key: str, facts: GridFacts, entrant: str) -> str:
    """Return the key of one entrant's measurement, including its registered axes and earlier grids."""
    chosen, earlier = facts.chosen.get(entrant), facts.earlier.get(entrant, ())
    if not chosen and not earlier:
        return key
    asked = [each.text for each in earlier]
    return digest(json.dumps([key, chosen, asked], sort_keys=True)).hex()


def measurement_key(manifest: Manifest, spec: Leaderboard) -> str:
    """Return a digest of everything but the rows that determines a measurement."""
    decisive = {"manifest": manifest.deciding(), "board": spec.model_dump(mode="json"), "code": code_version()}
    return digest(json.dumps(decisive, sort_keys=True)).hex()
