"""The examples in the docstrings of the boards: what a reader is shown is what comes out."""

import pytest

import app.boards
from tests.cases.docstrings import public_functions, run_example

FUNCTIONS = public_functions(app.boards)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_example_gives_what_it_says(name: str) -> None:
    """Line by line, errors included."""
    assert run_example(FUNCTIONS[name]) == ""
