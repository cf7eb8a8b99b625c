"""What a ranking is worth on average where ties of the prediction are broken at random; pure.

Called by `app.stats.ranking`. Groups are blocks of tied examples, from the largest prediction to the smallest. Whoever
predicts the same for every example gets what a random order gets, whatever order the examples came in.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

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

    `sizes`, `hits` and `best` are [n_blocks]: how many examples of a block of ties there are, are relevant, and are as
    relevant as any of the group; `blocks` [n_groups] is how many blocks each group has. Average precision is over the
    relevant examples among the first ranks, so a block that is cut there is averaged over how many fall inside.
    Raises InvalidArgument unless `truncation` is a whole number of at least 1, and for counts that are not whole.
    Source: McSherry & Najork 2008, Computing information retrieval performance measures efficiently in the presence of
    tied scores, equations 4 and 6; the cut block by the hypergeometric distribution.

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
    most = int(sizes.max(initial=0))
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, truncation + 1))])
    factorials = gammaln(np.arange(most + 1) + 1.0)
    compiled(_expect_precisions)(sizes, hits, blocks, truncation, harmonic, factorials, precisions)
    begins = np.cumsum(blocks) - blocks
    return TiedScores(reciprocal, precisions, best[begins] / sizes[begins])


def _expect_first_hits(
    sizes: IntArray, hits: IntArray, blocks: IntArray, truncation: int, expected: FloatArray
) -> None:
    """Add up one over each rank times the chance that the first relevant example has it."""
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
    sizes: IntArray,
    hits: IntArray,
    blocks: IntArray,
    truncation: int,
    harmonic: FloatArray,
    factorials: FloatArray,
    expected: FloatArray,
) -> None:
    """Add up the expected precision at the relevant examples of whole blocks, then average over the block that is cut.

    With n of m relevant at random ranks behind p others, f of them relevant, Σ over ranks of precision × relevance is
    n / m × ((f + 1) Σ 1 / rank + (n − 1) / (m − 1) × Σ (rank − p − 1) / rank).
    """
    end = 0
    for group in range(len(blocks)):
        at, end, passed, n_relevant, precisions = end, end + blocks[group], 0, 0, 0.0
        while at < end and passed + sizes[at] <= truncation:
            size, n_hits = sizes[at], hits[at]
            each = harmonic[passed + size] - harmonic[passed]
            further = (n_hits - 1) / max(size - 1, 1) * (size - (passed + 1) * each)
            precisions += n_hits / size * ((n_relevant + 1) * each + further)
            at, passed, n_relevant = at + 1, passed + size, n_relevant + n_hits
        expected[group] = precisions / max(n_relevant, 1)
        if at == end or passed == truncation:
            continue
        size, n_hits, inside = sizes[at], hits[at], truncation - passed
        each, expected[group] = harmonic[truncation] - harmonic[passed], 0.0
        for n in range(max(0, inside - size + n_hits), min(inside, n_hits) + 1):
            further = (n - 1) / max(inside - 1, 1) * (inside - (passed + 1) * each)
            within = n / inside * ((n_relevant + 1) * each + further)
            # The chance that n of the relevant ones are inside: hypergeometric.
            chance = factorials[n_hits] - factorials[n] - factorials[n_hits - n] - factorials[size]
            chance += factorials[size - n_hits] - factorials[inside - n] - factorials[size - n_hits - inside + n]
            chance += factorials[inside] + factorials[size - inside]
            expected[group] += np.exp(chance) * (precisions + within) / max(n_relevant + n, 1)
