"""Confidence sets of ranks: by the definition, about ties, without evidence, and however small the board."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from app.stats.arrays import FloatArray, InvalidArgument
from app.stats.compiled import Studentized, pair_variances, transposed
from app.stats.rank_sets import (
    FARTHEST,
    WIDER,
    AllPairs,
    RankSets,
    error_over_looks,
    left_maxima,
    rank_sets,
    reach_over_looks,
    times_the_units,
    to_be_found,
)
from app.stats.resample import NamedResamples, unit_keys

N_UNITS = 30


def all_pairs(values: FloatArray, freedom: FloatArray | None = None) -> AllPairs:
    """Return the comparisons of values [n_units, n_entrants] on draws by name."""
    n_units, n_entrants = values.shape
    drawn = NamedResamples(unit_keys(1, [(str(unit),) for unit in range(n_units)]), 600).means(values)
    return AllPairs(values.mean(axis=0), drawn, np.full(n_entrants, n_units - 1.0) if freedom is None else freedom)


def some(*means: float, n_units: int = N_UNITS, seed: int = 1) -> FloatArray:
    """Return values around means, with a difficulty that all units share."""
    rng = np.random.default_rng(seed)
    return np.array(means) + rng.normal(size=(n_units, 1)) + 0.5 * rng.normal(size=(n_units, len(means)))


def sets(values: FloatArray, freedom: FloatArray | None = None) -> RankSets:
    """Return the sets at 95 %."""
    return rank_sets(all_pairs(values, freedom), 0.95)


def test_an_error_is_that_of_the_paired_t_test() -> None:
    """What the resamples say of a difference of means is what its units say, up to the draws."""
    values = some(0.0, 0.2, 0.4, n_units=60)
    actual = all_pairs(values)
    by_hand = stats.ttest_rel(values[:, 0], values[:, 2])

    assert actual.errors()[0, 2] == pytest.approx((values[:, 0] - values[:, 2]).std(ddof=1) / np.sqrt(60), rel=0.1)
    assert actual.p_values(np.array([0, 2]))[0, 1] == pytest.approx(by_hand.pvalue, rel=0.5)


def test_two_entrants_are_separated_where_their_interval_excludes_zero() -> None:
    """With a single pair the set, the interval and the p-value say the same."""
    for seed in range(40):
        values = some(0.0, 0.25, seed=seed)
        actual = all_pairs(values)
        everyone = np.arange(2)
        is_apart = bool(rank_sets(actual, 0.95).separated.any())
        excludes = bool(abs(actual.differences()[0, 1]) > actual.margins(everyone, 0.95)[0, 1])
        is_small = bool(actual.p_values(everyone)[0, 1] < 0.05)

        assert excludes == is_small
        assert is_small or not is_apart  # the quantile of few resamples is taken at its upper end


def brute_force(result: AllPairs) -> FloatArray:
    """Return the largest studentized difference of all pairs by the definition, [n_resamples]."""
    deviations = result.replicates - result.replicates.mean(axis=0)
    largest = np.zeros(len(deviations))
    for j in range(deviations.shape[1]):
        for k in range(j):
            difference = deviations[:, j] - deviations[:, k]
            largest = np.maximum(largest, np.abs(difference) / difference.std(ddof=1))
    return largest


def left(studentized: Studentized, rejected: NDArray[np.int8], n_largest: int) -> NDArray[Any]:
    """Return the largest differences left, exact for as many as are asked for."""
    rows, factors, bounds = studentized.rows, studentized.factors, studentized.largest()
    return left_maxima(transposed(rows), factors, bounds, rejected, n_largest)


def left_of(studentized: Studentized, rejected: NDArray[np.int8]) -> NDArray[Any]:
    """Return each row's largest difference in the directions that are left, [n_entrants, n_resamples]."""
    rows, factors = studentized.rows, studentized.factors
    differences = (rows[:, None, :] - rows[None, :, :]) * factors[:, :, None]
    signs = rejected[:, :, None]
    left = np.where(signs == 0, np.abs(differences), np.where(signs > 0, -differences, differences))
    return np.where(factors[:, :, None] == 0.0, -np.inf, left).max(axis=1)


