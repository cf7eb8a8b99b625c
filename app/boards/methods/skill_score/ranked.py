"""Who of a board of skill scores is ranked, on which tasks, and where the others would rank with what they lack.

Called by `.method`; pure.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from app.boards.cells import CellMatrix
from app.boards.coverage import Roster, rank_among
from app.boards.methods.skill_score.relative import Relative, own_errors, treat_missing
from app.boards.methods.skill_score.spec import SkillScore
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
        column = self.cells.column(entrant)
        if not self._is_lacking[column]:
            return None
        own = self.errors[:, column]
        others = [at for at, name in enumerate(self.roster.ranked) if name != entrant]
        ends = [filled(own, end)[self.relative.kept] for end in reversed(self.spec.clip)]
        if rank_by == "win_rate" and others:
            if_worst, if_best = (self._rank_by_wins(end, self.relative.errors[:, others]) for end in ends)
        else:
            among = self._skills[others]
            if_worst, if_best = (rank_among(point, among) for point in _skills_of(np.column_stack(ends)).tolist())
        return if_worst, if_best

    def served_by_leaks(self, rank_by: str) -> list[str]:
        """Return who of the ranked would rank lower by its own errors, where the leakage model's stand for larger ones.

        Whoever says of itself that it has seen the data of a task gets the errors of another model there.
        """
        if self.spec.leakage_model is None or not self.cells.leaked.any():
            return []
        own = own_errors(self.cells, self.errors, self.spec)[self.relative.kept]
        named = enumerate(self.roster.ranked)
        columns = [(at, name, own[:, self.cells.column(name)]) for at, name in named]
        gains = [each for each in columns if (each[2] > self.relative.errors[:, each[0]]).any()]
        return [name for at, name, errors in gains if self._rank(errors, at, rank_by) > self._rank(None, at, rank_by)]

    def _rank(self, errors: FloatArray | None, at: int, rank_by: str) -> int:
        """Return the rank of one of the ranked with other errors than its own; with its own where none are given."""
        others = [place for place in range(len(self.roster.ranked)) if place != at]
        given = self.relative.errors[:, at] if errors is None else errors
        if rank_by == "win_rate" and others:
            return self._rank_by_wins(given, self.relative.errors[:, others])
        return rank_among(_skills_of(np.column_stack([given, np.ones(len(given))])).tolist()[0], self._skills[others])

    @cached_property
    def _is_lacking(self) -> list[bool]:
        """Return of each entrant whether it misses something; column by column a large board takes long."""
        lacking: list[bool] = np.asarray(np.isnan(self.errors).any(axis=0)).tolist()
        return lacking

    @cached_property
    def _skills(self) -> FloatArray:
        """Return the skills of the ranked, in their order."""
        errors = self.relative.errors
        # One column alone would be summed in another order, and not be equal to its like.
        return _skills_of(np.column_stack([errors, np.ones(len(errors))]))[:-1]

    def _rank_by_wins(self, own: FloatArray, among: FloatArray) -> int:
        points = win_shares(np.column_stack([own, among])).mean(axis=0)
        return rank_among(float(points[0]), points[1:])


def _skills_of(errors: FloatArray) -> FloatArray:
    return skill(np.log(errors).mean(axis=0))


def find_ranked(manifest: Manifest, spec: SkillScore, cells: CellMatrix, errors: FloatArray) -> Among:
    """Return who is ranked under the grid. Raises BoardUnavailable where the ranked have no task in common.

    `errors` [n_tasks, n_entrants] are clipped ones over the baseline's, smaller being better, NaN where one failed.
    Source: by definition; `app.boards.task_coverage`.

    >>> from app.boards.cells import build_cells
    >>> from app.boards.example import benchmark, rows
    >>> board = SkillScore(name="main", method="skill_score", metric="error", baseline="A")
    >>> cells = build_cells(benchmark(board), board, rows({"A": [0.1, 0.2, 0.3], "B": [0.3]}), "error")
    >>> find_ranked(benchmark(board), board, cells, cells.values).roster.ranked
    ('A',)
    """
    roster = task_roster(manifest, spec, cells, np.isnan(errors))
    worst = spec.clip[1] if manifest.absent == "worst" and not roster.is_provisional else None
    ranked = cells.only(roster.ranked)
    own = filled(errors, worst)
    if ranked is not cells:
        own = own[:, [cells.column(name) for name in roster.ranked]]
    return Among(spec, cells, errors, roster, treat_missing(ranked, own, "drop"))
