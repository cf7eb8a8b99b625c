"""Intervals hold the truth about as often as they say, by simulation."""

from functools import partial

import pytest

from bench.coverage import simulate_coverage
from bench.coverage_predictions import manifest_of, simulate_classes, simulate_values, true_metrics
from bench.coverage_predictions import simulate_coverage as simulate_predictions


@pytest.mark.slow
def test_the_cluster_interval_holds_the_truth_where_the_pooled_one_does_not() -> None:
    """Sixteen seeds that differ by 0.15: about 95 of 100 against about 60 (500 data sets, ±2 points)."""
    cluster, pooled = simulate_coverage(16, 0.15, n_datasets=500)

    assert cluster == pytest.approx(0.95, abs=0.04)
    assert pooled < 0.7


@pytest.mark.slow
def test_intervals_of_predictions_hold_the_truth_as_the_published_table_says() -> None:
    """AUC 0.75, 200 examples (500 data sets, ±2 points); YDF's interval says 90 %."""
    held = simulate_predictions(
        manifest_of("classification", "accuracy, auc, pr_auc"),
        partial(simulate_classes, 0.75, 200),
        true_metrics(0.75),
        range(500),
    )

    assert held.pop(("accuracy", "acc_ci_ydf")) == pytest.approx(0.91, abs=0.035)
    assert len(held) == 9
    assert all(share == pytest.approx(0.945, abs=0.035) for share in held.values())


@pytest.mark.slow
def test_the_chi_squared_interval_fails_where_residuals_are_not_normal() -> None:
    """Exact for normal residuals, at any number of examples; false for heavier tails, where [B] is nearer."""
    values = manifest_of("regression", "rmse")
    normal = simulate_predictions(values, partial(simulate_values, None, 50), {"rmse": 1.0}, range(500))
    heavy = simulate_predictions(values, partial(simulate_values, 5, 200), {"rmse": 1.0}, range(500))

    assert normal["rmse", "X2"] == pytest.approx(0.955, abs=0.035)
    assert heavy["rmse", "X2"] < 0.85 < heavy["rmse", "B"]
