"""From the files of a submission to its evidence, or to everything that is wrong with them.

Called by `app.reading.jobs` for the server and by `app.cli.preregs`, before anything is stored or checked.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.errors import EvidenceRejected, Problem
from app.files.findings import Findings
from app.files.uploads import FileRecord, Limits, Unpacking, Upload
from app.kinds.known import kind_of
from app.kinds.reading import Reading, Request
from app.manifest.manifest import Manifest
from app.values.facts import RunFacts
from app.values.predictions import Labels, PredictionBlock
from app.values.scores import ScoreTable
from app.values.table import Table

NO_LABELS: Mapping[str, Labels] = {}


@dataclass(frozen=True)
class Evidence:
    """What a submission holds: `scores.file` is a position in `files`, the files and archive members as sent."""

    scores: ScoreTable
    files: tuple[FileRecord, ...]
    warnings: tuple[Problem, ...]
    facts: RunFacts
    attachments: tuple[Table, ...]
    predictions: tuple[PredictionBlock, ...]


def read_evidence(
    manifest: Manifest,
    uploads: Sequence[Upload],
    entrant: str | None,
    limits: Limits,
    labels: Mapping[str, Labels] = NO_LABELS,
) -> Evidence:
    """Read uploaded files as the manifest's kind of evidence.

    Raises EvidenceRejected with every problem of every file, and TooLarge when a limit is passed.
    """
    kind = kind_of(manifest)
    findings = Findings()
    with tempfile.TemporaryDirectory(prefix="plumbline-upload-") as folder:
        unpacking = Unpacking(limits, Path(folder), findings, kind.suffixes)
        unpacking.take_all(uploads)
        reading = kind.read(Request(manifest, unpacking.files, entrant, limits.max_rows, findings, labels))
    findings.raise_if_any([record.name for record in unpacking.records])
    if reading is None:
        raise EvidenceRejected("The submission contains no table.", [Problem("no table was sent", column="files")])
    return Evidence(
        scores=reading.scores,
        files=_with_rows(unpacking.records, reading),
        warnings=(*unpacking.warnings, *reading.warnings),
        facts=reading.facts,
        attachments=reading.attachments,
        predictions=reading.predictions,
    )


def _with_rows(records: Sequence[FileRecord], reading: Reading) -> tuple[FileRecord, ...]:
    return tuple(replace(record, n_rows=reading.n_rows.get(position, 0)) for position, record in enumerate(records))
