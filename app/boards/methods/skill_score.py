"""Ranking method `skill_score`: fev's leaderboard, errors relative to a baseline, on weighted tasks.

Found by `app.boards.registry`. Source: fev 0.10's `leaderboard` and `pairwise_comparison`.

Why: docs/adr/002-fev-and-mteb-boards.md.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal, Self

import numpy as np
from pydantic import Field, field_validator

from app.boards.calibrated import (
    MIN_DRAWN_UNITS,
    NOTHING,
    OTHER_OPPONENTS,
    CellsAt,
    DrawnSpread,
    few_units_note,
    hidden_pair_note,
    hidden_tasks_note,
    rare_places_note,
    task_intervals,
)
from app.boards.cells import CellMatrix, build_cells, filled, not_asked_among, quantity, task_roster
from app.boards.columns import BoardRow, board_table, cell_at, ends_at
from app.boards.coverage import Roster, rank_among
from app.boards.opponents import without_owner_meta
from app.boards.provenance import SERVED_BY_LEAKS
from app.boards.remembered import remembered_pairs
from app.boards.stability import PointsByTask as Stable
from app.boards.stability import better_by_metric, family_of, stability_meta
from app.boards.standing import (
    CAVEATS,
    RELATIVE_SKILL,
    BoardStanding,
    Contrasts,
    Gaps,
    among_others,
    draw_tasks,
    log_points,
    power_meta,
    stand,
    uncertainty_meta,
    unranked_places,
)
from app.boards.tables import (
    MAX_COMPARED,
    NO_ENDS,
    TEST_OF_RANKS,
    BoardTables,
    TableMethod,
    TaskPairs,
    pairs_beside,
    pairwise_notes,
)
from app.boards.units import TaskUnits
from app.errors import BoardUnavailable, Unavailable
from app.manifest.model import Leaderboard, Manifest, Metric, MetricName, Name, OpenTasks
from app.names import count, in_words, names_in_words, sentences
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.stats.pairs import average_ranks, compare_pairs, ratios, resampled_shares, skill, win_shares, wins_and_ranks
from app.stats.resample import Resamples, percentile_interval
from app.stats.spreads import SHARE, Range
from app.values.frame import CalibratedCells, Ends, FrameField, with_calibrated
from app.values.scores import OVERLAP_UNSAID, ScoreTable
from app.values.table import Column, Table

SKILL = Column(
    "skill_score",
    "Skill of A relative to B, as fev has it",
    direction="maximize",
    glossary="pair_skill",
    digits=3,
    detail=True,
)
"""fev's effect for a pair of entrants."""


# How a manifest declares a board of skill scores.

Missing = Literal["error", "drop", "impute"]

RankBy = Literal["skill_score", "win_rate"]


class SkillScore(Leaderboard):
    """A board of skill scores: 1 − geometric mean of errors relative to the baseline's."""

    can_lack_intervals = True

    method: Literal["skill_score"] = Field(description="how it ranks")
    metric: MetricName = Field(description="the metric that ranks")
    baseline: Name = Field(description="the baseline entrant, to which errors are relative")
    leakage_model: Name | None = Field(
        None, description="the entrant whose errors replace those of entrants that have seen the data"
    )
    missing: Missing = Field(
        "error",
        description=(
            "impute: a task without an error counts as the baseline's, and everybody is ranked by that rule, as in "
            "fev; drop: such tasks are left out for everybody, of scores and ranks, as in fev, and who lacks one is "
            "listed separately, so that whoever leaves out a task takes it from the board; error: who lacks one is "
            "listed separately; the first two do not go with grid.absent: worst"
        ),
    )
    clip: list[float] = Field(
        default=[0.01, 100.0], min_length=2, max_length=2, description="the bounds at which relative errors are clipped"
    )
    rank_by: RankBy = Field("skill_score", description="whether entrants are ranked by skill score or win rate")
    normalize_time_per_n_forecasts: int | None = Field(
        None, ge=1, description="times are given per this many forecasts"
    )

    @field_validator("clip")
    @classmethod
    def _clip_is_a_range(cls, clip: list[float]) -> list[float]:
        if not 0 < clip[0] < clip[1]:
            raise ValueError("clip must be [low, high] with 0 < low < high")
        return clip

    def required_entrants(self) -> tuple[str, ...]:
        """Return the baseline and the leakage model, whose errors replace leaked ones."""
        return (self.baseline,) if self.leakage_model is None else (self.baseline, self.leakage_model)

    def relative_to(self) -> str:
        """Return the baseline."""
        return self.baseline

    def against(self, baseline: str) -> Self:
        """Return the board with errors relative to another baseline."""
        return self.model_copy(update={"baseline": baseline})

    def imputes(self) -> bool:
        """Say whether the baseline's error replaces a missing one."""
        return self.missing == "impute"

    def counts_for_leaks(self) -> str | None:
        """Return the leakage model."""
        return self.leakage_model

    def is_mean_over_tasks(self) -> bool:
        """Say whether it ranks by skill: the geometric mean of ratios."""
        return self.rank_by == "skill_score"

    def compares_ratios(self) -> bool:
        """Say that errors are compared as ratios, because tasks may have different units."""
        return True

    def metric_names(self) -> tuple[str, ...]:
        """Return the one metric of the board."""
        return (self.metric,)

    def worst_of(self, metric: Metric) -> float | None:
        """Return the worst possible relative error, which is the upper end of the clip."""
        del metric
        return self.clip[1]

    def check_metric(self, metric: Metric) -> str | None:
        """Return why the metric cannot be used, or None: ratios need errors, smaller being better."""
        if metric.direction != "minimize":
            return f"skill_score compares errors; {self.metric} has direction {metric.direction}"
        return None


