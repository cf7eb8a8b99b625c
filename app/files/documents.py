"""A JSON document with one object, read strictly. Called by the readers of bundles, spike runs and tables in them."""

from typing import Any

from app.errors import Problem
from app.files.findings import Findings
from app.files.json_records import BadRecord, object_of, read_object
from app.files.text import problem_of_text, small_text
from app.files.uploads import ReceivedFile


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
