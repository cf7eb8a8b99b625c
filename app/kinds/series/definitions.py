"""The values of one series by lrdbench's definitions, from an estimator's estimate and the truth.

Called by `app.kinds.series.recomputed`; pure. Source: lrdbench 2.0, `GroundTruthEvaluator._per_series_rows` and
`paired_metrics.stress_pair_rows`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.boards.methods.weighted_rank.identity import split_identity

OF_POINTS = frozenset({"bias", "mae", "rmse"})
OF_INTERVALS = frozenset({"coverage", "ci_width", "ci_availability"})
OF_NULLS = frozenset({"false_positive_lrd_rate", "persistence_exceedance_rate"})
FROM_ONE_ESTIMATE = OF_POINTS | OF_INTERVALS | OF_NULLS | {"validity_rate", "runtime"}
OF_DRIFT = frozenset({"estimate_drift", "absolute_estimate_drift"})
OF_LOSSES = frozenset({"coverage_collapse", "coverage_loss_rate", "net_coverage_loss"})
PAIRED = OF_DRIFT | OF_LOSSES | {
    "signed_estimate_drift", "absolute_error_inflation", "relative_degradation_ratio", "paired_mae_ratio",
    "validity_collapse",
}  # fmt: skip
DEFAULT_LEVEL = 0.95
LEVEL_TOLERANCE = 1e-9
NEAR_ZERO = 1e-12
MEMORY = "long_memory_parameter"
NULLS = {False: (0.6, 0.5), True: (0.1, 0.0)}
"""From which estimate on a series is called dependent, and up to which truth it is not; True for a memory parameter."""


@dataclass(frozen=True)
class Estimate:
    """An estimator's estimate of a record; `intervals` are (level, low, high)."""

    valid: bool
    point: float | None
    ends: tuple[float | None, float | None]
    intervals: Sequence[tuple[float, float, float]]
    runtime: float | None

    def usable(self) -> float | None:
        """Return the point of a valid estimate, None where there is none."""
        return self.point if self.valid and self.point is not None and np.isfinite(self.point) else None

    def interval(self, level: float) -> tuple[float, float] | None:
        """Return the interval at a level; the two plain ends are one at 95 %."""
        if self.usable() is None:
            return None
        for at, low, high in self.intervals:
            if abs(at - level) < LEVEL_TOLERANCE and low <= high:
                return low, high
        is_default = not self.intervals and abs(level - DEFAULT_LEVEL) < LEVEL_TOLERANCE
        first, last = self.ends
        return (first, last) if is_default and first is not None and last is not None and first <= last else None


def value_from(metric: str, estimate: Estimate, truth: float | None, estimand: str | None) -> tuple[bool, float | None]:
    """Return whether lrdbench has a row of the metric for an estimate, and its value, None for null."""
    name, level = split_identity(metric)
    if name in OF_POINTS:
        point = estimate.usable()
        error = None if point is None or truth is None else point - truth
        values = {
            "bias": error,
            "mae": None if error is None else abs(error),
            "rmse": None if error is None else error**2,
        }
        return truth is not None, values[name]
    if name in OF_INTERVALS:
        bounds = estimate.interval(DEFAULT_LEVEL if level is None else level)
        if name == "ci_availability":
            return True, float(bounds is not None)
        if name == "ci_width":
            return True, None if bounds is None else bounds[1] - bounds[0]
        covers = None if bounds is None or truth is None else float(bounds[0] <= truth <= bounds[1])
        return truth is not None, covers
    if name in OF_NULLS:
        return _called_dependent(estimate, truth, estimand)
    return True, float(estimate.valid) if name == "validity_rate" else float(estimate.runtime or 0.0)


def _called_dependent(estimate: Estimate, truth: float | None, estimand: str | None) -> tuple[bool, float | None]:
    called_from, null_upto = NULLS[estimand == MEMORY]
    if truth is None or truth > null_upto or not estimate.valid or estimate.point is None:
        return False, None
    return True, float(estimate.point >= called_from)


@dataclass(frozen=True)
class Pair:
    """An estimator's estimates of a series under stress and of the clean one, None where it has no estimate."""

    stressed: Estimate | None
    clean: Estimate | None
    truth: float | None

    def value(self, metric: str) -> float | None:
        """Return the value of a metric of stress, None for null."""
        name, level = split_identity(metric)
        if name == "validity_collapse":
            stressed, clean = self.stressed, self.clean
            return None if stressed is None or clean is None else float(clean.valid and not stressed.valid)
        points = self._points()
        if points is None:
            return None
        difference = points[0] - points[1]
        if name in OF_DRIFT or name == "signed_estimate_drift":
            return abs(difference) if name in OF_DRIFT else difference
        return self._loss(name, level) if name in OF_LOSSES else self._of_errors(name)

    def errors(self) -> tuple[float, float]:
        """Return the absolute errors under stress and on the clean series, NaN where there is no pair of points."""
        points = self._points()
        if points is None or self.truth is None:
            return float("nan"), float("nan")
        return abs(points[0] - self.truth), abs(points[1] - self.truth)

    def lacks_interval(self, metric: str) -> bool:
        """Say whether a metric of intervals is null because one of the two has none."""
        is_of_intervals = split_identity(metric)[0] in OF_LOSSES
        has_points = self._points() is not None and self.truth is not None
        return is_of_intervals and has_points and self.value(metric) is None

    def _points(self) -> tuple[float, float] | None:
        points = [None if each is None else each.usable() for each in (self.stressed, self.clean)]
        return None if points[0] is None or points[1] is None else (points[0], points[1])

    def _of_errors(self, name: str) -> float | None:
        stressed, clean = self.errors()
        if name == "absolute_error_inflation":
            inflation = stressed - clean
        elif name == "relative_degradation_ratio":
            inflation = stressed / clean if clean >= NEAR_ZERO else float("nan")
        else:
            return None
        return inflation if np.isfinite(inflation) else None

    def _loss(self, name: str, level: float | None) -> float | None:
        at = DEFAULT_LEVEL if level is None else level
        bounds = [None if each is None else each.interval(at) for each in (self.clean, self.stressed)]
        if self.truth is None or bounds[0] is None or bounds[1] is None:
            return None
        clean, stressed = (float(low <= self.truth <= high) for low, high in (bounds[0], bounds[1]))
        return clean - stressed if name == "net_coverage_loss" else max(0.0, clean - stressed)
