"""Loops that are compiled on first use, and large ones run in two threads.

The compiler is imported here, on that first use: processes that answer requests never draw, and stay smaller.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", bound=np.generic)


def compiled(*, reorders_sums: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a loop over numpy arrays machine code when it is first called, cached on disk where its folder is writable.

    With `reorders_sums` partial sums are added in parallel, as numpy and BLAS do; the last digit may differ. Array
    bounds are not checked: the caller must have checked shapes. Division by zero gives infinity or NaN, as in numpy.

    >>> @compiled()
    ... def total(values): return values.sum()
    >>> float(total(np.ones(3)))
    3.0
    """

    def decorate(loop: Callable[..., Any]) -> Callable[..., Any]:
        machine_code: Callable[..., Any] | None = None

        @wraps(loop)
        def run(*given: Any) -> Any:
            nonlocal machine_code
            if machine_code is None:
                machine_code = _compile(loop, reorders_sums)
            return machine_code(*given)

        return run

    return decorate


def _compile(loop: Callable[..., Any], reorders_sums: bool) -> Callable[..., Any]:
    from numba import njit

    how: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"reassoc"} if reorders_sums else False}
    try:
        result: Callable[..., Any] = njit(cache=True, **how)(loop)
    except RuntimeError:  # no folder to keep it in: compile it anew in each process
        result = njit(**how)(loop)
    return result


N_THREADS = 2
PARTS = 8
"""Parts per thread: more than one, because some take longer than others."""
WORTHWHILE = 1 << 24
"""Below this many steps, starting threads costs more than it saves."""


def in_parts(n_rows: int, multiple: int, work: Callable[[slice], object], *, n_steps: int) -> None:
    """Run compiled `work` on parts of the rows in two threads; each call may write to its own rows only.

    Parts begin at multiples of `multiple`, so that work in blocks of that many rows sees the same blocks. Work of few
    steps in total runs in the calling thread.

    >>> done = []
    >>> in_parts(5, 2, done.append, n_steps=WORTHWHILE)
    >>> sorted((part.start, part.stop) for part in done)
    [(0, 2), (2, 4), (4, 5)]
    """
    if n_steps < WORTHWHILE:
        work(slice(0, n_rows))
        return
    size = max(1, -(-n_rows // (N_THREADS * PARTS * multiple))) * multiple
    with ThreadPoolExecutor(N_THREADS) as pool:
        list(pool.map(work, (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))))


NEAR_ROWS = 32
"""Columns transposed at a time, so that what is read stays in the processor's cache."""


def turned(values: NDArray[T]) -> NDArray[T]:
    """Return a contiguous transpose, [n_columns, n_rows], of values [n_rows, n_columns].

    >>> turned(np.array([[1, 2, 3]])).tolist()
    [[1], [2], [3]]
    """
    rows = np.empty(values.shape[::-1], dtype=values.dtype)
    for start in range(0, len(rows), NEAR_ROWS):
        rows[start : start + NEAR_ROWS] = values[:, start : start + NEAR_ROWS].T
    return rows
