"""The evidence that rooms hand to each other: rows of scores, and blocks of predictions.

ScoreTable: the one row type of kinds, admission, store and boards.

A row is one (entrant, task, condition, seed, item) with one value per metric. The kinds parse it from uploads, `store`
writes it and reads it back, `boards` compute from it. Columnar, because everything computes with arrays.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from app.stats.arrays import BoolArray, FloatArray, IntArray

NONE = -1
"""Code of "no condition" and "no item"."""


@dataclass(frozen=True)
class Coded:
    """A text column by dictionary: `codes[i]` is a position in `words`, or NONE for null."""

    words: tuple[str, ...]
    codes: IntArray

    @classmethod
    def of(cls, words: Sequence[str | None]) -> "Coded":
        """Return a column of words or nulls, its dictionary in the order of their first rows."""
        numbers: dict[str, int] = {}
        codes = [NONE if word is None else numbers.setdefault(word, len(numbers)) for word in words]
        return cls(tuple(numbers), np.array(codes, dtype=np.int64))

    def at(self, position: int) -> str | None:
        """Return the word of one row."""
        code = int(self.codes[position])
        return None if code == NONE else self.words[code]

    def take(self, rows: BoolArray | IntArray) -> "Coded":
        """Return some rows: those that are true, or those at these positions, in their order."""
        return Coded(self.words, self.codes[rows])

    def with_words(self, numbers: Sequence[int]) -> "Coded":
        """Return the column with these of its words alone, in this order; a row with another word becomes null."""
        place = np.full(len(self.words) + 1, NONE, dtype=np.int64)
        place[numbers] = np.arange(len(numbers))
        # NONE is the last place, which holds NONE.
        return Coded(tuple(self.words[number] for number in numbers), place[self.codes])

    def used(self) -> "Coded":
        """Return the column with only the words that occur in it, in their order."""
        return self.with_words(np.unique(self.codes[self.codes != NONE]).tolist())

    def to_list(self) -> list[str | None]:
        """Return every row's word."""
        lookup = [*self.words, None]
        return [lookup[code] for code in self.codes.tolist()]


OVERLAP_UNSAID = "overlap_unsaid"
"""A quantity: 1 where a row does not say whether its entrant has seen the task's data, though it was asked."""


@dataclass(frozen=True)
class ScoreTable:
    """Scores of one submission or of a whole board, columnar; every array has n_rows entries.

    `values` is [n_rows, len(columns)] float64; NaN means null (non-finite scores are refused on upload, so NaN has no
    other meaning). `columns` are the manifest's metrics, then measured quantities such as `training_time_s`. `leaked`
    marks rows whose entrant has seen the task's data. `seed` is None for evidence without seeds. `recorded` columns are
    kept and shown, never computed with. `file` and `row` say where a row came from (position in the submission's file
    list; header is row 1). `traits` hashes the many-digit values of a row beside its metrics: equal hashes mean equal
    digits, 0 that there are none. It is used when evidence arrives and never stored.
    """

    entrant: Coded
    task: Coded
    columns: tuple[str, ...]
    values: FloatArray
    leaked: BoolArray
    file: IntArray
    row: IntArray
    condition: Coded | None = None
    seed: IntArray | None = None
    item: Coded | None = None
    reason: Coded | None = None
    recorded: Mapping[str, Coded] = field(default_factory=dict)
    traits: IntArray | None = None

    def __len__(self) -> int:
        return len(self.row)

    def take(self, rows: BoolArray | IntArray) -> "ScoreTable":
        """Return some rows: those that are true, or those at these positions, in their order."""
        return replace(
            self,
            entrant=self.entrant.take(rows),
            task=self.task.take(rows),
            values=self.values[rows],
            leaked=self.leaked[rows],
            file=self.file[rows],
            row=self.row[rows],
            condition=None if self.condition is None else self.condition.take(rows),
            seed=None if self.seed is None else self.seed[rows],
            item=None if self.item is None else self.item.take(rows),
            reason=None if self.reason is None else self.reason.take(rows),
            recorded={name: coded.take(rows) for name, coded in self.recorded.items()},
            traits=None if self.traits is None else self.traits[rows],
        )

    def value(self, column: str) -> FloatArray:
        """Return one column of `values`, [n_rows]. Raises KeyError when there is none."""
        if column not in self.columns:
            raise KeyError(column)
        return self.values[:, self.columns.index(column)]


# Predictions and labels of one task as arrays: what prediction benchmarks compute from instead of score rows.
#
# Created by `app.kinds` and by `app.store`, which packs them; read by the ranking methods. Labels are private:
# nothing here is shown, and no message quotes a label.


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
