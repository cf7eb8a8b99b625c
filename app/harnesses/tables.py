"""The summaries of a harness as tables of text cells, a table for each file. Called by `app.kinds.summary.read`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa

from app.files.blocks import Block
from app.files.uploads import ReceivedFile
from app.harnesses.contract import Row


@dataclass(frozen=True)
class HarnessTable:
    """The rows of one file under the names that a manifest has for entrant and task."""

    records: Sequence[dict[str, Any]]
    places: Sequence[int]

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the columns, in the order in which they occur."""
        return tuple(dict.fromkeys(name for record in self.records for name in record))

    def blocks(self, wanted: Sequence[str]) -> Iterator[Block]:
        """Yield the rows with the wanted columns, in one block."""
        columns = {name: pa.array([cell_text(r.get(name)) for r in self.records], pa.string()) for name in wanted}
        yield Block(np.array(self.places, dtype=np.int64), columns)


def harness_tables(rows: Iterator[Row], entrant: str, task: str) -> Iterator[tuple[ReceivedFile, HarnessTable]]:
    """Yield the table of each file; rows of one file follow each other."""
    for _, of_file in groupby(rows, key=lambda row: row.file.position):
        found = list(of_file)
        records = [{entrant: row.entrant, task: row.task, **row.beside, **row.scores} for row in found]
        yield found[0].file, HarnessTable(records, [row.row for row in found])


def cell_text(cell: Any) -> str | None:
    """Return a cell as the text that it would have in a CSV file."""
    if cell is None:
        return None
    return repr(cell) if isinstance(cell, float) else str(cell)
