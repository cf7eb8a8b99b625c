"""Replicates of one entrant's score on a task, drawn by the names of its seeds and episodes: what ranks rest on.

Called by `app.kinds.episodes.measure`. Two entrants that ran the same seeds and episodes of a task are weighed alike
there; seeds of other names are independent, whatever their position. Bounds of a row are drawn elsewhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.boards.methods.estimate.spec import Statistic
from app.boards.spread import MIN_UNITS, Precision, pooled
from app.manifest.uncertainty import Uncertainty
from app.stats.aggregate import Interval, weighted_trimmed_mean
from app.stats.arrays import FloatArray
from app.stats.interval import percentile_interval
from app.stats.named_draws import nested_sums, unit_keys, unit_sums
from app.values.scores import ScoreTable

TRIMMED = 0.25


@dataclass(frozen=True)
class DrawnScore:
    """Replicates [n_resamples] of a score in its own unit, and how much they rest on."""

    replicates: FloatArray
    precision: Precision


def draw_by_name(
    scores: ScoreTable, metric: str, rows: NDArray[np.intp], drawn: Uncertainty, *, statistic: Statistic
) -> DrawnScore | None:
    """Return the replicates of a metric over some rows, those without a value left out; None with fewer than two seeds.

    The seed of a task and condition is weighed, then its episodes; seeds of one episode each are weighed once.
    """
    values = scores.value(metric)
    rows = rows[~np.isnan(values[rows])]
    if scores.seed is None or not drawn.n_resamples:
        return None
    clusters = [(scores.task.at(at) or "", _condition(scores, at), str(scores.seed[at])) for at in rows.tolist()]
    names = sorted(set(clusters))
    if len(names) < MIN_UNITS or len(set(scores.seed[rows].tolist())) < MIN_UNITS:
        return None
    place = {name: at for at, name in enumerate(names)}
    items = [(*name, _item(scores, at)) for name, at in zip(clusters, rows.tolist(), strict=True)]
    distinct, of_value = np.unique(values[rows], return_inverse=True)
    # In the order of their keys, so that the order of an upload does not even change the rounding of sums.
    keys = unit_keys(drawn.rng_seed, items)
    order = np.argsort(keys, kind="stable")
    of_value = of_value.reshape(-1)[order]
    cluster = np.array([place[name] for name in clusters])[order]
    if len(names) == len(rows):
        weights = unit_sums(unit_keys(drawn.rng_seed, names)[cluster], of_value, drawn.n_resamples)
    else:
        seeds = unit_keys(drawn.rng_seed, names)
        weights = nested_sums(seeds, keys[order], cluster, of_value, drawn.n_resamples)
    cut = int(len(rows) * TRIMMED) / len(rows) if statistic == "iqm" else 0.0
    n_seeds = len(set(scores.seed[rows].tolist()))
    return DrawnScore(weighted_trimmed_mean(distinct, weights, cut), Precision.of_units(n_seeds))


def averaged(drawn: Sequence[DrawnScore | None], weights: FloatArray) -> DrawnScore | None:
    """Return the weighted mean over tasks, which are drawn independently; None where one has no replicates."""
    known = [each for each in drawn if each is not None]
    if not known or len(known) < len(drawn):
        return None
    shares = weights / weights.sum()
    replicates = [each.replicates for each in known]
    precision = pooled(shares, replicates, [each.precision for each in known])
    return DrawnScore(np.column_stack(replicates) @ shares, precision)


def _condition(scores: ScoreTable, at: int) -> str:
    return "" if scores.condition is None else scores.condition.at(at) or ""


def _item(scores: ScoreTable, at: int) -> str:
    return "" if scores.item is None else scores.item.at(at) or ""


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