def compute(manifest: Manifest, spec: SkillScore, scores: ScoreTable, *, with_pairs: bool = True) -> BoardTables:
    """Compute the board and its pairwise table. Raises BoardUnavailable when the evidence does not allow it.

    The score columns are fev's, with failures treated as the board declares. Where it imputes them, everybody is ranked
    by one of these scores: by the win rate in the order of fev's list, by the skill score in that of fev's list sorted
    by it; otherwise only entrants with every task of the grid are, among themselves. Skills
    are at most 1, win rates are shares of opponents, and larger is better for both; a missing score is None.
    Source: fev 0.10, `leaderboard` and `pairwise_comparison`.

    >>> from app.boards.example import benchmark, rows
    >>> board = SkillScore(name="main", method="skill_score", metric="error", baseline="Fair")
    >>> tables = compute(benchmark(board), board, rows())
    >>> at = tables.leaderboard.index("skill_score")
    >>> [(row[1], round(row[at], 2)) for row in tables.leaderboard.rows]
    [('Good', 0.37), ('Fair', 0.0), ('Poor', -1.77)]
    """
    cells = with_baseline(build_cells(manifest, spec, scores, spec.metric), spec)
    errors, clipped = clipped_errors(cells, spec), _clipped(cells, spec)
    has_model = spec.leakage_model in cells.entrants
    baseline = cells.values[:, [cells.column(spec.baseline)]]
    cells, errors = _without_beside(spec, cells, errors)
    among = find_ranked(manifest, spec, cells, errors, baseline)
    everyone = treat_missing(cells, errors, spec.missing, spec.required_entrants())
    counted = replace(
        everyone, n_failures=everyone.n_failures - not_asked_among(manifest, spec, cells, np.isnan(errors))
    )
    scored = among.relative if spec.missing == "error" else everyone
    with_pairs = with_pairs and spec.explored is None and len(scored.cells.entrants) > 1
    raw = raw_errors(scored, spec) if with_pairs else None
    units = _units(manifest, scored)
    scored_against = None if _is_replaced(spec, scored) else spec.baseline
    resamples, by_task = draw_tasks(spec, int(scored.kept.sum())), ByTask.of(scored, raw)
    measured = Effects.of(spec, by_task, resamples)
    times = median_times(manifest, spec, scores, everyone)
    unsaid = _unsaid(everyone, scores)
    counts = _counts(counted, unsaid, is_asked=manifest.part.asks_what_was_seen())
    fields = (*_effects(spec, measured, by_task, scored, cells, units), *times.fields(), *counts)
    depends = units.meta(by_task.logs)
    on_units = tuple(units.notes(depends["dependence"]["design_effect"]))
    notes = (*notes_of(spec, counted, has_model=has_model), *_on_left_out(spec, everyone), *among.roster.notes("tasks"),
             *_on_filled(spec, among.roster), *times.notes(),
             *_on_unsaid(everyone, unsaid), *on_units, *_on_clipped(spec, clipped, scored),
             *_on_intervals(scored, units, spec.uncertainty.level,
                            is_of_skill=by_task.rank_by(spec) == "skill_score"))  # fmt: skip
    meta = {**meta_of(spec, everyone), **times.meta(), **depends}
    n_scored = len(scored.cells.entrants)
    # Usually everybody with a score is ranked, and by the same errors.
    of_ranked = by_task
    if among.leaves_out:
        of_ranked = by_task.only([scored.cells.column(name) for name in among.roster.ranked])
    elif scored.errors is not among.relative.errors and not np.array_equal(scored.errors, among.relative.errors):
        of_ranked = ByTask.of(among.relative)
    ranked = _ranked(manifest, spec, among, of_ranked)
    best = None if raw is None else _best(scored, raw, by_task.mean_ranks)
    places = RankInputs.of(
        among, spec.rank_by, dict(zip(scored.cells.entrants, measured.ranked_by.tolist(), strict=True))
    )
    if spec.explored is None:
        by = _by_task(among, of_ranked, ranked[0])
        by = replace(by, owners=manifest.asked.facts.owners_of(by.names))
        meta |= stability_meta(by, family_of(manifest), partial(better_by_metric, manifest, spec, scores))
        if by.better is not None:
            order = np.argsort(-ranked[1], kind="stable").tolist()
            meta |= without_owner_meta(by.names, by.better, by.owners, order)
        del by
    served = {SERVED_BY_LEAKS: served} if (served := among.served_by_leaks(ranked[0])) else {}
    gaps = among.gaps(ranked[0])
    # Each array of a large board takes a lot of memory, and so does the computation of ranks.
    del by_task, of_ranked, cells, errors, everyone, scored, raw, among
    own = _rank(spec, places.roster, *ranked, gaps)
    board = board_table(
        spec,
        fields,
        places.all_of(own),
        notes,
        meta | served | power_meta(own.standing),
    )
    if best is None:
        return BoardTables(board)
    is_of_skill = own.rank_by == "skill_score"
    caveats = (
        *places.roster.filled_notes(),
        *on_units,
        *_on_comparisons(spec, best[0], units, n_scored - 1, is_of_skill=is_of_skill),
    )
    pairs = partial(_pairwise, manifest, spec, best, n_scored, resamples, own, scored_against, caveats)
    return BoardTables(board, pairs_beside(spec, pairs))


def _without_beside(spec: SkillScore, cells: CellMatrix, errors: FloatArray) -> tuple[CellMatrix, FloatArray]:
    """Return cells and errors without those whom scores are relative to but whom a reader has not named."""
    beside = () if spec.explored is None else spec.explored.beside
    left = [name for name in cells.entrants if name not in beside]
    if not left or len(left) == len(cells.entrants):
        return cells, errors
    return cells.only(left), errors[:, [cells.column(name) for name in left]]


@dataclass(frozen=True)
class Relative:
    """Relative errors [n_tasks, n_entrants] after replacing leaks, clipping and filling gaps, with counts of each."""

    cells: CellMatrix
    errors: FloatArray
    kept: BoolArray
    n_failures: IntArray
    n_imputed: IntArray


