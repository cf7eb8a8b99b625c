"""What the statistics say of an argument they refuse, whole: which one it is, what came, and what is allowed."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import app.stats
from app.stats.checks import InvalidArgument
from tests.cases.docstrings import public_functions
from tests.cases.frozen import assert_frozen

FUNCTIONS = public_functions(app.stats)
FITTING: dict[str, Any] = {"int": 2, "float": 0.5, "str": "mean", "bool": True}
"""An argument of each plain type that most functions can have."""
UNFIT: dict[str, tuple[Any, ...]] = {"int": (0, -1, 1.5), "float": (float("nan"), -1.0, 2.0), "str": ("nothing",)}


def arguments(function: Callable[..., Any]) -> dict[str, Any]:
    """Return arguments by the types of a function's parameters: arrays of two ones, and small numbers."""
    return {name: FITTING.get(_type(each), np.ones(2)) for name, each in inspect.signature(function).parameters.items()}


def _type(parameter: inspect.Parameter) -> str:
    return getattr(parameter.annotation, "__name__", str(parameter.annotation))


def refusals() -> Iterator[str]:
    """Yield what each public function says when one of its arguments after the other is of the wrong shape or size."""
    for name, function in sorted(FUNCTIONS.items()):
        for parameter, each in inspect.signature(function).parameters.items():
            for value in UNFIT.get(_type(each), (np.ones((1,) * 5), np.zeros((0, 0)))):
                message = _refusal(function, arguments(function) | {parameter: value})
                if message is not None:
                    shown = f"{value!r}" if np.ndim(value) == 0 else f"{np.ndim(value)} axes"
                    yield f"{name.removeprefix('app.stats.')}({parameter}={shown}): {message}"


def _refusal(function: Callable[..., Any], given: dict[str, Any]) -> str | None:
    try:
        function(**given)
    except InvalidArgument as error:
        return str(error)
    except Exception:  # noqa: S110 - what such arguments do elsewhere is not asked here
        pass
    return None


@pytest.mark.heavy
def test_what_is_refused_is_said_as_it_was() -> None:
    """Whoever calls a function wrongly learns which argument is meant."""
    with np.errstate(all="ignore"):
        message = sorted(set(refusals()))

    assert len(message) > len(FUNCTIONS)
    assert_frozen("refusals", "\n".join(message) + "\n")
