"""Bootstrap bands around the curves of a report, from the same resamples as the intervals of its metrics.

Called by `.measure` and `.report_classification`; pure. A ROC curve has a band of its recall at each
false positive rate that is shown, a precision-recall curve one of its precision at each recall.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from app.kinds.predictions.task import TaskPredictions
from app.stats.arrays import Counts, FloatArray
from app.stats.curve_bands import FallingScores, Heights, curve_heights, fall
from app.stats.example_draws import map_resamples
from app.stats.interval import percentile_interval
from app.stats.resample import board_generator

Result = TypeVar("Result")

MAX_UNDEFINED = 0.05
"""Largest share of resamples in which a curve may be undefined; beyond it there is no band, as there is no interval."""
LEAST_RESAMPLES, MOST_COUNTS = 200, 20_000_000
"""A band needs fewer resamples than an interval: so many, or as many as these counts allow."""


@dataclass(frozen=True)
class Resamples:
    """The resamples of one task's examples under a board, which can be drawn again from the first one on."""

    rng_seed: int
    names: tuple[str, ...]
    n_resamples: int

    def map(
        self,
        of: Callable[[Counts], Result],
        n_examples: int,
        n_resamples: int | None = None,
        *,
        is_wide: bool = False,
    ) -> Iterator[Result]:
        """Yield `of` each batch of counts of the first resamples, or of all, as `map_resamples` does.

        All entrants of a board share the same counts, which are drawn once.
        """
        n_drawn = self.n_resamples if n_resamples is None else n_resamples
        key = (self.rng_seed, self.names)
        rng = board_generator(self.rng_seed, *self.names)
        return map_resamples(of, n_examples, n_drawn, rng, key=key, is_wide=is_wide)


@dataclass(frozen=True)
class Band:
    """The ends of a curve's height at each of some places, [n_places], NaN where there are none."""

    low: FloatArray
    high: FloatArray


@dataclass(frozen=True)
class Bands:
    """The bands of one class against the rest, at the places of its shown thresholds."""

    roc: Band
    pr: Band


def curve_bands(
    task: TaskPredictions, at: int, rates: FloatArray, recalls: FloatArray, level: float, resamples: Resamples | None
) -> Bands:
    """Return the bands of a class at false positive rates and recalls, in any order; without resamples none."""
    places = (np.unique(rates), np.unique(recalls))
    drawn = None if resamples is None else _drawn(task, at, places, resamples)
    recall, precision = (None, None) if drawn is None else (drawn.recall, drawn.precision)
    return Bands(_band(recall, places[0], rates, level), _band(precision, places[1], recalls, level))


def _drawn(task: TaskPredictions, at: int, places: tuple[FloatArray, FloatArray], resamples: Resamples) -> Heights:
    scores = fall(task.probabilities[:, at], task.class_number == at, task.by_fall(at))
    n_resamples = min(resamples.n_resamples, max(LEAST_RESAMPLES, MOST_COUNTS // len(task)))
    of = partial(_heights, scores, None if task.weights is None else task.item_weights, places)
    parts = list(resamples.map(of, len(task), n_resamples, is_wide=task.weights is not None))
    return Heights(np.concatenate([part.recall for part in parts]), np.concatenate([part.precision for part in parts]))


def _heights(
    scores: FallingScores, weights: FloatArray | None, places: tuple[FloatArray, FloatArray], counts: Counts
) -> Heights:
    return curve_heights(scores, counts if weights is None else counts * weights, *places)


def _band(drawn: FloatArray | None, places: FloatArray, shown: FloatArray, level: float) -> Band:
    nothing = np.full(len(places), np.nan)
    low, high = (nothing, nothing) if drawn is None else _ends(drawn, level)
    at = np.searchsorted(places, shown)
    return Band(low[at], high[at])


def _ends(drawn: FloatArray, level: float) -> Sequence[FloatArray]:
    """Return the ends at each place; where a curve is undefined in a few resamples, those are left out."""
    known = ~np.isnan(drawn).all(axis=1)
    if known.mean() < 1.0 - MAX_UNDEFINED:
        nothing = np.full(drawn.shape[1], np.nan)
        return nothing, nothing
    return percentile_interval(drawn[known], level)
