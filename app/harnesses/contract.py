"""The contract of a harness's module: which files are its own, and how their rows are read.

Filled by the modules beside it and by those of other packages, found by their entry points in `app.harnesses.registry`.

Why: docs/adr/021-harnesses-and-importers.md.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from app.errors import Problem
from app.files.findings import Findings, problem_of_text
from app.files.tables import BadRecord, Block, Record, read_document, records_of_document, records_of_lines
from app.files.uploads import ReceivedFile
from app.names import clip_for_message
from app.values.table import Column, Table

MAX_STATED = 500

MAX_ODD = 20

AnyText = TypeVar("AnyText", str, str | None)

TABLE = "harness"


@dataclass(frozen=True)
class Row:
    """One score row of a harness: of an item, or of a task where `item` is None. `row` is its place in the file.

    `scores` are by the harness's own names of metrics. `beside` are further cells that a manifest may ask for.
    """

    file: ReceivedFile
    row: int
    entrant: str | None
    task: str
    scores: Mapping[str, Any]
    item: str | int | None = None
    seed: int = 0
    beside: Mapping[str, Any] = field(default_factory=dict)

    def cells(self) -> dict[str, Any]:
        """Return the row as a record of a plain table would have it."""
        item = {} if self.item is None else {"item": self.item}
        return {"entrant": self.entrant, "task": self.task, "seed": self.seed, **item, **self.beside, **self.scores}


@dataclass
class HarnessRun:
    """The files of one harness in one submission, and what is read from them.

    `stated` holds the run's statements about itself, (key, task, value), which are stored and shown. `lacking` names
    what a reader would want to know but the run does not state.
    """

    files: Sequence[ReceivedFile]
    findings: Findings
    warnings: list[Problem] = field(default_factory=list)
    stated: list[tuple[str, str | None, str]] = field(default_factory=list)
    lacking: list[str] = field(default_factory=list)
    directions: dict[str, str] = field(default_factory=dict)

    def state(self, key: str, value: Any, task: str | None = None) -> None:
        """Record a statement of the run about itself; None is ignored."""
        if value is None or value == "" or value == {}:
            return
        statement = (whole(key), whole(task), whole(clip_for_message(str(value), MAX_STATED)))
        if statement not in self.stated:
            self.stated.append(statement)

    def refuse(self, file: ReceivedFile, message: str, row: int | None = None, column: str | None = None,
               value: Any = None) -> None:  # fmt: skip
        """Note a problem."""
        shown = None if value is None else clip_for_message(str(value))
        self.findings.add(Problem(message, file.name, row, column, shown))

    def warn(self, file: ReceivedFile, message: str, column: str | None = None, value: Any = None) -> None:
        """Note a warning."""
        shown = None if value is None else clip_for_message(str(value))
        self.warnings.append(Problem(message, file.name, column=column, value=shown))

    def document(self, file: ReceivedFile) -> dict[str, Any] | None:
        """Return the object of a JSON file; None where there is none, with the reason noted."""
        return read_document(file, self.findings)

    def records(self, file: ReceivedFile) -> Iterator[Record]:
        """Yield the objects of a file that has one on each line; what is none is noted, with its place."""
        yield from self._good(file, records_of_lines)

    def elements(self, file: ReceivedFile) -> Iterator[Record]:
        """Yield the objects of a JSON file that is a list of them; what is none is noted, with its place."""
        yield from self._good(file, records_of_document)

    def _good(self, file: ReceivedFile, read: Callable[[Path], Iterator[Record | BadRecord]]) -> Iterator[Record]:
        problem = problem_of_text(file.path, file.name)
        if problem is not None:
            self.findings.add(problem)
            return
        for record in read(file.path):
            if isinstance(record, BadRecord):
                self.refuse(file, record.message, record.row, value=record.value)
            else:
                yield record

    def table(self, title: str) -> Table | None:
        """Return what the run states of itself, with what it lacks and what is odd; None where it states nothing."""
        if not self.stated:
            return None
        columns = (Column("key", "Key", "text"), Column("task", "Task", "text"), Column("value", "Stated", "text"))
        known = {key for key, _, _ in self.stated}
        lacking = sorted(set(self.lacking) - known)
        odd = (f"{whole(clip_for_message(_sentence(each), MAX_STATED))}." for each in self.warnings[:MAX_ODD])
        notes = (*([f"Not stated: {', '.join(lacking)}."] if lacking else ()), *odd)
        return Table(TABLE, f"What {title} states of the run", columns, tuple(self.stated), notes)


def _sentence(problem: Problem) -> str:
    place = f"{problem.file}: " if problem.file else ""
    return f"{place}{problem.message[:1].upper()}{problem.message[1:]}"


Rows = Callable[[HarnessRun], Iterator[Row]]


@dataclass(frozen=True, kw_only=True)
class Harness:
    """A harness: `owns` says of a file with one of its `suffixes` whether it is its own; `items`, `summary` read rows.

    None where its files hold no such rows. `preset` are the metrics that rank, each with its direction, where the files
    hold many that do not; a drafted manifest has those of them that are there, in this order. `is_mixed`: its files
    also hold results of other benchmarks, so that rows without any metric of a manifest are none of its rows. A file
    belongs to the first that owns it, by `order`.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    owns: Callable[[ReceivedFile], bool]
    items: Rows | None = None
    summary: Rows | None = None
    preset: Mapping[str, str] = field(default_factory=dict)
    is_mixed: bool = False
    order: int = 100


