"""The jobs of reader processes, and how their answers come back as plain values."""

import errno
import io
import mmap
import pickle
import struct
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from app import errors
from app.errors import Cause, PlumblineError, Problem, Rejected, TooLarge
from app.files.uploads import Limits, Upload
from app.kinds.items import read_items
from app.kinds.labels import LabelReading
from app.kinds.reader import Reader
from app.manifest.model import Manifest
from app.values.scores import Labels

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
    read: Callable[[Manifest, Sequence[Upload], Limits], LabelReading]
    uploads: Sequence[Upload]
    limits: Limits

    def run(self) -> Any:
        """Read the file."""
        return self.read(self.manifest, self.uploads, self.limits)


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


# The file in which a reader returns its result: one pickle, and its arrays beside it in their memory layout.
#
# Written in the child and read in the web process, which does not trust it: a reader compromised by a hostile file
# must not be able to do more there than create values. Only our own plain classes and numpy arrays are rebuilt.

# The names of the two files in the folder of a request.
JOB, ANSWER = "job", "answer"

_COUNT = struct.Struct("<Q")

_ALIGN = 64

_PLAIN = {
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy._core.numeric", "_frombuffer"),
    ("builtins", "set"),
    ("builtins", "frozenset"),
    ("datetime", "datetime"),
    ("datetime", "date"),
    ("datetime", "timezone"),
    ("datetime", "timedelta"),
}


class NotAnAnswer(Exception):
    """The file cannot come from an uncompromised reader."""


def write_answer(path: Path, answer: Any) -> None:
    """Write a value and its arrays."""
    buffers: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(answer, protocol=5, buffer_callback=buffers.append)
    raw = [memoryview(pickled), *(buffer.raw() for buffer in buffers)]
    with path.open("wb") as file:
        file.write(_COUNT.pack(len(raw)) + b"".join(_COUNT.pack(part.nbytes) for part in raw))
        for part in raw:
            file.write(bytes(-file.tell() % _ALIGN))
            file.write(part)


def read_answer(path: Path) -> Any:
    """Return the value; its arrays stay in the mapped file until they are written to. Raises NotAnAnswer."""
    with path.open("rb") as file:
        content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    try:
        pickled, *buffers = _parts(content)
        return _Careful(io.BytesIO(pickled), buffers=buffers).load()
    except (struct.error, pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError) as error:
        raise NotAnAnswer(str(error)) from error


def _parts(content: memoryview) -> Sequence[memoryview]:
    (n_parts,) = _COUNT.unpack_from(content, 0)
    if not 0 < n_parts * _COUNT.size < len(content):
        raise NotAnAnswer("too many parts")
    sizes = struct.unpack_from(f"<{n_parts}Q", content, _COUNT.size)
    at = _COUNT.size * (n_parts + 1)
    parts = []
    for size in sizes:
        at += -at % _ALIGN
        if at + size > len(content):
            raise NotAnAnswer("a part is missing")
        parts.append(content[at : at + size])
        at += size
    return parts


class _Careful(pickle.Unpickler):
    """Rebuilds data only: a file cannot name a function to be called, neither ours nor Python's."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _PLAIN or (module == "numpy.dtypes" and name.endswith("DType")):
            return super().find_class(module, name)
        if module.startswith("app.") and "." not in name:
            cls = super().find_class(module, name)
            if isinstance(cls, type) and (is_dataclass(cls) or issubclass(cls, Enum)):
                return cls
        raise pickle.UnpicklingError(f"{module}.{name} is nothing that a reader returns")
