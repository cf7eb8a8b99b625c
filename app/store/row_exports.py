"""Exports of rows: all of a snapshot, all of a submission, and the tables of one task or one entrant.

Those of a snapshot leave some entrants at a time, so that no more than that is in memory. Each part is read in a
session of its own: a reader who is slow holds no connection, and rows are never rewritten.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import repeat
from typing import Any

import numpy as np
from sqlalchemy import and_, func, select
from sqlalchemy.orm import Session

from app.boards.evidence import Pair
from app.db.engine import SessionFactory, bulk_cursor, read_for_export
from app.db.models import Entrant, Entry, Score, Snapshot, SnapshotEntry, StoredTask, Submission
from app.errors import NotFound
from app.kinds.contract import ROWS_FILE
from app.kinds.registry import kind_of
from app.manifest.model import Manifest, OpenTasks
from app.names import count, first_few
from app.stats.arrays import IntArray
from app.store import snapshots
from app.store.benchmarks import Declared
from app.store.row_blocks import RowBlock
from app.store.rows import EntrantBlock, TasksOf, read_each, read_row_blocks, read_tasks
from app.values.scores import ScoreTable
from app.values.table import Cell, Column, Table

PART_ROWS = 200_000


@dataclass(frozen=True)
class CountedRows:
    """The rows of a snapshot: their value columns, and their entrants in parts."""

    columns: tuple[str, ...]
    parts: Sequence[TasksOf]


def find_counted(session: Session, declared: Declared, snapshot_id: int, part_rows: int = PART_ROWS) -> CountedRows:
    """Return what a snapshot counts, in parts of about so many rows.

    Raises NotFound where rows are kept otherwise: predictions are not published, and a series has its own file.
    """
    slug, file = declared.benchmark.slug, kind_of(declared.manifest).rows.file
    if file is None:
        raise NotFound(f"{slug} is scored against labels, and the single predictions are nobody else's.")
    if file != ROWS_FILE:
        raise NotFound(f"The rows of {slug} are at /benchmarks/{slug}/{file}.")
    known = [*declared.manifest.metrics, *kind_of(declared.manifest).rows.beside]
    sent = _columns(session, snapshot_id)
    return CountedRows(tuple(name for name in known if name in sent), parts_of(session, snapshot_id, part_rows))


def read_counted(sessions: SessionFactory, counted: CountedRows) -> Iterator[ScoreTable]:
    """Yield the rows, by entrant and task."""
    for tasks_of in counted.parts:
        yield read_for_export(sessions, partial(_read_part, columns=counted.columns, tasks_of=tasks_of))


def _read_part(session: Session, columns: tuple[str, ...], tasks_of: TasksOf) -> ScoreTable:
    return read_each(session, {None: (list(tasks_of), columns)}, tasks_of=tasks_of)[None]


def _columns(session: Session, snapshot_id: int) -> set[str]:
    own = select(SnapshotEntry.submission_id).where(SnapshotEntry.snapshot_id == snapshot_id)
    return {
        name for names in session.scalars(select(Submission.columns).where(Submission.id.in_(own))) for name in names
    }


def parts_of(
    session: Session, snapshot_id: int, part_rows: int = PART_ROWS, *, entrant: int | None = None
) -> Sequence[TasksOf]:
    """Return what a snapshot counts, of one entrant or of all, in parts of about so many rows.

    All that an entrant brought stays together, so that its rows are in the order of its tasks.
    """
    is_own = and_(SnapshotEntry.submission_id == Entry.submission_id, SnapshotEntry.entrant_id == Entry.entrant_id)
    query = select(Entry.submission_id, Entry.entrant_id, Entry.n_rows).join(SnapshotEntry, is_own)
    counted = session.execute(query.where(SnapshotEntry.snapshot_id == snapshot_id))
    sizes = {(number, whose): n_rows for number, whose, n_rows in counted}
    parts: list[dict[Pair, Sequence[int] | None]] = []
    room, last = 0, None
    for stood in snapshots.load_refs(session, snapshot_id, entrant):
        if room <= 0 and stood.entrant != last:
            parts.append({})
            room = part_rows
        parts[-1][stood.ref.pair] = stood.ref.task_ids
        room, last = room - sizes[stood.ref.pair], stood.entrant
    return parts


# Every row of a submission as it was stored, a part at a time, so that no more than that is in memory.

SENT_PART_ROWS = 10_000

# The rows first: joined to all that is left, the database would sort that for every part.
READ = """
    SELECT part.position, entrant.name, task.name, part.condition, part.seed, part.item,
           part.values, part.leaked, part.file, part.row, part.reason
    FROM (SELECT * FROM score WHERE submission_id = %s AND position > %s ORDER BY position LIMIT %s) AS part
    JOIN entrant ON entrant.id = part.entrant_id
    JOIN task ON task.id = part.task_id
    ORDER BY part.position
