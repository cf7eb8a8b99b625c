"""Measurements kept between publications: packed as plain arrays and JSON, never as code. They are a cache of values
determined by rows and manifest; losing one only costs time. A process keeps those it has read, by the digest of
their bytes, so that a board that gains one entrant reads only that entrant's.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, and_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from app.boards.calibrated import Precision
from app.boards.coverage import Coverage
from app.boards.evidence import Pair
from app.boards.measured import EntrantEvidence, Estimate, Measurement
from app.cache import Cache, digest
from app.db.engine import ROWS_AT_ONCE, bulk_cursor
from app.db.models import Entry, StoredMeasurement
from app.kinds.labels import narrow
from app.kinds.registry import kind_of
from app.manifest.model import PRIVATE_PART, Manifest
from app.stats.arrays import FloatArray
from app.store.benchmarks import Declared
from app.store.labels import load_labels, read_blocks, scoring_of
from app.store.row_blocks import pack, unpack
from app.store.rows import read_scores
from app.values.table import Cell, CellColumn, ColumnarRows

Place = tuple[Pair, str]
"""Where a measurement is stored: with its newest evidence, under the key of everything that determines it."""


@dataclass(frozen=True)
class EvidenceRef:
    """A submission that is an entrant's evidence, and for which of its tasks; None: for all of them."""

    pair: Pair
    task_ids: tuple[int, ...] | None = None

    @classmethod
    def of_entry(cls, entry: Entry) -> Self:
        """Return what an entry says."""
        tasks = None if entry.task_ids is None else tuple(entry.task_ids)
        return cls((entry.submission_id, entry.entrant_id), tasks)


def place_of(refs: Sequence[EvidenceRef], key: str) -> Place:
    """Return where the measurement of an entrant from this evidence is kept."""
    if all(ref.task_ids is None for ref in refs):
        return refs[-1].pair, key
    parts = [[ref.pair[0], list(ref.task_ids or ())] for ref in refs]
    return refs[-1].pair, digest(key, json.dumps(parts)).hex()


