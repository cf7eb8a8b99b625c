"""Resampled examples, and threshold curves under many weightings: against one curve at a time, and by their laws."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, chisquare

from app.stats.arrays import BoolArray, FloatArray
from app.stats.curve_bands import SUMS_NEAR, flag_sums, map_resamples, weighted_sums
from app.stats.curves import (
    at_recall,
    count_calls,
    curve_areas,
    precision_at_volume,
    recall_at,
    sort_scores,
    sort_volume,
    threshold_curve,
)
from tests.cases.curve_oracle import average_precision, metric_at, precision_recall_area, roc_area


def drawn(n_examples: int, n_resamples: int, **options: Any) -> NDArray[np.uint8]:
    """Return every count of one stream."""
    rng = np.random.default_rng(3)
    return np.concatenate(list(map_resamples(lambda counts: counts, n_examples, n_resamples, rng, **options)))


@pytest.mark.parametrize("n_examples", [1, 7, 999, 1000, 1001, 5003])
def test_every_resample_draws_as_many_as_there_are(n_examples: int) -> None:
    """Whether examples are drawn one by one or by Poisson counts that are topped up."""
    assert (drawn(n_examples, 50).sum(axis=1, dtype=int) == n_examples).all()


@pytest.mark.parametrize("n_examples", [10, 1001])
@pytest.mark.parametrize("batch_cells", [1, 3003, 7007])
def test_the_batch_does_not_change_the_draws(n_examples: int, batch_cells: int) -> None:
    """Memory is not another number."""
    assert (drawn(n_examples, 20, batch_cells=batch_cells) == drawn(n_examples, 20)).all()


@pytest.mark.parametrize("n_examples", [50, 1200])
def test_counts_are_binomial(n_examples: int) -> None:
    """One example's count is binomial(n, 1/n): on either side of the limit, over examples and resamples."""
    counts = drawn(n_examples, 600_000 // n_examples)
    seen = np.bincount(np.minimum(counts[:, ::7].ravel(), 4), minlength=5)
    law = binom(n_examples, 1 / n_examples)
    expected = np.array([*law.pmf(np.arange(4)), law.sf(3)]) * seen.sum()

    assert chisquare(seen, expected).pvalue > 1e-4


def test_counts_of_two_examples_depend_on_each_other_as_the_multinomial_says() -> None:
    """Their covariance is −1/n, seen in the variance of a half's total: n/4, where independent counts had n/2."""
    totals = drawn(1500, 4000)[:, :750].sum(axis=1, dtype=np.float64)

    assert totals.var() == pytest.approx(1500 / 4, rel=0.1)


def test_a_resample_drawn_in_full_is_right_too() -> None:
    """Without a margin half of the rows have more Poisson counts than examples, and are drawn one by one."""
    counts = drawn(1500, 4000, margin=0.0)

    assert (counts.sum(axis=1, dtype=int) == 1500).all()
    assert counts[:, :750].sum(axis=1, dtype=np.float64).var() == pytest.approx(1500 / 4, rel=0.1)


AREAS = {"roc": roc_area, "precision_recall": precision_recall_area, "average_precision": average_precision}


def sample(seed: int) -> tuple[FloatArray, BoolArray, NDArray[np.uint8] | FloatArray]:
    """Return scores with ties, classes and five weightings: counts for odd seeds, real weights for even ones."""
    rng = np.random.default_rng(seed)
    n_examples = int(rng.integers(3, 40))
    scores = rng.integers(0, rng.integers(2, 60), n_examples).astype(np.float64)
    is_positive = rng.random(n_examples) < 0.4
    if seed % 2:
        return scores, is_positive, rng.integers(0, 4, size=(5, n_examples)).astype(np.uint8)
    return scores, is_positive, rng.random((5, n_examples)) * (rng.random((5, n_examples)) < 0.7)


def none_as_nan(value: float | None) -> float:
    """Return NaN for what one curve calls None."""
    return float("nan") if value is None else value


SEEDS = range(40)


@pytest.mark.parametrize("area", AREAS)
def test_areas_are_those_of_one_curve_at_a_time(area: str) -> None:
    """Every weighting at once is every weighting alone, with ties and with weightings of one class only."""
    for seed in SEEDS:
        scores, is_positive, weights = sample(seed)
        actual = getattr(curve_areas(sort_scores(scores, is_positive), weights), area)
        curves = [threshold_curve(scores, is_positive, row.astype(float)) for row in weights]
        expected = [none_as_nan(AREAS[area](curve)) for curve in curves]

        assert actual == pytest.approx(expected, abs=1e-9, nan_ok=True), seed


@pytest.mark.parametrize("at", [0.0, 0.01, 0.5, 0.8, 1.0])
def test_constrained_metrics_are_those_of_one_curve_at_a_time(at: float) -> None:
    """All five pairs of a metric and a constraint."""
    for seed in SEEDS:
        scores, is_positive, weights = sample(seed)
        curves = [threshold_curve(scores, is_positive, row.astype(float)) for row in weights]
        for (metric, given), values in constrained(scores, is_positive, weights, at).items():
            alone = [
                none_as_nan(each and each[0]) for each in (metric_at(curve, metric, given, at) for curve in curves)
            ]
            assert values == pytest.approx(alone, abs=1e-9, nan_ok=True), (metric, given, seed)


def constrained(
    scores: FloatArray, is_positive: BoolArray, weights: NDArray[Any], at: float
) -> dict[tuple[str, str], FloatArray]:
    """Return each metric under each constraint, under all weightings at once."""
    calls = count_calls(sort_scores(scores, is_positive), weights)
    return {
        ("precision", "recall"): at_recall(calls, "precision", at),
        ("false_positive_rate", "recall"): at_recall(calls, "fpr", at),
        ("recall", "precision"): recall_at(calls, "precision", at),
        ("recall", "false_positive_rate"): recall_at(calls, "fpr", at),
        ("precision", "volume"): precision_at_volume(sort_volume(scores, is_positive), weights, at),
    }


def test_a_class_that_weighs_next_to_nothing_has_no_area() -> None:
    """Products of weights that are too small become zero: no number comes of them, and no division by zero."""
    scores, is_positive = np.array([1.0, 2.0, 3.0, 4.0]), np.array([False, True, False, True])
    sorted_scores = sort_scores(scores, is_positive)
    pairs = curve_areas(sorted_scores, np.full((1, 4), 1e-200))
    denormal = curve_areas(sorted_scores, np.where(is_positive, 5e-324, 1.0)[None, :])

    assert np.isnan(pairs.roc).all()
    assert pairs.average_precision == pytest.approx([0.75])
    assert all(
        np.isnan(actual).all() for actual in (denormal.roc, denormal.precision_recall, denormal.average_precision)
    )


def test_pooled_scores_take_the_weight_of_their_example() -> None:
    """Two classes pooled are every example twice, each time with its own weight."""
    scores, is_positive = np.array([0.2, 0.8, 0.6, 0.4]), np.array([False, True, True, False])
    weights = np.array([[2, 1]], dtype=np.uint8)
    pooled = sort_scores(scores, is_positive, example=np.array([0, 0, 1, 1]))
    doubled = np.array([[2, 2, 1, 1]], dtype=np.uint8)

    assert curve_areas(pooled, weights).roc == curve_areas(sort_scores(scores, is_positive), doubled).roc


@pytest.mark.parametrize("n_examples", [1, SUMS_NEAR - 1, SUMS_NEAR, 2 * SUMS_NEAR + 3])
def test_sums_under_counts_are_the_matrix_product(n_examples: int) -> None:
    """Counts are read as bytes, a stretch of examples at a time; weights that are no counts go the plain way."""
    rng = np.random.default_rng(n_examples)
    counts = rng.poisson(1.0, (5, n_examples)).astype(np.uint8)
    values = rng.normal(size=(3, n_examples))
    flags = values > 0.0

    for weights in (counts, counts * 0.5):
        assert weighted_sums(weights, values) == pytest.approx(weights @ values.T, rel=1e-12, abs=1e-9)
        assert (flag_sums(weights, flags) == weights.astype(float) @ flags.T).all()


def test_a_value_that_is_not_a_number_shows() -> None:
    """Adding several parts of a sum at once does not lose it."""
    values = np.array([[1.0, np.nan, 2.0], [1.0, np.inf, 2.0]])

    actual = weighted_sums(np.ones((1, 3), dtype=np.uint8), values)

    assert np.isnan(actual[0, 0])
    assert np.isinf(actual[0, 1])
