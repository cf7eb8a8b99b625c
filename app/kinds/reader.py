"""From the files of a submission to its evidence, or to everything that is wrong with them."""

import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.admission.forensics import decided_by_one, exactly_best, look_within
from app.errors import EvidenceRejected, Problem
from app.files.findings import Findings
from app.files.uploads import FileRecord, Limits, SentFile, Unpacking
from app.kinds.contract import Read, Reading, ReadRequest
from app.kinds.registry import kind_of
from app.manifest.build import is_without
from app.manifest.model import Manifest
from app.values.facts import Forensics, RunFacts
from app.values.scores import Labels, PredictionBlock, ScoreTable
from app.values.table import Table

NO_LABELS: Mapping[str, Labels] = {}


@dataclass(frozen=True)
class Evidence:
    """What a submission holds: `scores.file` is a position in `files`, the files and archive members as sent.

    `forensics` is what its rows show by themselves, found here because only this process may take long. `version` is
    the place of the manifest that it was read under among those that it could be.
    """

    scores: ScoreTable
    files: tuple[FileRecord, ...]
    warnings: tuple[Problem, ...]
    facts: RunFacts
    attachments: tuple[Table, ...]
    predictions: tuple[PredictionBlock, ...]
    forensics: Forensics = field(default_factory=Forensics)
    version: int = 0


@dataclass(frozen=True)
class Reader:
    """Uploaded files, and how their kind of evidence reads them.

    It goes to one of the processes of `app.reading`, where `read` is loaded by its name. So a kind that was added from
    outside is read there too, and nothing but a kind that this process knows.
    """

    read: Read
    suffixes: tuple[str, ...]
    uploads: Sequence[SentFile]
    entrant: str | None
    limits: Limits
    labels: Mapping[str, Labels]

    def read_as_asked(self, versions: Sequence[Manifest]) -> Evidence:
        """Read files under the newest version of a manifest whose metrics they have; raises as `read_evidence` does.

        An older one is tried only where columns of metrics that it does not ask for are all that is missing.
        """
        try:
            return self.read_evidence(versions[0])
        except EvidenceRejected as error:
            for place, then in enumerate(versions[1:], 1):
                if is_without(error.problems, error.n_problems, versions[0], then):
                    return replace(self.read_evidence(then), version=place)
            raise

    def read_evidence(self, manifest: Manifest) -> Evidence:
        """Read the files as evidence of the manifest's kind.

        Raises EvidenceRejected with every problem of every file, and TooLarge when a limit is passed.
        """
        findings = Findings()
        with tempfile.TemporaryDirectory(prefix="plumbline-upload-") as folder:
            unpacking = Unpacking(self.limits, Path(folder), findings, self.suffixes)
            unpacking.take_all(self.uploads)
            reading = self.read(
                ReadRequest(manifest, unpacking.files, self.entrant, self.limits.max_rows, findings, self.labels)
            )
        findings.raise_if_any([record.name for record in unpacking.records])
        if reading is None:
            raise EvidenceRejected("The submission contains no table.", [Problem("no table was sent", column="files")])
        seen = look_within(reading.scores, reading.predictions)
        values = (*exactly_best(manifest, reading.scores), *decided_by_one(manifest, reading.scores))
        return Evidence(
            scores=replace(reading.scores, traits=None),
            files=_with_rows(unpacking.records, reading),
            warnings=(*unpacking.warnings, *reading.warnings),
            facts=reading.facts,
            attachments=reading.attachments,
            predictions=reading.predictions,
            forensics=replace(seen, findings=(*seen.findings, *values)),
        )


def reader_of(
    manifest: Manifest,
    uploads: Sequence[SentFile],
    entrant: str | None,
    limits: Limits,
    labels: Mapping[str, Labels] = NO_LABELS,
) -> Reader:
    """Return what reads files as evidence of a benchmark. Raises TypeError for a kind whose `read` cannot be loaded."""
    kind = kind_of(manifest)
    loaded: object = sys.modules.get(kind.read.__module__)
    for step in kind.read.__qualname__.split("."):
        loaded = getattr(loaded, step, None)
    if loaded is not kind.read:
        raise TypeError(f"the kind {kind.name} reads with {kind.read!r}, which no other process finds by its name")
    return Reader(kind.read, tuple(kind.suffixes), uploads, entrant, limits, labels)


def read_evidence(
    manifest: Manifest,
    uploads: Sequence[SentFile],
    entrant: str | None,
    limits: Limits,
    labels: Mapping[str, Labels] = NO_LABELS,
) -> Evidence:
    """Read uploaded files in this process, as `Reader.read_evidence` does."""
    return reader_of(manifest, uploads, entrant, limits, labels).read_evidence(manifest)


def _with_rows(records: Sequence[FileRecord], reading: Reading) -> tuple[FileRecord, ...]:
    return tuple(replace(record, n_rows=reading.n_rows.get(position, 0)) for position, record in enumerate(records))
