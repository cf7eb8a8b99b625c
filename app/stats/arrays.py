"""Array types, the division that defines what a zero denominator gives, and checks of arguments.

Types do not carry shapes: docstrings do, as `[n_tasks, n_entrants]`.
"""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

IntArray = NDArray[np.signedinteger[Any]]

BoolArray = NDArray[np.bool_]

Counts = NDArray[np.uint8]
"""How often each unit is drawn, one byte per unit."""

Weights = Counts | FloatArray
"""Weightings of the same units, [n_weightings, n_units]: counts of a bootstrap, or weights of the points."""


def share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Return part / whole, broadcast to one shape; NaN where the whole is not above zero.

    NaN in either argument gives NaN, and so does a quotient that overflows because the whole is almost zero. Raises
    numpy's ValueError for shapes that do not broadcast.
    Source: our convention for 0 / 0; the caller documents what NaN becomes where it is published.

    >>> share(np.array([1.0, 0.0]), np.array([4.0, 0.0])).tolist()
    [0.25, nan]
    """
    shape = np.broadcast_shapes(np.shape(part), np.shape(whole))
    with np.errstate(over="ignore"):
        shares: FloatArray = np.divide(part, whole, out=np.full(shape, np.nan), where=whole > 0)
    shares[np.isinf(shares)] = np.nan
    return shares


# Checks of arguments before anything is computed, so that no impossible input gives a plausible number.
#
# Called at the door of the public functions of `app.stats`; pure. Every check is O(n) or less. These errors report
# faults of the calling code: uploads are checked earlier, with messages that name rows and columns.

Array = NDArray[Any]


class InvalidArgument(ValueError):
    """An argument outside the domain of a statistic: the message gives its name, its value, and what is allowed."""


def require_level(level: float) -> None:
    """Raise unless a confidence level lies inside (0, 1).

    >>> require_level(95)
    Traceback (most recent call last):
    app.stats.arrays.InvalidArgument: level is 95; expected a number inside (0, 1), such as 0.95
    """
    if not (isinstance(level, Real) and 0.0 < level < 1.0):
        raise InvalidArgument(f"level is {level!r}; expected a number inside (0, 1), such as 0.95")


def require_count(name: str, value: int, *, least: int = 1) -> None:
    """Raise unless a count is a whole number of at least `least`.

    >>> require_count("n_resamples", 2.5)
    Traceback (most recent call last):
    app.stats.arrays.InvalidArgument: n_resamples is 2.5; expected a whole number of at least 1
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InvalidArgument(f"{name} is {value!r}; expected a whole number of at least {least}")


def require_number(name: str, value: float, low: float = -np.inf, high: float = np.inf) -> None:
    """Raise unless a number is finite and lies within [low, high].

    >>> require_number("threshold", float("nan"))
    Traceback (most recent call last):
    app.stats.arrays.InvalidArgument: threshold is nan; expected a finite number
    """
    if not (isinstance(value, Real) and np.isfinite(value) and low <= value <= high):
        within = "" if (low, high) == (-np.inf, np.inf) else f" within [{low:g}, {high:g}]"
        raise InvalidArgument(f"{name} is {value!r}; expected a finite number{within}")


def require_word(name: str, value: str, allowed: Sequence[str]) -> None:
    """Raise unless a word is one of those allowed.

    >>> require_word("direction", "up", ("greater", "less"))
    Traceback (most recent call last):
    app.stats.arrays.InvalidArgument: direction is 'up'; expected one of greater, less
    """
    if value not in allowed:
        raise InvalidArgument(f"{name} is {value!r}; expected one of {', '.join(allowed)}")


def require_shape(name: str, array: Array, *shape: str | int) -> None:
    """Raise unless an array has these axes: an integer is an exact length, a name any length, `[name]` at least 1.

    >>> require_shape("replicates", np.zeros(3), "[n_resamples]", "n_columns")
    Traceback (most recent call last):
    app.stats.arrays.InvalidArgument: replicates has the shape (3,); expected [n_resamples >= 1, n_columns]
    """
    is_right = array.ndim == len(shape) and all(map(_is_length, array.shape, shape))
    if not is_right:
        axes = ", ".join(f"{str(axis)[1:-1]} >= 1" if str(axis).startswith("[") else str(axis) for axis in shape)
        raise InvalidArgument(f"{name} has the shape {array.shape}; expected [{axes}]")


