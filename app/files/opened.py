"""The files of one upload opened as tables, whatever their format, and their rows counted."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.errors import Problem, TooLarge
from app.files.findings import SHOWN, Findings
from app.files.parquet import PARQUET, WantedColumns, open_parquet
from app.files.tables import Block, TableFile, open_table
from app.files.uploads import TABLE_SUFFIXES, ReceivedFile
from app.names import clip_for_message, first_few

SUFFIXES = (*TABLE_SUFFIXES, PARQUET)


@dataclass
class OpenedFiles:
    """What the files of one upload share: where problems go, how many rows there were, a folder to unpack into."""

    wanted: WantedColumns
    max_rows: int
    findings: Findings
    folder: Path
    warnings: list[Problem] = field(default_factory=list)
    n_rows: dict[int, int] = field(default_factory=dict)

    def open_all(self, files: Sequence[ReceivedFile]) -> list[tuple[ReceivedFile, TableFile]]:
        """Return the files that are tables, all opened before the first is read; why others are none is a problem.

        The records of JSON and Parquet are counted at opening: too many of them in all are noticed before a value is
        read. Raises TooLarge.
        """
        opened: list[tuple[ReceivedFile, TableFile]] = []
        n_earlier = 0
        for file in files:
            table = self._open(file, n_earlier)
            if table is not None:
                n_earlier += table.n_counted
                opened.append((file, table))
            self._refuse_more(n_earlier)
        return opened

    def _open(self, file: ReceivedFile, n_earlier: int) -> TableFile | None:
        if file.suffix == PARQUET:
            return open_parquet(file, self.wanted, self.findings, self.max_rows, self.folder)
        return open_table(file, self.findings, self.warnings, self.max_rows, n_earlier)

    def blocks(self, file: ReceivedFile, table: TableFile) -> Iterator[Block]:
        """Yield the wanted columns block after block, counting rows. Raises TooLarge beyond the most allowed."""
        n_problems = self.findings.n_problems
        for block in table.blocks([name for name in self.wanted.columns if name in table.header]):
            self.count(file, len(block))
            yield block
        if not self.n_rows.get(file.position) and self.findings.n_problems == n_problems:
            self.findings.add(Problem("the file contains no rows", file=file.name))

    def count(self, file: ReceivedFile, n_rows: int) -> None:
        """Count rows of a file. Raises TooLarge beyond the most allowed."""
        self.n_rows[file.position] = self.n_rows.get(file.position, 0) + n_rows
        self._refuse_more(sum(self.n_rows.values()))

    def _refuse_more(self, n_rows: int) -> None:
        if n_rows > self.max_rows:
            raise TooLarge(f"The upload has more than {self.max_rows:,} rows.")

    def warn_of_ignored(self, file: ReceivedFile, header: Sequence[str], known: Collection[str]) -> None:
        """Say which columns of a file are not among the known ones."""
        ignored = [name for name in header if name not in known]
        if ignored:
            names = first_few(ignored, SHOWN, clip_for_message)
            message = f"columns that this benchmark does not read were ignored: {names}"
            self.warnings.append(Problem(message, file=file.name))
