"""Loops that are compiled on first use.

The compiler is imported here, on that first use: processes that answer requests never draw, and stay smaller.
"""

from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", bound=np.generic)


@cache
def compiled(loop: Callable[..., Any], *, reorders_sums: bool = False) -> Callable[..., Any]:
    """Return a loop over numpy arrays as machine code, cached on disk where its folder is writable.

    With `reorders_sums` partial sums are added in parallel, as numpy and BLAS do; the last digit may differ. Array
    bounds are not checked: the caller must have checked shapes. Division by zero gives infinity or NaN, as in numpy.

    >>> def total(values): return values.sum()
    >>> float(compiled(total)(np.ones(3)))
    3.0
    """
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
WORTHWHILE = 1 << 20
"""Below this many steps, starting threads costs more than it saves."""


def in_parts(n_rows: int, multiple: int, work: Callable[[slice], object], *, n_steps: int = WORTHWHILE) -> None:
    """Run compiled `work` on parts of the rows in several threads; each call may write to its own rows only.

    Parts begin at multiples of `multiple`, so that work in blocks of that many rows sees the same blocks. Few rows, or
    work of few steps in total, run in the calling thread.

    >>> done = []
    >>> in_parts(5, 2, done.append)
    >>> sorted((part.start, part.stop) for part in done)
    [(0, 2), (2, 4), (4, 5)]
    """
    if n_steps < WORTHWHILE:
        work(slice(0, n_rows))
        return
    size = max(1, -(-n_rows // (N_THREADS * PARTS * multiple))) * multiple
    parts = [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
    if len(parts) < N_THREADS * PARTS // 2:
        for part in parts:
            work(part)
        return
    _share(deque(parts), work)


NEAR_ROWS = 32
"""Columns transposed at a time, so that what is read stays in the processor's cache."""


def turned(values: NDArray[T]) -> NDArray[T]:
    """Return a contiguous transpose, [n_columns, n_rows], of values [n_rows, n_columns].

    >>> turned(np.array([[1, 2, 3]])).tolist()
    [[1], [2], [3]]
    """
    rows = np.empty(values.shape[::-1], dtype=values.dtype)

    def turn(part: slice) -> None:
        for start in range(part.start, part.stop, NEAR_ROWS):
            some = slice(start, min(start + NEAR_ROWS, part.stop))
            rows[some] = values[:, some].T

    in_parts(len(rows), 1, turn, n_steps=values.size)
    return rows


def each_of(values: NDArray[T], of: Callable[[NDArray[T]], NDArray[T]]) -> NDArray[T]:
    """Apply an elementwise function, such as numpy's ufuncs, to values of any shape in several threads.

    >>> each_of(np.array([1.0, 4.0]), np.sqrt).tolist()
    [1.0, 2.0]
    """
    results = np.empty_like(values)

    def fill(part: slice) -> None:
        results[part] = of(values[part])

    in_parts(len(values), 1, fill, n_steps=values.size)
    return results


def _share(parts: deque[slice], work: Callable[[slice], object]) -> None:
    """Work through the parts in this thread and in whichever helper threads are free.

    It never waits for a helper that has not started: calls may nest, and after a fork there are no helpers.
    """

    def help_along() -> None:
        while True:
            try:
                part = parts.popleft()
            except IndexError:
                return
            work(part)

    helpers = [_helpers().submit(help_along) for _ in range(N_THREADS - 1)]
    try:
        help_along()
    finally:
        # If a part fails here, helpers must not start on the rest.
        parts.clear()
        begun = [helper for helper in helpers if not helper.cancel()]
        wait(begun)
    for helper in begun:
        helper.result()


@cache
def _helpers() -> ThreadPoolExecutor:
    """Return the pool of helper threads; starting and ending threads for each loop was slower."""
    return ThreadPoolExecutor(N_THREADS - 1, thread_name_prefix="parts")
