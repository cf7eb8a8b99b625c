"""Boards that give every entrant points on every task and rank by their mean: the code these methods share.

Called by `app.boards.methods.borda`, `.group_mean`, `.mean_win_rate` and `.mean_rank`, which define the points.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from app.boards.calibrated import CellsAt, few_units_note, task_intervals
from app.boards.columns import Place, board_table, cell_at, ends_at
from app.boards.contrasts import Contrasts
from app.boards.coverage import rank_among
from app.boards.sheet import EVERYWHERE, Sheet, TaskBoard
from app.boards.spread import MIN_UNITS, Precision, Spread, draw_named_tasks, stratified_means
from app.boards.standing import BoardStanding, rounds_of, stand, uncertainty_meta
from app.boards.tables import (
    MAX_COMPARED,
    BoardTables,
    TaskPairs,
    elsewhere_notes,
    pairs_beside,
    pairwise_notes,
)
from app.boards.task_coverage import filled
from app.boards.wording import names_in_words
from app.stats.arrays import BoolArray, FloatArray
from app.stats.difference import compare_wins
from app.stats.interval import percentile_interval
from app.stats.pairs import PairStatistics
from app.stats.resample import Resamples
from app.stats.spreads import Range
from app.stats.weighing import weigh
from app.values.counts import count
from app.values.frame import FrameField, with_calibrated
from app.values.table import Column, Table


@dataclass(frozen=True)
class Points:
    """What a method computes from a sheet: points [n_tasks, n_entrants], larger being better, and how they are shown.

    The score is the sum of an entrant's points times `unit`; `strata` are the sizes of the groups of tasks, in order,
    that are resampled separately. `ranked` [n_entrants] marks the ranked entrants: the others are listed below without
    a rank, and their points mean nothing. `fields` are the method's further columns. `within` is the range of the
    points; where they do not depend on who is compared, `weights` [n_tasks] are those of the tasks' values.
    `calibrated`: the intervals, if of no plain mean.
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


def assemble(spec: TaskBoard, sheet: Sheet, given: Points) -> BoardTables:
    """Return the board of these points [n_tasks, n_entrants], larger being better, and its pairwise table.

    Scores have the unit and direction of `given.column`; an unranked entrant's is None, and it is listed below. There
    is no pairwise table for fewer than two ranked. Source: the method that defines the points.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.sheet import read_sheet
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
        sheet, names, points, sheet.complete[given.ranked], given.resamples, given.strata, order[:, given.ranked]
    )
    standing, level = contenders.standing(spec), spec.uncertainty.level
    shown = _spread(given, given.points.sum(axis=0) * given.unit)
    drawn = None if contenders.drawn is None else _spread(given, contenders.drawn * (given.unit * sheet.n_tasks))
    ours = given.calibrated or _of_points(given, sheet, level)
    ends = None if drawn is None else np.stack(percentile_interval(drawn, level))
    fields = (*with_calibrated(given.column, ends_at(shown, ends), ours), *given.fields, *_counts(sheet))
    pairs = contenders.compared(spec, standing)
    meta = {"method": spec.method, "metric": spec.metric, "rank_by": given.column.name,
            "n_entrants": len(sheet.cells.entrants), **uncertainty_meta(spec, sheet.n_tasks), **given.meta}  # fmt: skip
    notes = (
        *_notes(sheet, given),
        *_on_intervals(spec, contenders, sheet.n_weighed or sheet.n_tasks),
        *pairs.notes(),
    )
    board = board_table(spec, fields, _placed(sheet, given, contenders, standing), notes, meta)
    return BoardTables(board, pairs_beside(spec, partial(pairs.table, spec, meta | _score(spec, given), len(names))))


def _score(spec: TaskBoard, given: Points) -> dict[str, Any]:
    """Return what two entrants are compared by in words: the board's own points, where they are not the metric."""
    if not spec.is_of_opponents:
        return {}
    title = given.column.title
    words = f"mean of {title} per task" if given.unit == 1.0 else f"{title[0].lower()}{title[1:]}"
    return {"score": words, "score_direction": given.column.direction}


def _of_points(given: Points, sheet: Sheet, level: float) -> CellsAt:
    points, unit = np.where(given.ranked, given.points, np.nan), given.unit * sheet.n_tasks
    return task_intervals(points, given.within, level, scale=lambda mean: mean * unit, n_units=sheet.n_weighed)


