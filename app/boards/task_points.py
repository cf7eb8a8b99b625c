"""Boards that give every entrant points on every task and rank by their mean: the code these methods share."""

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from pydantic import Field, field_validator

from app.boards.calibrated import (
    MIN_DRAWN_UNITS,
    OTHER_OPPONENTS,
    CellsAt,
    DrawnSpread,
    Precision,
    draw_named_tasks,
    few_units_note,
    rare_note,
    rare_places_note,
    stratified_means,
    task_intervals,
)
from app.boards.cells import CellMatrix, build_cells, filled, task_roster
from app.boards.columns import BoardRow, board_table, cell_at, ends_at
from app.boards.coverage import Roster, rank_among
from app.boards.opponents import pool_note, pool_of, shares_against, without_owner_meta
from app.boards.remembered import remembered_pairs
from app.boards.stability import PointsByTask, better_by_metric, family_of, no_others, stability_meta
from app.boards.standing import CAVEATS, BoardStanding, Contrasts, Gaps, power_meta, stand, uncertainty_meta
from app.boards.tables import MAX_COMPARED, TEST_OF_RANKS, BoardTables, TaskPairs, pairs_beside, pairwise_notes
from app.boards.units import NO_UNITS, TaskUnits
from app.manifest.model import Leaderboard, Manifest, MetricName, Name, Task
from app.names import count, names_in_words, repeated
from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.stats.calibrated import MIN_UNITS
from app.stats.pairs import PairStatistics, borda_points, compare_wins, ranks_beside
from app.stats.resample import Resamples, percentile_interval
from app.stats.spreads import EVERYWHERE, MOST_ASSUMED, Range, assumed_share, variance_factors, weigh
from app.values.frame import FrameField, with_calibrated
from app.values.scores import ScoreTable
from app.values.table import Column, Table


@dataclass(frozen=True)
class Points:
    """What a method computes from a sheet: points [n_tasks, n_entrants], larger being better, and how they are shown.

    The score is the sum of an entrant's points times `unit`; `strata` are the sizes of the groups of tasks, in order,
    that are resampled separately. `ranked` [n_entrants] marks the ranked entrants: the others are listed below without
    a rank, and their points mean nothing. `fields` are the method's further columns. `within` is the range of the
    points; where they do not depend on who is compared, `weights` [n_tasks] are those of the tasks' values.
    `calibrated`: the intervals, if of no plain mean. `of_pairs` are notes of the board that its pairs need, too.
    `of_others` gives the points of further results [n_tasks, n_own] where a pool of opponents alone is counted against;
    None where everybody is.
    """

    points: FloatArray
    ranked: BoolArray
    column: Column
    unit: float
    resamples: Resamples | None
    fields: tuple[FrameField[int], ...] = ()
    notes: tuple[str, ...] = ()
    strata: Sequence[int] = ()
    meta: dict[str, Any] = field(default_factory=dict)
    within: Range = EVERYWHERE
    weights: FloatArray | None = None
    calibrated: CellsAt | None = None
    of_pairs: tuple[str, ...] = ()
    of_others: Callable[[FloatArray], FloatArray] | None = None


class TaskBoard(Leaderboard):
    """A board of one metric over a closed list of tasks: in an open list a new task makes everybody incomplete."""

    can_lack_intervals = True
    needs_known_tasks: ClassVar[bool] = True

    metric: MetricName = Field(description="the metric that ranks")

    def metric_names(self) -> tuple[str, ...]:
        """Return the one metric of the board."""
        return (self.metric,)

    def weighable(self, tasks: Sequence[Task]) -> Collection[str] | None:
        """Return its tasks."""
        return self.tasks or [task.id for task in tasks]


