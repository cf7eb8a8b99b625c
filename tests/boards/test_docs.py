"""Every public function of the boards says what a caller must know, and shows an example, which `make test` runs."""

import pytest

import app.boards
from app.boards.registry import methods as known_methods
from tests.cases.docstrings import complaints, public_functions

pytestmark = pytest.mark.unmutated
FUNCTIONS = public_functions(app.boards)


def test_every_public_function_says_what_its_code_calls_for() -> None:
    """An example, the source of numbers, shapes, units, what null means, and every error that it raises."""
    assert FUNCTIONS
    assert {name: lacking for name, each in FUNCTIONS.items() if (lacking := complaints(each))} == {}


def test_the_examples_are_of_every_method() -> None:
    """The walk finds the modules in the folders too, such as those of skill scores and of weighted ranks."""
    methods = {name.split(".")[3] for name in FUNCTIONS if name.endswith((".compute", ".assemble_board"))}

    assert methods == set(known_methods())