@dataclass(frozen=True)
class _Contenders:
    """The ranked entrants: their points [n_tasks, n_ranked], which of them are complete, and the resampled tasks.

    `order` [n_tasks, n_ranked] orders them on each task as the points do.
    """

    sheet: Sheet
    names: Sequence[str]
    points: FloatArray
    complete: BoolArray
    resamples: Resamples | None
    strata: Sequence[int]
    order: FloatArray

    @property
    def tasks(self) -> Sequence[str]:
        """Return the tasks of the board, in the order of the points."""
        return self.sheet.cells.tasks

    @property
    def drawn(self) -> FloatArray | None:
        """Return the mean points in each resample, [n_resamples, n_ranked]."""
        return None if self.resamples is None or not self.names else self.resamples.means(self.points)

    def standing(self, spec: TaskBoard) -> BoardStanding | None:
        """Rank everybody; incomplete entrants get no spread, so that only complete ones may be first."""
        if not self.names:
            return None
        return stand(self.points.mean(axis=0), self._spread(spec), spec.uncertainty.level, rounds=rounds_of(spec))

    def _spread(self, spec: TaskBoard) -> Spread | None:
        """Return the mean points with tasks drawn by their names."""
        named, strata = draw_named_tasks(spec.uncertainty, self.tasks), self.strata or [len(self.tasks)]
        weighed = self.sheet.n_weighed
        if named is None or max(strata) < MIN_UNITS or (weighed or MIN_UNITS) < MIN_UNITS:
            return None
        means = stratified_means(named, strata, self.points)
        precision = Precision.of_strata(strata) if weighed is None else Precision.of_units(weighed)
        return Spread(means, [precision if complete else None for complete in self.complete.tolist()])

    def compared(self, spec: TaskBoard, standing: BoardStanding | None) -> "_Pairs":
        """Compare the best-ranked with each other, in their order."""
        if standing is None or len(self.names) < 2 or spec.explored is not None:
            return _Pairs([], None, None)
        order = standing.order(self.names)[:MAX_COMPARED]
        board = f"{self.sheet.slug}/{spec.name}"
        pairs = compare_wins(self.order[:, order], self.resamples, level=spec.uncertainty.level, board=board)
        return _Pairs([self.names[at] for at in order], pairs, standing.contrasts(order))


@dataclass(frozen=True)
class _Pairs:
    """Entrants from best to worst, compared with each other."""

    names: Sequence[str]
    pairs: PairStatistics | None
    contrasts: Contrasts | None

    def notes(self) -> Iterator[str]:
        """Say how many neighbours in the ranking differ by more than the choice of tasks explains."""
        if self.contrasts is None or not self.contrasts.is_known.any():
            return
        at = np.arange(len(self.names) - 1)
        apart = int(self.contrasts.separated[at, at + 1].sum())
        yield f"Of {len(at)} pairs of neighbours in the ranking, {apart} are separable."

    def table(self, spec: TaskBoard, meta: dict[str, Any], n_ranked: int) -> Table | None:
        """Return the pairwise table; None where there is nobody to compare."""
        if self.pairs is None or self.contrasts is None:
            return None
        compared = TaskPairs(self.names, self.pairs, self.contrasts)
        return compared.advantages(spec, pairwise_notes(len(self.names), n_ranked), meta)


def _placed(
    sheet: Sheet, given: Points, contenders: _Contenders, standing: BoardStanding | None
) -> Iterator[tuple[Place, int]]:
    """Yield the ranked from best to worst, then the others by name, each with its coverage."""
    positions, bounds = np.flatnonzero(given.ranked), _bounds(sheet, given)
    places = [
        (place, int(positions[at])) for place, at in (() if standing is None else standing.placed(contenders.names))
    ]
    places += [(Place(sheet.cells.entrants[at]), at) for at in np.flatnonzero(~given.ranked).tolist()]
    for place, at in places:
        standing_of = sheet.roster.standing(place.entrant, bounds.get(at))
        # An incomplete entrant is ranked where the method itself defines the points of an absent task.
        if place.rank is not None and standing_of.why is not None:
            standing_of = replace(standing_of, why=None)
        yield replace(place, standing=standing_of), at


def _bounds(sheet: Sheet, given: Points) -> dict[int, tuple[int, int]]:
    """Return by position the ranks that an entrant would have among the complete if what it lacks were worst and best.

    Who lacks nothing has none.
    """
    lacking = np.flatnonzero(~sheet.complete & np.isnan(sheet.better).any(axis=0))
    if given.weights is not None:
        return {at: _weighted_bounds(sheet, given.weights, at) for at in lacking.tolist()}
    # The order alone counts: anything behind or before every result will do.
    own = sheet.better[:, lacking]
    worst, best = (sheet.ranks_by_order(filled(own, end)).tolist() for end in (-np.inf, np.inf))
    return dict(zip(lacking.tolist(), zip(worst, best, strict=True), strict=True))


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


def _on_intervals(spec: TaskBoard, contenders: _Contenders, n_tasks: float) -> Iterator[str]:
    yield from few_units_note([(name, n_tasks) for name in contenders.names], "tasks", spec.uncertainty.level)
    if spec.is_of_opponents and len(contenders.names) > 1:
        yield "The score is about these opponents: its interval is about other tasks, not about other opponents."


def _notes(sheet: Sheet, given: Points) -> Iterator[str]:
    n_entrants, n_complete = len(sheet.cells.entrants), int(sheet.complete.sum())
    of_board = f"{count(n_entrants, 'entrant')} on {count(sheet.n_tasks, 'task')}"
    yield f"{of_board}; {n_complete} {'has' if n_complete == 1 else 'have'} a result on every one."
    lacking = [name for name, is_ranked in zip(sheet.cells.entrants, given.ranked, strict=True) if not is_ranked]
    if lacking:
        yield f"Listed separately, without a rank, because they lack tasks: {names_in_words(lacking)}."
    yield from given.notes
    yield from elsewhere_notes(sheet.cells.elsewhere)
