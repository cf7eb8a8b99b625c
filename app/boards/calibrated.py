"""Calibrated intervals for boards whose units are tasks, and the notes about intervals from few units.
`app.stats.calibrated` computes them.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from app.boards.units import TaskUnits
from app.manifest.model import Metric, Uncertainty
from app.names import names_in_words
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.stats.betting import betting_interval
from app.stats.calibrated import ALL_EQUAL, FEW_UNITS, GAMMA, MIN_UNITS, STUDENT, TOO_FEW_UNITS, WILSON, intervals
from app.stats.resample import NamedResamples, unit_keys
from app.stats.spreads import SHARE, Range, Spread, family_spread, task_spread, variance_factors, weighed_spread
from app.values.frame import CalibratedCells
from app.values.table import finite

CellsAt = Callable[[int], CalibratedCells]

SpreadOf = Callable[[FloatArray], Spread]

NOTHING = CalibratedCells()

FREE = "assumption_free"
FREE_ENDS = (f"{FREE}_low", f"{FREE}_high")
"""The columns of the interval that assumes nothing but the range of a score."""

MANY_TASKS = 40
"""From this many tasks on, a mean without a range keeps its coverage without allowing for unseen outliers."""

MOST_TAILED = 100
"""Tasks up to which a mean with one end of a range is said to miss a long tail: 40 do, and more are not simulated."""

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
    values: FloatArray,
    within: Range,
    level: float,
    *,
    scale: Callable[[FloatArray], FloatArray] | None = None,
    spread: SpreadOf | None = None,
    units: TaskUnits | None = None,
) -> CellsAt:
    """Return a function from an entrant's position to the interval of its mean over tasks.

    `values` are [n_tasks, n_entrants] in any unit. `scale` turns a mean into the published number; if it is decreasing,
    the ends swap. `spread` is that of the mean of tasks [..., n_tasks], if it is not the plain mean. With `units`
    families of tasks are the units; where they have weights, values are those of `app.stats.spreads.weigh`. A spread of
    one's own is of values as `TaskUnits.jackknifed` gives them, where its units are families.
    A column with NaN has no interval, and neither has a mean of fewer than MIN_UNITS units or of equal values; the
    reason is given.
    Raises InvalidArgument, as `intervals` does. Source: `app.stats.calibrated.intervals`.

    >>> at = task_intervals(np.array([[0.0, 1.0], [1.0, np.nan]]), SHARE, 0.95)
    >>> (round(at(0).low, 2), round(at(0).high, 2), at(0).n_units, at(1).low)
    (0.0, 1.0, 2.0, None)
    """
    n_units = None if units is None or (units.are_tasks and units.weights is None) else units.number()
    if spread is not None or n_units is None or units is None:
        of_mean = spread or task_spread
    elif units.are_tasks:
        of_mean = partial(weighed_spread, n_units=n_units)
    else:
        of_mean = partial(family_spread, family=units.place, n_units=n_units)
    known: BoolArray = ~np.asarray(np.isnan(values).any(axis=0))
    low, high = np.full((2, values.shape[1]), np.nan)
    if len(values) >= MIN_UNITS and known.any():
        # A copy of a large board's values would take a lot of memory.
        whole = values if known.all() else values[:, known]
        # What is averaged may lie outside where it is weighted; the averages do not.
        points = whole if n_units is None else whole.mean(axis=0)
        if units is not None and spread is None:
            whole = units.jackknifed(whole)
        held = within.holding(float(points.min()), float(points.max()))
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


def _intervals(values: FloatArray, within: Range, level: float, spread: SpreadOf) -> FloatArray:
    """Return the ends of each column, [2, n_columns]."""
    ends = np.empty((2, values.shape[1]))
    for start in range(0, values.shape[1], AT_ONCE):
        columns = slice(start, start + AT_ONCE)
        ends[:, columns] = intervals(spread(values[:, columns].T), within, level)
    return ends


def how_of(within: Range) -> str:
    """Return the name of the method used for the interval of a mean with this range.

    >>> how_of(SHARE), how_of(Range(low=0.0)), how_of(Range())
    ('wilson_neff', 'gamma', 'student_skew')
    """
    if within.is_bounded:
        return WILSON
    return GAMMA if np.isfinite(within.low) or np.isfinite(within.high) else STUDENT


def few_units_note(
    few: Sequence[tuple[str, float]], units: str, level: float, *, is_rate: bool = False
) -> Iterator[str]:
    """Yield a note on how far intervals from fewer than eight units can be trusted; `few` pairs entrants with units.

    Of a score that `is_rate` it says how far the rate may be off where every unit succeeded, or failed.

    Source: the lower end of the exact interval of n successes of n: Clopper & Pearson 1934; intervals are Wilson's.

    >>> [note.split(":")[0] for note in few_units_note([("A", 3.0), ("B", 9.0)], "tasks", 0.95)]
    ['The results of A are worth fewer than eight independent tasks']
    """
    below = [(name, n_units) for name, n_units in few if MIN_UNITS <= n_units < FEW_UNITS]
    if not below:
        return
    fewest = min(n_units for _, n_units in below)
    least = ((1 - level) / 2) ** (1 / fewest)
    whose = names_in_words([name for name, _ in below])
    rate = (
        f" The exact interval of a rate reaches down to {least:.2f} where {fewest:.0f} {units} all succeed, and up to "
        f"{1.0 - least:.2f} where as many all fail; Wilson's, which is shown, is shorter there."
    )
    yield (
        f"The results of {whose} are worth fewer than eight independent {units}: so few say little about how much "
        f"{units} vary, on which intervals and tests rest.{rate if is_rate else ''}"
    )


def hidden_tasks_note(
    n_tasks: int, within: Range, *, said: str = "", is_beside: bool = False, n_compared: int = 0
) -> Iterator[str]:
    """Yield a note on what the interval of a mean over few tasks assumes of an outlying task, in a range or without.

    `n_tasks` may be an effective number; `said` is then what a reader counts, such as "37 families of tasks, worth
    about 21 of equal size,". `is_beside`: see `rare_note`. `n_compared` entrants are compared by such means; of
    fewer than two it says nothing of comparisons. Source: `bench.interval_coverage`, its tasks of which one in ten is
    an outlier, `rare_note` and `hidden_pair_note`; docs/statistics.md.

    >>> boards = (10, Range()), (10, SHARE), (40, Range()), (40, Range(0.0))
    >>> [len(list(hidden_tasks_note(*board))) for board in boards]
    [1, 1, 0, 1]
    """
    if within.is_bounded:
        yield from rare_note("tasks", n_tasks, is_beside=is_beside, is_compared=n_compared > 1)
        return
    is_tailed = how_of(within) == GAMMA
    if is_tailed and MIN_UNITS <= n_tasks <= MOST_TAILED:
        yield (
            "Scores have a range with one end, and so few tasks may not show a long tail: if they were log-normal with "
            "σ 1.5, an interval of 95 % from 5 to 40 tasks would hold in 81 to 90 of 100 cases."
        )
    if not is_tailed and MIN_UNITS <= n_tasks < MANY_TASKS:
        of_equals = _far_equals(n_tasks, n_compared)
        compared = f" Comparisons are not widened: {of_equals}." if of_equals else ""
        yield (
            f"Scores have no declared range, and {said or f'{n_tasks} tasks'} may not include one that is far off. The "
            "intervals are widened for it: they hold where one in ten is off by six standard deviations of the others. "
            f"Where it is off by ten, an interval of 95 % from 10 would hold in only 85 of 100 cases.{compared}"
        )
    else:
        yield from hidden_pair_note(n_tasks, within, n_compared)


HELD: Mapping[int, int] = {5: 91, 10: 87, 20: 91}
"""Over so many tasks, one in ten off by six standard deviations: in how many of 100 cases intervals of a pair hold."""
TOLD: Mapping[int, Mapping[int, int]] = {
    2: {5: 8, 10: 10, 20: 8},
    5: {5: 7, 10: 13, 20: 17, 40: 8},
    20: {5: 7, 10: 19, 20: 35, 40: 17, 100: 8},
}
"""Of so many equals, half of them with such tasks, over so many: on how many of 100 boards some are told apart."""
MANY_FOR: Mapping[int, int] = {2: MANY_TASKS, 5: 100, 20: 200}
"""From how many tasks on that is as seldom as it should be."""


def _far_equals(n_units: float, n_compared: int) -> str:
    """Return how often equals are told apart where some have tasks that are far off; empty where that is seldom."""
    n_equals = max((n for n in TOLD if n <= n_compared), default=0)
    if not n_equals or not MIN_UNITS <= n_units < MANY_FOR[n_equals]:
        return ""
    told = TOLD[n_equals]
    n, fewer = _simulated(told, n_units)
    if n_equals == min(TOLD):
        two = "two equals, of which one is off by six on one task in ten"
        return f"{two}, would be told apart in {told[n]} of 100 cases from {n}{fewer}"
    some = f"of {n_equals} equals, half of them off by six on one task in ten, some would be told apart"
    return f"{some} on {told[n]} of 100 boards of {n} tasks{fewer}"


def _simulated(known: Mapping[int, int], n_units: float) -> tuple[int, str]:
    """Return the largest number of tasks that was simulated and is not above theirs, and words where all are."""
    n = max((n for n in known if n <= n_units), default=min(known))
    return n, "" if n <= n_units else ", the fewest that were simulated"


def hidden_pair_note(n_units: float, within: Range, n_compared: int) -> Iterator[str]:
    """Yield what comparisons of entrants over few tasks assume of an outlying one; see `hidden_tasks_note`.

    Source: `rare_note` and `bench.interval_failures`, its differences and equals over tasks; docs/statistics.md.

    >>> boards = (10, Range(), 2), (10, SHARE, 2), (40, Range(), 2), (40, Range(), 20)
    >>> [len(list(hidden_pair_note(*board))) for board in boards]
    [1, 1, 0, 1]
    """
    if within.is_bounded:
        yield from rare_note("tasks", n_units)
    elif of_equals := _far_equals(n_units, n_compared):
        held = ""
        if n_units < MANY_TASKS:
            n, fewer = _simulated(HELD, n_units)
            held = (
                " Where one in ten is off by six standard deviations of the others, an interval of a difference of "
                f"95 % from {n}{fewer} holds in {HELD[n]} of 100 cases;"
            )
        yield (
            "Comparisons are not widened for a task that is far off."
            f"{held or ' Where it is so by six standard deviations of the others,'} {of_equals}."
        )


PLACES = "one were the worst of a hundred on one task in twenty and near the best on the others"
RARE: Mapping[str, tuple[str, str, int, Mapping[int, int]]] = {
    "tasks": (
        "one task in twenty scored the worst possible and the others were better by nine tenths of the range",
        "tasks",
        100,
        {5: 53, 10: 44, 20: 63, 40: 86},
    ),
    "places": (PLACES, "tasks", 100, {5: 55, 10: 41, 20: 65, 40: 84}),
    "seeds": (
        "one seed in ten failed in all of its 50 episodes and the others in one episode of ten",
        "seeds",
        45,
        {3: 77, 5: 52, 8: 57, 16: 81, 30: 94},
    ),
    "off": (
        "one seed in ten were off by twenty standard deviations of the others",
        "seeds",
        35,
        {3: 84, 5: 67, 8: 59, 16: 81},
    ),
    "iqm": (
        "two or three seeds in ten, of 20 returns each, were worse by nine standard deviations of these",
        "seeds",
        16,
        {3: 71, 5: 81, 8: 86, 12: 92},
    ),
    "rmse": ("one error in fifty were ten times as large", "examples", 1000, {30: 34, 100: 68, 300: 88}),
}
"""Worlds in which intervals fail, their units, from how many of these on they and comparisons hold, and in how many of
100 cases intervals do.

