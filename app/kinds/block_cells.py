"""The wanted columns of one block of a table, and where its problems go. For kinds that read block by block."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from app.errors import Problem
from app.files.blocks import Texts
from app.files.findings import Findings
from app.names import clip_for_message
from app.stats.arrays import BoolArray, IntArray


@dataclass(frozen=True)
class Cells:
    """The wanted columns of a block, and where its problems go; `files` names the file of each row of several."""

    file: str
    rows: IntArray
    columns: Mapping[str, Texts]
    findings: Findings
    files: Sequence[str] | None = None

    def texts(self, column: str) -> Texts:
        """Return a column; one that the file lacks is empty."""
        return self.columns[column] if column in self.columns else empty_texts(len(self.rows))

    def refuse(self, column: str, wrong: BoolArray, message: Callable[[int], str]) -> None:
        """Add a problem for each wrong cell of a column; `message` is given its position."""

        def describe(position: int) -> Problem:
            text = self.texts(column)[position].as_py()
            value = None if text is None else clip_for_message(text)
            file = self.file if self.files is None else self.files[position]
            return Problem(message(position), file, int(self.rows[position]), column, value)

        self.findings.add_each(np.flatnonzero(wrong).tolist(), describe)


def empty_texts(n_rows: int) -> Texts:
    """Return a column in which every cell is empty."""
    return pa.nulls(n_rows, pa.string())
