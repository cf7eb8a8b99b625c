"""Pairs the rows of the two sides of a claim. Called by `app.boards.claims`; pure."""

import numpy as np

from app.stats.arrays import BoolArray, IntArray
from app.stats.paired import Pairs, match_pairs
from app.values.scores import NONE, ScoreTable


def pair_rows(metric: str, scores: ScoreTable, sides: tuple[BoolArray, ...], *, with_condition: bool) -> Pairs:
    """Return the differences of one metric between the rows of two sides, each side a mask of the rows [n_rows].

    Partners have the same task, seed and item, and with `with_condition` the same condition. Differences are first
    minus second in the metric's unit; a row without a value, NaN, has no partner.
    Raises KeyError for a metric that the rows do not have. Source: `app.stats.paired.match_pairs`.

    >>> from app.boards.example import rows
    >>> table = rows({"A": [3.0, 5.0, np.nan], "B": [1.0, 1.0, 1.0]})
    >>> pair_rows("error", table, (table.entrant.codes == 0, table.entrant.codes == 1), with_condition=True).difference
    array([2., 4.])
    """
    keys, clusters = _keys(scores, with_condition=with_condition)
    values = scores.value(metric)
    first, second = (np.flatnonzero(side & ~np.isnan(values)) for side in sides)
    return match_pairs(values[first], keys[first], values[second], keys[second], clusters)


def _keys(scores: ScoreTable, *, with_condition: bool) -> tuple[IntArray, IntArray]:
    """Return each row's pairing key as a number, and the cluster of each key."""
    nothing = np.full(len(scores), NONE, dtype=np.int64)
    condition = scores.condition.codes if with_condition and scores.condition is not None else nothing
    seed = nothing if scores.seed is None else scores.seed
    item = nothing if scores.item is None else scores.item.codes
    columns = np.column_stack([scores.task.codes, condition, seed, item])
    distinct, keys = np.unique(columns, axis=0, return_inverse=True)
    cluster = distinct[:, 0] if scores.seed is None else distinct[:, 2]
    return keys.reshape(-1).astype(np.int64), cluster
