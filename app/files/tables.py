"""A received file of any accepted kind as a table of text cells. Called by the evidence kinds."""

from app.errors import Problem
from app.files.blocks import TableFile
from app.files.csv_tables import open_csv
from app.files.findings import Findings
from app.files.json_tables import open_json
from app.files.text import problem_of_text
from app.files.uploads import ReceivedFile


def open_table(file: ReceivedFile, findings: Findings, warnings: list[Problem], max_rows: int) -> TableFile | None:
    """Open a table; None when the file is none, with the reason in `findings`. Raises TooLarge."""
    problem = problem_of_text(file.path, file.name)
    if problem is not None:
        findings.add(problem)
        return None
    if file.suffix == ".csv":
        return open_csv(file, findings, warnings)
    return open_json(file, findings, max_rows)