class OpponentsBoard(TaskBoard):
    """A board whose scores depend on who is compared: everybody, or a pool that it names."""

    is_of_opponents = True

    opponents: list[Name] | None = Field(
        None,
        min_length=2,
        max_length=1000,
        description="whom everybody is counted against, whoever else is on the board; all of them by default. Their "
        "names are the stewards' to send",
    )

    @field_validator("opponents")
    @classmethod
    def _each_once(cls, opponents: list[str] | None) -> list[str] | None:
        if twice := repeated(opponents or ()):
            raise ValueError(f"opponents: {', '.join(twice)} is named twice")
        return opponents

    def required_entrants(self) -> tuple[str, ...]:
        """Return the opponents: every score is relative to them."""
        return tuple(self.opponents or ())


@dataclass(frozen=True)
class Sheet:
    """One metric as tasks × entrants, larger being better (NaN is no result), with the coverage of each entrant.

    `complete` [n_entrants] says who may be first. `ends` are the metric's declared worst and best values, `weights`
    [n_tasks] a reader's task weights. `slug` is the benchmark's, `owners` [n_entrants] are those of the entrants.
    `units` are what its tasks are drawn by.
    `by_metric` gives the values of the other boards' metrics, `families` are those of the tasks.
    """

    cells: CellMatrix
    better: FloatArray
    roster: Roster
    ends: tuple[float | None, float | None] = (None, None)
    weights: FloatArray | None = None
    slug: str = ""
    units: TaskUnits = NO_UNITS
    owners: Sequence[Hashable] = ()
    by_metric: Callable[[PointsByTask], Mapping[str, FloatArray]] = no_others
    families: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def complete(self) -> BoolArray:
        """Say who lacks nothing, or had it filled with the worst value, [n_entrants]."""
        return np.isin(self.cells.entrants, self.roster.ranked)

    @property
    def n_delivered(self) -> IntArray:
        """Return how many tasks each has a value for that was sent, [n_entrants]."""
        return np.array([self.roster.coverages[name].n_included for name in self.cells.entrants], dtype=np.int64)

    @cached_property
    def others(self) -> FloatArray:
        """Return the values of the complete entrants, [n_tasks, n_complete]."""
        return self.better[:, self.complete]

    @cached_property
    def _points_of_others(self) -> FloatArray:
        return np.asarray((borda_points(self.others) * self._counts).sum(axis=0))

    @property
    def _counts(self) -> FloatArray:
        return np.ones((self.n_tasks, 1)) if self.weights is None else self.weights[:, None]

    def ranks_by_order(self, owns: FloatArray) -> IntArray:
        """Return each column's rank by Borda points, [n_owns] of [n_tasks, n_owns], beside the complete entrants."""
        if not self.complete.any():
            return np.ones(owns.shape[1], dtype=np.int64)
        return ranks_beside(self.others, self._points_of_others, owns, self._counts[:, 0])

    @property
    def n_tasks(self) -> int:
        """Return the number of tasks."""
        return len(self.cells.tasks)

    def means(self) -> FloatArray:
        """Return the mean of the metric over all tasks, [n_entrants]; NaN for an entrant that lacks one."""
        values = self.cells.values if self.weights is None else weigh(self.cells.values, self.weights)
        return np.asarray(values.mean(axis=0))


