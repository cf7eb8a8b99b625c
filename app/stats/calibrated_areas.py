"""Calibrated intervals of metrics that are not means: the area under a ROC curve, and root mean squares; pure.

Called when predictions are measured. Arrays are [n_examples]; only the proportions of weights matter.
"""

import numpy as np

from app.stats.arrays import BoolArray, FloatArray, IntArray
from app.stats.calibrated import ALL_EQUAL, TOO_FEW_UNITS, Calibrated
from app.stats.calibrated_forms import Ends, root_mean_square
from app.stats.checks import (
    InvalidArgument,
    require_finite,
    require_level,
    require_number,
    require_shape,
    require_weights,
    require_within,
)
from app.stats.resampled_curves import Int32Array
from app.stats.spreads import MOST_WEIGHTED, Spread, mean_spread, spread_of

CHI_SQUARED = "chi2_neff"


def area_spread(
    scores: FloatArray, is_positive: BoolArray, weights: FloatArray, by_fall: Int32Array | None = None
) -> Spread:
    """Return the spread of the area under the ROC curve of scores [n_examples], larger meaning more likely positive.

    `n_units`, which decides the interval of a perfect area, is the effective size of the smaller class; the error is
    never less than that of a proportion over all examples. Each example's contribution to the error is enlarged by its
    own leverage on the area, and the degrees of freedom count effective examples: both matter where a few examples
    carry most of the weight. `by_fall` [n_examples] is the order of the examples by falling score where it is known
    already; of unequal weights the last digit depends on the order of examples with the same score.
    Raises InvalidArgument for arrays of different lengths, scores that are not finite, negative weights, and a class
    without weight.
    Source: DeLong, DeLong & Clarke-Pearson 1988, equations 3 to 6, with weights; MacKinnon & White 1985, HC2, for the
    leverage; the smallest error was chosen by `bench.interval_coverage`.

    >>> spread = area_spread(np.array([0.1, 0.4, 0.3, 0.8]), np.array([False, False, True, True]), np.ones(4))
    >>> float(spread.point), round(float(spread.error), 4), float(spread.n_units)
    (0.75, 0.3536, 2.0)
    """
    require_shape("scores", scores, "[n_examples]")
    require_finite("scores", scores)
    require_shape("is_positive", is_positive, len(scores))
    require_shape("weights", weights, len(scores))
    require_weights("weights", weights)
    if by_fall is not None:
        require_shape("by_fall", by_fall, len(scores))
    order = np.argsort(scores, kind="stable") if by_fall is None else by_fall[::-1]
    positive, negative = (_Weighted(scores, weights, order[mask[order]]) for mask in (is_positive, ~is_positive))
    won, lost = positive.share_below(negative), 1.0 - negative.share_below(positive)
    area = float(positive.shares @ won)
    error = float(np.sqrt(positive.variance(won, area) + negative.variance(lost, area)))
    fewest = min(positive.kish, negative.kish)
    least = float(np.sqrt(max(area * (1.0 - area), 0.0) / (positive.kish + negative.kish)))
    free = np.count_nonzero(weights) - 2.0
    return spread_of(area, error, 0.0, fewest, max(min(free, 1.0), positive.kish + negative.kish - 2.0), least)


class _Weighted:
    """One class: its sorted scores, its weights as shares of their total, and its effective number of examples."""

    def __init__(self, scores: FloatArray, weights: FloatArray, examples: Int32Array | IntArray) -> None:
        self.scores, mine = scores[examples], weights[examples]
        if not mine.sum() > 0:
            raise InvalidArgument("weights of a class are all zero; expected one above it at least in both")
        self.shares: FloatArray = mine / mine.max() / (mine / mine.max()).sum()
        self.kish = float(1.0 / (self.shares**2).sum())
        self._upto = np.concatenate([[0.0], np.cumsum(self.shares)])

    def share_below(self, other: "_Weighted") -> FloatArray:
        """Return, for each score, the share of the other class below it, ties counting half."""
        below = other._upto[np.searchsorted(other.scores, self.scores, side="left")]
        upto = other._upto[np.searchsorted(other.scores, self.scores, side="right")]
        shares: FloatArray = (below + upto) / 2.0
        return shares

    def variance(self, placed: FloatArray, area: float) -> float:
        """Return the variance that the class contributes; NaN where it is effectively a single example."""
        if self.kish <= 1.0 + 1e-9:
            return 0.0
        squared = float(((self.shares * (placed - area)) ** 2 / (1.0 - self.shares)).sum())
        return squared if squared > 1e-26 else 0.0


