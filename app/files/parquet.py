"""A Parquet file as a table whose cells are texts, numbers or lists of numbers.

A Parquet file can promise a few bytes and unpack to anything, so rows, columns, texts and bytes are bounded here, and
memory and time where any upload is read (`app.reading`). The columns that are read are unpacked to a file beside it,
batch after batch, and read from there block after block.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from app.errors import Problem
from app.files.findings import Findings
from app.files.tables import MAX_COLUMNS, Block
from app.files.uploads import ReceivedFile
from app.names import clip_for_message

PARQUET = ".parquet"
MAX_BYTES = 1 << 29
BATCH_ROWS = 1 << 14
MAX_TEXT_BYTES = 1 << 16
MAX_NESTED_BYTES = 1 << 26


class _Refused(Exception):
    """The file is not what may be read; the text says why, `row` and `column` where."""

    def __init__(self, text: str, row: int | None = None, column: str | None = None) -> None:
        super().__init__(text)
        self.row = row
        self.column = column


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
    try:
        names, kinds, n_rows = _unpack(file.path, unpacked, wanted, max_rows)
    except _Refused as error:
        findings.add(Problem(clip_for_message(str(error), 300), file=file.name, row=error.row, column=error.column))
        return None
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        if getattr(error, "errno", None) is not None:  # The disk, not the file.
            raise
        findings.add(Problem(clip_for_message(f"cannot be read as Parquet: {error}", 300), file=file.name))
        return None
    complaints = {name: wanted.complaint(name, kind) for name, kind in kinds.items()}
    wrong = {name: complaint for name, complaint in complaints.items() if complaint is not None}
    findings.extend(Problem(complaint, file=file.name, column=name) for name, complaint in wrong.items())
    return None if wrong else ParquetTable(tuple(names), unpacked, n_rows)


def _unpack(
    source: Path, target: Path, wanted: WantedColumns, max_rows: int
) -> tuple[Sequence[str], dict[str, str], int]:
    """Write the wanted columns as an Arrow stream; return the names of all, the kinds of these, and how many rows."""
    file = pq.ParquetFile(source, thrift_string_size_limit=1 << 26, thrift_container_size_limit=1 << 20)
    names = _checked_names(file, max_rows)
    columns = [name for name in wanted.columns if name in names]
    n_bytes = n_rows = 0
    kinds: dict[str, str] = {}
    with pa.OSFile(str(target), "wb") as sink:
        writer = None
        for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=columns, use_threads=False):
            cells = [_read(batch.column(name), name, n_rows, as_text=wanted.as_text) for name in columns]
            plain = pa.record_batch(cells, names=columns)
            n_bytes, n_rows = n_bytes + plain.nbytes, n_rows + len(plain)
            if n_bytes > MAX_BYTES or n_rows > max_rows:
                raise _Refused(f"the columns that are read unpack to more than {MAX_BYTES:,} bytes")
            if writer is None:
                writer = pa.ipc.new_stream(sink, plain.schema)
                kinds = {field.name: str(field.type) for field in plain.schema}
            writer.write_batch(plain)
        if writer is not None:
            writer.close()
    return names, kinds, n_rows


def _checked_names(file: pq.ParquetFile, max_rows: int) -> list[str]:
    if file.metadata.num_rows > max_rows:
        raise _Refused(f"the table has {file.metadata.num_rows:,} rows; at most {max_rows:,} are allowed")
    names = [str(name) for name in file.schema_arrow.names]
    if len(names) > MAX_COLUMNS or file.metadata.num_columns > 2 * MAX_COLUMNS:
        raise _Refused(f"the table has {len(names)} columns; at most {MAX_COLUMNS} are allowed")
    if len(set(names)) < len(names):
        raise _Refused("two columns have the same name")
    return names


def _read(column: Any, name: str, n_before: int, *, as_text: bool) -> Any:
    try:
        plain = _texts(column, name) if as_text else _plain(column, name)
        _check_text(plain, name, n_before)
    except pa.ArrowInvalid:
        # The reader's own words quote the cell, which may be a label.
        kind = str(column.type)[:60]
        raise _Refused(
            f"the column {name!r} of {kind} contains a cell that is neither text nor a 64-bit number"
        ) from None
    return plain


def _plain(column: Any, name: str) -> Any:
    """Return a column as texts, 64-bit integers, 64-bit floats or lists of these."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = _decoded(column, name), kind.value_type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        _check_lengths(column, name)
        return column.cast(pa.string())
    if pa.types.is_integer(kind):
        return column.cast(pa.int64())
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return column.cast(pa.float64())
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return column.cast(pa.list_(pa.float64()))
    if pa.types.is_null(kind):
        return pa.nulls(len(column), pa.string())
    raise _Refused(f"the column {name!r} contains {str(kind)[:60]}; texts, numbers and lists of numbers are read")


def _texts(column: Any, name: str) -> Any:
    """Return a column as the texts that a CSV file would have; lists and mappings as JSON, an empty text as null."""
    kind = column.type
    if pa.types.is_nested(kind) or pa.types.is_temporal(kind):
        if column.nbytes > MAX_NESTED_BYTES:
            raise _Refused(f"the column {name!r} of {str(kind)[:60]} unpacks to too much; write its cells as text")
        return pa.array([_cell_text(cell) for cell in column.to_pylist()], pa.string())
    if not pa.types.is_boolean(kind):
        column = _plain(column, name)
    texts = column.cast(pa.string())
    return pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)


def _cell_text(cell: Any) -> str | None:
    if cell is None:
        return None
    return cell.isoformat() if hasattr(cell, "isoformat") else json.dumps(cell, ensure_ascii=False, default=str)


def _check_text(column: Any, name: str, n_before: int) -> None:
    """Refuse bytes that are no UTF-8, which Parquet calls text all the same, and zeros, which no database stores."""
    if not pa.types.is_string(column.type):
        return
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        for row, cell in enumerate(column.cast(pa.binary()).to_pylist(), n_before + 1):
            if cell is not None and not _is_text(cell):
                raise _Refused("the text is not UTF-8", row, name) from None
        raise
    first = pc.index(pc.match_substring(column, "\0"), True).as_py()
    if first >= 0:
        raise _Refused("the text contains a zero character", n_before + first + 1, name)


def _is_text(cell: bytes) -> bool:
    try:
        cell.decode()
    except UnicodeDecodeError:
        return False
    return True


def _decoded(column: Any, name: str) -> Any:
    if pa.types.is_string(column.type.value_type):
        _check_lengths(column.dictionary, name)
    return column.dictionary_decode()


def _check_lengths(texts: Any, name: str) -> None:
    longest = pc.max(pc.binary_length(texts)).as_py()
    if longest is not None and longest > MAX_TEXT_BYTES:
        raise _Refused(f"the column {name!r} has a text of {longest:,} bytes; at most {MAX_TEXT_BYTES:,} are allowed")