def _is_length(length: int, axis: str | int) -> bool:
    if isinstance(axis, str):
        return length > 0 or not axis.startswith("[")
    return length == axis


def require_numbers(name: str, array: Array) -> None:
    """Raise if an array holds a NaN; infinite numbers pass, because they can be ordered.

    >>> require_numbers("scores", np.array([1.0, np.nan]))
    Traceback (most recent call last):
    app.stats.arrays.InvalidArgument: scores holds NaN, first at (1,); expected numbers
    """
    _refuse(name, array, np.isnan(array), "expected numbers")


def require_finite(name: str, array: Array) -> None:
    """Raise if an array holds a NaN or an infinite number.

    >>> require_finite("values", np.array([[0.0, np.inf]]))
    Traceback (most recent call last):
    app.stats.arrays.InvalidArgument: values holds inf, first at (0, 1); expected finite numbers
    """
    _refuse(name, array, ~np.isfinite(array), "expected finite numbers")


def require_within(name: str, array: Array, low: float, high: float) -> None:
    """Raise if an array holds a number outside [low, high], or a NaN.

    >>> require_within("p_values", np.array([0.5, 1.5]), 0.0, 1.0)
    Traceback (most recent call last):
    app.stats.arrays.InvalidArgument: p_values holds 1.5, first at (1,); expected numbers within [0, 1]
    """
    _refuse(name, array, ~((array >= low) & (array <= high)), f"expected numbers within [{low:g}, {high:g}]")


def require_ascending(name: str, array: Array) -> None:
    """Raise unless each number of [n] is larger than the one before it.

    >>> require_ascending("thresholds", np.array([0.0, 0.0]))
    Traceback (most recent call last):
    app.stats.arrays.InvalidArgument: thresholds does not ascend: 0.0 at 1 follows 0.0
    """
    wrong = np.flatnonzero(~(array[1:] > array[:-1]))
    if len(wrong):
        at = int(wrong[0])
        raise InvalidArgument(f"{name} does not ascend: {array[at + 1].item()} at {at + 1} follows {array[at].item()}")


def require_integers(name: str, array: Array, low: int | None = None, high: int | None = None) -> None:
    """Raise unless an array is of an integer type, with every number within [low, high] where these are given.

    >>> require_integers("labels", np.array([0.5]))
    Traceback (most recent call last):
    app.stats.arrays.InvalidArgument: labels is of type float64; expected whole numbers
    """
    if array.dtype.kind not in "iu":
        raise InvalidArgument(f"{name} is of type {array.dtype}; expected whole numbers")
    if array.size and ((low is not None and array.min() < low) or (high is not None and array.max() > high)):
        ends = "" if low is None else f" from {low}"
        ends += "" if high is None else f" to {high}"
        raise InvalidArgument(f"{name} holds {array.min()} to {array.max()}; expected whole numbers{ends}")


def require_weights(name: str, array: Array) -> None:
    """Raise if a weight is negative, infinite or NaN; all of them may be zero.

    >>> require_weights("weights", np.array([1.0, -1.0]))
    Traceback (most recent call last):
    app.stats.arrays.InvalidArgument: weights holds -1.0, first at (1,); expected finite numbers, none below zero
    """
    _refuse(name, array, ~((array >= 0) & (array < np.inf)), "expected finite numbers, none below zero")


def _refuse(name: str, array: Array, is_wrong: Array, expected: str) -> None:
    if not is_wrong.any():
        return
    at = tuple(int(place) for place in np.argwhere(is_wrong)[0])
    value = array[at].item()
    shown = "NaN" if value != value else value
    raise InvalidArgument(f"{name} holds {shown}, first at {at}; {expected}")
