"""Coverage of boards whose cells are tasks: which tasks each entrant has a value for, of those that the grid has.

Called by the methods that read one number for each entrant and task; pure.
"""

from collections.abc import Sequence

import numpy as np

from app.boards.cells import CellMatrix
from app.boards.coverage import Coverage, Roster, call_roster
from app.manifest.manifest import Leaderboard, Manifest
from app.stats.arrays import BoolArray, FloatArray


def task_roster(manifest: Manifest, spec: Leaderboard, cells: CellMatrix, missing: BoolArray) -> Roster:
    """Return who is ranked; `missing` [n_tasks, n_entrants] says which cells have no value.

    The grid is the closed list of tasks; where tasks are open, all that anybody has. Tasks of the grid that nobody has
    are absent of everybody.
    """
    declared = manifest.task_ids()
    wanted = cells.tasks if declared is None else (spec.tasks or declared)
    coverages = {name: _cover(manifest, wanted, cells, missing[:, at], name) for at, name in enumerate(cells.entrants)}
    return call_roster(coverages, is_declared=declared is not None)


def _cover(manifest: Manifest, wanted: Sequence[str], cells: CellMatrix, missing: BoolArray, entrant: str) -> Coverage:
    present = cells.present[:, cells.column(entrant)]
    included = {cells.tasks[at] for at in np.flatnonzero(~missing)}
    failed = {cells.tasks[at] for at in np.flatnonzero(missing & present)}
    absent = [task for task in wanted if task not in included and task not in failed]
    earlier = manifest.asked.facts.earlier.get(entrant, ())
    not_asked = [task for task in absent if earlier and not any(task in (grid.tasks or ()) for grid in earlier)]
    return Coverage(
        n_attempted=len(wanted) - len(not_asked),
        n_included=sum(task in included for task in wanted),
        n_absent=len(absent) - len(not_asked),
        n_failed=sum(task in failed for task in wanted),
        n_not_asked=len(not_asked),
        is_filled=manifest.absent == "worst" and not not_asked,
    )


def filled(values: FloatArray, value: float | None) -> FloatArray:
    """Return values with what is missing replaced; None leaves it missing."""
    return values if value is None else np.where(np.isnan(values), value, values)
