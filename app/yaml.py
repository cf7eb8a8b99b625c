"""Reads untrusted YAML as plain data: one document, core-schema values, no surprises.

Works on the parser's stream of events, so the limits hold before anything is built: nothing recurses, and time and
memory grow with the size of the input.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from app.errors import MAX_PROBLEMS, Problem, Rejected
from app.names import clip_for_message

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")

# What YAML 1.2, chapter 5.1, does not count as printable, without the surrogates that UTF-8 cannot hold.
_NOT_PRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")

# libyaml compares each %TAG with all before it, which takes quadratic time. In a document whose top level is a mapping
# no line has to begin with %.
_DIRECTIVE = re.compile("(?:\\A|[\n\r\x85\u2028\u2029])%")

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class ParsedYaml:
    """A parsed document: JSON-ready values, and their lines."""

    value: Any
    lines: Mapping[Path, int]

    def line(self, path: Path) -> int | None:
        """Return the line of the value at `path`, or of the nearest value around it that exists."""
        return nearest_line(self.lines, path)


def read_yaml(data: bytes, *, max_bytes: int, what: str) -> Any:
    """Return the one document in `data`. Raises Rejected with every problem, its line as `row`."""
    return read_document(data, max_bytes=max_bytes, what=what).value


def read_document(data: bytes, *, max_bytes: int, what: str) -> ParsedYaml:
    """Return the one document in `data` with its lines. Raises Rejected; `what` names the input in the detail."""
    findings = YamlProblems()
    builder = Builder(findings)
    text = _decode(data, max_bytes, findings)
    if text is not None and _is_plain_text(text, findings):
        _build(text, builder)
    if findings.n_problems:
        raise Rejected(f"{what} cannot be read as YAML.", findings.problems, n_problems=findings.n_problems)
    return ParsedYaml(builder.root, builder.lines)


@dataclass
class YamlProblems:
    """The problems so far: all are counted, and as many are kept as an answer shows."""

    problems: list[Problem] = field(default_factory=list)
    n_problems: int = 0

    def add(self, message: str, row: int | None = None, path: Path = (), value: str | None = None) -> None:
        """Note one problem."""
        self.n_problems += 1
        if len(self.problems) < MAX_PROBLEMS:
            shown = None if value is None else clip_for_message(value)
            self.problems.append(Problem(message, row=row, column=dotted(path), value=shown))


def _decode(data: bytes, max_bytes: int, findings: YamlProblems) -> str | None:
    if len(data) > max_bytes:
        findings.add(f"the text has {len(data)} bytes; at most {max_bytes} are allowed")
        return None
    if data.startswith(_UTF_16):
        findings.add("the text is UTF-16 or UTF-32; save it as UTF-8", row=1)
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The decoder counts from after a byte order mark, the submitter's editor from the start of the file.
        start = error.start + len(data) - len(error.object)
        row = data.count(b"\n", 0, start) + 1
        findings.add(f"byte {start + 1} is not UTF-8", row=row, value=f"0x{data[start]:02x}")
        return None


def _is_plain_text(text: str, findings: YamlProblems) -> bool:
    character = _NOT_PRINTABLE.search(text)
    if character is not None:
        code = f"U+{ord(character.group()):04X}"
        message = f"character {character.start() + 1} is {code}, a control character that YAML does not allow"
        findings.add(message, row=_row_at(text, character.start()), value=code)
    directive = _DIRECTIVE.search(text)
    if directive is not None:
        message = "a line that begins with % is a directive; directives are not read: delete the line"
        findings.add(message, row=_row_at(text, directive.end() - 1))
    return findings.n_problems == 0


def _row_at(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


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

    findings: YamlProblems
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
        if "\0" in event.value:
            self.findings.add(_ZERO, row_of(event), self._place(), event.value)
        self._put(value, row_of(event))

    def _take_key(self, event: yaml.ScalarEvent) -> None:
        top = self._stack[-1]
        key, path, row = event.value, (*top.path, event.value), row_of(event)
        complaint = None
        if _is_plain(event) and key == _MERGE_KEY:
            complaint = "merge keys are not read; write the keys out"
        elif _is_plain(event) and not _is_text(key):
            complaint = "a key must be text; put it in quotes"
        elif "\0" in key:
            complaint = _ZERO
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


def _build(text: str, builder: Builder) -> None:
    try:
        _take_events(yaml.parse(text, Loader=yaml.CSafeLoader), builder)
    except yaml.MarkedYAMLError as error:
        builder.findings.add(f"not YAML: {error.problem or error.context}", _row_of_syntax(error, text))
    except yaml.YAMLError as error:
        builder.findings.add(f"not YAML: {clip_for_message(str(error))}")


def _row_of_syntax(error: yaml.MarkedYAMLError, text: str) -> int | None:
    mark = error.problem_mark or error.context_mark
    # At the end of the text the parser points to the line after the last one.
    return None if mark is None else min(mark.line + 1, text.count("\n") + 1)


def _take_events(events: Iterator[yaml.Event], builder: Builder) -> None:
    n_documents = 0
    for event in events:
        n_documents += isinstance(event, yaml.DocumentStartEvent)
        if n_documents > 1:
            builder.findings.add("a second document begins here; only one is read", row_of(event))
            return
        if not builder.take(event):
            return
    if n_documents == 0:
        builder.findings.add("there is no document: the text is empty or contains only comments")


# Builds values from YAML events with an explicit stack, noting every problem on the way.

MAX_DEPTH = 20

SHOWN_KEY = 60

_MERGE_KEY = "<<"

_ZERO = "the text contains a zero character, which cannot be stored"
"""Written as an escape, such as "\\0", which YAML allows."""

_STANDARD_TAG = "tag:yaml.org,2002:"


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


# What a plain YAML scalar means: the core schema of YAML 1.2, chapter 10.3, and nothing beyond it. So `no` and `on`
# are text, `2026-07-05` is text and `1:30` is not a number, unlike in YAML 1.1.

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
