"""Builds values from YAML events with an explicit stack, noting every problem on the way.

Called by `app.yaml.strict`, which owns what a document may look like as text; here is what its values may be.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from app.errors import MAX_PROBLEMS, Problem
from app.names import clip_for_message
from app.yaml.scalars import Scalar, ScalarNotAllowed, resolve_plain

MAX_DEPTH = 20
SHOWN_KEY = 60
_MERGE_KEY = "<<"
_STANDARD_TAG = "tag:yaml.org,2002:"

Path = tuple[str | int, ...]


@dataclass
class Findings:
    """The problems so far: all are counted, and as many are kept as an answer shows."""

    problems: list[Problem] = field(default_factory=list)
    n_problems: int = 0

    def add(self, message: str, row: int | None = None, path: Path = (), value: str | None = None) -> None:
        """Note one problem."""
        self.n_problems += 1
        if len(self.problems) < MAX_PROBLEMS:
            shown = None if value is None else clip_for_message(value)
            self.problems.append(Problem(message, row=row, column=dotted(path), value=shown))


@dataclass
class _Open:
    """A mapping or list that is not closed yet; `key` is the mapping's key that awaits its value."""

    container: dict[str, Any] | list[Any]
    path: Path
    key: str | None = None
    awaits_value: bool = False


@dataclass
class Builder:
    """Takes the events of one document in order; afterwards `root` is its value and `lines` has the line of each value.

    `lines` has a path only where its line differs from that of the value around it.
    """

    findings: Findings
    root: Any = None
    lines: dict[Path, int] = field(default_factory=dict)
    _stack: list[_Open] = field(default_factory=list)

    def take(self, event: yaml.Event) -> bool:
        """Process an event. False when nothing sensible can follow."""
        if isinstance(event, yaml.CollectionEndEvent):
            self._stack.pop()
            return True
        if isinstance(event, yaml.NodeEvent):
            self._refuse_indirection(event)
        if isinstance(event, yaml.ScalarEvent):
            self._take_scalar(event)
        elif isinstance(event, yaml.CollectionStartEvent):
            return self._open(event)
        elif isinstance(event, yaml.AliasEvent):
            self._take_alias(event)
        return True

    def _refuse_indirection(self, event: yaml.NodeEvent) -> None:
        row = row_of(event)
        if event.anchor is not None:
            sign, name = ("*", "aliases") if isinstance(event, yaml.AliasEvent) else ("&", "anchors")
            self.findings.add(f"{name} are not read; write the value out", row, self._place(), f"{sign}{event.anchor}")
        tag = getattr(event, "tag", None)
        if tag is not None:
            self.findings.add("tags are not read; delete it", row, self._place(), tag.replace(_STANDARD_TAG, "!!"))

    def _take_alias(self, event: yaml.AliasEvent) -> None:
        if self._awaits_key():
            self._name_key(None)
        else:
            self._put(None, row_of(event))

    def _take_scalar(self, event: yaml.ScalarEvent) -> None:
        if self._awaits_key():
            self._take_key(event)
            return
        value: Scalar = event.value
        try:
            value = resolve_plain(event.value) if _is_plain(event) else event.value
        except ScalarNotAllowed as refusal:
            self.findings.add(str(refusal), row_of(event), self._place(), event.value)
        self._put(value, row_of(event))

    def _take_key(self, event: yaml.ScalarEvent) -> None:
        top = self._stack[-1]
        key, path, row = event.value, (*top.path, event.value), row_of(event)
        complaint = None
        if _is_plain(event) and key == _MERGE_KEY:
            complaint = "merge keys are not read; write the keys out"
        elif _is_plain(event) and not _is_text(key):
            complaint = "a key must be text; put it in quotes"
        elif key in top.container:
            complaint = "the key occurs twice"
        if complaint is not None:
            self.findings.add(complaint, row, path, key)
        self._name_key(key if complaint is None else None)

    def _open(self, event: yaml.CollectionStartEvent) -> bool:
        if self._awaits_key():
            self.findings.add("a key must be text, not a mapping or list", row_of(event), self._place())
            return False
        if len(self._stack) == MAX_DEPTH:
            self.findings.add(f"nested deeper than {MAX_DEPTH} levels", row_of(event), self._place())
            return False
        container: dict[str, Any] | list[Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
        path = self._place()
        self._put(container, row_of(event))
        self._stack.append(_Open(container, path))
        return True

    def _put(self, value: Any, row: int) -> None:
        path = self._place()
        if nearest_line(self.lines, path) != row:
            self.lines.setdefault(path, row)
        if not self._stack:
            self.root = value
            return
        top = self._stack[-1]
        if isinstance(top.container, list):
            top.container.append(value)
        elif top.key is not None:
            top.container[top.key] = value
        top.key, top.awaits_value = None, False

    def _place(self) -> Path:
        """Return the path of the next value; that of the mapping itself when its key is not known or was refused."""
        if not self._stack:
            return ()
        top = self._stack[-1]
        if isinstance(top.container, list):
            return (*top.path, len(top.container))
        return top.path if top.key is None else (*top.path, top.key)

    def _awaits_key(self) -> bool:
        return bool(self._stack) and isinstance(self._stack[-1].container, dict) and not self._stack[-1].awaits_value

    def _name_key(self, key: str | None) -> None:
        self._stack[-1].key, self._stack[-1].awaits_value = key, True


def row_of(event: yaml.Event) -> int:
    """Return the line, counted from 1, on which `event` begins."""
    return 1 if event.start_mark is None else event.start_mark.line + 1


def dotted(path: Path) -> str | None:
    """Return the path as problems show it: keys and positions joined by dots, None for the whole document."""
    return ".".join(clip_for_message(str(step), SHOWN_KEY) for step in path) or None


def nearest_line(lines: Mapping[Path, int], path: Path) -> int | None:
    """Return the line of the value at `path`, or of the nearest value around it whose line is known."""
    for length in range(len(path), -1, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return None


def _is_plain(event: yaml.ScalarEvent) -> bool:
    return not event.style  # the C parser says "", the pure one None


def _is_text(plain: str) -> bool:
    try:
        return isinstance(resolve_plain(plain), str)
    except ScalarNotAllowed:
        return False
