"""Weighted ranks over components: points in exact fractions, replicates as arrays.

Called by `app.leaderboards.weighted_rank`; pure. Values are [n_entrants, n_components], smaller being better after
`oriented`; NaN is missing. Source: lrdbench 2.0, ranking rules 1 and 2.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from app.stats.arrays import FloatArray


def average_ranks(values: FloatArray, n_enrolled: int) -> FloatArray:
    """Return the ranks along the entrants' axis, ties sharing their average rank; a missing value gets N + 1.

    `values` is [..., n_entrants, n_components]. An entrant's rank is 1, plus those below it, plus half of its ties.
    N is `n_enrolled`, who may be more than those with rows: an estimator that has not reported makes no rank better.
    """
    n_entrants = values.shape[-2]
    ranks = np.empty(values.shape)
    for entrant in range(n_entrants):  # one entrant against all: memory stays that of `values`
        mine = values[..., entrant : entrant + 1, :]
        ranks[..., entrant, :] = 1.0 + (values < mine).sum(axis=-2) + 0.5 * ((values == mine).sum(axis=-2) - 1.0)
    ranks[np.isnan(values)] = n_enrolled + 1
    return ranks


def ordinal_ranks(values: FloatArray) -> FloatArray:
    """Return ranks 1, 2, 3, … of rule 1: ties in the order of the entrants, which is that of their names.

    A missing value is worst whatever the direction: it comes after all that are there.
    """
    ranks = np.empty(values.shape)
    for component in range(values.shape[1]):
        order = np.argsort(values[:, component], kind="stable")  # NaN sorts last
        ranks[order, component] = np.arange(1, len(values) + 1)
    return ranks


def exact_scores(ranks: FloatArray, weights: Sequence[float]) -> list[Fraction]:
    """Return Σ weight × rank of each entrant in exact fractions of the weights as they are written."""
    exact = [Fraction(str(weight)) for weight in weights]
    return [
        sum((weight * Fraction(rank) for weight, rank in zip(exact, row, strict=True)), Fraction(0))
        for row in ranks.tolist()
    ]


def decided_by_name(values: FloatArray, weights: Sequence[float]) -> FloatArray:
    """Return, for each entrant, the share of the weight whose component it ties in: what rule 1 leaves to its name."""
    tied = np.zeros(values.shape, dtype=np.bool_)
    for component in range(values.shape[1]):
        column = values[:, component]
        same = (column[:, None] == column[None, :]) | (np.isnan(column)[:, None] & np.isnan(column)[None, :])
        tied[:, component] = same.sum(axis=1) > 1
    shares: FloatArray = tied.astype(np.float64) @ np.asarray(weights, dtype=np.float64)
    return shares
