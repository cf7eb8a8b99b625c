"""A stranger's CSV, JSON or Parquet file as a table of text cells, each problem with its row and column."""

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from app.config import PREFIX
from app.errors import Problem, TooLarge
from app.files.columns import MAX_COLUMNS, Block, TableFile, Texts
from app.files.findings import BOM, Findings, problem_of_text
from app.files.json_records import BadRecord, Record, records_of_document, records_of_lines
from app.files.parquet_child import ParquetOrder
from app.files.uploads import ReceivedFile
from app.names import clip_for_message, count
from app.stats.arrays import BoolArray, IntArray
from app.values.formulas import MARKED_PATTERN, read_off_guard


def open_all(
    files: Sequence[ReceivedFile], max_rows: int, open_one: Callable[[ReceivedFile, int], TableFile | None]
) -> list[tuple[ReceivedFile, TableFile]]:
    """Open every file before the first one is read, each with the number of records of those before it.

    The records of JSON and Parquet are counted at opening: too many of them in all are noticed before a value is read.
    Raises TooLarge.
    """
    opened: list[tuple[ReceivedFile, TableFile]] = []
    n_earlier = 0
    for file in files:
        table = open_one(file, n_earlier)
        if table is not None:
            n_earlier += table.n_counted
            opened.append((file, table))
        if n_earlier > max_rows:
            raise TooLarge(f"The submission has more than {max_rows:,} rows.")
    return opened


def open_table(
    file: ReceivedFile, findings: Findings, warnings: list[Problem], max_rows: int, n_earlier: int = 0
) -> TableFile | None:
    """Open a table; None when the file is none, with the reason in `findings`.

    Raises TooLarge beyond `max_rows` records with the `n_earlier` of the files before it.
    """
    problem = problem_of_text(file.path, file.name)
    if problem is not None:
        findings.add(problem)
        return None
    if file.suffix == ".csv":
        return open_csv(file, findings, warnings)
    return open_json(file, findings, max_rows, n_earlier)


# CSV as text, streamed: every cell a string, every record with the number that a spreadsheet shows. The header is row
# 1, quoted newlines belong to their record, blank lines count.

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


# How many blank lines a CSV file may have.
#
# The parser turns each into a record of nulls, so that row numbers stay right: one byte becomes a cell in every
# column, so 10 kB of gzip could become many gigabytes.

MOST_BLANK_LINES = 100_000

MOST_BLANK_CELLS = 20_000_000

PIECE = 4 << 20

_ENDS = (b"\n\n", b"\n\r", b"\r\r")

_QUOTE, _NEWLINE, _RETURN = b'"'[0], b"\n"[0], b"\r"[0]