def test_the_loops_give_the_definition() -> None:
    """Spreads and maxima as by their formulas, in single precision, and in double where single would not do."""
    actual = all_pairs(some(0.0, 0.1, 0.3, 0.3))
    near = all_pairs(some(0.0, 0.1) @ np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1e-7]]))
    for each in (actual, near):
        largest = Studentized.of(each.deviations, each.drawn).largest()

        np.testing.assert_allclose(largest.max(axis=0), brute_force(each), rtol=2e-4)
        covariance = np.cov(each.replicates.T)
        spread = np.diag(covariance)
        by_formula = spread[:, None] + spread[None, :] - 2 * covariance
        np.testing.assert_allclose(pair_variances(each.deviations), by_formula, atol=1e-9)


def test_a_direction_that_was_rejected_is_left_out() -> None:
    """What is left of a rejected pair is the other direction."""
    deviations = np.array([[2.0, -2.0], [0.0, 0.0]])
    drawn, rejected = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[0, 1], [-1, 0]], dtype=np.int8)

    assert left(Studentized.of(deviations, drawn), rejected, 2).tolist() == [-2.0, 2.0]


def test_quantiles_of_what_is_left_are_those_of_computing_all_of_it() -> None:
    """Stopping at a bound changes no digit of the largest, whatever was rejected; of the others it gives bounds."""
    rng = np.random.default_rng(1)
    each = all_pairs(some(*rng.normal(0.0, 0.3, 70)))
    studentized = Studentized.of(each.deviations, each.drawn)
    for critical in (1.0, 2.5, 9.0):
        rejected = each.signs(critical, 0.0)
        by_hand = left_of(studentized, rejected).max(axis=0)
        for n_largest in (1, 40, 600):
            actual = left(studentized, rejected, n_largest)

            assert np.sort(actual)[-n_largest:].tolist() == np.sort(by_hand)[-n_largest:].tolist()
            assert (actual >= by_hand).all()


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
    actual = RankSets(apart, np.ones(3))

    assert actual.groups(np.arange(3)).tolist() == [1, 1, 1]
    assert actual.may_be_first.tolist() == [True, True, False]


def test_equals_have_every_rank_of_theirs() -> None:
    """The same values twice: no difference, whatever the resamples."""
    values = some(0.0, 0.0)
    actual = all_pairs(values[:, [0, 0, 1]])

    assert not rank_sets(actual, 0.95).separated[0, 1]
    assert actual.p_values(np.arange(3))[0, 1] == 1.0
    assert np.isnan(actual.margins(np.arange(3), 0.95)[0, 1])


@pytest.mark.parametrize(("n_units", "is_apart"), [(2, False), (5, False), (6, True), (40, True)])
def test_a_constant_difference_is_as_sure_as_its_sign_in_each_unit(n_units: int, is_apart: bool) -> None:
    """Always right against always wrong has no spread: five equal signs are chance once in sixteen, six in 32."""
    values = np.column_stack([np.ones(n_units), np.zeros(n_units)])
    actual = all_pairs(values)

    assert rank_sets(actual, 0.95).separated[0, 1] == is_apart
    assert actual.p_values(np.arange(2))[0, 1] <= 2.0 ** -min(n_units, 30) * 2 + 1e-12


def test_who_has_no_replicates_is_above_nobody_and_below_nobody() -> None:
    """A score whose error is unknown takes no rank from others, and gives them none: its truth may be anywhere."""
    values = some(0.0, 5.0, 10.0)
    values[:, 2] = 10.0
    freedom = np.array([29.0, 29.0, np.nan])
    actual = sets(values, freedom)

    assert not actual.separated[2].any()
    assert (actual.low[1], actual.may_be_first.tolist()) == (1, [False, True, True])
    assert not sets(some(5.0, 0.0), np.array([29.0, np.nan])).separated.any()


def test_two_without_replicates_are_not_compared() -> None:
    """Nothing is known of either error."""
    actual = AllPairs(np.array([1.0, 2.0]), np.tile([1.0, 2.0], (10, 1)), np.full(2, np.nan))

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
        rank_sets(AllPairs(points, drawn, freedom), 0.95)


def test_stepping_down_separates_what_the_test_of_all_pairs_does_not() -> None:
    """Four of six are far apart, so the last two compete with nobody but for the other directions of the rejected."""
    draws = np.random.default_rng(4).normal(size=(2000, 6))

    def sets(*points: float) -> RankSets:
        n = len(points)
        return rank_sets(AllPairs(np.array(points), draws[:, :n], np.full(n, 400.0)), 0.95)

    apart, near = sets(0.0, 20.0, 40.0, 60.0, 80.0, 84.08), sets(80.0, 80.0, 80.0, 80.0, 80.0, 84.08)

    assert (bool(apart.separated[5, 4]), bool(near.separated[5, 4])) == (True, False)
    assert apart.low.tolist() == [6, 5, 4, 3, 2, 1]


