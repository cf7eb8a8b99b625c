"""Measurements kept between publications: packed as plain arrays and JSON, never as code.

Called by `app.jobs.measuring`. They are a cache of what rows and manifest decide; losing one costs time only.
"""

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from app.db.models import Measured
from app.leaderboards.measured import Estimate, Measurement

Pair = tuple[int, int]
"""A submission and an entrant of it, by their numbers."""

_DOCUMENT = "document"
_BATCH = 500


def load_measurements(session: Session, pairs: Sequence[Pair], key: str) -> dict[Pair, Measurement]:
    """Return what is kept of (submission, entrant) pairs under a key."""
    wanted = set(pairs)
    found = {}
    for part in _batches(sorted({submission for submission, _ in pairs})):
        query = select(Measured.submission_id, Measured.entrant_id, Measured.content).where(
            Measured.key == key, Measured.submission_id.in_(part)
        )
        for submission, entrant, content in session.execute(query):
            if (submission, entrant) in wanted:
                found[submission, entrant] = unpack_measurement(content)
    return found


def keep_measurements(session: Session, made: Mapping[Pair, Measurement], key: str) -> None:
    """Keep measurements; one that another worker kept meanwhile is the same."""
    for (submission, entrant), measurement in made.items():
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
        )


def _batches(numbers: Sequence[int]) -> Iterable[Sequence[int]]:
    return (numbers[start : start + _BATCH] for start in range(0, len(numbers), _BATCH))
