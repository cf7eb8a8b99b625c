"""A table as NDJSON, Arrow and Parquet: the values of its CSV with their types. Called by `app.web.answers`.

The library is loaded on first use: most processes never write these formats, and are smaller without it.
"""

import io
import json
from collections.abc import Callable, Mapping
from typing import Any

from app.values.table import Column, Table

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
