"""Admission rule of episodes: they are compared with the benchmark's grid, whatever their registration names.

Called by `app.kinds.episodes.kind`. Episodes beyond the grid are refused, so that nobody improves a mean with
additional ones; missing ones give a warning, and the boards account for them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from app.admission.case import Case
from app.admission.check import Check, some
from app.kinds.episodes.task_cells import TaskCells, of_task, task_cells
from app.manifest.asked import Asked

RULE = "grid"


def check_grid(case: Case) -> list[Check]:
    """Compare each entrant's episodes with the grid; no check where the manifest leaves an axis of it open."""
    asked = _asked(case)
    if case.manifest.grid is None or asked.tasks is None:
        return []
    compared = list(_cells(case, asked))
    if not compared or any(cells is None for *_, cells in compared):
        return []
    known = [(entrant, task, cells) for entrant, task, cells in compared if cells is not None]
    beyond = [f"{e} on {t} has {n} episodes" for e, t, c in known if (n := _n_beyond(case, e, t, c))]
    gaps = [f"{e} on {t} has {n} of {n_all}" for e, t, c in known for n, n_all in [_counts(c)] if n < n_all]
    if beyond:
        return [Check(RULE, "failed", f"Beyond the benchmark's grid: {some(beyond)}.")]
    if gaps:
        becomes = (
            "counts as the worst there is" if case.manifest.absent == "worst" else "keeps an entrant off the ranks"
        )
        return [Check(RULE, "warned", f"Absent from the benchmark's grid: {some(gaps)}. What is absent {becomes}.")]
    if others := list(_other_seeds(known)):
        reason = "Each task has as many seeds as the grid asks for, but not the same ones"
        return [Check(RULE, "warned", f"{reason}: {some(others)}. Who chooses them task by task can choose the best.")]
    return [Check(RULE, "passed", "Every episode of the benchmark's grid is there, and no other.")]


def _other_seeds(known: Sequence[tuple[str, str, TaskCells]]) -> Iterator[str]:
    """Yield entrants with more distinct seeds over their tasks than the grid asks for in any task."""
    for entrant in dict.fromkeys(name for name, _, _ in known):
        own = [cells for name, _, cells in known if name == entrant]
        n_seeds = len({seed for cells in own for seed in cells.seeds})
        if n_seeds > max(cells.n_seeds for cells in own):
            yield f"{entrant} has {n_seeds} in all"


def _asked(case: Case) -> Asked:
    """Return the grid with what the registration names of the axes that it may choose."""
    asked = case.manifest.asked
    if case.registered is None:
        return asked
    prereg = case.registered.prereg
    axes: dict[str, Any] = {
        axis: tuple(named) for axis in asked.grid.registration_may_choose if (named := getattr(prereg, axis))
    }
    chosen = dict.fromkeys(case.scores.entrant.words, axes)
    return replace(asked, facts=replace(asked.facts, chosen=chosen))


def _cells(case: Case, asked: Asked) -> Iterator[tuple[str, str, TaskCells | None]]:
    metric = case.manifest.leaderboards[0].required_metrics()[0]
    for code, entrant in enumerate(case.scores.entrant.words):
        mine = case.scores.entrant.codes == code
        for task in asked.tasks or ():
            rows = mine & of_task(case.scores, task)
            yield entrant, task, task_cells(asked.cells_of(task, entrant), case.scores, rows, metric)


def _counts(cells: TaskCells) -> tuple[int, int]:
    coverage = cells.coverage()
    return coverage.n_included, coverage.n_attempted


def _n_beyond(case: Case, entrant: str, task: str, cells: TaskCells) -> int:
    mine = case.scores.entrant.codes == case.scores.entrant.words.index(entrant)
    rows = mine & of_task(case.scores, task)
    return int(np.sum(rows & ~cells.rows)) + cells.coverage().n_over