"""

VALUES_AT = 6


def read_sent(sessions: SessionFactory, submission: int, part_rows: int = SENT_PART_ROWS) -> Iterator[Table]:
    """Yield the rows in the order of the upload, as tables of the same columns; one of no rows where there is none."""
    columns, kept = read_for_export(sessions, partial(_sent_columns, submission=submission))
    for part, rows in enumerate(read_in_parts(sessions, partial(_sent_part, submission=submission), part_rows)):
        if rows or part == 0:
            cells = tuple((*(row[at] for at in kept), *row[VALUES_AT], *row[VALUES_AT + 1 :]) for row in rows)
            yield Table("scores", f"Rows of submission {submission}", columns, cells)


def _sent_columns(session: Session, submission: int) -> tuple[tuple[Column, ...], tuple[int, ...]]:
    """Return the columns, and the places of those before the values: some are left out where no row has them."""
    metrics = session.scalars(select(Submission.columns).where(Submission.id == submission)).one()
    filled = select(func.count(Score.condition), func.count(Score.seed), func.count(Score.item))
    n_filled = session.execute(filled.where(Score.submission_id == submission)).one()
    optional = (
        Column("condition", "Condition", "text"),
        Column("seed", "Seed", "integer"),
        Column("item", "Item", "text"),
    )
    used = [at for at, n in enumerate(n_filled) if n]
    columns = (
        Column("entrant", "Entrant", "text"),
        Column("task", "Task", "text"),
        *(optional[at] for at in used),
        *(Column(name, name) for name in metrics),
        Column("leaked", "Leaked", "flag"),
        Column("file", "File", "integer"),
        Column("row", "Row", "integer"),
        Column("reason", "Reason", "text"),
    )
    return columns, (1, 2, *(3 + at for at in used))


def _sent_part(session: Session, after: int, n_rows: int, submission: int) -> Sequence[tuple[Any, ...]]:
    with bulk_cursor(session) as cursor:
        return cursor.execute(READ, (submission, after, n_rows)).fetchall()


def read_in_parts(
    sessions: SessionFactory, read: Callable[..., Sequence[tuple[Any, ...]]], n_rows: int
) -> Iterator[Sequence[tuple[Any, ...]]]:
    """Yield rows in the order of their positions, `n_rows` at a time; `read(session, *, after, n_rows)` reads a part.

    A row begins with its position. Each part is read in a session of its own: a reader who is slow holds no connection,
    and rows are never rewritten.
    """
    after: int | None = -1
    while after is not None:
        rows = read_for_export(sessions, partial(read, after=after, n_rows=n_rows))
        yield rows
        after = rows[-1][0] if len(rows) == n_rows else None


# Tables of rows as they were submitted, without statistics: tasks, one task, one entrant.
#
# They are made of the blocks of rows, some entrants at a time: the rows themselves can be found by submission only,
# so that a task of a large benchmark would mean reading all of them, with every other entrant of their submissions.


def explain_absence(
    manifest: Manifest, snapshot: Snapshot | None, name: str, publish_error: str | None = None
) -> Table:
    """Return an empty table that says why there is none yet. Raises NotFound for an unknown board or kind of table."""
    kind, _, board = name.partition("/")
    try:
        spec = manifest.leaderboard(board)
    except KeyError:
        raise NotFound(f"{manifest.slug} has no leaderboard {board}.") from None
    if kind not in ("leaderboard", "pairwise"):
        raise NotFound(f"The board {board} has no table {kind}.")
    why = "Nothing is published yet."
    if publish_error is not None:
        why = f"Nothing is shown, because the boards could not be published: {publish_error}."
    if snapshot is not None:
        why = (
            f"Snapshot {snapshot.number} has no such table."
            if kind == "leaderboard"
            else "There is nothing to compare."
        )
    return Table(name, spec.title or spec.name, (), (), (why,), {"unavailable": why})


def tasks_table(session: Session, manifest: Manifest, benchmark_id: int, snapshot: Snapshot | None) -> Table:
    """Return each task with the number of entrants that have a row for it in the snapshot."""
    tasks, counts = read_tasks(session, benchmark_id), Counter[str]()
    for part in _counted(session, snapshot):
        # An entrant may have brought a task's rows in several submissions.
        brought: dict[int, list[IntArray]] = {}
        for stood in part:
            brought.setdefault(stood.entrant_id, []).append(stood.block.task)
        each = [np.unique(np.concatenate(own)) for own in brought.values()]
        numbers, times = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *each]), return_counts=True)
        counts.update({tasks[n][0]: k for n, k in zip(numbers.tolist(), times.tolist(), strict=True)})
    names = list(counts) if isinstance(manifest.tasks, OpenTasks) else [task.id for task in manifest.tasks]
    columns = (Column("task", "Task", "text"), Column("n_entrants", "Entrants with a result", "integer"))
    rows = tuple((name, counts[name]) for name in sorted(names))
    return Table("tasks", f"Tasks of {manifest.title}", columns, rows)


def task_table(session: Session, manifest: Manifest, benchmark_id: int, snapshot: Snapshot | None, task: str) -> Table:
    """Return every entrant's scores on one task, best first by the first metric. Raises NotFound."""
    known = session.scalar(
        select(StoredTask.id).where(StoredTask.benchmark_id == benchmark_id, StoredTask.name == task)
    )
    declared = manifest.task_ids()
    if known is None and (declared is None or task not in declared):
        raise NotFound(f"{manifest.slug} has no task {task}.")
    wanted = [] if known is None else [known]
    rows = [
        row
        for part in _counted(session, snapshot)
        for stood in part
        for block in [stood.block.of_tasks(wanted)]
        for row in _rows(manifest, block, [stood.entrant] * len(block), stood.submission)
    ]
    first = next(iter(manifest.metrics))
    sign = 1.0 if manifest.metrics[first].direction == "minimize" else -1.0
    at = 1 + len(_item_columns(manifest))
    ordered = sorted(rows, key=lambda row: (row[at] is None, sign * float(row[at] or 0.0), *row[:at]))
    return Table(
        f"task/{task}",
        task,
        _table_columns(manifest, "entrant", "Entrant"),
        tuple(ordered),
        _missing(snapshot, rows, session),
    )


