"""Ranking method `mean_win_rate`: HELM's. The share of other entrants that an entrant beats, averaged over tasks.

Found by `app.boards.registry`. Only entrants with every task are compared; the others are listed separately.
"""

from typing import Literal

import numpy as np
from pydantic import Field

from app.boards.standing import draw_tasks
from app.boards.tables import BoardTables, TableMethod
from app.boards.task_points import OpponentsBoard, Points, assemble, counted_against, read_sheet
from app.manifest.model import Manifest
from app.stats.pairs import win_shares, within
from app.stats.spreads import SHARE
from app.values.scores import ScoreTable
from app.values.table import Column

COLUMN = Column("win_rate", "Mean win rate", direction="maximize", glossary="win_rate", digits=3)


class MeanWinRate(OpponentsBoard):
    """A board of win rates, all tasks weighing the same."""

    method: Literal["mean_win_rate"] = Field(description="how it ranks")


def compute(manifest: Manifest, spec: MeanWinRate, scores: ScoreTable) -> BoardTables:
    """Compute the board and its pairwise table: shares of the others beaten, from 0 to 1, larger being better.

    Shares are [n_tasks, n_entrants]. The rate is null for an entrant without a value on some task, and for a single
    entrant.
    Raises BoardUnavailable without rows on its tasks. Source: HELM, its mean win rate; `app.stats.pairs.win_shares`.

    >>> from app.boards.example import benchmark, rows
    >>> board = MeanWinRate(name="main", method="mean_win_rate", metric="error")
    >>> [row[1:3] for row in compute(benchmark(board), board, rows()).leaderboard.rows]
    [('Good', 1.0), ('Fair', 0.5), ('Poor', 0.0)]
    """
    sheet = read_sheet(manifest, spec, scores)
    counted = counted_against(spec, sheet)
    if counted is not None:
        sheet, of = counted
        given = Points(of.shares, sheet.complete, COLUMN, 1.0 / sheet.n_tasks, draw_tasks(spec, sheet.n_tasks),
                       notes=(of.note,), within=SHARE, of_others=of.shares_of)  # fmt: skip
        return assemble(spec, sheet, given)
    # A single entrant has nobody to beat: it is first, without a rate.
    unit = 1.0 / sheet.n_tasks if sheet.complete.sum() > 1 else np.nan
    points = within(sheet.better, sheet.complete, lambda better: win_shares(-better))
    resamples = draw_tasks(spec, sheet.n_tasks)
    return assemble(spec, sheet, Points(points, sheet.complete, COLUMN, unit, resamples, within=SHARE))


METHOD = TableMethod(MeanWinRate, compute)
