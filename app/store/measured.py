"""Measurements kept between publications: packed as plain arrays and JSON, never as code.

Called by `app.jobs.measuring`. They are a cache of what rows and manifest decide; losing one costs time only.
"""

import hashlib
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from app.boards.coverage import Coverage
from app.boards.measured import Estimate, Measurement
from app.db.models import Entry, Measured

Pair = tuple[int, int]
"""A submission and an entrant of it, by their numbers."""
Place = tuple[Pair, str]
"""Where a measurement is kept: with the newest evidence that it is of, under the key of all that decides it."""


@dataclass(frozen=True)
class Piece:
    """A submission that an entrant stands on, and for which of its tasks; null: for all of them."""

    pair: Pair
    task_ids: tuple[int, ...] | None = None

    @classmethod
    def of_entry(cls, entry: Entry) -> Self:
        """Return what an entry says."""
        tasks = None if entry.task_ids is None else tuple(entry.task_ids)
        return cls((entry.submission_id, entry.entrant_id), tasks)


def place_of(pieces: Sequence[Piece], key: str) -> Place:
    """Return where the measurement of an entrant is kept that stands on the pieces."""
    if all(piece.task_ids is None for piece in pieces):
        return pieces[-1].pair, key
    made_of = [[piece.pair[0], list(piece.task_ids or ())] for piece in pieces]
    return pieces[-1].pair, hashlib.sha256(json.dumps([key, made_of]).encode()).hexdigest()


_DOCUMENT = "document"
_BATCH = 500


def load_measurements(session: Session, places: Iterable[Place]) -> dict[Place, Measurement]:
    """Return what is kept in some places."""
    wanted = set(places)
    found = {}
    for part in _batches(sorted(wanted)):
        query = select(Measured.submission_id, Measured.entrant_id, Measured.key, Measured.content).where(
            Measured.key.in_({key for _, key in part}), Measured.submission_id.in_({pair[0] for pair, _ in part})
        )
        for submission, entrant, key, content in session.execute(query):
            place = ((submission, entrant), key)
            if place in wanted:
                found[place] = unpack_measurement(content)
    return found


def keep_measurements(session: Session, made: Mapping[Place, Measurement]) -> None:
    """Keep measurements; one that another worker kept meanwhile is the same."""
    for ((submission, entrant), key), measurement in made.items():
        session.execute(
            insert(Measured)
            .values(submission_id=submission, entrant_id=entrant, key=key, content=pack_measurement(measurement))
            .on_conflict_do_nothing()
        )


def pack_measurement(measurement: Measurement) -> bytes:
    """Return a measurement as bytes."""
    document = {
        "entrant": measurement.entrant,
        "estimates": {name: asdict(estimate) for name, estimate in measurement.estimates.items()},
        "rows": {name: [list(row) for row in rows] for name, rows in measurement.rows.items()},
        "facts": dict(measurement.facts),
        "replicates": list(measurement.replicates),
        "losses": list(measurement.losses),
        "coverage": asdict(measurement.coverage),
        "held": None if measurement.held is None else [list(each) for each in measurement.held],
        "bounds": None if measurement.bounds is None else list(measurement.bounds),
    }
    arrays: dict[str, Any] = {_DOCUMENT: np.frombuffer(json.dumps(document, allow_nan=False).encode(), dtype=np.uint8)}
    arrays |= {f"replicates{at}": values for at, values in enumerate(measurement.replicates.values())}
    arrays |= {f"losses{at}": values for at, values in enumerate(measurement.losses.values())}
    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays)
    return packed.getvalue()


def unpack_measurement(content: bytes) -> Measurement:
    """Return the measurement that `pack_measurement` packed."""
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        document = json.loads(arrays[_DOCUMENT].tobytes())
        return Measurement(
            entrant=document["entrant"],
            estimates={name: Estimate(**estimate) for name, estimate in document["estimates"].items()},
            replicates={name: arrays[f"replicates{at}"] for at, name in enumerate(document["replicates"])},
            rows={name: tuple(tuple(row) for row in rows) for name, rows in document["rows"].items()},
            facts=document["facts"],
            losses={name: arrays[f"losses{at}"] for at, name in enumerate(document["losses"])},
            coverage=Coverage(**document["coverage"]),
            held=None if document["held"] is None else tuple((task, at, n) for task, at, n in document["held"]),
            bounds=None if document["bounds"] is None else (document["bounds"][0], document["bounds"][1]),
        )


def _batches(places: Sequence[Place]) -> Iterable[Sequence[Place]]:
    return (places[start : start + _BATCH] for start in range(0, len(places), _BATCH))