@pytest.mark.parametrize("first", range(3))
def test_a_difference_that_is_rounding_alone_is_none_whoever_is_first(first: int) -> None:
    """Three entrants a constant apart in every resample: what is drawn of their differences is exactly nothing."""
    shared = np.random.default_rng(1).normal(3.3, 1.7, size=(200, 1))
    replicates = shared + np.roll(np.array([0.1, 0.37, 1.9]), first)
    board = AllPairs(replicates.mean(axis=0), replicates, np.full(3, 29.0))

    assert (board.deviations[0] != board.deviations[1]).any()
    assert (board.drawn == 0.0).all()


def random_board(rng: np.random.Generator) -> AllPairs:
    """Return the comparisons of a few entrants whose spreads differ, some without any, some tied or of few units."""
    n, n_units = int(rng.integers(2, 12)), int(rng.choice([3, 6, 8, 30]))
    spreads = rng.choice([0.02, 0.3, 2.0], n)
    values = np.round(rng.normal(size=n) * rng.choice([0.0, 1.0]), 1) + spreads * rng.normal(size=(n_units, n))
    drawn = NamedResamples(unit_keys(1, [(str(unit),) for unit in range(n_units)]), 300).means(values)
    freedom = np.where(rng.random(n) < 0.9, n_units - 1.0, np.nan)
    points, wide = values.mean(axis=0), None
    drawn = np.where(np.isnan(freedom), points, drawn)
    if rng.random() < 0.3:
        # In steps, as ranks are.
        wide = np.round(points + WIDER * (drawn - drawn.mean(axis=0)))
        points, drawn = np.round(points), np.round(drawn)
    return AllPairs(points, drawn, freedom, wide=wide, are_ranks=wide is None and rng.random() < 0.4)


@pytest.mark.parametrize(("n_units", "n_entrants"), [(8, 20), (10, 50)])
def test_of_few_units_many_pairs_need_the_level_of_all_of_them(n_units: int, n_entrants: int) -> None:
    """The resamples' quantile of the largest difference told some apart on 8 and 10 of 100 boards of equals."""
    n_pairs = n_entrants * (n_entrants - 1) / 2
    for seed in range(60):
        values = np.random.default_rng([seed, n_units]).normal(size=(n_units, n_entrants))
        actual = all_pairs(values)
        sizes = actual.sizes(np.arange(n_entrants))[rank_sets(actual, 0.95).separated]

        assert (sizes > stats.t.isf(0.025 / n_pairs, n_units - 1)).all()


def ranked(n_tasks: int, n_entrants: int, ahead: float, seed: int) -> AllPairs:
    """Return the mean ranks of normal scores on a few tasks, the first of which may be ahead."""
    scores = np.random.default_rng([seed, n_tasks]).normal(size=(n_tasks, n_entrants))
    scores[:, 0] += ahead
    ranks = scores.argsort(axis=1).argsort(axis=1).astype(np.float64)
    drawn = NamedResamples(unit_keys(1, [(str(task),) for task in range(n_tasks)]), 300).means(ranks)
    return AllPairs(ranks.mean(axis=0), drawn, np.full(n_entrants, n_tasks - 1.0), are_ranks=True)


@pytest.mark.parametrize(("n_tasks", "most"), [(5, 0), (7, 0), (10, 6), (19, 6)])
def test_equals_are_not_told_apart_by_their_ranks_on_a_few_tasks(n_tasks: int, most: int) -> None:
    """Ranks of five on five tasks often differ by the same step throughout: that was 18 of 100 boards."""
    boards = [rank_sets(ranked(n_tasks, 5, 0.0, seed), 0.95) for seed in range(60)]

    assert sum(bool(each.separated.any()) for each in boards) <= most


def test_who_is_ahead_on_each_of_a_dozen_tasks_is_told_by_ranks() -> None:
    """A sign test of all tasks bounds what ranks can say, and of twelve it says enough."""
    found = [rank_sets(ranked(12, 3, 9.0, seed), 0.95).separated[0, 1:].all() for seed in range(20)]

    assert all(found)


