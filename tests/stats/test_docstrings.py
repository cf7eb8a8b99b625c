"""Every public function of statistics and boards says what a caller must know, with an example."""

import ast
import importlib
import inspect
import pkgutil
import re
import textwrap
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

import app.boards
import app.stats
from app.boards.registry import methods as known_methods
from app.stats.arrays import FloatArray

GUARDS = ("app.stats.arrays.", "app.stats.compiled.")
"""Checks of arguments and the compiler, which compute nothing that has a source."""
NUMBERS = re.compile(r"ndarray|ScoreTable|CellMatrix|Measurement|Aggregate|Group\b")
SHAPE = re.compile(r"\[[^\]]*n_\w+[^\]]*\]|\[n, n\]|\[\.\.\.|[Aa]ny shape|one shape")
UNIT = re.compile(
    r"unit|larger|smaller|better|direction|shares?\b|from 0 to 1|rank|weight|chance|probabilit|difference|count|number"
)
NULL = re.compile(r"\b(None|NaN|null|finite|missing|no number)\b")


def _declared(package: ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(info.name)
        for name, function in vars(module).items():
            is_own = inspect.isfunction(function) and function.__module__ == info.name
            # mutmut puts its variants of a function beside it.
            if is_own and not name.startswith("_") and "__mutmut" not in name:
                yield f"{info.name}.{name}", function


FUNCTIONS = dict([*_declared(app.stats), *_declared(app.boards)])
"""Every public function that a module of the two packages, or of one inside them, declares."""


def raised(function: Callable[..., Any]) -> set[str]:
    """Return the names of the errors that a function raises itself, or by a check of its arguments."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    errors = {each.exc.func.id for each in ast.walk(tree) if isinstance(each, ast.Raise)
              and isinstance(each.exc, ast.Call) and isinstance(each.exc.func, ast.Name)}  # fmt: skip
    checks = any(isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id.startswith("require_")
                 for each in ast.walk(tree))  # fmt: skip
    return errors | ({"InvalidArgument"} if checks and ".stats." in function.__module__ else set())


def complaints(function: Callable[..., Any]) -> list[str]:
    """Return what a docstring leaves out of what the function's own code and signature call for."""
    text = f"{function.__doc__}{inspect.getdoc(inspect.getmodule(function)) or ''}"
    is_about, returned = str(inspect.signature(function)), str(inspect.signature(function).return_annotation)
    gives_null = "None" in returned and returned != "None"
    asked = {
        "an example": ">>> " not in (function.__doc__ or ""),
        "a source": bool(NUMBERS.search(is_about)) and "Source: " not in text,
        "shapes": "ndarray" in is_about and not SHAPE.search(text),
        "units or direction": "float64" in is_about and not UNIT.search(text),
        "what null means": (gives_null or "float64" in returned) and not NULL.search(text),
        **{f"that it raises {error}": error not in (function.__doc__ or "") for error in raised(function)},
    }
    return [what for what, is_lacking in asked.items() if is_lacking]


@pytest.mark.unmutated
def test_every_public_function_says_what_its_code_calls_for() -> None:
    """An example, the source, shapes, units, what null means, and every error that it raises."""
    lacking = {name: complaints(each) for name, each in FUNCTIONS.items()}
    lacking |= {name: [each for each in of if each == "an example"]
                for name, of in lacking.items() if name.startswith(GUARDS)}  # fmt: skip

    assert {name.split(".")[3] for name in FUNCTIONS if name.endswith((".compute", ".assemble_board"))} == set(
        known_methods()
    )
    assert {name: of for name, of in lacking.items() if of} == {}


@pytest.mark.unmutated
def test_a_docstring_that_leaves_something_out_is_noticed() -> None:
    """The rule itself: a function without a docstring lacks everything that its code calls for."""

    def half(values: FloatArray) -> FloatArray | None:
        if not len(values):
            raise ValueError("no values")
        return values / 2.0

    actual = set(complaints(half))

    assert actual >= {"an example", "a source", "shapes", "what null means", "that it raises ValueError"}
