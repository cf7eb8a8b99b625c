"""Loops that are compiled when they first run. Called by the few statistics whose arrays would not fit or not do.

The compiler is loaded here and only then: processes that answer requests never draw, and are smaller without it.
"""

from collections.abc import Callable
from functools import cache
from typing import Any


@cache
def compiled(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Return a loop over numpy arrays as machine code, kept on disk where a folder for that can be written."""
    from numba import njit

    compile_it = njit(nogil=True, cache=True)
    try:
        result: Callable[..., Any] = compile_it(loop)
    except RuntimeError:  # no folder to keep it in: compile it anew in each process
        result = njit(nogil=True)(loop)
    return result
