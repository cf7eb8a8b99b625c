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
from app.stats.arrays import FloatArray, IntArray
from app.stats.relative import skill, win_shares

MOST_COMPARED = 100_000_000
"""Cells compared for who leaks serve, about half a second: one submission may say of thousands that they leak."""


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

        Whoever says of itself that it has seen the data of a task gets the errors of another model there. Of a board of
        win rates so large that all would take long, the best of those who gain are looked at.
        """
        if self.spec.leakage_model is None or not self.cells.leaked.any():
            return []
        errors, ranked = self.relative.errors, self.roster.ranked
        own = own_errors(self.cells, self.errors, self.spec)[self.relative.kept]
        # Where the board fills what is absent, it is no one's own either.
        own = np.fmax(own[:, [self.cells.column(name) for name in ranked]], errors)
        gains = np.flatnonzero((own > errors).any(axis=0))
        if rank_by == "win_rate" and len(ranked) > 1:
            falls = falls_by_wins(errors, own, gains)
        else:
            points = _skills_of(np.column_stack([own[:, gains], np.ones(len(own))]))[:-1].tolist()
            falls = [at for at, point in zip(gains.tolist(), points, strict=True) if self._falls_to(point, at)]
        return [ranked[at] for at in falls]

    def _falls_to(self, point: float, at: int) -> bool:
        others = np.delete(self._skills, at)
        return rank_among(point, others) > rank_among(float(self._skills[at]), others)

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


def falls_by_wins(errors: FloatArray, own: FloatArray, gains: IntArray) -> list[int]:
    """Return which of some entrants would have a lower rank by win rates with errors of their own, in their order.

    `errors` and `own` are [n_tasks, n_entrants], `own` nowhere the smaller; `gains` are the columns that differ. All is
    counted in half wins over one opponent, so that equal rates stay equal. At most MOST_COMPARED cells are looked at.
    Source: by definition; what an entrant loses on a task its opponent gains.

    >>> errors = np.array([[0.1, 0.2, 0.3], [0.1, 0.2, 0.3]])
    >>> falls_by_wins(errors, np.array([[0.5, 0.2, 0.3], [0.1, 0.25, 0.3]]), np.array([0, 1]))
    [0]
    """
    points = _half_wins(errors)
    best_first = gains[np.argsort(-points[gains], kind="stable")]
    falls = []
    for at in sorted(best_first[: max(1, MOST_COMPARED // errors.size)].tolist()):
        tasks = np.flatnonzero(own[:, at] > errors[:, at])
        among = errors[tasks]
        gained = _beaten(among, own[tasks, at]) - _beaten(among, errors[tasks, at])
        gained[at] = 0
        others = np.delete(points + gained, at)
        rank = 1 + np.count_nonzero(points > points[at])
        if 1 + np.count_nonzero(others > points[at] - gained.sum()) > rank:
            falls.append(at)
    return falls


def _half_wins(errors: FloatArray) -> IntArray:
    """Return how many half wins over one opponent each has on all tasks, [n_entrants]."""
    halves: IntArray = np.rint(2.0 * (errors.shape[1] - 1) * win_shares(errors).sum(axis=0)).astype(np.int64)
    return halves


def _beaten(errors: FloatArray, of: FloatArray) -> IntArray:
    """Return in how many halves entrants [n_tasks, n_entrants] beat one with the errors `of` [n_tasks]."""
    halves: IntArray = np.count_nonzero(errors < of[:, None], axis=0) + np.count_nonzero(errors <= of[:, None], axis=0)
    return halves


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
