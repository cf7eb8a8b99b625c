"""Statistics against their definition, item by item: ratios, ties, single units and what nothing is known of."""

import numpy as np
import pytest
from scipy.special import ndtri
from sklearn.metrics import average_precision_score, roc_auc_score

from app.stats.arrays import FloatArray, InvalidArgument, require_integers
from app.stats.calibrated import chi_squared, clopper_pearson_ydf, effective_number, hanley_mcneil, root_mean_square
from app.stats.cluster import profile_area
from app.stats.curve_bands import map_resamples
from app.stats.curves import (
    at_recall,
    count_calls,
    curve_areas,
    precision_at_volume,
    recall_at,
    root_mean_squares,
    sort_scores,
    sort_volume,
    threshold_curve,
)
from app.stats.pairs import compare_pairs, compare_wins
from app.stats.predictions import conditional_mean, in_bin, normal_quantiles, reliability
from app.stats.resample import Resamples, competition_ranks
from app.stats.spreads import Spread, averaged_spread, mean_spread
from app.stats.strata import Group, resample_ratio
from tests.cases.curve_oracle import average_precision, metric_at, precision_recall_area

NAN = float("nan")
TIED = np.array([[0.1, 0.1, 0.3], [0.2, 0.2, 0.2], [0.3, 0.4, 0.1], [0.5, 0.5, 0.5], [0.2, 0.1, 0.4]])
"""Errors of three entrants on five tasks, with ties in most of them."""


def resamples() -> Resamples:
    """Return resamples of the five tasks."""
    return Resamples(5, 200, lambda: np.random.default_rng(4))


def test_a_ratio_is_drawn_by_its_records() -> None:
    """The same records above and below, one resample after the other."""
    above, below = np.array([1.0, 2.0, NAN, 4.0]), np.array([2.0, 1.0, 1.0, 5.0])
    group = Group("A", "r", "s", above, np.arange(4), "ratio", below)
    drawn = np.random.default_rng(2).integers(0, 3, size=(6, 3))
    kept = [0, 1, 3]
    expected = [np.mean([above[kept[at]] for at in row]) / np.mean([below[kept[at]] for at in row]) for row in drawn]

    assert resample_ratio(group, 6, np.random.default_rng(2)).tolist() == pytest.approx(expected)


def test_a_ratio_over_nothing_is_unknown_in_that_resample_alone() -> None:
    """Where only records of a clean error of zero were drawn."""
    group = Group("A", "r", "s", np.ones(2), np.arange(2), "ratio", np.array([0.0, 2.0]))
    drawn = np.random.default_rng(5).integers(0, 2, size=(40, 2))
    actual = resample_ratio(group, 40, np.random.default_rng(5))

    assert np.isnan(actual).tolist() == (drawn == 0).all(axis=1).tolist()
    assert set(actual[~np.isnan(actual)].tolist()) == {0.5, 1.0}


@pytest.mark.parametrize("compare", [
    lambda: compare_wins(-TIED, resamples(), level=0.9),
    lambda: compare_pairs(TIED, resamples(), clip=(0.01, 100.0), level=0.9),
], ids=["wins", "ratios"])  # fmt: skip
def test_win_rates_of_a_pair_sum_to_one_with_ties(compare) -> None:  # type: ignore[no-untyped-def]
    """A tie is half a win for either, in the points and in every resample."""
    actual = compare()
    by_hand = [
        [np.mean((TIED[:, a] < TIED[:, b]) + 0.5 * (TIED[:, a] == TIED[:, b])) for b in range(3)] for a in range(3)
    ]

    assert actual.win_rate == pytest.approx(np.array(by_hand))
    assert actual.win_rate_low + actual.win_rate_high.T == pytest.approx(np.ones((3, 3)))
    assert ((actual.win_rate_low <= actual.win_rate) & (actual.win_rate <= actual.win_rate_high)).all()


