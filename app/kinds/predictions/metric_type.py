"""The type of a metric of predictions: one value contains everything that the app knows about it.

Made in `classification_metrics`, `regression_metrics` and `ranking_metrics`, put together by `.metrics`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from app.kinds.predictions.declared import TaskType
from app.kinds.predictions.task import TaskPredictions
from app.kinds.predictions.weighted import UnitValues, Weighted
from app.manifest.base import Direction
from app.stats.arrays import FloatArray
from app.stats.calibrated import Calibrated
from app.stats.closed_intervals import Interval
from app.stats.spreads import Range, Spread
from app.values.glossary_entry import Entry

Score = Callable[[Weighted], FloatArray]
EVERYWHERE = Range()


class Closed(NamedTuple):
    """An interval in closed form: its tag in the glossary, its name, its level, its ends; None where undefined."""

    tag: str
    how: str
    level: float
    ends: Interval


def no_default(task: TaskPredictions) -> None:
    """Return None, for a metric without a value for a constant prediction."""
    del task


def no_closed(task: TaskPredictions, point: float, level: float) -> Iterator[Closed]:
    """Yield no interval in closed form."""
    del task, point, level
    return iter(())


@dataclass(frozen=True, kw_only=True)
class PredictionMetric:
    """A metric of predictions.

    `tasks` are the types of task that have it, `direction` says which way is better. `score` computes it under any
    weighting, on the board and in the report alike. `default` returns the score of the best constant prediction, and
    `closed` the intervals in closed form around a point. `beside` are the suffixes of metrics shown beside it: the
    metrics whose names end so, such as `ap_ydf` beside `ap`. `words` is how it is written in a sentence where the
    manifest has no title, `entry` explains it in the glossary and may be that of several metrics. `within` is where it
    can lie; `spread` returns its standard error between units, where that is not the mean's and not what replicates
    give, and `calibrated` an interval of its own that is not made of a spread.
    """

    name: str
    tasks: frozenset[TaskType]
    direction: Direction
    score: Score
    words: str
    entry: Entry
    beside: tuple[str, ...] = ()
    default: Callable[[TaskPredictions], float | None] = no_default
    closed: Callable[[TaskPredictions, float, float], Iterator[Closed]] = no_closed
    within: Range = EVERYWHERE
    spread: Callable[[TaskPredictions], Spread | None] | None = None
    calibrated: Callable[[TaskPredictions, float], Calibrated | None] | None = None


@dataclass(frozen=True)
class MeanOf:
    """The metric that is the mean over the units of one number of each."""

    values: UnitValues

    def __call__(self, weighted: Weighted) -> FloatArray:
        """Return the mean under each weighting."""
        return weighted.mean(self.values)


def mean_of(values: UnitValues) -> MeanOf:
    """Return the metric that is the mean over the units of one number of each."""
    return MeanOf(values)
