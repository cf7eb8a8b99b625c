"""Per-series rows of a ScoreTable as groups: one estimator's values of one metric in one stratum, in evidence order.

Called by `.method` and `app.kinds.series.contract_tables`.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from app.boards.methods.weighted_rank.discrimination import CLASS_METRICS
from app.boards.methods.weighted_rank.identity import identity_of, split_identity
from app.stats.arrays import IntArray
from app.stats.strata import Aggregate, Group, Rule, aggregate_group, balance
from app.values.scores import Coded, ScoreTable

COVERAGE, COVERAGE_ERROR = "coverage", "coverage_error"
DIAGNOSTIC = "diagnostic"
# A row of the ratio has no value of its own: stressed and clean errors are averaged separately, then divided.
PAIRED_RATIO = "paired_mae_ratio"
PAIRED_ERRORS = ("stressed_absolute_error", "clean_absolute_error")
# Metrics whose stratum aggregate is not the mean of their rows; rows of rmse hold squared errors.
RULES: Mapping[str, Rule] = {
    "rmse": "root_mean_square",
    PAIRED_RATIO: "ratio",
    **dict.fromkeys(CLASS_METRICS, "scores"),
}
BY_SIZE = frozenset({"bias"})
"""The metric that ranks by its absolute value."""


def series_groups(scores: ScoreTable) -> list[Group]:
    """Return all groups in order of first appearance, values in the metric's unit.

    Each row lists in `recorded["metrics"]` the metrics it had, in the file's order; a listed metric that is NaN was
    null.
    Source: lrdbench 2.0, its per-series rows.

    >>> from app.boards.example import rows
    >>> [(g.estimator, g.stratum, g.values.tolist()) for g in series_groups(rows({"GPH": [0.1, 0.2]}, "mae"))]
    [('GPH', 'a', [0.1]), ('GPH', 'b', [0.2])]
    """
    if scores.item is None:
        return []
    rows: dict[tuple[int, str, int], list[int]] = {}
    metrics = _metric_lists(scores)
    entrants, tasks = scores.entrant.codes.tolist(), scores.task.codes.tolist()
    for at, (entrant, task) in enumerate(zip(entrants, tasks, strict=True)):
        for metric in metrics[at]:
            rows.setdefault((entrant, metric, task), []).append(at)
    return [
        _group(scores, scores.item, entrant, metric, task, np.array(at)) for (entrant, metric, task), at in rows.items()
    ]


def _metric_lists(scores: ScoreTable) -> list[Sequence[str]]:
    recorded = scores.recorded.get("metrics")
    if recorded is None:
        return [scores.columns] * len(scores)
    known = set(scores.columns)
    lists = [[metric for metric in words.split() if metric in known] for words in recorded.words]
    return [lists[code] if code >= 0 else [] for code in recorded.codes.tolist()]


def _group(scores: ScoreTable, item: Coded, entrant: int, metric: str, task: int, at: IntArray) -> Group:
    name, _ = split_identity(metric)
    rule = RULES.get(name, "mean")
    is_ratio = metric == PAIRED_RATIO and set(PAIRED_ERRORS) <= set(scores.columns)
    values = scores.value(PAIRED_ERRORS[0] if is_ratio else metric)[at]
    below = scores.value(PAIRED_ERRORS[1])[at] if is_ratio else None
    about = (scores.entrant.words[entrant], metric, scores.task.words[task])
    known = np.flatnonzero(~np.isnan(values))
    begins = int(at[known[0]]) if len(known) else len(scores)
    return Group(*about, values, item.codes[at], rule if is_ratio or rule != "ratio" else "mean", below, begins)


def stratum_aggregates(groups: Sequence[Group], metrics: Collection[str] | None = None) -> list[Aggregate]:
    """Return the aggregate of each group, then the coverage errors computed from the coverage aggregates.

    Coverage errors are limited to `metrics` unless that is None: lrdbench computes none that its manifest does not
    name. The order is lrdbench's, because it decides what the shared generator draws; a ratio comes last.
    Classification scores have no aggregate in a stratum.
    Source: lrdbench 2.0; `app.stats.strata.aggregate_group`.

    >>> from app.boards.example import rows
    >>> groups = series_groups(rows({"GPH": [0.5]}, "coverage@0.75"))
    >>> [(a.metric, a.value) for a in stratum_aggregates(groups)]
    [('coverage@0.75', 0.5), ('coverage_error@0.75', 0.25)]
    """
    aggregates = [aggregate_group(group) for group in groups if group.rule != "scores"]
    plain = [a for a in aggregates if a.metric != PAIRED_RATIO]
    errors = [error for error in _coverage_errors(plain) if metrics is None or error.metric in metrics]
    return [*plain, *errors, *(a for a in aggregates if a.metric == PAIRED_RATIO)]


def _coverage_errors(aggregates: Sequence[Aggregate]) -> Iterator[Aggregate]:
    for a in aggregates:
        name, level = split_identity(a.metric)
        if name == COVERAGE and level is not None:
            error = identity_of(COVERAGE_ERROR, level)
            yield Aggregate(a.estimator, error, a.stratum, abs(a.value - level), a.n_attempted, a.n_included)


def by_metric(aggregates: Sequence[Aggregate]) -> dict[tuple[str, str], list[Aggregate]]:
    """Return the stratum aggregates of each (estimator, metric), in order of appearance.

    Source: none; it groups.

    >>> list(by_metric([Aggregate("GPH", "mae", "n=128", 0.1, 1, 1)]))
    [('GPH', 'mae')]
    """
    of_metric: dict[tuple[str, str], list[Aggregate]] = {}
    for aggregate in aggregates:
        of_metric.setdefault((aggregate.estimator, aggregate.metric), []).append(aggregate)
    return of_metric


def balanced(aggregates: Sequence[Aggregate]) -> list[Aggregate]:
    """Return the mean over strata of each (estimator, metric). Source: `app.stats.strata.balance`.

    >>> parts = [Aggregate("GPH", "mae", stratum, value, 1, 1) for stratum, value in (("a", 0.1), ("b", 0.3))]
    >>> [a.value for a in balanced(parts)]
    [0.2]
    """
    return [balance(members) for members in by_metric(aggregates).values()]


def enrolled_estimators(scores: ScoreTable, enrolled: Sequence[str] | None) -> list[str]:
    """Return the estimators with rows, restricted to `enrolled` unless it is None.

    lrdbench's rows that compare several estimators have artificial names, which are left out.
    Source: lrdbench 2.0, the role `diagnostic` of its rows.

    >>> from app.boards.example import rows
    >>> enrolled_estimators(rows({"GPH": [0.1], "R/S": [0.2]}, "mae"), ["GPH", "DFA"])
    ['GPH']
    """
    role = scores.recorded.get("role")
    between = np.zeros(0, dtype=np.int64)
    if role is not None and DIAGNOSTIC in role.words:
        between = np.unique(scores.entrant.codes[role.codes == role.words.index(DIAGNOSTIC)])
    codes = np.setdiff1d(scores.entrant.codes, between)
    names = {scores.entrant.words[code] for code in codes.tolist()}
    return sorted(names if enrolled is None else names & set(enrolled))
