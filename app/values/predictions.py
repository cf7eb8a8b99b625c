"""Predictions and labels of one task as arrays: what prediction benchmarks compute from instead of score rows.

Created by `app.kinds` and by `app.store`, which packs them; read by the ranking methods. Labels are private: nothing
here is shown, and no message quotes a label.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from app.stats.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, repr=False)
class Labels:
    """The truth of one task, in the order of its items as uploaded; every array has n_items entries.

    `label` is a class number (position among the manifest's classes), a value, or a relevance. `weight` and `group` are
    None when there are none; `group` numbers the groups of a ranking, and `row` says in which order its items were
    sent, which decides YDF's ties alone. `items` is empty where labels were loaded for
    computing only: predictions are matched to items once, when they arrive. `public` marks the items scored before the
    close of a benchmark with private labels; None where all are. `digest` is that of a submitter's own labels where the
    items are left out, see `digest_of`.
    """

    task: str
    items: Sequence[str]
    label: FloatArray
    weight: FloatArray | None = None
    group: IntArray | None = None
    public: BoolArray | None = None
    digest: str = ""
    row: IntArray | None = None

    def __len__(self) -> int:
        return len(self.label)


def digest_of(labels: Labels) -> str:
    """Return a digest of the items of a task with their labels, weights and groups: the same for the same truth.

    Only the proportions of weights matter, and equal weights are the same as none.

    >>> import numpy as np
    >>> first, second = Labels("t", ("a", "b"), np.array([0.0, 1.0])), Labels("t", ("a", "b"), np.array([1.0, 1.0]))
    >>> digest_of(first) == digest_of(first), digest_of(first) == digest_of(second)
    (True, False)
    """
    if labels.digest:
        return labels.digest
    hashed = hashlib.blake2b(json.dumps([labels.task, list(labels.items)]).encode(), digest_size=8)
    for values in (labels.label, _in_proportion(labels.weight), labels.group):
        hashed.update(b"-" if values is None else values.astype("<f8").tobytes())
    return hashed.hexdigest()


def _in_proportion(weight: FloatArray | None) -> FloatArray | None:
    """Return weights relative to the largest, to twelve digits; None where all are equal."""
    if weight is None or not len(weight) or (weight == weight[0]).all():
        return None
    shares: FloatArray = (weight / weight.max()).round(12)
    return shares


@dataclass(frozen=True, repr=False)
class PredictionBlock:
    """What one entrant predicted for one task, in the order of the labels' items.

    `values` is [n_items, n_columns] float64: one column for a value, a relevance or the probability of the positive
    one of two classes, otherwise one per class in the manifest's order. A row of NaN is an item without a
    prediction, which counts as a failure. `labels` is None when they are the benchmark's; the submitter's own are
    in the order of their items' names, so that two entrants with the same items have them in the same order.
    """

    entrant: str
    task: str
    values: FloatArray
    labels: Labels | None = None
