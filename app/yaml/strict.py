"""Reads untrusted YAML as plain data: one document, core-schema values, no surprises.

Called with the bytes of manifests and preregistrations. Works on the parser's stream of events, so the limits
hold before anything is built: nothing recurses, and time and memory grow with the size of the input.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from app.errors import Rejected
from app.names import clip_for_message
from app.yaml.builder import Builder, Findings, Path, nearest_line, row_of

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")

# What YAML 1.2, chapter 5.1, does not count as printable, without the surrogates that UTF-8 cannot hold.
_NOT_PRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")

# libyaml compares each %TAG with all before it, which takes quadratic time. In a document whose top level is a mapping
# no line has to begin with %.
_DIRECTIVE = re.compile("(?:\\A|[\n\r\x85\u2028\u2029])%")


@dataclass(frozen=True)
class Document:
    """A parsed document: JSON-ready values, and their lines."""

    value: Any
    lines: Mapping[Path, int]

    def line(self, path: Path) -> int | None:
        """Return the line of the value at `path`, or of the nearest value around it that exists."""
        return nearest_line(self.lines, path)


def read_yaml(data: bytes, *, max_bytes: int, what: str) -> Any:
    """Return the one document in `data`. Raises Rejected with every problem, its line as `row`."""
    return read_document(data, max_bytes=max_bytes, what=what).value


def read_document(data: bytes, *, max_bytes: int, what: str) -> Document:
    """Return the one document in `data` with its lines. Raises Rejected; `what` names the input in the detail."""
    findings = Findings()
    builder = Builder(findings)
    text = _decode(data, max_bytes, findings)
    if text is not None and _is_plain_text(text, findings):
        _build(text, builder)
    if findings.n_problems:
        raise Rejected(f"{what} cannot be read as YAML.", findings.problems, n_problems=findings.n_problems)
    return Document(builder.root, builder.lines)


def _decode(data: bytes, max_bytes: int, findings: Findings) -> str | None:
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


def _is_plain_text(text: str, findings: Findings) -> bool:
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
