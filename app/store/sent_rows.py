"""Every row of a submission as it was stored, a part at a time, so that no more than that is in memory.

Called by `app.web.submission_views`. Each part is read in a session of its own: a reader who is slow holds no
connection, and rows are never rewritten.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.db.driver import bulk_cursor
from app.db.engine import SessionFactory, read_for_export
from app.db.models import Score, Submission
from app.values.table import Column, Table

PART_ROWS = 10_000
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


def read_sent(sessions: SessionFactory, submission: int, part_rows: int = PART_ROWS) -> Iterator[Table]:
    """Yield the rows in the order of the upload, as tables of the same columns; one of no rows where there is none."""
    columns, kept = read_for_export(sessions, partial(_columns, submission=submission))
    after: int | None = -1
    while after is not None:
        rows = read_for_export(sessions, partial(_part, submission=submission, after=after, n_rows=part_rows))
        if rows or after < 0:
            cells = tuple((*(row[at] for at in kept), *row[VALUES_AT], *row[VALUES_AT + 1 :]) for row in rows)
            yield Table("scores", f"Rows of submission {submission}", columns, cells)
        after = rows[-1][0] if len(rows) == part_rows else None


def _columns(session: Session, submission: int) -> tuple[tuple[Column, ...], tuple[int, ...]]:
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


def _part(session: Session, submission: int, after: int, n_rows: int) -> Sequence[tuple[Any, ...]]:
    with bulk_cursor(session) as cursor:
        return cursor.execute(READ, (submission, after, n_rows)).fetchall()
