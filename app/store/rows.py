"""The rows of entrants: written by binary COPY with their keys, and read as score tables, whatever their kind.

Blocks come in one statement, the names of tasks in another.

Why: docs/adr/032-storage-of-rows.md.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from psycopg.types.json import Jsonb
from sqlalchemy import ARRAY, Integer, ScalarSelect, Select, cast, delete, exists, func, literal, select, union_all
from sqlalchemy.orm import Session

from app.boards.evidence import Pair
from app.db.engine import ROWS_AT_ONCE, bulk_cursor
from app.db.models import Entrant, Entry, PackedRows, Score, StoredTask, Submission
from app.kinds.registry import kind_of
from app.manifest.model import Manifest
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.store.row_blocks import RowBlock, in_jsonb_order, pack_block, split_by_entrant, unpack_block
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
    write_row_blocks(session, keys.submission_id, blocks_of(scores, entrants, tasks))


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


K = TypeVar("K")

TasksOf = Mapping[Pair, Sequence[int] | None]
"""The tasks for which each (submission, entrant) counts, None for all of them."""


def read_rows(
    session: Session,
    manifest: Manifest,
    pairs: Sequence[Pair],
    tasks_of: TasksOf | None = None,
    *,
    has_texts: bool = False,
) -> ScoreTable:
    """Return the rows of some (submission, entrant), with what boards need of them beside the metrics.

    `tasks_of` are the tasks of a snapshot; without it those that count now. With `has_texts` the rows have what they
    record besides, which no board needs.
    """
    rows = kind_of(manifest).rows
    if rows.in_upload_order:
        return read_records(session, pairs, tasks_of)
    asked = {None: (pairs, list(manifest.metrics))}
    return read_each(session, asked, beside=rows.beside, tasks_of=tasks_of, has_texts=has_texts)[None]


def read_scores(session: Session, pairs: Sequence[Pair], columns: Sequence[str]) -> ScoreTable:
    """Return the rows of (submission, entrant) pairs as one table with the wanted value columns.

    A submission made under an older manifest may lack a column; its values are null there. Tasks that newer evidence of
    the entrant has taken over are left out. Rows come in the order of entrant, task and position, whatever the order in
    which they were stored.
    """
    return read_each(session, {None: (pairs, columns)})[None]


def read_each(
    session: Session,
    asked: Mapping[K, tuple[Sequence[Pair], Sequence[str]]],
    *,
    beside: Sequence[str] = (),
    tasks_of: TasksOf | None = None,
    has_texts: bool = False,
) -> dict[K, ScoreTable]:
    """Return what `read_scores` returns of each of several pairs and columns, by one reading of them all.

    Columns `beside` are there where any submission has them.
    """
    pairs = sorted({pair for wanted, _ in asked.values() for pair in wanted})
    names = {number: name for number, (name, _) in _tasks_of_pairs(session, pairs).items()}
    stood = {(s.submission, s.entrant_id): s for s in read_row_blocks(session, pairs, tasks_of)}
    brought = {name for s in stood.values() for name in s.block.columns}
    present = [name for name in beside if name in brought]
    return {
        key: by_entrant([stood[pair] for pair in sorted(set(wanted)) if pair in stood], names, [*columns, *present],
                        has_texts=has_texts)
        for key, (wanted, columns) in asked.items()
    }  # fmt: skip


def read_records(session: Session, pairs: Sequence[Pair], tasks_of: TasksOf | None = None) -> ScoreTable:
    """Return the rows of (submission, entrant) pairs with their strata, and what a run measured between its estimators.

    Rows come by submission and in the order of the upload: lrdbench's own stream depends on it. What one run
    measured between its own estimators says nothing about a board of several runs, and is left out there.
    """
    submissions = {submission for submission, _ in pairs}
    between = unowned_pairs(session, submissions.pop()) if len(submissions) == 1 else []
    tasks = _tasks_of_pairs(session, pairs)
    names = {number: name for number, (name, _) in tasks.items()}
    strata = {number: stratum for number, (_, stratum) in tasks.items()}
    counted = None if tasks_of is None else {**dict.fromkeys(between), **tasks_of}
    return by_upload(read_row_blocks(session, [*pairs, *between], counted), names, strata)


def _tasks_of_pairs(session: Session, pairs: Sequence[Pair]) -> Mapping[int, tuple[str, Any]]:
    """Return the tasks of the benchmark that the pairs are of."""
    if not pairs:
        return {}
    return read_tasks(session, select(Submission.benchmark_id).where(Submission.id == pairs[0][0]).scalar_subquery())


def read_tasks(session: Session, benchmark_id: int | ScalarSelect[int]) -> dict[int, tuple[str, Any]]:
    """Return name and stratum of every task of a benchmark, by their numbers; None where a name encodes no stratum."""
    query = select(StoredTask.id, StoredTask.name, StoredTask.stratum).where(StoredTask.benchmark_id == benchmark_id)
    return {number: (name, stratum) for number, name, stratum in session.execute(query.order_by(StoredTask.id))}


# Blocks of rows to and from Postgres, in the table `evidence`: one for each entrant of a submission, written in the
# transaction of its rows. The rows are authoritative: a block that is missing, or of another format, is rebuilt from
# them on demand.


@dataclass(frozen=True)
class EntrantBlock:
    """A block with its owner: the rows of one entrant in one submission that count."""

    submission: int
    entrant_id: int
    entrant: str
    block: RowBlock


def write_row_blocks(session: Session, submission: int, blocks: Iterable[tuple[int, RowBlock]]) -> None:
    """Write the blocks of a submission by entrant, in the caller's transaction."""
    statement = "COPY evidence (submission_id, entrant_id, content) FROM STDIN (FORMAT BINARY)"
    with bulk_cursor(session) as cursor, cursor.copy(statement) as copy:
        copy.set_types(["int8", "int4", "bytea"])
        for entrant, block in blocks:
            copy.write_row((submission, entrant, pack_block(block)))


