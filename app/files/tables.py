"""A stranger's CSV or JSON file as columns of text, each problem with its row and column.

The common form of every kind of table file: a header, then blocks of records with their row numbers. A cell is text,
or null when it is empty; numbers, flags and words are made of a column at a time.
"""

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from app.errors import Problem, TooLarge
from app.files.findings import BOM, Findings, problem_of_text
from app.files.uploads import ReceivedFile
from app.names import clip_for_message, count, first_few
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.values.formulas import MARKED_PATTERN, read_off_guard
from app.values.scores import NONE

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


# Text cells as numbers, a column at a time, with a message for each that is not a number.

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?i:nan|inf|infinity)", re.ASCII)

_NAN = float("nan")


@dataclass(frozen=True)
class Numbers:
    """The cells of a column: `values` is NaN where `empty` or wrong; `is_text` marks cells that are no number."""

    values: FloatArray
    empty: BoolArray
    is_text: BoolArray


def read_numbers(cells: Texts) -> Numbers:
    """Read a column of text, or of numbers, as numbers; NaN and infinities are read as such."""
    empty = np.asarray(pc.is_null(cells))
    if not pa.types.is_string(cells.type):
        values = np.array(cells.cast(pa.float64(), safe=False).fill_null(_NAN))
        return Numbers(values, empty, np.zeros(len(values), dtype=np.bool_))
    texts = pc.utf8_trim_whitespace(cells)
    try:
        values = np.array(pc.cast(texts, pa.float64()).fill_null(_NAN))
    except pa.ArrowInvalid:
        return _read_one_by_one(texts, empty)
    return Numbers(values, empty, _nan_by_another_name(texts, values) & ~empty)


def _nan_by_another_name(texts: Texts, values: FloatArray) -> BoolArray:
    """Say which cells are read as NaN though no program that writes tables says it so: C's `nan(…)`."""
    is_nan = np.isnan(values)
    if not is_nan.any():
        return is_nan
    has_parenthesis: BoolArray = np.asarray(pc.match_substring(texts.fill_null(""), "("))
    return is_nan & has_parenthesis


def _read_one_by_one(texts: Texts, empty: BoolArray) -> Numbers:
    stripped = [(text or "").strip() for text in texts.to_pylist()]
    is_number = np.array([_NUMBER.fullmatch(text) is not None for text in stripped], dtype=np.bool_)
    values = np.array([float(t) if ok else _NAN for t, ok in zip(stripped, is_number.tolist(), strict=True)])
    return Numbers(values, empty, ~is_number & ~empty)


@dataclass(frozen=True)
class NumberBounds:
    """What a column's numbers may be; what is beyond a bound by at most `tolerance` is cut to it.

    `nan_is_empty`: the text NaN means a missing value.
    """

    low: float | None = None
    high: float | None = None
    nan_is_empty: bool = False
    tolerance: float = 0.0

    def wrong(self, numbers: Numbers) -> BoolArray:
        """Say which cells hold something that is not allowed; an empty cell is never wrong."""
        values = numbers.values
        wrong = numbers.is_text | (np.abs(values) > LARGEST)
        if not self.nan_is_empty:
            wrong |= np.isnan(values) & ~numbers.empty
        if self.low is not None:
            wrong |= values < self.low - self.tolerance
        if self.high is not None:
            wrong |= values > self.high + self.tolerance
        return wrong

    def complaint(self, value: float, text: str) -> str:
        """Say what is wrong with one cell."""
        if _NUMBER.fullmatch(text.strip()) is None:
            hint = "; write decimals with a point" if re.fullmatch(r"\s*-?\d+,\d+\s*", text) else ""
            return f"not a number{hint}"
        if np.isnan(value):
            return "NaN is not a number here; leave the cell empty where there is none"
        if np.isinf(value):
            return f"the number is infinite or too large for a 64-bit float; at most {LARGEST:g} in size is allowed"
        if abs(value) > LARGEST:
            return BEYOND
        cut = f"; rounding beyond it by up to {self.tolerance:g} is cut" if self.tolerance else ""
        if self.low == 0 and value < 0:
            return f"negative; it must be at least 0{cut}"
        if self.low is not None and value < self.low:
            return f"below {self.low:g}, the smallest allowed{cut}"
        return f"above {self.high:g}, the largest allowed{cut}"

    def cut(self, values: FloatArray) -> FloatArray:
        """Return numbers within the tolerance as they count."""
        if not self.tolerance:
            return values
        within: FloatArray = np.clip(values, self.low, self.high)
        return within