def assemble(spec: TaskBoard, sheet: Sheet, given: Points) -> BoardTables:
    """Return the board of these points [n_tasks, n_entrants], larger being better, and its pairwise table.

    Scores have the unit and direction of `given.column`; an unranked entrant's is None, and it is listed below. There
    is no pairwise table for fewer than two ranked. Source: the method that defines the points.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.task_points import read_sheet
    >>> board = TaskBoard(name="main", method="borda", metric="error")
    >>> sheet = read_sheet(benchmark(board), board, rows())
    >>> points = Points(sheet.better, sheet.complete, Column("sum", "Sum"), 1.0, None)
    >>> [(row[1], round(row[2], 1)) for row in assemble(board, sheet, points).leaderboard.rows]
    [('Good', -0.6), ('Fair', -0.9), ('Poor', -2.4)]
    """
    if sheet.weights is not None:
        given = replace(given, points=weigh(given.points, sheet.weights))
    names = [name for name, has in zip(sheet.cells.entrants, given.ranked, strict=True) if has]
    points = given.points[:, given.ranked]
    # Where points depend on everybody, task wins are computed from results instead: for earlier entrants these do not
    # change, so they come from the cache. An absent result is behind all others.
    order = filled(sheet.better, -np.inf) if spec.is_of_opponents and sheet.weights is None else given.points
    contenders = _Contenders(
        sheet,
        names,
        points,
        sheet.n_delivered[given.ranked],
        given.resamples,
        _strata_of(sheet, given),
        order[:, given.ranked],
        given.within.high - given.within.low,
    )
    standing, level = contenders.standing(spec), spec.uncertainty.level
    shown = _spread(given, given.points.sum(axis=0) * given.unit)
    drawn = None if contenders.drawn is None else _spread(given, contenders.drawn * (given.unit * sheet.n_tasks))
    ours = given.calibrated or _of_points(given, sheet, level)
    ends = None if drawn is None else np.stack(percentile_interval(drawn, level))
    everyone = range(len(sheet.cells.entrants))
    fields = (*with_calibrated(given.column, ends_at(shown, ends), ours), *given.fields, *_counts(sheet))
    pairs = contenders.compared(spec, standing)
    depends = sheet.units.meta(_within_strata(points, contenders.strata))
    meta = {"method": spec.method, "metric": spec.metric, "rank_by": given.column.name,
            "n_entrants": len(sheet.cells.entrants),
            **uncertainty_meta(spec, sheet.n_tasks, max(given.strata or [sheet.n_tasks])), **depends,
            **power_meta(standing, abs(given.unit) * sheet.n_tasks), **given.meta}  # fmt: skip
    of_first: dict[str, Any] = {}
    if spec.explored is None:
        by = _by_task(spec, sheet, given)
        of_first = stability_meta(by, sheet.families, sheet.by_metric)
        if by.better is not None and standing is not None:
            of_first |= without_owner_meta(by.names, by.better, by.owners, standing.order(by.names))
    on_units = list(sheet.units.notes(depends["dependence"]["design_effect"]))
    if any(ours(at).low is not None for at in everyone):
        on_units += _on_intervals(spec, given, contenders, standing)
    notes = (*_notes(sheet, given), *on_units, *pairs.notes())
    board = board_table(spec, fields, _placed(sheet, given, contenders, standing), notes, meta | of_first)
    of_pairs = meta | power_meta(standing) | _score(spec, given)
    of_pairs |= {"test": TEST_OF_RANKS} if spec.is_of_opponents else {}
    of_pairs[CAVEATS] = [*sheet.roster.filled_notes(), *given.of_pairs, *on_units]
    return BoardTables(board, pairs_beside(spec, partial(pairs.table, spec, of_pairs, len(names))))


@dataclass(frozen=True)
class Stratum:
    """Tasks that are resampled among themselves: their positions, worth how many units, and what they count."""

    tasks: IntArray
    n_units: float
    share: float

    @property
    def size(self) -> int:
        """Return how many tasks they are."""
        return len(self.tasks)


def _strata_of(sheet: Sheet, given: Points) -> Sequence[Stratum]:
    """Return the groups of tasks, one of all where there are none; by a reader's weights it is worth fewer."""
    cuts = np.cumsum(given.strata)[:-1].tolist() if given.strata else []
    each = np.split(np.arange(sheet.n_tasks), cuts)
    counts = np.ones(sheet.n_tasks) if given.weights is None else given.weights
    return [Stratum(at, sheet.units.only(at).number(), float(counts[at].sum() / counts.sum())) for at in each]


def _within_strata(points: FloatArray, strata: Sequence[Stratum]) -> FloatArray:
    """Return points [n_tasks, n_ranked] less their mean in each group of tasks; 0 in one of a single unit."""
    within = np.zeros_like(points)
    for group in strata:
        if group.n_units > 1.0 or len(strata) == 1:
            within[group.tasks] = points[group.tasks] - points[group.tasks].mean(axis=0)
    return within


