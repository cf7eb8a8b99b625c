"""The calibrated intervals of a board of weighted ranks: of each component's value and of the score. Pure.

Called by `.method`. `bench.interval_coverage` measures their coverage.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtrit

from app.boards.calibrated import how_of, range_of
from app.boards.methods.weighted_rank.identity import levels_of
from app.boards.methods.weighted_rank.resampling import DrawnComponents
from app.boards.methods.weighted_rank.spec import WeightedRank
from app.manifest.manifest import Manifest
from app.stats.arrays import FloatArray
from app.stats.calibrated import ALL_EQUAL, intervals
from app.stats.interval import percentile_interval
from app.stats.spreads import Spread
from app.stats.weighted_ranks import average_ranks
from app.values.frame import CalibratedCells
from app.values.table import finite

ROUNDING = 1e-12
"""A spread below this fraction of the numbers' own size is rounding and counts as zero."""
RANKED_AGAIN = "widened_ranks"
NOTHING = CalibratedCells()
NO_ORDINAL = CalibratedCells(how="points_break_ties_by_name_and_resamples_do_not")
"""Reason for a score under rule 1: its points are ordinal ranks, while tied replicates share ranks."""


@dataclass(frozen=True)
class CalibratedRanks:
    """Intervals of the scores [n_estimators] and of component values [n_estimators][n_components], as cells.

    `n_units` is the (effective) number of records behind them.
    """

    scores: Sequence[CalibratedCells]
    values: Sequence[Sequence[CalibratedCells]]
    n_units: float


@dataclass(frozen=True)
class Ranking:
    """How component values become scores: `orient` makes smaller better, `weights` [n_components] multiply ranks."""

    orient: Callable[[FloatArray], FloatArray]
    weights: FloatArray
    n_enrolled: int

    def scores(self, values: FloatArray) -> FloatArray:
        """Return Σ weight × rank for values [n_resamples, n_estimators, n_components], ties sharing a rank."""
        totals: FloatArray = average_ranks(self.orient(values), self.n_enrolled) @ self.weights
        return totals


def widened(points: FloatArray, drawn: DrawnComponents, level: float) -> FloatArray:
    """Return replicates around the points [n_estimators, n_components], widened for the small number of units.

    They are [n_resamples, n_estimators, n_components]; NaN stays NaN. A bootstrap's variance is too small by the
    inflation factor, and its percentiles have normal instead of Student's tails.
    Source: Hesterberg 2004, Unbiasing the bootstrap, section 2; Davison & Hinkley 1997, section 5.2.

    >>> from app.boards.spread import Precision
    >>> drawn = DrawnComponents(np.array([[[1.0]], [[3.0]]]), Precision(8.0, 1.5), 10.0)
    >>> widened(np.array([[2.0]]), drawn, 0.95).ravel().round(3).tolist()
    [0.559, 3.441]
    """
    tail = (1.0 + level) / 2.0
    quantile = float(stdtrit(drawn.precision.freedom, tail) / ndtri(tail))
    apart = drawn.values - drawn.values.mean(axis=0)
    moved: FloatArray = points + apart * quantile * np.sqrt(drawn.precision.inflation)
    return moved


