"""What the tests of docstrings share: every public function of a package, and what its code asks of its docstring."""

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

NUMBERS = re.compile(r"ndarray|ScoreTable|CellMatrix|Measurement|Aggregate|Group\b")
SHAPE = re.compile(r"\[[^\]]*n_\w+[^\]]*\]|\[n, n\]|\[\.\.\.|[Aa]ny shape|one shape")
UNIT = re.compile(
    r"unit|larger|smaller|better|direction|shares?\b|from 0 to 1|rank|weight|chance|probabilit|difference|count|number"
)
NULL = re.compile(r"\b(None|NaN|null|finite|missing|no number)\b")


def public_functions(package: ModuleType) -> dict[str, Callable[..., Any]]:
    """Return by dotted name every public function that a module of the package, or of one inside it, declares."""
    return dict(_declared(package))


def _declared(package: ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(info.name)
        for name, function in vars(module).items():
            is_own = inspect.isfunction(function) and function.__module__ == info.name
            # mutmut puts its variants of a function beside it.
            if is_own and not name.startswith("_") and "__mutmut" not in name:
                yield f"{info.name}.{name}", function


def text_of(function: Callable[..., Any]) -> str:
    """Return what is said of a function: its docstring, and that of its module where it speaks for all of them."""
    return f"{function.__doc__}{inspect.getdoc(inspect.getmodule(function)) or ''}"


def signature(function: Callable[..., Any]) -> str:
    """Return the parameters and their types, and the type that is returned."""
    return str(inspect.signature(function))


def returned(function: Callable[..., Any]) -> str:
    """Return the type that is returned."""
    return str(inspect.signature(function).return_annotation)


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
    text, is_about = text_of(function), signature(function)
    gives_null = "None" in returned(function) and returned(function) != "None"
    asked = {
        "an example": ">>> " not in (function.__doc__ or ""),
        "a source": bool(NUMBERS.search(is_about)) and "Source: " not in text,
        "shapes": "ndarray" in is_about and not SHAPE.search(text),
        "units or direction": "float64" in is_about and not UNIT.search(text),
        "what null means": (gives_null or "float64" in returned(function)) and not NULL.search(text),
        **{f"that it raises {error}": error not in (function.__doc__ or "") for error in raised(function)},
    }
    return [what for what, is_lacking in asked.items() if is_lacking]


def run_example(function: Callable[..., Any]) -> str:
    """Return what the example in a docstring gave where that is not what it says; nothing where it is."""
    module = sys.modules[function.__module__]
    example = doctest.DocTestParser().get_doctest(
        function.__doc__ or "", dict(vars(module)), function.__name__, None, 0
    )
    stated: list[str] = []
    doctest.DocTestRunner(verbose=False).run(example, out=stated.append)
    return "".join(stated)
