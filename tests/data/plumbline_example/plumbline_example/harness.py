"""Tallybench writes one JSON document: `{"tallybench": 1, "model": "Cal", "errors": {"easy": 0.25}}`."""

from collections.abc import Iterator

from app.files.uploads import ReceivedFile
from app.harnesses.contract import Harness, HarnessRun, Row, begins_with, mapping, number, text_of


def owns(file: ReceivedFile) -> bool:
    """Say whether a file begins as Tallybench's do."""
    return begins_with(file, r'"tallybench"\s*:')


def summary(run: HarnessRun) -> Iterator[Row]:
    """Yield a row for each task."""
    for file in run.files:
        document = run.document(file) or {}
        run.state("tallybench", document.get("tallybench"))
        for at, (task, error) in enumerate(mapping(document.get("errors")).items(), start=1):
            yield Row(file, at, text_of(document.get("model")), task, {"error": number(error)})


TALLYBENCH = Harness(name="tallybench", title="Tallybench", suffixes=(".json",), owns=owns, summary=summary)
