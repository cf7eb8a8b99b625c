"""Loops over every pair of entrants and every resample, compiled on first use, and large ones run in two threads: a
full three-way array would not fit in memory. Deviations are [n_entrants, n_resamples], each row of mean 0. Memory is
that of the deviations and of squares [n_entrants, n_entrants], never that of the product of the three.

The compiler is imported here, on that first use: a process that computes no board stays smaller.
"""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import wraps
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from app.stats.arrays import BoolArray, FloatArray, IntArray, require_shape

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


def run_chunks(n_rows: int, multiple: int, work: Callable[[slice], object], *, n_steps: int) -> None:
    """Run compiled `work` on parts of the rows in two threads; each call may write to its own rows only.

    Parts begin at multiples of `multiple`, so that work in blocks of that many rows sees the same blocks. Work of few
    steps in total runs in the calling thread.

    >>> done = []
    >>> run_chunks(5, 2, done.append, n_steps=WORTHWHILE)
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


def transposed(values: NDArray[T]) -> NDArray[T]:
    """Return a contiguous transpose, [n_columns, n_rows], of values [n_rows, n_columns].

    >>> transposed(np.array([[1, 2, 3]])).tolist()
    [[1], [2], [3]]
    """
    rows = np.empty(values.shape[::-1], dtype=values.dtype)
    for start in range(0, len(rows), NEAR_ROWS):
        rows[start : start + NEAR_ROWS] = values[:, start : start + NEAR_ROWS].T
    return rows


Real = NDArray[np.floating[Any]]

Signs = NDArray[np.int8]

NEAR = 8
"""Rows per block: they stay in the processor's cache while all other rows are read."""

ILL_CONDITIONED = 1e3
"""Deviations this many times larger than their difference lose too many of its digits in single precision."""


def pair_variances(deviations: FloatArray) -> FloatArray:
    """Return the variance over resamples of each pairwise difference, [n_entrants, n_entrants].

    `deviations` is [n_entrants, n_resamples]. Differences are squared after subtracting, so that what two entrants have
    in common costs no precision. Variances are in the squared unit of the deviations; a row with NaN has NaN variances.
    Raises InvalidArgument for deviations without two axes, and for no resample.
    Source: the sample variance, with the divisor n_resamples − 1.

    >>> pair_variances(np.array([[1.0, -1.0], [-1.0, 1.0]])).tolist()
    [[0.0, 8.0], [8.0, 0.0]]
    """
    require_shape("deviations", deviations, "n_entrants", "[n_resamples]")
    rows = np.ascontiguousarray(deviations)
    sums = np.zeros((len(rows), len(rows)))
    n_steps = len(rows) * rows.size // 2
    run_chunks(len(rows), NEAR, lambda part: _add_squares(rows, sums, part.start, part.stop), n_steps=n_steps)
    sums /= max(deviations.shape[1] - 1, 1)
    return sums


@compiled(reorders_sums=True)
def _add_squares(rows: FloatArray, sums: FloatArray, begin: int, end: int) -> None:
    for start in range(begin, end, NEAR):
        for second in range(start + 1, len(rows)):
            b = rows[second]
            for first in range(start, min(start + NEAR, end, second)):
                a = rows[first]
                total = 0.0
                for at in range(len(a)):
                    difference = a[at] - b[at]
                    total += difference * difference
                sums[first, second] = total
                sums[second, first] = total


@dataclass(frozen=True)
class Studentized:
    """Deviations `rows` [n_entrants, n_resamples] and `factors` [n_entrants, n_entrants] that studentize differences.

    Both are in single precision unless some difference is more than ILL_CONDITIONED times smaller than its terms. Rows
    and factors are scaled by a power of two, which is exact: in either precision, a pair's numbers do not depend on the
    other entrants.
    """

    rows: Real
    factors: Real

    @classmethod
    def of(cls, deviations: FloatArray, drawn: FloatArray) -> Self:
        """Combine deviations [n_entrants, n_resamples] with one over the standard deviation of each difference.

        `drawn` [n_entrants, n_entrants] holds those standard deviations, 0 for a pair to leave out. Deviations may not
        be NaN.
        Raises InvalidArgument for mismatched shapes.
        Source: studentization as in Mogstad et al. 2024, section 3.

        >>> Studentized.of(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([[0.0, 2.0], [2.0, 0.0]])).factors.tolist()
        [[0.0, 0.5], [0.5, 0.0]]
        """
        require_shape("deviations", deviations, "n_entrants", "[n_resamples]")
        require_shape("drawn", drawn, len(deviations), len(deviations))
        size = float(np.sqrt(np.vdot(deviations, deviations) / deviations.size))
        scale = math.ldexp(1.0, math.frexp(size)[1] - 1) if size > 0.0 else 1.0
        is_exact = size > ILL_CONDITIONED * float(np.min(drawn, where=drawn > 0.0, initial=np.inf))
        precision = np.float64 if is_exact else np.float32
        rows, factors = np.empty(deviations.shape, dtype=precision), np.zeros(drawn.shape, dtype=precision)
        np.divide(deviations, scale, out=rows, casting="same_kind")
        np.divide(scale, drawn, out=factors, where=drawn > 0.0, casting="same_kind")
        return cls(rows, factors)

    def largest(self) -> Real:
        """Return each row's largest studentized difference from any later one, [n_entrants, n_resamples].

        A few earlier ones may be among them, which changes nothing of the largest of all.

        Source: Mogstad, Romano, Shaikh & Wilhelm 2024, section 3.

        >>> pair = Studentized.of(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([[0.0, 2.0], [2.0, 0.0]]))
        >>> pair.largest().max(axis=0).tolist()
        [1.0, 1.0]
        """
        largest = np.zeros(self.rows.shape, dtype=self.rows.dtype)
        among, n_steps = (self.rows, self.factors, largest), len(self.rows) * self.rows.size // 2
        run_chunks(len(self.rows), NEAR, lambda part: _keep_largest(*among, part.start, part.stop), n_steps=n_steps)
        return largest


