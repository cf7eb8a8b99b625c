"""Loops that are compiled when they first run. Called by the few statistics whose arrays would not fit or not do.

The compiler is loaded here and only then: processes that answer requests never draw, and are smaller without it.
"""

from collections.abc import Callable
from functools import cache
from typing import Any


@cache
def compiled(loop: Callable[..., Any], *, reorders_sums: bool = False) -> Callable[..., Any]:
    """Return a loop over numpy arrays as machine code, kept on disk where a folder for that can be written.

    With `reorders_sums` several parts of a sum are added at once, as numpy and BLAS do; the last digit may differ.
    The loop takes arrays of any shape and looks at no bound: whoever calls it has checked them.

    >>> import numpy as np
    >>> def total(values): return values.sum()
    >>> float(compiled(total)(np.ones(3)))
    3.0
    """
    from numba import njit

    how: dict[str, Any] = {"nogil": True, "fastmath": {"reassoc"} if reorders_sums else False}
    try:
        result: Callable[..., Any] = njit(cache=True, **how)(loop)
    except RuntimeError:  # no folder to keep it in: compile it anew in each process
        result = njit(**how)(loop)
    return result