def whole(text: AnyText) -> AnyText:
    """Return a text without halves of surrogate pairs, which JSON can write and no other file can hold.

    >>> whole("a" + chr(0xD800))
    'a\ufffd'
    """
    return text if text is None else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


BROKEN = "the text holds a zero character or half of a surrogate pair"


def sound_rows(run: HarnessRun, rows: Iterator[Row]) -> Iterator[Row]:
    """Yield the rows whose texts a table can hold; others are refused with their place."""
    for row in rows:
        broken = next((name for name, cell in row.cells().items() if _is_broken(name) or _is_broken(cell)), None)
        if broken is None:
            yield row
        else:
            run.refuse(row.file, BROKEN, row.row, whole(broken))


def _is_broken(cell: Any) -> bool:
    return isinstance(cell, str) and ("\0" in cell or (not cell.isascii() and whole(cell) != cell))


def number(value: Any) -> Any:
    """Return a score as it is, where it is a number or a flag; tokens that are no JSON numbers as their text."""
    if isinstance(value, float) and not math.isfinite(value):
        return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
    return value


def text_of(value: Any) -> str | None:
    """Return a text that is one, None for anything else."""
    return value if isinstance(value, str) and value else None


MOST_TEXT = 2_000


def kept_text(text: str) -> str:
    """Return the beginning of a text that is stored and shown: 2,000 characters, all of which a database can hold.

    >>> kept_text("a" + chr(0) + chr(0xD800))
    'a\ufffd\ufffd'
    """
    return (whole(text[:MOST_TEXT]) or "").replace("\0", "\ufffd")


def spoken(value: Any) -> str | None:
    """Return what an item says: a text, or of messages and of lists of texts all that they say; None for nothing."""
    if isinstance(value, Mapping):
        return spoken(value.get("content", value.get("text")))
    if isinstance(value, list):
        return "\n".join(text for each in value if (text := spoken(each))) or None
    return kept_text(value) if isinstance(value, str) and value else None


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a mapping, an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def listed(value: Any) -> list[Any]:
    """Return a list, an empty one for anything else."""
    return value if isinstance(value, list) else []


# Looks at the beginning of a JSON file, for harnesses without fixed file names.

HEAD = 4096


def begins_with(file: ReceivedFile, *patterns: str) -> bool:
    """Say whether every pattern occurs in the first kilobytes of a file."""
    about = file.path.stat()
    head = _head(file.path, about.st_ino, about.st_mtime_ns, about.st_size)
    return all(re.search(pattern, head) for pattern in patterns)


# Cached, because every harness looks at the same file in turn.
@lru_cache(maxsize=1)
def _head(path: Path, *version: int) -> str:
    del version
    with path.open("rb") as content:
        return content.read(HEAD).decode("utf-8", "replace")


# The summaries of a harness as tables of text cells.

MOST_ROWS = 50_000


@dataclass(frozen=True)
class HarnessTable:
    """Rows with the same columns under the names that a manifest has for entrant and task; `files` are theirs."""

    header: tuple[str, ...]
    records: Sequence[dict[str, Any]]
    files: Sequence[ReceivedFile]
    places: Sequence[int]

    def blocks(self, wanted: Sequence[str]) -> Iterator[Block]:
        """Yield the rows with the wanted columns, in one block."""
        columns = {name: pa.array([cell_text(r.get(name)) for r in self.records], pa.string()) for name in wanted}
        yield Block(np.array(self.places, dtype=np.int64), columns)


def harness_tables(rows: Iterator[Row], entrant: str, task: str) -> Iterator[HarnessTable]:
    """Yield the rows as tables: one for those that follow each other with the same columns, whatever their files.

    A hundred thousand files of one row each are a few tables.
    """
    of_one: list[tuple[Row, dict[str, Any]]] = []
    for row in rows:
        record = {entrant: row.entrant, task: row.task, **row.beside, **row.scores}
        if of_one and (len(of_one) == MOST_ROWS or record.keys() != of_one[0][1].keys()):
            yield _table(of_one)
            of_one = []
        of_one.append((row, record))
    if of_one:
        yield _table(of_one)


def _table(of_one: Sequence[tuple[Row, dict[str, Any]]]) -> HarnessTable:
    records = [record for _, record in of_one]
    return HarnessTable(tuple(records[0]), records, [row.file for row, _ in of_one], [row.row for row, _ in of_one])


def cell_text(cell: Any) -> str | None:
    """Return a cell as the text that it would have in a CSV file."""
    if cell is None:
        return None
    return repr(cell) if isinstance(cell, float) else str(cell)
