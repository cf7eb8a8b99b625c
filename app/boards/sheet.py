"""One metric as tasks × entrants, larger being better: the input of boards that give points on every task.

Called by `app.boards.task_points` and the methods that use it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from app.boards.cells import CellMatrix, build_cells
from app.boards.coverage import Roster
from app.boards.task_coverage import filled, task_roster
from app.manifest.base import MetricName
from app.manifest.leaderboard import Leaderboard
from app.manifest.manifest import Manifest
from app.manifest.tasks import Task
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.stats.closed_intervals import effective_number
from app.stats.ranked_tasks import borda_points, ranks_beside
from app.stats.spreads import Range
from app.stats.weighing import weigh
from app.values.scores import ScoreTable

EVERYWHERE = Range()


class TaskBoard(Leaderboard):
    """A board of one metric over a closed list of tasks: in an open list a new task makes everybody incomplete."""

    can_lack_intervals = True
    needs_known_tasks: ClassVar[bool] = True

    metric: MetricName

    def metric_names(self) -> tuple[str, ...]:
        """Return the one metric of the board."""
        return (self.metric,)

    def weighable(self, tasks: Sequence[Task]) -> Collection[str] | None:
        """Return its tasks."""
        return self.tasks or [task.id for task in tasks]


@dataclass(frozen=True)
class Sheet:
    """One metric as tasks × entrants, larger being better (NaN is no result), with the coverage of each entrant.

    `complete` [n_entrants] says who may be first. `ends` are the metric's declared worst and best values, `weights`
    [n_tasks] a reader's task weights. `slug` is the benchmark's.
    """

    cells: CellMatrix
    better: FloatArray
    roster: Roster
    ends: tuple[float | None, float | None] = (None, None)
    weights: FloatArray | None = None
    slug: str = ""

    @cached_property
    def complete(self) -> BoolArray:
        """Say who lacks nothing, or had it filled with the worst value, [n_entrants]."""
        return np.isin(self.cells.entrants, self.roster.ranked)

    @cached_property
    def others(self) -> FloatArray:
        """Return the values of the complete entrants, [n_tasks, n_complete]."""
        return self.better[:, self.complete]

    @cached_property
    def _points_of_others(self) -> FloatArray:
        return np.asarray((borda_points(self.others) * self._counts).sum(axis=0))

    @property
    def _counts(self) -> FloatArray:
        return np.ones((self.n_tasks, 1)) if self.weights is None else self.weights[:, None]

    def ranks_by_order(self, owns: FloatArray) -> IntArray:
        """Return each column's rank by Borda points, [n_owns] of [n_tasks, n_owns], beside the complete entrants."""
        if not self.complete.any():
            return np.ones(owns.shape[1], dtype=np.int64)
        return ranks_beside(self.others, self._points_of_others, owns, self._counts[:, 0])

    @property
    def n_tasks(self) -> int:
        """Return the number of tasks."""
        return len(self.cells.tasks)

    @property
    def n_weighed(self) -> float | None:
        """Return the effective number of tasks that a reader weighs; None where all weigh the same."""
        return None if self.weights is None else effective_number(self.weights)

    def means(self) -> FloatArray:
        """Return the mean of the metric over all tasks, [n_entrants]; NaN for an entrant that lacks one."""
        values = self.cells.values if self.weights is None else weigh(self.cells.values, self.weights)
        return np.asarray(values.mean(axis=0))


def read_sheet(manifest: Manifest, spec: TaskBoard, scores: ScoreTable) -> Sheet:
    """Pivot the board's metric: values [n_tasks, n_entrants] in its unit, turned so that larger is better; NaN is none.

    Raises BoardUnavailable without rows on its tasks.
    Source: none; it rearranges rows.

    >>> from app.boards.example import benchmark, rows
    >>> board = TaskBoard(name="main", method="borda", metric="error")
    >>> read_sheet(benchmark(board), board, rows({"A": [0.1, 0.2], "B": [0.3]})).better.tolist()
    [[-0.1, -0.3], [-0.2, nan]]
    """
    cells, metric = build_cells(manifest, spec, scores, spec.metric), manifest.metrics[spec.metric]
    roster = task_roster(manifest, spec, cells, np.isnan(cells.values))
    if manifest.absent == "worst":
        cells = replace(cells, values=filled(cells.values, metric.worst))
    sign = 1.0 if metric.direction == "maximize" else -1.0
    worst, best = (None if end is None else sign * end for end in (metric.worst, metric.best))
    return Sheet(cells, sign * cells.values, roster, (worst, best), task_weights(spec, cells.tasks), manifest.slug)


def task_weights(spec: Leaderboard, tasks: Sequence[str]) -> FloatArray | None:
    """Return a reader's task weights, [n_tasks]; None where all weigh the same.

    Source: the reader's choice.

    >>> from app.manifest.explored import Explored
    >>> board = TaskBoard(name="main", method="borda", metric="error").as_chosen(None, Explored({"a": 2.0}))
    >>> task_weights(board, ["a", "b"]).tolist()
    [2.0, 1.0]
    """
    chosen = spec.explored.weights if spec.explored else {}
    return np.array([chosen.get(task, 1.0) for task in tasks]) if chosen else None
