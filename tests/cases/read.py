"""What several test files share."""

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


def parquet(columns: dict[str, Any], **options: Any) -> bytes:
    """Return a Parquet file of the given columns."""
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink, **options)
    return sink.getvalue()