@compiled()
def _keep_largest(rows: Real, factors: Real, largest: Real, begin: int, end: int) -> None:
    """Compare rows with all later ones, four at a time: so the compiler keeps the largest in wide registers."""
    last = len(rows) - 1
    for start in range(begin, end, NEAR):
        for second in range(start, len(rows), 4):
            b, c, d, e = second, min(second + 1, last), min(second + 2, last), min(second + 3, last)
            row_b, row_c, row_d, row_e = rows[b], rows[c], rows[d], rows[e]
            for first in range(start, min(start + NEAR, end)):
                own, factor, most = rows[first], factors[first], largest[first]
                by_b, by_c, by_d, by_e = factor[b], factor[c], factor[d], factor[e]
                for at in range(len(own)):
                    here, value = own[at], most[at]
                    of_b = abs(here - row_b[at]) * by_b
                    value = of_b if of_b > value else value
                    of_c = abs(here - row_c[at]) * by_c
                    value = of_c if of_c > value else value
                    of_d = abs(here - row_d[at]) * by_d
                    value = of_d if of_d > value else value
                    of_e = abs(here - row_e[at]) * by_e
                    most[at] = of_e if of_e > value else value


@compiled()
def fill_signs(
    points: FloatArray,
    roots: FloatArray,
    drawn: FloatArray,
    sizes: FloatArray,
    is_sized: bool,
    tie: float,
    place: IntArray,
    least: FloatArray,
    of_signs: BoolArray,
    has_spread: BoolArray,
    signs: Signs,
    begin: int,
    end: int,
) -> None:
    """Fill the rows from `begin` to `end` of `AllPairs.signs`; `sizes` is used only if `is_sized`.

    `least` and `of_signs` [n_steps] give, for each number of degrees of freedom, the smallest significant size and
    whether equal signs alone are significant; a pair has the smaller `place` [n] of its two.
    Source: `AllPairs.signs`.

    >>> signs, spread = np.zeros((2, 2), dtype=np.int8), np.array([[0.0, 0.5], [0.5, 0.0]])
    >>> steps = (np.zeros(2, dtype=np.int64), np.full(1, 2.0), np.zeros(1, dtype=np.bool_))
    >>> known = np.ones(2, dtype=np.bool_)
    >>> fill_signs(np.array([3.0, 1.0]), np.ones(2), spread, spread, False, 1e-12, *steps, known, signs, 0, 2)
    >>> signs.tolist()
    [[0, 1], [-1, 0]]
    """
    n_entrants, is_one = len(points), len(least) == 1
    # Without a branch in the loop, the compiler can vectorize it over columns.
    for row in range(begin, end):
        point, root, is_known = points[row], roots[row], has_spread[row]
        bar, by_signs = least[0], of_signs[0]
        for column in range(n_entrants):
            spread, difference = drawn[row, column], point - points[column]
            varies = spread > 0.0
            error = spread * max(root, roots[column]) if varies else 1.0
            size = sizes[row, column] if is_sized else abs(difference) / error
            if not is_one:
                step = min(place[row], place[column])
                bar, by_signs = least[step], of_signs[step]
            counts = (varies & (size > bar)) | (~varies & by_signs)
            counts &= is_known & has_spread[column]
            signs[row, column] = np.int8(counts & (difference > tie)) - np.int8(counts & (difference < -tie))


@compiled()
def fill_leads(
    points: FloatArray,
    roots: FloatArray,
    drawn: FloatArray,
    sizes: FloatArray,
    is_sized: bool,
    tie: float,
    place: IntArray,
    rivals: BoolArray,
    largest: FloatArray,
    is_constant: BoolArray,
    begin: int,
    end: int,
) -> None:
    """Fill the rows from `begin` to `end` of `AllPairs.leads`: the largest size of a rival's better score by step.

    `is_constant` becomes True where a rival is better by the same in every resample; the rest is as in `fill_signs`.
    Source: `AllPairs.leads`.

    >>> largest, constant = np.full((2, 1), -np.inf), np.zeros((2, 1), dtype=np.bool_)
    >>> spread, known = np.array([[0.0, 0.5], [0.5, 0.0]]), np.ones(2, dtype=np.bool_)
    >>> given = (np.array([3.0, 1.0]), np.ones(2), spread, spread, False, 1e-12, np.zeros(2, dtype=np.int64), known)
    >>> fill_leads(*given, largest, constant, 0, 2)
    >>> largest.tolist()
    [[-inf], [4.0]]
    """
    for row in range(begin, end):
        point, root = points[row], roots[row]
        for rival in range(len(points)):
            difference = points[rival] - point
            if difference > tie and rivals[rival]:
                step, spread = min(place[row], place[rival]), drawn[row, rival]
                if spread > 0.0:
                    size = sizes[row, rival] if is_sized else difference / (spread * max(root, roots[rival]))
                    largest[row, step] = max(largest[row, step], size)
                else:
                    is_constant[row, step] = True
