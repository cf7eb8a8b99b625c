"""Who is ranked on a board of skill scores, on which tasks, and where the others might rank without their gaps.

Called by `.method`; pure.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from app.boards.cells import CellMatrix
from app.boards.coverage import Roster, rank_among
from app.boards.methods.skill_score.relative import Relative, own_errors, treat_missing
from app.boards.methods.skill_score.spec import Missing, SkillScore
from app.boards.standing import Gaps
from app.boards.task_coverage import filled, task_roster
from app.manifest.manifest import Manifest
from app.stats.arrays import FloatArray, IntArray
from app.stats.relative import skill, win_shares

MOST_COMPARED = 100_000_000
"""Cells compared to see whom leaks serve, about half a second: one submission may declare thousands of leaks."""


@dataclass(frozen=True)
class Among:
    """The ranked, with their errors in `relative`; `errors` [n_tasks, n_entrants] is everybody's, NaN if missing.

    `baseline` [n_tasks, 1] is the error that they are relative to; None where the baseline is one of the cells.
    """

    spec: SkillScore
    cells: CellMatrix
    errors: FloatArray
    roster: Roster
    relative: Relative
    baseline: FloatArray | None = None

    def bounds(self, entrant: str, rank_by: str) -> tuple[int, int] | None:
        """Return the ranks of an entrant if its missing errors were the largest and the smallest that the clip allows.

        None if nothing is missing.
        """
        column = self.cells.column(entrant)
        if not self._is_lacking[column]:
            return None
        own, at = self.errors[self.relative.kept, column], self._places.get(entrant)
        ends = [filled(own, end) for end in reversed(self.spec.clip)]
        is_alone = len(self.roster.ranked) < 2 and at is not None
        if rank_by == "win_rate" and not is_alone and self.roster.ranked:
            if_worst, if_best = (self._rank_by_wins(end, at) for end in ends)
        else:
            among = self._skills if at is None else np.delete(self._skills, at)
            if_worst, if_best = (rank_among(point, among) for point in _skills_of(np.column_stack(ends)).tolist())
        return if_worst, if_best

    def gaps(self, rank_by: str) -> Gaps | None:
        """Return the points of the ranked with the largest error of the clip in each of their own gaps.

        None where nobody has one, or where gaps have the largest error anyway.
        """
        names = self.roster.ranked
        lacking = [at for at, name in enumerate(names) if self.roster.coverages[name].is_counted and self._lacks(name)]
        if not lacking:
            return None
        columns = [self.cells.column(names[at]) for at in lacking]
        own, points = filled(self.errors[:, columns], self.spec.clip[1]), np.full(len(names), np.nan)
        if rank_by == "win_rate":
            n_halves = 2.0 * (len(names) - 1) * len(own)
            left = [self._wins_with(each, at)[0] for at, each in zip(lacking, own.T, strict=True)]
            points[lacking] = np.array(left) / n_halves
        else:
            points[lacking] = _skills_of(np.column_stack([own, np.ones(len(own))]))[:-1]
        return Gaps(points, np.array([self.roster.coverages[name].n_included for name in names], dtype=np.int64))

    def served_by_leaks(self, rank_by: str) -> list[str]:
        """Return which ranked entrants would rank lower without the leakage model's errors in place of their own.

        On tasks whose data an entrant says it has seen, it gets the errors of the leakage model. On a board of win
        rates too large to check everybody, only the best of those who gain are checked.
        """
        if self.spec.leakage_model is None or not self.cells.leaked.any():
            return []
        errors, ranked = self.relative.errors, self.roster.ranked
        own = own_errors(self.cells, self.errors, self.spec, self.baseline)[self.relative.kept]
        # Where the board fills an absent error, that is not the entrant's own either.
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

    def _lacks(self, entrant: str) -> bool:
        return self._is_lacking[self.cells.column(entrant)]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.roster.ranked)}

    @cached_property
    def _is_lacking(self) -> list[bool]:
        """Return whether each entrant lacks an error, for all at once: column by column is slow on a large board."""
        lacking: list[bool] = np.asarray(np.isnan(self.errors).any(axis=0)).tolist()
        return lacking

    @cached_property
    def _skills(self) -> FloatArray:
        """Return the skills of the ranked entrants, in their order."""
        errors = self.relative.errors
        # A single column would be summed in another order, and equal entrants would not be exactly equal.
        return _skills_of(np.column_stack([errors, np.ones(len(errors))]))[:-1]

    @cached_property
    def _half_wins(self) -> IntArray:
        return _half_wins(self.relative.errors)

    def _rank_by_wins(self, own: FloatArray, at: int | None) -> int:
        """Return the rank with the errors `own` [n_kept] of the ranked entrant at a position; None is no ranked one."""
        if at is None:
            points = win_shares(np.column_stack([own, self.relative.errors])).mean(axis=0)
            return rank_among(float(points[0]), points[1:])
        left, others = self._wins_with(own, at)
        return 1 + int(np.count_nonzero(others > left))

    def _wins_with(self, own: FloatArray, at: int) -> tuple[int, IntArray]:
        """Return the half wins of a ranked entrant with other errors, `own` [n_kept], and those of the others then."""
        errors = self.relative.errors
        tasks = np.flatnonzero(own != errors[:, at])
        among = errors[tasks]
        gained = _beaten(among, own[tasks]) - _beaten(among, errors[tasks, at])
        gained[at] = 0
        return int(self._half_wins[at] - gained.sum()), np.delete(self._half_wins + gained, at)


def falls_by_wins(errors: FloatArray, own: FloatArray, gains: IntArray) -> list[int]:
    """Return which of the entrants in `gains` would rank lower by win rate with their own errors, in order.

    `errors` and `own` are [n_tasks, n_entrants], `own` nowhere smaller; `gains` are the columns that differ. Wins are
    counted in halves, as integers, so that equal rates are exactly equal. At most MOST_COMPARED cells are compared.
    Source: `app.stats.relative.win_shares`; what an entrant loses on a task its opponent gains.

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
    """Return each entrant's number of half wins over all opponents and tasks, [n_entrants]."""
    halves: IntArray = np.rint(2.0 * (errors.shape[1] - 1) * win_shares(errors).sum(axis=0)).astype(np.int64)
    return halves


def _beaten(errors: FloatArray, of: FloatArray) -> IntArray:
    """Return how many half wins entrants [n_tasks, n_entrants] have over one with the errors `of` [n_tasks]."""
    halves: IntArray = np.count_nonzero(errors < of[:, None], axis=0) + np.count_nonzero(errors <= of[:, None], axis=0)
    return halves


def _skills_of(errors: FloatArray) -> FloatArray:
    return skill(np.log(errors).mean(axis=0))


def find_ranked(
    manifest: Manifest, spec: SkillScore, cells: CellMatrix, errors: FloatArray, baseline: FloatArray | None = None
) -> Among:
    """Return who is ranked under the grid. Raises BoardUnavailable where the ranked have no task in common.

    `errors` [n_tasks, n_entrants] are relative to the baseline's and clipped, smaller being better, NaN for a failure.
    `baseline` [n_tasks, 1] are the baseline's own; None: those among the cells. Source: `app.boards.task_coverage`.

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
    # Where the board imputes, the ranked have gaps, and these count as fev counts them.
    treatment: Missing = "impute" if spec.imputes() and not roster.is_provisional else "drop"
    return Among(spec, cells, errors, roster, treat_missing(ranked, own, treatment), baseline)
