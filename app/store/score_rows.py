"""Stored rows of one submission, gathered into blocks: what `plumbline db rebuild` makes, and a lost block's readers.

Called by `app.store.evidence`. Rows come in parts, so that what is in memory beside the arrays is bounded.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.db.driver import bulk_cursor
from app.db.models import Submission
from app.stats.arrays import IntArray
from app.store.row_blocks import RowBlock, in_jsonb_order, split_by_entrant
from app.values.scores import NONE, Coded

ROWS_AT_ONCE = 1000
READ = """
    SELECT position, file, row, entrant_id, task_id, leaked, seed, values, condition, item, reason, recorded
    FROM score WHERE submission_id = %s ORDER BY position
"""


def read_stored(session: Session, submission: int) -> Iterator[tuple[int, RowBlock]]:
    """Return the rows of each entrant of a submission by its number, read from the rows themselves."""
    columns = session.scalars(select(Submission.columns).where(Submission.id == submission)).one()
    gathered = _Gathered()
    with bulk_cursor(session) as cursor:
        cursor.execute(READ, (submission,))
        while part := cursor.fetchmany(ROWS_AT_ONCE):
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
        """Take more rows, as READ selects them."""
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
