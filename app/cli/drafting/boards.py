"""The boards of a drafted benchmark. Called by `app.cli.drafting.writers`; pure."""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from app.cli.drafting.metrics import MetricGuess
from app.cli.drafting.roles import Roles, task_groups
from app.cli.drafting.sheet import Sheet
from app.cli.drafting.written import commented, flow_list, scalar

FEW_TASKS = 5
MAX_BOARDS = 10


def average_lines(sheet: Sheet, roles: Roles, metrics: Sequence[MetricGuess]) -> list[str]:
    """Return the lines of the boards that suit rows of tasks: averages over tasks, and over their groups."""
    first, *others = metrics[:MAX_BOARDS]
    lines = [*_mean(sheet, roles, first, "mean"), *_group_mean(sheet, roles, first), *_borda(sheet, roles, first)]
    return [*lines, *[line for each in others for line in _mean(sheet, roles, each, _slug(f"mean-{each.name}"))]]


def estimate_lines(metrics: Sequence[MetricGuess]) -> list[str]:
    """Return the lines of the board that suits rows of items: an estimate of each metric, ranked by the first."""
    first = metrics[0]
    is_share = (first.low, first.high) == (0.0, 1.0)
    statistic = ("mean", "of 0 and 1: a share") if is_share else ("iqm", "the interquartile mean; or mean")
    return [
        f"  - name: {_slug(first.name)}",
        commented("    method: estimate", "each entrant's own score with its interval, ranked with rank sets"),
        f"    metrics: {flow_list([metric.name for metric in metrics], '      ')}",
        commented(f"    rank_by: {first.name}", "the others are shown beside it"),
        commented(f"    statistic: {statistic[0]}", statistic[1]),
    ]


def tasks_with(sheet: Sheet, roles: Roles, metric: MetricGuess) -> list[str] | None:
    """Return the tasks that have a metric, where others have none of it; None where all have it."""
    if roles.task is None:
        return None
    task, numbers = sheet.columns[roles.task], sheet.columns[metric.column].numbers
    if numbers is None:
        return None
    having = {task.words[code] for code in task.codes[np.isfinite(numbers)].tolist() if code >= 0}
    return sorted(having) if 0 < len(having) < len(task.words) else None


def _mean(sheet: Sheet, roles: Roles, metric: MetricGuess, name: str) -> list[str]:
    about = "the average over tasks; an entrant that lacks one is listed separately, without a rank"
    keys = {"name": name, "method": "mean", "metric": metric.name, "missing": "drop"}
    return _board(keys, about, tasks_with(sheet, roles, metric))


def _board(keys: Mapping[str, str], about: str, tasks: Sequence[str] | None) -> list[str]:
    """Return a board in one line, or with the tasks that it is over in several."""
    if tasks is None:
        return [commented(f"  - {{{', '.join(f'{key}: {value}' for key, value in keys.items())}}}", about)]
    (key, name), *rest = keys.items()
    lines = [f"    {key}: {value}" for key, value in rest]
    listed = commented(f"    tasks: {flow_list(tasks, '      ')}", "the others have no such metric")
    return [commented(f"  - {key}: {name}", about), *lines, listed]


def _group_mean(sheet: Sheet, roles: Roles, metric: MetricGuess) -> list[str]:
    grouping = next(task_groups(sheet, roles), None)
    if grouping is None:
        return []
    column, of = grouping
    groups: dict[str, list[str]] = {}
    for task in tasks_with(sheet, roles, metric) or sorted(of):
        groups.setdefault(of[task], []).append(task)
    return [
        f"  - name: {_slug(f'mean-{column}')}",
        commented("    method: group_mean", f"the mean over groups of tasks, each {column} counting the same"),
        f"    metric: {metric.name}",
        "    groups:",
        *[f"      {scalar(name)}: {flow_list(groups[name], '        ')}" for name in sorted(groups)],
    ]


def _borda(sheet: Sheet, roles: Roles, metric: MetricGuess) -> list[str]:
    tasks = tasks_with(sheet, roles, metric)
    if roles.task is None or len(tasks or sheet.columns[roles.task].words) < FEW_TASKS:
        return []
    about = "points for everybody ranked behind, task by task; an absent task gives none"
    return _board({"name": "borda", "method": "borda", "metric": metric.name}, about, tasks)


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:63].strip("-") or "board"