def blocks_of(scores: ScoreTable, entrants: IntArray, tasks: IntArray) -> Iterator[tuple[int, RowBlock]]:
    """Return the rows of each entrant by its number; `entrants` and `tasks` are the numbers of each row's.

    Rows are in the order of the upload.
    """
    every = RowBlock(
        columns=scores.columns,
        values=scores.values,
        position=np.arange(len(scores)),
        file=scores.file,
        row=scores.row,
        task=tasks,
        leaked=scores.leaked,
        condition=scores.condition,
        seed=scores.seed,
        item=scores.item,
        reason=scores.reason,
        recorded=in_jsonb_order(scores.recorded),
    )
    return split_by_entrant(every, entrants)


READ_ROW_BLOCKS = """
    SELECT wanted.submission_id, wanted.entrant_id, entrant.name, entry.task_ids, evidence.content
    FROM unnest(%s::bigint[], %s::integer[]) AS wanted (submission_id, entrant_id)
    JOIN entrant ON entrant.id = wanted.entrant_id
    LEFT JOIN entry ON (entry.submission_id, entry.entrant_id) = (wanted.submission_id, wanted.entrant_id)
    LEFT JOIN evidence ON (evidence.submission_id, evidence.entrant_id) = (wanted.submission_id, wanted.entrant_id)
"""


def read_row_blocks(
    session: Session, pairs: Iterable[Pair], tasks_of: Mapping[Pair, Sequence[int] | None] | None = None
) -> list[EntrantBlock]:
    """Return the rows of (submission, entrant) pairs, in one statement however many they are.

    Tasks superseded by newer evidence of the entrant are left out; `tasks_of` instead gives the tasks that counted for
    each pair at another time.
    """
    wanted = sorted(set(pairs))
    if not wanted:
        return []
    packed: list[tuple[int, int, str, list[int] | None, RowBlock | None]] = []
    with bulk_cursor(session) as cursor:
        arguments = ([submission for submission, _ in wanted], [entrant for _, entrant in wanted])
        for submission, entrant, name, tasks, content in cursor.stream(READ_ROW_BLOCKS, arguments, size=ROWS_AT_ONCE):
            packed.append((submission, entrant, name, tasks, None if content is None else unpack_block(content)))
    lacking = {submission for submission, *_, block in packed if block is None}
    unpacked = {submission: dict(read_stored(session, submission)) for submission in lacking}
    return [
        EntrantBlock(
            submission, entrant, name, rows.of_tasks(tasks if tasks_of is None else tasks_of[submission, entrant])
        )
        for submission, entrant, name, tasks, block in packed
        if (rows := block or unpacked[submission].get(entrant)) is not None
    ]


def unowned_pairs(session: Session, submission: int) -> list[Pair]:
    """Return the pairs of a submission whose entrant has rows and no entry: what is measured between estimators."""
    owned = set(session.scalars(select(Entry.entrant_id).where(Entry.submission_id == submission)))
    kept = set(session.scalars(select(PackedRows.entrant_id).where(PackedRows.submission_id == submission)))
    of_rows = select(Score.entrant_id).where(Score.submission_id == submission).distinct()
    return [(submission, entrant) for entrant in sorted((kept or set(session.scalars(of_rows))) - owned)]


