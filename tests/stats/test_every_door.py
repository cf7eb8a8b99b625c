"""Every function of the statistics names the argument that is refused: the calls of its own examples, each spoilt."""

import copy
import doctest
import importlib
import inspect
import pkgutil
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import app.stats
from app.stats.arrays import InvalidArgument
from tests.cases.frozen import assert_frozen

MODULES = [importlib.import_module(f"app.stats.{each.name}") for each in pkgutil.iter_modules(app.stats.__path__)]
FUNCTIONS = {
    f"{module.__name__.rpartition('.')[2]}.{name}": function
    for module in MODULES
    for name, function in vars(module).items()
    if isinstance(function, FunctionType) and function.__module__ == module.__name__
    # A mutant stands beside the function that it is one of.
    if not name.startswith("_") and "__mutmut_" not in name
}
REFUSING = {name: each for name, each in FUNCTIONS.items() if "Raises InvalidArgument" in (each.__doc__ or "")}
NAMES = tuple({name for each in FUNCTIONS.values() for name in inspect.signature(each).parameters} | {"the number of "})
"""What a refusal may begin with: an argument of the function, or of the one that it leaves the check to."""


def called_with(function: FunctionType) -> dict[str, Any] | None:
    """Return the arguments of the first call of a function in its examples; None where there is none."""
    found: list[dict[str, Any]] = []

    def looked_at(*listed: Any, **named: Any) -> Any:
        call = inspect.signature(function).bind(*listed, **named)
        call.apply_defaults()
        found.append(copy.deepcopy(call.arguments))
        return function(*listed, **named)

    known = {**vars(sys.modules[function.__module__]), function.__name__: looked_at}
    for each in doctest.DocTestFinder(recurse=False).find(function, globs=known):
        doctest.DocTestRunner(verbose=False).run(each, out=lambda _: None)
    return found[0] if found else None


def spoilt(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield values like one that is allowed, each of which may be refused, and what is wrong with them."""
    if isinstance(value, np.ndarray):
        yield "an axis more", value[None]
        yield "another axis", value[..., None]
        if value.ndim:
            yield from (("shorter", value[:-1]), ("narrower", value[..., :-1]), ("turned", value[::-1]))
            yield from (("empty", value[:0]), ("of no width", value[..., :0]))
        if value.dtype.kind in "fi" and value.size:
            for bad in (np.nan, np.inf, -1e6, 2.5e6):
                changed = value.astype(np.float64)
                changed.flat[-1] = bad
                yield f"{bad:g}", changed
            yield "negative", -1 - np.abs(value)
            yield "zeros", np.zeros_like(value)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from ((f"{bad:g}", bad) for bad in (np.nan, np.inf, -np.inf, -3, 0, 1.5, 95.0))
    elif isinstance(value, str):
        yield "luck", "luck"
    elif isinstance(value, list):
        yield "empty", []
        yield "with NaN", [*value, np.nan]


@cache
def refusals(name: str) -> tuple[tuple[str, str, str], ...]:
    """Return which argument of a function was spoilt, how, and what the refusal says."""
    arguments = called_with(REFUSING[name])
    assert arguments is not None, "its docstring has no example"
    return tuple(_refusals(REFUSING[name], arguments))


def _refusals(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    ways = inspect.signature(function).parameters
    for name, value in arguments.items():
        for how, bad in spoilt(value):
            changed = {**copy.deepcopy(dict(arguments)), name: bad}
            listed = [changed[each] for each, of in ways.items() if of.kind is not of.KEYWORD_ONLY]
            named = {each: changed[each] for each, of in ways.items() if of.kind is of.KEYWORD_ONLY}
            try:
                with warnings.catch_warnings(action="ignore"):
                    function(*listed, **named)
            except InvalidArgument as refused:
                yield name, how, str(refused)
            except Exception:  # noqa: S112 (what is no array of numbers at all is the type checker's)
                continue


@pytest.mark.parametrize("name", sorted(REFUSING))
def test_a_refusal_begins_with_the_argument_that_is_refused(name: str) -> None:
    """Spoilt one by one, by shape, NaN, infinity, sign and size, arguments are named, whichever check finds them."""
    said = refusals(name)

    assert said
    assert [each for each in said if not each[2].startswith(NAMES)] == []


def test_each_argument_is_refused_for_what_it_was_refused_for() -> None:
    """A check that is gone, or is of another argument or range, is seen as a line that differs; `*` marks what another
    argument is named for, as one of two that disagree is.
    """
    lines = []
    for name in sorted(REFUSING):
        of_each: dict[str, list[str]] = {}
        for argument, how, message in refusals(name):
            of_each.setdefault(argument, []).append(how if message.startswith(f"{argument} ") else f"{how}*")
        lines += [f"{name} {argument}: {', '.join(ways)}\n" for argument, ways in of_each.items()]

    assert_frozen("refusals", "".join(lines))
