"""Blocks of rows in memory, instead of a database, as the input of boards.

Called by `app.jobs.offline`, for a benchmark that no server has, and by `app.jobs.replay`, for an exported snapshot.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.boards.measured import EntrantEvidence, Measurement
from app.jobs.boards import BoardInputs, LeftOut
from app.kinds.contract import Described
from app.kinds.known import kind_of, measured_evidence
from app.manifest.leaderboard import Leaderboard
from app.manifest.manifest import Manifest
from app.store.assembly import by_entrant, by_upload
from app.store.evidence import Stood
from app.store.publication_inputs import CurrentEvidence
from app.values.predictions import Labels, PredictionBlock
from app.values.scores import ScoreTable


@dataclass(frozen=True)
class Packed:
    """Predictions by submission, which are not rows, and the benchmark's labels that they are scored against."""

    predictions: Mapping[int, Sequence[PredictionBlock]] = field(default_factory=dict)
    labels: Mapping[str, Labels] = field(default_factory=dict)


NOTHING_PACKED = Packed()


@dataclass(frozen=True)
class EvidenceAtHand:
    """The blocks that count; `tasks` and `strata` are names and strata by the numbers that the blocks have.

    `between` holds measurements between the estimators of the only run, which belong to none of them.
    """

    manifest: Manifest
    stood: Sequence[Stood]
    tasks: Mapping[int, str]
    strata: Mapping[int, Any]
    described: Described = field(default_factory=dict)
    packed: Packed = NOTHING_PACKED
    between: Sequence[Stood] = ()

    def inputs(self) -> BoardInputs:
        """Return what boards are computed from."""
        standings = [
            CurrentEvidence(s.entrant_id, s.entrant, s.submission, "", None)
            for s in sorted(self.stood, key=lambda s: (s.entrant, s.submission))
        ]
        return BoardInputs(standings, self._scores, self._measure, lambda: self.described)

    def rows_of(self, stood: Sequence[Stood], columns: Sequence[str]) -> ScoreTable:
        """Return the rows of some blocks with the wanted columns."""
        return by_entrant(stood, self.tasks, columns)

    def _kept(self, left_out: LeftOut) -> list[Stood]:
        return [stood for stood in self.stood if (stood.submission, stood.entrant_id) not in left_out]

    def _scores(self, left_out: LeftOut) -> ScoreTable:
        kept, rows = self._kept(left_out), kind_of(self.manifest).rows
        if rows.form == "records":
            return by_upload([*kept, *self.between], self.tasks, self.strata)
        brought = {name for stood in kept for name in stood.block.columns}
        beside = [name for name in rows.beside if name in brought]
        return self.rows_of(kept, [*self.manifest.metrics, *beside])

    def _measure(self, spec: Leaderboard, left_out: LeftOut) -> list[Measurement]:
        kept, measure = self._kept(left_out), measured_evidence(self.manifest).measure
        entrants = sorted({stood.entrant for stood in kept})
        return [measure(self.manifest, spec, self._evidence(name, kept)) for name in entrants]

    def _evidence(self, entrant: str, kept: Sequence[Stood]) -> EntrantEvidence:
        own = [stood for stood in kept if stood.entrant == entrant]
        scores = self.rows_of(own, list(self.manifest.metrics))
        if kind_of(self.manifest).rows.form != "packed":
            return EntrantEvidence(entrant, scores)
        blocks = [block for number in dict.fromkeys(stood.submission for stood in own)
                 for block in self.packed.predictions.get(number, ()) if block.entrant == entrant]  # fmt: skip
        return EntrantEvidence(entrant, scores, blocks, self.packed.labels)