def _by_task(spec: TaskBoard, sheet: Sheet, given: Points) -> PointsByTask:
    """Return what the stability of the first place is computed from; a pool of opponents is one of a metric."""
    ranked = np.flatnonzero(given.ranked).tolist()
    names, points = [sheet.cells.entrants[at] for at in ranked], given.points[:, ranked]
    if given.weights is not None:
        points = points / given.weights[:, None]
    by = PointsByTask(names, sheet.cells.tasks, points, points_of=np.asarray)
    if given.strata:
        groups = np.repeat(np.arange(len(given.strata)), given.strata).astype(str).tolist()
        return replace(by, groups=groups, equal=points)
    if given.of_others is not None:
        return replace(by, points_of=None)
    if not spec.is_of_opponents:
        return by
    owners = [sheet.owners[at] for at in ranked]
    return replace(by, points_of=borda_points, better=sheet.better[:, ranked], owners=owners)


def _score(spec: TaskBoard, given: Points) -> dict[str, Any]:
    """Return what two entrants are compared by in words: the board's own points, where they are not the metric.

    `score_sum` is what the board calls their sum over tasks, where its column is that.
    """
    if not spec.is_of_opponents:
        return {}
    title = given.column.title
    if given.unit == 1.0:
        words = {"score": f"mean of {title} per task", "score_sum": title}
    else:
        words = {"score": f"{title[0].lower()}{title[1:]}"}
    return {**words, "score_direction": given.column.direction}


def _of_points(given: Points, sheet: Sheet, level: float) -> CellsAt:
    points, unit = np.where(given.ranked, given.points, np.nan), given.unit * sheet.n_tasks
    return task_intervals(points, given.within, level, scale=lambda mean: mean * unit, units=sheet.units)