@pytest.mark.parametrize("over_snapshots", [False, True])
@pytest.mark.parametrize("seed", range(24))
def test_the_sets_are_read_from_one_transitive_matrix(seed: int, over_snapshots: bool) -> None:
    """Disjoint sets are separable, the p-value is on its side of every level, and nothing contradicts the points."""
    board = replace(random_board(np.random.default_rng(seed)), over_snapshots=over_snapshots)
    before = np.zeros(len(board.points), dtype=np.bool_)
    for level in (0.99, 0.95, 0.9, 0.6):
        actual = rank_sets(board, level)
        better, ranks = actual.separated, 1 + (board.points[:, None] < board.points[None, :]).sum(axis=1)

        assert not (better & (board.differences() <= 0.0)).any()
        assert ((better.astype(int) @ better.astype(int) > 0) <= better).all()
        assert better[actual.high[:, None] < actual.low[None, :]].all()
        assert ((actual.low <= ranks) & (ranks <= actual.high)).all()
        assert actual.may_be_first.any()
        known = board.has_spread
        assert (actual.may_be_first[known] == (actual.first_p[known] > 1.0 - level)).all()
        assert np.isnan(actual.first_p[~known]).all()
        assert not (before & actual.may_be_first).any()  # who left at a smaller level leaves at a larger one
        before = ~actual.may_be_first


@pytest.mark.parametrize("seed", range(20))
def test_what_holds_over_all_snapshots_holds_on_each(seed: int) -> None:
    """The price is width: whoever is better over all snapshots is better on this one, and not the other way round."""
    board = random_board(np.random.default_rng([3, seed]))
    each, all_of_them = (rank_sets(replace(board, over_snapshots=way), 0.95) for way in (False, True))

    assert not (all_of_them.separated & ~each.separated).any()


def test_no_look_of_many_goes_beyond_the_reach_more_often_than_said() -> None:
    """The t statistic of 4,000 walks at each of 2 to 300 units; what one look reaches, some look does in a fourth."""
    values = np.random.default_rng(5).normal(size=(4_000, 300))
    n = np.arange(1, 301)
    means, squares = np.cumsum(values, axis=1) / n, np.cumsum(values**2, axis=1)
    sizes = np.abs(means[:, 1:]) / np.sqrt((squares[:, 1:] / n[1:] - means[:, 1:] ** 2) / (n[1:] - 1.0))
    reach = reach_over_looks(n[1:] - 1.0, np.array([0.05]))

    assert (sizes > reach).any(axis=1).mean() <= 0.05
    assert (sizes > stats.t.ppf(0.975, n[1:] - 1.0)).any(axis=1).mean() > 0.25
    np.testing.assert_allclose(error_over_looks(n[5:] - 1.0, reach[4:]), 0.05)


@pytest.mark.parametrize("seed", range(20))
def test_an_entrant_leaves_at_its_p_value_at_the_latest(seed: int) -> None:
    """Which is the level of the very test that makes the matrix."""
    board = random_board(np.random.default_rng([9, seed]))
    for at, p in enumerate(rank_sets(board, 0.95).first_p):
        if p < 0.95:
            assert not rank_sets(board, 1.0 - 1.02 * p).may_be_first[at]


def test_who_differs_by_less_than_matters_is_within_it_and_nobody_else() -> None:
    """Three pairs: far apart, alike and known so, and one whose spread is too large to say; they hold at once."""
    rng = np.random.default_rng(4)
    draws = rng.normal(size=(2000, 4)) * [0.001, 0.001, 0.001, 1.0]
    points = np.array([0.5, 0.501, 0.9, 0.5])
    all_pairs = AllPairs(points, draws, np.full(4, 60.0))
    sets = rank_sets(all_pairs, 0.95, smallest=0.02)

    assert sets.within is not None
    assert np.argwhere(sets.within).tolist() == [[0, 1], [1, 0]]
    assert sets.separated[2, [0, 1]].all()
    assert rank_sets(all_pairs, 0.95, smallest=1e-6).within.sum() == 0  # type: ignore[union-attr]
    assert rank_sets(all_pairs, 0.95).within is None
    # Both hold of the two where what matters is more than what is between them, far apart as they are.
    assert np.argwhere(rank_sets(all_pairs, 0.95, smallest=0.45).within)[:3].tolist() == [[0, 1], [0, 2], [1, 0]]


