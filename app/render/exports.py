"""A table as CSV and as JSON; called by the web for every address that ends in .csv or .json.

Bytes are written a few rows at a time, so that only those rows exist as Python values: the curves of two hundred
entrants are 200,000 rows, which as JSON took six times the memory of their bytes, now twice.
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.values.columnar import row_blocks
from app.values.formulas import guard_formula
from app.values.table import Cell, Table

ROWS_AT_ONCE = 1000


def table_to_csv(table: Table) -> bytes:
    r"""Return RFC 4180 CSV with \n line ends: floats by repr, null empty, True/False.

    Text that a spreadsheet would take for a formula gets an apostrophe in front, see `app.values.formulas`; so do
    the names of the columns.
    """
    return b"".join(_csv_blocks(table))


def parts_to_csv(parts: Iterable[Table]) -> Iterator[bytes]:
    """Yield the CSV of a table that comes in parts with the same columns."""
    for at, part in enumerate(parts):
        blocks = _csv_blocks(part)
        if at > 0:
            next(blocks)
        yield b"".join(blocks)


def _csv_blocks(table: Table) -> Iterator[bytes]:
    yield _csv([[guard_formula(name) for name in table.column_names()]])
    for rows in row_blocks(table.rows, ROWS_AT_ONCE):
        yield _csv([_cell(cell) for cell in row] for row in rows)


def _csv(rows: Iterable[Sequence[str]]) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()


def _cell(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return guard_formula(cell)
    return repr(cell)


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
