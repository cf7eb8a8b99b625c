"""The small JSON objects inside the cells of a run's tables, read strictly and each distinct text once.

Called by the readers of a run folder. Numbers are finite, keys are there once, and size and depth are bounded.
"""

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa

from app.files.blocks import Texts
from app.files.json_records import first_repeated
from app.files.vocabulary import local_codes
from app.stats.arrays import IntArray
from app.values.magnitude import BEYOND, LARGEST

MAX_TEXT = 20_000
MAX_DEPTH = 50
MOST_DIGITS = 30
EMPTY = "{}"

_TEXT = re.compile(r'"(?:[^"\\]|\\.)*+"')
Parsed = TypeVar("Parsed")


class NotAnObject(ValueError):
    """A cell that holds no acceptable JSON object; the message says why."""


class ObjectTexts(Generic[Parsed]):
    """The distinct texts of one column over all files: what `make` makes of the object in each.

    Where there is no such thing `parsed` has None and `wrong` says why. Raised by `make`: NotAnObject.
    """

    def __init__(self, make: Callable[[Mapping[str, Any]], Parsed]) -> None:
        self._make = make
        # By digest: a run may have as many texts as rows.
        self._numbers: dict[bytes, int] = {}
        self.parsed: list[Parsed | None] = []
        self.wrong: dict[int, str] = {}

    def encode(self, texts: Texts) -> IntArray:
        """Return each cell's position in `parsed`; an empty cell counts as an empty object."""
        words, codes = local_codes(texts.fill_null(EMPTY))
        return np.array([self._number(word) for word in words], dtype=np.int64)[codes]

    def _number(self, word: str) -> int:
        digest = hashlib.sha256(word.encode()).digest()
        number = self._numbers.get(digest)
        if number is None:
            number = self._numbers[digest] = len(self.parsed)
            self.parsed.append(self._parsed(number, word))
        return number

    def _parsed(self, number: int, word: str) -> Parsed | None:
        try:
            return self._make(object_of(word))
        except NotAnObject as error:
            self.wrong[number] = str(error)
            return None


def object_of(text: str) -> dict[str, Any]:
    """Return the object that a cell holds. Raises NotAnObject."""
    value = value_of(text)
    if not isinstance(value, dict):
        raise NotAnObject("expected a JSON object, as lrdbench writes it")
    return value


def value_of(text: str) -> Any:
    """Return the JSON value that a cell holds, which is finite throughout. Raises NotAnObject."""
    if len(text) > MAX_TEXT:
        raise NotAnObject(f"the JSON has more than {MAX_TEXT:,} characters")
    if text.count("[") + text.count("{") > MAX_DEPTH and _depth(text) > MAX_DEPTH:
        raise NotAnObject(f"the JSON is nested more than {MAX_DEPTH} deep")
    try:
        value = _DECODER.decode(text)
    except NotAnObject:
        raise
    except ValueError as error:
        raise NotAnObject(f"not JSON: {error}") from error
    if "\\u" in text and not is_storable(value):
        raise NotAnObject("a text in the JSON holds a zero character or half of a surrogate pair")
    return value


def _depth(text: str) -> int:
    """Return how deep brackets are nested at most."""
    depth = deepest = 0
    for character in _TEXT.sub("", text):
        depth += (character in "[{") - (character in "]}")
        deepest = max(deepest, depth)
    return deepest


def is_storable(value: Any) -> bool:
    """Say whether a database can hold every text in a value."""
    written = json.dumps(value, ensure_ascii=False)
    return "\\u0000" not in written and written.encode(errors="ignore").decode() == written


def write(value: Any) -> str:
    """Return a value as lrdbench writes it: keys in order, ASCII, a space behind commas and colons."""
    return json.dumps(value, sort_keys=True)


def as_texts(words: list[str | None]) -> Texts:
    """Return a column of text cells."""
    return pa.array(words, pa.string())


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) < len(pairs):
        raise NotAnObject(f"the key {first_repeated(name for name, _ in pairs)} is there twice")
    return built


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise NotAnObject(f"{text} is too large for a 64-bit float")
    if abs(number) > LARGEST:
        raise NotAnObject(f"{text} is {BEYOND}")
    return number


def _integer(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise NotAnObject(f"a whole number has at most {MOST_DIGITS} digits")
    return int(text)


def _refuse_constant(text: str) -> float:
    raise NotAnObject(f"{text} is not a number that JSON has")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=_finite, parse_int=_integer, parse_constant=_refuse_constant
)