@dataclass(frozen=True)
class Among:
    """The ranked, with their errors in `relative`; `errors` [n_tasks, n_entrants] is everybody's, NaN if missing.

    `baseline` [n_tasks, 1] is the error that they are relative to; None where the baseline is one of the cells.
    `leaves_out` means that tasks that anybody lacks are left out for all, the ranked too, so that these are compared on
    the tasks that their scores are of.
    """

    spec: SkillScore
    cells: CellMatrix
    errors: FloatArray
    roster: Roster
    relative: Relative
    baseline: FloatArray | None = None
    leaves_out: bool = False

    def bounds(self, entrant: str, rank_by: str) -> tuple[int, int] | None:
        """Return the ranks of an entrant if its missing errors were the largest and the smallest that the clip allows.

        None if nothing is missing.
        """
        column = self.cells.column(entrant)
        if not self._is_lacking[column]:
            return None
        if self.leaves_out:
            return self._bounds_if_kept(column, rank_by)
        own, at = self.errors[self.relative.kept, column], self._places.get(entrant)
        ends = [filled(own, end) for end in reversed(self.spec.clip)]
        is_alone = len(self.roster.ranked) < 2 and at is not None
        if rank_by == "win_rate" and not is_alone and self.roster.ranked:
            if_worst, if_best = (self._rank_by_wins(end, at) for end in ends)
        else:
            among = self._skills if at is None else np.delete(self._skills, at)
            if_worst, if_best = (rank_among(point, among) for point in _skills_of(np.column_stack(ends)).tolist())
        return if_worst, if_best

    def _bounds_if_kept(self, column: int, rank_by: str) -> tuple[int, int]:
        """Return these ranks where a gap takes a task from everybody: without it the task would not be left out."""
        missing = np.isnan(self.errors)
        kept = missing.sum(axis=1) == missing[:, column]
        others = [at for at in map(self.cells.column, self.roster.ranked) if at != column]

        def rank(end: float) -> int:
            errors = filled(self.errors[kept], end)
            points = win_shares(errors).mean(axis=0) if rank_by == "win_rate" else _skills_of(errors)
            return rank_among(float(points[column]), points[others])

        return rank(self.spec.clip[1]), rank(self.spec.clip[0])

    def gaps(self, rank_by: str) -> Gaps | None:
        """Return the points of the ranked with the largest error of the clip in each of their own gaps.

        None where nobody has one.
        """
        names = self.roster.ranked
        lacking = [at for at, name in enumerate(names) if self._lacks(name)]
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

        On tasks whose data an entrant says it has seen, it gets the errors of the leakage model. All of them are
        undone at once, gains and losses: who loses more by them than it gains is served by none. On a board of win
        rates too large to check everybody, only the best of those who gain are checked.
        """
        if self.spec.leakage_model is None or not self.cells.leaked.any():
            return []
        errors, ranked = self.relative.errors, self.roster.ranked
        own = own_errors(self.cells, self.errors, self.spec, self.baseline)[self.relative.kept]
        # Where the board fills an absent error, that is not the entrant's own either.
        own = own[:, [self.cells.column(name) for name in ranked]]
        own = np.where(np.isnan(own), errors, own)
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


@dataclass(frozen=True)
class ByTask:
    """Shares of opponents beaten on each task, and logarithms of the errors, [n_tasks, n_entrants].

    `mean_ranks` [n_entrants] are those of the raw errors over the tasks, None where they must be computed separately.
    """

    wins: FloatArray
    logs: FloatArray
    mean_ranks: FloatArray | None = None

    @classmethod
    def of(cls, relative: Relative, raw: FloatArray | None = None) -> "ByTask":
        """Compute them from relative errors; the shares of a single entrant are NaN, since it has no opponent.

        `raw` [n_tasks, n_entrants] are the errors themselves, given if their mean ranks are wanted, too.
        """
        logs = np.log(relative.errors)
        if len(relative.cells.entrants) < 2:
            return cls(np.full(relative.errors.shape, np.nan), logs)
        # Ratios keep the order of errors only for a positive baseline: one below 0 reverses it, one of 0 clips all
        # alike. What is missing counts as another error here than there.
        if raw is None or np.isnan(relative.cells.values[relative.kept]).any() or raw.min() < 0.0:
            return cls(win_shares(relative.errors), logs)
        wins, mean_ranks = wins_and_ranks(relative.errors, raw)
        return cls(wins, logs, mean_ranks)

    def only(self, at: Sequence[int]) -> "ByTask":
        """Return those of some entrants, whose shares are still of all opponents."""
        return ByTask(np.ascontiguousarray(self.wins[:, at]), np.ascontiguousarray(self.logs[:, at]))

    def points(self) -> Mapping[str, FloatArray]:
        """Return everybody's points for each effect, [n_entrants]."""
        return {"win_rate": self.wins.mean(axis=0), "skill_score": skill(self.logs.mean(axis=0))}

    def rank_by(self, spec: SkillScore) -> str:
        """Return the effect that ranks: never the win rate for a single entrant, who has none."""
        return spec.rank_by if self.wins.shape[1] > 1 else "skill_score"


def _units(manifest: Manifest, relative: Relative) -> TaskUnits:
    """Return what the tasks are drawn by on which entrants are compared, [n_kept]."""
    return TaskUnits.of(manifest, [relative.cells.tasks[at] for at in np.flatnonzero(relative.kept)])


def _ranked(
    manifest: Manifest, spec: SkillScore, among: Among, by_task: ByTask
) -> tuple[str, FloatArray, DrawnSpread | None]:
    """Return the effect that ranks, the points of the ranked, and their spread over tasks resampled by their units.

    The spread is of rates, or of minus the logarithms: see `log_points`.
    """
    rank_by, spread = by_task.rank_by(spec), None
    if among.roster.ranked:
        is_rate = rank_by == "win_rate"
        spread = DrawnSpread.of_means(
            spec.uncertainty,
            _units(manifest, among.relative),
            by_task.wins if is_rate else -by_task.logs,
            are_ranks=is_rate,
        )
    return rank_by, by_task.points()[rank_by], spread


def _by_task(among: Among, by_task: ByTask, rank_by: str) -> Stable:
    """Return what the stability of the first place is computed from: the win rate counts opponents, the skill none.

    By another metric the baseline cancels: it is the same for all.
    """
    relative = among.relative
    tasks, names = [relative.cells.tasks[at] for at in np.flatnonzero(relative.kept)], relative.cells.entrants
    if rank_by == "win_rate":
        better = -by_task.logs
        return Stable(names, tasks, by_task.wins, points_of=lambda own: win_shares(-own), better=better)
    return Stable(names, tasks, -by_task.logs, points_of=lambda better: -np.log(np.maximum(-better, 1e-300)))


@dataclass(frozen=True)
class Own:
    """The ranked entrants: their names, the effect that ranks, and their standing; None without any."""

    names: Sequence[str]
    rank_by: str
    standing: BoardStanding | None

    def contrasts(self, shown: Sequence[str]) -> Contrasts:
        """Return the pairwise results of some entrants; those of an unranked one are unknown."""
        place = {name: at for at, name in enumerate(self.names)}
        return among_others(self.standing, [place.get(name) for name in shown])


def _rank(
    spec: SkillScore,
    roster: Roster,
    rank_by: str,
    points: FloatArray,
    spread: DrawnSpread | None,
    gaps: Gaps | None,
) -> Own:
    """Rank the ranked entrants by their points and spread, and with the worst error in each gap."""
    if not roster.ranked:
        return Own((), rank_by, None)
    are_logs = rank_by == "skill_score"
    if are_logs:
        points = log_points(points)
        gaps = None if gaps is None else replace(gaps, at_worst=log_points(gaps.at_worst))
    standing = stand(
        points,
        spread,
        spec.uncertainty.level,
        widest=float(np.log(spec.clip[1] / spec.clip[0])) if are_logs else 1.0,
        gaps=gaps,
        are_logs=are_logs,
        smallest=spec.smallest_difference,
        over_snapshots=spec.over_snapshots,
    )
    return Own(roster.ranked, rank_by, standing)


