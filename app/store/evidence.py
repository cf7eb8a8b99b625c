"""Blocks of rows to and from Postgres: one for each entrant of a submission, written in the transaction of its rows.

Called by `app.store.submissions`, `app.store.rows` and `plumbline db rebuild`. The rows are authoritative: a block that
is missing, or of another format, is rebuilt from them on demand.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app.db.driver import ROWS_AT_ONCE, bulk_cursor
from app.db.models import Entry, Evidence, Score, Submission
from app.stats.arrays import IntArray
from app.store.row_blocks import RowBlock, in_jsonb_order, pack_block, split_by_entrant, unpack_block
from app.store.score_rows import read_stored
from app.values.scores import ScoreTable

Pair = tuple[int, int]
"""A submission and an entrant of it, by their numbers."""


@dataclass(frozen=True)
class Stood:
    """A block with its owner: the rows of one entrant in one submission that count."""

    submission: int
    entrant_id: int
    entrant: str
    block: RowBlock


def write_evidence(session: Session, submission: int, blocks: Iterable[tuple[int, RowBlock]]) -> None:
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


READ = """
    SELECT wanted.submission_id, wanted.entrant_id, entrant.name, entry.task_ids, evidence.content
    FROM unnest(%s::bigint[], %s::integer[]) AS wanted (submission_id, entrant_id)
    JOIN entrant ON entrant.id = wanted.entrant_id
    LEFT JOIN entry ON (entry.submission_id, entry.entrant_id) = (wanted.submission_id, wanted.entrant_id)
    LEFT JOIN evidence ON (evidence.submission_id, evidence.entrant_id) = (wanted.submission_id, wanted.entrant_id)
"""


def read_evidence(
    session: Session, pairs: Iterable[Pair], tasks_of: Mapping[Pair, Sequence[int] | None] | None = None
) -> list[Stood]:
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
        for submission, entrant, name, tasks, content in cursor.stream(READ, arguments, size=ROWS_AT_ONCE):
            packed.append((submission, entrant, name, tasks, None if content is None else unpack_block(content)))
    unpacked = _blocks_of_rows(session, {submission for submission, *_, block in packed if block is None})
    return [
        Stood(submission, entrant, name, rows.of_tasks(tasks if tasks_of is None else tasks_of[submission, entrant]))
        for submission, entrant, name, tasks, block in packed
        if (rows := block or unpacked[submission].get(entrant)) is not None
    ]


def _blocks_of_rows(session: Session, submissions: Iterable[int]) -> dict[int, dict[int, RowBlock]]:
    return {number: dict(read_stored(session, number)) for number in submissions}


def unowned_pairs(session: Session, submission: int) -> list[Pair]:
    """Return the pairs of a submission whose entrant has rows and no entry: what is measured between estimators."""
    owned = set(session.scalars(select(Entry.entrant_id).where(Entry.submission_id == submission)))
    kept = set(session.scalars(select(Evidence.entrant_id).where(Evidence.submission_id == submission)))
    of_rows = select(Score.entrant_id).where(Score.submission_id == submission).distinct()
    return [(submission, entrant) for entrant in sorted((kept or set(session.scalars(of_rows))) - owned)]


def rebuild_submission(session: Session, submission: int) -> bool:
    """Rebuild the blocks of a submission from its rows, and say whether they differ from the stored ones."""
    kept = select(Evidence.entrant_id, Evidence.content).where(Evidence.submission_id == submission)
    before: Mapping[int, bytes] = dict(session.execute(kept).all())
    blocks = dict(read_stored(session, submission))
    if before == {entrant: pack_block(block) for entrant, block in blocks.items()}:
        return False
    session.execute(delete(Evidence).where(Evidence.submission_id == submission))
    write_evidence(session, submission, blocks.items())
    return True


def all_submissions(session: Session) -> Sequence[int]:
    """Return every submission that has rows."""
    has_rows = select(Score.position).where(Score.submission_id == Submission.id)
    return session.scalars(select(Submission.id).where(has_rows.exists()).order_by(Submission.id)).all()
