"""How many forecasts a row says that it made, compared with what its task asks for. Called by `.blocks`.

A count is a property of the task: one that differs would change the times per forecast of everybody.
"""

import numpy as np

from app.files.vocabulary import Vocabulary
from app.manifest.manifest import Manifest
from app.manifest.tasks import OpenTasks
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.values.scores import NONE

WHOLE = "a count of forecasts is a whole number, at least 1"


class ForecastCounts:
    """The counts that the manifest declares, by the reader's numbers of its tasks."""

    def __init__(self, manifest: Manifest, tasks: Vocabulary) -> None:
        listed = [] if isinstance(manifest.tasks, OpenTasks) else manifest.tasks
        known = {task.id: float(task.n_forecasts) for task in listed if task.n_forecasts is not None}
        words = tasks.words if listed else ()
        self._of_task = np.array([*(known.get(word, np.nan) for word in words), np.nan])

    def wrong(self, counts: FloatArray, tasks: IntArray) -> BoolArray:
        """Say which counts [n_rows] are none, or not their task's; NaN is a row that does not say it."""
        is_stated = ~np.isnan(counts)
        wanted = self._of_task[self._known(tasks)]
        wrong: BoolArray = is_stated & (
            (counts < 1) | (counts != np.floor(counts)) | (~np.isnan(wanted) & (counts != wanted))
        )
        return wrong

    def complaint(self, count: float, task: int) -> str:
        """Return what is wrong with a wrong count."""
        if count < 1 or count != np.floor(count):
            return WHOLE
        return f"{count:.0f} is not the count of forecasts of this task; the manifest says {self._of_task[task]:.0f}"

    def _known(self, tasks: IntArray) -> IntArray:
        """Return the tasks' positions, those of an open or unknown task at the end, where there is no count."""
        at: IntArray = np.where((tasks == NONE) | (tasks >= len(self._of_task)), len(self._of_task) - 1, tasks)
        return at
