"""The files of an upload of predictions or labels, opened whatever their format.

Called by `app.kinds.predictions.read` and `app.kinds.predictions.labels`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.errors import Problem, TooLarge
from app.files.blocks import Block, TableFile
from app.files.findings import Findings
from app.files.parquet_tables import PARQUET, Wanted, open_parquet
from app.files.tables import open_all, open_table
from app.files.uploads import TABLE_SUFFIXES, ReceivedFile
from app.names import clip_for_message, first_few

SUFFIXES = (*TABLE_SUFFIXES, PARQUET)
_SHOWN = 20


@dataclass
class OpenedFiles:
    """What the files of one upload share: where problems go, how many rows there were, a folder to unpack into."""

    wanted: Wanted
    max_rows: int
    findings: Findings
    folder: Path
    warnings: list[Problem] = field(default_factory=list)
    n_rows: dict[int, int] = field(default_factory=dict)

    def open_all(self, files: Sequence[ReceivedFile]) -> list[tuple[ReceivedFile, TableFile]]:
        """Return the files that are tables, all opened before the first is read. Raises TooLarge."""
        return open_all(files, self.max_rows, self.open)

    def open(self, file: ReceivedFile, n_earlier: int = 0) -> TableFile | None:
        """Open a file; None when it is no table, with the reason in the findings. Raises TooLarge."""
        if file.suffix == PARQUET:
            return open_parquet(file, self.wanted, self.findings, self.max_rows, self.folder)
        return open_table(file, self.findings, self.warnings, self.max_rows, n_earlier)

    def blocks(self, file: ReceivedFile, table: TableFile) -> Iterator[Block]:
        """Yield the wanted columns block after block, counting rows. Raises TooLarge beyond the most allowed."""
        n_problems = self.findings.n_problems
        ignored = [name for name in table.header if name not in self.wanted.columns]
        if ignored:
            names = first_few(ignored, _SHOWN, clip_for_message)
            message = f"columns that this benchmark does not read were ignored: {names}"
            self.warnings.append(Problem(message, file=file.name))
        for block in table.blocks([name for name in self.wanted.columns if name in table.header]):
            self.n_rows[file.position] = self.n_rows.get(file.position, 0) + len(block)
            if sum(self.n_rows.values()) > self.max_rows:
                raise TooLarge(f"The upload has more than {self.max_rows:,} rows.")
            yield block
        if not self.n_rows.get(file.position) and self.findings.n_problems == n_problems:
            self.findings.add(Problem("the file contains no rows", file=file.name))