Their words hold for what is maximized and what is minimized: such a figure as 0.9 would be a good score or a bad one.
"""
TOLD_BESIDE_STEADY: Mapping[str, Mapping[int, int]] = {
    "seeds": {3: 0, 5: 9, 8: 32, 16: 20, 30: 5},
    "off": {3: 11, 5: 34, 8: 38, 16: 18},
    "seeds that are shared": {3: 8, 5: 31, 8: 42, 16: 18, 30: 6},
}
"""In how many of 100 cases two equals are told apart, one being so, the other's units alike: `bench.few_seeds` and, of
seeds that are off, `bench.interval_failures`. Where seeds are shared each of their episodes is as hard for both."""


FEW_OPPONENTS = 4
"""Among so few a rare worst place is not far from the others, and intervals of places hold."""


def may_hide(world: str, n_units: float) -> bool:
    """Say whether so few units may hide what is rare in a world, so that intervals hold too seldom; never for ''.

    >>> may_hide("seeds", 9.0), may_hide("seeds", 45.0), may_hide("", 9.0)
    (True, False, False)
    """
    return world in RARE and MIN_UNITS <= n_units < RARE[world][2]


def rare_note(
    world: str, n_units: float, *, is_beside: bool = False, is_compared: bool = True, are_shared: bool = False
) -> Iterator[str]:
    """Yield a note on a world in which intervals of so few units hold too seldom; none where they hold, or for ''.

    `is_beside` says that an interval that assumes nothing but the range is in columns beside them, `is_compared` that
    entrants are compared by these numbers, too, `are_shared` that they are, unit by unit.
    Source: `bench.interval_failures`; docs/statistics.md.

    >>> "from 8 seeds would hold in only 57 of 100 cases, and" in list(rare_note("seeds", 9.0))[0]
    True
    """
    if not may_hide(world, n_units):
        return
    what, units, _, held = RARE[world]
    known = max((n for n in held if n <= n_units), default=min(held))
    fewest = "" if known <= n_units else ", the fewest that were simulated,"
    compared = ", and comparisons less often than they say" if is_compared else ""
    told_in = TOLD_BESIDE_STEADY.get(f"{world} that are shared" if are_shared else world)
    if is_compared and told_in:
        alike = " where each episode is as hard for both" if are_shared else ""
        compared = (
            f", and two equals, one like this and one with steady {units}, would be told apart in "
            f"{told_in[known] or 'none'}{alike}"
        )
    yield (
        f"A rare failure may not be among so few {units}. If {what}, an interval of 95 % from {known} {units}{fewest} "
        f"would hold in only {held[known]} of 100 cases{compared}."
    ) + (" The assumption-free interval, in columns of its own, holds there, too." if is_beside else "")


OTHER_OPPONENTS = "With other opponents the {} would differ; their interval covers only the choice of tasks."
"""What a score of places says less than it seems to, with what the scores are called."""


def rare_places_note(n_opponents: int, n_tasks: float, *, is_compared: bool = True) -> Iterator[str]:
    """Yield `rare_note` of a score of places among opponents, such as points or a win rate; none among few.

    >>> len(list(rare_places_note(20, 41))), len(list(rare_places_note(4, 41)))
    (1, 0)
    """
    if n_opponents > FEW_OPPONENTS:
        yield from rare_note("places", n_tasks, is_compared=is_compared)


def assumption_free(values: FloatArray, place: IntArray, within: Range, level: float) -> FloatArray:
    """Return the ends of intervals that assume nothing but the range, [2, n_columns], in the unit of the values.

    `values` are [n_values, n_columns], `place` [n_values] their units, such as seeds, tasks or families; a column's
    number is the mean of its values. NaN for a column that the range does not hold, and where it has an open end.
    Raises InvalidArgument as `betting_interval` does. Source: `app.stats.betting.betting_interval`.

    >>> values = np.array([[1.0], [0.5], [0.75]])
    >>> assumption_free(values, np.array([0, 0, 1]), SHARE, 0.95).round(2).tolist()
    [[0.06], [0.98]]
    """
    if not within.is_bounded:
        return np.full((2, values.shape[1]), np.nan)
    is_held = (values.min(axis=0) >= within.low) & (values.max(axis=0) <= within.high)
    sizes = np.bincount(place)
    sums = np.zeros((len(sizes), values.shape[1]))
    np.add.at(sums, place, values)
    kept = sizes > 0
    # A mean of values within the range may leave it by rounding.
    means = np.clip(sums[kept] / sizes[kept, None], within.low, within.high)
    ends = np.stack(betting_interval(means, sizes[kept].astype(np.float64), within, level))
    return np.where(is_held, ends, np.nan)


# The uncertainty of a board's scores: replicates drawn by the names of the units, and their degrees of freedom.
# Whatever stream a board declares for the intervals of its scores, rank intervals, verdicts and probabilities come
# from these draws.

MIN_DRAWN_UNITS = 2


@dataclass(frozen=True)
class Precision:
    """The degrees of freedom behind the replicates of one score, such as units − 1, and their `AllPairs.inflation`."""

    freedom: float
    inflation: float

    @classmethod
    def of_units(cls, n_units: float) -> "Precision":
        """Return the precision of a mean of `n_units` units, above one; a fraction where they weigh differently."""
        return cls(n_units - 1.0, (n_units + 1.0) / (n_units - 1.0))


@dataclass(frozen=True)
class DrawnSpread:
    """Replicates [n_resamples, n_entrants] of a board's scores, larger being better, each with its precision.

    None for an entrant without replicates; its column holds its point. `wide`, `are_ranks`, `by_unit`: see `AllPairs`.
    """

    replicates: FloatArray
    precision: Sequence[Precision | None]
    wide: FloatArray | None = None
    are_ranks: bool = False
    by_unit: FloatArray | None = None

    @classmethod
    def of_units(cls, replicates: FloatArray, n_units: float, *, are_ranks: bool = False) -> "DrawnSpread":
        """Return a spread in which every score has the same number of units."""
        return cls(replicates, [Precision.of_units(n_units)] * replicates.shape[1], are_ranks=are_ranks)

    @classmethod
    def of_means(
        cls,
        drawn: Uncertainty,
        units: TaskUnits,
        values: FloatArray,
        *,
        are_ranks: bool = False,
    ) -> "DrawnSpread | None":
        """Return the spread of means over tasks of values [n_tasks, n_entrants], each drawn with its unit.

        None without resamples, and where units are worth less than two.
        """
        named = draw_named_tasks(drawn, units.names)
        if named is None or units.number() < MIN_DRAWN_UNITS:
            return None
        spread = cls.of_units(named.means(units.jackknifed(values)), units.number(), are_ranks=are_ranks)
        return replace(spread, by_unit=units.means(values)) if are_ranks else spread

    @property
    def freedom(self) -> FloatArray:
        """Return the degrees of freedom, [n_entrants]; NaN without replicates."""
        return np.array([np.nan if each is None else each.freedom for each in self.precision])

    @property
    def inflation(self) -> FloatArray:
        """Return the inflation of the variances, [n_entrants]; NaN without replicates."""
        return np.array([np.nan if each is None else each.inflation for each in self.precision])


def draw_named_tasks(drawn: Uncertainty, units: Sequence[str]) -> NamedResamples | None:
    """Return the resamples of tasks by the names of their units, [n_tasks]: tasks of one unit weigh the same.

    None for a single unit, which has no spread, and without resamples.

    Source: `app.stats.resample`.

    >>> draw_named_tasks(Uncertainty(n_resamples=100), ["a"]) is None
    True
    """
    if len(set(units)) < MIN_DRAWN_UNITS or not drawn.n_resamples:
        return None
    return NamedResamples(unit_keys(drawn.rng_seed, [(unit,) for unit in units]), drawn.n_resamples)


def stratified_means(
    drawn: NamedResamples, sizes: Sequence[int], values: FloatArray, units: Sequence[float], shares: Sequence[float]
) -> FloatArray:
    """Return resampled means over tasks, [n_resamples, n_entrants], with weights normalized within each stratum.

    `values` are [n_tasks, n_entrants] in any unit, the tasks stratum by stratum; a stratum keeps its share of the
    tasks. `units` [n_strata] are their effective numbers of units, `shares` [n_strata] what each counts in the mean:
    with several strata each one's replicates are spread as widely as its own few units and those strata call for that
    have too few to vary (`variance_factors`), so that a mean over them needs no further `Precision.inflation`. A NaN
    makes its column NaN. Source: Davison & Hinkley 1997, section 3.2; Rubin 1981 for the weights.

    >>> drawn = draw_named_tasks(Uncertainty(n_resamples=100), ["a", "b", "c"])
    >>> values = np.array([[3.0], [6.0], [6.0]])
    >>> bool(np.allclose(stratified_means(drawn, [1, 2], values, [1.0, 2.0], [1 / 3, 2 / 3]), 5.0))
    True
    """
    ends = np.cumsum(sizes)
    parts = []
    for start, end in zip((ends - np.array(sizes)).tolist(), ends.tolist(), strict=True):
        of_stratum = NamedResamples(drawn.keys[start:end], drawn.n_resamples)
        parts.append(of_stratum.means(values[start:end]) * ((end - start) / len(values)))
    if len(parts) > 1:
        factors = variance_factors(units, shares).tolist()
        parts = [_widened(*of) for of in zip(parts, units, factors, strict=True)]
    means: FloatArray = np.sum(parts, axis=0)
    return means


def _widened(replicates: FloatArray, n_units: float, factor: float) -> FloatArray:
    """Return replicates of a stratum as far apart as its few units call for, and what it carries of others."""
    middle = replicates.mean(axis=0)
    inflation = Precision.of_units(n_units).inflation * factor if n_units > 1.0 else 0.0
    widened: FloatArray = (replicates - middle) * np.sqrt(inflation) + middle
    return widened


def pooled(weights: FloatArray, replicates: Sequence[FloatArray], parts: Sequence[Precision]) -> Precision:
    """Return the precision of a weighted mean of independent scores, each with its replicates [n_resamples].

    `weights` are [n_scores]; a NaN among replicates is left out.
    Source: Satterthwaite 1946, with the variances of the replicates; where none varies, the fewest degrees.

    >>> drawn = np.array([0.0, 1.0])
    >>> pooled(np.array([0.5, 0.5]), [drawn, drawn], [Precision(4.0, 1.0), Precision(4.0, 1.0)])
    Precision(freedom=8.0, inflation=1.0)
    """
    shares = weights**2 * np.array([np.nanvar(drawn) for drawn in replicates])
    if not shares.sum() > 0.0:
        return min(parts, key=lambda part: part.freedom)
    shares /= shares.sum()
    freedom = 1.0 / sum(share**2 / part.freedom for share, part in zip(shares.tolist(), parts, strict=True))
    return Precision(freedom, sum(share * part.inflation for share, part in zip(shares.tolist(), parts, strict=True)))
