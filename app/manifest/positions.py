"""Finds the lines of a manifest's text that problems are about. Called by `app.kinds.parse`; pure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from app.errors import Problem
from app.manifest.written import TODO
from app.yaml.strict import Document

Path = tuple[str | int, ...]
MAX_STEPS = 40


def with_lines(problems: Sequence[Problem], document: Document) -> list[Problem]:
    """Return problems with their line numbers; for a missing key, that of the mapping around it."""
    return [
        problem if problem.row is not None else replace(problem, row=document.line(place_of(problem.column, document)))
        for problem in problems
    ]


def place_of(column: str | None, document: Document) -> Path:
    """Return the path of a dotted name, as far as it exists.

    Keys may contain dots themselves, so the longest existing key is taken. A board or a task is also found by name.
    """
    path: Path = ()
    value = document.value
    steps = [] if column is None else column.split(".")[:MAX_STEPS]
    while steps:
        for length in range(len(steps), 0, -1):
            step = _step(value, ".".join(steps[:length]))
            if step is not None:
                break
        else:
            return path
        path, value, steps = (*path, step), value[step], steps[length:]
    return path


def _step(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        return name if name in value else None
    if not isinstance(value, list):
        return None
    if name.isdigit() and len(name) < 10 and int(name) < len(value):
        return int(name)
    named = (
        at for at, each in enumerate(value) if isinstance(each, dict) and name in (each.get("name"), each.get("id"))
    )
    return next(named, None)


def unanswered(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the path of every TODO, which marks a missing answer."""
    if value == TODO:
        yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, child in children:
        yield from unanswered(child, (*path, step))
