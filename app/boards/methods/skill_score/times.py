"""Median times on a board of skill scores, per a number of forecasts where the board declares one.

Called by `.method`; pure. The number of forecasts is a property of the task, not of an entrant: where the manifest does
not declare it, the rows must agree.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.boards.cells import quantity
from app.boards.columns import cell_at
from app.boards.methods.skill_score.relative import Relative
from app.boards.methods.skill_score.spec import SkillScore
from app.boards.wording import names_in_words
from app.manifest.manifest import Manifest
from app.manifest.tasks import OpenTasks
from app.stats.arrays import FloatArray
from app.values.frame import FrameField
from app.values.scores import ScoreTable
from app.values.table import Column

FEWEST_FORECASTS = 1.0
TITLES = {"training": "Training", "inference": "Inference", "e2e": "Time"}
DISPUTED = "forecast_counts_differ"
MEASURED = frozenset({"training_time_s", "inference_time_s"})


@dataclass(frozen=True)
class Times:
    """Median training and inference times and those of their sum, each [n_entrants], in seconds; NaN where unknown.

    `uncounted` are the tasks for which every count is zero. `disputed` describes, for each task that is not declared in
    the manifest and whose rows differ, who sent which count: no time per forecast is known then.
    """

    per: int | None
    medians: tuple[FloatArray, FloatArray, FloatArray]
    uncounted: tuple[str, ...] = ()
    disputed: tuple[str, ...] = ()

    def fields(self) -> Iterator[FrameField[int]]:
        """Yield the columns of the times; only the sum is shown by default."""
        per, unit = ("", "s") if self.per is None else (f"_per{self.per}", f"s per {self.per} forecasts")
        for (name, title), values in zip(TITLES.items(), self.medians, strict=True):
            column = Column(
                f"median_{name}_time_s{per}",
                title,
                unit=unit,
                direction="minimize",
                glossary="median_time",
                digits=2,
                detail=name != "e2e",
            )
            yield FrameField(column, cell_at(values))

    def notes(self) -> Iterator[str]:
        """Yield why a time is missing."""
        if self.disputed:
            yield (
                f"No time per forecast: the counts of forecasts differ on {'; '.join(self.disputed[:3])}"
                f"{f'; and on {len(self.disputed) - 3} more tasks' if len(self.disputed) > 3 else ''}. "
                "Whose count is right only the manifest can say, with n_forecasts of the task."
            )
        if self.uncounted:
            yield (
                f"No time per forecast on {names_in_words(self.uncounted)}: "
                "every count sent there is of less than one forecast."
            )

    def meta(self) -> dict[str, Any]:
        """Return the flag that counts differ, for the table's `meta`."""
        return {"time_reason": DISPUTED, "time_disputed": list(self.disputed)} if self.disputed else {}


def median_times(manifest: Manifest, spec: SkillScore, scores: ScoreTable, relative: Relative) -> Times:
    """Return median times over the board's tasks, in seconds or seconds per a number of forecasts; NaN is unknown.

    Source: fev 0.10, `leaderboard`, its median times.

    >>> from app.boards.cells import CellMatrix
    >>> from app.boards.example import benchmark, rows
    >>> board = SkillScore(name="main", method="skill_score", metric="error", baseline="A")
    >>> scores = rows({"A": [1.0, 2.0, 9.0]}, "training_time_s")
    >>> cells = CellMatrix(("a", "b", "c"), ("A",), *np.zeros((3, 3, 1)))
    >>> kept = np.ones(3, dtype=np.bool_)
    >>> relative = Relative(cells, cells.values, kept, kept, kept)
    >>> median_times(benchmark(board), board, scores, relative).medians[0].tolist()
    [2.0]
    """
    n = spec.normalize_time_per_n_forecasts
    if n is None and not MEASURED & set(scores.columns):
        unknown = np.full(len(relative.cells.entrants), np.nan)
        return Times(n, (unknown, unknown, unknown))
    training = quantity(relative.cells, scores, "training_time_s")[relative.kept]
    inference = quantity(relative.cells, scores, "inference_time_s")[relative.kept]
    if n is None:
        return Times(n, _medians(training, inference))
    tasks = [task for task, kept in zip(relative.cells.tasks, relative.kept.tolist(), strict=True) if kept]
    declared = _declared(manifest, tasks)
    sent = quantity(relative.cells, scores, "n_forecasts")[relative.kept]
    disputed = tuple(_disputes(relative.cells.entrants, tasks, np.where(np.isnan(declared), sent, np.nan)))
    counts = np.where(np.isnan(declared), _largest(sent), declared)
    counts = np.where(counts < FEWEST_FORECASTS, np.nan, counts)
    per = np.full(counts.shape, np.nan) if disputed else n / counts
    uncounted = np.isnan(counts[:, 0]) & ~np.isnan(sent).all(axis=1)
    nothing = tuple(task for task, is_nothing in zip(tasks, uncounted.tolist(), strict=True) if is_nothing)
    return Times(n, _medians(training * per, inference * per), nothing, disputed)


def _declared(manifest: Manifest, tasks: list[str]) -> FloatArray:
    """Return the manifest's counts, [n_tasks, 1]; NaN where it has none."""
    known = {} if isinstance(manifest.tasks, OpenTasks) else {task.id: task.n_forecasts for task in manifest.tasks}
    counts = [known.get(task) for task in tasks]
    return np.array([[np.nan if count is None else float(count)] for count in counts])


def _largest(sent: FloatArray) -> FloatArray:
    """Return each task's count, [n_tasks, 1]: undisputed counts are equal, so the largest is any of them."""
    largest: FloatArray = np.nan_to_num(sent).max(axis=1, keepdims=True)
    return largest


def _disputes(entrants: tuple[str, ...], tasks: list[str], sent: FloatArray) -> Iterator[str]:
    """Yield the tasks with differing counts, each with its counts and who sent them, the rarest count first."""
    for task, row in zip(tasks, sent, strict=True):
        counts, n_times = np.unique(row[~np.isnan(row)], return_counts=True)
        if len(counts) > 1:
            claimed = [
                f"{count:.15g} by {_who(entrants, row, count)}"
                for count in counts[np.argsort(n_times, kind="stable")].tolist()
            ]
            yield f"{task} ({', '.join(claimed)})"


def _who(entrants: tuple[str, ...], counts: FloatArray, count: float) -> str:
    return names_in_words([name for name, own in zip(entrants, counts.tolist(), strict=True) if own == count])


def _medians(training: FloatArray, inference: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    return _median(training), _median(inference), _median(training + inference)


def _median(times: FloatArray) -> FloatArray:
    """Return medians over the tasks that have a time, [n_entrants]; NaN where none has."""
    ordered, n_known = np.sort(times, axis=0), (~np.isnan(times)).sum(axis=0)  # NaN sorts last
    middle = [(n_known - 1).clip(0) // 2, np.minimum(n_known // 2, len(times) - 1)]
    lower, upper = (np.take_along_axis(ordered, at[None, :], axis=0)[0] for at in middle)
    medians: FloatArray = (lower + upper) / 2.0
    return medians
