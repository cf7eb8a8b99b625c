"""Score rows into Postgres by binary COPY, with their keys."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg.types.json import Jsonb
from sqlalchemy import ARRAY, Integer, Select, cast, exists, func, literal, select, union_all
from sqlalchemy.orm import Session

from app.db.engine import bulk_cursor
from app.db.models import Entrant, StoredTask, Submission
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.store.rows import blocks_of, write_evidence
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


# Integrity checks in place of foreign keys on `score`, once per submission in the transaction that writes its rows.
# Three foreign keys make the COPY of a million rows ten times slower; this costs a tenth of a second. Faults of a
# submitter are refused earlier, with file and row; what is refused here is a fault of this program, and the
# submission is not stored.

KEY = "entrant, task, condition, seed and item"

_LARGEST = np.iinfo(np.int64).max


class BrokenRows(RuntimeError):
    """Score rows refer to missing names, to another benchmark's names, or are duplicated."""


def refuse_unnamed(scores: ScoreTable) -> None:
    """Refuse rows without an entrant or a task. Raises BrokenRows."""
    for column, coded in (("entrant", scores.entrant), ("task", scores.task)):
        unnamed = np.flatnonzero((coded.codes <= NONE) | (coded.codes >= len(coded.words)))
        if len(unnamed):
            raise BrokenRows(f"{len(unnamed)} rows have no {column}, the first at position {unnamed[0]}")


def refuse_repeated(scores: ScoreTable, entrants: IntArray, tasks: IntArray) -> None:
    """Refuse two rows of the same key; `entrants` and `tasks` are the numbers of each row's. Raises BrokenRows.

    Sorting the rows here takes a tenth of the time that Postgres needs to group them.
    """
    key = np.zeros(len(scores), dtype=np.int64)
    for column in (entrants, tasks, _codes(scores.condition), scores.seed, _codes(scores.item)):
        if column is not None and len(column):
            key = _combine(key, column)
    ordered = np.sort(key)
    repeated = ordered[1:][ordered[1:] == ordered[:-1]]
    if len(repeated):
        first, second = np.flatnonzero(key == repeated[0])[:2]
        raise BrokenRows(f"the rows at positions {first} and {second} have the same {KEY}")


def _codes(coded: Coded | None) -> IntArray | None:
    return None if coded is None else coded.codes


def _combine(key: IntArray, column: IntArray) -> IntArray:
    """Return one number for each pair of numbers; both are numbered anew where their product would overflow."""
    low, high = int(column.min()), int(column.max())
    if (int(key.max()) + 1) * (high - low + 1) > _LARGEST:
        key, column = _renumber(key), _renumber(column)
        low, high = 0, int(column.max())
    combined: IntArray = key * (high - low + 1) + (column - low)
    return combined


def _renumber(column: IntArray) -> IntArray:
    return np.unique(column, return_inverse=True)[1].astype(np.int64)


def refuse_strangers(session: Session, submission_id: int, entrants: Collection[int], tasks: Collection[int]) -> None:
    """Refuse numbers of entrants and tasks that the benchmark of a submission does not have. Raises BrokenRows.

    Rows hold no other numbers than these, so that there is no need to read the rows.
    """
    query = union_all(
        _strangers(submission_id, "entrant", Entrant, entrants), _strangers(submission_id, "task", StoredTask, tasks)
    )
    stranger = session.execute(query.limit(1)).mappings().first()
    if stranger is not None:
        which = f"{stranger['name']} {stranger['number']}"
        raise BrokenRows(f"submission {submission_id} has rows of {which}, which its benchmark does not have")


def _strangers(
    submission_id: int, name: str, table: type[Entrant | StoredTask], numbers: Collection[int]
) -> Select[tuple[str, int]]:
    number = func.unnest(cast(list(numbers), ARRAY(Integer))).column_valued("number")
    own = (
        exists()
        .where(table.id == number)
        .where(table.benchmark_id == Submission.benchmark_id, Submission.id == submission_id)
    )
    return select(literal(name).label("name"), number).where(~own)


# Rows without text as the bytes of a binary COPY, made all at once: five times what a row at a time reaches. The
# format is that of PostgreSQL's documentation, chapter COPY, "Binary Format": a header, then for each row the number
# of fields, then each field with its length; −1 is null.

HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)

TRAILER = b"\xff\xff"

NULL = -1

FLOAT8_OID = 701

_FLOAT8 = 8


def encode_rows(columns: list[tuple[NDArray[Any] | None, str]], values: FloatArray, at: int) -> bytes:
    """Return rows as COPY reads them: `columns` are arrays with their big-endian dtype, None for a column of nulls.

    `values` is [n_rows, n_values] without NaN and becomes a float8[] in place `at` among the columns.
    """
    fields: list[Any] = [("n_fields", ">i2")]
    for number, (column, dtype) in enumerate(columns):
        if number == at:
            fields += _array_fields(values.shape[1])
        fields.append((f"length{number}", ">i4"))
        if column is not None:
            fields.append((f"cell{number}", dtype))
    rows = np.zeros(len(values), dtype=np.dtype(fields))
    rows["n_fields"] = len(columns) + 1
    for number, (column, dtype) in enumerate(columns):
        rows[f"length{number}"] = NULL if column is None else np.dtype(dtype).itemsize
        if column is not None:
            rows[f"cell{number}"] = column
    _fill_array(rows, values)
    return rows.tobytes()


def _array_fields(n_values: int) -> list[Any]:
    element = np.dtype([("length", ">i4"), ("value", ">f8")])
    names = ("array_length", "n_dimensions", "has_null", "oid", "n_values", "lower_bound")
    fields: list[Any] = [(name, ">i4") for name in names]
    return [*fields, ("elements", element, (n_values,))]


def _fill_array(rows: NDArray[Any], values: FloatArray) -> None:
    n_values = values.shape[1]
    rows["array_length"] = 5 * 4 + n_values * (4 + _FLOAT8)
    rows["n_dimensions"], rows["has_null"], rows["oid"] = 1, 0, FLOAT8_OID
    rows["n_values"], rows["lower_bound"] = n_values, 1
    rows["elements"]["length"] = _FLOAT8
    rows["elements"]["value"] = values
