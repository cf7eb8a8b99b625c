"""One entrant's predictions for one task, completed: items without one are failures, and failures cost the most.

Called by the measuring of predictions; pure.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from app.kinds.predictions.declared import Predictions
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.stats.ranking import RankedGroups, rank_groups
from app.stats.resampled_curves import Int32Array, SortedScores
from app.values.predictions import Labels, PredictionBlock


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
