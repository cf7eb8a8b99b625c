"""Who of a board of skill scores is ranked, on which tasks, and where the others would rank with what they lack.

Called by `app.boards.skill_score.method`; pure.
"""

from dataclasses import dataclass

import numpy as np

from app.boards.cells import CellMatrix
from app.boards.coverage import Roster, rank_among
from app.boards.skill_score.relative import Relative, treat_missing
from app.boards.skill_score.spec import SkillScore
from app.boards.task_coverage import filled, task_roster
from app.manifest.manifest import Manifest
from app.stats.arrays import FloatArray
from app.stats.relative import skill, win_shares


@dataclass(frozen=True)
class Among:
    """The ranked and their errors in `relative`; `errors` [n_tasks, n_entrants] are everybody's, NaN where missing."""

    spec: SkillScore
    cells: CellMatrix
    errors: FloatArray
    roster: Roster
    relative: Relative

    def bounds(self, entrant: str, rank_by: str) -> tuple[int, int] | None:
        """Return the ranks of an entrant if its missing errors were the largest and the smallest that a clip leaves.

        None for who misses nothing.
        """
        own = self.errors[:, self.cells.column(entrant)]
        if not np.isnan(own).any():
            return None
        others = [at for at, name in enumerate(self.roster.ranked) if name != entrant]
        among = self.relative.errors[:, others]
        low, high = self.spec.clip
        if_worst, if_best = (self._rank(filled(own, end)[self.relative.kept], among, rank_by) for end in (high, low))
        return if_worst, if_best

    def _rank(self, own: FloatArray, among: FloatArray, rank_by: str) -> int:
        errors = np.column_stack([own, among])
        if rank_by == "win_rate" and errors.shape[1] > 1:
            points = win_shares(errors).mean(axis=0)
        else:
            points = skill(np.log(errors).mean(axis=0))
        return rank_among(float(points[0]), points[1:].tolist())


def find_ranked(manifest: Manifest, spec: SkillScore, cells: CellMatrix, errors: FloatArray) -> Among:
    """Return who is ranked under the grid. Raises BoardUnavailable where the ranked have no task in common.

    `errors` are clipped ones over the baseline's, NaN where an entrant failed.
    """
    roster = task_roster(manifest, spec, cells, np.isnan(errors))
    worst = spec.clip[1] if manifest.absent == "worst" and not roster.is_provisional else None
    ranked = cells.only(roster.ranked)
    own = filled(errors, worst)[:, [cells.column(name) for name in roster.ranked]]
    return Among(spec, cells, errors, roster, treat_missing(ranked, own, "drop"))
