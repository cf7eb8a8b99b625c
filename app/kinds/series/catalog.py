"""The metrics of lrdbench 2.0: which way each is better, in which modes it may be used, whether it needs a truth.

Read by the modules beside it, to expand `metrics: {catalog: lrdbench, use: […]}` and to say how a metric is aggregated.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Mode = Literal["ground_truth", "stress_test", "observational"]

ALL: tuple[Mode, ...] = ("ground_truth", "stress_test", "observational")
KNOWN_TRUTH: tuple[Mode, ...] = ("ground_truth", "stress_test")
STRESS_ONLY: tuple[Mode, ...] = ("stress_test",)
GROUND_ONLY: tuple[Mode, ...] = ("ground_truth",)
OBSERVED_ONLY: tuple[Mode, ...] = ("observational",)


@dataclass(frozen=True)
class CatalogMetric:
    """One metric. `low` and `high` bound its per-series values; `has_level`: each nominal level is one of its own.

    `app.boards.methods.weighted_rank.groups` says how per-series values become a stratum's and what ranks by its size.
    `is_classification`: it is made of estimates of many records and has no rows of a single series. `diagnostic`: it
    measures something between estimators, under a made-up name.
    """

    title: str
    direction: Literal["minimize", "maximize"]
    modes: tuple[Mode, ...]
    needs_truth: bool = False
    has_level: bool = False
    low: float | None = None
    high: float | None = None
    unit: str | None = None
    is_classification: bool = False
    diagnostic: bool = False


def _error(title: str, modes: tuple[Mode, ...] = KNOWN_TRUTH) -> CatalogMetric:
    return CatalogMetric(title, "minimize", modes, needs_truth=True, low=0.0)


def _distance(title: str, modes: tuple[Mode, ...], *, diagnostic: bool = False) -> CatalogMetric:
    return CatalogMetric(title, "minimize", modes, low=0.0, diagnostic=diagnostic)


def _rate(
    title: str,
    modes: tuple[Mode, ...],
    *,
    better_high: bool = False,
    needs_truth: bool = False,
    has_level: bool = False,
) -> CatalogMetric:
    direction: Literal["minimize", "maximize"] = "maximize" if better_high else "minimize"
    return CatalogMetric(title, direction, modes, needs_truth, has_level, 0.0, 1.0, "1")


def _classification(title: str, *, better_high: bool = True) -> CatalogMetric:
    direction: Literal["minimize", "maximize"] = "maximize" if better_high else "minimize"
    return CatalogMetric(title, direction, GROUND_ONLY, True, False, 0.0, 1.0, "1", is_classification=True)


CATALOG: Mapping[str, CatalogMetric] = {
    "bias": CatalogMetric("Bias", "minimize", KNOWN_TRUTH, needs_truth=True),
    "mae": _error("Mean absolute error"),
    "rmse": _error("Root mean squared error"),
    "coverage": _rate("Coverage", KNOWN_TRUTH, better_high=True, needs_truth=True, has_level=True),
    "coverage_error": CatalogMetric("Coverage error", "minimize", KNOWN_TRUTH, True, True, 0.0, 1.0, "1"),
    "ci_width": CatalogMetric("Interval width", "minimize", ALL, has_level=True, low=0.0),
    "ci_availability": _rate("Intervals available", ALL, better_high=True, has_level=True),
    "validity_rate": _rate("Validity rate", ALL, better_high=True),
    "runtime": CatalogMetric("Run time", "minimize", ALL, low=0.0, unit="s"),
    "instability": _distance("Instability", OBSERVED_ONLY),
    "preprocessing_sensitivity": _distance("Preprocessing sensitivity", OBSERVED_ONLY),
    "estimate_drift": _distance("Estimate drift", STRESS_ONLY),
    "absolute_estimate_drift": _distance("Absolute estimate drift", STRESS_ONLY),
    "signed_estimate_drift": CatalogMetric("Signed estimate drift", "minimize", STRESS_ONLY),
    "correction_drift": _distance("Correction drift", KNOWN_TRUTH),
    "correction_degradation_ratio": _error("Correction degradation ratio"),
    "oracle_gap": CatalogMetric("Gap to the oracle", "minimize", KNOWN_TRUTH, needs_truth=True),
    "relative_degradation_ratio": _error("Relative degradation ratio", STRESS_ONLY),
    "absolute_error_inflation": CatalogMetric("Error inflation", "minimize", STRESS_ONLY, needs_truth=True),
    "paired_mae_ratio": _error("Ratio of paired mean absolute errors", STRESS_ONLY),
    "validity_collapse": _rate("Validity collapse", STRESS_ONLY),
    "coverage_collapse": _rate("Coverage collapse", STRESS_ONLY, needs_truth=True, has_level=True),
    "coverage_loss_rate": _rate("Coverage loss rate", STRESS_ONLY, needs_truth=True, has_level=True),
    "net_coverage_loss": CatalogMetric("Net coverage loss", "minimize", STRESS_ONLY, True, True, -1.0, 1.0, "1"),
    "false_positive_lrd_rate": _rate("False positive rate of long-range dependence", KNOWN_TRUTH, needs_truth=True),
    "persistence_exceedance_rate": _rate("Rate of exceeded persistence", KNOWN_TRUTH, needs_truth=True),
    "roc_auc": _classification("Area under the ROC curve"),
    "balanced_accuracy": _classification("Balanced accuracy"),
    "true_positive_rate": _classification("True positive rate"),
    "false_positive_rate": _classification("False positive rate", better_high=False),
    "cross_estimator_dispersion": _distance("Dispersion between estimators", ALL, diagnostic=True),
    "pairwise_estimator_disagreement": _distance("Disagreement of two estimators", ALL, diagnostic=True),
    "family_level_disagreement": _distance("Disagreement of families", ALL, diagnostic=True),
    "parameter_variant_sensitivity": _distance("Sensitivity to parameters", ALL, diagnostic=True),
    "max_variant_drift": _distance("Largest drift between variants", ALL, diagnostic=True),
}
