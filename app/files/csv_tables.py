"""CSV as text, streamed: every cell a string, every record with the number that a spreadsheet shows.

Called by `app.files.tables`. The header is row 1, quoted newlines belong to their record, blank lines count.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from app.errors import Problem
from app.files.blank_lines import has_more_blank_lines, most_blank_lines
from app.files.blocks import MAX_COLUMNS, Block, Texts
from app.files.findings import Findings
from app.files.text import BOM
from app.files.uploads import ReceivedFile
from app.names import clip_for_message
from app.stats.arrays import BoolArray, IntArray
from app.values.counts import count
from app.values.formulas import MARKED_PATTERN, read_off_guard

MAX_HEADER_BYTES = 1 << 20
BLOCK_BYTES = 4 << 20
FIRST_ROW = 2
MOST_RAGGED = 100_000

_HEADER = re.compile(rb'(?:[^"\r\n]++|"[^"]*+")*+')
_QUOTED = re.compile(rb'"[^"]*+"')
_LINE_END = re.compile(rb"\r\n|\n|\r|\Z")
_DELIMITERS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}


@dataclass
class CsvTable:
    """A CSV file whose header has been read; `names` has a name for every column, some empty."""

    file: ReceivedFile
    findings: Findings
    warnings: list[Problem]
    names: tuple[str, ...]
    body_at: int
    _ragged: list[int] = field(default_factory=list)
    _n_blank: int = 0

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the columns that have one."""
        return tuple(name for name in self.names if name)

    @property
    def n_counted(self) -> int:
        """None: they are counted as they are read, a few megabytes at a time."""
        return 0

    def blocks(self, wanted: Sequence[str]) -> Iterator[Block]:
        """Yield the records with the wanted columns; ragged records become problems."""
        if self.body_at >= self.file.path.stat().st_size:
            return
        allowed = most_blank_lines(len(self.names))
        if has_more_blank_lines(self.file.path, self.body_at, allowed):
            message = f"the file has more than {allowed:,} blank lines; leave them out"
            self.findings.add(Problem(message, file=self.file.name))
            return
        try:
            with pa.OSFile(str(self.file.path)) as content:
                content.seek(self.body_at)
                yield from self._read(content, wanted)
        except pa.ArrowInvalid as error:
            self.findings.add(self._problem_of_parser(str(error)))

    def _read(self, content: pa.NativeFile, wanted: Sequence[str]) -> Iterator[Block]:
        # Columns go by position: a header may hold names that are empty.
        keys = {name: str(self.names.index(name)) for name in wanted}
        positions = [str(position) for position in range(len(self.names))]
        reader = pyarrow.csv.open_csv(
            content,
            read_options=pyarrow.csv.ReadOptions(use_threads=False, block_size=BLOCK_BYTES, column_names=positions),
            # Empty lines are kept as records of nulls, so that the numbers of those behind them stay right.
            parse_options=pyarrow.csv.ParseOptions(
                newlines_in_values=True, ignore_empty_lines=False, invalid_row_handler=self._take_ragged
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(positions, pa.string()),
                include_columns=list(keys.values()),
                strings_can_be_null=True,
                null_values=[""],
                check_utf8=False,
            ),
        )
        n_read = 0
        for batch in reader:
            rows = self._row_numbers(n_read, len(batch))
            n_read += len(batch)
            columns = {name: _without_marks(batch.column(key)) for name, key in keys.items()}
            yield self._without_blank(rows, columns) if columns else Block(rows, columns)
        if self._n_blank:
            message = f"ignored, because empty in every column that is read: {count(self._n_blank, 'row')}"
            self.warnings.append(Problem(message, file=self.file.name))

    def _without_blank(self, rows: IntArray, columns: Mapping[str, Texts]) -> Block:
        """Leave out blank lines, as other readers of CSV do, but count them."""
        blank = _is_blank(list(columns.values()))
        if not blank.any():
            return Block(rows, columns)
        self._n_blank += int(blank.sum())
        keep = pa.array(~blank)
        return Block(rows[~blank], {name: cells.filter(keep) for name, cells in columns.items()})

    def _row_numbers(self, n_before: int, n_records: int) -> IntArray:
        """Number the records that were read, counting the ragged ones that the parser left out between them."""
        ordinals = np.arange(n_before + 1, n_before + n_records + 1, dtype=np.int64)
        left_out = np.array(self._ragged, dtype=np.int64) - np.arange(len(self._ragged))
        return ordinals + np.searchsorted(left_out, ordinals, side="right") + FIRST_ROW - 1

    def _take_ragged(self, record: pyarrow.csv.InvalidRow) -> str:
        self._ragged.append(record.number)
        self.findings.add_each([record.number], lambda _: self._problem_of_ragged(record))
        # Each costs a call of Python, and a file of nothing else could hold hundreds of millions.
        return "skip" if len(self._ragged) < MOST_RAGGED else "error"

    def _problem_of_ragged(self, record: pyarrow.csv.InvalidRow) -> Problem:
        hint = "; is a quotation mark not closed?" if "\n" in record.text else ""
        message = f"the row has {record.actual_columns} cells; the header has {record.expected_columns}{hint}"
        value = clip_for_message(record.text)
        return Problem(message, file=self.file.name, row=record.number + FIRST_ROW - 1, value=value)

    def _problem_of_parser(self, text: str) -> Problem:
        if len(self._ragged) >= MOST_RAGGED:
            message = f"{MOST_RAGGED:,} rows have another number of cells than the header; the rest was not read"
            return Problem(message, file=self.file.name)
        if "straddl" in text or "out of sync" in text:
            mib = BLOCK_BYTES >> 20
            return Problem(f"a row is longer than {mib} MiB; is a quotation mark not closed?", file=self.file.name)
        return Problem(f"cannot be read as CSV: {clip_for_message(text, 300)}", file=self.file.name)


