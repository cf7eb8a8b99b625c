"""The jobs of reader processes: a submission's files, a benchmark's labels or its items.

Run by `app.reading.server` in a child, ordered by `app.reading.readers` in the web process.
"""

import errno
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app import errors
from app.errors import Cause, PlumblineError, Problem, Rejected, TooLarge
from app.files.uploads import Limits, Upload
from app.kinds.items import read_items
from app.kinds.predictions.declared import Predictions
from app.kinds.predictions.labels import read_labels
from app.kinds.reader import Reader
from app.manifest.manifest import Manifest
from app.values.predictions import Labels

REFUSALS: Mapping[str, type[PlumblineError]] = {
    kind.__name__: kind
    for kind in (errors.EvidenceRejected, errors.FieldRejected, errors.ManifestRejected, TooLarge, errors.Conflict)
}


@dataclass(frozen=True)
class SubmissionJob:
    """Files to read as a submission; what it returns is an Evidence."""

    reader: Reader
    manifest: Manifest
    uploads: Sequence[Upload]
    entrant: str | None
    limits: Limits
    labels: Mapping[str, Labels]
    earlier: Sequence[Manifest] = ()

    def run(self) -> Any:
        """Read the files, under an earlier version of the manifest where they were written for one."""
        versions = (self.manifest, *self.earlier)
        return self.reader.read_as_asked(versions, self.uploads, self.entrant, self.limits, self.labels)


@dataclass(frozen=True)
class LabelsJob:
    """A file to read as the labels of a benchmark; what it returns is a LabelReading."""

    manifest: Manifest
    part: Predictions
    uploads: Sequence[Upload]
    limits: Limits

    def run(self) -> Any:
        """Read the file."""
        return read_labels(self.manifest, self.part, self.uploads, self.limits)


@dataclass(frozen=True)
class ItemsJob:
    """A file to read as the items of a benchmark's grid; what it returns is an ItemsReading."""

    manifest: Manifest
    uploads: Sequence[Upload]
    limits: Limits

    def run(self) -> Any:
        """Read the file."""
        return read_items(self.manifest, self.uploads, self.limits)


Job = SubmissionJob | LabelsJob | ItemsJob


@dataclass(frozen=True)
class Refused:
    """The sender must correct the upload."""

    kind: str
    detail: str
    problems: tuple[Problem, ...]
    n_problems: int
    causes: tuple[Cause, ...] = ()

    def as_error(self) -> PlumblineError:
        """Return the error that the reader raised."""
        kind = REFUSALS[self.kind]
        if issubclass(kind, Rejected):
            return kind(self.detail, self.problems, n_problems=self.n_problems, causes=self.causes)
        return kind(self.detail)


@dataclass(frozen=True)
class Failed:
    """The reader failed: the system refused something (`number` is its errno), or there is a fault in our code."""

    number: int
    text: str


def outcome_of(job: Job) -> Any:
    """Return what was read, Refused or Failed."""
    try:
        return job.run()
    except PlumblineError as error:
        return _refused(error)
    except MemoryError:
        return Failed(errno.ENOMEM, "")
    except OSError as error:
        return Failed(error.errno or errno.EIO, traceback.format_exc())
    except Exception:
        return Failed(0, traceback.format_exc())


def _refused(error: PlumblineError) -> Refused | Failed:
    kind = type(error).__name__
    if kind not in REFUSALS:
        return Failed(0, traceback.format_exc())
    if isinstance(error, Rejected):
        return Refused(kind, error.detail, error.problems, error.n_problems, error.causes)
    return Refused(kind, str(error), (), 0)
