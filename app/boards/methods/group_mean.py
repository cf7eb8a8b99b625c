"""Ranking method `group_mean`: the mean of means. Tasks are averaged within groups, then the groups.

Found by `app.boards.registry`. MTEB's mean over task types, so that ten tasks of one type weigh as much as one of
another. Groups are fixed; tasks are resampled within their group. Only entrants with every task are ranked.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal, Self

import numpy as np
from pydantic import Field, model_validator
from scipy.special import ndtr, ndtri

from app.boards.calibrated import MIN_DRAWN_UNITS, NOTHING, CellsAt, range_of, task_intervals
from app.boards.columns import cell_at
from app.boards.statement import UNTESTED
from app.boards.tables import BoardTables, TableMethod
from app.boards.task_points import Points, Sheet, TaskBoard, assemble, read_sheet
from app.boards.units import TaskUnits
from app.manifest.model import Manifest, Metric, Name, Task, TaskName
from app.names import repeated
from app.stats.arrays import FloatArray
from app.stats.resample import GroupResamples, board_generator
from app.stats.spreads import MOST_ASSUMED, assumed_share, grouped_spread
from app.values.frame import CalibratedCells, FrameField
from app.values.scores import ScoreTable
from app.values.table import Column

GROUPS_OF_ONE = "groups_of_one_unit"
"""Why there are no intervals where more than MOST_ASSUMED of the variance would be of groups that show none."""


class GroupMean(TaskBoard):
    """A board of means over groups of tasks, all groups weighing the same; `groups` lists the tasks of each."""

    is_mean = True

    method: Literal["group_mean"] = Field(description="how it ranks")
    groups: dict[Name, list[TaskName]] = Field(
        min_length=1, description="the tasks of each group; groups have equal weight"
    )

    @model_validator(mode="after")
    def _each_task_once(self) -> Self:
        tasks = [task for group in self.groups.values() for task in group]
        if empty := [name for name, group in self.groups.items() if not group]:
            raise ValueError(f"groups: {', '.join(empty)} has no task")
        if twice := repeated(tasks):
            raise ValueError(f"groups: {', '.join(twice)} is in more than one group")
        if self.tasks is not None:
            raise ValueError("tasks: the board's tasks are those of its groups; leave tasks out")
        return self

    def over(self, tasks: Collection[str]) -> Self:
        """Return the board over some of its tasks, each in its group."""
        left = {name: [task for task in group if task in tasks] for name, group in self.groups.items()}
        return self.model_copy(update={"groups": {name: group for name, group in left.items() if group}})

    def groups_of_tasks(self, tasks: Sequence[Task]) -> Mapping[str, Collection[str]]:
        """Return its own groups."""
        return self.groups

    def weighable(self, tasks: Sequence[Task]) -> Collection[str]:
        """Return its groups."""
        return list(self.groups)

    def ranked_tasks(self) -> Collection[str]:
        """Return the tasks of all groups."""
        return [task for group in self.groups.values() for task in group]


def compute(manifest: Manifest, spec: GroupMean, scores: ScoreTable) -> BoardTables:
    """Compute the board and its pairwise table: the mean over groups of means over tasks, in the metric's unit.

    The direction is the metric's own. An entrant without a value on some task has a null score and no rank.
    Raises BoardUnavailable without rows on its tasks. Source: MTEB, its mean over task types.

    >>> from app.boards.example import benchmark, rows
    >>> board = GroupMean(name="main", method="group_mean", metric="error", groups={"x": ["a", "b"], "y": ["c"]})
    >>> [(row[1], round(row[2], 3)) for row in compute(benchmark(board), board, rows()).leaderboard.rows]
    [('Good', 0.225), ('Fair', 0.325), ('Poor', 0.8)]
    """
    grouped = spec.model_copy(update={"tasks": list(spec.ranked_tasks())})
    sheet = _by_group(spec, read_sheet(manifest, grouped, scores))
    sizes = _sizes(spec, sheet)
    shares = _shares(spec, list(sizes))
    weights = np.concatenate([np.full(n, sheet.n_tasks * shares[name] / n) for name, n in sizes.items()])
    sheet = replace(sheet, units=replace(sheet.units, weights=weights))
    worth = _worth(sizes, sheet.units)
    assumed = assumed_share(list(worth.values()), list(shares.values()))
    metric = manifest.metrics[spec.metric]
    sign = 1.0 if metric.direction == "maximize" else -1.0
    points = np.where(sheet.complete, sheet.better * weights[:, None], 0.0)
    weighted = Points(points, sheet.complete, _column(spec, metric), sign / sheet.n_tasks, _draw(spec, sizes),
                  tuple(_of_groups(metric, sheet, sizes)), tuple(_notes(sizes, shares)), list(sizes.values()),
                  {"groups": dict(sizes), **_untested(assumed, sheet.units)}, weights=weights, within=range_of(metric),
                  calibrated=_without(sheet) if assumed > MOST_ASSUMED
                  else _calibrated(spec, sheet, metric, sizes, shares),
                  of_pairs=tuple(_on_single(worth, assumed, sheet.units)))  # fmt: skip
    return assemble(spec, sheet, weighted)


def _untested(assumed: float, units: TaskUnits) -> Mapping[str, str]:
    one = "family" if units.are_declared else "task"
    why = f"most of the spread of the scores would be that of groups of one {one}, which shows none"
    return {UNTESTED: why} if assumed > MOST_ASSUMED else {}


def _calibrated(
    spec: GroupMean, sheet: Sheet, metric: Metric, sizes: Mapping[str, int], shares: Mapping[str, float]
) -> CellsAt:
    """Return the intervals: tasks vary within their group, as they are resampled; differences of groups are fixed."""
    values = np.where(sheet.complete, sheet.cells.values, np.nan)
    values = sheet.units.jackknifed_within(list(sizes.values()), values)
    weights = np.array([shares[name] for name in sizes])
    units = sheet.units
    family = None if units.are_tasks else units.place
    spread = partial(grouped_spread, sizes=list(sizes.values()), shares=weights, family=family)
    return task_intervals(values, range_of(metric), spec.uncertainty.level, spread=spread, units=units)


def _without(sheet: Sheet) -> CellsAt:
    """Return that there are no intervals, and why, of the complete."""
    without = CalibratedCells(None, None, GROUPS_OF_ONE, sheet.units.number())
    return lambda at: without if sheet.complete[at] else NOTHING


def _by_group(spec: GroupMean, sheet: Sheet) -> Sheet:
    """Return the sheet with its tasks group by group."""
    place = {task: at for at, task in enumerate(spec.ranked_tasks())}
    order = sorted(range(sheet.n_tasks), key=lambda at: place[sheet.cells.tasks[at]])
    cells = sheet.cells
    moved = replace(cells, tasks=tuple(cells.tasks[at] for at in order), values=cells.values[order],
                    leaked=cells.leaked[order], present=cells.present[order])  # fmt: skip
    return replace(sheet, cells=moved, better=sheet.better[order], weights=None, units=sheet.units.only(order))


def _sizes(spec: GroupMean, sheet: Sheet) -> dict[str, int]:
    """Return how many tasks of each group anybody has run; a group that nobody has run is left out for now."""
    run = set(sheet.cells.tasks)
    sizes = {name: len(run.intersection(tasks)) for name, tasks in spec.groups.items()}
    return {name: size for name, size in sizes.items() if size}


def _draw(spec: GroupMean, sizes: Mapping[str, int]) -> GroupResamples | None:
    drawn = spec.uncertainty
    if not drawn.n_resamples or max(sizes.values()) < MIN_DRAWN_UNITS:
        return None
    begin = partial(board_generator, drawn.rng_seed, spec.name, "tasks")
    return GroupResamples(list(sizes.values()), drawn.n_resamples, begin)


def _column(spec: GroupMean, metric: Metric) -> Column:
    title = f"Mean over groups of {metric.title or spec.metric}"
    return Column(f"group_mean_{spec.metric}", title, unit=metric.unit, direction=metric.direction,
                  glossary="group_mean", digits=3)  # fmt: skip


def _of_groups(metric: Metric, sheet: Sheet, sizes: Mapping[str, int]) -> Iterator[FrameField[int]]:
    """Yield a column for each group: the mean over its tasks, empty for an entrant that lacks one."""
    start = 0
    for name, size in sizes.items():
        means: FloatArray = np.asarray(sheet.cells.values[start : start + size].mean(axis=0))
        column = Column(f"mean:{name}", name, unit=metric.unit, direction=metric.direction, detail=True,
                        glossary="group_mean", digits=3)  # fmt: skip
        yield FrameField(column, cell_at(means))
        start += size


def _shares(spec: GroupMean, groups: Sequence[str]) -> dict[str, float]:
    """Return the weights of the groups, which sum to 1: equal unless a reader chose others."""
    chosen = spec.explored.weights if spec.explored else {}
    weights = {name: chosen.get(name, 1.0) for name in groups}
    return {name: weight / sum(weights.values()) for name, weight in weights.items()}


def _notes(sizes: Mapping[str, int], shares: Mapping[str, float]) -> Iterator[str]:
    listed = ", ".join(f"{name} ({size})" for name, size in sizes.items())
    if len(set(shares.values())) == 1:
        yield f"Groups, each counting the same: {listed}."
    else:
        yield f"Groups, with what each counts: {', '.join(f'{name} {100 * s:.3g} %' for name, s in shares.items())}."


def _on_single(worth: Mapping[str, float], assumed: float, units: TaskUnits) -> Iterator[str]:
    """Yield which groups are of one unit, which shows no chance, and what is said instead, and how wrong it may be.

    `worth` are the groups' effective numbers of units, `assumed` is the share of the variance that is such groups'.
    Source: the level of a normal test whose variance lacks three times the part that is assumed.
    """
    single = [name for name, number in worth.items() if number <= 1.0]
    if not single:
        return
    one = "family" if units.are_declared else "task"
    named = f"Groups of one {one} alone: {', '.join(single)}."
    if assumed > MOST_ASSUMED:
        yield (
            f"{named} One {one} shows no spread, and most of the spread of the scores would be that of such groups: "
            "there are no calibrated intervals and no ranges of ranks."
        )
        return
    wrong = 200.0 * float(ndtr(ndtri(0.025) / np.sqrt(1.0 + 3.0 * assumed)))
    yield (
        f"{named} These are taken to vary as {units.plural} within the other groups do: {100.0 * assumed:.0f} % of the "
        f"variance of a score, were all alike. If their standard deviation is twice that, two equals are told apart in "
        f"up to {wrong:.0f} of 100 cases, not 5."
    )


def _worth(sizes: Mapping[str, int], units: TaskUnits) -> dict[str, float]:
    """Return the effective number of units of each group."""
    parts = np.split(np.arange(len(units.names)), np.cumsum(list(sizes.values()))[:-1])
    return {name: units.only(at).number() for name, at in zip(sizes, parts, strict=True)}


METHOD = TableMethod(GroupMean, compute)
