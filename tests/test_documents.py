"""The documents say what the tree holds: paths that are there, and records that the index lists."""

import ast
import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
RECORDS = sorted((ROOT / "docs/adr").glob("*.md"))
DOCUMENTS = (
    "CONTRIBUTING.md",
    "docs/architecture.md",
    "docs/testing.md",
    *(f"docs/adr/{path.name}" for path in RECORDS),
)
PATH = re.compile(r"`((?:app|bench|client|deploy|docs|examples|migrations|static|templates|tests|\.ci)/[\w/.-]+)`")
RECORD = re.compile(
    r"# (\d{3}) · (.+)\n\nAccepted, (\S+)(?: to (\S+))?\n"
    r"\n## Context\n\n(?!#).+\n## Decision\n\n(?!#).+\n## Rejected\n\n\* .+\n## Modules\n\n`.+",
    re.DOTALL,
)
NAMED = re.compile(r"\bdocs/adr/([\w-]+\.md)")
LISTED = re.compile(r"^\| \[.+?\]\((\S+?)\) \| .*\?", re.MULTILINE)


def missing_paths(text: str) -> set[str]:
    """Return the paths of the tree that a document names and that are not there."""
    return {path for path in PATH.findall(text) if not (ROOT / path).exists()}


def broken_records(texts: Mapping[str, str]) -> list[str]:
    """Return what is wrong with records by the names of their files: their numbers, dates, and the parts they have."""
    wrong = []
    for number, (name, text) in enumerate(sorted(texts.items()), start=1):
        record = RECORD.fullmatch(text)
        if record is None:
            wrong.append(f"{name}: not of the form of a record")
        elif not record[1] == name[:3] == f"{number:03}" or "\n" in record[2]:
            wrong.append(f"{name}: not the record {number:03}, in one line")
        elif not is_period(record[3], record[4] or record[3]):
            wrong.append(f"{name}: not from a day to a later one")
    return wrong


def is_period(first: str, last: str) -> bool:
    """Say whether two texts are days, in order."""
    try:
        return date.fromisoformat(first) <= date.fromisoformat(last)
    except ValueError:
        return False


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_named_path_is_there(document: str) -> None:
    """Who follows a document finds every file and folder that it names."""
    text = (ROOT / document).read_text("utf-8")

    assert PATH.search(text)
    assert missing_paths(text) == set()


def test_every_record_says_what_was_decided_and_rejected_and_where() -> None:
    """Numbers without gaps, dates in order, the four parts, and modules that are there."""
    assert RECORDS
    assert broken_records({path.name: path.read_text("utf-8") for path in RECORDS}) == []


def test_a_record_and_a_module_name_each_other() -> None:
    """Each record is named at the head of a module that it names, and no module another record."""
    sources = sorted(path for room in ("app", "bench", "tests") for path in (ROOT / room).rglob("*.py"))
    heads = {
        path.relative_to(ROOT).as_posix(): ast.get_docstring(ast.parse(path.read_text("utf-8"))) for path in sources
    }
    naming = {(record, path) for path, head in heads.items() for record in NAMED.findall(head or "")}
    listed = {
        (record.name, path)
        for record in RECORDS
        for path in PATH.findall(record.read_text("utf-8").partition("## Modules")[2])
    }

    assert naming - listed == set()
    assert {path.name for path in RECORDS} - {record for record, _ in naming} == set()


CALLERS = re.compile(
    r"\b(?:[Cc]alled (?:by|for)|[Uu]sed by|[Rr]ead by) (?:the\b|every|`(?:app|bench|plumbline|serve|python)\b)"
)


def test_no_module_lists_who_calls_it() -> None:
    """Such a list is wrong with the next caller; what imports a module is a search away."""
    heads = {
        str(path.relative_to(ROOT)): ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
        for room in ("app", "bench", "plumbline")
        for path in (ROOT / room).rglob("*.py")
    }

    assert len(heads) > 300
    assert {name: found for name, head in heads.items() if (found := CALLERS.findall(head))} == {}


def test_the_index_lists_every_document_once() -> None:
    """Each document and each record has one line in docs/README.md, with the question it answers, in order."""
    documents = sorted(path for path in (ROOT / "docs").glob("*.md") if path.name != "README.md")
    names = [path.relative_to(ROOT / "docs").as_posix() for path in (*documents, *RECORDS)]

    assert LISTED.findall((ROOT / "docs/README.md").read_text("utf-8")) == names


def test_the_index_has_the_titles_of_the_records() -> None:
    """A record whose subject changed is not listed under its former title."""
    index = (ROOT / "docs/README.md").read_text("utf-8")
    titles = {path.name: path.read_text("utf-8").partition("\n")[0].partition(" · ")[2] for path in RECORDS}

    assert [name for name, title in titles.items() if f"(adr/{name}) | {title} |" not in index] == []


@pytest.mark.parametrize(
    "manifest", sorted((ROOT / "examples").glob("*/manifest.yaml")), ids=lambda path: path.parent.name
)
def test_every_example_names_the_schema_of_manifests(manifest: Path) -> None:
    """An editor completes it and marks what is wrong."""
    first = manifest.read_text("utf-8").splitlines()[0]

    assert first == "# yaml-language-server: $schema=http://127.0.0.1:8000/schemas/manifest.json"
