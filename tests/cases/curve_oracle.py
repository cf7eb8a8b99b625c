"""Metrics at a constraint by their definition, one curve at a time: what the product's are held against."""

import numpy as np

from app.stats.curves import ThresholdCurve


def metric_at(curve: ThresholdCurve, metric: str, given: str, at: float) -> tuple[float, float] | None:
    """Return a metric and its threshold where another one meets a constraint; None where no threshold does.

    Conservative and without interpolation, along ascending thresholds: the last point whose recall (or volume) is at
    least the constraint, the first whose precision is, the first whose false positive rate is at most it.
    """
    values = getattr(curve, given)
    meets = values <= at if given == "false_positive_rate" else values >= at
    found = np.flatnonzero(meets)
    if not curve.has_both or not len(found):
        return None
    place = int(found[-1] if given in ("recall", "volume") else found[0])
    return float(getattr(curve, metric)[place]), float(curve.threshold[place])
