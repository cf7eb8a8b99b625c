"""What an evidence kind makes of the files of a submission. Made by each kind, taken by `app.kinds.reader`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from app.errors import Problem
from app.files.findings import Findings
from app.files.uploads import ReceivedFile
from app.manifest.manifest import Manifest
from app.names import clip_for_message, complain_about_name, is_name
from app.values.facts import RunFacts
from app.values.predictions import Labels, PredictionBlock
from app.values.scores import ScoreTable
from app.values.table import Table


@dataclass(frozen=True)
class Request:
    """What an evidence kind reads and what it may know.

    `entrant` is the form field, `labels` are the benchmark's private ones by task (empty for every other kind).
    Problems go to `findings`.
    """

    manifest: Manifest
    files: Sequence[ReceivedFile]
    entrant: str | None
    max_rows: int
    findings: Findings
    labels: Mapping[str, Labels]


Read = Callable[["Request"], "Reading | None"]


@dataclass(frozen=True)
class Reading:
    """The scores, the rows that each file gave (by its position), and what the submitter should know.

    `facts` is what the files say about the run, `attachments` are tables that are kept, shown and exported
    with the submission, `predictions` are packed instead of score rows.
    """

    scores: ScoreTable
    n_rows: Mapping[int, int]
    warnings: tuple[Problem, ...]
    facts: RunFacts = field(default_factory=RunFacts)
    attachments: tuple[Table, ...] = ()
    predictions: tuple[PredictionBlock, ...] = ()


def checked_entrant(request: Request) -> str | None:
    """Return the form field entrant; one that is no name is a problem and gives None."""
    entrant = request.entrant
    if entrant is None or is_name(entrant):
        return entrant
    problem = Problem(complain_about_name(entrant), column="entrant", value=clip_for_message(entrant))
    request.findings.add(problem)
    return None
