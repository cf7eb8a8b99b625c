"""The coverage behind a claim, for entrants with rows of tasks, or of records in tasks. Pure.

Used by `app.kinds.known` for kinds that do not define their own.
"""

from collections.abc import Collection, Mapping

import numpy as np

from app.boards.coverage import Coverage
from app.manifest.manifest import Manifest
from app.values.scores import ScoreTable


def delivered_tasks(
    manifest: Manifest, scores: ScoreTable, entrant: str, metric: str, conditions: Collection[str]
) -> Coverage | None:
    """Return an entrant's coverage of the asked tasks or records in a metric; None where no grid is declared."""
    del conditions
    wanted = _asked_of(manifest, entrant)
    if not wanted:
        return None
    is_own = scores.entrant.codes == scores.entrant.words.index(entrant)
    counts = np.bincount(
        scores.task.codes[is_own & ~np.isnan(scores.value(metric))], minlength=len(scores.task.words)
    ).tolist()
    n_of = dict(zip(scores.task.words, counts, strict=True))
    n_included = sum(min(n, n_of.get(task, 0)) for task, n in wanted.items())
    n_attempted = sum(wanted.values())
    return Coverage(n_attempted, n_included, n_attempted - n_included)


def _asked_of(manifest: Manifest, entrant: str) -> Mapping[str, int]:
    """Return how many rows are asked of each task that the manifest names, one where its grid names no items."""
    tasks = manifest.task_ids() or (() if manifest.grid is None else tuple(manifest.grid.tasks))
    items = {task: manifest.asked.cells_of(task, entrant).items for task in tasks}
    return {task: 1 if own is None else own if isinstance(own, int) else len(own) for task, own in items.items()}
