"""Arrays with their description as one string of bytes: a JSON header, then each array as it lies in memory.

Called by `app.store.row_blocks` and `app.store.measured`. Reading costs no copy, and nothing here is code.
"""

import json
import math
import struct
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[Any]]

_LENGTH = struct.Struct("<q")
SMALL_BYTES, MOST_REMEMBERED = 1 << 10, 256
"""Parsed headers are cached: those up to this many bytes, and up to this many of them."""


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
    header = content[_LENGTH.size : at]
    document, described = (_small_header if length <= SMALL_BYTES else _header)(header)
    arrays: dict[str, NDArray[Any]] = {}
    for name, dtype, shape, is_one in described:
        arrays[name] = np.ndarray(shape, dtype, content, at, (0,) * len(shape) if is_one else None)
        at += dtype.itemsize * (1 if is_one else math.prod(shape))
    return dict(document), arrays


def _header(header: bytes) -> tuple[dict[str, Any], list[tuple[str, np.dtype[Any], tuple[int, ...], bool]]]:
    document, described = json.loads(header)
    return document, [(name, np.dtype(dtype), tuple(shape), is_one) for name, dtype, shape, is_one in described]


_small_header = lru_cache(maxsize=MOST_REMEMBERED)(_header)
"""Cached, because thousands of blocks have the same header, which took longer to parse than finding the arrays."""


def _narrow(array: NDArray[Any]) -> NDArray[Any]:
    if array.size > 1 and array.tobytes() == array.reshape(-1)[:1].tobytes() * array.size:
        array = array.reshape(-1)[:1]
    if array.dtype.kind == "i" and array.size:
        kinds = ("<i1", "<i2", "<i4", "<i8")
        low, high = int(array.min()), int(array.max())
        return array.astype(next(kind for kind in kinds if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max))
    return array.astype(array.dtype.newbyteorder("<"))