def _missing(snapshot: Snapshot | None, rows: Sequence[tuple[Cell, ...]], session: Session) -> tuple[str, ...]:
    query = select(Entrant.name).join(SnapshotEntry, SnapshotEntry.entrant_id == Entrant.id)
    everyone = session.scalars(query.where(SnapshotEntry.snapshot_id == _id(snapshot))).all()
    absent = sorted(set(everyone) - {str(row[0]) for row in rows})
    return (f"No result: {', '.join(absent)}.",) if absent else ()


def entrant_table(session: Session, manifest: Manifest, snapshot: Snapshot | None, entrant: Entrant) -> Table:
    """Return one entrant's scores on every task."""
    tasks = read_tasks(session, entrant.benchmark_id)
    rows = [
        row
        for part in _counted(session, snapshot, entrant.id)
        for stood in part
        for row in _rows(manifest, stood.block, [tasks[n][0] for n in stood.block.task.tolist()], stood.submission)
    ]
    absent = sorted(set(manifest.task_ids() or ()) - {str(row[0]) for row in rows})
    notes = (f"No result on {count(len(absent), 'task')}: {first_few(absent, 20)}.",) if absent else ()
    return Table(
        f"entrant/{entrant.name}",
        entrant.name,
        _table_columns(manifest, "task", "Task"),
        tuple(sorted(rows, key=_with_nulls_last)),
        notes,
    )


def filter_published(table: Table, column: str, name: str) -> Table:
    """Return the rows of a published table that are about one name, without the column that says so."""
    at = table.index(column)
    kept = tuple(row[:at] + row[at + 1 :] for row in table.rows if row[at] == name)
    columns = table.columns[:at] + table.columns[at + 1 :]
    return replace(table, name=f"{column}/{name}", title=name, columns=columns, rows=kept)


def _with_nulls_last(row: Sequence[Cell]) -> tuple[tuple[bool, Cell], ...]:
    return tuple((cell is None, 0 if cell is None else cell) for cell in row)


def _counted(session: Session, snapshot: Snapshot | None, entrant: int | None = None) -> Iterator[list[EntrantBlock]]:
    """Yield what counted in a snapshot, of one entrant or of all, in parts that hold all of some entrants' rows."""
    parts = [] if snapshot is None else parts_of(session, snapshot.id, entrant=entrant)
    return (read_row_blocks(session, list(tasks_of), tasks_of) for tasks_of in parts)


def _rows(manifest: Manifest, block: RowBlock, names: Sequence[str], submission: int) -> Iterator[tuple[Cell, ...]]:
    """Return an iterator over rows: name, item if the kind has any, every metric, leaked and submission."""
    items = [[None] * len(block) if block.item is None else block.item.to_list() for _ in _item_columns(manifest)]
    values = [_values(block, metric) for metric in manifest.metrics]
    return zip(names, *items, *values, block.leaked.tolist(), repeat(submission, len(block)), strict=True)


def _values(block: RowBlock, metric: str) -> list[float | None]:
    if metric not in block.columns:
        return [None] * len(block)
    return [None if value != value else value for value in block.values[:, block.columns.index(metric)].tolist()]


def _item_columns(manifest: Manifest) -> tuple[Column, ...]:
    """Return the column that tells the rows of one entrant on one task apart, where there are several."""
    column = kind_of(manifest).pages.item_column
    return () if column is None else (column,)


def _table_columns(manifest: Manifest, name: str, title: str) -> tuple[Column, ...]:
    metrics = (
        Column(metric, metric, unit=about.unit, direction=about.direction, digits=4)
        for metric, about in manifest.metrics.items()
    )
    return (
        Column(name, title, "text"),
        *_item_columns(manifest),
        *metrics,
        Column("leaked", "Leaked", "flag", glossary="n_leaked"),
        Column("submission", "Submission", "integer"),
    )


def _id(snapshot: Snapshot | None) -> int:
    return -1 if snapshot is None else snapshot.id
