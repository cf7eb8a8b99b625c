"""Ranking method `borda`: MTEB's. On each task an entrant gets a point for every entrant that it beats.

Found by `app.boards.registry`. An absent task gives no points, so an entrant that lacks some is still ranked, but
lower.
"""

from typing import Literal

import numpy as np
from pydantic import Field

from app.boards.columns import cell_at
from app.boards.standing import draw_tasks
from app.boards.tables import BoardTables, TableMethod
from app.boards.task_points import Points, Sheet, TaskBoard, assemble, read_sheet
from app.manifest.model import Manifest
from app.names import in_words, sentences
from app.stats.pairs import borda_points
from app.stats.spreads import Range
from app.values.frame import FrameField
from app.values.scores import ScoreTable
from app.values.table import Column

COLUMN = Column("borda_points", "Borda points", direction="maximize", glossary="borda", digits=1)


class Borda(TaskBoard):
    """A board of Borda points, summed over tasks."""

    is_of_opponents = True

    method: Literal["borda"] = Field(description="how it ranks")


def compute(manifest: Manifest, spec: Borda, scores: ScoreTable) -> BoardTables:
    """Compute the board and its pairwise table: points [n_tasks, n_entrants], summed, larger is better.

    An absent value, null, gets no points, so its entrant is still ranked, but lower.
    Raises BoardUnavailable without rows on its tasks. Source: `app.stats.pairs.borda_points`.

    >>> from app.boards.example import benchmark, rows
    >>> board = Borda(name="main", method="borda", metric="error")
    >>> [row[1:3] for row in compute(benchmark(board), board, rows()).leaderboard.rows]
    [('Good', 6.0), ('Fair', 3.0), ('Poor', 0.0)]
    """
    sheet = read_sheet(manifest, spec, scores)
    everybody = np.ones(len(sheet.cells.entrants), dtype=np.bool_)
    metric = manifest.metrics[spec.metric]
    mean = Column(f"mean_{spec.metric}", f"Mean {metric.title or spec.metric}", unit=metric.unit,
                  direction=metric.direction, glossary="mean", digits=3)  # fmt: skip
    fields = (FrameField(mean, cell_at(sheet.means())),)
    points = Points(borda_points(sheet.better), everybody, COLUMN, 1.0, draw_tasks(spec, sheet.n_tasks), fields,
                  _notes(sheet), within=Range(0.0, len(sheet.cells.entrants) - 1.0))  # fmt: skip
    return assemble(spec, sheet, points)


def _notes(sheet: Sheet) -> tuple[str, ...]:
    lacking = [
        f"{in_words(name)} ({sheet.n_tasks - n} of {sheet.n_tasks})"
        for name, n in zip(sheet.cells.entrants, np.isnan(sheet.better).sum(axis=0).tolist(), strict=True)
        if n
    ]
    if not lacking:
        return ()
    return (
        "Without every task, so no points there and no rank interval; none of these may be first: "
        f"{sentences(lacking)}.",
    )


METHOD = TableMethod(Borda, compute)
