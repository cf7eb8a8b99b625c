"""Replicates of one entrant's score on a task, drawn by the names of its seeds and episodes, for rank intervals.

Called by `app.kinds.episodes.measure`. Two entrants with the same seeds and episodes of a task get the same weights
there; seeds with different names are independent, whatever their position. A seed has the same weight in every
condition and task that it was run in, because its quality affects all of them. Intervals of scores are drawn elsewhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.boards.methods.estimate.spec import Statistic
from app.boards.spread import MIN_UNITS, Precision, pooled
from app.manifest.uncertainty import Uncertainty
from app.stats.aggregate import Interval, weighted_trimmed_mean
from app.stats.arrays import FloatArray, IntArray
from app.stats.interval import percentile_interval
from app.stats.named_draws import nested_sums, unit_keys, unit_sums
from app.values.scores import Coded, ScoreTable

TRIMMED = 0.25


@dataclass(frozen=True)
class DrawnScore:
    """Replicates [n_resamples] of a score in its own unit, their precision, and the keys of their seeds, [n_seeds]."""

    replicates: FloatArray
    precision: Precision
    seeds: IntArray


def draw_by_name(
    scores: ScoreTable, metric: str, rows: NDArray[np.intp], drawn: Uncertainty, *, statistic: Statistic
) -> DrawnScore | None:
    """Return the replicates of a metric over some rows, those without a value left out; None with fewer than two seeds.

    The seed is weighed, then its episodes; seeds of one episode each are weighed once.
    """
    values = scores.value(metric)
    rows = rows[~np.isnan(values[rows])]
    if scores.seed is None or not drawn.n_resamples:
        return None
    seeds, cluster = np.unique(scores.seed[rows], return_inverse=True)
    if len(seeds) < MIN_UNITS:
        return None
    items = _episodes(scores, rows)
    distinct, of_value = np.unique(values[rows], return_inverse=True)
    # In the order of their keys, so that the order of an upload does not even change the rounding of sums.
    keys = unit_keys(drawn.rng_seed, items)
    order = np.argsort(keys, kind="stable")
    of_value, cluster = of_value.reshape(-1)[order], cluster.reshape(-1)[order]
    of_seeds = unit_keys(drawn.rng_seed, [(str(seed),) for seed in seeds.tolist()])
    if len(seeds) == len(rows):
        weights = unit_sums(of_seeds[cluster], of_value, drawn.n_resamples)
    else:
        weights = nested_sums(of_seeds, keys[order], cluster, of_value, drawn.n_resamples)
    cut = int(len(rows) * TRIMMED) / len(rows) if statistic == "iqm" else 0.0
    replicates = weighted_trimmed_mean(distinct, weights, cut)
    return DrawnScore(replicates, Precision.of_units(len(seeds)), seeds)


def averaged(drawn: Sequence[DrawnScore | None], weights: FloatArray) -> DrawnScore | None:
    """Return the weighted mean over tasks, alike where they share seeds; None where one has no replicates."""
    known = [each for each in drawn if each is not None]
    if not known or len(known) < len(drawn):
        return None
    shares = weights / weights.sum()
    replicates = [each.replicates for each in known]
    apart = pooled(shares, replicates, [each.precision for each in known])
    seeds = np.concatenate([each.seeds for each in known])
    return DrawnScore(np.column_stack(replicates) @ shares, _of_seeds(seeds, apart), np.unique(seeds))


def _of_seeds(seeds: IntArray, apart: Precision) -> Precision:
    """Return the precision of an average over tasks from the seeds of each and the precision without shared seeds.

    It has no more degrees of freedom than distinct seeds, and no more than tasks without shared seeds.
    """
    n_distinct = len(np.unique(seeds))
    if n_distinct == len(seeds):
        return apart
    joint = Precision.of_units(n_distinct)
    return Precision(min(apart.freedom, joint.freedom), max(apart.inflation, joint.inflation))


def _episodes(scores: ScoreTable, rows: NDArray[np.intp]) -> list[tuple[str, ...]]:
    """Return the name of the episode of each row: its task, condition, seed and item."""
    seeds = [""] * len(rows) if scores.seed is None else list(map(str, scores.seed[rows].tolist()))
    task, condition, item = (_words(of, rows) for of in (scores.task, scores.condition, scores.item))
    return list(zip(task, condition, seeds, item, strict=True))


def _words(coded: Coded | None, rows: NDArray[np.intp]) -> list[str]:
    return [""] * len(rows) if coded is None else [word or "" for word in coded.take(rows).to_list()]


def average_intervals(intervals: Sequence[Interval], weights: FloatArray, level: float) -> Interval:
    """Average independent tasks: points, and replicates one by one; without any spread there is no interval."""
    if len(intervals) == 1:
        return intervals[0]
    point = float(np.dot([interval.point for interval in intervals], weights))
    drawn = [interval.replicates for interval in intervals if interval.replicates is not None]
    if len(drawn) < len(intervals):
        reason = next(interval.reason for interval in intervals if interval.replicates is None)
        return Interval(point, None, None, reason, False, None)
    replicates = np.column_stack(drawn) @ weights
    low, high = percentile_interval(replicates[:, None], level)
    return Interval(point, float(low[0]), float(high[0]), None, all(i.is_degenerate for i in intervals), replicates)
