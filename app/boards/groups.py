"""Groups of tasks as columns of a board: what every entrant has in each of them, with its interval.

Which groups there are the manifest says: those of the board itself, or the values of `group_by`.
"""

from dataclasses import replace

import numpy as np

from app.boards.calibrated import range_of, task_intervals
from app.boards.task_values import task_values
from app.boards.units import TaskUnits
from app.manifest.model import Leaderboard, Manifest
from app.stats.spreads import Range
from app.values.frame import Ends, with_interval
from app.values.scores import ScoreTable
from app.values.table import Cell, Column, Table, finite


def with_groups(board: Table, manifest: Manifest, spec: Leaderboard, scores: ScoreTable) -> Table:
    """Return a board with a column `mean:…` for each declared group of tasks, and the ends of its interval.

    A cell is the mean of the board's first metric over the group's tasks, in its unit; the geometric mean where the
    board compares errors as ratios. It is None for an entrant that lacks one of them, and so are the ends where one
    task, or one family of tasks, is all there is. `meta.groups` counts the tasks. A board that has the column itself
    keeps it. Raises KeyError where the rows lack the metric.
    Source: `app.boards.calibrated.task_intervals`.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.group_mean import GroupMean, compute
    >>> board = GroupMean(name="main", method="group_mean", metric="error", groups={"x": ["a", "b"], "y": ["c"]})
    >>> table = with_groups(compute(benchmark(board), board, rows()).leaderboard, benchmark(board), board, rows())
    >>> first = next(table.records())
    >>> round(first["mean:x"], 3), first["mean:x_lower"] < 0.15 < first["mean:x_upper"], first["mean:y_lower"]
    (0.15, True, None)
    """
    # A board's own groups need no task to be named; those that any column of tasks makes are not declared.
    groups = spec.groups_of_tasks(()) or manifest.declared_groups()
    if not groups or "entrant" not in board.column_names():
        return board
    by_task, ratios = task_values(manifest, spec, scores), spec.compares_ratios()
    metric, units = manifest.metrics[by_task.metric], TaskUnits.of(manifest, by_task.tasks)
    values = by_task.as_counted(spec)
    with np.errstate(invalid="ignore", divide="ignore"):
        values = np.log(np.where(values > 0.0, values, np.nan)) if ratios else values
    within, scale = (Range(), np.exp) if ratios else (range_of(metric), np.asarray)
    place, at = {name: n for n, name in enumerate(by_task.entrants)}, board.index("entrant")
    rows, columns, sizes = [list(row) for row in board.rows], list(board.columns), {}
    for group, tasks in groups.items():
        own = [n for n, task in enumerate(by_task.tasks) if task in tasks]
        if not own:
            continue
        sizes[group], part = len(own), values[own]
        means = scale(part.mean(axis=0))
        ends = task_intervals(part, within, spec.uncertainty.level, scale=scale, units=units.only(own))
        column = Column(f"mean:{group}", group, unit=metric.unit, direction=metric.direction, detail=True,
                        glossary="task_groups", digits=3)  # fmt: skip
        number, low, high = (each.column for each in with_interval(column, _no_ends))
        is_there = column.name in board.column_names()
        if is_there:
            columns[board.index(column.name)] = number
        columns += [low, high] if is_there else [number, low, high]
        for row in rows:
            n = place.get(str(row[at]))
            cells: tuple[Cell, ...] = (None, None, None)
            if n is not None:
                held = ends(n)
                cells = (finite(float(means[n])), held.low, held.high)
            row += cells[1:] if is_there else cells
    return replace(board, columns=tuple(columns), rows=tuple(map(tuple, rows)), meta={**board.meta, "groups": sizes})


def _no_ends(_row: str) -> Ends:
    return (None, None, None)