def test_scores_just_beyond_a_tie_are_ranked_apart() -> None:
    """Larger is better, and the difference of a millionth is one."""
    assert competition_ranks(np.array([1.0, 1.0 - 1e-6, 1.0])).tolist() == [1, 3, 1]


def test_the_ends_of_errors_that_vanish_are_unknown_numbers() -> None:
    """NaN in an array of numbers, beside those that are known."""
    low, high = root_mean_squares(np.array([[0.0], [1.0]]), None, 0.95)

    assert (low.dtype, high.dtype) == (np.float64, np.float64)
    assert np.isnan(low).all()


def test_equal_values_have_exactly_their_value_as_mean_whatever_does_not_count() -> None:
    """A sum of shares of 0.1 is another number by rounding; a unit of weight zero takes no part."""
    values = np.array([0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 7.0])
    weights = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0])

    assert float(mean_spread(values, weights).point) == 0.1
    assert float((values * weights / weights.sum()).sum()) != 0.1


def test_what_is_refused_is_named_by_the_parameter() -> None:
    """With what is allowed, and no end where there is none."""
    rng = np.random.default_rng(1)
    with pytest.raises(InvalidArgument, match=r"^margin is -1\.0; expected"):
        map_resamples(lambda counts: counts, 3, 4, rng, margin=-1.0)
    with pytest.raises(InvalidArgument, match=r"^shares has the shape \(3,\); expected \[n_resamples, 2\]$"):
        profile_area(np.array([0.0, 1.0]), np.zeros(3))
    with pytest.raises(InvalidArgument, match=r"expected whole numbers from 0$"):
        require_integers("labels", np.array([-1]), 0)
    with pytest.raises(InvalidArgument, match=r"^records .* expected whole numbers"):
        Group("A", "mae", "s", np.zeros(2), np.array([0.0, 0.5]))  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match=r"^example .* expected whole numbers from 0$"):
        sort_scores(np.array([0.1, 0.9]), np.array([False, True]), np.array([0, -1], dtype=np.int32))


def test_the_skewness_of_an_average_is_that_of_the_sum_of_its_parts() -> None:
    """Cumulants of independent parts add up, in whatever unit: parts of very different sizes, in metres and in mm."""
    weights, errors, skewness = np.array([0.7, 0.2, 0.1]), np.array([0.1, 2.0, 30.0]), np.array([1.0, -0.5, 2.0])
    third, second = ((weights * errors) ** 3 * skewness).sum(), ((weights * errors) ** 2).sum()
    few, none = np.full(3, 9.0), np.zeros(3)
    of_each = [
        averaged_spread(Spread(none, unit * errors, skewness, few, few, none), weights) for unit in (1.0, 1000.0)
    ]

    assert [float(each.skewness) for each in of_each] == pytest.approx([third / second**1.5] * 2)
    assert float(of_each[1].error) == pytest.approx(1000.0 * second**0.5)


def test_a_share_of_none_and_an_area_of_one_class_have_the_ends_that_are_defined() -> None:
    """None of ten right may be a share of zero; with no negative there is no area to be sure of."""
    low, high = clopper_pearson_ydf(0, 10) or (None, None)

    assert (low, high) == (0.0, pytest.approx(1.0 - 0.05**0.1))
    assert hanley_mcneil(0.8, 20, 0, 0.95) is hanley_mcneil(0.8, 0, 20, 0.95) is None


def test_a_value_too_far_from_the_bins_for_a_number_is_in_the_last_one() -> None:
    """The quotient overflows: that is no warning, and the largest bin is right."""
    assert in_bin(np.array([0.0, 1e-9]), np.array([1e300, -1e300]), 2).tolist() == [1, 0]


def test_an_error_without_examples_has_no_interval() -> None:
    """Nothing is known of it, not even a number that is none."""
    assert chi_squared(1.0, 0, 0.95) is None


RNG = np.random.default_rng(8)
TIED_SCORES, ARE_POSITIVE = RNG.integers(0, 9, 60) / 8, RNG.random(60) < 0.4
COUNTS = RNG.integers(0, 4, (40, 60)).astype(np.uint8)


