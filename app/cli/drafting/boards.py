"""The boards of a drafted benchmark. Called by `app.cli.drafting.draft`; pure."""

import re
from collections.abc import Sequence

from app.cli.drafting.metrics import MetricGuess
from app.cli.drafting.roles import Roles, task_groups
from app.cli.drafting.sheet import Sheet
from app.cli.drafting.written import commented, flow_list, scalar

FEW_TASKS = 5
MAX_BOARDS = 10


def board_lines(sheet: Sheet, roles: Roles, metrics: Sequence[MetricGuess], kind: str) -> list[str]:
    """Return the lines of the boards that suit the rows: estimates of items, or averages over tasks."""
    if kind == "episodes":
        return _estimate(metrics)
    first, *others = metrics[:MAX_BOARDS]
    lines = [*_mean(first, "mean"), *_group_mean(sheet, roles, first), *_borda(sheet, roles, first)]
    return [*lines, *[line for metric in others for line in _mean(metric, _slug(f"mean-{metric.name}"))]]


def _estimate(metrics: Sequence[MetricGuess]) -> list[str]:
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


def _mean(metric: MetricGuess, name: str) -> list[str]:
    about = "the average over tasks; who lacks one stands apart without a rank"
    return [commented(f"  - {{name: {name}, method: mean, metric: {metric.name}, missing: drop}}", about)]


def _group_mean(sheet: Sheet, roles: Roles, metric: MetricGuess) -> list[str]:
    grouping = next(task_groups(sheet, roles), None)
    if grouping is None:
        return []
    column, of = grouping
    groups: dict[str, list[str]] = {}
    for task in sorted(of):
        groups.setdefault(of[task], []).append(task)
    return [
        f"  - name: {_slug(f'mean-{column}')}",
        commented("    method: group_mean", f"the mean over groups of tasks, each {column} counting the same"),
        f"    metric: {metric.name}",
        "    groups:",
        *[f"      {scalar(name)}: {flow_list(groups[name], '        ')}" for name in sorted(groups)],
    ]


def _borda(sheet: Sheet, roles: Roles, metric: MetricGuess) -> list[str]:
    if roles.task is None or len(sheet.columns[roles.task].words) < FEW_TASKS:
        return []
    about = "points for everybody ranked behind, task by task; an absent task gives none"
    return [commented(f"  - {{name: borda, method: borda, metric: {metric.name}}}", about)]


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:63].strip("-") or "board"
