"""What a stratum is called: a readable name that is safe in addresses and files, the same in every submission.

Called by `app.kinds.series.rows`. lrdbench writes a stratum as a JSON object of up to 300 characters.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from app.kinds.series.json_cells import NotAnObject, write
from app.names import clip_for_message

LEVEL = "level"
BALANCED_GLOBAL = "balanced_global"
N_DIGITS = 12
# Of the name; longer ones are not read in a table.
MAX_STRATUM = 100
MAX_KEYS = 50
MAX_VALUE = 500
# What one wants to read first; a stratum that has none of these is named by all that it has.
FIRST = ("process_family", "H", "d", "n", "sigma", "contamination_operator", "contamination_severity")
# What follows from the others, or is the same for a whole benchmark.
FOLLOWS = frozenset(
    {"contamination_family", "simulation_method", "stress_role", "target_estimand", "target_value", "source_kind"}
)
_UNSAFE = re.compile(r"[^A-Za-z0-9._+-]+")


@dataclass(frozen=True)
class Stratum:
    """A stratum: its name as a task, and its JSON in canonical form."""

    name: str
    json: str


def stratum_of(values: Mapping[str, Any]) -> Stratum:
    """Return the stratum of an object. Raises NotAnObject when its values are not plain."""
    for key, value in values.items():
        if isinstance(value, dict | list) or (isinstance(value, str) and len(value) > MAX_VALUE):
            message = f"{clip_for_message(key)}: a stratum's values are short text, numbers, true, false or null"
            raise NotAnObject(message)
    if len(values) > MAX_KEYS:
        raise NotAnObject(f"a stratum has at most {MAX_KEYS} keys")
    if values == {LEVEL: BALANCED_GLOBAL}:
        return Stratum(BALANCED_GLOBAL, write(values))
    canonical = write(values)
    return Stratum(_name(values, hashlib.sha256(canonical.encode()).hexdigest()[:N_DIGITS]), canonical)


def _name(values: Mapping[str, Any], digest: str) -> str:
    """Return words as far as there is room, and the digest that tells strata with the same words apart."""
    room = MAX_STRATUM - len(digest) - 3
    words: list[str] = []
    for word in dict.fromkeys(_words(values)):
        if len(" ".join([*words, word])) > room:
            break
        words.append(word)
    return f"{' '.join(words) or 'stratum'} ({digest})"


def _words(values: Mapping[str, Any]) -> Iterator[str]:
    rest = sorted(key for key in values if key not in FIRST and key not in FOLLOWS)
    for key in (*FIRST, *rest):
        if values.get(key) is None:
            continue
        value = values[key]
        shown = value if isinstance(value, str) else f"{key} {write(value)}"
        # A name begins with a letter or a digit and has no two spaces in a row.
        word = _UNSAFE.sub(" ", shown).strip(" ._+-")
        if word:
            yield word