def rebuild_submission(session: Session, submission: int) -> bool:
    """Rebuild the blocks of a submission from its rows, and say whether they differ from the stored ones."""
    kept = select(PackedRows.entrant_id, PackedRows.content).where(PackedRows.submission_id == submission)
    before: Mapping[int, bytes] = dict(session.execute(kept).all())
    blocks = dict(read_stored(session, submission))
    if before == {entrant: pack_block(block) for entrant, block in blocks.items()}:
        return False
    session.execute(delete(PackedRows).where(PackedRows.submission_id == submission))
    write_row_blocks(session, submission, blocks.items())
    return True


def all_submissions(session: Session) -> Sequence[int]:
    """Return every submission that has rows."""
    has_rows = select(Score.position).where(Score.submission_id == Submission.id)
    return session.scalars(select(Submission.id).where(has_rows.exists()).order_by(Submission.id)).all()


# Assembles score tables from blocks of rows, with numpy alone: the input of boards, claims and a kind's own tables.

STRATUM = "stratum_json"


def by_entrant(
    stood: Iterable[EntrantBlock], tasks: Mapping[int, str], columns: Sequence[str], *, has_texts: bool = False
) -> ScoreTable:
    """Return rows in the order of entrant, task, submission and position, with the wanted value columns.

    Values of a submission that lacks a column are null there. Words are in alphabetical order.
    """
    ordered = sorted((s for s in stood if len(s.block)), key=lambda s: (s.entrant, s.submission))
    blocks = [s.block for s in ordered]
    names = [s.entrant for s in ordered]
    task_words, task_codes = _codes_of_blocks(blocks, tasks)
    kind = _smallest(max(len(set(names)), len(task_words)))
    entrants, task = _repeated(names, blocks, kind), Coded(task_words, _joined(task_codes, kind, None))
    order = None
    if len(set(names)) < len(names) or not _ascend(task_codes):
        order = _order(entrants.codes.astype(np.int64) * len(task.words) + task.codes)
    return ScoreTable(
        entrant=_at(entrants, order),
        task=_at(task, order),
        condition=_coded_or_none([b.condition for b in blocks], blocks, order),
        seed=_seeds(blocks, order),
        item=_coded_or_none([b.item for b in blocks], blocks, order),
        leaked=_joined([b.leaked for b in blocks], np.bool_, order),
        file=_joined([b.file for b in blocks], None, order),
        row=_joined([b.row for b in blocks], None, order),
        columns=tuple(columns),
        values=_values(blocks, columns, order),
        reason=_coded_or_none([b.reason for b in blocks], blocks, order),
        recorded={
            name: _at(_coded([b.recorded.get(name) for b in blocks], blocks), order)
            for name in (dict.fromkeys(name for b in blocks for name in b.recorded) if has_texts else ())
        },
    )


def by_upload(stood: Iterable[EntrantBlock], tasks: Mapping[int, str], strata: Mapping[int, Any]) -> ScoreTable:
    """Return rows in the order of submission and upload, with the stratum of each task and what was recorded.

    Words are in the order in which they first occur.
    """
    ordered = sorted((s for s in stood if len(s.block)), key=lambda s: s.submission)
    blocks = [s.block for s in ordered]
    submission = np.repeat([s.submission for s in ordered], [len(b) for b in blocks])
    order = np.lexsort((_joined([b.position for b in blocks], np.int64, None), submission))
    columns = tuple(dict.fromkeys(name for block in blocks for name in block.columns))
    recorded = list(dict.fromkeys(name for block in blocks for name in block.recorded))
    texts = {number: None if about is None else json.dumps(about, sort_keys=True) for number, about in strata.items()}

    def seen(coded: Sequence[Coded | None]) -> Coded:
        return _as_first_seen(_at(_coded(coded, blocks), order))

    return ScoreTable(
        entrant=_as_first_seen(_at(_repeated([s.entrant for s in ordered], blocks), order)),
        task=_as_first_seen(_at(_coded_numbers(blocks, tasks), order)),
        columns=columns,
        values=_values(blocks, columns, order),
        leaked=np.zeros(len(order), dtype=np.bool_),
        file=_joined([b.file for b in blocks], np.int64, order),
        row=_joined([b.row for b in blocks], np.int64, order),
        item=seen([b.item for b in blocks]),
        reason=seen([b.reason for b in blocks]),
        recorded={
            **{name: seen([b.recorded.get(name) for b in blocks]) for name in recorded},
            STRATUM: _as_first_seen(_at(_coded_numbers(blocks, texts), order)),
        },
    )


