"""The words of the code: names say what they hold, in the field's own words (the list in docs/architecture.md)."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# Each says that something was done and not what came of it: a match, an interval, the rows, the problems.
BARE = {"found", "made", "there", "told"}
ANYWHERE = {"said", "stands"}


def test_no_name_says_only_that_something_was_found_or_made() -> None:
    """A variable, an argument, a field, a function or a class is named after what it is."""
    paths = sorted((ROOT / "app").rglob("*.py"))
    wrong = [f"{path.relative_to(ROOT)}: {name}" for path in paths for name in names_of(path.read_text("utf-8"))
             if says_nothing(name)]  # fmt: skip

    assert len(paths) > 500
    assert wrong == []


@pytest.mark.parametrize("line", ["found = 1", "def _made(): ...", "for told in x: ...", "class Stands: ...",
                                  "self.said = 1", "f(lambda there: 1)", "def f(what_said): ..."])  # fmt: skip
def test_each_place_of_a_name_is_looked_at(line: str) -> None:
    """Names of variables, functions, classes, attributes and arguments count, whatever their case."""
    assert any(map(says_nothing, names_of(line)))


def names_of(source: str) -> Iterator[str]:
    """Yield every name that a module gives to something."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def says_nothing(name: str) -> bool:
    """Say whether a name is one of the words, or has one of those that no name has."""
    plain = name.lower().strip("_")
    return plain in BARE or not ANYWHERE.isdisjoint(plain.split("_"))
