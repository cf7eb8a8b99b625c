"""Measures entrants separately, and stores the measurements for the next publication.

Called by `app.jobs.own_tables` for the entrants of one submission and by `app.jobs.publish` for those of a board.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence, Set

from sqlalchemy.orm import Session

from app.boards.measured import Measurement, held_back
from app.boards.registry import measured_method
from app.kinds.known import measured_evidence
from app.manifest.asked import GridFacts
from app.manifest.leaderboard import Leaderboard
from app.manifest.manifest import Manifest
from app.program.version import code_version
from app.store.benchmarks import Declared
from app.store.entrant_evidence import read_entrant
from app.store.ladders import shown_evidence
from app.store.measured import Pair, Piece, Place, keep_measurements, load_measurements, place_of


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
        entrants: Mapping[str, Sequence[Piece]],
        *,
        is_asked: bool = False,
    ) -> None:
        self._session = session
        self._declared = declared
        shown, self._silent = (entrants, frozenset()) if is_asked else shown_evidence(session, declared, entrants)
        self._entrants = dict(sorted(shown.items()))
        self._measured: dict[Place, Measurement] = {}

    def measure(self, spec: Leaderboard, left_out: Set[Pair] = frozenset()) -> list[Measurement]:
        """Return one measurement for each entrant, in the order of their names; rows are read only for new ones.

        Pairs in `left_out` are ignored.
        """
        key = measurement_key(self._declared.manifest, spec)
        stood = {entrant: [p for p in all_of if p.pair not in left_out] for entrant, all_of in self._entrants.items()}
        pieces = {entrant: left for entrant, left in stood.items() if left}
        facts = self._declared.manifest.asked.facts
        places = {
            entrant: place_of(left, entrant_key(key, facts, entrant))
            for entrant, left in pieces.items()
            if entrant not in self._silent
        }
        known = load_measurements(self._session, places.values())
        for entrant, place in places.items():
            if place not in known and place not in self._measured:
                self._measured[place] = self._measure(spec, entrant, pieces[entrant])
        nothing = {entrant: held_back(entrant, spec.metric_names()) for entrant in pieces if entrant in self._silent}
        measured = {entrant: known.get(place) or self._measured[place] for entrant, place in places.items()}
        return [(measured | nothing)[entrant] for entrant in pieces]

    def measure_every_board(self) -> None:
        """Measure the entrants for every board whose method measures them separately."""
        for spec in self._declared.manifest.leaderboards:
            if measured_method(spec) is not None:
                self.measure(spec)

    def keep(self, session: Session) -> None:
        """Store the new measurements."""
        if self._measured:
            keep_measurements(session, self._measured, measured_evidence(self._declared.manifest).of_best)

    def _measure(self, spec: Leaderboard, entrant: str, pieces: Sequence[Piece]) -> Measurement:
        pairs = [piece.pair for piece in pieces]
        evidence = read_entrant(self._session, self._declared, pairs, entrant)
        return measured_evidence(self._declared.manifest).measure(self._declared.manifest, spec, evidence)


def entrant_key(key: str, facts: GridFacts, entrant: str) -> str:
    """Return the key of one entrant's measurement, including its registered axes and earlier grids."""
    chosen, earlier = facts.chosen.get(entrant), facts.earlier.get(entrant, ())
    if not chosen and not earlier:
        return key
    asked = [each.text for each in earlier]
    return hashlib.sha256(json.dumps([key, chosen, asked], sort_keys=True).encode()).hexdigest()


def measurement_key(manifest: Manifest, spec: Leaderboard) -> str:
    """Return a digest of everything but the rows that determines a measurement."""
    decisive = {"manifest": manifest.deciding(), "board": spec.model_dump(mode="json"), "code": code_version()}
    return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()
