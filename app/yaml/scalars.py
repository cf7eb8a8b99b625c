"""What a plain YAML scalar means: the core schema of YAML 1.2, chapter 10.3, and nothing beyond it.

Called by `app.yaml.strict`. So `no` and `on` are text, `2026-07-05` is text and `1:30` is not a number, unlike in YAML
1.1.
"""

import math
import re

MAX_INTEGER = 2**63
Scalar = str | int | float | bool | None

_CONSTANTS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_DECIMAL = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_MOST_DIGITS = 22  # of 2**63, in any of the three bases


class ScalarNotAllowed(ValueError):
    """A number of the core schema that is not accepted; the message says which are."""


def resolve_plain(text: str) -> Scalar:
    """Return the value of an unquoted scalar. Raises ScalarNotAllowed for numbers that are not finite or too large."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    for pattern, base in ((_DECIMAL, 10), (_OCTAL, 8), (_HEXADECIMAL, 16)):
        if pattern.fullmatch(text):
            return _integer(text, base)
    if _NOT_FINITE.fullmatch(text):
        raise ScalarNotAllowed("numbers must be finite")
    return _float(text) if _FLOAT.fullmatch(text) else text


def _integer(text: str, base: int) -> int:
    digits = text.lstrip("+-") if base == 10 else text[2:]
    # Counted before converting: the time of int() grows with the square of the digits.
    if len(digits.lstrip("0")) > _MOST_DIGITS:
        raise ScalarNotAllowed("integers must be smaller than 2**63")
    value = int(digits, base)
    if value >= MAX_INTEGER:
        raise ScalarNotAllowed("integers must be smaller than 2**63")
    return -value if text.startswith("-") else value


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ScalarNotAllowed("numbers must be finite; this one is larger than any 64-bit float")
    return value