@dataclass(frozen=True)
class _Contenders:
    """The ranked entrants: their points [n_tasks, n_ranked], and the resampled tasks.

    `delivered` [n_ranked] counts the tasks with a value. `order` [n_tasks, n_ranked] orders the entrants on each task
    as the points do; `widest` is the largest possible difference of two mean points.
    """

    sheet: Sheet
    names: Sequence[str]
    points: FloatArray
    delivered: IntArray
    resamples: Resamples | None
    strata: "Sequence[Stratum]"
    order: FloatArray
    widest: float

    @property
    def tasks(self) -> Sequence[str]:
        """Return the tasks of the board, in the order of the points."""
        return self.sheet.cells.tasks

    @property
    def drawn(self) -> FloatArray | None:
        """Return the mean points in each resample, [n_resamples, n_ranked]."""
        return None if self.resamples is None or not self.names else self.resamples.means(self.points)

    def standing(self, spec: TaskBoard) -> BoardStanding | None:
        """Rank everybody by their points, in which nothing that is absent gains any: by the rule for gaps, too."""
        if not self.names:
            return None
        points, level = self.points.mean(axis=0), spec.uncertainty.level
        drawn, within = self._spread(spec), spec.smallest_difference
        return stand(points, drawn, level, widest=self.widest, gaps=self._gaps(points), smallest=within,
                     over_snapshots=spec.over_snapshots)  # fmt: skip

    def _gaps(self, points: FloatArray) -> Gaps | None:
        lacks = self.delivered < len(self.tasks)
        return Gaps(np.where(lacks, points, np.nan), self.delivered) if lacks.any() else None

    def _spread(self, spec: TaskBoard) -> DrawnSpread | None:
        """Return the mean points with tasks drawn by their names; none of whom a task was not asked of."""
        named, n_units = draw_named_tasks(spec.uncertainty, self.sheet.units.names), self.sheet.units.number()
        sizes, drawn, shares = zip(*((each.size, each.n_units, each.share) for each in self.strata), strict=True)
        if named is None or n_units < MIN_DRAWN_UNITS or assumed_share(drawn, shares) > MOST_ASSUMED:
            return None
        points = self.sheet.units.jackknifed_within(sizes, self.points)
        means = stratified_means(named, sizes, points, drawn, shares)
        is_one = len(drawn) == 1
        freedom = np.full(len(self.names), drawn[0] - 1.0) if is_one else self._freedom(variance_factors(drawn, shares))
        inflation = Precision.of_units(drawn[0]).inflation if is_one else 1.0
        # A family may lie in several groups.
        most = np.minimum(freedom, n_units - 1.0).tolist()
        of_each = zip(self.sheet.roster.not_asked(self.names).tolist(), most, strict=True)
        precision = [None if n else Precision(each, inflation) for n, each in of_each]
        by_unit = self.sheet.units.means(self.points) if spec.is_of_opponents else None
        return DrawnSpread(means, precision, are_ranks=spec.is_of_opponents, by_unit=by_unit)

    def _freedom(self, factors: FloatArray) -> FloatArray:
        """Return the degrees of freedom of each entrant's differences over groups of tasks, [n_entrants].

        `factors` [n_strata] are those of the groups' variances. Each has the median over its pairs with the best:
        groups of two tasks may have most of a difference's variance, and little to know it by. A pair has the fewer of
        its two. Source: Satterthwaite 1946; docs/statistics.md.
        """
        best = np.argsort(-self.points.sum(axis=0), kind="stable")[:MAX_COMPARED]
        variances, freedom = list[FloatArray](), list[float]()
        for group, factor in zip(self.strata, factors.tolist(), strict=True):
            if group.n_units > 1.0:
                units, points = self.sheet.units.only(group.tasks), self.points[group.tasks][:, best]
                variances.append(units.variances(points - points.mean(axis=0)) * factor)
                freedom.append(max(group.n_units - 1.0, 1.0))
        of_each = np.array(variances)
        total = of_each.sum(axis=0)
        most = self.sheet.units.number() - 1.0
        shares = of_each / np.where(total > 0.0, total, 1.0)
        squared = (shares**2 / np.array(freedom)[:, None, None]).sum(axis=0)
        of_pairs = np.where(total > 0.0, 1.0 / np.where(squared > 0.0, squared, 1.0), np.nan)
        own = np.array([most if np.isnan(each).all() else float(np.nanmedian(each)) for each in of_pairs])
        found = np.full(len(self.names), float(np.median(own)))
        found[best] = own
        return found

    def compared(self, spec: TaskBoard, standing: BoardStanding | None) -> "_Pairs":
        """Compare the best-ranked with each other, in their order."""
        if standing is None or len(self.names) < 2 or spec.explored is not None:
            return _Pairs([], None, None)
        order = standing.order(self.names)[:MAX_COMPARED]
        level, best = spec.uncertainty.level, self.order[:, order]
        key = (f"{self.sheet.slug}/{spec.name}", "wins", repr(level))
        compare = partial(compare_wins, best, self.resamples, level=level)
        pairs = remembered_pairs(key, best, self.resamples, lambda wanted: compare(wanted=wanted))
        return _Pairs([self.names[at] for at in order], pairs, standing.contrasts(order))


