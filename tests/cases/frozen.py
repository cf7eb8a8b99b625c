"""Numbers that are compared whole with what is kept in tests/data/frozen, to six digits.

A table is its names, numbers and how it is drawn, and a check its rule and outcome: what is said of them may be worded
anew. Of one board a method and one submission a kind the numbers are kept, of others a digest each; the words of the
boards are one file. Where a change is meant, `PLUMBLINE_FREEZE=1` before the pytest of the tests that fail keeps what
is computed now, and its diff is reviewed like code.
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from difflib import unified_diff
from hashlib import sha256
from pathlib import Path
from typing import Any

from app.admission.case import Check
from app.boards.tables import BoardTables
from app.errors import BoardUnavailable
from app.values.table import Column, Table

MOST_ROWS = 8
"""Of each table: the others are made as these are."""
FOLDER = Path(__file__).parents[1] / "data" / "frozen"
DIGESTS = FOLDER / "digests.txt"


def assert_frozen(name: str, text: str) -> None:
    """Compare a text with the kept one of this name, or keep it where that is asked for."""
    path = FOLDER / f"{name}.txt"
    if os.environ.get("PLUMBLINE_FREEZE"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")

    assert changed_lines(path.read_text("utf-8"), text) == []


def assert_same(name: str, text: str) -> None:
    """Compare the digest of a text with the kept one of this name, or keep it where that is asked for."""
    kept = dict(line.rsplit(" ", 1) for line in DIGESTS.read_text("utf-8").splitlines())
    digest = sha256(text.encode()).hexdigest()[:16]
    if os.environ.get("PLUMBLINE_FREEZE"):
        kept[name] = digest
        DIGESTS.write_text("".join(f"{each} {kept[each]}\n" for each in sorted(kept)), "utf-8")

    assert kept.get(name) == digest, f"{name} has other numbers than were kept:\n{text}"


def changed_lines(kept: str, text: str) -> list[str]:
    """Return the lines that differ: pytest itself compares texts by character, which takes minutes for a long one."""
    return list(unified_diff(kept.splitlines(), text.splitlines(), "kept", "now", n=0, lineterm=""))


def tables_as_text(tables: Iterable[Table]) -> str:
    """Return tables as lines: one for how each column is read, one for each key of meta and for each row."""
    return "\n".join(line for table in tables for line in _lines(table)) + "\n"


def _lines(table: Table) -> Iterable[str]:
    yield f"# {table.name}: {len(table.rows)} rows"
    yield f"columns {', '.join(map(_of_column, table.columns))}"
    for key in sorted(table.meta):
        if _is_short(table.meta[key]):
            yield f"{key} {json.dumps(_rounded(table.meta[key]), default=str)}"
    names = table.column_names()
    for row in table.rows[:MOST_ROWS]:
        yield json.dumps({name: _rounded(value) for name, value in zip(names, row, strict=True) if _is_short(value)})


def _of_column(column: Column) -> str:
    """Return how a column is read; its title is among the words."""
    interval = "" if column.interval is None else "..".join(column.interval)
    said = [
        column.kind,
        column.unit,
        column.direction,
        column.digits,
        interval,
        column.glossary and f"?{column.glossary}",
    ]
    ways = ["detail"] * column.detail + ["optional"] * column.optional
    return " ".join([column.name, *(str(each) for each in said if each not in (None, "")), *ways])


def _is_short(value: Any) -> bool:
    """Tell a number or a name from a sentence, and from what is not there."""
    return value is not None and not (isinstance(value, str) and " " in value)


def words_of(boards: Iterable[BoardTables]) -> str:
    """Return titles and notes of boards, and titles of their columns, each once."""
    tables = [
        each for board in boards for each in (board.leaderboard, board.pairwise, *board.extra) if each is not None
    ]
    said = [(f"table {t.title}", *(f"note {note}" for note in t.notes),
             *(f"column {c.name}: {c.title}" for c in t.columns)) for t in tables]  # fmt: skip
    return "\n".join(sorted({line for lines in said for line in lines})) + "\n"


def text_of(build: Callable[[], BoardTables]) -> str:
    """Return a board with its pairs and further tables, or why there is none."""
    try:
        tables = build()
    except BoardUnavailable as none:
        return f"no board, {none.reason}; {list(none.entrants)}\n"
    return tables_as_text([t for t in (tables.leaderboard, tables.pairwise, *tables.extra) if t is not None])


def checks_as_text(cases: Iterable[tuple[str, Iterable[Check]]]) -> str:
    """Return the outcomes of the checks of named submissions, a line for each."""
    return "".join(f"{name}: {', '.join(f'{each.rule} {each.outcome}' for each in checks)}\n" for name, checks in cases)


def _rounded(value: Any) -> Any:
    """Return a value with its numbers to six digits, as the last ones differ between machines, without sentences."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, Mapping):
        return {key: _rounded(each) for key, each in value.items() if _is_short(each)}
    return [_rounded(each) for each in value if _is_short(each)] if isinstance(value, list | tuple) else value
