"""The examples in the docstrings of the statistics: what a reader is shown is what comes out."""

import pytest

import app.stats
from tests.cases.docstrings import public_functions, run_example

FUNCTIONS = public_functions(app.stats)


@pytest.mark.parametrize("module", sorted({name.rpartition(".")[0] for name in FUNCTIONS}))
def test_the_examples_of_a_module_give_what_they_say(module: str) -> None:
    """Line by line, errors included."""
    own = {name: each for name, each in FUNCTIONS.items() if name.rpartition(".")[0] == module}

    assert {name: came for name, each in own.items() if (came := run_example(each))} == {}


def test_an_example_that_is_wrong_is_noticed() -> None:
    """The runner itself: it says what was expected and what came."""

    def half() -> None:
        """
        >>> 1 / 2
        0.25
        """

    assert "Expected:\n    0.25\nGot:\n    0.5" in run_example(half)