@dataclass(frozen=True)
class _Pairs:
    """Entrants from best to worst, compared with each other."""

    names: Sequence[str]
    pairs: PairStatistics | None
    contrasts: Contrasts | None

    def notes(self) -> Iterator[str]:
        """Say how many neighbours in the ranking differ by more than the choice of tasks explains.

        Whom the rule for gaps puts behind was not tested.
        """
        if self.contrasts is None or not self.contrasts.is_known.any():
            return
        at = np.arange(len(self.names) - 1)
        tested = self.contrasts.tested[at, at + 1]
        apart, n = int((self.contrasts.separated[at, at + 1] & tested).sum()), int(tested.sum())
        compared = "" if n == len(at) else f", {n} are compared; of these"
        among = f"among the first {len(self.names)}" if len(self.names) == MAX_COMPARED else "in the ranking"
        are = "is" if apart == 1 else "are"
        yield f"Of {count(len(at), 'pair')} of neighbours {among}{compared or ','} {apart} {are} separable."

    def table(self, spec: TaskBoard, meta: dict[str, Any], n_ranked: int) -> Table | None:
        """Return the pairwise table; None where there is nobody to compare."""
        if self.pairs is None or self.contrasts is None:
            return None
        compared = TaskPairs(self.names, self.pairs, self.contrasts)
        return compared.advantages(spec, pairwise_notes(len(self.names), n_ranked), meta)


def _placed(
    sheet: Sheet, given: Points, contenders: _Contenders, standing: BoardStanding | None
) -> Iterator[tuple[BoardRow, int]]:
    """Yield the ranked from best to worst, then the others by name, each with its coverage."""
    positions, bounds = np.flatnonzero(given.ranked), _bounds(sheet, given)
    places = [
        (place, int(positions[at])) for place, at in (() if standing is None else standing.placed(contenders.names))
    ]
    places += [(BoardRow(sheet.cells.entrants[at]), at) for at in np.flatnonzero(~given.ranked).tolist()]
    for place, at in places:
        rank_status = sheet.roster.rank_status(place.entrant, bounds.get(at))
        # An incomplete entrant is ranked where the method itself defines the points of an absent task.
        if place.rank is not None and rank_status.why is not None:
            rank_status = replace(rank_status, why=None)
        yield replace(place, rank_status=rank_status), at


def _bounds(sheet: Sheet, given: Points) -> dict[int, tuple[int, int]]:
    """Return by position the ranks that an entrant would have among the ranked if what it lacks were worst and best.

    Who lacks nothing has none.
    """
    lacking = np.flatnonzero(~sheet.complete & np.isnan(sheet.better).any(axis=0))
    if given.ranked[lacking].any():
        return dict(zip(lacking.tolist(), _bounds_of_points(sheet, given, lacking), strict=True))
    if given.weights is not None:
        return {at: _weighted_bounds(sheet, given.weights, at) for at in lacking.tolist()}
    # The order alone counts: anything behind or before every result will do.
    own = sheet.better[:, lacking]
    if given.of_others is not None:
        worst, best = (
            _ranks_by_pool(sheet, given.points, given.of_others(filled(own, end))) for end in (-np.inf, np.inf)
        )
    else:
        worst, best = (sheet.ranks_by_order(filled(own, end)).tolist() for end in (-np.inf, np.inf))
    return dict(zip(lacking.tolist(), zip(worst, best, strict=True), strict=True))


def _bounds_of_points(sheet: Sheet, given: Points, lacking: IntArray) -> Iterator[tuple[int, int]]:
    """Yield the ranks where no result gets no points, which is the worst: the present one, and that of the best."""
    has, counts = ~np.isnan(sheet.better), sheet._counts * (sheet.n_tasks / sheet._counts.sum())
    n_entrants, of_others = has.shape[1], given.of_others
    points = (borda_points(sheet.better) * counts).sum(axis=0) if of_others is None else given.points.sum(axis=0)
    for at in lacking.tolist():
        best, missing = points.copy(), ~has[:, at]
        if of_others is None:
            # Each of the others with a result loses its point for being before this one.
            best -= counts[missing, 0] @ has[missing]
            best[at] = points[at] + (n_entrants - 1) * counts[missing].sum()
        else:
            best[at] = (of_others(filled(sheet.better[:, [at]], np.inf)) * counts).sum()
        yield rank_among(float(points[at]), points), rank_among(float(best[at]), best)


def _ranks_by_pool(sheet: Sheet, points: FloatArray, owns: FloatArray) -> list[int]:
    among = points[:, sheet.complete].sum(axis=0)
    return [rank_among(total, among) for total in owns.sum(axis=0).tolist()]


