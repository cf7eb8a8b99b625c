"""Texts that are compared whole with what is kept in tests/data/frozen: titles, notes, columns, numbers to six digits.

A change of words or columns is seen here, also where no other test looks. Where one is meant, `PLUMBLINE_FREEZE=1`
before the pytest of the tests that fail keeps the new text, and its diff is reviewed like code.
"""

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import asdict
from difflib import unified_diff
from pathlib import Path
from typing import Any

from app.admission.case import Check
from app.boards.tables import BoardTables
from app.errors import BoardUnavailable
from app.values.table import Table

MOST_ROWS = 8
"""Of each table: the others are made as these are."""
FOLDER = Path(__file__).parents[1] / "data" / "frozen"


def assert_frozen(name: str, text: str) -> None:
    """Compare a text with the kept one of this name, or keep it where that is asked for."""
    path = FOLDER / f"{name}.txt"
    if os.environ.get("PLUMBLINE_FREEZE"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")

    assert changed_lines(path.read_text("utf-8"), text) == []


def changed_lines(kept: str, text: str) -> list[str]:
    """Return the lines that differ: pytest itself compares texts by character, which takes minutes for a long one."""
    return list(unified_diff(kept.splitlines(), text.splitlines(), "kept", "now", n=0, lineterm=""))


def tables_as_text(tables: Iterable[Table]) -> str:
    """Return tables as lines: a line for each note, key of meta, column and row."""
    return "\n".join(line for table in tables for line in _lines(table)) + "\n"


def _lines(table: Table) -> Iterable[str]:
    yield f"# {table.name}: {table.title}"
    yield from (f"note {note}" for note in table.notes)
    yield from (f"meta {key} {_shown(value)}" for key, value in table.meta.items())
    for column in table.columns:
        yield f"column {_shown({key: value for key, value in asdict(column).items() if value not in (None, False)})}"
    yield f"{len(table.rows)} rows"
    yield from (f"row {_shown(row)}" for row in table.rows[:MOST_ROWS])


def text_of(build: Callable[[], BoardTables]) -> str:
    """Return a board with its pairs and further tables, or why there is none."""
    try:
        tables = build()
    except BoardUnavailable as none:
        return f"no board, {none.reason}: {none}; {list(none.entrants)}\n"
    return tables_as_text([t for t in (tables.leaderboard, tables.pairwise, *tables.extra) if t is not None])


def joined(texts: Iterable[str]) -> str:
    """Return texts one after another, a column only where it differs from every one before it."""
    known: set[str] = set()
    kept = []
    for line in (line for text in texts for line in text.splitlines()):
        if line not in known:
            kept.append(line)
        if line.startswith("column "):
            known.add(line)
    return "\n".join(kept) + "\n"


def checks_as_text(cases: Iterable[tuple[str, Iterable[Check]]]) -> str:
    """Return the checks of named submissions as lines."""
    return "".join(
        f"# {name}\n" + "".join(f"{each.rule} {each.outcome}: {each.reason}\n" for each in checks)
        for name, checks in cases
    )


def _shown(value: Any) -> str:
    return json.dumps(_rounded(value), ensure_ascii=False)


def _rounded(value: Any) -> Any:
    """Return a value with its numbers to six digits: the last ones differ between machines."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list | tuple) else value
