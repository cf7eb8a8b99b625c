"""Measurements kept between publications: packed as plain arrays and JSON, never as code.

Called by `app.jobs.measuring`. They are a cache of what rows and manifest decide; losing one costs time only.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property, partial
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, and_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from app.boards.coverage import Coverage
from app.boards.measured import Estimate, Measurement
from app.boards.spread import Precision
from app.db.driver import ROWS_AT_ONCE, bulk_cursor
from app.db.models import Entry, Measured
from app.stats.arrays import FloatArray
from app.store.packing import pack, unpack
from app.values.table import Cell

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


V = TypeVar("V")
NOTHING_APART: frozenset[str] = frozenset()


class Kept(Mapping[str, V]):
    """Values by name of which some are at hand, and the others are read together when one is first asked for.

    Losses and curves are as large as the evidence, and of the thousand entrants of a board the few best are shown.
    """

    def __init__(self, at_hand: Mapping[str, V], names: Sequence[str], read: Callable[[], Mapping[str, V]]) -> None:
        self._at_hand = at_hand
        self._apart = tuple(names)
        self._read = read

    def __getitem__(self, name: str) -> V:
        """Return one value."""
        if name not in self._apart:
            return self._at_hand[name]
        return self._read_apart[name]

    def __contains__(self, name: object) -> bool:
        """Say whether there is one, without reading it."""
        return name in self._at_hand or name in self._apart

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return iter((*self._at_hand, *self._apart))

    def __len__(self) -> int:
        """Return the number of names."""
        return len(self._at_hand) + len(self._apart)

    @cached_property
    def _read_apart(self) -> Mapping[str, V]:
        return self._read()


@dataclass(frozen=True)
class Apart:
    """What is kept apart of a measurement: its losses by task, and its rows of the tables that few are shown in."""

    losses: Mapping[str, FloatArray] = field(default_factory=dict)
    rows: Mapping[str, Sequence[tuple[Cell, ...]]] = field(default_factory=dict)


READ = """
    SELECT measured.submission_id, measured.entrant_id, measured.key, measured.content
    FROM unnest(%s::bigint[], %s::integer[], %s::text[]) AS wanted (submission_id, entrant_id, key)
    JOIN measured USING (submission_id, entrant_id, key)
"""


def load_measurements(session: Session, places: Iterable[Place]) -> dict[Place, Measurement]:
    """Return what is kept in some places, in one statement however many; what is apart can be read in its session."""
    wanted = sorted(set(places))
    if not wanted:
        return {}
    columns = ([pair[0] for pair, _ in wanted], [pair[1] for pair, _ in wanted], [key for _, key in wanted])
    with bulk_cursor(session) as cursor:
        return {
            ((submission, entrant), key): unpack_measurement(
                content, partial(_read_apart, session, (submission, entrant), key)
            )
            for submission, entrant, key, content in cursor.stream(READ, columns, size=ROWS_AT_ONCE)
        }


def _read_apart(session: Session, pair: Pair, key: str) -> Apart:
    content = session.scalars(select(Measured.apart).where(Measured.key == key, _is_of(pair))).one()
    return Apart() if content is None else unpack_apart(content)


def _is_of(pair: Pair) -> ColumnElement[bool]:
    return and_(Measured.submission_id == pair[0], Measured.entrant_id == pair[1])


def keep_measurements(session: Session, measured: Mapping[Place, Measurement], apart: Set[str] = NOTHING_APART) -> None:
    """Keep measurements, with their rows of some tables apart; one that another worker kept meanwhile is the same."""
    rows = [
        {
            "submission_id": pair[0],
            "entrant_id": pair[1],
            "key": key,
            "content": pack_measurement(measurement, apart),
            "apart": pack_apart(measurement, apart),
        }
        for (pair, key), measurement in measured.items()
    ]
    if rows:
        session.execute(insert(Measured).on_conflict_do_nothing(), rows)


def pack_measurement(measurement: Measurement, apart: Set[str] = NOTHING_APART) -> bytes:
    """Return a measurement as bytes; its losses, and its rows of some tables, are only named."""
    document = {
        "entrant": measurement.entrant,
        "estimates": {name: asdict(estimate) for name, estimate in measurement.estimates.items()},
        "rows": _as_lists({name: rows for name, rows in measurement.rows.items() if name not in apart}),
        "rows_apart": [name for name in measurement.rows if name in apart],
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


def pack_apart(measurement: Measurement, apart: Set[str] = NOTHING_APART) -> bytes | None:
    """Return what `pack_measurement` leaves out, None where that is nothing. Zeros and ones take a byte each."""
    rows = {name: rows for name, rows in measurement.rows.items() if name in apart}
    if not measurement.losses and not rows:
        return None
    arrays = {f"{at}": _fewest_bytes(values) for at, values in enumerate(measurement.losses.values())}
    return pack({"tasks": list(measurement.losses), "rows": _as_lists(rows)}, arrays)


def _as_lists(rows: Mapping[str, Sequence[tuple[Cell, ...]]]) -> dict[str, list[list[Cell]]]:
    return {name: [list(row) for row in of_table] for name, of_table in rows.items()}


def _as_tuples(rows: Mapping[str, Sequence[Sequence[Cell]]]) -> dict[str, tuple[tuple[Cell, ...], ...]]:
    return {name: tuple(map(tuple, of_table)) for name, of_table in rows.items()}


def _fewest_bytes(values: FloatArray) -> NDArray[Any]:
    are_flags = bool(np.isin(values, (0.0, 1.0)).all()) and not np.signbit(values).any()
    return values.astype(np.int8) if are_flags else values


def unpack_apart(content: bytes) -> Apart:
    """Return what `pack_apart` packed."""
    document, arrays = unpack(content)
    losses = {task: arrays[f"{at}"].astype(np.float64) for at, task in enumerate(document["tasks"])}
    return Apart(losses, _as_tuples(document["rows"]))


def unpack_measurement(content: bytes, read_apart: Callable[[], Apart] = Apart) -> Measurement:
    """Return the measurement that `pack_measurement` packed; what is apart is read once, when it is asked for."""
    apart = cache(read_apart)
    document, arrays = unpack(content)
    return Measurement(
        entrant=document["entrant"],
        estimates={name: Estimate.from_stored(estimate) for name, estimate in document["estimates"].items()},
        replicates={name: arrays[f"replicates{at}"] for at, name in enumerate(document["replicates"])},
        precision={name: Precision(**kept) for name, kept in document["precision"].items()},
        rows=Kept(_as_tuples(document["rows"]), document["rows_apart"], lambda: apart().rows),
        facts=document["facts"],
        losses=Kept({}, document["losses"], lambda: apart().losses),
        coverage=Coverage(**document["coverage"]),
        held=None if document["held"] is None else tuple((task, at, n) for task, at, n in document["held"]),
        bounds=None if document["bounds"] is None else (document["bounds"][0], document["bounds"][1]),
        items=document["items"],
    )