# Skills and win rates of the entrants of a board of skill scores, by task and over all tasks.


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
            of_skill = np.stack(percentile_interval(skill(resamples.means(by_task.logs)), level))
            drawn = {"win_rate": of_wins, "skill_score": of_skill}
        return cls(by_task.points(), drawn, by_task.rank_by(spec))


def _effects(
    spec: SkillScore, measured: Effects, by_task: ByTask, scored: Relative, cells: CellMatrix, units: TaskUnits
) -> Iterator[FrameField[int]]:
    ours = _calibrated(spec, by_task, scored, units)
    at = {cells.column(name): position for position, name in enumerate(scored.cells.entrants)}
    for name, title in (("win_rate", "Win rate"), ("skill_score", "Skill score")):
        column = Column(name, title, direction="maximize", glossary=name, digits=3)
        ends = ends_at(measured.points[name], measured.drawn.get(name))
        yield from with_calibrated(column, partial(_ends_of, at, ends), partial(_cells_of, at, ours[name]))


def _on_filled(spec: SkillScore, roster: Roster) -> Iterator[str]:
    """Yield what the worst is that stands for what is absent, where it stands for any."""
    if any(roster.filled_notes()):
        yield f"The worst there is on this board is {spec.clip[1]:g} times the baseline's error."


def _clipped(cells: CellMatrix, spec: SkillScore) -> Mapping[str, BoolArray]:
    """Return on which tasks each entrant's error counts as a bound of the clip: as it was sent, if that counts."""
    low, high = spec.clip
    relative = ratios(cells.values, cells.values[:, [cells.column(spec.baseline)]])
    is_clipped = (relative < low) | (relative > high)
    if spec.leakage_model is not None:
        is_clipped &= ~cells.leaked
    return dict(zip(cells.entrants, is_clipped.T, strict=True))


def _on_clipped(spec: SkillScore, is_clipped: Mapping[str, BoolArray], scored: Relative) -> Iterator[str]:
    """Yield whose errors count as the bounds of the clip, on how many tasks."""
    low, high = spec.clip
    clipped = [(name, int(is_clipped[name][scored.kept].sum())) for name in scored.cells.entrants]
    if said := [f"{in_words(name)} ({count(n, 'task')})" for name, n in clipped if n]:
        yield f"Errors beyond {low:g} or {high:g} times the baseline's count as that: {sentences(said)}."


def _on_intervals(scored: Relative, drawn: TaskUnits, level: float, *, is_of_skill: bool) -> Iterator[str]:
    """Yield what the intervals of both effects rest on; entrants are compared by one of them."""
    units = [(name, drawn.number()) for name in scored.cells.entrants]
    if drawn.number() < MIN_DRAWN_UNITS:
        return
    yield from few_units_note(units, drawn.plural, level)
    n_compared = len(units) if is_of_skill else 0
    yield from hidden_tasks_note(round(drawn.number()), Range(), said=drawn.in_words, n_compared=n_compared)
    yield from rare_places_note(len(units) - 1, drawn.number(), is_compared=not is_of_skill)
    if len(units) > 1:
        yield OTHER_OPPONENTS.format("win rates")


def _on_comparisons(
    spec: SkillScore, names: Sequence[str], drawn: TaskUnits, n_opponents: int, *, is_of_skill: bool
) -> Iterator[str]:
    """Yield what comparisons of the named rest on, of the board's notes."""
    n_units = drawn.number()
    yield from few_units_note([(name, n_units) for name in names], drawn.plural, spec.uncertainty.level)
    if is_of_skill:
        yield from hidden_pair_note(n_units, Range(), n_opponents + 1)
    else:
        yield from rare_places_note(n_opponents, n_units)
        yield OTHER_OPPONENTS.format("win rates")


def _calibrated(spec: SkillScore, by_task: ByTask, scored: Relative, units: TaskUnits) -> Mapping[str, CellsAt]:
    """Return the calibrated intervals by effect: from the mean log ratio for the skill, from shares for the win rate.

    The baseline's own ratios are one, so its skill is exactly 0 and needs no interval, unless errors of the leakage
    model replace its own.
    """
    level = spec.uncertainty.level
    baseline = None if _is_replaced(spec, scored) else _place(scored.cells, spec.baseline)
    of_skill = task_intervals(by_task.logs, Range(), level, scale=skill, units=units)
    known = CalibratedCells(0.0, 0.0, "baseline", units.number())
    return {
        "win_rate": task_intervals(by_task.wins, SHARE, level, units=units),
        "skill_score": lambda at: known if at == baseline else of_skill(at),
    }


def _is_replaced(spec: SkillScore, scored: Relative) -> bool:
    """Say whether the baseline is scored by another's errors on some task, because it has seen the data."""
    at, model = _place(scored.cells, spec.baseline), spec.leakage_model
    return at is not None and model not in (None, spec.baseline) and bool(scored.cells.leaked[scored.kept, at].any())


def _place(cells: CellMatrix, name: str) -> int | None:
    return cells.column(name) if name in cells.entrants else None


def _cells_of(at: Mapping[int, int], ours: CellsAt, column: int) -> CalibratedCells:
    return ours(at[column]) if column in at else NOTHING


def _ends_of(at: Mapping[int, int], ends: Callable[[int], Ends], column: int) -> Ends:
    return ends(at[column]) if column in at else NO_ENDS


def _unsaid(relative: Relative, scores: ScoreTable) -> BoolArray:
    """Return where a row does not say whether its entrant has seen the task's data, [n_kept, n_entrants]."""
    shape = (int(relative.kept.sum()), len(relative.cells.entrants))
    if OVERLAP_UNSAID not in scores.columns:
        return np.broadcast_to(False, shape)
    return np.asarray(quantity(relative.cells, scores, OVERLAP_UNSAID)[relative.kept] == 1.0)


def _on_unsaid(relative: Relative, unsaid: BoolArray) -> Iterator[str]:
    n_unsaid = zip(relative.cells.entrants, unsaid.sum(axis=0).tolist(), strict=True)
    if silent := [f"{in_words(name)} ({count(n, 'task')})" for name, n in n_unsaid if n]:
        yield (
            "Not said whether the task's data were seen, so the errors stay as they are, and the overlap is of the "
            f"other tasks: {sentences(silent)}."
        )


