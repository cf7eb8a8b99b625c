"""The many-digit values of an episode beside its metrics, such as a force. Called by `app.kinds.episodes.rows`.

Two episodes that really took place never agree in fourteen digits of a force; two copies of one always do.
"""

import hashlib
import struct
from collections.abc import Iterator, Mapping
from typing import Any

from app.values.fingerprints import FEW_DECIMALS

MAX_DEPTH = 4
MAX_NUMBERS = 64
_EVERY = {n: struct.Struct(f"<{n}d") for n in range(1, MAX_NUMBERS + 1)}


def traits_of(cells: Mapping[str, Any], *, is_text: bool) -> int:
    """Return a number for the numbers with many digits in an episode, in their order; 0 where there are none.

    Equal numbers mean equal digits. `is_text` means that numbers are given as text, as in CSV.
    """
    numbers = list(_numbers_with_many_digits(cells, is_text, MAX_DEPTH))[:MAX_NUMBERS]
    if not numbers:
        return 0
    digest = hashlib.blake2b(_EVERY[len(numbers)].pack(*numbers), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True) or 1


def _numbers_with_many_digits(value: Any, is_text: bool, depth: int) -> Iterator[float]:
    if isinstance(value, float):
        if value != round(value, FEW_DECIMALS):
            yield value
    elif isinstance(value, Mapping):
        for inner in value.values() if depth else ():
            yield from _numbers_with_many_digits(inner, is_text, depth - 1)
    elif isinstance(value, list):
        for inner in value if depth else ():
            yield from _numbers_with_many_digits(inner, is_text, depth - 1)
    elif is_text and isinstance(value, str) and "." in value:
        yield from _numbers_with_many_digits(_number(value), is_text, depth)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
