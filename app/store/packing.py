"""Arrays with their description as one string of bytes: a JSON header, then each array as it lies in memory.

Called by `app.store.row_blocks` and `app.store.measured`. Reading costs no copy, and nothing here is code.
"""

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[Any]]

_LENGTH = struct.Struct("<q")


def pack(document: Mapping[str, Any], arrays: Arrays) -> bytes:
    """Return a JSON-ready document and arrays as bytes; equal values give equal bytes.

    Integers take the fewest bytes that hold all of an array, and an array of one value is that value.
    """
    narrowed = {name: _narrow(np.asarray(array)) for name, array in arrays.items()}
    described = [
        [name, array.dtype.str, list(np.shape(arrays[name])), array.size != np.size(arrays[name])]
        for name, array in narrowed.items()
    ]
    header = json.dumps([document, described], separators=(",", ":"), allow_nan=False).encode()
    return b"".join([_LENGTH.pack(len(header)), header, *(array.tobytes() for array in narrowed.values())])


def unpack(content: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the document and the arrays that `pack` packed; the arrays cannot be written to."""
    (length,) = _LENGTH.unpack_from(content)
    at = _LENGTH.size + length
    document, described = json.loads(content[_LENGTH.size : at])
    arrays: dict[str, NDArray[Any]] = {}
    for name, dtype, shape, is_one in described:
        count = 1 if is_one else int(np.prod(shape, dtype=np.int64))
        array = np.frombuffer(content, dtype, count, at) if count else np.empty(0, dtype)
        arrays[name] = np.broadcast_to(array, shape) if is_one else array.reshape(shape)
        at += array.nbytes
    return document, arrays


def _narrow(array: NDArray[Any]) -> NDArray[Any]:
    if array.size > 1 and array.tobytes() == array.reshape(-1)[:1].tobytes() * array.size:
        array = array.reshape(-1)[:1]
    if array.dtype.kind == "i" and array.size:
        kinds = ("<i1", "<i2", "<i4", "<i8")
        low, high = int(array.min()), int(array.max())
        return array.astype(next(kind for kind in kinds if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max))
    return array.astype(array.dtype.newbyteorder("<"))
