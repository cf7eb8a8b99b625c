"""One entrant's predictions for one task, completed and weighted, and what a metric of them is.

Why: docs/adr/005-metrics-of-predictions.md.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from app.kinds.predictions.declared import Predictions, TaskType
from app.manifest.model import Direction
from app.stats.arrays import BoolArray, FloatArray, IntArray, Weights, share
from app.stats.calibrated import Calibrated, Interval
from app.stats.curve_bands import flag_sums, weighted_sums
from app.stats.curves import (
    Areas,
    Calls,
    Int32Array,
    SortedScores,
    SortedVolume,
    count_calls,
    curve_areas,
    precision_at_volume,
    sort_scores,
    sort_volume,
)
from app.stats.predictions import RankedGroups, predicted_classes, rank_groups
from app.stats.spreads import Range, Spread
from app.values.glossary import GlossaryEntry
from app.values.scores import Labels, PredictionBlock


@dataclass(frozen=True, repr=False)
class TaskPredictions:
    """What was predicted and what is true, in the order of the labels' items, [n_items] each.

    `probabilities` are [n_items, n_classes] for classification, the positive one of two classes last; `predicted`
    is the value or relevance otherwise. `label` is a class number among them, a value, or a relevance. `weights`
    is None when every item counts once. `row` says in which order the items were sent, None where that is theirs.
    `failed` marks the items without a prediction.
    """

    task: str
    part: Predictions
    classes: tuple[str, ...]
    probabilities: FloatArray
    predicted: FloatArray
    label: FloatArray
    weights: FloatArray | None
    group: IntArray | None
    failed: BoolArray
    row: IntArray | None = None

    def __len__(self) -> int:
        return len(self.label)

    @cached_property
    def ranked(self) -> RankedGroups:
        """Return the examples ranked within their groups; all of them are one group where there are none."""
        return rank_groups(self.predicted, self.label, self.groups, self.row)

    @cached_property
    def sorted_scores(self) -> dict[int, SortedScores]:
        """Return where sorted scores are kept, by class: measuring and reporting the same task sort them once."""
        return {}

    def by_fall(self, at: int) -> Int32Array | None:
        """Return the examples by falling score of a class; None with weights, or before they have been sorted."""
        return self.sorted_scores[at].by_fall if self.weights is None and at in self.sorted_scores else None

    @property
    def groups(self) -> IntArray:
        """Return the group of each item."""
        return np.zeros(len(self), dtype=np.int64) if self.group is None else self.group

    @property
    def n_groups(self) -> int:
        """Return how many groups there are."""
        return len(self.ranked.sizes)

    @cached_property
    def has_ranking(self) -> BoolArray:
        """Say of each group whether all of its items have a prediction."""
        n_failed = np.bincount(self.groups, self.failed)
        complete: BoolArray = n_failed[np.unique(self.groups)] == 0
        return complete

    @property
    def unit_weights(self) -> FloatArray:
        """Return the weight of each unit that is drawn: each example, or each group with its examples' mean weight."""
        if self.part.kind != "ranking":
            return self.item_weights
        if self.weights is None:
            return np.ones(self.n_groups)
        _, place, n_items = np.unique(self.groups, return_inverse=True, return_counts=True)
        weights: FloatArray = np.bincount(place, self.weights) / n_items
        return weights

    @property
    def class_number(self) -> IntArray:
        """Return the number of each item's true class."""
        return self.label.astype(np.int64)

    @property
    def item_weights(self) -> FloatArray:
        """Return the weight of each item, 1 where there are none."""
        return np.ones(len(self)) if self.weights is None else self.weights


def complete(part: Predictions, block: PredictionBlock, labels: Labels) -> TaskPredictions:
    """Return the predictions of one task with every failure replaced by the worst that could be predicted.

    A class: probability 0 for the true one, all of it for another. A value: the farther end of the labels' range.
    A ranking: its whole group scores nothing, see `has_ranking`.
    """
    failed = np.isnan(block.values[:, 0])
    classes, label = _classes(part, labels.label)
    nothing = np.zeros((len(label), 0))
    is_class = part.kind == "classification"
    return TaskPredictions(
        task=labels.task,
        part=part,
        classes=classes,
        probabilities=_probabilities(block.values, label.astype(np.int64), failed) if is_class else nothing,
        predicted=nothing[:, :0].sum(axis=1) if is_class else _values(part, block.values[:, 0], label, failed),
        label=label,
        weights=labels.weight,
        group=labels.group,
        failed=failed,
        row=labels.row,
    )


def _classes(part: Predictions, label: FloatArray) -> tuple[tuple[str, ...], FloatArray]:
    """Return the classes with the positive one of two last, and labels that number them so."""
    classes = tuple(part.classes or ())
    if part.positive_number == 0:
        return classes[::-1], 1.0 - label
    return classes, label


def _probabilities(values: FloatArray, label: IntArray, failed: BoolArray) -> FloatArray:
    probabilities = np.column_stack([1.0 - values[:, 0], values[:, 0]]) if values.shape[1] == 1 else values.copy()
    n_classes = probabilities.shape[1]
    probabilities[failed] = 0.0
    probabilities[failed, (label[failed] + 1) % n_classes] = 1.0
    return probabilities


def _values(part: Predictions, values: FloatArray, label: FloatArray, failed: BoolArray) -> FloatArray:
    if part.kind == "ranking" or not failed.any():
        return np.where(failed, 0.0, values)
    low, high = float(label.min()), float(label.max())
    worst = np.where(label - low > high - label, low, high)
    return np.where(failed, worst, values)


# One task's predictions under many weightings of their units: what metrics have in common is computed once. Units are
# examples, or groups for a ranking; what a metric returns is [n_weightings], NaN where it is undefined.

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
        """Return for each class how many examples are predicted as it, how many are it, and how many are both."""
        sums = flag_sums(self._weights, self._prepared.flags).reshape(len(self._weights), self.n_classes, 3)
        return ClassCounts(sums[:, :, 0], sums[:, :, 1], sums[:, :, 2])


# The type of a metric of predictions: one value contains everything that the app knows about it.
# Those of each task are in the module of that task.

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
    entry: GlossaryEntry
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
