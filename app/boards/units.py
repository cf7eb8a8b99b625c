"""What a board's scores vary by: its tasks, or the families of tasks that its manifest declares to belong together, and
how much wider that makes a difference of two entrants.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from app.manifest.model import Manifest, OpenTasks
from app.names import count
from app.stats.arrays import FloatArray, IntArray
from app.stats.calibrated import MIN_UNITS, effective_number
from app.stats.compiled import pair_variances, transposed
from app.stats.spreads import ROUNDING

MOST_COMPARED = 200
"""Entrants whose differences the design effect is the median of: more would not move a median."""


@dataclass(frozen=True)
class TaskUnits:
    """What each of a board's tasks is drawn with, [n_tasks]: the name of its family, or its own where it has none.

    `n_alike` counts the tasks that share the beginning of their name, or a data set, with another; 0 where families are
    declared. `weights` [n_tasks] are what tasks count in the score; None where all count the same.
    """

    names: tuple[str, ...]
    are_declared: bool = False
    n_alike: int = 0
    weights: FloatArray | None = field(default=None, compare=False)

    @classmethod
    def of(cls, manifest: Manifest, tasks: Sequence[str]) -> "TaskUnits":
        """Return the units of some tasks as the manifest declares them.

        >>> from app.boards.example import benchmark
        >>> from app.manifest.model import Leaderboard
        >>> board = Leaderboard(name="main", method="mean", uncertainty={"n_resamples": 100})
        >>> TaskUnits.of(benchmark(board), ["a", "b"]).names
        ('a', 'b')
        """
        families = manifest.families()
        if families:
            return cls(tuple(families.get(task, task) for task in tasks), are_declared=True)
        return cls(tuple(tasks), n_alike=count_alike(manifest, tasks))

    @cached_property
    def place(self) -> IntArray:
        """Return the position of each task's unit among the units in the order of their names, [n_tasks]."""
        return np.unique(np.array(self.names, dtype=np.str_), return_inverse=True)[1].reshape(-1).astype(np.int64)

    def means(self, values: FloatArray) -> FloatArray:
        """Return the means over the tasks of each unit, [n_units, n_entrants], of values [n_tasks, n_entrants]."""
        n_tasks = np.bincount(self.place)
        found = np.zeros((len(n_tasks), values.shape[1]))
        np.add.at(found, self.place, values)
        return found / n_tasks[:, None]

    @cached_property
    def are_tasks(self) -> bool:
        """Say whether each task is its own unit."""
        return len(set(self.names)) == len(self.names)

    @property
    def plural(self) -> str:
        """Return what the units are called."""
        return "families of tasks" if self.are_declared else "tasks"

    @property
    def in_words(self) -> str:
        """Return how many units there are, and what they are worth where they differ in size, to be followed by a verb.

        >>> TaskUnits(("a", "b", "b", "b", "b", "b", "b"), are_declared=True).in_words
        '2 families of tasks, worth about 1 of equal size,'
        """
        n_units, effective = len(set(self.names)), self.number()
        said = f"{n_units} {self.plural}"
        return said if round(effective) == n_units else f"{said}, worth about {round(effective)} of equal size,"

    def only(self, kept: Sequence[int] | IntArray) -> "TaskUnits":
        """Return the units of the tasks at some positions."""
        weights = None if self.weights is None else self.weights[np.asarray(kept)]
        return TaskUnits(tuple(self.names[at] for at in kept), self.are_declared, self.n_alike, weights)

    def number(self) -> float:
        """Return the effective number of units, by what their tasks count.

        Source: Kish 1965, section 8.2, of what each unit weighs; docs/statistics.md for what it holds.

        >>> round(TaskUnits(("a", "b", "b", "b")).number(), 3)
        1.6
        """
        if not self.names:
            return 0.0
        if self.are_tasks and self.weights is None:
            return float(len(self.names))
        return effective_number(np.bincount(self.place, self.weights).astype(np.float64))

    def sums(self, values: FloatArray) -> FloatArray:
        """Return the sum over the tasks of each unit, [n_units, n_columns], of values [n_tasks, n_columns]."""
        order = np.argsort(self.place, kind="stable")
        begins = np.searchsorted(self.place[order], np.arange(int(self.place.max()) + 1))
        return np.add.reduceat(values[order], begins, axis=0)

    def jackknifed(self, values: FloatArray) -> FloatArray:
        """Return values [n_tasks, n_columns] with the same means, of which families vary as the mean without each says.

        A family with much of the weight is near the mean, which it made: what it adds to the spread is what the mean
        would change without it. Families of one weight, and tasks that are their own unit, stay as they are.
        Source: `app.stats.spreads.weigh`, of families; docs/statistics.md for what holds with it.

        >>> TaskUnits(("a", "b", "b")).jackknifed(np.array([[0.0], [3.0], [3.0]])).round(3).tolist()
        [[-0.25], [3.125], [3.125]]
        """
        if self.are_tasks:
            return values
        tasks = np.ones(len(values)) if self.weights is None else self.weights
        n_tasks, sizes, held = len(values), np.bincount(self.place), np.bincount(self.place, tasks) / tasks.sum()
        n_units = len(sizes)
        if n_units < 2 or not np.ptp(held) > ROUNDING or held.max() >= 1.0:
            return values
        # Of each family what it adds to the plain mean; of tasks with weights, `weigh` has the mean without each task.
        added = self.sums(values - values.mean(axis=0)) / n_tasks
        times = (1.0 - held / sizes) / (1.0 - held) * (1.0 - 1.0 / n_units) / (1.0 - 1.0 / n_tasks)
        without = added * times[:, None]
        moved = (without - without.mean(axis=0) - added) * (n_tasks / sizes)[:, None]
        return np.asarray(values + moved[self.place])

    def jackknifed_within(self, sizes: Sequence[int], values: FloatArray) -> FloatArray:
        """Return values as `jackknifed` gives them within each group of tasks, which lie group by group, [n_groups]."""
        groups = np.split(np.arange(len(values)), np.cumsum(sizes)[:-1])
        return np.concatenate([self.only(at).jackknifed(values[at]) for at in groups])

    def variances(self, deviations: FloatArray) -> FloatArray:
        """Return the variance of the sum of each pairwise difference, [n_entrants, n_entrants].

        `deviations` are [n_tasks, n_entrants], less their means; there must be more than one unit's worth.
        Source: Kish 1965, section 8.2; unbiased for units of equal sizes.

        >>> float(TaskUnits(("a", "b")).variances(np.array([[1.0, 0.0], [-1.0, 0.0]]))[0, 1])
        4.0
        """
        summed, n_units = self.sums(deviations), self.number()
        each: FloatArray = pair_variances(transposed(summed)) * (len(summed) - 1.0) * n_units / (n_units - 1.0)
        return each

    def design_effect(self, deviations: FloatArray) -> float | None:
        """Return how many times larger units make the variance of a difference of two entrants: the median over pairs.

        `deviations` [n_tasks, n_entrants] are what tasks add to the entrants' scores, less its mean. None with a single
        entrant, unit, or where nothing varies.
        Source: Kish 1965, section 8.2; variances of both are unbiased for tasks, or units, of equal sizes.

        >>> round(TaskUnits(("a", "a", "b", "b")).design_effect(np.array([[1.0, 0], [1, 0], [-1, 0], [-1, 0]])), 2)
        3.0
        """
        n_tasks, some = len(self.names), deviations[:, :MOST_COMPARED]
        if self.number() < 2.0 or some.shape[1] < 2:
            return None
        above = np.triu_indices(some.shape[1], 1)
        by_task = pair_variances(transposed(some))[above] * n_tasks
        by_unit = self.variances(some)[above]
        varies = by_task > 0.0
        return float(np.median(by_unit[varies] / by_task[varies])) if varies.any() else None

    def meta(self, values: FloatArray) -> Mapping[str, Any]:
        """Return `dependence` of a board's `meta`: its units, what is declared, and the design effect.

        `values` [n_tasks, n_entrants] are those whose mean is, or orders as, the entrants' scores.
        """
        effect = None if self.are_tasks else self.design_effect(values - values.mean(axis=0))
        return {
            "dependence": {
                "unit": "family" if self.are_declared else "task",
                "n_units": len(set(self.names)),
                "n_effective": round(self.number(), 3),
                "n_tasks": len(self.names),
                "declared": ["tasks.family"] if self.are_declared else [],
                "design_effect": None if effect is None else round(effect, 3),
                "n_alike": self.n_alike,
            }
        }

    def notes(self, effect: float | None = None) -> Iterator[str]:
        """Yield what a reader has to know of the units: that tasks are treated as independent, or in which families.

        `effect` is the design effect of the families, as in `meta`.
        """
        n_tasks = len(self.names)
        if not self.are_declared and n_tasks > 1:
            alike = (
                f" {self.n_alike} of {n_tasks} share the beginning of their name, or a data set, with another."
                if self.n_alike
                else ""
            )
            yield f"Tasks are treated as independent: no family of tasks is declared.{alike}"
        elif not self.are_tasks:
            n_families, effective, worth = len(set(self.names)), self.number(), ""
            if effective < MIN_UNITS:
                worth = f" They are worth {effective:.2g} of equal size: too few for intervals and ranges of ranks."
            elif round(effective) < n_families:
                worth = f" Unequal in size, they are worth about {round(effective)} of equal size."
            are_of = f"The {n_tasks} tasks are of {count(n_families, 'family')}"
            times = (
                f"; the variance of a difference is {effect:.2f} times that of independent tasks (design effect)"
                if effect is not None
                else ""
            )
            yield f"{are_of}, which are the units here, since tasks of a family tend to agree{times}.{worth}"