def open_csv(file: ReceivedFile, findings: Findings, warnings: list[Problem]) -> CsvTable | None:
    """Read the header of a CSV file; None when it has none that can be used, with the reason in `findings`."""
    with file.path.open("rb") as content:
        start = content.read(MAX_HEADER_BYTES)
    at = len(BOM) if start.startswith(BOM) else 0
    match = _HEADER.match(start, at)
    line_end = match and _LINE_END.match(start, match.end())
    if match is None or line_end is None or (line_end.end() == MAX_HEADER_BYTES and not line_end.group()):
        if (n_names := _n_names(start[at:])) > MAX_COLUMNS:
            message = f"the table has {n_names:,} columns or more; at most {MAX_COLUMNS} are allowed"
            findings.add(Problem(message, file=file.name, row=1))
            return None
        message = f"the first row does not end within {MAX_HEADER_BYTES >> 20} MiB; is a quotation mark not closed?"
        findings.add(Problem(message, file=file.name, row=1))
        return None
    names = _split_header(match.group().decode())
    problems = list(_problems_of_header(names, file.name))
    if problems:
        findings.extend(problems)
        return None
    warnings += _warnings_of_header(names, file.name)
    return CsvTable(file, findings, warnings, names, line_end.end())


def _n_names(start: bytes) -> int:
    """Count the columns of a first row that does not end where it was cut; commas in quotes are none of theirs."""
    return _QUOTED.sub(b"", start).partition(b'"')[0].partition(b"\n")[0].count(b",") + 1


def _split_header(text: str) -> tuple[str, ...]:
    previous = csv.field_size_limit(MAX_HEADER_BYTES)
    try:
        return tuple(read_off_guard(name.strip()) for name in next(csv.reader([text], skipinitialspace=True), []))
    finally:
        csv.field_size_limit(previous)


def _problems_of_header(names: Sequence[str], file: str) -> Iterator[Problem]:
    if not any(names):
        yield Problem("the first row is empty; it must name the columns", file=file, row=1)
    elif len(names) > MAX_COLUMNS:
        yield Problem(f"the table has {len(names)} columns; at most {MAX_COLUMNS} are allowed", file=file, row=1)
    elif len(names) == 1 and (delimiter := _other_delimiter(names[0])):
        message = f"the columns seem to be separated by {delimiter}; separate them by commas"
        yield Problem(message, file=file, row=1, value=clip_for_message(names[0]))
    else:
        for name in dict.fromkeys(name for name in names if name and names.count(name) > 1):
            yield Problem("two columns have this name", file=file, row=1, column=clip_for_message(name))


def _other_delimiter(line: str) -> str | None:
    counts = {delimiter: line.count(delimiter) for delimiter in _DELIMITERS}
    likely = max(counts, key=lambda delimiter: counts[delimiter])
    return _DELIMITERS[likely] if counts[likely] else None


def _warnings_of_header(names: Sequence[str], file: str) -> Iterator[Problem]:
    unnamed = [position + 1 for position, name in enumerate(names) if not name]
    if unnamed == [1]:
        yield Problem("the first column has no name, as an index written by pandas; it was ignored", file=file)
    elif unnamed:
        numbers = ", ".join(map(str, unnamed[:10]))
        yield Problem(f"columns without a name were ignored: {numbers}", file=file)


def _without_marks(cells: Texts) -> Texts:
    """Return the cells without the apostrophe that our own CSV puts before what looks like a formula."""
    if not pc.any(pc.starts_with(cells, "'")).as_py():
        return cells
    marked = pc.match_substring_regex(cells, MARKED_PATTERN)
    return pc.if_else(marked, pc.utf8_slice_codeunits(cells, 1), cells)


def _is_blank(cells_by_column: Sequence[Texts]) -> BoolArray:
    """Return which records have nothing in any of the columns."""
    filled = [np.asarray(pc.is_valid(cells)) for cells in cells_by_column]
    blank: BoolArray = ~np.logical_or.reduce(filled)
    return blank
