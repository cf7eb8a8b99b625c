"""A table as CSV and as JSON; called by the web for every address that ends in .csv or .json."""

import csv
import io
import json
from collections.abc import Mapping
from typing import Any

from app.values.formulas import guard_formula
from app.values.table import Cell, Table


def table_to_csv(table: Table) -> bytes:
    r"""Return RFC 4180 CSV with \n line ends: floats by repr, null empty, True/False.

    Text that a spreadsheet would take for a formula gets an apostrophe in front, see `app.values.formulas`; so do
    the names of the columns.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(guard_formula(name) for name in table.column_names())
    writer.writerows([_cell(cell) for cell in row] for row in table.rows)
    return out.getvalue().encode()


def _cell(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return guard_formula(cell)
    return repr(cell)


def table_to_json(table: Table, about: Mapping[str, Any]) -> bytes:
    """Return the table with its rows as objects, and `about` beside it; the same value gives the same bytes."""
    stored = table.to_json()
    document = {**about, **{key: stored[key] for key in ("name", "title", "notes", "meta", "columns")}}
    return to_json({**document, "rows": list(table.records())})


def to_json(document: Any) -> bytes:
    """Return JSON with finite numbers only, as UTF-8 with a line end."""
    return (json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n").encode()
