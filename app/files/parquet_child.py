"""Turns a Parquet file into an Arrow file of plain columns, in a process of its own with little memory and time.

Started by `app.files.tables`. A Parquet file can promise a few bytes and unpack to anything, and its
reader is a large program in C++: what it may use up, and what it may break, is this process.
"""

import json
import resource
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

MOST_MEMORY = 3 << 30
MOST_CPU_S = 120
BATCH_ROWS = 1 << 14
MAX_TEXT_BYTES = 1 << 16
MAX_NESTED_BYTES = 1 << 26


class ParquetRefused(Exception):
    """The file is not what may be read; the text says why, `row` and `column` where."""

    def __init__(self, text: str, row: int | None = None, column: str | None = None) -> None:
        super().__init__(text)
        self.row = row
        self.column = column


@dataclass(frozen=True)
class ParquetOrder:
    """What to read, where to put it and how much it may be."""

    source: str
    target: str
    wanted: Sequence[str]
    max_columns: int
    max_rows: int
    max_bytes: int
    as_text: bool = False


def convert(order: ParquetOrder) -> dict[str, Any]:
    """Write the wanted columns as an Arrow stream; return the names of all and the kinds of these. Raises Refused."""
    file = pq.ParquetFile(order.source, thrift_string_size_limit=1 << 26, thrift_container_size_limit=1 << 20)
    names = _checked_names(file, order)
    columns = [name for name in order.wanted if name in names]
    n_bytes = n_rows = 0
    kinds: dict[str, str] = {}
    with pa.OSFile(order.target, "wb") as sink:
        writer = None
        for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=columns, use_threads=False):
            cells = [_read(batch.column(name), name, n_rows, as_text=order.as_text) for name in columns]
            plain = pa.record_batch(cells, names=columns)
            n_bytes, n_rows = n_bytes + plain.nbytes, n_rows + len(plain)
            if n_bytes > order.max_bytes or n_rows > order.max_rows:
                raise ParquetRefused(f"the columns that are read unpack to more than {order.max_bytes:,} bytes")
            if writer is None:
                writer = pa.ipc.new_stream(sink, plain.schema)
                kinds = {field.name: str(field.type) for field in plain.schema}
            writer.write_batch(plain)
        if writer is not None:
            writer.close()
    return {"names": names, "kinds": kinds, "n_rows": n_rows}


def _checked_names(file: pq.ParquetFile, order: ParquetOrder) -> list[str]:
    if file.metadata.num_rows > order.max_rows:
        raise ParquetRefused(f"the table has {file.metadata.num_rows:,} rows; at most {order.max_rows:,} are allowed")
    names = [str(name) for name in file.schema_arrow.names]
    if len(names) > order.max_columns or file.metadata.num_columns > 2 * order.max_columns:
        raise ParquetRefused(f"the table has {len(names)} columns; at most {order.max_columns} are allowed")
    if len(set(names)) < len(names):
        raise ParquetRefused("two columns have the same name")
    return names


def _read(column: Any, name: str, n_before: int, *, as_text: bool) -> Any:
    try:
        plain = _texts(column, name) if as_text else _plain(column, name)
        _check_text(plain, name, n_before)
    except pa.ArrowInvalid:
        # The reader's own words quote the cell, which may be a label.
        kind = str(column.type)[:60]
        raise ParquetRefused(
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
    raise ParquetRefused(f"the column {name!r} contains {str(kind)[:60]}; texts, numbers and lists of numbers are read")


def _texts(column: Any, name: str) -> Any:
    """Return a column as the texts that a CSV file would have; lists and mappings as JSON, an empty text as null."""
    kind = column.type
    if pa.types.is_nested(kind) or pa.types.is_temporal(kind):
        if column.nbytes > MAX_NESTED_BYTES:
            raise ParquetRefused(
                f"the column {name!r} of {str(kind)[:60]} unpacks to too much; write its cells as text"
            )
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
    """Refuse bytes that are no UTF-8, which Parquet calls text all the same."""
    if not pa.types.is_string(column.type):
        return
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        for row, cell in enumerate(column.cast(pa.binary()).to_pylist(), n_before + 1):
            if cell is not None and not _is_text(cell):
                raise ParquetRefused("the text is not UTF-8", row, name) from None
        raise


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
        raise ParquetRefused(
            f"the column {name!r} has a text of {longest:,} bytes; at most {MAX_TEXT_BYTES:,} are allowed"
        )


def _limit(kind: int, most: int) -> None:
    """Lower a limit; the reader that started this process may have a lower one already."""
    _, hard = resource.getrlimit(kind)
    allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (allowed, allowed))


def main(arguments: Sequence[str]) -> int:
    """Do what the first argument, a JSON document, orders, and print the outcome as JSON."""
    _limit(resource.RLIMIT_AS, MOST_MEMORY)
    _limit(resource.RLIMIT_CPU, MOST_CPU_S)
    _limit(resource.RLIMIT_CORE, 0)
    try:
        outcome = convert(ParquetOrder(**json.loads(arguments[0])))
    except ParquetRefused as error:
        outcome = {"refused": str(error), "row": error.row, "column": error.column}
    except MemoryError:
        outcome = {"refused": "unpacking it needs more memory than is allowed"}
    except (pa.ArrowException, OSError, ValueError) as error:
        outcome = {"refused": f"cannot be read as Parquet: {error}"}
    print(json.dumps(outcome))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