def ends_of_ranks(again: FloatArray, points: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Return interval ends of scores, or of differences of scores, [n_numbers], from widened replicates `again`.

    Ranks of replicates are biased towards the middle relative to those of the points, as those are relative to the true
    ranks, so the interval is the union of the percentile interval and its mirror image at the points.
    Source: Efron & Tibshirani 1993, chapter 13, for both intervals; chosen by `bench.interval_coverage`.

    >>> low, high = ends_of_ranks(np.linspace(2.0, 4.0, 101)[:, None], np.array([2.0]), 0.9)
    >>> round(float(low[0]), 3), round(float(high[0]), 3)
    (0.1, 3.9)
    """
    low, high = percentile_interval(again, level)
    return np.minimum(low, 2.0 * points - high), np.maximum(high, 2.0 * points - low)


def rank_level(level: float, n_units: float) -> float:
    """Return the nominal level at which the ends of a score, or of a difference, have the coverage `level`.

    Among many nearly equal estimators only the mirror image covers the extreme scores, so it alone may use half of the
    error rate. Below sixteen records the rate is smaller still, down to a tenth, because in nearly every resample the
    first and the last ranks are closer together than the true ones.
    Source: chosen by `bench.interval_coverage`.

    >>> rank_level(0.95, 100.0), rank_level(0.95, 8.0)
    (0.975, 0.995)
    """
    return 1.0 - (1.0 - level) / float(np.clip(18.0 - n_units, 2.0, 10.0))


def calibrated_ranks(
    manifest: Manifest,
    spec: WeightedRank,
    values: FloatArray,
    scores: FloatArray,
    drawn: DrawnComponents | None,
    again: FloatArray | None,
) -> CalibratedRanks | None:
    """Return the intervals of component values [n_estimators, n_components] and of scores; None without replicates.

    `again` are scores of widened replicates [n_resamples, n_estimators]. Rule 1 has no interval of a score.
    Source: `ends_of_ranks` and `value_intervals`.

    >>> from app.boards.example import benchmark
    >>> spec = WeightedRank(name="main", method="weighted_rank", weights={"mae": 1.0})
    >>> from app.boards.spread import Precision
    >>> drawn = DrawnComponents(np.array([[[1.0], [2.0]], [[1.2], [2.1]]]), Precision(8.0, 1.5), 10.0)
    >>> values, scores = np.array([[1.1], [2.05]]), np.array([1.0, 2.0])
    >>> ours = calibrated_ranks(benchmark(spec), spec, values, scores, drawn, np.array([[1.0, 2.0], [1.0, 2.0]]))
    >>> [(cells.low, cells.high) for cells in ours.scores] if ours else None
    [(1.0, 1.0), (2.0, 2.0)]
    """
    if drawn is None or again is None:
        return None
    level, n_estimators = spec.uncertainty.level, len(scores)
    by_metric = [
        value_intervals(manifest, levels_of(metric)[0], values[:, at], drawn, at, level)
        for at, metric in enumerate(spec.weights)
    ]
    of_values = list(zip(*by_metric, strict=True))
    if spec.ranking_rule == 1:
        return CalibratedRanks([NO_ORDINAL] * n_estimators, of_values, drawn.n_units)
    low, high = ends_of_ranks(again, scores, rank_level(level, drawn.n_units))
    most = max(float(again.max()), float(scores.max()))
    ends = zip(np.maximum(low, 1.0).tolist(), np.minimum(high, most).tolist(), strict=True)
    cells = [CalibratedCells(*each, RANKED_AGAIN, drawn.n_units) for each in ends]
    return CalibratedRanks(cells, of_values, drawn.n_units)


def value_intervals(
    manifest: Manifest, metric: str, points: FloatArray, drawn: DrawnComponents, at: int, level: float
) -> list[CalibratedCells]:
    """Return the interval of each estimator's value of the component at `at`; `points` [n_estimators], NaN is missing.

    The ends are in the unit of the metric, and within its declared range.
    Source: `app.stats.calibrated.intervals`, with the errors of the replicates.

    >>> from app.boards.example import benchmark
    >>> spec = WeightedRank(name="main", method="weighted_rank", weights={"mae": 1.0})
    >>> from app.boards.spread import Precision
    >>> drawn = DrawnComponents(np.array([[[1.0]], [[1.4]], [[1.2]]]), Precision(8.0, 1.25), 9.0)
    >>> (cells,) = value_intervals(benchmark(spec), "mae", np.array([1.2]), drawn, 0, 0.95)
    >>> round(float(cells.low or 0), 2), round(float(cells.high or 0), 2), cells.how
    (0.78, 1.76, 'gamma')
    """
    replicates = drawn.values[:, :, at]
    known = ~np.isnan(points) & ~np.isnan(replicates).any(axis=0)
    cells = [NOTHING] * len(points)
    if not known.any():
        return cells
    within = range_of(manifest.metrics[metric]).holding(float(points[known].min()), float(points[known].max()))
    low, high = intervals(component_spread(points[known], replicates[:, known], drawn), within, level)
    for place, *ends in zip(np.flatnonzero(known).tolist(), low.tolist(), high.tolist(), strict=True):
        how = ALL_EQUAL if np.isnan(ends[0]) else how_of(within)
        cells[place] = CalibratedCells(finite(ends[0]), finite(ends[1]), how, drawn.n_units)
    return cells


def component_spread(points: FloatArray, replicates: FloatArray, drawn: DrawnComponents) -> Spread:
    """Return the spread of component values [n_estimators] from their replicates [n_resamples, n_estimators].

    Errors are in the unit of the values, unbiased by the inflation.
    Source: `app.stats.calibrated_areas.replicate_spread`.

    >>> from app.boards.spread import Precision
    >>> drawn = DrawnComponents(np.zeros((2, 1, 1)), Precision(8.0, 1.25), 9.0)
    >>> component_spread(np.array([1.2]), np.array([[1.0], [1.4]]), drawn).error.round(4).tolist()
    [0.2236]
    """
    moved = replicates - replicates.mean(axis=0)
    size = np.abs(points) + np.abs(moved).max(axis=0)
    variance = (moved**2).mean(axis=0)
    variance = np.where(np.sqrt(variance) > ROUNDING * size, variance, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        cubed = variance**1.5  # zero below a spread of about 1e-108, where no skewness can be estimated
        skewness = np.where(cubed > 0, (moved**3).mean(axis=0) / cubed, 0.0)
    units, freedom = (np.full(len(points), number) for number in (drawn.n_units, drawn.precision.freedom))
    error = np.sqrt(variance * drawn.precision.inflation)
    return Spread(points, error, skewness, units, freedom, np.zeros(len(points)))