@pytest.mark.slow
def test_equal_and_just_too_different_are_both_called_so_in_one_of_twenty() -> None:
    """Two equals and a third just as far off as matters: a wrong word of any kind on at most 5 % of boards."""
    n_datasets, wrong = 1_000, 0
    truth = np.array([0.0, 0.0, 1.0])
    for at in range(n_datasets):
        rng = np.random.default_rng([88, at])
        values = truth + rng.normal(size=(20, 1)) + 0.8 * rng.normal(size=(20, 3))
        keys = unit_keys(0, [(str(unit),) for unit in range(20)])
        all_pairs = AllPairs(values.mean(axis=0), NamedResamples(keys, 500).means(values), np.full(3, 19.0))
        sets = rank_sets(all_pairs, 0.95, smallest=1.0)
        assert sets.within is not None
        wrong += bool(sets.separated[0, 1] or sets.separated[1, 0] or sets.within[2, :2].any())
    assert wrong / n_datasets <= 0.05 + 2.0 * np.sqrt(0.05 * 0.95 / n_datasets)


@pytest.mark.parametrize(("n_units", "critical"), [(6, 2.2), (16, 3.9), (60, 3.9)])
def test_a_difference_that_is_to_be_found_is_found_in_eighty_of_a_hundred(n_units: int, critical: float) -> None:
    """And so is half of it with as many times the units as it is said to need."""
    rng = np.random.default_rng([n_units, 5])

    def found(n: int, difference: float) -> float:
        drawn = difference + rng.normal(size=(4000, n))
        sizes = drawn.mean(axis=1) / drawn.std(axis=1, ddof=1) * np.sqrt(n)
        return float((sizes > -stats.t.ppf(stats.norm.cdf(-critical), n - 1)).mean())

    reach = np.array([-stats.t.ppf(stats.norm.cdf(-critical), n_units - 1)])
    errors = float(to_be_found(reach, np.array([n_units - 1.0]), 0.8)[0])
    times = times_the_units(errors / 2.0, critical, n_units - 1.0, 0.8)

    assert found(n_units, errors / np.sqrt(n_units)) == pytest.approx(0.8, abs=0.03)
    assert found(round(times * n_units), errors / 2.0 / np.sqrt(n_units)) == pytest.approx(0.8, abs=0.05)


@pytest.mark.parametrize("freedom", [0.3, 1.0, 7.0, 500.0])
def test_far_out_the_limit_of_the_noncentral_t_goes_on_where_it_stops(freedom: float) -> None:
    """So few units as two need a reach for which its own computation takes minutes."""
    before, after, far = to_be_found(np.array([FARTHEST, FARTHEST * (1.0 + 1e-9), 1e15]), np.full(3, freedom), 0.8)

    assert after / before == pytest.approx(1.0, abs=2e-4)
    assert far / 1e15 == pytest.approx(before / FARTHEST, rel=2e-4)


@pytest.mark.parametrize("n_others", [1, 250])
def test_a_pair_that_differs_by_one_step_has_the_sign_tests_p_however_many_others_there_are(n_others: int) -> None:
    """Seven wins of eight are 0.0703; Student's t of the same would be 0.018."""
    wins = np.array([[1.0, 0.0]] * 7 + [[0.0, 1.0]])
    units = np.column_stack([wins, np.full((8, n_others), -1.0) - np.arange(n_others)])
    drawn = NamedResamples(unit_keys(1, [(f"t{at}",) for at in range(8)]), 400).means(units)
    freedom = np.full(2 + n_others, 7.0)
    pairs = AllPairs(units.mean(axis=0), drawn, freedom, are_ranks=True, by_unit=units)

    first_two = np.array([0, 1])
    assert pairs.p_values(first_two)[0, 1] == pytest.approx(18 / 256)
    assert np.isnan(pairs.margins(first_two, 0.95)).all()


def test_a_weight_that_hardly_differs_costs_no_unit() -> None:
    """Of eight units, one weighs 1.0001: their effective number is 8, and not 7."""
    weights = np.array([1.0001, *[1.0] * 7])
    freedom = weights.sum() ** 2 / (weights**2).sum() - 1.0
    whole, weighed, more = (
        AllPairs(np.array([0.0, 1.0]), np.zeros((10, 2)), np.full(2, each)).pair_freedom(np.array([0]))[0, 1]
        for each in (7.0, freedom, 6.9)
    )

    assert freedom < 7.0
    assert (weighed, more) == (whole, 6.0)
