"""Tables as bytes: the same however many rows are written at a time, without all of them as Python values beside."""

import csv
import io
import json
import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from app.render import csv_and_json
from app.render.csv_and_json import table_to_csv, table_to_json
from app.values.table import CellColumn, Column, ColumnarRows, Rows, Table

COLUMNS = (Column("entrant", "Entrant", "text"), Column("fpr", "FPR"), Column("n", "n", "integer"))


def table(rows: Rows) -> Table:
    """Return a table of three columns."""
    return Table("roc/main", "Curves", COLUMNS, rows, ("A note.",), {"plot": []})


def curves(n_rows: int) -> ColumnarRows:
    """Return rows that are kept as columns: a word, a number that is null here and there, a whole number."""
    numbers = np.where(np.arange(n_rows) % 7 == 0, np.nan, np.arange(n_rows) / 3)
    return ColumnarRows(
        (
            CellColumn(np.arange(n_rows) % 2, ("=A, the first", "B")),
            CellColumn.of_numbers(numbers),
            CellColumn(np.arange(n_rows)),
        )
    )


@pytest.mark.parametrize("n_rows", [0, 1, 2, 3, 4, 5])
def test_rows_are_written_alike_however_many_at_a_time(n_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows and columns, none at all, a last block that is not full."""
    monkeypatch.setattr(csv_and_json, "ROWS_AT_ONCE", 2)
    rows = tuple(curves(n_rows))
    for each in (table(rows), table(curves(n_rows))):
        document = json.loads(table_to_json(each, {"benchmark": "b"}))
        assert list(document) == ["benchmark", "name", "title", "notes", "meta", "columns", "rows"]
        assert document["rows"] == [dict(zip(("entrant", "fpr", "n"), row, strict=True)) for row in rows]
        whole = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
        assert table_to_json(each, {"benchmark": "b"}).decode() == whole + "\n"

        lines = list(csv.reader(io.StringIO(table_to_csv(each).decode())))
        assert lines[0] == ["entrant", "fpr", "n"]
        assert lines[1:] == [
            [f"'{name}" if name.startswith("=") else name, "" if fpr is None else repr(fpr), str(n)]
            for name, fpr, n in rows
        ]


@pytest.mark.heavy
@pytest.mark.parametrize("write", [table_to_csv, lambda each: table_to_json(each, {})])
def test_memory_is_that_of_the_bytes(write: Callable[[Table], bytes]) -> None:
    """The parts and the whole of them, and not a Python object for each of its many cells."""
    large = table(curves(50_000))
    tracemalloc.start()
    content = write(large)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 2 * len(content) + 3_000_000


def test_nothing_else_writes_csv() -> None:
    """Whoever wrote it beside `app.render.csv_and_json` would forget the guard against formulas sooner or later."""
    root = Path(__file__).parents[2]
    sources = {
        path: path.read_text("utf-8") for room in ("app", "plumbline", "client") for path in (root / room).rglob("*.py")
    }
    written = re.compile(r"csv\.(Dict)?[wW]riter|write_csv|\.to_csv\(|guard_formula\(")

    assert {str(path.relative_to(root)) for path, text in sources.items() if written.search(text)} == {
        "app/render/csv_and_json.py",
        "app/values/formulas.py",
    }
