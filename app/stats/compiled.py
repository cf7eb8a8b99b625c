"""Loops that are compiled when they first run. Called by the few statistics whose arrays would not fit or not do.

The compiler is loaded here and only then: processes that answer requests never draw, and are smaller without it.
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
    """Return a loop over numpy arrays as machine code, kept on disk where a folder for that can be written.

    With `reorders_sums` several parts of a sum are added at once, as numpy and BLAS do; the last digit may differ.
    The loop takes arrays of any shape and looks at no bound: whoever calls it has checked them. A division by zero is
    infinite or NaN, as numpy has it.

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
"""So many parts a thread: some take longer than others."""
WORTHWHILE = 1 << 20
"""Fewer steps take less time than threads take to begin."""


def in_parts(n_rows: int, multiple: int, work: Callable[[slice], object], *, n_steps: int = WORTHWHILE) -> None:
    """Do compiled work on the rows part by part, on several processors; it must write to its own rows alone.

    Parts begin at multiples of `multiple`, so that work which goes by so many rows goes by the same ones. Few rows, and
    work of few steps in all, are done here and now.

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
"""So many columns become rows at a time: what is read of them stays near the processor."""


def turned(values: NDArray[T]) -> NDArray[T]:
    """Return columns as rows that lie together, [n_columns, n_rows] of values [n_rows, n_columns].

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
    """Return a function of each number by itself, as numpy's are, of values of any shape.

    >>> each_of(np.array([1.0, 4.0]), np.sqrt).tolist()
    [1.0, 2.0]
    """
    results = np.empty_like(values)

    def fill(part: slice) -> None:
        results[part] = of(values[part])

    in_parts(len(values), 1, fill, n_steps=values.size)
    return results


def _share(parts: deque[slice], work: Callable[[slice], object]) -> None:
    """Do the parts here and in the helping threads, as far as these have time.

    Nobody waits for a helper that has not begun: parts may be shared within a part, and after a fork nobody helps.
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
        # What fails here leaves nothing to begin with there.
        parts.clear()
        begun = [helper for helper in helpers if not helper.cancel()]
        wait(begun)
    for helper in begun:
        helper.result()


@cache
def _helpers() -> ThreadPoolExecutor:
    """Return the threads that help whoever has parts to share; to begin and end them for each loop took longer."""
    return ThreadPoolExecutor(N_THREADS - 1, thread_name_prefix="parts")