def _smallest(n_words: int) -> type[np.signedinteger[Any]]:
    """Return the smallest type for the codes of `n_words` words and one more, which saves memory."""
    return next(kind for kind in (np.int16, np.int32, np.int64) if n_words <= np.iinfo(kind).max)


def _ascend(codes: Sequence[IntArray]) -> bool:
    """Say whether the codes of each block ascend; usually all blocks share the same array."""
    return all(bool((each[1:] >= each[:-1]).all()) for each in {id(each): each for each in codes}.values())


def _order(key: IntArray) -> IntArray | None:
    """Return the stable order of rows by key; None where they are already ordered."""
    return None if bool((key[1:] >= key[:-1]).all()) else np.argsort(key, kind="stable")


def _joined(parts: Sequence[NDArray[Any]], dtype: Any, order: IntArray | None) -> NDArray[Any]:
    """Return the parts as one; without a type they keep the smallest that holds all of them."""
    joined = np.concatenate([np.empty(0, dtype=dtype or np.int8), *parts], dtype=dtype, casting="unsafe")
    return joined if order is None else joined[order]


def _values(blocks: Sequence[RowBlock], columns: Sequence[str], order: IntArray | None) -> FloatArray:
    values = np.empty((sum(map(len, blocks)), len(columns)))
    for at, column in enumerate(columns):
        parts = [
            b.values[:, b.columns.index(column)] if column in b.columns else np.broadcast_to(np.nan, len(b))
            for b in blocks
        ]
        if order is None and parts:
            np.concatenate(parts, out=values[:, at])
        else:
            values[:, at] = _joined(parts, np.float64, order)
    return values


def _seeds(blocks: Sequence[RowBlock], order: IntArray | None) -> IntArray | None:
    """Return seeds; None where nobody has any. Raises ValueError where only some have: a kind has seeds or has none."""
    if all(block.seed is None for block in blocks):
        return None
    seeds = [block.seed for block in blocks if block.seed is not None]
    if len(seeds) < len(blocks):
        raise ValueError(f"{len(blocks) - len(seeds)} of {len(blocks)} entrants have rows without seeds, others have")
    return _joined(seeds, np.int64, order)


def _repeated(words: Sequence[str], blocks: Sequence[RowBlock], kind: Any = np.int64) -> Coded:
    """Return one word for all rows of a block; words are in alphabetical order."""
    used = sorted(set(words))
    code = {word: place for place, word in enumerate(used)}
    codes = np.array([code[word] for word in words], dtype=kind)
    return Coded(tuple(used), np.repeat(codes, np.array([len(block) for block in blocks], dtype=np.int64)))


def _coded(parts: Sequence[Coded | None], blocks: Sequence[RowBlock]) -> Coded:
    """Return texts of all blocks by one dictionary, in the order of the alphabet."""
    words = sorted({word for part in parts if part is not None for word in part.words})
    code = {word: at for at, word in enumerate(words)}
    codes = [
        np.broadcast_to(NONE, len(block))
        if part is None
        else np.array([*(code[word] for word in part.words), NONE], dtype=np.int64)[part.codes]
        for part, block in zip(parts, blocks, strict=True)
    ]
    return Coded(tuple(words), _joined(codes, np.int64, None))


def _coded_or_none(parts: Sequence[Coded | None], blocks: Sequence[RowBlock], order: IntArray | None) -> Coded | None:
    return None if all(part is None for part in parts) else _at(_coded(parts, blocks), order)


def _coded_numbers(blocks: Sequence[RowBlock], words: Mapping[int, str | None]) -> Coded:
    """Return the word of each row's task, in the order of the alphabet; those that have none have NONE."""
    used, codes = _codes_of_blocks(blocks, words)
    return Coded(used, _joined(codes, np.int64, None))


