"""Confidence sets of ranks: by the definition, about ties, without evidence, and however small the board."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from app.stats.arrays import FloatArray, InvalidArgument
from app.stats.compiled import Studentized, pair_variances
from app.stats.rank_sets import N_SEEN, Contests, LeftPairs, RankSets, rank_sets
from app.stats.resample import NamedResamples, unit_keys

N_UNITS = 30


def contests(values: FloatArray, freedom: FloatArray | None = None) -> Contests:
    """Return the comparisons of values [n_units, n_entrants] on draws by name."""
    n_units, n_entrants = values.shape
    drawn = NamedResamples(unit_keys(1, [(str(unit),) for unit in range(n_units)]), 600).means(values)
    return Contests(values.mean(axis=0), drawn, np.full(n_entrants, n_units - 1.0) if freedom is None else freedom)


def some(*means: float, n_units: int = N_UNITS, seed: int = 1) -> FloatArray:
    """Return values around means, with a difficulty that all units share."""
    rng = np.random.default_rng(seed)
    return np.array(means) + rng.normal(size=(n_units, 1)) + 0.5 * rng.normal(size=(n_units, len(means)))


def sets(values: FloatArray, freedom: FloatArray | None = None) -> RankSets:
    """Return the sets at 95 %."""
    return rank_sets(contests(values, freedom), 0.95)


def test_an_error_is_that_of_the_paired_t_test() -> None:
    """What the resamples say of a difference of means is what its units say, up to the draws."""
    values = some(0.0, 0.2, 0.4, n_units=60)
    actual = contests(values)
    by_hand = stats.ttest_rel(values[:, 0], values[:, 2])

    assert actual.errors()[0, 2] == pytest.approx((values[:, 0] - values[:, 2]).std(ddof=1) / np.sqrt(60), rel=0.1)
    assert actual.p_values(np.array([0, 2]))[0, 1] == pytest.approx(by_hand.pvalue, rel=0.5)


def test_two_entrants_are_separated_where_their_interval_excludes_zero() -> None:
    """With a single pair the set, the interval and the p-value say the same."""
    for seed in range(40):
        values = some(0.0, 0.25, seed=seed)
        actual = contests(values)
        everyone = np.arange(2)
        is_apart = bool(rank_sets(actual, 0.95).separated.any())
        excludes = bool(abs(actual.differences()[0, 1]) > actual.margins(everyone, 0.95)[0, 1])
        is_small = bool(actual.p_values(everyone)[0, 1] < 0.05)

        assert excludes == is_small
        assert is_small or not is_apart  # the quantile of few resamples is taken at its upper end


def brute_force(result: Contests, level: float) -> tuple[FloatArray, FloatArray]:
    """Return the largest studentized differences by the definition, [n_entrants, n_resamples], and over all pairs."""
    deviations = result.replicates - result.replicates.mean(axis=0)
    n_entrants = deviations.shape[1]
    largest = np.zeros((n_entrants, len(deviations)))
    for j in range(n_entrants):
        for k in range(n_entrants):
            if j != k:
                difference = deviations[:, j] - deviations[:, k]
                largest[j] = np.maximum(largest[j], np.abs(difference) / difference.std(ddof=1))
    return largest, largest.max(axis=0)


def of_pairs(studentized: Studentized) -> LeftPairs:
    """Return the pairs before any is rejected."""
    return LeftPairs(studentized, studentized.largest())


def left_of(studentized: Studentized, rejected: NDArray[np.int8]) -> NDArray[Any]:
    """Return each row's largest difference in the directions that are left, [n_entrants, n_resamples]."""
    rows, factors = studentized.rows, studentized.factors
    differences = (rows[:, None, :] - rows[None, :, :]) * factors[:, :, None]
    signs = rejected[:, :, None]
    left = np.where(signs == 0, np.abs(differences), np.where(signs > 0, -differences, differences))
    return np.where(factors[:, :, None] == 0.0, -np.inf, left).max(axis=1)


def test_the_loops_give_the_definition() -> None:
    """Spreads and maxima as by their formulas, in single precision, and in double where single would not do."""
    actual = contests(some(0.0, 0.1, 0.3, 0.3))
    near = contests(some(0.0, 0.1) @ np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1e-7]]))
    for each in (actual, near):
        largest = Studentized.of(each.deviations, each.drawn).largest()

        np.testing.assert_allclose(largest, brute_force(each, 0.95)[0], rtol=2e-4)
        covariance = np.cov(each.replicates.T)
        spread = np.diag(covariance)
        by_formula = spread[:, None] + spread[None, :] - 2 * covariance
        np.testing.assert_allclose(pair_variances(each.deviations), by_formula, atol=1e-9)


