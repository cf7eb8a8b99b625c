"""Every public function of the statistics says what a caller must know, and has an example that `make test` runs."""

import pytest

import app.stats
from app.stats.arrays import FloatArray
from tests.cases.docstrings import complaints, public_functions

pytestmark = pytest.mark.unmutated
GUARDS = ("app.stats.arrays.", "app.stats.compiled.")
"""Checks of arguments and the compiler, which compute nothing that has a source."""
FUNCTIONS = public_functions(app.stats)


def test_every_public_function_says_what_its_code_calls_for() -> None:
    """An example, the source, shapes, units, what null means, and every error that it raises."""
    assert FUNCTIONS
    assert {name: lacking for name in FUNCTIONS if (lacking := lacks(name))} == {}


def lacks(name: str) -> list[str]:
    """Return what the docstring of a function leaves out; a guard has no source."""
    asked = {"an example"} if name.startswith(GUARDS) else None
    return [what for what in complaints(FUNCTIONS[name]) if asked is None or what in asked]


def test_a_docstring_that_leaves_something_out_is_noticed() -> None:
    """The rule itself: a function without a docstring lacks everything that its code calls for."""

    def half(values: FloatArray) -> FloatArray | None:
        if not len(values):
            raise ValueError("no values")
        return values / 2.0

    actual = set(complaints(half))

    assert actual >= {"an example", "a source", "shapes", "what null means", "that it raises ValueError"}