def _codes_of_blocks(
    blocks: Sequence[RowBlock], words: Mapping[int, str | None]
) -> tuple[tuple[str, ...], list[IntArray]]:
    """Return the words of tasks in the order of the alphabet, and of each block which of them its rows have."""
    # Usually all entrants have the same tasks in the same order, which are looked up only once.
    # Bytes cache their hash.
    keys = [(block.task.dtype.str, block.task.tobytes()) for block in blocks]
    lists = {key: block.task for key, block in zip(keys, blocks, strict=True)}
    used = sorted({word for tasks in lists.values() for n in set(tasks.tolist()) if (word := words[n]) is not None})
    code: dict[str | None, int] = {word: place for place, word in enumerate(used)}
    codes = {key: np.array([code.get(words[n], NONE) for n in tasks.tolist()]) for key, tasks in lists.items()}
    return tuple(used), [codes[key] for key in keys]


def _at(coded: Coded, order: IntArray | None) -> Coded:
    return coded if order is None else coded.take(order)


def _as_first_seen(coded: Coded) -> Coded:
    """Return the same texts with their words in the order of their first rows."""
    used, first = np.unique(coded.codes, return_index=True)
    return coded.with_words([int(code) for code in used[np.argsort(first)] if code != NONE])


# Stored rows of one submission, gathered into blocks: what `plumbline db rebuild` makes, and a lost block's readers.
# Rows come in parts, so that what is in memory beside the arrays is bounded.

SCORES_AT_ONCE = 1000

READ_SCORES = """
    SELECT position, file, row, entrant_id, task_id, leaked, seed, values, condition, item, reason, recorded
    FROM score WHERE submission_id = %s ORDER BY position
"""


def read_stored(session: Session, submission: int) -> Iterator[tuple[int, RowBlock]]:
    """Return the rows of each entrant of a submission by its number, read from the rows themselves."""
    columns = session.scalars(select(Submission.columns).where(Submission.id == submission)).one()
    gathered = _Gathered()
    with bulk_cursor(session) as cursor:
        cursor.execute(READ_SCORES, (submission,))
        while part := cursor.fetchmany(SCORES_AT_ONCE):
            gathered.add(part)
    return split_by_entrant(*gathered.rows(tuple(columns)))


@dataclass
class _Texts:
    """A text column as it grows."""

    words: dict[str, int] = field(default_factory=dict)
    parts: list[IntArray] = field(default_factory=list)

    def add(self, texts: Sequence[str | None]) -> None:
        codes = [NONE if text is None else self.words.setdefault(text, len(self.words)) for text in texts]
        self.parts.append(np.array(codes, dtype=np.int64))

    def coded(self) -> Coded:
        return Coded(tuple(self.words), np.concatenate([np.empty(0, dtype=np.int64), *self.parts]))


@dataclass
class _Gathered:
    """Columns as they grow: numbers as parts of arrays, texts by dictionary."""

    numbers: list[list[IntArray]] = field(default_factory=lambda: [[] for _ in range(6)])
    seeds: list[int | None] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    texts: list[_Texts] = field(default_factory=lambda: [_Texts() for _ in range(3)])
    recorded: dict[str, _Texts] = field(default_factory=dict)

    def add(self, part: Sequence[tuple[Any, ...]]) -> None:
        """Take more rows, as READ_SCORES selects them."""
        by_column = list(zip(*part, strict=True))
        for parts, cells in zip(self.numbers, by_column[:6], strict=True):
            parts.append(np.array(cells, dtype=np.int64))
        self.seeds += by_column[6]
        self.values.append(np.array(by_column[7], dtype=np.float64).reshape(len(part), -1))
        for texts, cells in zip(self.texts, by_column[8:11], strict=True):
            texts.add(cells)
        # Either every row of a submission records the same columns, or none records any.
        for name in by_column[11][0] or ():
            self.recorded.setdefault(name, _Texts()).add([cells[name] for cells in by_column[11]])

    def rows(self, columns: tuple[str, ...]) -> tuple[RowBlock, IntArray]:
        """Return all rows as one block, and the number of each row's entrant."""
        empty = np.empty(0, dtype=np.int64)
        position, file, row, entrant, task, leaked = (np.concatenate([empty, *parts]) for parts in self.numbers)
        condition, item, reason = (texts.coded() for texts in self.texts)
        has_seeds = any(seed is not None for seed in self.seeds)
        block = RowBlock(
            columns=columns,
            values=np.concatenate([np.empty((0, len(columns))), *self.values]),
            position=position,
            file=file,
            row=row,
            task=task,
            leaked=leaked.astype(np.bool_),
            condition=condition,
            seed=np.array(self.seeds, dtype=np.int64) if has_seeds else None,
            item=item,
            reason=reason,
            recorded=in_jsonb_order({name: texts.coded() for name, texts in self.recorded.items()}),
        )
        return block, entrant