def most_blank_lines(n_columns: int) -> int:
    """Return how many blank lines a table of so many columns may have."""
    return min(MOST_BLANK_LINES, MOST_BLANK_CELLS // max(1, n_columns))


def has_more_blank_lines(path: Path, body_at: int, allowed: int) -> bool:
    """Say whether a file has more blank lines than allowed; those inside quotation marks belong to their cells."""
    n_at_most = n_blank = 0
    in_quotes, last = False, b"\n"
    with path.open("rb") as content:
        content.seek(body_at)
        while piece := content.read(PIECE):
            # Counts do not overlap, so three newlines count once: twice the count and one is never too few.
            n_at_most = sum(2 * piece.count(end) + 1 for end in _ENDS)
            blank, in_quotes = _blank_lines(last, piece, in_quotes, n_at_most)
            n_blank += blank
            if n_blank > allowed:
                return True
            last = piece[-1:]
    return False


def _blank_lines(last: bytes, piece: bytes, in_quotes: bool, n_at_most: int) -> tuple[int, bool]:
    """Count the blank lines of a piece; also say whether it ends inside quotation marks."""
    odd = piece.count(b'"') % 2 == 1
    if n_at_most <= len(_ENDS):
        return 0, in_quotes ^ odd
    codes = np.frombuffer(last + piece, dtype=np.uint8)
    ends = (codes[1:] == _NEWLINE) | (codes[1:] == _RETURN)
    # The two bytes of \r\n are one end, whose line is blank only where another end comes before it.
    again = ends & ((codes[:-1] == _NEWLINE) | ((codes[:-1] == _RETURN) & (codes[1:] == _RETURN)))
    return int((again & ~_quoted(codes[1:], in_quotes)).sum()), in_quotes ^ odd


def _quoted(codes: np.ndarray[tuple[int], np.dtype[np.uint8]], in_quotes: bool) -> BoolArray:
    quotes = np.cumsum(codes == _QUOTE, dtype=np.int32)
    quoted: BoolArray = (quotes % 2 == 1) ^ in_quotes
    return quoted


# JSON and JSON Lines as text cells: a list of objects, or columns and rows. A record of JSON Lines has the number of
# its line, one of a list its place in the list. A file is read twice, once for its keys and its errors and once for
# its cells, so that it need not be held.

RECORDS_PER_BLOCK = 20_000


@dataclass
class JsonTable:
    """A file of records whose keys are known."""

    file: ReceivedFile
    findings: Findings
    header: tuple[str, ...]
    n_counted: int

    def blocks(self, wanted: Sequence[str]) -> Iterator[Block]:
        """Yield the records with the wanted columns; a record without a key has an empty cell there."""
        records = (record for record in _records(self.file) if isinstance(record, Record))
        while chunk := list(islice(records, RECORDS_PER_BLOCK)):
            rows = np.array([record.row for record in chunk], dtype=np.int64)
            columns = {name: self._column(name, rows.tolist(), [r.cells.get(name) for r in chunk]) for name in wanted}
            yield Block(rows, columns)

    def _column(self, name: str, rows: Sequence[int], cells: Sequence[Any]) -> Texts:
        texts = [_text(cell) for cell in cells]
        try:
            column = pa.array(texts, pa.string())
        except UnicodeEncodeError:
            column = None
        if column is not None and not pc.any(pc.match_substring(column, "\0")).as_py():
            return column
        return pa.array([self._storable(name, row, text) for row, text in zip(rows, texts, strict=True)], pa.string())

    def _storable(self, name: str, row: int, text: str | None) -> str | None:
        if text is None or ("\0" not in text and text.encode(errors="ignore").decode() == text):
            return text
        message = "the text contains a zero character or half of a surrogate pair"
        self.findings.add(Problem(message, self.file.name, row, clip_for_message(name), clip_for_message(text)))
        return None


def open_json(file: ReceivedFile, findings: Findings, max_rows: int, n_earlier: int = 0) -> JsonTable | None:
    """Read the keys of every record; None when the file is no table, with every reason in `findings`.

    Raises TooLarge beyond `max_rows` records, good or bad, with the `n_earlier` of the files before it.
    """
    keys: dict[str, None] = {}
    n_before, n_records = findings.n_problems, 0
    for n_records, record in enumerate(_records(file), start=1):
        if n_earlier + n_records > max_rows:
            those_before = "with those of the files before it " if n_earlier else ""
            raise TooLarge(f"{file.name} {those_before}has more than {max_rows:,} records.")
        if isinstance(record, BadRecord):
            findings.add(Problem(record.message, file.name, record.row, value=record.value))
        else:
            keys.update(dict.fromkeys(record.cells))
        if len(keys) > MAX_COLUMNS:
            findings.add(Problem(f"the records have more than {MAX_COLUMNS} different keys", file=file.name))
            return None
    if findings.n_problems > n_before and not keys:
        return None
    return JsonTable(file, findings, tuple(keys), n_records)


def _records(file: ReceivedFile) -> Iterator[Record | BadRecord]:
    return records_of_lines(file.path) if file.suffix == ".jsonl" else records_of_document(file.path)


def _text(cell: Any) -> str | None:
    """Return a cell as the text that it would have in a CSV file."""
    if cell is None or isinstance(cell, str):
        return cell or None
    if isinstance(cell, Mapping | list):
        return json.dumps(cell, ensure_ascii=False)
    return repr(cell) if isinstance(cell, float) else str(cell)


# A Parquet file as a table whose cells are texts, numbers or lists of numbers. Another process unpacks the file, with
# bounds on memory, time, rows, columns and bytes; what it writes is read block after block from disk.

PARQUET = ".parquet"

LONGEST_S = 180

MAX_BYTES = 1 << 29


@dataclass(frozen=True)
class ParquetTable:
    """The columns of a Parquet file, unpacked beside it."""

    header: tuple[str, ...]
    unpacked: Path
    n_counted: int

    def blocks(self, wanted: Sequence[str]) -> Iterator[Block]:
        """Yield the records with the wanted columns; the first record is row 1."""
        if not self.unpacked.stat().st_size:
            return
        n_before = 0
        with pa.OSFile(str(self.unpacked)) as content, pa.ipc.open_stream(content) as reader:
            for batch in reader:
                rows = np.arange(n_before + 1, n_before + len(batch) + 1, dtype=np.int64)
                n_before += len(batch)
                yield Block(rows, {name: batch.column(name) for name in wanted})


@dataclass(frozen=True)
class WantedColumns:
    """The columns to read: `texts` hold names, which may be integers too; `lists` may hold lists of numbers.

    `as_text`: every cell, whatever it is, becomes the text that it would have in a CSV file.
    """

    columns: Sequence[str]
    texts: Sequence[str] = ()
    lists: Sequence[str] = ()
    as_text: bool = False

    def complaint(self, column: str, kind: str) -> str | None:
        """Say what is wrong with the kind of a column."""
        if kind.startswith("list") and column not in self.lists:
            return "the column contains lists"
        if kind != "string" and kind != "int64" and column in self.texts:
            return "the column contains numbers with a fraction; names are texts or integers"
        return None


def open_parquet(
    file: ReceivedFile, wanted: WantedColumns, findings: Findings, max_rows: int, folder: Path
) -> ParquetTable | None:
    """Unpack the wanted columns into the folder; None when the file cannot be read, with the reason in `findings`."""
    unpacked = folder / f"{file.position}.arrow"
    unpacked.touch()
    limits = (MAX_COLUMNS, max_rows, MAX_BYTES)
    outcome = _run(ParquetOrder(str(file.path), str(unpacked), list(wanted.columns), *limits, wanted.as_text))
    if "refused" in outcome:
        message = clip_for_message(outcome["refused"], 300)
        findings.add(Problem(message, file=file.name, row=outcome.get("row"), column=outcome.get("column")))
        return None
    complaints = {name: wanted.complaint(name, kind) for name, kind in outcome["kinds"].items()}
    wrong = {name: complaint for name, complaint in complaints.items() if complaint is not None}
    findings.extend(Problem(complaint, file=file.name, column=name) for name, complaint in wrong.items())
    return None if wrong else ParquetTable(tuple(outcome["names"]), unpacked, outcome["n_rows"])


def _run(order: ParquetOrder) -> dict[str, Any]:
    # Secrets stay here. The system's allocator, unlike Arrow's own, respects the limit of the process.
    kept = {name: text for name, text in os.environ.items() if not name.startswith(PREFIX)}
    environment = {**kept, "ARROW_DEFAULT_MEMORY_POOL": "system"}
    command = [sys.executable, "-m", "app.files.parquet_child", json.dumps(asdict(order))]
    try:
        done = subprocess.run(  # noqa: S603 - the command is our own
            command, stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=LONGEST_S, env=environment
        )
    except subprocess.TimeoutExpired:
        return {"refused": "unpacking it takes longer than is allowed"}
    except subprocess.CalledProcessError:
        return {"refused": "cannot be read as Parquet: its reader gave up"}
    outcome: dict[str, Any] = json.loads(done.stdout)
    return outcome