@pytest.mark.parametrize("weights", [COUNTS, COUNTS * 0.75], ids=["counts", "weights"])
def test_the_areas_of_a_curve_are_those_of_its_weighted_examples(weights: FloatArray) -> None:
    """scikit-learn's area and average precision, YDF's average precision and the straight lines, the most right."""
    areas = curve_areas(sort_scores(TIED_SCORES, ARE_POSITIVE), weights)
    drawn = [threshold_curve(TIED_SCORES, ARE_POSITIVE, row.astype(np.float64)) for row in weights]

    def of(score) -> list[float]:  # type: ignore[no-untyped-def]
        return [score(ARE_POSITIVE, TIED_SCORES, sample_weight=row) for row in weights]

    assert areas.roc.tolist() == pytest.approx(of(roc_auc_score))
    assert areas.average_precision_after.tolist() == pytest.approx(of(average_precision_score))
    assert areas.average_precision.tolist() == pytest.approx([average_precision(curve) for curve in drawn])
    assert areas.precision_recall.tolist() == pytest.approx([precision_recall_area(curve) for curve in drawn])
    assert (areas.most_right / areas.total).tolist() == pytest.approx([curve.accuracy.max() for curve in drawn])
    assert areas.total.tolist() == pytest.approx(weights.sum(axis=1).tolist())


@pytest.mark.parametrize("weights", [COUNTS, COUNTS * 0.75], ids=["counts", "weights"])
@pytest.mark.parametrize("at", [0.0, 0.1, 0.5, 0.75, 0.99, 1.0])
def test_a_metric_at_a_constraint_is_that_of_each_curve(weights: FloatArray, at: float) -> None:
    """Of each weighting by itself, point by point; what no threshold meets is nothing called."""
    calls = count_calls(sort_scores(TIED_SCORES, ARE_POSITIVE), weights)
    drawn = [threshold_curve(TIED_SCORES, ARE_POSITIVE, row.astype(np.float64)) for row in weights]
    volume = precision_at_volume(sort_volume(TIED_SCORES, ARE_POSITIVE), weights, at)
    found = {
        ("precision", "recall"): at_recall(calls, "precision", at),
        ("false_positive_rate", "recall"): at_recall(calls, "fpr", at),
        ("recall", "precision"): recall_at(calls, "precision", at),
        ("recall", "false_positive_rate"): recall_at(calls, "fpr", at),
        ("precision", "volume"): volume,
    }

    for (metric, given), actual in found.items():
        expected = [(metric_at(curve, metric, given, at) or (np.nan,))[0] for curve in drawn]
        assert actual.tolist() == pytest.approx(expected, nan_ok=True), (metric, given)


def test_the_error_of_one_heavy_example_rests_on_as_many_as_it_counts_for() -> None:
    """Between one and two of them, by the formula for so many."""
    squares, weights = np.array([4.0, 1.0]), np.array([9.0, 1.0])
    n_units, spread = effective_number(weights), mean_spread(squares, weights)
    expected = root_mean_square(spread.point, spread.believed, n_units, 0.9)

    assert 1.0 < n_units < 2.0
    assert [float(end) for end in root_mean_squares(squares, weights, 0.9)] == [float(end) for end in expected]


BY: dict[str, tuple[list[float], int, int, float, float]] = {
    "from the least to the most": ([3.0, 0.0, 1.0, 2.0], 4, 1, 0.0, 3.0),
    "the mean of two at each end": ([*map(float, range(10))], 5, 2, 0.5, 8.5),
    "as many as there are": ([1.0, 2.0, 6.0], 2, 9, 3.0, 6.0),
    "no further than three quartile ranges": ([*map(float, range(7)), 1000.0], 6, 1, 0.0, 18.0),
    "on the other side": ([-1000.0, *map(float, range(1, 8))], 6, 1, -10.0, 7.0),
    "quartiles of two each": ([*map(float, range(7)), 1000.0], 3, 2, 0.5, 17.5),
    "quartiles of three each": ([-900.0, *map(float, range(1, 15)), 1000.0], 3, 3, -20.0, 36.0),
    "equal ones": ([5.0, 5.0], 4, 1, 5.0, 10.0),
    "small equal ones": ([-0.5, -0.5], 4, 1, -0.5, 0.5),
}


