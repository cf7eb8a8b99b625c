"""Statistics against their definition, item by item: ratios, ties, single units and what nothing is known of."""

import numpy as np
import pytest

from app.stats.arrays import InvalidArgument, require_integers
from app.stats.calibrated import chi_squared, clopper_pearson_ydf, hanley_mcneil
from app.stats.cluster import profile_area
from app.stats.curve_bands import map_resamples
from app.stats.curves import root_mean_squares, sort_scores
from app.stats.pairs import compare_pairs, compare_wins
from app.stats.predictions import in_bin
from app.stats.resample import Resamples, competition_ranks
from app.stats.spreads import Spread, averaged_spread, mean_spread
from app.stats.strata import Group, resample_ratio

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
