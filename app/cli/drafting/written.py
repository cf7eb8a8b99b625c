"""YAML written by hand, because comments belong to it: scalars in quotes where they need them, lists that are folded.

Called by `app.cli.drafting.draft`; pure. What is written is read back by `app.yaml`, whose scalars these are.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from app.yaml.scalars import ScalarNotAllowed, resolve_plain

WIDTH = 110
# What a plain scalar may hold inside a flow list without meaning something else.
_PLAIN = re.compile(r"[A-Za-z0-9_./(][A-Za-z0-9_./()@+=%~^ -]*")


def scalar(value: str | float | bool | None) -> str:
    """Return a scalar as YAML.

    >>> [scalar(value) for value in ("task", "yes, no", "0", 1.0, None)]
    ['task', '"yes, no"', '"0"', '1.0', 'null']
    """
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, int | float):
        return repr(value)
    return value if _is_plain(value) else json.dumps(value, ensure_ascii=False)


def number(value: float) -> str:
    """Return a number as a person writes it: 1 for 1.0."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def _is_plain(text: str) -> bool:
    if text != text.strip() or not _PLAIN.fullmatch(text):
        return False
    try:
        return isinstance(resolve_plain(text), str)
    except ScalarNotAllowed:
        return False


def flow_list(values: Iterable[str | int], indent: str) -> str:
    """Return a list in brackets, its further lines indented."""
    lines, line = [], "["
    parts = [scalar(value) for value in values]
    for at, part in enumerate(parts):
        end = "]" if at == len(parts) - 1 else ","
        if len(indent) + len(line) + len(part) + 2 > WIDTH and len(line) > 1:
            lines.append(line.rstrip())
            line = " "
        line += f"{part}{end}" if end == "]" else f"{part}, "
    return f"\n{indent}".join([*lines, line if parts else "[]"])


def commented(line: str, comment: str) -> str:
    """Return a line with a comment behind it, or above it where both are long."""
    if len(line) + len(comment) + 4 <= WIDTH:
        return f"{line}  # {comment}"
    indent = line[: len(line) - len(line.lstrip())]
    return f"{indent}# {comment}\n{line}"


def such_as(words: Sequence[str], n_shown: int = 3) -> str:
    """Return a few of many, for a comment."""
    shown = ", ".join(word[:40] for word in words[:n_shown])
    return f"{len(words):,}, such as {shown}" if len(words) > n_shown else shown


def task_line(task: str, where: Mapping[str, str]) -> str:
    """Return a task of the list, with what its rows say of it in some columns.

    >>> task_line("SST2", {"type": "Classification"})
    '  - {id: SST2, where: {type: Classification}}'
    """
    words = ", ".join(f"{scalar(name)}: {scalar(value)}" for name, value in where.items())
    return f"  - {{id: {scalar(task)}" + (f", where: {{{words}}}" if words else "") + "}"