def _weighted_bounds(sheet: Sheet, weights: FloatArray, at: int) -> tuple[int, int]:
    own, others = sheet.better[:, at], sheet.others

    def rank(end: float | None) -> int:
        totals = (np.column_stack([filled(own, end), others]) * weights[:, None]).sum(axis=0)
        return rank_among(float(totals[0]), totals[1:])

    worst, best = sheet.ends
    return rank(worst), 1 if best is None else rank(best)  # without a worst value the total is NaN, behind all


def _spread(given: Points, values: FloatArray) -> FloatArray:
    """Return values [..., n_ranked] or [n_entrants] with NaN for whoever is not ranked, [..., n_entrants]."""
    spread = np.full((*values.shape[:-1], len(given.ranked)), np.nan)
    spread[..., given.ranked] = values if values.shape[-1] < len(given.ranked) else values[..., given.ranked]
    return spread


def _counts(sheet: Sheet) -> tuple[FrameField[int], ...]:
    leaked = Column("n_leaked", "Leaked", "integer", detail=True, glossary="n_leaked")
    return (FrameField(leaked, cell_at(sheet.cells.leaked.sum(axis=0))),)


def _on_intervals(
    spec: TaskBoard, given: Points, contenders: _Contenders, standing: BoardStanding | None
) -> Iterator[str]:
    sheet, names = contenders.sheet, contenders.names
    worth = np.full(len(names), sheet.units.number())
    if standing is not None and standing.all_pairs is not None:
        # Over groups, few tasks of one may have most of what is known of an entrant's spread.
        worth = np.fmin(worth, standing.all_pairs.freedom + 1.0)
    few = list(zip(names, worth.tolist(), strict=True))
    yield from few_units_note(few, sheet.units.plural, spec.uncertainty.level)
    n_units = sheet.units.number()
    if n_units >= MIN_UNITS and spec.is_of_opponents:
        yield from rare_places_note(len(names) - 1, n_units)
    elif n_units >= MIN_UNITS and given.within.is_bounded:
        yield from rare_note("tasks", n_units, is_compared=len(names) > 1)
    if spec.is_of_opponents and len(names) > 1:
        yield OTHER_OPPONENTS.format("scores")


def _notes(sheet: Sheet, given: Points) -> Iterator[str]:
    entrants, roster = sheet.cells.entrants, sheet.roster
    n_complete = int((sheet.n_delivered == sheet.n_tasks).sum())
    of_board = f"{count(len(entrants), 'entrant')} on {count(sheet.n_tasks, 'task')}"
    yield f"{of_board}; {n_complete} {'has' if n_complete == 1 else 'have'} a result on every one."
    lacking = [name for name, is_ranked in zip(entrants, given.ranked, strict=True) if not is_ranked]
    not_asked = [name for name, n in zip(lacking, roster.not_asked(lacking).tolist(), strict=True) if n]
    if not_asked:
        yield f"Listed separately, without a rank, because tasks were added since: {names_in_words(not_asked)}."
    if lacking := [name for name in lacking if name not in not_asked]:
        yield f"Listed separately, without a rank, because they lack tasks: {names_in_words(lacking)}."
    yield from (*roster.filled_notes(), *given.notes, *given.of_pairs)
    yield from sheet.cells.notes()


