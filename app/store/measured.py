"""Measurements kept between publications: packed as plain arrays and JSON, never as code.

Called by `app.jobs.measuring`. They are a cache of values determined by rows and manifest; losing one only costs time.
A process keeps those it has read by the digest of their bytes, so that a board that gains one entrant reads only that
entrant's.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Self

from sqlalchemy import ColumnElement, and_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from app.boards.measured import Measurement
from app.db.driver import ROWS_AT_ONCE, bulk_cursor
from app.db.models import Entry, Measured
from app.store.known_bytes import KnownBytes
from app.store.measurement_bytes import (
    NOTHING_APART,
    Apart,
    Unread,
    pack_apart,
    pack_measurement,
    unpack_apart,
    unpack_measurement,
)

Pair = tuple[int, int]
"""A submission and an entrant of it, by their numbers."""
Place = tuple[Pair, str]
"""Where a measurement is stored: with its newest evidence, under the key of everything that determines it."""


@dataclass(frozen=True)
class Piece:
    """A submission that is an entrant's evidence, and for which of its tasks; None: for all of them."""

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


KNOWN: KnownBytes[Unread] = KnownBytes(48 << 20)
KNOWN_APART: KnownBytes[Apart] = KnownBytes(64 << 20)
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
    known = KNOWN.held()
    measured: dict[Place, Measurement] = {}
    with bulk_cursor(session) as cursor:
        for submission, entrant, key, digest, content in cursor.stream(
            READ, (list(known), *columns), size=ROWS_AT_ONCE
        ):
            unread = known[digest] if content is None else unpack_measurement(content)
            KNOWN.keep(digest, unread, unread.n_bytes)
            read = partial(_read_apart, session, (submission, entrant), key, digest)
            measured[(submission, entrant), key] = unread.with_apart(read)
    return measured


def _read_apart(session: Session, pair: Pair, key: str, digest: bytes) -> Apart:
    known = KNOWN_APART.get(digest)
    if known is not None:
        return known
    content = session.scalars(select(Measured.apart).where(Measured.key == key, _is_of(pair))).one()
    apart = Apart() if content is None else unpack_apart(content)
    KNOWN_APART.keep(digest, apart, 0 if content is None else len(content))
    return apart


def _is_of(pair: Pair) -> ColumnElement[bool]:
    return and_(Measured.submission_id == pair[0], Measured.entrant_id == pair[1])


def keep_measurements(session: Session, measured: Mapping[Place, Measurement], apart: Set[str] = NOTHING_APART) -> None:
    """Keep measurements, with their rows of some tables apart; one that another worker kept meanwhile is the same."""
    rows = [
        {"submission_id": pair[0], "entrant_id": pair[1], "key": key} | _packed(measurement, apart)
        for (pair, key), measurement in measured.items()
    ]
    if rows:
        session.execute(insert(Measured).on_conflict_do_nothing(), rows)


def _packed(measurement: Measurement, apart: Set[str]) -> dict[str, bytes | None]:
    content, beside = pack_measurement(measurement, apart), pack_apart(measurement, apart)
    digest = hashlib.blake2b(content + (beside or b""), digest_size=16).digest()
    return {"digest": digest, "content": content, "apart": beside}
