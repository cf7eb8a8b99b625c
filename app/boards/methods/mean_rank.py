"""Ranking method `mean_rank`: the average over tasks of an entrant's rank on each, ties sharing the average rank.

Found by `app.boards.registry`. Only entrants with every task are ranked on each; the others are listed separately.
"""

from typing import Literal

from pydantic import Field

from app.boards.standing import draw_tasks
from app.boards.tables import BoardTables, TableMethod
from app.boards.task_points import OpponentsBoard, Points, assemble, counted_against, read_sheet
from app.manifest.model import Manifest
from app.stats.pairs import average_ranks, within
from app.stats.spreads import Range
from app.values.scores import ScoreTable
from app.values.table import Column

COLUMN = Column("mean_rank", "Mean rank", direction="minimize", glossary="mean_rank", digits=2)


class MeanRank(OpponentsBoard):
    """A board of mean ranks, all tasks weighing the same."""

    method: Literal["mean_rank"] = Field(description="how it ranks")


def compute(manifest: Manifest, spec: MeanRank, scores: ScoreTable) -> BoardTables:
    """Compute the board and its pairwise table: mean ranks from 1 to n_entrants, smaller being better.

    Ranks are [n_tasks, n_entrants], ties sharing theirs. An entrant without a value on some task has no rank on any.
    Raises BoardUnavailable without rows on its tasks. Source: `app.stats.pairs.average_ranks`.

    >>> from app.boards.example import benchmark, rows
    >>> board = MeanRank(name="main", method="mean_rank", metric="error")
    >>> [row[1:3] for row in compute(benchmark(board), board, rows()).leaderboard.rows]
    [('Good', 1.0), ('Fair', 2.0), ('Poor', 3.0)]
    """
    sheet = read_sheet(manifest, spec, scores)
    counted = counted_against(spec, sheet)
    if counted is not None:
        # One more than the opponents that are better: an opponent has one fewer than the others, so it is by share.
        sheet, of = counted
        n_pool, resamples = of.pool.shape[1], draw_tasks(spec, sheet.n_tasks)
        given = Points(-1.0 - n_pool * (1.0 - of.shares), sheet.complete, COLUMN, -1.0 / sheet.n_tasks, resamples,
                       notes=(of.note,), within=Range(-1.0 - n_pool, -1.0),
                       of_others=lambda own: -1.0 - n_pool * (1.0 - of.shares_of(own)))  # fmt: skip
        return assemble(spec, sheet, given)
    points = within(sheet.better, sheet.complete, lambda better: -average_ranks(-better))
    lies = Range(-float(max(1, sheet.complete.sum())), -1.0)
    ranked = Points(points, sheet.complete, COLUMN, -1.0 / sheet.n_tasks, draw_tasks(spec, sheet.n_tasks), within=lies)
    return assemble(spec, sheet, ranked)


METHOD = TableMethod(MeanRank, compute)
