"""The array types that every room uses, and the one division that defines what a zero denominator gives.

Imported wherever an array is annotated; pure. Types do not carry shapes: docstrings do, as `[n_tasks, n_entrants]`.
"""

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
