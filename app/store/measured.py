"""Measurements kept between publications: packed as plain arrays and JSON, never as code.

Called by `app.jobs.measuring`. They are a cache of what rows and manifest decide; losing one costs time only.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, and_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from app.boards.coverage import Coverage
from app.boards.measured import Estimate, Measurement
from app.boards.spread import Precision
from app.db.driver import bulk_cursor
from app.db.models import Entry, Measured
from app.stats.arrays import FloatArray
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


class KeptLosses(Mapping[str, FloatArray]):
    """What paired tests need of each item, by task, read when it is first asked for.

    It is as large as the evidence, and of the thousand entrants of a board the few best are tested.
    """

    def __init__(self, tasks: Sequence[str], read: Callable[[], Mapping[str, FloatArray]]) -> None:
        self._tasks = tuple(tasks)
        self._read = read

    def __getitem__(self, task: str) -> FloatArray:
        """Return the losses on one task."""
        return self._of_tasks[task]

    def __contains__(self, task: object) -> bool:
        """Say whether there are any, without reading them."""
        return task in self._tasks

    def __iter__(self) -> Iterator[str]:
        """Yield the tasks."""
        return iter(self._tasks)

    def __len__(self) -> int:
        """Return the number of tasks."""
        return len(self._tasks)

    @cached_property
    def _of_tasks(self) -> Mapping[str, FloatArray]:
        return self._read()


READ = """
    SELECT measured.submission_id, measured.entrant_id, measured.key, measured.content
    FROM unnest(%s::bigint[], %s::integer[], %s::text[]) AS wanted (submission_id, entrant_id, key)
    JOIN measured USING (submission_id, entrant_id, key)
"""


def load_measurements(session: Session, places: Iterable[Place]) -> dict[Place, Measurement]:
    """Return what is kept in some places, in one statement however many they are; losses while the session lasts."""
    wanted = sorted(set(places))
    if not wanted:
        return {}
    columns = ([pair[0] for pair, _ in wanted], [pair[1] for pair, _ in wanted], [key for _, key in wanted])
    with bulk_cursor(session) as cursor:
        return {
            ((submission, entrant), key): unpack_measurement(
                content, partial(_read_losses, session, (submission, entrant), key)
            )
            for submission, entrant, key, content in cursor.stream(READ, columns)
        }


def _read_losses(session: Session, pair: Pair, key: str) -> Mapping[str, FloatArray]:
    (content,) = session.execute(select(Measured.losses).where(Measured.key == key, _is_of(pair))).one()
    return {} if content is None else unpack_losses(content)


def _is_of(pair: Pair) -> ColumnElement[bool]:
    return and_(Measured.submission_id == pair[0], Measured.entrant_id == pair[1])


def keep_measurements(session: Session, measured: Mapping[Place, Measurement]) -> None:
    """Keep measurements; one that another worker kept meanwhile is the same."""
    rows = [
        {
            "submission_id": pair[0],
            "entrant_id": pair[1],
            "key": key,
            "content": pack_measurement(measurement),
            "losses": pack_losses(measurement.losses),
        }
        for (pair, key), measurement in measured.items()
    ]
    if rows:
        session.execute(insert(Measured).on_conflict_do_nothing(), rows)


def pack_measurement(measurement: Measurement) -> bytes:
    """Return a measurement as bytes, without its losses, of which only the tasks are named."""
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
    return pack(document, arrays)


def pack_losses(losses: Mapping[str, FloatArray]) -> bytes | None:
    """Return losses by task as bytes; None where there are none. Zeros and ones, as of classes, take a byte each."""
    if not losses:
        return None
    arrays = {f"{at}": _fewest_bytes(values) for at, values in enumerate(losses.values())}
    return pack({"tasks": list(losses)}, arrays)


def _fewest_bytes(values: FloatArray) -> NDArray[Any]:
    are_flags = bool(np.isin(values, (0.0, 1.0)).all()) and not np.signbit(values).any()
    return values.astype(np.int8) if are_flags else values


def unpack_losses(content: bytes) -> dict[str, FloatArray]:
    """Return the losses that `pack_losses` packed."""
    document, arrays = unpack(content)
    return {task: arrays[f"{at}"].astype(np.float64) for at, task in enumerate(document["tasks"])}


def unpack_measurement(
    content: bytes, read_losses: Callable[[], Mapping[str, FloatArray]] = dict[str, FloatArray]
) -> Measurement:
    """Return the measurement that `pack_measurement` packed; its losses are read when they are asked for."""
    document, arrays = unpack(content)
    return Measurement(
        entrant=document["entrant"],
        estimates={name: Estimate.from_stored(estimate) for name, estimate in document["estimates"].items()},
        replicates={name: arrays[f"replicates{at}"] for at, name in enumerate(document["replicates"])},
        precision={name: Precision(**kept) for name, kept in document["precision"].items()},
        rows={name: tuple(tuple(row) for row in rows) for name, rows in document["rows"].items()},
        facts=document["facts"],
        losses=KeptLosses(document["losses"], read_losses),
        coverage=Coverage(**document["coverage"]),
        held=None if document["held"] is None else tuple((task, at, n) for task, at, n in document["held"]),
        bounds=None if document["bounds"] is None else (document["bounds"][0], document["bounds"][1]),
        items=document["items"],
    )
