"""The summaries of a harness as tables of text cells. Called by `app.kinds.summary.read`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from app.files.blocks import Block
from app.files.uploads import ReceivedFile
from app.harnesses.contract import Row

MOST_ROWS = 50_000


@dataclass(frozen=True)
class HarnessTable:
    """Rows with the same columns under the names that a manifest has for entrant and task; `files` are theirs."""

    header: tuple[str, ...]
    records: Sequence[dict[str, Any]]
    files: Sequence[ReceivedFile]
    places: Sequence[int]

    def blocks(self, wanted: Sequence[str]) -> Iterator[Block]:
        """Yield the rows with the wanted columns, in one block."""
        columns = {name: pa.array([cell_text(r.get(name)) for r in self.records], pa.string()) for name in wanted}
        yield Block(np.array(self.places, dtype=np.int64), columns)


def harness_tables(rows: Iterator[Row], entrant: str, task: str) -> Iterator[HarnessTable]:
    """Yield the rows as tables: one for those that follow each other with the same columns, whatever their files.

    A hundred thousand files of one row each are a few tables.
    """
    of_one: list[tuple[Row, dict[str, Any]]] = []
    for row in rows:
        record = {entrant: row.entrant, task: row.task, **row.beside, **row.scores}
        if of_one and (len(of_one) == MOST_ROWS or record.keys() != of_one[0][1].keys()):
            yield _table(of_one)
            of_one = []
        of_one.append((row, record))
    if of_one:
        yield _table(of_one)


def _table(of_one: Sequence[tuple[Row, dict[str, Any]]]) -> HarnessTable:
    records = [record for _, record in of_one]
    return HarnessTable(tuple(records[0]), records, [row.file for row, _ in of_one], [row.row for row, _ in of_one])


def cell_text(cell: Any) -> str | None:
    """Return a cell as the text that it would have in a CSV file."""
    if cell is None:
        return None
    return repr(cell) if isinstance(cell, float) else str(cell)
