"""One task's predictions under many weightings of their units: what metrics have in common is computed once.

Called by the metrics of `app.kinds.predictions.metrics`, with ones for the points and with the counts of a bootstrap
for the replicates, so that both are one function. Units are examples, or groups for a ranking; what a metric returns is
[n_weightings], NaN where it is undefined.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from app.kinds.predictions.task import TaskPredictions
from app.stats.arrays import BoolArray, FloatArray, IntArray, Weights, share
from app.stats.classification import predicted_classes
from app.stats.example_sums import flag_sums, weighted_sums
from app.stats.resampled_calls import Calls, count_calls
from app.stats.resampled_curves import Areas, SortedScores, curve_areas, sort_scores
from app.stats.resampled_volume import SortedVolume, precision_at_volume, sort_volume

POOLED = -1
"""Stands for a class where the decisions for all classes are pooled."""
UnitValues = Callable[[TaskPredictions], FloatArray | BoolArray]


class Prepared:
    """One task's predictions, and what is made of them once for every weighting, when it is first asked for."""

    def __init__(self, task: TaskPredictions) -> None:
        self.task = task
        self._scores = task.sorted_scores
        self._volumes: dict[int, SortedVolume] = {}
        self._values: dict[UnitValues, FloatArray | BoolArray] = {}

    def values(self, of: UnitValues) -> FloatArray | BoolArray:
        """Return one number or flag of each unit."""
        if of not in self._values:
            self._values[of] = of(self.task)
        return self._values[of]

    def scores(self, at: int) -> SortedScores:
        """Return the sorted scores of one class against the rest, or of all of them POOLED."""
        if at not in self._scores:
            self._scores[at] = self._pooled() if at == POOLED else sort_scores(*self._against_rest(at))
        return self._scores[at]

    def volume(self, at: int) -> SortedVolume:
        """Return all scores of one class in order."""
        if at not in self._volumes:
            self._volumes[at] = sort_volume(*self._against_rest(at))
        return self._volumes[at]

    def _against_rest(self, at: int) -> tuple[FloatArray, BoolArray]:
        return self.task.probabilities[:, at], self.task.class_number == at

    def _pooled(self) -> SortedScores:
        n_classes = len(self.task.classes)
        owner = np.repeat(np.arange(len(self.task), dtype=np.int32), n_classes)
        truth = np.eye(n_classes, dtype=np.bool_)[self.task.class_number]
        return sort_scores(self.task.probabilities.ravel(), truth.ravel(), owner)

    @cached_property
    def called(self) -> IntArray:
        """Return the class that each example is called."""
        return predicted_classes(self.task.probabilities)

    @cached_property
    def flags(self) -> BoolArray:
        """Return of each class which examples are called it rightly, are called it, and are of it, [3 × n_classes]."""
        called, truth = self.called, self.task.class_number
        masks = ((called == at, truth == at) for at in range(len(self.task.classes)))
        return np.stack(
            [mask for is_called, is_actual in masks for mask in (is_called & is_actual, is_called, is_actual)]
        )


@dataclass(frozen=True)
class ClassCounts:
    """The weight of the examples that are called a class rightly, are called it, and are of it, [n_weightings, n]."""

    right: FloatArray
    called: FloatArray
    actual: FloatArray


class Weighted:
    """Predictions under weightings [n_weightings, n_units]."""

    def __init__(self, prepared: Prepared, weights: Weights) -> None:
        self._prepared = prepared
        self._weights = weights
        self._means: dict[UnitValues, FloatArray] = {}
        self._areas: dict[int, Areas] = {}
        self._calls: dict[int, Calls] = {}

    @property
    def n_classes(self) -> int:
        """Return how many classes there are."""
        return len(self._prepared.task.classes)

    @cached_property
    def total(self) -> FloatArray:
        """Return the weight of all units."""
        every = np.ones((1, self._weights.shape[1]), dtype=np.bool_)
        return flag_sums(self._weights, every)[:, 0]

    def mean(self, of: UnitValues) -> FloatArray:
        """Return the weighted mean of one number, or the share of one flag, over the units."""
        if of not in self._means:
            values = self._prepared.values(of)
            self._means[of] = share(self._sums(values[None])[:, 0], self.total)
        return self._means[of]

    def _sums(self, values: FloatArray | BoolArray) -> FloatArray:
        if values.dtype == np.bool_:
            return flag_sums(self._weights, values.astype(np.bool_, copy=False))
        return weighted_sums(self._weights, values.astype(np.float64, copy=False))

    def areas(self, at: int) -> Areas:
        """Return the areas under the curves of one class against the rest, or of all of them POOLED."""
        if at not in self._areas:
            self._areas[at] = curve_areas(self._prepared.scores(at), self._weights)
        return self._areas[at]

    def precision_recall(self, at: int) -> FloatArray:
        """Return the area under precision by recall of one class, in which ties gain nothing."""
        return self.areas(at).precision_recall_by_ties

    def calls(self, at: int) -> Calls:
        """Return what is called positive at the thresholds of one class against the rest."""
        if at not in self._calls:
            self._calls[at] = count_calls(self._prepared.scores(at), self._weights)
        return self._calls[at]

    def precision_at_volume(self, at: int, volume: float) -> FloatArray:
        """Return the precision of one class where at least this share of the examples is called it."""
        return precision_at_volume(self._prepared.volume(at), self._weights, volume)

    @cached_property
    def counts(self) -> ClassCounts:
        """Return what is called each class, and what is of it."""
        sums = flag_sums(self._weights, self._prepared.flags).reshape(len(self._weights), self.n_classes, 3)
        return ClassCounts(sums[:, :, 0], sums[:, :, 1], sums[:, :, 2])