# How cells are read as true or false. Read by the kinds of evidence.

# With gaps, pandas writes a column of flags as 1.0 and 0.0.
FLAGS: Mapping[str, bool] = {
    **dict.fromkeys(("True", "true", "TRUE", "1", "1.0"), True),
    **dict.fromkeys(("False", "false", "FALSE", "0", "0.0"), False),
}


# Names to numbers, block by block: the words of a whole submission in the order of their first appearance. A name
# that is not allowed gets no number and is not kept.


def local_codes(texts: Texts) -> tuple[list[str], IntArray]:
    """Return the distinct texts of a column and each cell's position among them, NONE where it is empty."""
    encoded = texts.dictionary_encode()
    codes = np.asarray(encoded.indices.cast(pa.int64()).fill_null(NONE))
    return encoded.dictionary.to_pylist(), codes


class Vocabulary:
    """Words and their numbers. `allows` decides whether a new word gets one."""

    def __init__(self, allows: Callable[[str], bool], words: Iterable[str] = ()) -> None:
        self._allows = allows
        self._numbers = {word: number for number, word in enumerate(words)}

    @property
    def words(self) -> tuple[str, ...]:
        """Every word, by its number."""
        return tuple(self._numbers)

    def encode(self, texts: Texts) -> IntArray:
        """Return each cell's number, NONE where the cell is empty or its word is not allowed."""
        words, codes = local_codes(texts)
        lookup = np.array([*(self._number(word) for word in words), NONE], dtype=np.int64)
        return lookup[codes]

    def _number(self, word: str) -> int:
        number = self._numbers.get(word)
        if number is None:
            if not self._allows(word):
                return NONE
            number = self._numbers[word] = len(self._numbers)
        return number


# The largest number accepted, for every kind of evidence, and its wording in a refusal. Beyond the limit no score,
# time, count, weight or claim means anything; within it sums of fourth powers are finite, so no row can leave a board
# without numbers.

LARGEST = 1e50

BEYOND = f"larger in size than {LARGEST:g}, the most that a number may be here"


def number_of(text: str) -> float | None:
    """Return the number that a text is, None where it is none."""
    try:
        return float(text)
    except ValueError:
        return None


def is_storable(number: float) -> bool:
    """Say whether a number is accepted: finite, and at most LARGEST in absolute value."""
    return -LARGEST <= number <= LARGEST


# The wanted columns of one block of a table, and where its problems go. For kinds that read block by block.


@dataclass(frozen=True)
class Cells:
    """The wanted columns of a block, and where its problems go.

    `files` names the file of each row of several. Cells of `secret` columns are never quoted.
    """

    file: str
    rows: IntArray
    columns: Mapping[str, Texts]
    findings: Findings
    files: Sequence[str] | None = None
    secret: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.rows)

    def texts(self, column: str) -> Texts:
        """Return a column as texts; one that the file lacks is empty."""
        cells = self._cells(column)
        return cells if pa.types.is_string(cells.type) else cells.cast(pa.string())

    def required_texts(self, column: str) -> Texts:
        """Return a column of texts in which no cell may be empty."""
        texts = self.texts(column)
        self.refuse(column, np.asarray(pc.is_null(texts)), lambda _: "the cell is empty")
        return texts

    def numbers(self, column: str, bounds: NumberBounds) -> Numbers:
        """Read a column of numbers; each that is wrong is a problem and NaN, an empty cell is NaN alone."""
        cells = self._cells(column)
        numbers = read_numbers(cells)
        wrong = bounds.wrong(numbers)
        self.refuse(column, wrong, lambda at: bounds.complaint(float(numbers.values[at]), str(cells[at].as_py())))
        return Numbers(np.where(wrong, np.nan, bounds.cut(numbers.values)), numbers.empty, numbers.is_text)

    def required_numbers(self, column: str, bounds: NumberBounds) -> FloatArray:
        """Read a column of numbers in which no cell may be empty."""
        numbers = self.numbers(column, bounds)
        self.refuse(column, numbers.empty, lambda _: "the cell is empty")
        return numbers.values

    def refuse(
        self,
        column: str,
        wrong: BoolArray,
        message: Callable[[int], str],
        value: Callable[[int], str] | None = None,
    ) -> None:
        """Add a problem for each wrong cell of a column; `message`, and `value` where it is not the cell, are given
        its position.
        """

        def describe(position: int) -> Problem:
            shown = self._shown(column, position) if value is None else value(position)
            file = self.file if self.files is None else self.files[position]
            return Problem(message(position), file, int(self.rows[position]), column, shown)

        self.findings.add_each(np.flatnonzero(wrong).tolist(), describe)

    def _cells(self, column: str) -> Texts:
        return self.columns[column] if column in self.columns else empty_texts(len(self.rows))

    def _shown(self, column: str, position: int) -> str | None:
        content = None if column in self.secret else self._cells(column)[position].as_py()
        return None if content is None else clip_for_message(str(content))


