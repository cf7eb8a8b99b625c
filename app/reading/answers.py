"""The file in which a reader returns its result: one pickle, and its arrays beside it in their memory layout.

Written in the child and read in the web process, which does not trust it: a reader compromised by a hostile file must
not be able to do more there than create values. Only our own plain classes and numpy arrays are rebuilt.
"""

import io
import mmap
import pickle
import struct
from collections.abc import Sequence
from dataclasses import is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

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
