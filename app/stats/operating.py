"""The operating point of a classifier on its threshold curve: at a threshold, or where a constraint is just met.

Called by `app.kinds.predictions.operating`; pure. Metrics at a constraint are computed by the same rules in
`app.stats.resampled_calls`.
"""

import numpy as np

from app.stats.arrays import FloatArray
from app.stats.checks import require_number, require_shape, require_word
from app.stats.resampled_curves import ROUNDING

GIVEN = ("recall", "volume", "precision", "fpr")


def place_where(given: str, values: FloatArray, at: float) -> int | None:
    """Return the index on a curve of ascending thresholds where the constraint on `given` is met, or None.

    `values` [n_thresholds] holds the constrained share at each threshold. For a recall or volume of at least `at` it is
    the last index, the highest threshold; for a precision of at least `at`, or a false positive rate of at most `at`,
    the first.
    Raises InvalidArgument for any other `given`, and for `at` outside [0, 1].
    Source: YDF 0.16, metrics at a constraint, conservative and without interpolation.

    >>> place_where("recall", np.array([1.0, 0.5, 0.0]), 0.4), place_where("fpr", np.array([1.0, 0.5, 0.0]), 0.6)
    (1, 1)
    """
    require_word("given", given, GIVEN)
    require_number("at", at, 0.0, 1.0)
    require_shape("values", values, "n_thresholds")
    meets = values <= at + ROUNDING if given == "fpr" else values >= at - ROUNDING
    places = np.flatnonzero(meets)
    if not len(places):
        return None
    return int(places[-1] if given in ("recall", "volume") else places[0])


def place_of(thresholds: FloatArray, at: float) -> int:
    """Return the index on a curve of the threshold that predicts positive from the score `at` on.

    `thresholds` [n_thresholds] ascend from −∞, in the unit of the scores; scores above a threshold are predicted
    positive.
    Raises InvalidArgument for `at` that is not finite.
    Source: the convention of `app.stats.curves`.

    >>> place_of(np.array([-np.inf, 0.2, 0.5, 0.7]), 0.5)
    1
    """
    require_shape("thresholds", thresholds, "n_thresholds")
    require_number("at", at)
    return max(0, int(np.searchsorted(thresholds, at, side="left")) - 1)
