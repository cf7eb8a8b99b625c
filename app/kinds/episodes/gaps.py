"""The gap of an axis: how much less an entrant scores in the counted condition than in the reference condition.

Called by `app.kinds.episodes.measure`; pure. Episodes of the two conditions are paired by seed and item, as claims
pair them; the cluster of a difference is its seed.
"""

from dataclasses import dataclass

import numpy as np

from app.boards.calibrated import range_of
from app.boards.claim_pairs import pair_rows
from app.kinds.episodes.board_rows import BoardRows
from app.kinds.episodes.calibrated import SeedScores, mean_over_tasks, plain_mean
from app.stats.calibrated import Calibrated
from app.stats.spreads import Range


@dataclass(frozen=True)
class Gap:
    """A mean paired difference in the metric's unit with its calibrated interval, over so many pairs."""

    point: float | None = None
    interval: Calibrated | None = None
    n_pairs: int = 0


NO_GAP = Gap()


def gap_of(rows: BoardRows, task: str) -> Gap:
    """Return the gap of a task of a composite, in the metric that ranks; nothing without a pair.

    It is the reference condition minus the counted one.
    """
    composite, metric = rows.spec.composite, rows.spec.ranked
    if composite is None or task not in composite.against or rows.scores.condition is None:
        return NO_GAP
    names = (composite.against[task], composite.conditions[task])
    sides = (rows.in_condition(task, names[0]), rows.in_condition(task, names[1]))
    pairs = pair_rows(metric, rows.scores, sides, with_condition=False)
    if not len(pairs.difference):
        return NO_GAP
    within = range_of(rows.manifest.metrics[metric])
    width = within.high - within.low
    differences, level = [SeedScores(pairs.difference, pairs.cluster)], rows.spec.uncertainty.level
    interval = mean_over_tasks(differences, np.ones(1), plain_mean(Range(-width, width)), level)
    return Gap(float(pairs.difference.mean()), interval, len(pairs.difference))
