"""The safety tables T1 to T3 that come with a run: kept, shown and exported as they were sent.

Called by `app.kinds.episodes.read`. A file safety_t1.csv (t2, t3; also .json and .jsonl) is one of them.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

import numpy as np

from app.errors import Problem
from app.files.findings import Findings
from app.files.number_cells import Bounds, describe_wrong, read_numbers, wrong_cells
from app.files.tables import open_table
from app.files.uploads import ReceivedFile
from app.names import clip_for_message
from app.values.table import Cell, Column, Table, rows_from_columns

NAME = re.compile(r"safety_t([123])\.(?:csv|json|jsonl)(?:\.gz)?", re.IGNORECASE)
MAX_ROWS = 10_000
MAX_TEXT = 500
NON_NEGATIVE, ANY = Bounds(0.0, None), Bounds(None, None)


def _counts(*names: str) -> tuple[Column, ...]:
    return tuple(
        Column(name, name.removeprefix("n_").replace("_", " ").capitalize(), "number", digits=0) for name in names
    )


TABLES: Mapping[str, tuple[str, tuple[Column, ...]]] = {
    "1": (
        "Safety T1: assumptions",
        (
            Column("assumption", "Assumption", "text"),
            Column("description", "Description", "text"),
            *_counts("violations", "n_steps"),
        ),
    ),
    "2": (
        "Safety T2: predictor by conformal mode",
        (
            Column("predictor", "Predictor", "text"),
            Column("conformal_mode", "Conformal mode", "text"),
            Column("vendor_compliance", "Vendor compliance", "text"),
            *_counts("n_episodes", "violations", "fallback_fires"),
            Column("max_slack", "Largest slack"),
            Column("slack_l2", "Slack, L2 norm"),
        ),
    ),
    "3": (
        "Safety T3: conformal λ",
        (
            Column("condition", "Condition", "text"),
            Column("lambda_mean", "Mean λ"),
            Column("lambda_var", "Variance of λ"),
            Column("oracle_lambda_mean", "Mean λ of the oracle"),
        ),
    ),
}


def is_safety_table(file: ReceivedFile) -> bool:
    """Say whether a file's name is that of a safety table."""
    return NAME.fullmatch(PurePosixPath(file.name).name) is not None


def read_safety_table(file: ReceivedFile, findings: Findings, warnings: list[Problem]) -> Table | None:
    """Return the table with exactly its columns; None when there is a problem, each in `findings`."""
    number = NAME.fullmatch(PurePosixPath(file.name).name)
    opened = open_table(file, findings, warnings, MAX_ROWS)
    if opened is None or number is None:
        return None
    title, columns = TABLES[number[1]]
    missing = [column.name for column in columns if column.name not in opened.header]
    findings.extend(Problem(f"the column {name} is missing", file.name, column=name) for name in missing)
    if missing:
        return None
    before = findings.n_problems
    cells: dict[str, list[Cell]] = {column.name: [] for column in columns}
    for block in opened.blocks([column.name for column in columns]):
        for column in columns:
            cells[column.name] += _cells(column, block.columns[column.name], block.rows.tolist(), file.name, findings)
    if findings.n_problems > before:
        return None
    return Table(f"safety/t{number[1]}", title, columns, rows_from_columns(list(cells.values())))


def _cells(column: Column, texts: object, rows: Sequence[int], file: str, findings: Findings) -> list[Cell]:
    if column.kind == "text":
        return _words(texts.to_pylist(), column.name, rows, file, findings)  # type: ignore[attr-defined]
    numbers = read_numbers(texts)
    bounds = NON_NEGATIVE if column.digits == 0 or column.name.endswith(("_var", "_l2")) else ANY
    for at in np.flatnonzero(wrong_cells(numbers, bounds)).tolist():
        text = str(texts[at])  # type: ignore[index]
        message = describe_wrong(float(numbers.values[at]), text, bounds)
        findings.add(Problem(message, file, rows[at], column.name, clip_for_message(text)))
    if column.digits == 0:
        for at in np.flatnonzero(np.mod(numbers.values, 1.0) > 0.0).tolist():
            text = str(texts[at])  # type: ignore[index]
            findings.add(Problem("a count is a whole number", file, rows[at], column.name, clip_for_message(text)))
    return [None if value != value else value for value in numbers.values.tolist()]


def _words(words: Sequence[str | None], column: str, rows: Sequence[int], file: str, findings: Findings) -> list[Cell]:
    for row, word in zip(rows, words, strict=True):
        if word is not None and (len(word) > MAX_TEXT or not word.isprintable() or word[0] in "=+-@"):
            message = f"text is printable, at most {MAX_TEXT} characters, and does not begin like a formula"
            findings.add(Problem(message, file, row, column, clip_for_message(word)))
    return list(words)