def _counts(relative: Relative, unsaid: BoolArray, *, is_asked: bool) -> tuple[FrameField[int], ...]:
    """Return the columns of counts; the overlap is a share of the tasks of which it is known, as in fev.

    `is_asked` says whether the benchmark has rows tell it at all; where it does not, nobody's overlap is known.
    """
    cells, kept = relative.cells, relative.kept
    known = cells.present[kept] & ~unsaid & is_asked
    n_known = known.sum(axis=0)
    overlap = np.where(n_known > 0, (cells.leaked[kept] & known).sum(axis=0) / np.maximum(n_known, 1), np.nan)
    shared = Column("training_corpus_overlap", "Overlap", glossary="training_corpus_overlap", digits=2)
    failed = Column("num_failures", "Failed", "integer", direction="minimize", glossary="num_failures")
    return (
        FrameField(shared, cell_at(overlap)),
        FrameField(failed, cell_at(relative.n_failures)),
        FrameField(Column("n_imputed", "Imputed", "integer", glossary="n_imputed"), cell_at(relative.n_imputed)),
        FrameField(
            Column("n_leaked", "Leaked", "integer", glossary="n_leaked"), cell_at(cells.leaked[kept].sum(axis=0))
        ),
    )


def _best(relative: Relative, raw: FloatArray, mean_ranks: FloatArray | None) -> tuple[list[str], FloatArray]:
    """Return the entrants with the best mean ranks over tasks, best first as in fev, and their raw errors.

    `mean_ranks` [n_entrants] of the raw errors [n_tasks, n_entrants] are computed where they are None.
    """
    ranks = average_ranks(raw).mean(axis=0) if mean_ranks is None else mean_ranks
    order = np.argsort(ranks, kind="stable")[:MAX_COMPARED].tolist()
    return [relative.cells.entrants[position] for position in order], raw[:, order]


def _pairwise(
    manifest: Manifest,
    spec: SkillScore,
    best: tuple[Sequence[str], FloatArray],
    n_entrants: int,
    resamples: Resamples | None,
    own: Own,
    scored_against: str | None,
    caveats: tuple[str, ...],
) -> Table:
    """Compare every ordered pair of the best on raw errors; the verdict is on the difference of the board's scores."""
    names, errors = best
    level, clip = spec.uncertainty.level, (spec.clip[0], spec.clip[1])
    key = (f"{manifest.slug}/{spec.name}", "ratio", repr(clip), repr(level))
    compare = partial(compare_pairs, errors, resamples, clip=clip, level=level)
    statistics = remembered_pairs(key, errors, resamples, lambda wanted: compare(wanted=wanted))
    compared, column = TaskPairs(names, statistics, own.contrasts(names)), _difference(own.rank_by)
    metric = manifest.metrics[spec.metric].title or spec.metric
    meta = {"method": spec.method, "metric": spec.metric, **uncertainty_meta(spec, len(errors)),
            "contrast": column.name, "score": f"{own.rank_by.replace('_', ' ')} on {metric}",
            **power_meta(own.standing)}  # fmt: skip
    if own.rank_by == "skill_score" and scored_against is not None:
        meta["scored_against"] = scored_against
    meta |= {CAVEATS: list(caveats)} if caveats else {}
    meta |= {"test": TEST_OF_RANKS} if own.rank_by == "win_rate" else {}
    notes = pairwise_notes(len(names), n_entrants)
    return compared.table(spec, compared.effect(SKILL), column, notes, meta)


def _difference(rank_by: str) -> Column:
    if rank_by == "skill_score":
        return Column(RELATIVE_SKILL, "Skill of A relative to B, as the board counts errors", direction="maximize",
                      glossary="contrast", digits=3)  # fmt: skip
    return Column("board_difference", "Win rate of A minus B", direction="maximize", glossary="contrast", digits=3)


METHOD = TableMethod(SkillScore, compute)


# Who is ranked on a board of skill scores, on which tasks, and where the others might rank without their gaps.

MOST_COMPARED = 100_000_000
"""Cells compared to see whom leaks serve, about half a second: one submission may declare thousands of leaks."""