def empty_texts(n_rows: int) -> Texts:
    """Return a column in which every cell is empty."""
    return pa.nulls(n_rows, pa.string())


# The records of a JSON or JSON Lines file, one after the other, with what is wrong with the broken ones. Strict where
# JSON is vague: a key twice is an error. Python's own NaN and Infinity are read as the text they are, so that the
# column can say whether it allows them.

MAX_LINE_BYTES = 1 << 20

MOST_DIGITS = 30

_SPACE = re.compile(r"[ \t\r\n]*")

WANTED = (
    'a table is a list of objects, one object of cells, or {"columns": […], "rows": [[…], …]}; '
    'pandas writes the first with to_json(path, orient="records")'
)


@dataclass(frozen=True)
class Record:
    """One record: its number and its cells by key."""

    row: int
    cells: Mapping[str, Any]


@dataclass(frozen=True)
class BadRecord:
    """A place where no record could be read, and why."""

    message: str
    row: int | None = None
    value: str | None = None


class BadJson(ValueError):
    """JSON that is not read here; the message says why."""


def records_of_lines(path: Path) -> Iterator[Record | BadRecord]:
    """Yield a record for each line that is not blank."""
    with path.open("rb") as content:
        row = 0
        while line := content.readline(MAX_LINE_BYTES + 1):
            row += 1
            if len(line) > MAX_LINE_BYTES:
                yield BadRecord(f"the line is longer than {MAX_LINE_BYTES >> 20} MiB; what follows was not read", row)
                return
            text = line.decode("utf-8-sig" if row == 1 else "utf-8").strip()
            if text:
                yield _record_of_line(text, row)


def _record_of_line(text: str, row: int) -> Record | BadRecord:
    try:
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError) as error:
        return BadRecord(explain_json(error), row, clip_for_message(text))
    if end < len(text):
        return BadRecord("the line contains more than one value", row, clip_for_message(text[end:].strip()))
    return _record(value, row)


def records_of_document(path: Path) -> Iterator[Record | BadRecord]:
    """Yield the records of one JSON document: element by element for a list, so that only one is held."""
    text = path.read_text("utf-8-sig")
    at = _skip(text, 0)
    if text[at : at + 1] == "[":
        yield from _elements(text, at + 1)
        return
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError) as error:
        yield BadRecord(explain_json(error), _line(text, error))
        return
    if _skip(text, end) < len(text):
        yield BadRecord("text follows the end of the document; is it JSON Lines? Give it the ending .jsonl", 1)
    else:
        yield from _rows_of_frame(value)


def object_of(text: str) -> dict[str, Any] | BadRecord:
    """Return the one object of the text of a JSON document."""
    try:
        value, end = _DECODER.raw_decode(text, _skip(text, 0))
    except (ValueError, RecursionError) as error:
        return BadRecord(explain_json(error), _line(text, error))
    if not isinstance(value, dict) or _skip(text, end) < len(text):
        return BadRecord("expected one JSON object and nothing after it")
    return value


def is_list(path: Path) -> bool:
    """Say whether a JSON document begins as a list."""
    with path.open("rb") as content:
        return content.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")


