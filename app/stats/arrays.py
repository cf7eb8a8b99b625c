"""The array types that every room uses, and the one division in which a zero denominator is defined.

Called by every module that names an array's type; pure. Docstrings give the shapes, as `[n_tasks, n_entrants]`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.signedinteger[Any]]
BoolArray = NDArray[np.bool_]
Counts = NDArray[np.uint8]
"""How often a unit is drawn, a byte each."""
Weights = Counts | FloatArray
"""Weightings of the same units, [n_weightings, n_units]: counts of a bootstrap, or weights of the points."""


def share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Return part / whole, broadcast to one shape; NaN where the whole is not above zero: a share of nothing is none.

    A NaN of the part stays NaN, as does one of the whole, and so is what is too large to be written down: a whole that
    is next to nothing gives no share either. Raises ValueError, numpy's own, for shapes that do not
    broadcast. Source: by definition; docs of the caller say what NaN becomes where it is published.

    >>> share(np.array([1.0, 0.0]), np.array([4.0, 0.0])).tolist()
    [0.25, nan]
    """
    shape = np.broadcast_shapes(np.shape(part), np.shape(whole))
    with np.errstate(over="ignore"):
        shares: FloatArray = np.divide(part, whole, out=np.full(shape, np.nan), where=whole > 0)
    shares[np.isinf(shares)] = np.nan
    return shares
