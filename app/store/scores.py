"""Score rows into Postgres by binary COPY, and beside them the blocks that boards are computed from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
from psycopg.types.json import Jsonb
from sqlalchemy.orm import Session

from app.db.copy_binary import HEADER, TRAILER, encode_rows
from app.db.driver import bulk_cursor
from app.stats.arrays import BoolArray, IntArray
from app.store.evidence import blocks_of, write_evidence
from app.store.score_keys import refuse_repeated, refuse_strangers, refuse_unnamed
from app.values.scores import NONE, Coded, ScoreTable

COPY_COLUMNS = (
    ("submission_id", "int8"),
    ("position", "int4"),
    ("file", "int2"),
    ("row", "int4"),
    ("entrant_id", "int4"),
    ("task_id", "int4"),
    ("condition", "text"),
    ("seed", "int8"),
    ("item", "text"),
    ("leaked", "bool"),
    ("values", "float8[]"),
    ("reason", "text"),
    ("recorded", "jsonb"),
)
CHUNK_ROWS = 50_000
VALUES_AT = [name for name, _ in COPY_COLUMNS].index("values")


@dataclass(frozen=True)
class RowKeys:
    """The numbers in place of names in score rows."""

    submission_id: int
    entrants: Mapping[str, int]
    tasks: Mapping[str, int]


def copy_scores(session: Session, scores: ScoreTable, keys: RowKeys) -> None:
    """Write every row by binary COPY inside the session's own transaction.

    What no key of the table guarantees is checked before. Rows that hold only numbers are encoded all at once; those
    with a text or a null value one by one. Raises BrokenRows.
    """
    refuse_unnamed(scores)
    every = np.arange(len(scores))
    entrants = _numbers_of(scores.entrant, keys.entrants, every)
    tasks = _numbers_of(scores.task, keys.tasks, every)
    refuse_repeated(scores, entrants, tasks)
    refuse_strangers(session, keys.submission_id, keys.entrants.values(), keys.tasks.values())
    _copy(session, scores, keys)
    write_evidence(session, keys.submission_id, blocks_of(scores, entrants, tasks))


def _copy(session: Session, scores: ScoreTable, keys: RowKeys) -> None:
    names = ", ".join(f'"{name}"' for name, _ in COPY_COLUMNS)
    statement = f"COPY score ({names}) FROM STDIN (FORMAT BINARY)"
    only_numbers = _only_numbers(scores)
    with bulk_cursor(session) as cursor:
        # Each statement is a way to the server and back, and most uploads are of one sort.
        if only_numbers.any():
            with cursor.copy(statement) as copy:
                copy.write(HEADER)
                for part in _parts(np.flatnonzero(only_numbers)):
                    copy.write(_encode(scores, keys, part))
                copy.write(TRAILER)
        if not only_numbers.all():
            with cursor.copy(statement) as copy:
                copy.set_types([kind for _, kind in COPY_COLUMNS])
                for part in _parts(np.flatnonzero(~only_numbers)):
                    for row in _rows(scores, keys, part):
                        copy.write_row(row)


def _parts(rows: IntArray) -> Iterator[IntArray]:
    return (rows[start : start + CHUNK_ROWS] for start in range(0, len(rows), CHUNK_ROWS))


def _only_numbers(scores: ScoreTable) -> BoolArray:
    if scores.recorded:
        return np.zeros(len(scores), dtype=np.bool_)
    only: BoolArray = np.asarray(~np.isnan(scores.values).any(axis=1))
    for texts in (scores.condition, scores.item, scores.reason):
        if texts is not None:
            only &= texts.codes == NONE
    return only


def _encode(scores: ScoreTable, keys: RowKeys, at: IntArray) -> bytes:
    columns = [
        (np.full(len(at), keys.submission_id), ">i8"),
        (at, ">i4"),
        (scores.file[at], ">i2"),
        (scores.row[at], ">i4"),
        (_numbers_of(scores.entrant, keys.entrants, at), ">i4"),
        (_numbers_of(scores.task, keys.tasks, at), ">i4"),
        (None, "i1"),
        (None if scores.seed is None else scores.seed[at], ">i8"),
        (None, "i1"),
        (scores.leaked[at], "?"),
        (None, "i1"),
        (None, "i1"),
    ]
    return encode_rows(columns, scores.values[at], at=VALUES_AT)


def _rows(scores: ScoreTable, keys: RowKeys, at: IntArray) -> Iterator[tuple[Any, ...]]:
    """Return an iterator over plain Python rows, in COPY order."""
    n_rows = len(at)
    return zip(
        repeat(keys.submission_id, n_rows),
        at.tolist(),
        scores.file[at].tolist(),
        scores.row[at].tolist(),
        _numbers_of(scores.entrant, keys.entrants, at).tolist(),
        _numbers_of(scores.task, keys.tasks, at).tolist(),
        _texts(scores.condition, at),
        repeat(None, n_rows) if scores.seed is None else scores.seed[at].tolist(),
        _texts(scores.item, at),
        scores.leaked[at].tolist(),
        _nullable(scores.values[at]),
        _texts(scores.reason, at),
        _recorded(scores, at),
        strict=True,
    )


def _numbers_of(coded: Coded, numbers: Mapping[str, int], at: IntArray) -> IntArray:
    """Return the number of each row's word."""
    by_code = np.array([numbers[word] for word in coded.words], dtype=np.int64)
    return by_code[coded.codes[at]]


def _texts(coded: Coded | None, at: IntArray) -> Any:
    if coded is None:
        return repeat(None, len(at))
    lookup = [*coded.words, None]
    return [lookup[code] for code in coded.codes[at].tolist()]


def _nullable(values: np.ndarray[Any, np.dtype[np.float64]]) -> list[list[float | None]]:
    """Return rows of floats; NaN means null in a ScoreTable and becomes one."""
    rows: list[list[float | None]] = values.tolist()
    for position in np.flatnonzero(np.isnan(values).any(axis=1)).tolist():
        rows[position] = [None if value != value else value for value in rows[position]]
    return rows


def _recorded(scores: ScoreTable, at: IntArray) -> Any:
    if not scores.recorded:
        return repeat(None, len(at))
    columns = {name: _texts(coded, at) for name, coded in scores.recorded.items()}
    return [Jsonb(dict(zip(columns, cells, strict=True))) for cells in zip(*columns.values(), strict=True)]
