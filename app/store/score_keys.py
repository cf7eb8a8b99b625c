"""Integrity checks in place of foreign keys on `score`, once per submission in the transaction that writes its rows.

Called by `app.store.scores` before its COPY. Three foreign keys make the COPY of a million rows ten times slower; this
costs a tenth of a second. Faults of a submitter are refused earlier, with file and row; what is refused here is a fault
of this program, and the submission is not stored.
"""

from collections.abc import Collection

import numpy as np
from sqlalchemy import ARRAY, Integer, Select, cast, exists, func, literal, select, union_all
from sqlalchemy.orm import Session

from app.db.models import Entrant, Submission, Task
from app.stats.arrays import IntArray
from app.values.scores import NONE, Coded, ScoreTable

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
        _strangers(submission_id, "entrant", Entrant, entrants), _strangers(submission_id, "task", Task, tasks)
    )
    stranger = session.execute(query.limit(1)).mappings().first()
    if stranger is not None:
        which = f"{stranger['name']} {stranger['number']}"
        raise BrokenRows(f"submission {submission_id} has rows of {which}, which its benchmark does not have")


def _strangers(
    submission_id: int, name: str, table: type[Entrant | Task], numbers: Collection[int]
) -> Select[tuple[str, int]]:
    number = func.unnest(cast(list(numbers), ARRAY(Integer))).column_valued("number")
    own = (
        exists()
        .where(table.id == number)
        .where(table.benchmark_id == Submission.benchmark_id, Submission.id == submission_id)
    )
    return select(literal(name).label("name"), number).where(~own)
