"""The common form of every kind of table file: a header, then blocks of records with their row numbers.

Made by `csv_tables` and `json_tables`, read by the evidence kinds. A cell is text, or null when it is empty.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from app.stats.arrays import IntArray

MAX_COLUMNS = 2000

Texts = Any
"""A pyarrow array of strings; pyarrow ships no complete type information."""


@dataclass(frozen=True)
class Block:
    """Some records of a table: `rows` are their numbers, `columns` their cells, each of equal length."""

    rows: IntArray
    columns: Mapping[str, Texts]

    def __len__(self) -> int:
        return len(self.rows)


class TableFile(Protocol):
    """A table on disk. `header` names its columns without those that have no name."""

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the columns, in the file's order."""

    @property
    def n_counted(self) -> int:
        """How many records it is known to have before they are read; 0 where they are counted as they are read."""

    def blocks(self, wanted: Sequence[str]) -> Iterator[Block]:
        """Yield the records with the wanted columns, all of which are in the header."""