def read_sheet(manifest: Manifest, spec: TaskBoard, scores: ScoreTable) -> Sheet:
    """Pivot the board's metric: values [n_tasks, n_entrants] in its unit, turned so that larger is better; NaN is none.

    Raises BoardUnavailable without rows on its tasks.
    Source: none; it rearranges rows.

    >>> from app.boards.example import benchmark, rows
    >>> board = TaskBoard(name="main", method="borda", metric="error")
    >>> read_sheet(benchmark(board), board, rows({"A": [0.1, 0.2], "B": [0.3]})).better.tolist()
    [[-0.1, -0.3], [-0.2, nan]]
    """
    cells, metric = build_cells(manifest, spec, scores, spec.metric), manifest.metrics[spec.metric]
    roster = task_roster(manifest, spec, cells, np.isnan(cells.values))
    if manifest.absent == "worst":
        cells = replace(cells, values=filled(cells.values, metric.worst))
    sign = 1.0 if metric.direction == "maximize" else -1.0
    worst, best = (None if end is None else sign * end for end in (metric.worst, metric.best))
    owners = manifest.asked.facts.owners_of(cells.entrants)
    weights, others = task_weights(spec, cells.tasks), partial(better_by_metric, manifest, spec, scores)
    ends = (worst, best)
    units = replace(TaskUnits.of(manifest, cells.tasks), weights=weights)
    return Sheet(cells, sign * cells.values, roster, ends, weights, manifest.slug, units, owners, others,
                 family_of(manifest))  # fmt: skip


def counted_against(spec: OpponentsBoard, sheet: Sheet) -> "tuple[Sheet, BeatenShares] | None":
    """Return the shares of the board's own opponents that each entrant beats, [n_tasks, n_entrants]; None without any.

    Who is an opponent but not among those whom a reader named is not on the sheet that is returned.
    Raises BoardUnavailable for fewer than two opponents with every task.
    Source: `app.boards.opponents.shares_against`.

    >>> from app.boards.example import benchmark, rows
    >>> board = OpponentsBoard(name="main", method="borda", metric="error", opponents=["Fair", "Poor"])
    >>> _, counted = counted_against(board, read_sheet(benchmark(board), board, rows()))
    >>> counted.shares[0].tolist()
    [1.0, 1.0, 0.0]
    """
    if spec.opponents is None:
        return None
    entrants = sheet.cells.entrants
    at = pool_of(spec.opponents, entrants, sheet.complete)
    pool, note = sheet.better[:, at], pool_note(spec.opponents, entrants, at)
    beside = () if spec.explored is None else spec.explored.beside
    if beside:
        kept = [place for place, name in enumerate(entrants) if name not in beside]
        names = {entrants[place] for place in kept}
        roster = replace(
            sheet.roster,
            ranked=tuple(name for name in sheet.roster.ranked if name in names),
            apart=tuple(name for name in sheet.roster.apart if name in names),
        )
        owners = [sheet.owners[place] for place in kept]
        cells = sheet.cells.only([entrants[place] for place in kept])
        sheet = replace(sheet, cells=cells, better=sheet.better[:, kept], roster=roster, owners=owners)
    is_member = np.isin(sheet.cells.entrants, spec.opponents)
    return sheet, BeatenShares(shares_against(sheet.better, pool, is_member), pool, note)


@dataclass(frozen=True)
class BeatenShares:
    """Shares of the opponents beaten [n_tasks, n_entrants], the opponents' results [n_tasks, n_pool], and the note."""

    shares: FloatArray
    pool: FloatArray
    note: str

    def shares_of(self, own: FloatArray) -> FloatArray:
        """Return the shares of results [n_tasks, n_own] of others than the opponents."""
        return shares_against(own, self.pool, np.zeros(own.shape[1], dtype=np.bool_))


# One metric as tasks × entrants, larger being better: the input of boards that give points on every task.


def task_weights(spec: Leaderboard, tasks: Sequence[str]) -> FloatArray | None:
    """Return a reader's task weights, [n_tasks]; None where all weigh the same.

    Source: the reader's choice.

    >>> from app.manifest.model import Explored
    >>> board = TaskBoard(name="main", method="borda", metric="error").as_chosen(None, Explored({"a": 2.0}))
    >>> task_weights(board, ["a", "b"]).tolist()
    [2.0, 1.0]
    """
    chosen = spec.explored.weights if spec.explored else {}
    return np.array([chosen.get(task, 1.0) for task in tasks]) if chosen else None