def root_mean_squares(squares: FloatArray, weights: FloatArray | None, level: float) -> Ends:
    """Return the ends [...] of intervals for the root of the mean of `squares` [..., n_units], in the unit of the root.

    NaN with fewer than two units, and where all squares are zero.
    Raises InvalidArgument for a level outside (0, 1), a negative square, and as `mean_spread` does.
    Source: `app.stats.calibrated_forms.root_mean_square`.

    >>> [round(float(end), 3) for end in root_mean_squares(np.array([1.0, 4.0, 1.0, 0.0, 4.0]), None, 0.95)]
    [0.774, 3.822]
    """
    require_level(level)
    require_within("squares", squares, 0.0, np.inf)
    spread = mean_spread(squares, weights)
    low, high = root_mean_square(spread.point, spread.believed, np.maximum(spread.n_units, 1.0 + 1e-9), level)
    is_none = spread.df < 1
    return np.where(is_none, np.nan, low), np.where(is_none, np.nan, high)


def calibrated_root_mean_square(squares: FloatArray, weights: FloatArray | None, level: float) -> Calibrated:
    """Return the interval for the root mean square of `squares` [n_examples]; none below two units or if all are zero.

    Raises InvalidArgument as `root_mean_squares` does.
    Source: `root_mean_squares`.

    >>> calibrated_root_mean_square(np.zeros(3), None, 0.95).reason
    'all_equal'
    """
    require_shape("squares", squares, "[n_examples]")
    low, high = (float(end) for end in root_mean_squares(squares, weights, level))
    spread = mean_spread(squares, weights)
    n_units = float(spread.n_units)
    if np.isnan(low) or np.isnan(high):
        return Calibrated(None, None, None, n_units, TOO_FEW_UNITS if spread.df < 1 else ALL_EQUAL)
    return Calibrated(low, high, CHI_SQUARED, n_units)


def replicate_spread(point: float, replicates: FloatArray, n_units: float, *, is_share: bool) -> Spread:
    """Return the spread of a metric whose standard error has no closed form, from its replicates [n_resamples].

    The bootstrap's variance has divisor n; it is rescaled to n − 1. NaN replicates are left out. The error of a share
    (`is_share`) is never less than that of independent units, MOST_WEIGHTED times as many.
    Raises InvalidArgument for fewer than one unit.
    Source: Hesterberg 2004, Unbiasing the bootstrap: bootknife sampling vs. smoothing, section 2.

    >>> spread = replicate_spread(0.5, np.array([0.4, 0.6]), 5.0, is_share=True)
    >>> round(float(spread.error), 4), round(float(spread.least), 4)
    (0.1118, 0.189)
    """
    require_number("n_units", n_units, 1.0)
    known = replicates[~np.isnan(replicates)]
    variance = float(known.var()) * (n_units / (n_units - 1.0) if n_units > 1.0 else 1.0)
    least = np.sqrt(max(point * (1.0 - point), 0.0) / (MOST_WEIGHTED * n_units)) if is_share else 0.0
    cubed = float(known.var() ** 1.5)  # zero below a spread of about 1e-108, where no skewness can be estimated
    skewness = float(((known - known.mean()) ** 3).mean() / cubed) if cubed > 0 else 0.0
    return spread_of(point, float(np.sqrt(variance)), skewness, n_units, max(n_units - 1.0, 1.0), float(least))