def falls_by_wins(errors: FloatArray, own: FloatArray, gains: IntArray) -> list[int]:
    """Return which of the entrants in `gains` would rank lower by win rate with their own errors, in order.

    `errors` and `own` are [n_tasks, n_entrants]; `gains` are the columns in which `own` is larger somewhere. Wins are
    counted in halves, as integers, so that equal rates are exactly equal. At most MOST_COMPARED cells are compared.
    Source: `app.stats.pairs.win_shares`; what an entrant loses on a task its opponent gains.

    >>> errors = np.array([[0.1, 0.2, 0.3], [0.1, 0.2, 0.3]])
    >>> falls_by_wins(errors, np.array([[0.5, 0.2, 0.3], [0.1, 0.25, 0.3]]), np.array([0, 1]))
    [0]
    """
    points = _half_wins(errors)
    best_first = gains[np.argsort(-points[gains], kind="stable")]
    falls = []
    for at in sorted(best_first[: max(1, MOST_COMPARED // errors.size)].tolist()):
        tasks = np.flatnonzero(own[:, at] != errors[:, at])
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

    A board that drops tasks drops them for the ranked, too, whoever lacks them.
    `errors` [n_tasks, n_entrants] are relative to the baseline's and clipped, smaller being better, NaN for a failure.
    `baseline` [n_tasks, 1] are the baseline's own; None: those among the cells. Source: `app.boards.cells`.

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
    if spec.missing == "drop" and worst is None:
        every = treat_missing(cells, errors, "drop", spec.required_entrants())
        at = [cells.column(name) for name in roster.ranked]
        left = Relative(ranked, np.ascontiguousarray(every.errors[:, at]), every.kept, every.n_failures[at],
                        every.n_imputed[at])  # fmt: skip
        return Among(spec, cells, errors, roster, left, baseline, leaves_out=True)
    own = filled(errors, worst)
    if ranked is not cells:
        own = own[:, [cells.column(name) for name in roster.ranked]]
    # Where the board imputes, the ranked have gaps, and these count as fev counts them.
    treatment: Missing = "impute" if spec.imputes() and not roster.is_provisional else "drop"
    left = treat_missing(ranked, own, treatment, spec.required_entrants())
    return Among(spec, cells, errors, roster, left, baseline)


# Errors relative to the baseline's: what is missing, leaked or clipped, and why a board cannot be computed.


def with_baseline(cells: CellMatrix, spec: SkillScore) -> CellMatrix:
    """Return the cells of the tasks on which the baseline has a result: no other error can be relative to it.

    Raises BoardUnavailable where the baseline is absent, has no result, or one of 0, and where the leakage model has
    itself seen data. NaN is no result.
    Source: fev 0.10, `leaderboard`, its checks of the baseline; it raises for any gap of the baseline.

    >>> cells = CellMatrix(("a",), ("A",), *np.zeros((3, 1, 1)))
    >>> with_baseline(cells, SkillScore(name="m", method="skill_score", metric="error", baseline="B"))
    Traceback (most recent call last):
    app.errors.BoardUnavailable: The baseline B has no submission that stands.
    """
    if spec.baseline in cells.entrants:
        cells = cells.with_results_of(spec.baseline)
    elif spec.baseline not in cells.elsewhere:
        reason = f"The baseline {spec.baseline} has no submission that stands."
        raise BoardUnavailable(Unavailable.BASELINE_ABSENT, reason)
    if spec.baseline not in cells.entrants:
        reason = f"The baseline {spec.baseline} has no result on the board's tasks."
        raise BoardUnavailable(Unavailable.BASELINE_INCOMPLETE, reason)
    _require_unspoiled(cells, spec)
    baseline = cells.values[:, cells.column(spec.baseline)]
    if (baseline == 0).any():
        zero = [cells.tasks[task] for task in np.flatnonzero(baseline == 0)]
        reason = f"The baseline {spec.baseline} has an error of 0, so no ratio, on {names_in_words(zero)}."
        raise BoardUnavailable(Unavailable.BASELINE_ZERO, reason)
    return cells


def _require_unspoiled(cells: CellMatrix, spec: SkillScore) -> None:
    """Raise BoardUnavailable where the leakage model has itself seen data; fev raises too."""
    if spec.leakage_model is None or spec.leakage_model not in cells.entrants:
        return
    seen = [cells.tasks[task] for task in np.flatnonzero(cells.leaked[:, cells.column(spec.leakage_model)])]
    if seen:
        raise BoardUnavailable(
            Unavailable.LEAKAGE_MODEL_LEAKED,
            f"The leakage model {spec.leakage_model}, whose errors replace those of entrants that have seen data, has "
            f"itself seen data of {names_in_words(seen)}.",
        )


def clipped_errors(cells: CellMatrix, spec: SkillScore) -> FloatArray:
    """Return errors / baseline's errors [n_tasks, n_entrants], clipped, leaked ones replaced first; NaN is a failure.

    They have no unit, and smaller is better. Raises KeyError without the baseline. Source: fev 0.10, `leaderboard`.

    >>> cells = CellMatrix(("a",), ("A", "B"), np.array([[0.2, 0.1]]), *np.zeros((2, 1, 2), dtype=np.bool_))
    >>> clipped_errors(cells, SkillScore(name="m", method="skill_score", metric="error", baseline="B")).tolist()
    [[2.0, 1.0]]
    """
    at = cells.column(spec.baseline)
    relative = ratios(cells.values, cells.values[:, [at]])
    errors = cells.without_leaks(relative, spec.leakage_model)
    # What nothing replaces of the baseline is its own: others are scored by it, too.
    errors[:, at] = np.where(np.isnan(errors[:, at]), relative[:, at], errors[:, at])
    return np.clip(errors, spec.clip[0], spec.clip[1], out=errors)


def own_errors(
    cells: CellMatrix, errors: FloatArray, spec: SkillScore, baseline: FloatArray | None = None
) -> FloatArray:
    """Return clipped relative errors [n_tasks, n_entrants] with an entrant's own, where it has one, on leaked tasks.

    `errors` are those of `clipped_errors`; smaller is better, NaN is a failure. `baseline` [n_tasks, 1] are the
    baseline's own errors; None: those among the cells.
    Source: fev 0.10, `leaderboard`, without `leakage_imputation_model`.

    >>> leaked = np.array([[True, False]])
    >>> cells = CellMatrix(("a",), ("A", "B"), np.array([[0.5, 0.25]]), leaked, np.ones((1, 2)))
    >>> board = SkillScore(name="m", method="skill_score", metric="error", baseline="B", leakage_model="B")
    >>> own_errors(cells, clipped_errors(cells, board), board).tolist()
    [[2.0, 1.0]]
    """
    divisor = cells.values[:, [cells.column(spec.baseline)]] if baseline is None else baseline
    own = np.clip(ratios(cells.values, divisor), spec.clip[0], spec.clip[1])
    return np.where(cells.leaked & ~np.isnan(own), own, errors)


def treat_missing(cells: CellMatrix, errors: FloatArray, missing: Missing, needed: Sequence[str] = ()) -> Relative:
    """Count the failures, NaN, among clipped errors [n_tasks, n_entrants], then treat them as the board declares.

    Errors are ratios, smaller being better. With `impute` they become the baseline's error, with `drop` the task is
    left out for everybody. With `error` they stay, and an entrant with a failure has no score.
    Raises BoardUnavailable where dropping leaves no task, with those who would have to go, none of the `needed`.
    Source: fev 0.10, `missing_strategy`.

    >>> cells = CellMatrix(("a", "b"), ("A", "B"), *np.zeros((3, 2, 2)))
    >>> treat_missing(cells, np.array([[0.5, 1.0], [np.nan, 1.0]]), "impute").errors.tolist()
    [[0.5, 1.0], [1.0, 1.0]]
    """
    failed = np.isnan(errors)
    kept = np.ones(len(cells.tasks), dtype=bool)
    if missing == "drop":
        kept = ~np.asarray(failed.any(axis=1))
    if not kept.any():
        reason = "No task has a result of every entrant, and the board drops tasks with gaps."
        raise BoardUnavailable(Unavailable.NO_COMMON_TASK, reason, cells.without_common_task(failed, needed))
    imputed = failed.sum(axis=0) if missing == "impute" else np.zeros(len(cells.entrants), dtype=np.int64)
    treated = errors if missing == "error" or not failed.any() else np.where(failed, 1.0, errors)
    of_kept = np.ascontiguousarray(treated) if kept.all() else treated[kept]
    return Relative(cells, of_kept, kept, failed.sum(axis=0), imputed)


def raw_errors(relative: Relative, spec: SkillScore) -> FloatArray:
    """Return the errors themselves on the kept tasks, [n_tasks, n_entrants], of which relative ones are ratios.

    In their own unit, smaller being better; missing ones are the baseline's, and its own where nothing replaces those.
    Source: fev 0.10, `pairwise_comparison`.

    >>> cells = CellMatrix(("a",), ("A", "B"), np.array([[0.2, np.nan]]), *np.zeros((2, 1, 2), dtype=np.bool_))
    >>> counts = np.zeros(2, dtype=np.int64)
    >>> board = SkillScore(name="m", method="skill_score", metric="error", baseline="A")
    >>> raw_errors(Relative(cells, np.ones((1, 2)), np.ones(1, dtype=np.bool_), counts, counts), board).tolist()
    [[0.2, 0.2]]
    """
    cells = relative.cells
    errors = cells.without_leaks(cells.values, spec.leakage_model)
    missing = np.isnan(errors)
    if missing.any():
        at = [cells.column(spec.baseline)]
        errors = np.where(missing, np.where(missing[:, at], cells.values[:, at], errors[:, at]), errors)
    return errors if relative.kept.all() else errors[relative.kept]


# The places on a board of skill scores, built once its ranks are known. The errors of a large board take a lot of
# memory, and have been freed by then.


@dataclass(frozen=True)
class RankInputs:
    """What places need once the ranks are known, without the errors behind it.

    `at` maps names to columns, `bounds` gives the ranks of incomplete entrants if missing errors were worst and best,
    `scores` the scores of all that have one.
    """

    roster: Roster
    at: Mapping[str, int]
    bounds: Mapping[str, tuple[int, int] | None]
    scores: Mapping[str, float]

    @classmethod
    def of(cls, among: Among, rank_by: str, scores: Mapping[str, float]) -> "RankInputs":
        """Return the places of everybody on the board."""
        names = among.cells.entrants
        bounds = {name: among.bounds(name, rank_by) for name in names}
        return cls(among.roster, {name: at for at, name in enumerate(names)}, bounds, scores)

    def all_of(self, own: Own) -> list[tuple[BoardRow, int]]:
        """Return everybody's place with its column: the ranked by rank, those behind, those listed separately."""
        places = [] if own.standing is None else [place for place, _ in own.standing.placed(own.names)]
        return [
            (replace(place, rank_status=self.roster.rank_status(name, self.bounds[name])), self.at[name])
            for place in [*places, *unranked_places(self.roster, self.scores)]
            for name in [place.entrant]
        ]


# Median times on a board of skill scores, per a number of forecasts where the board declares one. The number of
# forecasts is a property of the task, not of an entrant: where the manifest does not declare it, the rows must agree.

FEWEST_FORECASTS = 1.0

TITLES = {"training": "Training", "inference": "Inference", "e2e": "Time"}

DISPUTED = "forecast_counts_differ"

MEASURED = frozenset({"training_time_s", "inference_time_s"})


@dataclass(frozen=True)
class Times:
    """Median training and inference times and those of their sum, each [n_entrants], in seconds; NaN where unknown.

    `uncounted` are the tasks for which every count is zero. `disputed` describes, for each task that is not declared in
    the manifest and whose rows differ, who sent which count: no time per forecast is known then.
    """

    per: int | None
    medians: tuple[FloatArray, FloatArray, FloatArray]
    uncounted: tuple[str, ...] = ()
    disputed: tuple[str, ...] = ()

    def fields(self) -> Iterator[FrameField[int]]:
        """Yield the columns of the times; only the sum is shown by default."""
        per, unit = ("", "s") if self.per is None else (f"_per{self.per}", f"s per {self.per} forecasts")
        for (name, title), values in zip(TITLES.items(), self.medians, strict=True):
            column = Column(
                f"median_{name}_time_s{per}",
                title,
                unit=unit,
                direction="minimize",
                glossary="median_time",
                digits=2,
                detail=name != "e2e",
            )
            yield FrameField(column, cell_at(values))

    def notes(self) -> Iterator[str]:
        """Yield why a time is missing."""
        if self.disputed:
            yield (
                f"No time per forecast: the counts of forecasts differ on {'; '.join(self.disputed[:3])}"
                f"{f'; and on {len(self.disputed) - 3} more tasks' if len(self.disputed) > 3 else ''}. "
                "Whose count is right only the manifest can say, with n_forecasts of the task."
            )
        if self.uncounted:
            yield (
                f"No time per forecast on {names_in_words(self.uncounted)}: "
                "every count sent there is of less than one forecast."
            )

    def meta(self) -> dict[str, Any]:
        """Return the flag that counts differ, for the table's `meta`."""
        return {"time_reason": DISPUTED, "time_disputed": list(self.disputed)} if self.disputed else {}


def median_times(manifest: Manifest, spec: SkillScore, scores: ScoreTable, relative: Relative) -> Times:
    """Return median times over the board's tasks, in seconds or seconds per a number of forecasts; NaN is unknown.

    Source: fev 0.10, `leaderboard`, its median times.

    >>> from app.boards.cells import CellMatrix
    >>> from app.boards.example import benchmark, rows
    >>> board = SkillScore(name="main", method="skill_score", metric="error", baseline="A")
    >>> scores = rows({"A": [1.0, 2.0, 9.0]}, "training_time_s")
    >>> cells = CellMatrix(("a", "b", "c"), ("A",), *np.zeros((3, 3, 1)))
    >>> kept = np.ones(3, dtype=np.bool_)
    >>> relative = Relative(cells, cells.values, kept, kept, kept)
    >>> median_times(benchmark(board), board, scores, relative).medians[0].tolist()
    [2.0]
    """
    n = spec.normalize_time_per_n_forecasts
    if n is None and not MEASURED & set(scores.columns):
        unknown = np.full(len(relative.cells.entrants), np.nan)
        return Times(n, (unknown, unknown, unknown))
    training = quantity(relative.cells, scores, "training_time_s")[relative.kept]
    inference = quantity(relative.cells, scores, "inference_time_s")[relative.kept]
    if n is None:
        return Times(n, _medians(training, inference))
    tasks = [task for task, kept in zip(relative.cells.tasks, relative.kept.tolist(), strict=True) if kept]
    declared = _declared(manifest, tasks)
    sent = quantity(relative.cells, scores, "n_forecasts")[relative.kept]
    disputed = tuple(_disputes(relative.cells.entrants, tasks, np.where(np.isnan(declared), sent, np.nan)))
    counts = np.where(np.isnan(declared), _largest(sent), declared)
    counts = np.where(counts < FEWEST_FORECASTS, np.nan, counts)
    per = np.full(counts.shape, np.nan) if disputed else n / counts
    uncounted = np.isnan(counts[:, 0]) & ~np.isnan(sent).all(axis=1)
    nothing = tuple(task for task, is_nothing in zip(tasks, uncounted.tolist(), strict=True) if is_nothing)
    return Times(n, _medians(training * per, inference * per), nothing, disputed)


def _declared(manifest: Manifest, tasks: list[str]) -> FloatArray:
    """Return the manifest's counts, [n_tasks, 1]; NaN where it has none."""
    known = {} if isinstance(manifest.tasks, OpenTasks) else {task.id: task.n_forecasts for task in manifest.tasks}
    counts = [known.get(task) for task in tasks]
    return np.array([[np.nan if count is None else float(count)] for count in counts])


def _largest(sent: FloatArray) -> FloatArray:
    """Return each task's count, [n_tasks, 1]: undisputed counts are equal, so the largest is any of them."""
    largest: FloatArray = np.nan_to_num(sent).max(axis=1, keepdims=True)
    return largest


def _disputes(entrants: tuple[str, ...], tasks: list[str], sent: FloatArray) -> Iterator[str]:
    """Yield the tasks with differing counts, each with its counts and who sent them, the rarest count first."""
    for task, row in zip(tasks, sent, strict=True):
        counts, n_times = np.unique(row[~np.isnan(row)], return_counts=True)
        if len(counts) > 1:
            claimed = [
                f"{count:.15g} by {_who(entrants, row, count)}"
                for count in counts[np.argsort(n_times, kind="stable")].tolist()
            ]
            yield f"{task} ({', '.join(claimed)})"


def _who(entrants: tuple[str, ...], counts: FloatArray, count: float) -> str:
    return names_in_words([name for name, own in zip(entrants, counts.tolist(), strict=True) if own == count])


def _medians(training: FloatArray, inference: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    return _median(training), _median(inference), _median(training + inference)


def _median(times: FloatArray) -> FloatArray:
    """Return medians over the tasks that have a time, [n_entrants]; NaN where none has."""
    ordered, n_known = np.sort(times, axis=0), (~np.isnan(times)).sum(axis=0)  # NaN sorts last
    middle = [(n_known - 1).clip(0) // 2, np.minimum(n_known // 2, len(times) - 1)]
    lower, upper = (np.take_along_axis(ordered, at[None, :], axis=0)[0] for at in middle)
    medians: FloatArray = (lower + upper) / 2.0
    return medians


# The notes below a board of method `skill_score`, and in its JSON.


def meta_of(spec: SkillScore, relative: Relative) -> dict[str, Any]:
    """Return how the board was computed, for its JSON.

    >>> from app.boards.cells import build_cells
    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.skill_score import treat_missing
    >>> board = SkillScore(name="main", method="skill_score", metric="error", baseline="Fair")
    >>> cells = build_cells(benchmark(board), board, rows(), "error")
    >>> meta_of(board, treat_missing(cells, cells.values, "error"))["n_tasks"]
    3
    """
    return {
        "method": spec.method,
        "metric": spec.metric,
        "baseline": spec.baseline,
        "leakage_model": spec.leakage_model,
        "missing": spec.missing,
        "clip": spec.clip,
        "rank_by": spec.rank_by,
        "n_entrants": len(relative.cells.entrants),
        **uncertainty_meta(spec, int(relative.kept.sum())),
    }


def notes_of(spec: SkillScore, relative: Relative, *, has_model: bool = True) -> tuple[str, ...]:
    """Return the notes below the board, as sentences; `has_model` where the leakage model, if any, is here.

    >>> from app.boards.cells import build_cells
    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.skill_score import treat_missing
    >>> board = SkillScore(name="main", method="skill_score", metric="error", baseline="Fair")
    >>> cells = build_cells(benchmark(board), board, rows(), "error")
    >>> notes_of(board, treat_missing(cells, cells.values, "error"))
    ('3 entrants on 3 tasks; no failures.',)
    """
    cells = relative.cells
    failing = [e for e, n in zip(cells.entrants, relative.n_failures.tolist(), strict=True) if n]
    leaking = [e for e, n in zip(cells.entrants, cells.leaked.sum(axis=0).tolist(), strict=True) if n]
    n_failures = int(relative.n_failures.sum())
    failures = "no failures"
    if failing:
        whose = f"{count(len(failing), 'entrant')} ({names_in_words(failing)})"
        failures = f"{count(n_failures, 'failure')} of {whose}"
    notes = [f"{count(len(cells.entrants), 'entrant')} on {count(len(cells.tasks), 'task')}; {failures}."]
    if failing and spec.missing == "impute":
        notes.append(f"A failure counts as the error of {spec.baseline}.")
    if leaking:
        have, their = ("entrant has", "its") if len(leaking) == 1 else ("entrants have", "their")
        replaced = f"; {their} errors there are those of {spec.leakage_model}" if spec.leakage_model else ""
        if replaced and not has_model:
            replaced += ", which are not here, and so missing"
            replaced += f" (the baseline {spec.baseline} keeps its own)" if spec.baseline in leaking else ""
        notes.append(f"{len(leaking)} {have} seen data of some tasks ({names_in_words(leaking)}){replaced}.")
        notes += _gained(spec, cells)
        if has_model and spec.leakage_model not in (None, spec.baseline) and spec.baseline in leaking:
            notes.append(
                f"As the baseline {spec.baseline} keeps its own errors everywhere, as in fev; its score, by the errors "
                "that count for it, so differs from 0."
            )
    return (*notes, *cells.notes())


def _on_left_out(spec: SkillScore, everyone: Relative) -> Iterator[str]:
    """Yield how many tasks gaps take away from everybody, and whose gaps."""
    tasks, kept = everyone.cells.tasks, int(everyone.kept.sum())
    if spec.missing == "drop" and kept < len(tasks):
        lacking = zip(everyone.cells.entrants, everyone.n_failures.tolist(), strict=True)
        whose = sentences([f"{in_words(name)} ({n:,})" for name, n in lacking if n])
        remain = f"{kept:,} of {count(len(tasks), 'task')} {'remains' if kept == 1 else 'remain'}"
        yield (
            "A task that anybody lacks is left out for everybody, as in fev, of scores, ranks and comparisons: "
            f"{remain}. Lacking some: {whose}."
        )


def _gained(spec: SkillScore, cells: CellMatrix) -> Iterator[str]:
    """Yield for whom errors of the leakage model replace its own larger ones on tasks that it has seen."""
    if spec.leakage_model is None or spec.leakage_model not in cells.entrants:
        return
    others = cells.values[:, [cells.column(spec.leakage_model)]]
    n_worse = (cells.leaked & (cells.values > others)).sum(axis=0).tolist()
    n_leaked = cells.leaked.sum(axis=0).tolist()
    gained = [
        f"{in_words(e)} (on {n} of {count(m, 'task')})"
        for e, n, m in zip(cells.entrants, n_worse, n_leaked, strict=True)
        if n
    ]
    if gained:
        yield (
            f"On some tasks declared as leaked {count(len(gained), 'entrant')} "
            f"{'gains' if len(gained) == 1 else 'gain'}, because the error of {spec.leakage_model}, which counts, is "
            f"smaller: {sentences(gained)}."
        )
