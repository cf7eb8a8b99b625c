"""What the entrants of a board of skill scores come to task by task, and over the tasks.

Called by `.method`; pure.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from app.boards.methods.skill_score.relative import Relative
from app.boards.methods.skill_score.spec import SkillScore
from app.boards.spread import resampled_ends
from app.stats.arrays import FloatArray
from app.stats.compiled import each_of
from app.stats.interval import percentile_interval
from app.stats.known_columns import Columns
from app.stats.relative import resampled_shares, skill, win_shares, wins_and_ranks
from app.stats.resample import Resamples


@dataclass(frozen=True)
class ByTask:
    """Shares of opponents beaten on each task, and logarithms of the errors, [n_tasks, n_entrants].

    `mean_ranks` [n_entrants] are those of the raw errors over the tasks, None where they are to be found apart.
    """

    wins: FloatArray
    logs: Columns
    mean_ranks: FloatArray | None = None

    @classmethod
    def of(cls, relative: Relative, raw: FloatArray | None = None) -> "ByTask":
        """Return those of relative errors; alone nobody has an opponent, and the shares are NaN.

        `raw` [n_tasks, n_entrants] are the errors themselves, of which the mean ranks are wanted, too.
        """
        logs = Columns(each_of(relative.errors, np.log))
        if len(relative.cells.entrants) < 2:
            return cls(np.full(relative.errors.shape, np.nan), logs)
        # Ratios to a baseline below 0 turn the order of errors, and are all clipped to the same where none is below 0.
        if raw is None or relative.n_failures.any() or raw.min() < 0.0:
            return cls(win_shares(relative.errors), logs)
        wins, mean_ranks = wins_and_ranks(relative.errors, raw)
        return cls(wins, logs, mean_ranks)

    def points(self) -> Mapping[str, FloatArray]:
        """Return by effect what everybody comes to, [n_entrants]."""
        return {"win_rate": self.wins.mean(axis=0), "skill_score": skill(self.logs.values.mean(axis=0))}

    def rank_by(self, spec: SkillScore) -> str:
        """Return the effect by which the entrants are ranked: alone nobody has a rate."""
        return spec.rank_by if self.wins.shape[1] > 1 else "skill_score"


@dataclass(frozen=True)
class Effects:
    """Points [n_entrants] and the ends of their intervals [2, n_entrants] by effect; without resamples no ends."""

    points: Mapping[str, FloatArray]
    drawn: Mapping[str, FloatArray]
    rank_by: str

    @property
    def ranked_by(self) -> FloatArray:
        """Return the points of the effect that ranks, [n_entrants]."""
        return self.points[self.rank_by]

    @classmethod
    def of(cls, spec: SkillScore, by_task: ByTask, resamples: Resamples | None) -> "Effects":
        """Return what everybody comes to; ends only with resamples."""
        drawn, level = {}, spec.uncertainty.level
        if resamples is not None:
            of_wins = np.stack(percentile_interval(resampled_shares(by_task.wins, resamples), level))
            drawn = {"win_rate": of_wins, "skill_score": resampled_ends(by_task.logs, resamples, level, skill)}
        return cls(by_task.points(), drawn, by_task.rank_by(spec))
