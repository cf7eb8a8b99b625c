"""Whether a cell says the value that a task's definition has, whatever way the submitter's program writes it.

Called by `app.kinds.summary.task_rules`. A list may be JSON or Python's notation, an integer may end in .0 as pandas
writes it beside gaps, and nothing may be an empty cell, NaN or None.
"""

import ast
import json
import re
from typing import Any

MAX_TEXT = 20_000
MAX_DEPTH = 10
LEVEL_PLACES = 4
_NOTHING = frozenset({"", "nan", "none", "null", "<na>", "nat"})
_WHOLE = re.compile(r"[-+]?\d{1,18}(?:\.0*)?", re.ASCII)
_FLAGS = {"true": True, "1": True, "false": False, "0": False}


class Unreadable(ValueError):
    """A cell that holds no list or mapping."""


def says(text: str | None, expected: Any, *, rounded: bool = False) -> bool:
    """Say whether a cell has the expected value. `rounded`: floats agree when they do to LEVEL_PLACES."""
    if expected is None:
        return text is None or text.strip().lower() in _NOTHING
    if text is None:
        return False
    if isinstance(expected, str):
        return text == expected
    if isinstance(expected, bool):
        return _FLAGS.get(text.strip().lower()) is expected
    if isinstance(expected, int):
        return _WHOLE.fullmatch(text.strip()) is not None and int(text.partition(".")[0]) == expected
    if isinstance(expected, float):
        return _number(text) == expected
    return _says_structure(text, expected, rounded=rounded)


def show(expected: Any) -> str:
    """Return an expected value as a submitter would write it in a cell."""
    if expected is None:
        return "an empty cell"
    return expected if isinstance(expected, str) else json.dumps(expected, ensure_ascii=False)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _says_structure(text: str, expected: Any, *, rounded: bool) -> bool:
    try:
        value = _parse(text)
    except Unreadable:
        return False
    return bool(_normal(value, rounded=rounded) == _normal(expected, rounded=rounded))


def _parse(text: str) -> Any:
    # Bounded before parsing: both parsers recurse.
    if len(text) > MAX_TEXT or _depth(text) > MAX_DEPTH:
        raise Unreadable
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise Unreadable from error


def _depth(text: str) -> int:
    depth = deepest = 0
    for character in text:
        if character in "[{(":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]})":
            depth -= 1
    return deepest


def _normal(value: Any, *, rounded: bool) -> Any:
    """Return a value in which equal means the same: tuples as lists, levels rounded."""
    if isinstance(value, list | tuple):
        return [_normal(part, rounded=rounded) for part in value]
    if isinstance(value, dict):
        return {key: _normal(part, rounded=rounded) for key, part in value.items()}
    if isinstance(value, float) and rounded:
        return round(value, LEVEL_PLACES)
    return value
