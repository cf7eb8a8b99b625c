"""Every example in a docstring gives what it says, and none is passed over."""

import doctest
import importlib
import inspect
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import ModuleType

import pytest

import app

ROOT = Path(app.__file__).parent
MODULES = [
    ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted(ROOT.rglob("*.py"))
    if ">>> " in path.read_text("utf-8")
]


def examples(module: ModuleType) -> Iterator[doctest.DocTest]:
    """Yield those of a module's own functions, classes, methods and properties, the cached ones included."""
    finder = doctest.DocTestFinder()
    found = finder.find(module)
    for each in vars(module).values():
        if inspect.isclass(each) and each.__module__ == module.__name__:
            cached = [value.func for value in vars(each).values() if isinstance(value, cached_property)]
            found += [one for function in cached for one in finder.find(function, module=module)]
    # mutmut puts its variants of a function beside it.
    yield from (each for each in found if each.examples and "__mutmut" not in each.name)


def complaints(example: doctest.DocTest) -> str:
    """Return what an example gave where that is not what it says; nothing where it is."""
    stated: list[str] = []
    doctest.DocTestRunner(verbose=False).run(example, out=stated.append)
    return "".join(stated)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_give_what_they_say(name: str) -> None:
    """Line by line, errors included."""
    came = {each.name: complaints(each) for each in examples(importlib.import_module(name))}

    assert {where: said for where, said in came.items() if said} == {}


@pytest.mark.unmutated
@pytest.mark.parametrize("name", MODULES)
def test_no_example_of_a_module_is_passed_over(name: str) -> None:
    """As many are run as the file has."""
    module = importlib.import_module(name)
    written = Path(str(module.__file__)).read_text("utf-8").count(">>> ")

    assert sum(len(each.examples) for each in examples(module)) == written


def test_an_example_that_is_wrong_is_noticed() -> None:
    """The runner itself: it says what was expected and what came."""
    example = doctest.DocTestParser().get_doctest(">>> 1 / 2\n0.25\n", {}, "half", None, 0)

    assert "Expected:\n    0.25\nGot:\n    0.5" in complaints(example)
