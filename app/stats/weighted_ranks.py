"""Weighted ranks over components: points in exact fractions, replicates as arrays.

Called by `app.boards.methods.weighted_rank`; pure. Values are [n_entrants, n_components], smaller being better after
`oriented`; NaN is missing. Source: lrdbench 2.0, ranking rules 1 and 2.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from app.stats.arrays import FloatArray
from app.stats.checks import InvalidArgument, require_count, require_finite, require_number, require_shape


def average_ranks(values: FloatArray, n_enrolled: int) -> FloatArray:
    """Return the ranks along the entrants' axis, ties sharing their average rank; a missing value gets N + 1.

    `values` is [..., n_entrants, n_components]. An entrant's rank is 1, plus those below it, plus half of its ties. N
    is `n_enrolled`, which may exceed the number of rows, so that an estimator that has not reported improves nobody's
    rank. NaN is a missing value; infinite values are ordered. Ranks have the shape of the values.
    Raises InvalidArgument for values of fewer than two axes, and for `n_enrolled` below the number of entrants.
    Source: lrdbench 2.0, ranking rule 2; Kendall 1945 for tied ranks.

    >>> average_ranks(np.array([[0.1], [0.1], [np.nan]]), n_enrolled=4).tolist()
    [[1.5], [1.5], [5.0]]
    """
    if values.ndim < 2:
        raise InvalidArgument(f"values has the shape {values.shape}; expected [..., n_entrants, n_components]")
    require_count("n_enrolled", n_enrolled, least=values.shape[-2])
    n_entrants = values.shape[-2]
    ranks = np.empty(values.shape)
    for entrant in range(n_entrants):  # one entrant against all, so that no array is larger than `values`
        mine = values[..., entrant : entrant + 1, :]
        ranks[..., entrant, :] = 1.0 + (values < mine).sum(axis=-2) + 0.5 * ((values == mine).sum(axis=-2) - 1.0)
    ranks[np.isnan(values)] = n_enrolled + 1
    return ranks


def ordinal_ranks(values: FloatArray) -> FloatArray:
    """Return ranks 1, 2, 3, … by rule 1: ties in the order of the rows, which is that of the entrants' names.

    A missing value, NaN, is worst in either direction: it ranks last. Values and ranks are [n_entrants, n_components].
    Raises InvalidArgument unless values have two axes.
    Source: lrdbench 2.0, ranking rule 1.

    >>> ordinal_ranks(np.array([[0.1], [np.nan], [0.1]])).tolist()
    [[1.0], [3.0], [2.0]]
    """
    require_shape("values", values, "n_entrants", "n_components")
    ranks = np.empty(values.shape)
    for component in range(values.shape[1]):
        order = np.argsort(values[:, component], kind="stable")  # NaN sorts last
        ranks[order, component] = np.arange(1, len(values) + 1)
    return ranks


def exact_scores(ranks: FloatArray, weights: Sequence[float]) -> list[Fraction]:
    """Return each entrant's Σ weight × rank as an exact fraction, with weights read as decimals; lower is better.

    `ranks` is [n_entrants, n_components], with a weight for each component.
    Raises InvalidArgument for a number of weights other than n_components, and a rank or weight that is not finite.
    Source: lrdbench 2.0, its leaderboard score; exact, so that a tie is a tie.

    >>> exact_scores(np.array([[1.0, 2.5]]), [0.1, 0.9])
    [Fraction(47, 20)]
    """
    _require_weighted("ranks", ranks, weights)
    require_finite("ranks", ranks)
    exact = [Fraction(str(weight)) for weight in weights]
    return [
        sum((weight * Fraction(rank) for weight, rank in zip(exact, row, strict=True)), Fraction(0))
        for row in ranks.tolist()
    ]


def decided_by_name(values: FloatArray, weights: Sequence[float]) -> FloatArray:
    """Return, for each entrant, the share of the weight on components where it ties: what rule 1 decides by name.

    `values` is [n_entrants, n_components], with a weight for each component; two missing values, NaN, tie.
    Raises InvalidArgument for a number of weights other than n_components, and for one that is not finite.
    Source: lrdbench 2.0, ranking rule 1, which breaks ties by name.

    >>> decided_by_name(np.array([[0.1, 1.0], [0.1, 2.0]]), [0.75, 0.25]).tolist()
    [0.75, 0.75]
    """
    _require_weighted("values", values, weights)
    tied = np.zeros(values.shape, dtype=np.bool_)
    for component in range(values.shape[1]):
        column = values[:, component]
        same = (column[:, None] == column[None, :]) | (np.isnan(column)[:, None] & np.isnan(column)[None, :])
        tied[:, component] = same.sum(axis=1) > 1
    shares: FloatArray = tied.astype(np.float64) @ np.asarray(weights, dtype=np.float64)
    return shares


def _require_weighted(name: str, array: FloatArray, weights: Sequence[float]) -> None:
    require_shape(name, array, "n_entrants", len(weights))
    for weight in weights:
        require_number("weights", weight)
