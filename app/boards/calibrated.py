"""Calibrated intervals for boards whose units are tasks, and the notes about intervals from few units.

Called by the ranking methods; pure. `app.stats.calibrated` computes them.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import NormalDist

import numpy as np

from app.boards.wording import names_in_words
from app.manifest.metric import Metric
from app.stats.arrays import BoolArray, FloatArray
from app.stats.calibrated import ALL_EQUAL, FEW_UNITS, GAMMA, MIN_UNITS, STUDENT, TOO_FEW_UNITS, WILSON, intervals
from app.stats.compiled import in_parts
from app.stats.known_columns import Columns
from app.stats.spreads import SHARE, Range, Spread, task_spread
from app.stats.weighing import weighed_spread
from app.values.frame import CalibratedCells
from app.values.table import finite

CellsAt = Callable[[int], CalibratedCells]
SpreadOf = Callable[[FloatArray], Spread]
NOTHING = CalibratedCells()
MANY_TASKS = 40
"""From this many tasks on, a mean without a range keeps its coverage without allowing for unseen outliers."""
AT_ONCE = 64
"""Entrants per block, so that their values stay in the processor's cache."""


def range_of(metric: Metric) -> Range:
    """Return the declared range of a metric's scores, in its unit; infinite where the manifest sets no bound.

    Source: `min` and `max` of the metric in the manifest.

    >>> range_of(Metric(direction="minimize", min=0.0))
    Range(low=0.0, high=inf)
    """
    if metric.above is not None:
        return SHARE
    low = -np.inf if metric.min is None else metric.min
    return Range(low, np.inf if metric.max is None else metric.max)


def task_intervals(
    given: FloatArray | Columns,
    within: Range,
    level: float,
    *,
    scale: Callable[[FloatArray], FloatArray] | None = None,
    spread: SpreadOf | None = None,
    n_units: float | None = None,
) -> CellsAt:
    """Return a function from an entrant's position to the interval of its mean over tasks.

    `given` is [n_tasks, n_entrants] in any unit. `scale` turns a mean into the published number; if it is decreasing,
    the ends swap. `spread` is that of the mean of tasks [..., n_tasks], if it is not the plain mean; `n_units` is the
    effective number of tasks of values from `app.stats.weighing.weigh`. For `Columns` only those not in the cache are
    computed. A column with NaN has no interval, and neither has a mean of fewer than MIN_UNITS tasks or of equal
    values; the reason is given.
    Raises InvalidArgument, as `intervals` does. Source: `app.stats.calibrated.intervals`.

    >>> at = task_intervals(np.array([[0.0, 1.0], [1.0, np.nan]]), SHARE, 0.95)
    >>> (round(at(0).low, 2), round(at(0).high, 2), at(0).n_units, at(1).low)
    (0.0, 1.0, 2.0, None)
    """
    values = given.values if isinstance(given, Columns) else given
    of_mean = spread or (task_spread if n_units is None else partial(weighed_spread, n_units=n_units))
    known: BoolArray = ~np.asarray(np.isnan(values).any(axis=0))
    low, high = np.full((2, values.shape[1]), np.nan)
    if len(values) >= MIN_UNITS and known.any():
        # A copy of a large board's values would take a lot of memory.
        whole = values if known.all() else values[:, known]
        # What is averaged may lie outside where it is weighted; the averages do not.
        points = whole if n_units is None else whole.mean(axis=0)
        held = within.holding(float(points.min()), float(points.max()))
        if isinstance(given, Columns) and whole is values and of_mean is task_spread:
            low, high = given.numbers(("intervals", held, level), partial(_intervals, within=held, level=level))
        else:
            low[known], high[known] = _intervals(whole, held, level, of_mean)
    if scale is not None:
        low, high = np.minimum(scale(low), scale(high)), np.maximum(scale(low), scale(high))
    return _cells_at(low, high, known, how_of(within), float(len(values)) if n_units is None else n_units)


def _cells_at(low: FloatArray, high: FloatArray, known: BoolArray, how: str, units: float) -> CellsAt:
    """Return the cells of ends [n_entrants], without a reference to the values, which take a lot of memory."""
    reason = TOO_FEW_UNITS if units < MIN_UNITS else ALL_EQUAL
    without = CalibratedCells(None, None, reason, units)
    ends = zip(known.tolist(), low.tolist(), high.tolist(), strict=True)
    each = [
        NOTHING
        if not is_known
        else without
        if math.isnan(begin)
        else CalibratedCells(finite(begin), finite(end), how, units)
        for is_known, begin, end in ends
    ]
    return each.__getitem__


def _intervals(values: FloatArray, within: Range, level: float, spread: SpreadOf = task_spread) -> FloatArray:
    """Return the ends of each column, [2, n_columns]."""
    ends = np.empty((2, values.shape[1]))

    def fill(part: slice) -> None:
        for start in range(part.start, part.stop, AT_ONCE):
            columns = slice(start, min(start + AT_ONCE, part.stop))
            ends[:, columns] = intervals(spread(values[:, columns].T), within, level)

    in_parts(values.shape[1], AT_ONCE, fill)
    return ends


def how_of(within: Range) -> str:
    """Return the name of the method used for the interval of a mean with this range.

    >>> how_of(SHARE), how_of(Range(low=0.0)), how_of(Range())
    ('wilson_neff', 'gamma', 'student_skew')
    """
    if within.is_bounded:
        return WILSON
    return GAMMA if np.isfinite(within.low) or np.isfinite(within.high) else STUDENT


def few_units_note(few: Sequence[tuple[str, float]], units: str, level: float) -> Iterator[str]:
    """Yield a note on how far intervals from fewer than eight units can be trusted; `few` pairs entrants with units.

    Source: the lower end of the interval of n successes of n, n / (n + z²): Wilson 1927.

    >>> [note.split(":")[0] for note in few_units_note([("A", 3.0), ("B", 9.0)], "tasks", 0.95)]
    ['Fewer than eight tasks behind A']
    """
    below = [(name, n_units) for name, n_units in few if MIN_UNITS <= n_units < FEW_UNITS]
    if not below:
        return
    fewest = min(n_units for _, n_units in below)
    least = fewest / (fewest + NormalDist().inv_cdf((1 + level) / 2) ** 2)
    whose = names_in_words([name for name, _ in below])
    yield (
        f"Fewer than eight {units} behind {whose}: so few cannot show how much they "
        f"differ, and the intervals are wide. Were each a success or a failure, {fewest:.3g} {units} that all succeed "
        f"would still allow a true rate as low as {least:.2f}, and a rare failure may not have been seen yet."
    )


def hidden_tasks_note(n_tasks: int, within: Range) -> Iterator[str]:
    """Yield a note on what the interval of a mean over few tasks assumes when no range bounds an outlying task.

    Source: `bench.interval_coverage`, its tasks of which one in ten is an outlier; docs/statistics.md.

    >>> [len(list(hidden_tasks_note(*board))) for board in ((10, Range()), (10, SHARE), (40, Range()))]
    [1, 0, 0]
    """
    if MIN_UNITS <= n_tasks < MANY_TASKS and not within.is_bounded:
        yield (
            f"Scores without a declared range on {n_tasks} tasks: one far off the others may not be among so few. "
            "Their intervals reach further for it, so that they hold where one task in ten is off by six standard "
            "deviations of the others; where one is off by ten, intervals from 10 tasks that say 95 % hold in 85 of "
            "100 cases."
        )
