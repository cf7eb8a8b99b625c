"""The worst and best values of an estimator's components if the records it lacks had the worst or the best value.

Called by `.method`; pure.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from app.boards.methods.weighted_rank.coverage import CoveredMetric
from app.boards.methods.weighted_rank.records import HeldRecords
from app.manifest.manifest import Manifest
from app.stats.arrays import BoolArray
from app.stats.strata import Group

Ends = tuple[float, float]


def component_bounds(
    manifest: Manifest, held: HeldRecords, covered: Sequence[CoveredMetric], groups: Sequence[Group], name: str
) -> Mapping[str, Ends]:
    """Return the worst and best value of each metric that an estimator lacks records of; infinite without a bound.

    Values have the metric's own unit and direction.
    Raises ValueError for a name that is not a contender.
    Source: the mean over strata of means over records, monotone in each record.

    >>> from app.boards.example import benchmark, rows
    >>> from app.boards.methods.weighted_rank.groups import series_groups
    >>> from app.boards.methods.weighted_rank.records import held_records
    >>> from app.boards.methods.weighted_rank.coverage import covered_metrics
    >>> from app.boards.methods.weighted_rank.spec import WeightedRank
    >>> board = WeightedRank(name="m", method="weighted_rank", weights={"error": 1.0})
    >>> scores = rows({"A": [np.nan, 0.5]})
    >>> held, groups = held_records(scores, ("A",)), series_groups(scores)
    >>> covered = covered_metrics(benchmark(board), board, held, groups, np.full(3, np.nan))
    >>> component_bounds(benchmark(board), held, covered, groups, "A")
    {'error': (0.75, 0.25)}
    """
    at = held.contenders.index(name)
    own = [group for group in groups if group.estimator == name]
    return {
        metric.metric: _ends(manifest, held, metric, [g for g in own if g.metric == metric.metric], at)
        for metric in covered
        if metric.lacking(at).any()
    }


def _ends(manifest: Manifest, held: HeldRecords, metric: CoveredMetric, own: Sequence[Group], at: int) -> Ends:
    declared = manifest.metrics[metric.metric]
    sign = 1.0 if declared.direction == "minimize" else -1.0
    is_mean = all(group.rule == "mean" for group in own)
    lacking = metric.lacking(at)
    worst, best = (
        edge if end is None or not is_mean else _balanced(held, own, lacking, end)
        for end, edge in ((declared.worst, sign * np.inf), (declared.best, -sign * np.inf))
    )
    return worst, best


def _balanced(held: HeldRecords, own: Sequence[Group], lacking: BoolArray, value: float) -> float:
    """Return the mean over strata of means in which every lacking record has `value`."""
    missing: dict[str, int] = {}
    for record in np.flatnonzero(lacking).tolist():
        missing[held.strata[record]] = missing.get(held.strata[record], 0) + 1
    sums = dict(_sums(own))
    means = [
        (sums.get(stratum, (0.0, 0))[0] + value * missing.get(stratum, 0))
        / (sums.get(stratum, (0.0, 0))[1] + missing.get(stratum, 0))
        for stratum in dict.fromkeys([*sums, *missing])
    ]
    return float(np.mean(means))


def _sums(own: Sequence[Group]) -> Iterator[tuple[str, tuple[float, int]]]:
    for group in own:
        values = group.values[group.included]
        if len(values):
            yield group.stratum, (float(values.sum()), len(values))
