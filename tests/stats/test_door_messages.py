"""What the statistics say of an argument they refuse, whole: which one it is, what came, and what is allowed."""

import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import app.stats
from app.stats.arrays import InvalidArgument
from tests.cases.docstrings import public_functions
from tests.cases.frozen import assert_frozen

FUNCTIONS = public_functions(app.stats)
FITTING: dict[str, Any] = {"int": 2, "float": 0.5, "str": "mean", "bool": True}
"""An argument of each plain type that most functions can have."""
UNFIT: dict[str, tuple[Any, ...]] = {"int": (0, -1, 1.5), "float": (float("nan"), -1.0, 2.0), "str": ("nothing",)}
ARRAYS = {
    "ones": np.ones(2),
    "a square of ones": np.ones((2, 2)),
    "positions": np.arange(2),
    "a square of shares": np.array([[0.25, 0.75], [0.5, 0.5]]),
}
"""What every array of a call is, one after another: where the first is refused, a later one gets further."""
UNFIT_ARRAYS = {
    "5 axes": np.ones((1,) * 5),
    "2 axes": np.zeros((0, 0)),
    "3 long": np.ones(3),
    "3 by 2": np.ones((3, 2)),
    "NaN": np.array([1.0, np.nan]),
    "below 0": np.array([1.0, -1.0]),
    "zeros": np.zeros(2),
}


def callables() -> dict[str, Callable[..., Any]]:
    """Return by dotted name the public functions, and the public class methods of public classes beside them."""
    modules = {module: vars(sys.modules[module]) for module in {name.rpartition(".")[0] for name in FUNCTIONS}}
    makers = {
        f"{module}.{name}.{method}": getattr(each, method)
        for module, known in modules.items()
        for name, each in known.items()
        if inspect.isclass(each) and each.__module__ == module and not name.startswith("_")
        for method, bound in vars(each).items()
        if isinstance(bound, classmethod) and not method.startswith("_") and "__mutmut" not in method
    }
    return FUNCTIONS | makers


def arguments(function: Callable[..., Any], array: Any) -> dict[str, Any]:
    """Return arguments by the types of a function's parameters: the same array for all of them, and small numbers."""
    return {name: FITTING.get(_type(each), array) for name, each in inspect.signature(function).parameters.items()}


def _type(parameter: inspect.Parameter) -> str:
    return getattr(parameter.annotation, "__name__", str(parameter.annotation))


def refusals() -> Iterator[str]:
    """Yield what each public function says when one of its arguments after the other is of the wrong shape or size."""
    for name, function in sorted(callables().items()):
        for parameter, each in inspect.signature(function).parameters.items():
            plain = {repr(value): value for value in UNFIT.get(_type(each), ())}
            for array in ARRAYS.values():
                given = arguments(function, array)
                for shown, value in (plain or UNFIT_ARRAYS).items():
                    message = _refusal(function, given | {parameter: value})
                    if message is not None:
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