def test_a_direction_that_was_rejected_is_left_out() -> None:
    """What is left of a rejected pair is the other direction."""
    deviations = np.array([[2.0, -2.0], [0.0, 0.0]])
    drawn, rejected = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[0, 1], [-1, 0]], dtype=np.int8)

    pairs = of_pairs(Studentized.of(deviations, drawn))

    assert pairs.own(rejected, np.arange(2), 1).tolist() == [2.0, 2.0]
    assert (pairs.own(rejected, np.arange(2), 2) <= 0.0).all()


def test_quantiles_of_what_is_left_are_those_of_computing_all_of_it() -> None:
    """Stopping at a bound changes no digit, whatever was rejected, also of more entrants than fit side by side."""
    rng = np.random.default_rng(1)
    each = contests(some(*rng.normal(0.0, 0.3, 70)))
    studentized, everyone = Studentized.of(each.deviations, each.drawn), np.arange(70)
    pairs = of_pairs(studentized)
    for critical in (1.0, 2.5, 9.0):
        rejected = each.signs(np.full(70, critical), 0.0)
        left = left_of(studentized, rejected)
        for n_largest in (1, 40):
            by_hand = np.sort(left, axis=1)[:, -n_largest]

            assert pairs.own(rejected, everyone, n_largest).tolist() == by_hand.tolist()
            assert pairs.together(rejected, n_largest) == np.sort(left.max(axis=0))[-n_largest]


def test_what_was_largest_before_is_used_only_where_it_is_still_left() -> None:
    """One after another, less left and then more, of all rows or some: each quantile is that of computing all of it."""
    rng = np.random.default_rng(2)
    each = contests(some(*rng.normal(0.0, 0.3, 70)))
    studentized, everyone = Studentized.of(each.deviations, each.drawn), np.arange(70)
    pairs = of_pairs(studentized)
    for turn, critical in enumerate((9.0, 3.5, 3.0, 2.5, 2.0, 1.5, 1.0, 0.5, 2.0, 0.1)):
        wanted = everyone[turn % 3 :: 1 + turn % 2]
        rejected = each.signs(np.full(70, critical), 0.0)
        by_hand = np.sort(left_of(studentized, rejected)[wanted], axis=1)[:, -30]

        assert pairs.own(rejected, wanted, 30).tolist() == by_hand.tolist()


def test_a_rank_counts_who_is_better_and_who_is_worse() -> None:
    """Three far apart have their ranks, two alike share theirs."""
    actual = sets(some(0.0, 5.0, 10.0, 10.01))

    assert (actual.low.tolist(), actual.high.tolist()) == ([4, 3, 1, 1], [4, 3, 2, 2])
    assert actual.may_be_first.tolist() == [False, False, True, True]
    assert actual.groups(np.array([3, 2, 1, 0])).tolist() == [1, 1, 2, 3]


def test_a_group_ends_only_where_all_above_are_better_than_all_below() -> None:
    """One between two others that differ binds them together."""
    apart = np.zeros((3, 3), dtype=np.bool_)
    apart[0, 2] = True
    actual = RankSets(np.ones(3, dtype=np.int64), np.full(3, 3), apart)

    assert actual.groups(np.arange(3)).tolist() == [1, 1, 1]
    assert actual.may_be_first.tolist() == [True, True, False]


def test_equals_have_every_rank_of_theirs() -> None:
    """The same values twice: no difference, whatever the resamples."""
    values = some(0.0, 0.0)
    actual = contests(values[:, [0, 0, 1]])

    assert not rank_sets(actual, 0.95).separated[0, 1]
    assert actual.p_values(np.arange(3))[0, 1] == 1.0
    assert np.isnan(actual.margins(np.arange(3), 0.95)[0, 1])


@pytest.mark.parametrize(("n_units", "is_apart"), [(2, False), (5, False), (6, True), (40, True)])
def test_a_constant_difference_is_as_sure_as_its_sign_in_each_unit(n_units: int, is_apart: bool) -> None:
    """Always right against always wrong has no spread: five equal signs are chance once in sixteen, six in 32."""
    values = np.column_stack([np.ones(n_units), np.zeros(n_units)])
    actual = contests(values)

    assert rank_sets(actual, 0.95).separated[0, 1] == is_apart
    assert actual.p_values(np.arange(2))[0, 1] <= 2.0 ** -min(n_units, 30) * 2 + 1e-12


def test_who_has_no_replicates_is_above_nobody() -> None:
    """A score whose error is unknown takes no rank from others; others may be above it."""
    values = some(0.0, 5.0, 10.0)
    values[:, 2] = 10.0
    freedom = np.array([29.0, 29.0, np.nan])
    actual = sets(values, freedom)

    assert not actual.separated[2].any()
    assert (actual.low[1], actual.may_be_first.tolist()) == (1, [False, True, True])
    assert sets(some(5.0, 0.0), np.array([29.0, np.nan])).separated[0, 1]


def test_two_without_replicates_are_not_compared() -> None:
    """Nothing is known of either error."""
    actual = Contests(np.array([1.0, 2.0]), np.tile([1.0, 2.0], (10, 1)), np.full(2, np.nan))

    assert not rank_sets(actual, 0.95).separated.any()


