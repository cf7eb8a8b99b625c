"""Expected ranking scores when ties between predictions are broken at random; pure.

Called by `app.stats.ranking`. A group is a sequence of blocks of tied examples, from the largest prediction to the
smallest. A constant prediction scores what a random order would, whatever order the examples are in.
"""

from dataclasses import dataclass

import numpy as np

from app.stats.arrays import FloatArray, IntArray
from app.stats.checks import require_count, require_integers, require_shape
from app.stats.compiled import compiled


@dataclass(frozen=True)
class TiedScores:
    """The expected scores of each group, [n_groups], within [0, 1], larger being better; 0 for a group without hits."""

    mrr: FloatArray
    average_precision: FloatArray
    precision_at_1: FloatArray


def tied_scores(sizes: IntArray, hits: IntArray, best: IntArray, blocks: IntArray, truncation: int) -> TiedScores:
    """Return the expected scores over all orders of the tied examples, of the first `truncation` ranks.

    `sizes`, `hits` and `best` are [n_blocks]: how many examples a block has, how many are relevant, and how many are
    the group's most relevant; `blocks` [n_groups] is each group's number of blocks. Average precision divides by the
    number of relevant examples that could be in the first ranks: one that falls outside them is a miss.
    Raises InvalidArgument unless `truncation` is a whole number of at least 1, and for counts that are not whole.
    Source: McSherry & Najork 2008, Computing information retrieval performance measures efficiently in the presence of
    tied scores, equations 4 and 6.

    >>> one = np.array([1])
    >>> scores = tied_scores(np.array([4]), one, one, one, 5)
    >>> (scores.mrr.round(4).tolist(), scores.average_precision.round(4).tolist(), scores.precision_at_1.tolist())
    ([0.5208], [0.5208], [0.25])
    """
    require_count("truncation", truncation)
    for name, counts in (("sizes", sizes), ("hits", hits), ("best", best), ("blocks", blocks)):
        require_integers(name, counts, low=0)
    for name, counts in (("hits", hits), ("best", best)):
        require_shape(name, counts, len(sizes))
    reciprocal, precisions = np.zeros(len(blocks)), np.zeros(len(blocks))
    compiled(_expect_first_hits)(sizes, hits, blocks, truncation, reciprocal)
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, truncation + 1))])
    compiled(_expect_precisions)(sizes, hits, blocks, truncation, harmonic, precisions)
    begins = np.cumsum(blocks) - blocks
    return TiedScores(reciprocal, precisions, best[begins] / sizes[begins])


def _expect_first_hits(
    sizes: IntArray, hits: IntArray, blocks: IntArray, truncation: int, expected: FloatArray
) -> None:
    """Sum, over ranks, 1 / rank times the probability that the first relevant example has that rank."""
    end = 0
    for group in range(len(blocks)):
        at, passed, end = end, 0, end + blocks[group]
        while at < end and hits[at] == 0:
            passed += sizes[at]
            at += 1
        if at == end:
            continue
        size, n_hits = sizes[at], hits[at]
        chance = n_hits / size
        for place in range(min(truncation - passed, size - n_hits + 1)):
            expected[group] += chance / (passed + place + 1)
            chance *= (size - place - n_hits) / max(size - place - 1, 1)


def _expect_precisions(
    sizes: IntArray, hits: IntArray, blocks: IntArray, truncation: int, harmonic: FloatArray, expected: FloatArray
) -> None:
    """Sum the expected precision at the relevant examples in the first ranks, over as many as could be there.

    With m relevant ones among s at random ranks behind p others, f of them relevant, Σ over the first n of these ranks
    of precision × relevance is m / s × ((f + 1) Σ 1 / rank + (m − 1) / (s − 1) × Σ (rank − p − 1) / rank).
    """
    end = 0
    for group in range(len(blocks)):
        at, end, passed, n_relevant = end, end + blocks[group], 0, 0
        while at < end:
            size, n_hits = sizes[at], hits[at]
            inside = max(min(size, truncation - passed), 0)
            each = harmonic[passed + inside] - harmonic[passed] if inside else 0.0
            further = (n_hits - 1) / max(size - 1, 1) * (inside - (passed + 1) * each)
            expected[group] += n_hits / size * ((n_relevant + 1) * each + further)
            at, passed, n_relevant = at + 1, passed + size, n_relevant + n_hits
        expected[group] /= max(min(n_relevant, truncation), 1)
