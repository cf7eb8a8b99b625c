"""The records of a JSON or JSON Lines file, one after the other, with what is wrong with the broken ones. Strict where
JSON is vague: a key twice is an error. Python's own NaN and Infinity are read as the text they are, so that the
column can say whether it allows them.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.errors import Problem
from app.files.findings import Findings, problem_of_text, small_text
from app.files.uploads import ReceivedFile
from app.names import clip_for_message

MAX_LINE_BYTES = 1 << 20

_MOST_DIGITS = 30

_SPACE = re.compile(r"[ \t\r\n]*")

WANTED = (
    'a table is a list of objects, one object of cells, or {"columns": […], "rows": [[…], …]}; '
    'pandas writes the first with to_json(path, orient="records")'
)


@dataclass(frozen=True)
class Record:
    """One record: its number and its cells by key."""

    row: int
    cells: Mapping[str, Any]


@dataclass(frozen=True)
class BadRecord:
    """A place where no record could be read, and why."""

    message: str
    row: int | None = None
    value: str | None = None


class _Repeated(ValueError):
    """An object has a key twice; `str()` is the key."""


def records_of_lines(path: Path) -> Iterator[Record | BadRecord]:
    """Yield a record for each line that is not blank."""
    with path.open("rb") as content:
        row = 0
        while line := content.readline(MAX_LINE_BYTES + 1):
            row += 1
            if len(line) > MAX_LINE_BYTES:
                yield BadRecord(f"the line is longer than {MAX_LINE_BYTES >> 20} MiB; what follows was not read", row)
                return
            text = line.decode("utf-8-sig" if row == 1 else "utf-8").strip()
            if text:
                yield _record_of_line(text, row)


def _record_of_line(text: str, row: int) -> Record | BadRecord:
    try:
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError) as error:
        return BadRecord(_explain(error), row, clip_for_message(text))
    if end < len(text):
        return BadRecord("the line contains more than one value", row, clip_for_message(text[end:].strip()))
    return _record(value, row)


def records_of_document(path: Path) -> Iterator[Record | BadRecord]:
    """Yield the records of one JSON document: element by element for a list, so that only one is held."""
    text = path.read_text("utf-8-sig")
    at = _skip(text, 0)
    if text[at : at + 1] == "[":
        yield from _elements(text, at + 1)
        return
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError) as error:
        yield BadRecord(_explain(error), _line(text, error))
        return
    if _skip(text, end) < len(text):
        yield BadRecord("text follows the end of the document; is it JSON Lines? Give it the ending .jsonl", 1)
    else:
        yield from _rows_of_frame(value)


def read_object(path: Path) -> dict[str, Any] | BadRecord:
    """Return the one object of a JSON document."""
    return object_of(path.read_text("utf-8-sig"))


def object_of(text: str) -> dict[str, Any] | BadRecord:
    """Return the one object of the text of a JSON document."""
    try:
        value, end = _DECODER.raw_decode(text, _skip(text, 0))
    except (ValueError, RecursionError) as error:
        return BadRecord(_explain(error), _line(text, error))
    if not isinstance(value, dict) or _skip(text, end) < len(text):
        return BadRecord("expected one JSON object and nothing after it")
    return value


def is_list(path: Path) -> bool:
    """Say whether a JSON document begins as a list."""
    with path.open("rb") as content:
        return content.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")


def _elements(text: str, at: int) -> Iterator[Record | BadRecord]:
    row, at = 0, _skip(text, at)
    if text[at : at + 1] == "]":
        at += 1
    else:
        while True:
            row += 1
            try:
                value, at = _DECODER.raw_decode(text, at)
            except (ValueError, RecursionError) as error:
                yield BadRecord(f"record {row}, {_explain(error)}", row)
                return
            yield _record(value, row)
            at = _skip(text, at)
            separator = text[at : at + 1]
            at = _skip(text, at + 1)
            if separator == "]":
                break
            if separator != ",":
                yield BadRecord(f"the list is not continued or closed after record {row}", row)
                return
    if _skip(text, at) < len(text):
        yield BadRecord("text follows the end of the list")


def _rows_of_frame(value: Any) -> Iterator[Record | BadRecord]:
    if _is_record(value):
        yield Record(1, value)
        return
    columns = value.get("columns") if isinstance(value, dict) else None
    rows = value.get("rows", value.get("data")) if isinstance(value, dict) else None
    if not isinstance(columns, list) or not isinstance(rows, list) or not all(isinstance(c, str) for c in columns):
        yield BadRecord(f"the JSON is not a table: {WANTED}")
        return
    if (repeated := first_repeated(columns)) is not None:
        yield BadRecord(f"two columns are named {clip_for_message(repeated)}")
        return
    for row, cells in enumerate(rows, start=1):
        yield _record_of_row(columns, cells, row)


def _is_record(value: Any) -> bool:
    """Say whether a document is one record: an object of cells, not of the columns of a frame."""
    return isinstance(value, dict) and any(not isinstance(cell, dict | list) for cell in value.values())


def _record_of_row(columns: Sequence[str], cells: Any, row: int) -> Record | BadRecord:
    if not isinstance(cells, list):
        return BadRecord("the row is not a list", row, clip_for_message(str(cells)))
    if len(cells) != len(columns):
        return BadRecord(f"the row has {len(cells)} cells; there are {len(columns)} columns", row)
    return Record(row, dict(zip(columns, cells, strict=True)))


def _record(value: Any, row: int) -> Record | BadRecord:
    if isinstance(value, dict):
        return Record(row, value)
    return BadRecord(f"not an object: {WANTED}", row, clip_for_message(str(value)))


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) < len(pairs):
        raise _Repeated(first_repeated(name for name, _ in pairs))
    return built


def first_repeated(names: Iterable[str]) -> str | None:
    """Return the first name that has been there before."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def _integer(digits: str) -> int | str:
    # The time of int() grows with the square of the digits; as text the column will say what it allows.
    return int(digits) if len(digits) <= _MOST_DIGITS else digits


_DECODER = json.JSONDecoder(object_pairs_hook=_object_of, parse_int=_integer, parse_constant=str)


def _explain(error: ValueError | RecursionError) -> str:
    if isinstance(error, RecursionError):
        return "the JSON is nested too deeply"
    if isinstance(error, _Repeated):
        return f"an object has the key {clip_for_message(str(error))} twice"
    return f"not JSON: {error}"


def _line(text: str, error: ValueError | RecursionError) -> int | None:
    return text.count("\n", 0, error.pos) + 1 if isinstance(error, json.JSONDecodeError) else None


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


# A JSON document with one object, read strictly.


def read_document(file: ReceivedFile, findings: Findings) -> dict[str, Any] | None:
    """Return the object of a JSON file; None when there is none, with the reason in `findings`."""
    text = small_text(file.path)
    problem = problem_of_text(file.path, file.name) if text is None else None
    if problem is not None:
        findings.add(problem)
        return None
    document = read_object(file.path) if text is None else object_of(text)
    if isinstance(document, BadRecord):
        findings.add(Problem(document.message, file.name, document.row, value=document.value))
        return None
    return document