def test_one_entrant_has_the_one_rank() -> None:
    """Alone on a board."""
    actual = sets(some(1.0))

    assert (actual.low.tolist(), actual.high.tolist(), actual.may_be_first.tolist()) == ([1], [1], [True])


def test_the_order_of_entrants_changes_nothing() -> None:
    """Sets of entrants in another order are the same sets."""
    values, order = some(0.0, 0.2, 0.5, 0.6), np.array([2, 0, 3, 1])
    straight, turned = sets(values), sets(values[:, order])

    assert turned.low.tolist() == straight.low[order].tolist()
    assert turned.high.tolist() == straight.high[order].tolist()
    assert (turned.separated == straight.separated[np.ix_(order, order)]).all()


def test_minus_the_scores_turn_the_ranks() -> None:
    """Best and worst change places, and the ends of the intervals with them."""
    values = some(0.0, 0.2, 0.5, 0.6)
    straight, turned = sets(values), sets(-values)

    assert (turned.low == 5 - straight.high).all()
    assert (turned.separated == straight.separated.T).all()


def test_a_larger_unit_changes_nothing() -> None:
    """In millions or millionths."""
    values = some(0.0, 0.2, 0.5, 0.6)
    for factor in (1e6, 1e-6):
        assert (sets(factor * values).separated == sets(values).separated).all()


def test_few_units_need_more() -> None:
    """The same size in standard errors that separates with thirty units does not with four."""
    rng = np.random.default_rng(2)
    for n_units, is_apart in ((4, False), (30, True)):
        noise = rng.normal(size=(n_units, 1))
        noise = (noise - noise.mean()) / noise.std(ddof=1)
        values = np.hstack([noise * 0.0, noise + 2.6 / np.sqrt(n_units)])

        assert sets(values).separated.any() == is_apart


@pytest.mark.parametrize(
    ("points", "drawn", "freedom", "words"),
    [
        (np.zeros(0), np.zeros((3, 0)), np.zeros(0), "points has the shape"),
        (np.array([np.nan]), np.zeros((3, 1)), np.ones(1), "points holds"),
        (np.zeros(1), np.zeros((0, 1)), np.ones(1), "replicates has the shape"),
        (np.zeros(1), np.array([[np.inf]]), np.ones(1), "replicates holds"),
        (np.zeros(1), np.zeros((3, 1)), np.ones(2), "freedom has the shape"),
        (np.zeros(1), np.zeros((3, 1)), np.zeros(1), "freedom holds 0"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    points: FloatArray, drawn: FloatArray, freedom: FloatArray, words: str
) -> None:
    """With the array, what it holds, and what is allowed."""
    with pytest.raises(InvalidArgument, match=words):
        rank_sets(Contests(points, drawn, freedom), 0.95)


def test_stepping_down_separates_what_the_test_of_all_pairs_does_not() -> None:
    """Four of six are far apart, so the last two compete with nobody: their own critical value is that of one pair."""
    draws = np.random.default_rng(4).normal(size=(2000, 6))

    def sets(last: float, rounds: int) -> RankSets:
        points = np.array([0.0, 20.0, 40.0, 60.0, 80.0, 80.0 + last])
        return rank_sets(Contests(points, draws, np.full(6, 400.0)), 0.95, rounds=rounds)

    assert [sets(3.6, rounds).low.tolist() for rounds in (0, 2)] == [[6, 5, 4, 3, 1, 1], [6, 5, 4, 3, 2, 1]]
    assert [bool(sets(4.08, rounds).separated[5, 4]) for rounds in (0, 2)] == [False, True]


@pytest.mark.parametrize("first", range(3))
def test_a_difference_that_is_rounding_alone_is_none_whoever_is_first(first: int) -> None:
    """Three entrants a constant apart in every resample: what is drawn of their differences is exactly nothing."""
    shared = np.random.default_rng(1).normal(3.3, 1.7, size=(200, 1))
    replicates = shared + np.roll(np.array([0.1, 0.37, 1.9]), first)
    board = Contests(replicates.mean(axis=0), replicates, np.full(3, 29.0))

    assert (board.deviations[0] != board.deviations[1]).any()
    assert (board.drawn == 0.0).all()


def test_a_quantile_is_the_same_when_it_is_asked_for_again() -> None:
    """Also of more resamples than have their maximum remembered."""
    rng = np.random.default_rng(2)
    each = Studentized.of(rng.normal(size=(4, 600)), np.ones((4, 4)) - np.eye(4))
    rejected, everyone = np.zeros((4, 4), dtype=np.int8), np.arange(4)
    rejected[0, 1], rejected[1, 0] = 1, -1
    expected, left = np.sort(left_of(each, rejected), axis=1)[:, ::-1], of_pairs(each)

    for n_largest in (300, 300, 1, N_SEEN, N_SEEN + 1, 300):
        np.testing.assert_array_equal(left.own(rejected, everyone, n_largest), expected[:, n_largest - 1])
