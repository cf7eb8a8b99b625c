"""The coverage behind a claim: otherwise leaving out contrary evidence would make a claim supported.

Called by `app.jobs.claims` through the kind's entry in `app.kinds.known`; pure.
"""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from app.boards.coverage import NOTHING_ASKED, Coverage
from app.kinds.episodes.coverage import grid_of
from app.kinds.episodes.task_cells import TaskCells
from app.manifest.manifest import Manifest
from app.values.scores import Coded, ScoreTable


def delivered(
    manifest: Manifest, scores: ScoreTable, entrant: str, metric: str, conditions: Collection[str], *, by_task: bool
) -> Coverage | None:
    """Return the coverage of the grid in a metric and in some conditions (empty: all).

    None where an axis is open, so that nobody knows. `by_task`: each task is a run of its own, and counts where it has
    rows.
    """
    rows = scores.take(scores.entrant.codes == scores.entrant.words.index(entrant))
    own = replace(rows, entrant=Coded((entrant,), np.zeros(len(rows), dtype=np.int64)))
    present = {own.task.words[code] for code in np.unique(own.task.codes).tolist()}
    tasks = [task for task in manifest.task_ids() or () if task in present or not by_task]
    grid = grid_of(manifest.asked, tasks if manifest.task_ids() is not None else None, own, metric, entrant)
    if grid.held is not None:
        return None
    return sum((_in_conditions(cells, conditions) for cells in grid.cells.values()), NOTHING_ASKED)


def _in_conditions(cells: TaskCells, conditions: Collection[str]) -> Coverage:
    if not conditions or None in cells.conditions:
        return cells.coverage()
    kept = [at for at, name in enumerate(cells.conditions) if name in conditions]
    names = tuple(cells.conditions[at] for at in kept)
    return replace(cells, conditions=names, n_rows=cells.n_rows[kept], n_valued=cells.n_valued[kept]).coverage()
