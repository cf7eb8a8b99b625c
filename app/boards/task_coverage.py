"""Coverage of boards whose cells are tasks: for which tasks of the grid each entrant has a value.

Called by the methods that read one number for each entrant and task; pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from app.boards.cells import CellMatrix
from app.boards.coverage import Coverage, Roster, call_roster
from app.manifest.asked import Asked
from app.manifest.leaderboard import Leaderboard
from app.manifest.manifest import Manifest
from app.stats.arrays import BoolArray, FloatArray


def task_roster(manifest: Manifest, spec: Leaderboard, cells: CellMatrix, missing: BoolArray) -> Roster:
    """Return who is ranked; `missing` [n_tasks, n_entrants] says which cells have no value.

    The grid is the closed list of tasks, of the board or the manifest; where tasks are open, None, those of the cells.
    Tasks of the grid that nobody has are absent for everybody.
    Source: `app.boards.coverage.call_roster`.

    >>> from app.boards.cells import build_cells
    >>> from app.boards.example import benchmark, rows
    >>> board = Leaderboard(name="main", method="mean", uncertainty={"n_resamples": 100})
    >>> cells = build_cells(benchmark(board), board, rows({"A": [0.1, 0.2, 0.3], "B": [0.3]}), "error")
    >>> task_roster(benchmark(board), board, cells, np.isnan(cells.values)).apart
    ('B',)
    """
    declared = spec.tasks or manifest.task_ids()
    wanted = cells.tasks if declared is None else declared
    counted = _count(cells, wanted, missing)
    asked, ranking, is_filled = manifest.asked, spec.required_metrics(), manifest.absent == "worst"
    earlier, is_counted = asked.facts.earlier, spec.imputes() and not is_filled
    coverages = {
        name: _cover(wanted, counted, at, earlier.get(name, ()), is_filled=is_filled, is_counted=is_counted)
        if asked.has_asked(name, ranking)
        else Coverage(0, 0, n_not_asked=len(wanted))
        for at, name in enumerate(cells.entrants)
    }
    return call_roster(coverages, is_declared=declared is not None)


@dataclass(frozen=True)
class _Counted:
    """Which of the wanted tasks each entrant has a value for, and which it failed: each [n_wanted, n_entrants]."""

    included: BoolArray
    failed: BoolArray

    @cached_property
    def n_included(self) -> list[int]:
        """Return how many tasks each entrant has a value for."""
        return [int(n) for n in self.included.sum(axis=0).tolist()]

    @cached_property
    def n_failed(self) -> list[int]:
        """Return how many tasks each entrant failed."""
        return [int(n) for n in self.failed.sum(axis=0).tolist()]

    @cached_property
    def n_absent(self) -> list[int]:
        """Return how many tasks each entrant has no row for."""
        return [int(n) for n in (~(self.included | self.failed)).sum(axis=0).tolist()]


def _count(cells: CellMatrix, wanted: Sequence[str], missing: BoolArray) -> _Counted:
    place = {task: at for at, task in enumerate(cells.tasks)}
    at = np.array([place.get(task, -1) for task in wanted], dtype=np.int64)
    has_rows = (at >= 0)[:, None]
    return _Counted(has_rows & ~missing[at], has_rows & missing[at] & cells.present[at])


def _cover(
    wanted: Sequence[str], counted: _Counted, at: int, earlier: Sequence[Asked], *, is_filled: bool, is_counted: bool
) -> Coverage:
    not_asked = 0
    if earlier:
        absent = ~(counted.included[:, at] | counted.failed[:, at])
        tasks = [wanted[place] for place in np.flatnonzero(absent).tolist()]
        not_asked = sum(not any(task in (grid.tasks or ()) for grid in earlier) for task in tasks)
    return Coverage(
        n_attempted=len(wanted) - not_asked,
        n_included=counted.n_included[at],
        n_absent=counted.n_absent[at] - not_asked,
        n_failed=counted.n_failed[at],
        n_not_asked=not_asked,
        is_filled=is_filled and not not_asked,
        is_counted=is_counted and not not_asked,
    )


def filled(values: FloatArray, value: float | None) -> FloatArray:
    """Return values of any shape with what is missing, NaN, replaced; None leaves it missing.

    Source: none; it replaces NaN.

    >>> filled(np.array([0.1, np.nan]), 1.0).tolist()
    [0.1, 1.0]
    """
    return values if value is None else np.where(np.isnan(values), value, values)
