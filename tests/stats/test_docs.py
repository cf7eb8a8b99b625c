"""Every public function of the statistics says where it comes from and shows an example, which `make test` runs."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import pytest

import app.stats

GUARDS = "app.stats.checks"
MACHINERY = "app.stats.compiled"


def public_functions() -> Iterator[tuple[str, Any]]:
    """Yield the dotted name and the function of everything public that is declared in `app.stats`."""
    for module_info in pkgutil.iter_modules(app.stats.__path__, "app.stats."):
        module = importlib.import_module(module_info.name)
        for name, found in vars(module).items():
            if inspect.isfunction(found) and found.__module__ == module.__name__ and not name.startswith("_"):
                yield f"{module.__name__}.{name}", found


FUNCTIONS = dict(public_functions())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_function_shows_an_example(name: str) -> None:
    """With the output that the doctest holds it to."""
    assert ">>> " in (FUNCTIONS[name].__doc__ or "")


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if not name.startswith((GUARDS, MACHINERY))])
def test_a_public_function_says_its_source(name: str) -> None:
    """A publication, the system whose numbers it gives, or that it is so by definition."""
    assert "Source: " in (FUNCTIONS[name].__doc__ or "")


@pytest.mark.parametrize(
    "name",
    [name for name, found in FUNCTIONS.items() if "ndarray" in str(inspect.signature(found)) and GUARDS not in name],
)
def test_a_function_of_arrays_says_their_shapes(name: str) -> None:
    """In brackets, by the names of the axes; for a whole module it may stand in the module's own docstring."""
    found = FUNCTIONS[name]
    module = inspect.getdoc(inspect.getmodule(found)) or ""

    assert re.search(r"\[[^\]]*n_\w+[^\]]*\]|\[\.\.\.|[Aa]ny shape|one shape", f"{found.__doc__}{module}")
