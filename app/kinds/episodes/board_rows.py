"""The rows of one entrant that a board counts, by task and condition. Called by `app.kinds.episodes.measure`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from app.boards.methods.estimate.spec import EstimateBoard
from app.kinds.episodes.calibrated import (
    SeedScores,
)
from app.manifest.manifest import Manifest
from app.stats.arrays import BoolArray, IntArray
from app.stats.cluster import Sample, group_sample
from app.values.scores import Coded, ScoreTable


@dataclass(frozen=True)
class BoardRows:
    """The rows of one entrant, and which of them a board counts."""

    manifest: Manifest
    spec: EstimateBoard
    scores: ScoreTable

    def expected_tasks(self) -> Sequence[str]:
        """Return the tasks of the composite, the board or the manifest, or else those with rows."""
        if self.spec.composite is not None:
            return list(self.spec.composite.weights)
        return self.spec.tasks or self.manifest.task_ids() or self.scores.task.words

    def tasks(self) -> list[str]:
        """Return the expected tasks of which the entrant has rows, in their order."""
        delivered = set(self.scores.task.words)
        return [task for task in self.expected_tasks() if task in delivered]

    def weight(self, task: str) -> float:
        """Return the weight of a task in an average over tasks."""
        return 1.0 if self.spec.composite is None else self.spec.composite.weights[task]

    def of_task(self, task: str) -> BoolArray:
        """Return the counted rows of a task: in a composite those of its declared condition."""
        counts = None if self.spec.composite is None else self.spec.composite.conditions.get(task)
        return self._all_of_task(task) if counts is None else self.in_condition(task, counts)

    def in_condition(self, task: str, name: str) -> BoolArray:
        """Return the rows of a task in one condition; all of the task where there are no conditions."""
        condition = self.scores.condition
        if condition is None:
            return self._all_of_task(task)
        code = condition.words.index(name) if name in condition.words else len(condition.words)
        mask: BoolArray = self._all_of_task(task) & (condition.codes == code)
        return mask

    def _all_of_task(self, task: str) -> BoolArray:
        words = self.scores.task.words
        mask: BoolArray = self.scores.task.codes == (words.index(task) if task in words else len(words))
        return mask

    def of_board(self) -> BoolArray:
        """Return the rows of all tasks of the board."""
        masks = [self.of_task(task) for task in self.tasks()]
        return np.logical_or.reduce(masks) if masks else np.zeros(len(self.scores), dtype=np.bool_)

    def conditions(self, task: str) -> Iterator[tuple[str, BoolArray]]:
        """Yield each condition of a task by name with its rows; empty text where there are no conditions."""
        of_task = self._all_of_task(task)
        condition = self.scores.condition
        if condition is None:
            yield "", of_task
            return
        for code, word in sorted(enumerate(condition.words), key=lambda pair: pair[1]):
            rows = of_task & (condition.codes == code)
            if rows.any():
                yield word, rows

    def sample(self, metric: str, rows: BoolArray) -> Sample | None:
        """Return the scored values of some rows by seed, for the bootstrap; None when there are none."""
        values = self.scores.value(metric)
        at = np.flatnonzero(rows & ~np.isnan(values))
        if not len(at) or self.scores.seed is None:
            return None
        if self.spec.uncertainty.stream != "chamber":
            at = at[np.argsort(self._by_name[at])]
        return group_sample(values[at], self.scores.seed[at])

    def seeded(self, metric: str, rows: BoolArray) -> SeedScores | None:
        """Return the scored values of some rows with their seeds, for a calibrated interval; None without any."""
        values = self.scores.value(metric)
        at = np.flatnonzero(rows & ~np.isnan(values))
        if not len(at) or self.scores.seed is None:
            return None
        at = at[np.argsort(self._by_name[at])]
        return SeedScores(values[at], self.scores.seed[at])

    @cached_property
    def _by_name(self) -> IntArray:
        """Return the rank of each row by item, condition and seed, so that upload order changes no digit."""
        scores = self.scores
        names = [column for column in (scores.item, scores.condition) if column is not None]
        keys = [*([] if scores.seed is None else [scores.seed]), *map(_places, reversed(names))]
        return np.argsort(np.lexsort(keys)) if keys else np.arange(len(scores))


def _places(column: Coded) -> IntArray:
    """Return the place of each row's word among all words, −1 where it has none."""
    places = np.argsort(np.argsort(np.array(column.words, dtype=np.str_)))
    return np.append(places, -1)[column.codes]
