"""Measure entrants apart from each other, and keep what was measured for the next publication.

Called by `app.jobs.evaluate` for the entrants of one submission and by `app.jobs.publish` for those of a board.
"""

import hashlib
import json
from collections.abc import Mapping

from sqlalchemy.orm import Session

from app.leaderboards.measured import Measurement
from app.leaderboards.registry import measured_method
from app.manifest import Leaderboard, Manifest
from app.store.benchmarks import Declared
from app.store.entrant_evidence import read_entrant
from app.store.measured import Pair, keep_measurements, load_measurements
from app.version import code_version

SHOWN_ONLY = {"leaderboards", "title", "description", "admission", "claims"}


class Measuring:
    """The entrants of one benchmark, each measured at most once for each board."""

    def __init__(self, session: Session, declared: Declared, entrants: Mapping[Pair, str]) -> None:
        self._session = session
        self._declared = declared
        self._entrants = dict(sorted(entrants.items(), key=lambda item: item[1]))
        self._made: dict[str, dict[Pair, Measurement]] = {}

    def measure(self, spec: Leaderboard) -> list[Measurement]:
        """Return one measurement for each entrant, in the order of their names; rows are read only for new ones."""
        key = measurement_key(self._declared.manifest, spec)
        known = load_measurements(self._session, list(self._entrants), key)
        made = {pair: self._measure(spec, pair) for pair in self._entrants if pair not in known}
        self._made.setdefault(key, {}).update(made)
        return [(known | made)[pair] for pair in self._entrants]

    def measure_every_board(self) -> None:
        """Measure the entrants for every board whose method measures them apart."""
        for spec in self._declared.manifest.leaderboards:
            if measured_method(spec) is not None:
                self.measure(spec)

    def keep(self, session: Session) -> None:
        """Keep what is new."""
        for key, made in self._made.items():
            keep_measurements(session, made, key)

    def _measure(self, spec: Leaderboard, pair: Pair) -> Measurement:
        method = measured_method(spec)
        if method is None:
            raise TypeError(f"{spec.method} does not measure entrants apart")
        evidence = read_entrant(self._session, self._declared, pair, self._entrants[pair])
        return method.measure(self._declared.manifest, spec, evidence)


def measurement_key(manifest: Manifest, spec: Leaderboard) -> str:
    """Return a digest of everything beside the rows that decides a measurement."""
    declared = manifest.model_dump(mode="json", exclude=SHOWN_ONLY)
    decisive = {"manifest": declared, "board": spec.model_dump(mode="json"), "code": code_version()}
    return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()
