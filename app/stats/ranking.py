"""Rankings within groups: NDCG, MRR, MAP and precision at one; pure.

`predicted` and `relevance` are [n_examples] with the groups' numbers in `groups`. A group whose ideal gain is zero
scores zero and stays in the mean. Source of the rules where several are in use: YDF 0.16.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class GroupScores:
    """The scores of each group, [n_groups]; a metric is their mean, and its bootstrap draws groups."""

    ndcg: FloatArray
    default_ndcg: FloatArray
    mrr: FloatArray
    average_precision: FloatArray
    precision_at_1: FloatArray


def score_groups(predicted: FloatArray, relevance: FloatArray, groups: IntArray, truncation: int = 5) -> GroupScores:
    """Return every group's scores at a truncation.

    The gain is 2^relevance − 1, its discount 1 / log2(rank + 1), and gains are averaged over ties of the prediction.
    MRR and MAP take ties in the order of falling relevance, which is the best case.
    """
    order = np.argsort(groups, kind="stable")
    _, starts = np.unique(groups[order], return_index=True)
    parts = np.split(order, starts[1:])
    rows = [_score(predicted[part], relevance[part], truncation) for part in parts]
    return GroupScores(*np.array(rows, dtype=np.float64).T)


def _score(predicted: FloatArray, relevance: FloatArray, truncation: int) -> tuple[float, float, float, float, float]:
    gains = np.exp2(relevance) - 1.0
    discount = np.where(np.arange(len(gains)) < truncation, 1.0 / np.log2(np.arange(len(gains)) + 2.0), 0.0)
    ideal = float(np.sort(gains)[::-1] @ discount)
    reached = float(_gains_in_order(predicted, gains) @ discount)
    default = float(gains.mean() * discount.sum())
    ndcg, default_ndcg = (reached / ideal, default / ideal) if ideal > 0 else (0.0, 0.0)
    hits = relevance[np.lexsort((-relevance, -predicted))] > 0
    at_1 = _precision_at_1(predicted, relevance)
    return ndcg, default_ndcg, _mrr(hits, truncation), _average_precision(hits, truncation), at_1


def _gains_in_order(predicted: FloatArray, gains: FloatArray) -> FloatArray:
    """Return the gains by falling prediction, each tie's averaged over it."""
    _, place = np.unique(-predicted, return_inverse=True)
    means = np.bincount(place, gains) / np.bincount(place)
    return means[np.sort(place)]


def _mrr(hits: NDArray[np.bool_], truncation: int) -> float:
    first = np.flatnonzero(hits[:truncation])
    return 1.0 / float(first[0] + 1) if len(first) else 0.0


def _average_precision(hits: NDArray[np.bool_], truncation: int) -> float:
    at = np.flatnonzero(hits[:truncation])
    return float(np.mean((np.arange(len(at)) + 1) / (at + 1))) if len(at) else 0.0


def _precision_at_1(predicted: FloatArray, relevance: FloatArray) -> float:
    """Say whether the first prediction is the most relevant example; among equals the one that comes first counts.

    That is YDF's rule: an equally relevant example elsewhere in the group does not do.
    """
    return float(np.argmax(predicted) == np.argmax(relevance))