@dataclass(frozen=True)
class ColdParts:
    """What is kept apart of a measurement: its losses by task, and its rows of the tables that few are shown in."""

    losses: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    rows: Mapping[str, Sequence[tuple[Cell, ...]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Unread:
    """A measurement without what is apart, and the names of that: the tasks of its losses, and tables."""

    measurement: Measurement
    losses: Sequence[str]
    rows: Sequence[str]
    n_bytes: int

    def with_apart(self, read_apart: Callable[[], ColdParts] = ColdParts) -> Measurement:
        """Return the measurement; what is apart is read once, when it is asked for."""
        if not self.losses and not self.rows:
            return self.measurement
        apart = cache(read_apart)
        losses: LazyValues[NDArray[Any]] = LazyValues({}, self.losses, lambda: apart().losses)
        return replace(
            self.measurement, rows=LazyValues(self.measurement.rows, self.rows, lambda: apart().rows), losses=losses
        )


MEASURED_CACHE: Cache[Unread] = Cache(48 << 20)

APART_CACHE: Cache[ColdParts] = Cache(64 << 20)
"""Enough for the 200 best of a board of 100,000 predictions, 50 MiB."""

READ = """
    SELECT measured.submission_id, measured.entrant_id, measured.key, measured.digest,
           CASE WHEN measured.digest = ANY(%s::bytea[]) THEN NULL ELSE measured.content END
    FROM unnest(%s::bigint[], %s::integer[], %s::text[]) AS wanted (submission_id, entrant_id, key)
    JOIN measured USING (submission_id, entrant_id, key)
"""


def load_measurements(session: Session, places: Iterable[Place]) -> dict[Place, Measurement]:
    """Return what is kept in some places, in one statement however many; what is apart can be read in its session."""
    wanted = sorted(set(places))
    if not wanted:
        return {}
    columns = ([pair[0] for pair, _ in wanted], [pair[1] for pair, _ in wanted], [key for _, key in wanted])
    known = MEASURED_CACHE.held()
    measured: dict[Place, Measurement] = {}
    with bulk_cursor(session) as cursor:
        for submission, entrant, key, content_digest, content in cursor.stream(
            READ, (list(known), *columns), size=ROWS_AT_ONCE
        ):
            unread = known[content_digest] if content is None else unpack_measurement(content)
            MEASURED_CACHE.keep(content_digest, unread, unread.n_bytes)
            read = partial(_read_apart, session, (submission, entrant), key, content_digest)
            measured[(submission, entrant), key] = unread.with_apart(read)
    return measured


def _read_apart(session: Session, pair: Pair, key: str, content_digest: bytes) -> ColdParts:
    known = APART_CACHE.get(content_digest)
    if known is not None:
        return known
    content = session.scalars(select(StoredMeasurement.apart).where(StoredMeasurement.key == key, _is_of(pair))).one()
    apart = ColdParts() if content is None else unpack_apart(content)
    APART_CACHE.keep(content_digest, apart, 0 if content is None else len(content))
    return apart


def _is_of(pair: Pair) -> ColumnElement[bool]:
    return and_(StoredMeasurement.submission_id == pair[0], StoredMeasurement.entrant_id == pair[1])


NOTHING_APART: frozenset[str] = frozenset()


def keep_measurements(session: Session, measured: Mapping[Place, Measurement], apart: Set[str] = NOTHING_APART) -> None:
    """Keep measurements, with their rows of some tables apart; one that another worker kept meanwhile is the same."""
    rows = [
        {"submission_id": pair[0], "entrant_id": pair[1], "key": key} | _packed(measurement, apart)
        for (pair, key), measurement in measured.items()
    ]
    if rows:
        session.execute(insert(StoredMeasurement).on_conflict_do_nothing(), rows)


def _packed(measurement: Measurement, apart: Set[str]) -> dict[str, bytes | None]:
    content, beside = pack_measurement(measurement, apart), pack_apart(measurement, apart)
    return {"digest": digest(content, beside or b""), "content": content, "apart": beside}


# A measurement as bytes: its numbers and, separately, the parts that are shown only for the best of a board. Rows are
# packed column by column, so that reading them needs no parsing.

V = TypeVar("V")


class LazyValues(Mapping[str, V]):
    """Values by name, some of them in memory; the others are of `read`, which is called when one is accessed.

    Losses and curves are as large as the evidence, but are shown only for the few best of a thousand entrants.
    """

    def __init__(self, at_hand: Mapping[str, V], names: Sequence[str], read: Callable[[], Mapping[str, V]]) -> None:
        self._at_hand = at_hand
        self._apart = tuple(names)
        self._read = read

    def __getitem__(self, name: str) -> V:
        """Return one value."""
        if name not in self._apart:
            return self._at_hand[name]
        return self._read()[name]

    def __contains__(self, name: object) -> bool:
        """Say whether there is one, without reading it."""
        return name in self._at_hand or name in self._apart

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return iter((*self._at_hand, *self._apart))

    def __len__(self) -> int:
        """Return the number of names."""
        return len(self._at_hand) + len(self._apart)


def pack_measurement(measurement: Measurement, apart: Set[str] = NOTHING_APART) -> bytes:
    """Return a measurement as bytes; its losses, and its rows of some tables, are only named."""
    document = {
        "entrant": measurement.entrant,
        "estimates": {name: asdict(estimate) for name, estimate in measurement.estimates.items()},
        "rows": {name: list(map(list, rows)) for name, rows in measurement.rows.items() if name not in apart},
        "rows_apart": [name for name in measurement.rows if name in apart],
        "facts": dict(measurement.facts),
        "replicates": list(measurement.replicates),
        "precision": {name: asdict(precision) for name, precision in measurement.precision.items()},
        "losses": list(measurement.losses),
        "coverage": asdict(measurement.coverage),
        "held": None if measurement.held is None else [list(each) for each in measurement.held],
        "bounds": None if measurement.bounds is None else list(measurement.bounds),
        "items": measurement.items,
        "elsewhere": dict(measurement.elsewhere),
    }
    arrays = {f"replicates{at}": values for at, values in enumerate(measurement.replicates.values())}
    return pack(document, arrays)


def pack_apart(measurement: Measurement, apart: Set[str] = NOTHING_APART) -> bytes | None:
    """Return what `pack_measurement` leaves out, None where that is nothing. Zeros and ones take a byte each."""
    tables = {name: ColumnarRows.of_rows(rows) for name, rows in measurement.rows.items() if name in apart}
    if not measurement.losses and not tables:
        return None
    arrays = {f"{at}": _fewest_bytes(values) for at, values in enumerate(measurement.losses.values())}
    words = {name: [column.words for column in rows.columns] for name, rows in tables.items()}
    columns = {f"{name}:{at}": column.values for name, rows in tables.items() for at, column in enumerate(rows.columns)}
    return pack({"tasks": list(measurement.losses), "words": words}, arrays | columns)


def _fewest_bytes(values: FloatArray) -> NDArray[Any]:
    are_flags = bool(np.isin(values, (0.0, 1.0)).all()) and not np.signbit(values).any()
    return values.astype(np.int8) if are_flags else values


def unpack_apart(content: bytes) -> ColdParts:
    """Return what `pack_apart` packed."""
    document, arrays = unpack(content)
    losses = {task: arrays[f"{at}"] for at, task in enumerate(document["tasks"])}
    tables = {
        name: ColumnarRows(tuple(CellColumn(arrays[f"{name}:{at}"], None if known is None else tuple(known))
                                 for at, known in enumerate(words)))
        for name, words in document["words"].items()
    }  # fmt: skip
    return ColdParts(losses, tables)


def unpack_measurement(content: bytes) -> Unread:
    """Return the measurement that `pack_measurement` packed."""
    document, arrays = unpack(content)
    measurement = Measurement(
        entrant=document["entrant"],
        estimates={name: Estimate.from_stored(estimate) for name, estimate in document["estimates"].items()},
        replicates={name: arrays[f"replicates{at}"] for at, name in enumerate(document["replicates"])},
        precision={name: Precision(**kept) for name, kept in document["precision"].items()},
        rows={name: tuple(map(tuple, rows)) for name, rows in document["rows"].items()},
        facts=document["facts"],
        coverage=Coverage(**document["coverage"]),
        held=None if document["held"] is None else tuple((task, at, n) for task, at, n in document["held"]),
        bounds=None if document["bounds"] is None else (document["bounds"][0], document["bounds"][1]),
        items=document["items"],
        elsewhere=document["elsewhere"],
    )
    return Unread(measurement, document["losses"], document["rows_apart"], len(content))


# All current evidence of one entrant, read from Postgres.


def read_entrant(session: Session, declared: Declared, pairs: Sequence[Pair], entrant: str) -> EntrantEvidence:
    """Return the current rows of one entrant; of predictions, these and the labels they are scored against."""
    scores = read_scores(session, pairs, list(declared.manifest.metrics))
    if not kind_of(declared.manifest).rows.are_packed:
        return EntrantEvidence(entrant, scores)
    blocks = [block for pair in pairs for block in read_blocks(session, *pair)]
    labels = load_labels(session, declared.benchmark.id)
    return _visible(declared.manifest, EntrantEvidence(entrant, scores, blocks, labels))


def _visible(manifest: Manifest, evidence: EntrantEvidence) -> EntrantEvidence:
    """Return what may be computed with: of labels that are a secret the public part alone, until the close."""
    if scoring_of(manifest) is None or manifest.asked.facts.part == PRIVATE_PART:
        return evidence
    if any(labels.public is None for labels in evidence.labels.values()):
        raise RuntimeError(f"the private labels of {manifest.slug} have no parts")
    return narrow(evidence, public=True)
