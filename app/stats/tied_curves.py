"""What ties take from the area under precision by recall, where positives and negatives share a score.

Called by `app.kinds.predictions.weighted`; pure. A straight line across a tie is above what any order of the tied
examples gives: one that calls all of them at once would gain by having few scores. Where no tie is mixed nothing
changes. Scores are those of `app.stats.resampled_curves`, weightings [n_weightings, n_examples].
"""

import numpy as np

from app.stats.arrays import FloatArray, Weights
from app.stats.compiled import compiled
from app.stats.resampled_curves import Int32Array, SortedScores, require_weightings


def area_by_ties(scores: SortedScores, weights: Weights, area: FloatArray) -> FloatArray:
    """Return areas under precision by recall [n_weightings], within ties as hits and misses come in proportion.

    `area` is by straight lines, larger being better; NaN stays NaN.
    Raises InvalidArgument for weightings of fewer examples than the scores are of.
    Source: Davis & Goadrich 2006, The relationship between precision-recall and ROC curves, section 3.

    >>> from app.stats.resampled_curves import curve_areas, sort_scores
    >>> scores, weights = sort_scores(np.zeros(4), np.array([True, False, False, False])), np.ones((1, 4))
    >>> by_lines = curve_areas(scores, weights).precision_recall
    >>> by_lines.tolist(), area_by_ties(scores, weights, by_lines).tolist()
    ([0.625], [0.25])
    """
    require_weightings(scores, weights)
    if (scores.upto == scores.below).all():
        return area
    sums = np.zeros((2, len(weights)))
    compiled(_add_ties)(weights, scores.positive, scores.levels, scores.negative, scores.below, scores.upto, sums)
    with np.errstate(divide="ignore", invalid="ignore"):
        by_ties: FloatArray = area + sums[0] / sums[1]
    return np.where(np.isnan(area), np.nan, by_ties)


def _add_ties(
    weights: Weights,
    positive: Int32Array,
    levels: Int32Array,
    negative: Int32Array,
    below: Int32Array,
    upto: Int32Array,
    sums: FloatArray,
) -> None:
    """Add up, from the highest score to the lowest, what each mixed tie has beyond the line across it; and the hits.

    With t of t + f called rightly above it, a tie of g hits and m misses has ∫ (t + x) / (t + f + x (1 + m / g)) over
    x from 0 to g.
    """
    false = np.zeros(len(negative) + 1)
    for row in range(weights.shape[0]):
        for at in range(len(negative) - 1, -1, -1):
            false[at] = false[at + 1] + weights[row, negative[at]]
        true = 0.0
        for level in range(len(levels) - 2, -1, -1):
            gained = 0.0
            for at in range(levels[level], levels[level + 1]):
                gained += weights[row, positive[at]]
            called, missed = true + false[upto[level]], false[below[level]] - false[upto[level]]
            if gained > 0.0 and missed > 0.0:
                each = 1.0 + missed / gained
                line = (true / called if called > 0.0 else 1.0) + (true + gained) / (called + gained * each)
                bent = gained / each
                if called > 0.0:
                    bent += (true - called / each) / each * np.log1p(gained * each / called)
                sums[0, row] += bent - gained * line / 2.0
            true += gained
        sums[1, row] = true