NO_UNITS = TaskUnits(())


def count_alike(manifest: Manifest, tasks: Iterable[str]) -> int:
    """Return how many tasks share the first word of their name, or a value that names a data set, with another.

    Source: none; it compares names, and is only ever shown.

    >>> from app.boards.example import benchmark
    >>> from app.manifest.model import Leaderboard
    >>> board = Leaderboard(name="main", method="mean", uncertainty={"n_resamples": 100})
    >>> count_alike(benchmark(board), ["ETT_1H", "ETT_1D", "m5"])
    2
    """
    wheres = {} if isinstance(manifest.tasks, OpenTasks) else {task.id: task.where for task in manifest.tasks}
    names = list(tasks)
    of_each = [
        {("", _stem(name)), *((key, str(value)) for key, value in wheres.get(name, {}).items() if "dataset" in key)}
        for name in names
    ]
    counts = Counter(mark for marks in of_each for mark in marks)
    # What all tasks have in common says nothing about which of them belong together.
    shared = {mark for mark, n in counts.items() if 1 < n < len(names)}
    return sum(bool(marks & shared) for marks in of_each)


def _stem(name: str) -> str:
    """Return the first word of a name in lower case, without the digits at its end."""
    return re.split(r"[\W_]", name.lower(), maxsplit=1)[0].rstrip("0123456789") or name