def _elements(text: str, at: int) -> Iterator[Record | BadRecord]:
    row, at = 0, _skip(text, at)
    if text[at : at + 1] == "]":
        at += 1
    else:
        while True:
            row += 1
            try:
                value, at = _DECODER.raw_decode(text, at)
            except (ValueError, RecursionError) as error:
                yield BadRecord(f"record {row}, {explain_json(error)}", row)
                return
            yield _record(value, row)
            at = _skip(text, at)
            separator = text[at : at + 1]
            at = _skip(text, at + 1)
            if separator == "]":
                break
            if separator != ",":
                yield BadRecord(f"the list is not continued or closed after record {row}", row)
                return
    if _skip(text, at) < len(text):
        yield BadRecord("text follows the end of the list")


def _rows_of_frame(value: Any) -> Iterator[Record | BadRecord]:
    if _is_record(value):
        yield Record(1, value)
        return
    columns = value.get("columns") if isinstance(value, dict) else None
    rows = value.get("rows", value.get("data")) if isinstance(value, dict) else None
    if not isinstance(columns, list) or not isinstance(rows, list) or not all(isinstance(c, str) for c in columns):
        yield BadRecord(f"the JSON is not a table: {WANTED}")
        return
    if (repeated := first_repeated(columns)) is not None:
        yield BadRecord(f"two columns are named {clip_for_message(repeated)}")
        return
    for row, cells in enumerate(rows, start=1):
        yield _record_of_row(columns, cells, row)


def _is_record(value: Any) -> bool:
    """Say whether a document is one record: an object of cells, not of the columns of a frame."""
    return isinstance(value, dict) and any(not isinstance(cell, dict | list) for cell in value.values())


def _record_of_row(columns: Sequence[str], cells: Any, row: int) -> Record | BadRecord:
    if not isinstance(cells, list):
        return BadRecord("the row is not a list", row, clip_for_message(str(cells)))
    if len(cells) != len(columns):
        return BadRecord(f"the row has {len(cells)} cells; there are {len(columns)} columns", row)
    return Record(row, dict(zip(columns, cells, strict=True)))


def _record(value: Any, row: int) -> Record | BadRecord:
    if isinstance(value, dict):
        return Record(row, value)
    return BadRecord(f"not an object: {WANTED}", row, clip_for_message(str(value)))


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) < len(pairs):
        repeated = first_repeated(name for name, _ in pairs)
        raise BadJson(f"an object has the key {clip_for_message(str(repeated))} twice")
    return built


def first_repeated(names: Iterable[str]) -> str | None:
    """Return the first name that has been there before."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _integer(digits: str) -> int | str:
    # The time of int() grows with the square of the digits; as text the column will say what it allows.
    return int(digits) if len(digits) <= MOST_DIGITS else digits


def strict_decoder(
    parse_int: Callable[[str], Any], parse_constant: Callable[[str], Any], parse_float: Callable[[str], float] = float
) -> json.JSONDecoder:
    """Return a decoder that refuses a key twice; the others read numbers, and NaN and Infinity, as they say."""
    return json.JSONDecoder(
        object_pairs_hook=_object_of, parse_int=parse_int, parse_constant=parse_constant, parse_float=parse_float
    )


_DECODER = strict_decoder(_integer, str)


def explain_json(error: ValueError | RecursionError) -> str:
    """Say what is wrong with a text that a strict decoder refused."""
    if isinstance(error, RecursionError):
        return "the JSON is nested too deeply"
    return str(error) if isinstance(error, BadJson) else f"not JSON: {error}"


def depth_of(text: str) -> int:
    """Return how deep brackets are nested at most, those inside of texts too."""
    depth = deepest = 0
    for character in text:
        depth += (character in "[{(") - (character in "]})")
        deepest = max(deepest, depth)
    return deepest


def _line(text: str, error: ValueError | RecursionError) -> int | None:
    return text.count("\n", 0, error.pos) + 1 if isinstance(error, json.JSONDecodeError) else None


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


# A JSON document with one object, read strictly.


def read_document(file: ReceivedFile, findings: Findings) -> dict[str, Any] | None:
    """Return the object of a JSON file; None when there is none, with the reason in `findings`."""
    problem = problem_of_text(file.path, file.name)
    if problem is not None:
        findings.add(problem)
        return None
    document = object_of(file.path.read_text("utf-8-sig"))
    if isinstance(document, BadRecord):
        findings.add(Problem(document.message, file.name, document.row, value=document.value))
        return None
    return document


# Files opened as tables.


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
        numbers = first_few(unnamed)
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
