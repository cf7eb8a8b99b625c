"""The examples in the docstrings of the statistics: what a reader is shown is what comes out."""

import pytest

import app.stats
from tests.cases.docstrings import public_functions, run_example

FUNCTIONS = public_functions(app.stats)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_example_gives_what_it_says(name: str) -> None:
    """Line by line, errors included."""
    assert run_example(FUNCTIONS[name]) == ""


def test_an_example_that_is_wrong_is_noticed() -> None:
    """The runner itself: it says what was expected and what came."""

    def half() -> None:
        """
        >>> 1 / 2
        0.25
        """

    assert "Expected:\n    0.25\nGot:\n    0.5" in run_example(half)