@pytest.mark.parametrize("name", BY)
def test_bins_span_what_most_examples_have(name: str) -> None:
    """Each example in the bin of its number, the first and the last with what is beyond; weights of zero too."""
    numbers, n_bins, n_extreme, low, high = BY[name]
    by, weights = np.array(numbers), np.arange(len(numbers)) % 3 * 1.0
    values, width = by**2, (high - low) / n_bins
    at = [min(max(int((each - low) // width), 0), n_bins - 1) for each in numbers]
    own = [[i for i, place in enumerate(at) if place == here] for here in range(n_bins)]
    bins = conditional_mean(by, values, weights, n_bins, n_extreme)
    with np.errstate(invalid="ignore"):
        expected = [np.divide((weights * values)[here].sum(), weights[here].sum()) for here in own]

    assert in_bin(by, by, n_bins, n_extreme).tolist() == at
    assert bins.centre.tolist() == pytest.approx([low + (here + 0.5) * width for here in range(n_bins)])
    assert bins.weight.tolist() == [weights[here].sum() for here in own]
    assert bins.mean.tolist() == pytest.approx(expected, nan_ok=True)
    assert bins.n_examples.tolist() == [int((weights[here] > 0).sum()) for here in own]


def test_normal_quantiles_are_at_the_middle_of_each_weight_in_order() -> None:
    """By hand; of equal residuals those that were sent first come first, and what has no weight is at an end."""
    residuals, weights = RNG.integers(0, 5, 200) * 1.0, RNG.integers(1, 6, 200) * 1.0
    weights[residuals.argmin()] = 0.0
    order = sorted(range(200), key=lambda at: residuals[at])
    upto = np.cumsum(weights[order])
    mean = np.average(residuals, weights=weights)
    theoretical, observed = normal_quantiles(residuals, weights)
    deviation = np.sqrt(np.average((residuals - mean) ** 2, weights=weights))
    positions = (upto - weights[order] / 2) / upto[-1]

    assert theoretical[0] == ndtri(1e-12)
    assert theoretical[1:].tolist() == pytest.approx(ndtri(positions[1:]).tolist())
    assert observed.tolist() == pytest.approx(((residuals[order] - mean) / deviation).tolist())
    assert [each.tolist() for each in normal_quantiles(np.array([3.0, 3.0]), np.array([1.0, 1.0]))][1] == [0.0, 0.0]


def test_reliability_is_by_bin_of_what_has_weight() -> None:
    """One is in the last bin; examples without weight are in none, and a bin of such examples alone is left out."""
    scores = np.array([0.0, 0.04, 0.1, 0.55, 0.59, 1.0, 0.95, 0.3])
    right, weights = np.array([1, 0, 1, 1, 0, 0, 1, 1], dtype=bool), np.array([1.0, 3.0, 2.0, 0.5, 0.0, 4.0, 1.0, 0.0])
    bins = reliability(scores, right, weights)

    assert bins.predicted.tolist() == pytest.approx([0.12 / 4, 0.1, 0.55, 4.95 / 5])
    assert bins.observed.tolist() == pytest.approx([1 / 4, 1.0, 1.0, 1 / 5])
    assert (bins.weight.tolist(), bins.n_examples.tolist()) == ([4.0, 2.0, 0.5, 5.0], [2, 1, 1, 2])
    assert bins.plain.tolist() == pytest.approx([0.02, 0.1, 0.55, 0.975])
    assert bins.expected_calibration_error == pytest.approx(
        (4 * (0.25 - 0.03) + 2 * 0.9 + 0.5 * 0.45 + 5 * (0.99 - 0.2)) / 11.5
    )
    assert reliability(scores, right, 0 * weights).expected_calibration_error is None
