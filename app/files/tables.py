"""A received file of any accepted kind as a table of text cells. Called by the evidence kinds."""

from collections.abc import Callable, Sequence

from app.errors import Problem, TooLarge
from app.files.blocks import TableFile
from app.files.csv_tables import open_csv
from app.files.findings import Findings
from app.files.json_tables import open_json
from app.files.text import problem_of_text
from app.files.uploads import ReceivedFile


def open_all(
    files: Sequence[ReceivedFile], max_rows: int, open_one: Callable[[ReceivedFile, int], TableFile | None]
) -> list[tuple[ReceivedFile, TableFile]]:
    """Open every file before the first one is read, each with the number of records of those before it.

    The records of JSON and Parquet are counted at opening: too many of them in all are noticed before a value is read.
    Raises TooLarge.
    """
    opened: list[tuple[ReceivedFile, TableFile]] = []
    n_earlier = 0
    for file in files:
        table = open_one(file, n_earlier)
        if table is not None:
            n_earlier += table.n_counted
            opened.append((file, table))
        if n_earlier > max_rows:
            raise TooLarge(f"The submission has more than {max_rows:,} rows.")
    return opened


def open_table(
    file: ReceivedFile, findings: Findings, warnings: list[Problem], max_rows: int, n_earlier: int = 0
) -> TableFile | None:
    """Open a table; None when the file is none, with the reason in `findings`.

    Raises TooLarge beyond `max_rows` records with the `n_earlier` of the files before it.
    """
    problem = problem_of_text(file.path, file.name)
    if problem is not None:
        findings.add(problem)
        return None
    if file.suffix == ".csv":
        return open_csv(file, findings, warnings)
    return open_json(file, findings, max_rows, n_earlier)
