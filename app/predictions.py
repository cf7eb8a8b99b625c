"""Predictions and labels of one task as arrays: what prediction benchmarks compute from instead of score rows.

Made by `app.evidence` and by `app.store`, which packs them; read by the ranking methods. Labels are private:
nothing here is shown, and no message quotes a label.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class Labels:
    """The truth of one task, in the order of its items as they were put; every array has n_items entries.

    `label` is a class number (position among the manifest's classes), a value, or a relevance. `weight` and
    `group` are None when there are none; `group` numbers the groups of a ranking.
    """

    task: str
    items: tuple[str, ...]
    label: FloatArray
    weight: FloatArray | None = None
    group: IntArray | None = None

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True, repr=False)
class PredictionBlock:
    """What one entrant predicted for one task, in the order of the labels' items.

    `values` is [n_items, n_columns] float64: one column for a value or a score, or one per class. A row of NaN is
    an item without a prediction, which counts as a failure. `labels` is None when they are the benchmark's.
    """

    entrant: str
    task: str
    values: FloatArray
    labels: Labels | None = None
