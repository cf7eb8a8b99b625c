"""The documents say what the tree holds: paths that are there, decisions that one can cite, tests that stand alone."""

import ast
import re
from datetime import date
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = ("CONTRIBUTING.md", "docs/architecture.md", "docs/decisions.md", "docs/testing.md")
PATH = re.compile(r"`((?:app|bench|docs|examples|migrations|static|templates|tests|\.ci)/[\w/.-]+)`")
DECISION = re.compile(r"^## D-(\d{3}) · (.+)\n\n(\S+) · (.+)\n\n(?=\S)", re.MULTILINE)
STATUS = re.compile(r"accepted|(?:amended|superseded) by D-\d{3}(?: and D-\d{3})*")


def missing_paths(text: str) -> set[str]:
    """Return the paths of the tree that a document names and that are not there."""
    return {path for path in PATH.findall(text) if not (ROOT / path).exists()}


def broken_decisions(text: str) -> list[str]:
    """Return what is wrong with the numbers, dates and statuses of decisions."""
    decisions = DECISION.findall(text)
    numbers = [int(number) for number, *_ in decisions]
    wrong = [] if numbers == list(range(1, text.count("\n## ") + 1)) else [f"numbers {numbers}"]
    for number, _, day, status in decisions:
        later = [int(cited) for cited in re.findall(r"D-(\d{3})", status)]
        if STATUS.fullmatch(status) is None or not all(int(number) < cited <= len(numbers) for cited in later):
            wrong.append(f"D-{number}: {status}")
        if date.fromisoformat(day).isoformat() != day:
            wrong.append(f"D-{number}: {day}")
    return wrong


def imported_tests(source: str) -> list[str]:
    """Return the test files that a module imports."""
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            names += [f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return [name for name in names if name.startswith(".") or re.search(r"(?:^|\.)tests\..*\btest_\w+", f"{name}.")]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_named_path_is_there(document: str) -> None:
    """Who follows a document finds every file and folder that it names."""
    text = (ROOT / document).read_text("utf-8")

    assert PATH.search(text)
    assert missing_paths(text) == set()


def test_a_path_that_is_not_there_is_named() -> None:
    """A file that moved away is seen."""
    assert missing_paths("see `app/attic/old.py` and `docs/decisions.md`") == {"app/attic/old.py"}


def test_every_decision_can_be_cited() -> None:
    """Numbers without gaps, a date, and a status that refers to later decisions only."""
    assert broken_decisions((ROOT / "docs/decisions.md").read_text("utf-8")) == []


@pytest.mark.parametrize(
    "text",
    [
        "\n## D-002 · Begins late\n\n2026-11-21 · accepted\n\nText.\n",
        "\n## D-001 · Has no status\n\n2026-11-21\n\nText.\n",
        "\n## D-001 · Has another status\n\n2026-11-21 · perhaps\n\nText.\n",
        "\n## D-001 · Is superseded by nothing\n\n2026-11-21 · superseded by D-002\n\nText.\n",
    ],
)
def test_a_decision_that_cannot_be_cited_is_seen(text: str) -> None:
    """A gap in the numbers, a status that is missing or unknown, a reference into the void."""
    assert broken_decisions(text) != []


@pytest.mark.heavy
def test_no_test_file_imports_another() -> None:
    """What several share is in tests/cases, so that each file can be moved, run and deleted alone."""
    sources = {path: path.read_text("utf-8") for path in ROOT.glob("tests/**/*.py")}

    assert sources
    assert {str(path): names for path, source in sources.items() if (names := imported_tests(source))} == {}


@pytest.mark.parametrize(
    "source",
    ["from tests.web.test_formats import rows", "from tests.web import test_formats", "import tests.web.test_formats"],
)
def test_an_import_of_a_test_file_is_seen(source: str) -> None:
    """In whatever form."""
    assert len(imported_tests(source)) == 1
    assert imported_tests("from tests.cases.walkthrough import BASE\nimport tests.conftest") == []


@pytest.mark.parametrize(
    "manifest", sorted((ROOT / "examples").glob("*/manifest.yaml")), ids=lambda path: path.parent.name
)
def test_every_example_names_the_schema_of_manifests(manifest: Path) -> None:
    """An editor completes it and marks what is wrong."""
    first = manifest.read_text("utf-8").splitlines()[0]

    assert first == "# yaml-language-server: $schema=http://127.0.0.1:8000/schemas/manifest.json"
