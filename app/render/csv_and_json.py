"""Everything that leaves as CSV or as JSON.

Nothing else writes CSV (`tests/render/test_csv_and_json.py`), so no text leaves without the guard against formulas:
rows of any cells go through `csv_bytes`. Whole columns of scores, of which there may be millions of rows, go through
Arrow, which takes a seventh of the time and has always quoted all texts and written 2 for 2.0. Bytes are written a few
rows at a time, so that only those rows exist as Python values: the curves of two hundred entrants are 200,000 rows,
which as JSON took six times the memory of their bytes, now twice.
"""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from app.stats.arrays import FloatArray
from app.values.formulas import guard_formula
from app.values.scores import NONE, Coded, ScoreTable
from app.values.table import Cell, Column, Table, row_blocks

ROWS_AT_ONCE = 1000

ABOUT = ("entrant", "task", "condition", "seed", "item")

FLAGS = ("False", "True")


def csv_bytes(rows: Iterable[Sequence[Cell]]) -> bytes:
    r"""Return RFC 4180 CSV with \n line ends: floats by repr, null empty, True/False.

    Text that a spreadsheet would take for a formula gets an apostrophe in front, see `app.values.formulas`.

    >>> csv_bytes([("=1+1", -1.5, None, True)])
    b"'=1+1,-1.5,,True\n"
    """
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([_cell(cell) for cell in row] for row in rows)
    return out.getvalue().encode()


def _cell(cell: Cell) -> str:
    if cell is None:
        return ""
    return guard_formula(cell) if isinstance(cell, str) else repr(cell)


def table_to_csv(table: Table) -> bytes:
    """Return a table as CSV, the names of its columns first."""
    return b"".join(_csv_blocks(table))


def parts_to_csv(parts: Iterable[Table]) -> Iterator[bytes]:
    """Yield the CSV of a table that comes in parts with the same columns."""
    for at, part in enumerate(parts):
        blocks = _csv_blocks(part)
        if at > 0:
            next(blocks)
        yield b"".join(blocks)


def _csv_blocks(table: Table) -> Iterator[bytes]:
    yield csv_bytes([table.column_names()])
    for rows in row_blocks(table.rows, ROWS_AT_ONCE):
        yield csv_bytes(rows)


def scores_to_csv(columns: Iterable[str], parts: Iterable[ScoreTable]) -> Iterator[bytes]:
    """Yield rows of scores as CSV in parts, the header first; numbers to the last digit.

    Arrow writes a column at a time; it is loaded when first asked for.
    """
    import pyarrow as pa
    import pyarrow.csv

    names = [*ABOUT, *columns, "leaked", "reason"]
    plain = pa.csv.WriteOptions(include_header=False, quoting_style="needed")
    yield csv_bytes([names])
    for part in parts:
        sink = io.BytesIO()
        pa.csv.write_csv(pa.table(_arrays(pa, part), names=names), sink, plain)
        yield sink.getvalue()


def _arrays(pa: Any, part: ScoreTable) -> list[Any]:
    n_rows = len(part)
    return [
        *(_texts(pa, coded, n_rows) for coded in (part.entrant, part.task, part.condition)),
        pa.nulls(n_rows) if part.seed is None else pa.array(part.seed),
        _texts(pa, part.item, n_rows),
        *(_numbers(pa, part.values[:, at]) for at in range(len(part.columns))),
        _texts(pa, Coded(FLAGS, part.leaked.astype(np.int64)), n_rows),
        _texts(pa, part.reason, n_rows),
    ]


def _numbers(pa: Any, values: FloatArray) -> Any:
    return pa.array(values, mask=np.isnan(values))


def _texts(pa: Any, coded: Coded | None, n_rows: int) -> Any:
    if coded is None:
        return pa.nulls(n_rows)
    words = pa.array([guard_formula(word) for word in coded.words], pa.string())
    codes = pa.array(coded.codes, mask=coded.codes == NONE)
    return pa.DictionaryArray.from_arrays(codes, words).cast(pa.string())


def table_to_json(table: Table, about: Mapping[str, Any]) -> bytes:
    """Return the table with its rows as objects, and `about` beside it; the same value gives the same bytes."""
    return b"".join(_json_blocks(table, about))


def _json_blocks(table: Table, about: Mapping[str, Any]) -> Iterator[bytes]:
    stored = replace(table, rows=()).to_json()
    document = {**about, **{key: stored[key] for key in ("name", "title", "notes", "meta", "columns")}}
    # The part before the rows is a document without its closing brace, which follows the rows.
    yield _dumps(document)[:-1] + b',"rows":['
    names, comma = table.column_names(), b""
    for rows in row_blocks(table.rows, ROWS_AT_ONCE):
        yield comma + _dumps([dict(zip(names, row, strict=True)) for row in rows])[1:-1]
        comma = b","
    yield b"]}\n"


def _dumps(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def to_json(document: Any) -> bytes:
    """Return JSON with finite numbers only, as UTF-8 with a line end."""
    return _dumps(document) + b"\n"


# A table as NDJSON, Arrow and Parquet: the values of its CSV with their types.
#
# The library is loaded on first use: most processes never write these formats, and are smaller without it.

MEDIA_TYPES = {
    "ndjson": "application/x-ndjson",
    "arrow": "application/vnd.apache.arrow.file",
    "parquet": "application/vnd.apache.parquet",
}


def table_to_ndjson(table: Table, about: Mapping[str, Any]) -> bytes:
    """Return a JSON object for each row, and a line end after each."""
    del about
    lines = (json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":")) for row in table.records())
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")


def table_to_arrow(table: Table, about: Mapping[str, Any]) -> bytes:
    """Return an Arrow file (Feather), whose schema metadata holds what the JSON has beside the rows."""
    import pyarrow as pa

    arrow, sink = _arrow(table, about), io.BytesIO()
    with pa.ipc.new_file(sink, arrow.schema) as writer:
        writer.write_table(arrow)
    return sink.getvalue()


def table_to_parquet(table: Table, about: Mapping[str, Any]) -> bytes:
    """Return a Parquet file, whose schema metadata holds what the JSON has beside the rows."""
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(_arrow(table, about), sink, compression="zstd")
    return sink.getvalue()


def _arrow(table: Table, about: Mapping[str, Any]) -> Any:
    import pyarrow as pa

    cells = list(zip(*table.rows, strict=True)) if table.rows else [()] * len(table.columns)
    kinds = {"integer": pa.int64(), "number": pa.float64(), "flag": pa.bool_()}
    arrays = [_column(pa, column, own, kinds) for column, own in zip(table.columns, cells, strict=True)]
    document = {"title": table.title, "notes": list(table.notes), "meta": dict(table.meta), **about}
    metadata = {"plumbline": json.dumps(document, ensure_ascii=False)}
    fields = [pa.field(c.name, array.type) for c, array in zip(table.columns, arrays, strict=True)]
    return pa.table(arrays, schema=pa.schema(fields, metadata=metadata))


def _column(pa: Any, column: Column, cells: tuple[Any, ...], kinds: Mapping[str, Any]) -> Any:
    """Return a column in the type of its kind, or as text where it holds something else."""
    kind = kinds.get(column.kind, pa.string())
    try:
        return pa.array(cells, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if cell is None else str(cell) for cell in cells], pa.string())


WRITERS: Mapping[str, Callable[[Table, Mapping[str, Any]], bytes]] = {
    "ndjson": table_to_ndjson,
    "arrow": table_to_arrow,
    "parquet": table_to_parquet,
}
