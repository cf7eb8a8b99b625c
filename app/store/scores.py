"""Score rows to and from Postgres: binary COPY in, columnar ScoreTable out."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
from psycopg.types.json import Jsonb
from sqlalchemy import any_, select
from sqlalchemy.orm import Session

from app.db.copy_binary import HEADER, TRAILER, encode_rows
from app.db.models import Entrant, Entry, Score, Submission, Task
from app.stats.arrays import BoolArray, IntArray
from app.store.score_keys import refuse_repeated, refuse_strangers, refuse_unnamed
from app.values.scores import NONE, Coded, ScoreTable

READ_AT_ONCE = 1000

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
    """The numbers that stand for names in score rows."""

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
    refuse_repeated(
        scores, _numbers_of(scores.entrant, keys.entrants, every), _numbers_of(scores.task, keys.tasks, every)
    )
    refuse_strangers(session, keys.submission_id, keys.entrants.values(), keys.tasks.values())
    _copy(session, scores, keys)


def _copy(session: Session, scores: ScoreTable, keys: RowKeys) -> None:
    driver = session.connection().connection.driver_connection
    if driver is None:
        raise RuntimeError("the session has lost its connection")
    names = ", ".join(f'"{name}"' for name, _ in COPY_COLUMNS)
    statement = f"COPY score ({names}) FROM STDIN (FORMAT BINARY)"
    only_numbers = _only_numbers(scores)
    with driver.cursor() as cursor:
        with cursor.copy(statement) as copy:
            copy.write(HEADER)
            for part in _parts(np.flatnonzero(only_numbers)):
                copy.write(_encode(scores, keys, part))
            copy.write(TRAILER)
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


def read_scores(session: Session, pairs: Sequence[tuple[int, int]], columns: Sequence[str]) -> ScoreTable:
    """Return the rows of (submission, entrant) pairs as one table with the wanted value columns.

    A submission made under an older manifest may lack a column; its values are null there. Tasks that newer
    evidence of the entrant has taken over are left out. Rows come in the order of entrant, task and position,
    whatever the order in which they were stored.
    """
    ordered = sorted(set(pairs))
    rows: list[tuple[Any, ...]] = []
    for start in range(0, len(ordered), READ_AT_ONCE):
        part = ordered[start : start + READ_AT_ONCE]
        for layout, wanted in _by_layout(session, part).items():
            rows += _read_pairs(session, wanted, [_place(layout, column) for column in columns])
    rows.sort(key=lambda row: (row[0], row[1], row[6], row[11]))
    return _to_table(rows, tuple(columns))


def _by_layout(session: Session, pairs: Sequence[tuple[int, int]]) -> dict[tuple[str, ...], set[tuple[int, int]]]:
    """Return the pairs by the order in which the values of their submission stand."""
    query = select(Submission.id, Submission.columns).where(Submission.id.in_({number for number, _ in pairs}))
    columns = {number: tuple(named) for number, named in session.execute(query)}
    found: dict[tuple[str, ...], set[tuple[int, int]]] = {}
    for pair in pairs:
        found.setdefault(columns[pair[0]], set()).add(pair)
    return found


def _place(layout: Sequence[str], column: str) -> int | None:
    return layout.index(column) if column in layout else None


def _read_pairs(
    session: Session, pairs: Set[tuple[int, int]], positions: Sequence[int | None]
) -> list[tuple[Any, ...]]:
    """Return the rows of pairs whose values stand in the same order, in one query however many they are."""
    query = (
        select(
            Entrant.name, Task.name, Score.condition, Score.seed, Score.item, Score.leaked, Score.position,
            Score.file, Score.row, Score.values, Score.reason, Score.submission_id, Score.entrant_id,
        )
        .join(Entrant, Entrant.id == Score.entrant_id)
        .join(Task, Task.id == Score.task_id)
        .join(Entry, (Entry.submission_id == Score.submission_id) & (Entry.entrant_id == Score.entrant_id))
        .where(Score.submission_id.in_({number for number, _ in pairs}))
        .where(Score.entrant_id.in_({entrant for _, entrant in pairs}))
        .where(Entry.task_ids.is_(None) | (Score.task_id == any_(Entry.task_ids)))
    )  # fmt: skip
    return [
        (*row[:9], [None if at is None else row[9][at] for at in positions], row[10], row[11])
        for row in session.execute(query)
        if (row[11], row[12]) in pairs
    ]


def _to_table(rows: list[tuple[Any, ...]], columns: tuple[str, ...]) -> ScoreTable:
    by_column = list(zip(*rows, strict=True)) or [()] * 11
    has_seed = any(seed is not None for seed in by_column[3])
    return ScoreTable(
        entrant=_code(by_column[0]),
        task=_code(by_column[1]),
        condition=_code_or_none(by_column[2]),
        seed=np.array(by_column[3], dtype=np.int64) if has_seed else None,
        item=_code_or_none(by_column[4]),
        leaked=np.array(by_column[5], dtype=np.bool_),
        file=np.array(by_column[7], dtype=np.int64),
        row=np.array(by_column[8], dtype=np.int64),
        columns=columns,
        values=np.array(by_column[9], dtype=np.float64).reshape(len(rows), len(columns)),
        reason=_code_or_none(by_column[10]),
    )


def _code(words: Sequence[str | None]) -> Coded:
    vocabulary = sorted({word for word in words if word is not None})
    numbers = {word: code for code, word in enumerate(vocabulary)}
    codes = np.array([NONE if word is None else numbers[word] for word in words], dtype=np.int64)
    return Coded(tuple(vocabulary), codes)


def _code_or_none(words: Sequence[str | None]) -> Coded | None:
    return _code(words) if any(word is not None for word in words) else None
