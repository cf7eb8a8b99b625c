"""Rankings within groups: NDCG, MRR, MAP and precision at one; pure.

`predicted` and `relevance` are [n_examples] with the groups' numbers in `groups`. A group whose ideal gain is zero
scores zero and stays in the mean. Source of the rules where several are in use: YDF 0.16.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class GroupScores:
    """The scores of each group, [n_groups]; a metric is their mean, and its bootstrap draws groups."""

    ndcg: FloatArray
    default_ndcg: FloatArray
    mrr: FloatArray
    average_precision: FloatArray
    precision_at_1: FloatArray


def score_groups(predicted: FloatArray, relevance: FloatArray, groups: IntArray, truncation: int = 5) -> GroupScores:
    """Return every group's scores at a truncation, groups in the order of their numbers.

    The gain is 2^relevance − 1, its discount 1 / log2(rank + 1), and gains are averaged over ties of the prediction.
    MRR and MAP take ties in the order of falling relevance, which is the best case.
    """
    order = np.lexsort((-relevance, -predicted, groups))
    ranked = _Ranked(relevance[order], *_places(groups[order]))
    discount = np.where(ranked.rank < truncation, 1.0 / np.log2(ranked.rank + 2.0), 0.0)
    gains = np.exp2(relevance) - 1.0
    best = gains[np.lexsort((-relevance, groups))]
    ideal = np.add.reduceat(best * discount, ranked.starts)
    reached = np.add.reduceat(_mean_over_ties(gains[order], predicted[order], ranked.starts) * discount, ranked.starts)
    default = np.add.reduceat(best, ranked.starts) / ranked.sizes * np.add.reduceat(discount, ranked.starts)
    hits = (ranked.relevance > 0) & (ranked.rank < truncation)
    return GroupScores(
        ndcg=_share(reached, ideal),
        default_ndcg=_share(default, ideal),
        mrr=_reciprocal_ranks(hits, ranked),
        average_precision=_average_precisions(hits, ranked),
        precision_at_1=_precisions_at_1(predicted, relevance, groups),
    )


@dataclass(frozen=True)
class _Ranked:
    """Examples by group and falling prediction: their relevance and rank from 0, and where each group begins."""

    relevance: FloatArray
    rank: IntArray
    starts: IntArray
    sizes: IntArray


def _places(groups: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the rank within its group of each of the sorted examples, and the groups' starts and sizes."""
    _, starts, sizes = np.unique(groups, return_index=True, return_counts=True)
    rank = np.arange(len(groups)) - np.repeat(starts, sizes)
    return rank, starts, sizes


def _mean_over_ties(gains: FloatArray, predicted: FloatArray, starts: IntArray) -> FloatArray:
    begins = np.concatenate([[True], predicted[1:] != predicted[:-1]])
    begins[starts] = True
    ties = np.flatnonzero(begins)
    sizes = np.diff(np.append(ties, len(gains)))
    means: FloatArray = np.repeat(np.add.reduceat(gains, ties) / sizes, sizes)
    return means


def _reciprocal_ranks(hits: BoolArray, ranked: _Ranked) -> FloatArray:
    first = np.minimum.reduceat(np.where(hits, ranked.rank + 1.0, np.inf), ranked.starts)
    reciprocal: FloatArray = 1.0 / first
    return reciprocal


def _average_precisions(hits: BoolArray, ranked: _Ranked) -> FloatArray:
    upto = np.cumsum(hits)
    within: IntArray = upto - np.repeat(upto[ranked.starts] - hits[ranked.starts], ranked.sizes)
    precision = np.where(hits, within / (ranked.rank + 1.0), 0.0)
    return _share(np.add.reduceat(precision, ranked.starts), np.add.reduceat(hits, ranked.starts, dtype=np.float64))


def _precisions_at_1(predicted: FloatArray, relevance: FloatArray, groups: IntArray) -> FloatArray:
    """Say of each group whether the first prediction is the most relevant example; among equals the first one counts.

    That is YDF's rule: an equally relevant example elsewhere in the group does not do.
    """
    order = np.argsort(groups, kind="stable")
    _, starts, sizes = _places(groups[order])
    is_same: BoolArray = _first_largest(predicted[order], starts, sizes) == _first_largest(
        relevance[order], starts, sizes
    )
    at_1: FloatArray = is_same.astype(np.float64)
    return at_1


def _first_largest(values: FloatArray, starts: IntArray, sizes: IntArray) -> IntArray:
    is_largest = values == np.repeat(np.maximum.reduceat(values, starts), sizes)
    first: IntArray = np.minimum.reduceat(np.where(is_largest, np.arange(len(values)), len(values)), starts)
    return first


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Return part / whole, and zero where the whole is: nothing to gain, and no hit, score nothing."""
    shares: FloatArray = np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
    return shares
