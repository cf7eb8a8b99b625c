"""Measurements kept between publications: packed as plain arrays and JSON, never as code.

Called by `app.jobs.measuring`. They are a cache of what rows and manifest decide; losing one costs time only.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Self

from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from app.boards.coverage import Coverage
from app.boards.measured import Estimate, Measurement
from app.boards.spread import Precision
from app.db.driver import bulk_cursor
from app.db.models import Entry, Measured
from app.store.packing import pack, unpack

Pair = tuple[int, int]
"""A submission and an entrant of it, by their numbers."""
Place = tuple[Pair, str]
"""Where a measurement is kept: with the newest evidence that it is of, under the key of all that decides it."""


@dataclass(frozen=True)
class Piece:
    """A submission that is an entrant's evidence, and for which of its tasks; null: for all of them."""

    pair: Pair
    task_ids: tuple[int, ...] | None = None

    @classmethod
    def of_entry(cls, entry: Entry) -> Self:
        """Return what an entry says."""
        tasks = None if entry.task_ids is None else tuple(entry.task_ids)
        return cls((entry.submission_id, entry.entrant_id), tasks)


def place_of(pieces: Sequence[Piece], key: str) -> Place:
    """Return where the measurement of an entrant from these pieces is kept."""
    if all(piece.task_ids is None for piece in pieces):
        return pieces[-1].pair, key
    parts = [[piece.pair[0], list(piece.task_ids or ())] for piece in pieces]
    return pieces[-1].pair, hashlib.sha256(json.dumps([key, parts]).encode()).hexdigest()


READ = """
    SELECT measured.submission_id, measured.entrant_id, measured.key, measured.content
    FROM unnest(%s::bigint[], %s::integer[], %s::text[]) AS wanted (submission_id, entrant_id, key)
    JOIN measured USING (submission_id, entrant_id, key)
"""


def load_measurements(session: Session, places: Iterable[Place]) -> dict[Place, Measurement]:
    """Return what is kept in some places, in one statement however many they are."""
    wanted = sorted(set(places))
    if not wanted:
        return {}
    columns = ([pair[0] for pair, _ in wanted], [pair[1] for pair, _ in wanted], [key for _, key in wanted])
    with bulk_cursor(session) as cursor:
        return {
            ((submission, entrant), key): unpack_measurement(content)
            for submission, entrant, key, content in cursor.stream(READ, columns)
        }


def keep_measurements(session: Session, measured: Mapping[Place, Measurement]) -> None:
    """Keep measurements; one that another worker kept meanwhile is the same."""
    rows = [
        {"submission_id": pair[0], "entrant_id": pair[1], "key": key, "content": pack_measurement(measurement)}
        for (pair, key), measurement in measured.items()
    ]
    if rows:
        session.execute(insert(Measured).on_conflict_do_nothing(), rows)


def pack_measurement(measurement: Measurement) -> bytes:
    """Return a measurement as bytes."""
    document = {
        "entrant": measurement.entrant,
        "estimates": {name: asdict(estimate) for name, estimate in measurement.estimates.items()},
        "rows": {name: [list(row) for row in rows] for name, rows in measurement.rows.items()},
        "facts": dict(measurement.facts),
        "replicates": list(measurement.replicates),
        "precision": {name: asdict(precision) for name, precision in measurement.precision.items()},
        "losses": list(measurement.losses),
        "coverage": asdict(measurement.coverage),
        "held": None if measurement.held is None else [list(each) for each in measurement.held],
        "bounds": None if measurement.bounds is None else list(measurement.bounds),
        "items": measurement.items,
    }
    arrays = {f"replicates{at}": values for at, values in enumerate(measurement.replicates.values())}
    return pack(document, arrays | {f"losses{at}": values for at, values in enumerate(measurement.losses.values())})


def unpack_measurement(content: bytes) -> Measurement:
    """Return the measurement that `pack_measurement` packed."""
    document, arrays = unpack(content)
    return Measurement(
        entrant=document["entrant"],
        estimates={name: Estimate.from_stored(estimate) for name, estimate in document["estimates"].items()},
        replicates={name: arrays[f"replicates{at}"] for at, name in enumerate(document["replicates"])},
        precision={name: Precision(**kept) for name, kept in document["precision"].items()},
        rows={name: tuple(tuple(row) for row in rows) for name, rows in document["rows"].items()},
        facts=document["facts"],
        losses={name: arrays[f"losses{at}"] for at, name in enumerate(document["losses"])},
        coverage=Coverage(**document["coverage"]),
        held=None if document["held"] is None else tuple((task, at, n) for task, at, n in document["held"]),
        bounds=None if document["bounds"] is None else (document["bounds"][0], document["bounds"][1]),
        items=document["items"],
    )
