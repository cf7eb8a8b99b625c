"""Ranking method `borda`: MTEB's. On each task an entrant gets a point for every entrant that it beats.

Found by `app.boards.registry`. An absent task gives no points, so an entrant that lacks some is still ranked, but
lower.
"""

from dataclasses import replace
from typing import Literal

import numpy as np
from pydantic import Field

from app.boards.columns import cell_at
from app.boards.standing import draw_tasks
from app.boards.tables import BoardTables, TableMethod
from app.boards.task_points import OpponentsBoard, Points, Sheet, assemble, counted_against, read_sheet
from app.manifest.model import Manifest
from app.names import in_words, sentences
from app.stats.arrays import BoolArray
from app.stats.pairs import borda_points
from app.stats.spreads import Range
from app.values.frame import FrameField
from app.values.scores import ScoreTable
from app.values.table import Column

COLUMN = Column("borda_points", "Borda points", direction="maximize", glossary="borda", digits=1)


class Borda(OpponentsBoard):
    """A board of Borda points, summed over tasks."""

    method: Literal["borda"] = Field(description="how it ranks")

    def ranks_gaps(self) -> bool:
        """Say that an absent value gets no points."""
        return True


def compute(manifest: Manifest, spec: Borda, scores: ScoreTable) -> BoardTables:
    """Compute the board and its pairwise table: points [n_tasks, n_entrants], summed, larger is better.

    An absent value, null, gets no points, so its entrant is still ranked, but lower; without a rank is of whom a task
    was not asked.
    Raises BoardUnavailable without rows on its tasks. Source: `app.stats.pairs.borda_points`.

    >>> from app.boards.example import benchmark, rows
    >>> board = Borda(name="main", method="borda", metric="error")
    >>> [row[1:3] for row in compute(benchmark(board), board, rows()).leaderboard.rows]
    [('Good', 6.0), ('Fair', 3.0), ('Poor', 0.0)]
    """
    sheet = read_sheet(manifest, spec, scores)
    counted = counted_against(spec, sheet)
    sheet = sheet if counted is None else counted[0]
    was_asked = sheet.roster.not_asked(sheet.cells.entrants) == 0
    metric = manifest.metrics[spec.metric]
    mean = Column(f"mean_{spec.metric}", f"Mean {metric.title or spec.metric}", unit=metric.unit,
                  direction=metric.direction, glossary="mean", digits=3)  # fmt: skip
    fields = (FrameField(mean, cell_at(sheet.means())),)
    resamples = draw_tasks(spec, sheet.n_tasks)
    points = Points(borda_points(sheet.better), was_asked, COLUMN, 1.0, resamples, fields,
                  _notes(sheet, was_asked), within=Range(0.0, len(sheet.cells.entrants) - 1.0))  # fmt: skip
    if counted is not None:
        # A share of them, times their number: an opponent has one fewer than the others.
        of, n_pool = counted[1], counted[1].pool.shape[1]
        points = replace(points, points=n_pool * of.shares, notes=(of.note, *points.notes),
                         within=Range(0.0, float(n_pool)),
                         of_others=lambda own: n_pool * of.shares_of(own))  # fmt: skip
    return assemble(spec, sheet, points)


def _notes(sheet: Sheet, was_asked: BoolArray) -> tuple[str, ...]:
    n_missing = np.where(was_asked, np.isnan(sheet.better).sum(axis=0), 0).tolist()
    lacking = [
        f"{in_words(name)} ({sheet.n_tasks - n} of {sheet.n_tasks})"
        for name, n in zip(sheet.cells.entrants, n_missing, strict=True)
        if n
    ]
    if not lacking:
        return ()
    may = "Such an entrant may be first only if nobody who has more tasks has more points"
    return (f"These lack some tasks and earn no points there: {sentences(lacking)}. {may}.",)


METHOD = TableMethod(Borda, compute)
