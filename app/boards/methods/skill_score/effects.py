"""Skills and win rates of the entrants of a board of skill scores, by task and over all tasks.

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

    `mean_ranks` [n_entrants] are those of the raw errors over the tasks, None where they must be computed separately.
    """

    wins: FloatArray
    logs: Columns
    mean_ranks: FloatArray | None = None

    @classmethod
    def of(cls, relative: Relative, raw: FloatArray | None = None) -> "ByTask":
        """Compute them from relative errors; the shares of a single entrant are NaN, since it has no opponent.

        `raw` [n_tasks, n_entrants] are the errors themselves, given if their mean ranks are wanted, too.
        """
        logs = Columns(each_of(relative.errors, np.log))
        if len(relative.cells.entrants) < 2:
            return cls(np.full(relative.errors.shape, np.nan), logs)
        # Ratios keep the order of errors only for a positive baseline: one below 0 reverses it, one of 0 clips all
        # alike.
        if raw is None or relative.n_failures.any() or raw.min() < 0.0:
            return cls(win_shares(relative.errors), logs)
        wins, mean_ranks = wins_and_ranks(relative.errors, raw)
        return cls(wins, logs, mean_ranks)

    def points(self) -> Mapping[str, FloatArray]:
        """Return everybody's points for each effect, [n_entrants]."""
        return {"win_rate": self.wins.mean(axis=0), "skill_score": skill(self.logs.values.mean(axis=0))}

    def rank_by(self, spec: SkillScore) -> str:
        """Return the effect that ranks: never the win rate for a single entrant, who has none."""
        return spec.rank_by if self.wins.shape[1] > 1 else "skill_score"


@dataclass(frozen=True)
class Effects:
    """Points [n_entrants] and interval ends [2, n_entrants] by effect; no ends without resamples."""

    points: Mapping[str, FloatArray]
    drawn: Mapping[str, FloatArray]
    rank_by: str

    @property
    def ranked_by(self) -> FloatArray:
        """Return the points of the effect that ranks, [n_entrants]."""
        return self.points[self.rank_by]

    @classmethod
    def of(cls, spec: SkillScore, by_task: ByTask, resamples: Resamples | None) -> "Effects":
        """Compute everybody's points, and their ends if there are resamples."""
        drawn, level = {}, spec.uncertainty.level
        if resamples is not None:
            of_wins = np.stack(percentile_interval(resampled_shares(by_task.wins, resamples), level))
            drawn = {"win_rate": of_wins, "skill_score": resampled_ends(by_task.logs, resamples, level, skill)}
        return cls(by_task.points(), drawn, by_task.rank_by(spec))
