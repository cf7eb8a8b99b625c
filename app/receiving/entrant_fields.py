"""What strangers write of entrants: a file of many of them, and the front matter of a model card.

Everything of a file is right, or nothing of it is taken: each problem has its row, its field, its value and what is
allowed. An empty cell of a CSV file leaves a field as it is; null in JSON takes a value back.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from app.boards.entrant_fields import read_values
from app.errors import FieldRejected, Problem
from app.files.findings import Findings, problem_of_text
from app.files.tables import BadRecord, Record, open_csv, records_of_document, records_of_lines
from app.files.uploads import ReceivedFile
from app.manifest.model import EntrantField
from app.names import clip_for_message, nearest
from app.values.table import Cell
from app.yaml import read_document

SUFFIXES = (".csv", ".json", ".jsonl")

ENTRANT = "entrant"

MOST_ROWS = 50_000

MOST_HINTS = 5

MOST_BYTES = 8 << 20
"""Of a file or a card: it is read in the process that answers, so that its size bounds time and memory."""


def read_file(
    file: ReceivedFile, fields: Sequence[EntrantField], entrants: Collection[str]
) -> dict[str, dict[str, Cell]]:
    """Return the values of a file by entrant and field. Raises FieldRejected with everything that is wrong with it."""
    problems: list[Problem] = []
    values: dict[str, dict[str, Cell]] = {}
    known, passed_over = set(entrants), {ENTRANT}
    declared = {field.name for field in fields}
    for row, cells in _records(file, problems):
        named = cells.get(ENTRANT)
        name = named if isinstance(named, str) else ""
        # To look for what was meant takes long among many names: of the first few alone.
        if complaint := _complaint_about(named, known, values, hints=len(problems) < MOST_HINTS):
            shown = None if named is None else clip_for_message(str(named))
            problems.append(Problem(complaint, file.name, row, ENTRANT, shown))
        given = {key: value for key, value in cells.items() if key not in passed_over}
        values[name] = read_values(fields, given, problems, Problem("", file=file.name, row=row))
        # An unknown column is one mistake, however many rows it has.
        passed_over |= given.keys() - declared
        if len(values) > MOST_ROWS:
            problems.append(Problem(f"the file has more than {MOST_ROWS:,} entrants", file=file.name))
            break
    _refuse(problems)
    return values


def _records(file: ReceivedFile, problems: list[Problem]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if (problem := problem_of_text(file.path, file.name)) is not None:
        problems.append(problem)
    elif file.suffix == ".csv":
        yield from _records_of_csv(file, problems)
    else:
        read = records_of_lines if file.suffix == ".jsonl" else records_of_document
        for record in read(file.path):
            if isinstance(record, BadRecord):
                problems.append(Problem(record.message, file.name, record.row, value=record.value))
            elif isinstance(record, Record):
                yield record.row, record.cells


def _records_of_csv(file: ReceivedFile, problems: list[Problem]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    findings = Findings()
    table = open_csv(file, findings, [])
    if table is not None and ENTRANT not in table.header:
        near = nearest(ENTRANT, table.header)
        hint = f"; is it {near}?" if near else ""
        problems.append(Problem(f"the column with the names of entrants is missing{hint}", file.name, 1, ENTRANT))
    elif table is not None:
        for block in table.blocks(table.header):
            columns = {name: texts.to_pylist() for name, texts in block.columns.items()}
            for at, row in enumerate(block.rows.tolist()):
                # What has an empty cell is not said to have nothing.
                yield row, {name: cells[at] for name, cells in columns.items() if cells[at]}
    problems += findings.kept


def _complaint_about(named: Any, known: Collection[str], before: Collection[str], *, hints: bool) -> str | None:
    if not isinstance(named, str) or not named:
        return "the name of an entrant is missing"
    if named in before:
        return "this entrant has an earlier row in the file"
    if named in known:
        return None
    near = nearest(named, known) if hints else None
    hint = f"; did you mean {near}?" if near else ""
    return f"no entrant of this benchmark has this name{hint}; one is there once something was submitted for it"


def _refuse(problems: Sequence[Problem]) -> None:
    if problems:
        plural = "problem" if len(problems) == 1 else "problems"
        detail = f"The file has {len(problems):,} {plural}; nothing was stored."
        raise FieldRejected(detail, problems)


# A model card: Markdown that begins with YAML between two lines of three hyphens. Scores in it are nobody's evidence.

CALLED = {
    "license": "licence", "organization": "organisation", "release_date": "released", "parameters": "n_parameters",
    "max_tokens": "context_length", "embed_dim": "embedding_size", "memory_usage_mb": "memory", "reference": "url",
}  # fmt: skip
"""What cards call a standard field."""


def read_card(card: bytes, fields: Sequence[EntrantField]) -> tuple[dict[str, Cell], list[str]]:
    """Return the values that a card's front matter states, and the keys of it that are no fields of the benchmark.

    Raises Rejected with the line of each problem.
    """
    front = _front_matter(card)
    document = read_document(front, max_bytes=MOST_BYTES, what="The front matter of the card")
    if not isinstance(document.value, dict):
        raise FieldRejected("The front matter of the card is no mapping of keys to values.",
                            [Problem("expected lines such as license: mit", row=2)])  # fmt: skip
    declared = {field.name for field in fields}
    given: dict[str, Any] = {}
    keys: dict[str, str] = {}
    for key, value in document.value.items():
        name = key if key in declared else CALLED.get(key, key)
        if name in declared and value is not None:
            given[name], keys[name] = value, key
    if str(given.get("licence", "")).lower() == "other" and document.value.get("license_name") is not None:
        given["licence"], keys["licence"] = document.value["license_name"], "license_name"
    problems: list[Problem] = []
    values = read_values(fields, given, problems, Problem(""))
    if problems:
        placed = [
            Problem(each.message, row=document.line((keys[each.column or ""],)), column=keys[each.column or ""],
                    value=each.value)
            for each in problems
        ]  # fmt: skip
        raise FieldRejected("The front matter of the card cannot be taken; nothing was stored.", placed)
    return values, [key for key in document.value if key not in keys.values()]


def _front_matter(card: bytes) -> bytes:
    """Return the front matter with its lines where they are in the card."""
    lines = card.removeprefix(b"\xef\xbb\xbf").splitlines(keepends=True)
    ends = [at for at, line in enumerate(lines[1:], start=1) if line.rstrip() == b"---"]
    if not lines or lines[0].rstrip() != b"---" or not ends:
        said = "a model card begins with --- on a line of its own, YAML, and --- on a line of its own"
        raise FieldRejected("The card has no front matter.", [Problem(said, row=1)])
    return b"\n" + b"".join(lines[1 : ends[0]])
