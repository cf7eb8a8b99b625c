"""Calibrated intervals: inside the range, with width, and the same when weights are rescaled or numbers mirrored."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import trim_mean

from app.boards.calibrated import Precision
from app.boards.methods.weighted_rank.method import component_spread
from app.boards.methods.weighted_rank.records import DrawnComponents
from app.stats.arrays import FloatArray, InvalidArgument
from app.stats.calibrated import (
    NO_TWO_SIDED,
    TOO_FEW_UNITS,
    Calibrated,
    Ends,
    calibrate,
    calibrated_iqm,
    calibrated_quantile,
    intervals,
    over_parts,
    positive_mean,
    root_mean_square,
)
from app.stats.curves import area_spread, calibrated_root_mean_square, replicate_spread, threshold_curve
from app.stats.spreads import SHARE, Range, Spread, cluster_spread, mean_spread
from tests.cases.curve_oracle import roc_area

UNITS = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=2, max_size=40).map(np.array)
RANGES = [SHARE, Range(low=0.0), Range(high=1.0), Range()]
LEVEL = 0.95
few = settings(max_examples=60, deadline=None)


def ends(result: Calibrated) -> tuple[float, float]:
    """Return the two ends of an interval that there is."""
    assert result.low is not None
    assert result.high is not None
    return result.low, result.high


def calibrated_mean(
    values: FloatArray, weights: FloatArray | None = None, *, within: Range = SHARE, level: float = LEVEL
) -> Calibrated:
    """Return the interval of the mean of independent units."""
    return calibrate(mean_spread(values, weights), within, level)


def weights_of(values: FloatArray, seed: int) -> FloatArray:
    """Return a weight for each value, between a tenth and three."""
    return np.random.default_rng(seed).uniform(0.1, 3.0, len(values))


@pytest.mark.heavy
@few
@given(values=UNITS, seed=st.integers(0, 9), times=st.sampled_from([1e-6, 0.5, 1000.0, 1e9]))
@pytest.mark.parametrize("within", RANGES)
def test_the_unit_of_the_weights_changes_nothing(within: Range, values: FloatArray, seed: int, times: float) -> None:
    """Kilograms or grams: the interval is the same up to rounding."""
    weights = weights_of(values, seed)
    one, other = (calibrated_mean(values, w, within=within, level=LEVEL) for w in (weights, times * weights))

    assert one.reason == other.reason
    if one.reason is None:
        assert ends(one) == pytest.approx(ends(other), rel=1e-6)


@few
@given(values=UNITS)
@pytest.mark.parametrize("within", RANGES)
@pytest.mark.heavy
def test_an_interval_has_width_and_stays_in_its_range(within: Range, values: FloatArray) -> None:
    """Or there is none: only where all are equal and the range does not say how far the truth can lie."""
    actual = calibrated_mean(values, within=within, level=LEVEL)
    if actual.reason is not None:
        assert np.ptp(values) == 0
        assert (actual.low, actual.high) == (None, None)
        return
    low, high = ends(actual)

    assert within.low <= low < high <= within.high
    assert low - 1e-12 <= values.mean() <= high + 1e-12


@few
@given(values=UNITS, seed=st.integers(0, 9))
@pytest.mark.parametrize("within", RANGES)
def test_negated_values_have_the_mirrored_interval(within: Range, values: FloatArray, seed: int) -> None:
    """An error of what is missed is one of what is reached."""
    weights = weights_of(values, seed)
    straight = calibrated_mean(values, weights, within=within, level=LEVEL)
    turned = calibrated_mean(-values, weights, within=within.mirrored(), level=LEVEL)

    assert straight.reason == turned.reason
    if straight.reason is None:
        assert ends(turned) == pytest.approx([-end for end in reversed(ends(straight))], abs=1e-9)


@few
@given(values=UNITS, seed=st.integers(0, 9))
def test_the_order_of_units_changes_nothing(values: FloatArray, seed: int) -> None:
    """Whichever example comes first."""
    order = np.random.default_rng(seed).permutation(len(values))
    weights = weights_of(values, seed)
    one, other = (calibrated_mean(v, w, level=LEVEL) for v, w in ((values, weights), (values[order], weights[order])))

    assert ends(one) == pytest.approx(ends(other), abs=1e-9)


@pytest.mark.parametrize("weight", [0.1, 1.0, 3.0])
def test_twenty_of_twenty_right_is_no_certainty(weight: float) -> None:
    """Wilson's interval of twenty of twenty, whatever all the weights are."""
    actual = calibrated_mean(np.ones(20), np.full(20, weight), level=LEVEL)

    assert ends(actual) == pytest.approx((0.8389, 1.0), abs=1e-4)


def test_twenty_of_twenty_right_with_unequal_weights_is_less_than_twenty() -> None:
    """Four of which count nearly everything are four."""
    weights = np.array([1000.0] * 4 + [1e-6] * 16)
    actual = calibrated_mean(np.ones(20), weights, level=LEVEL)

    assert actual.n_units == pytest.approx(4.0, rel=1e-6)
    assert ends(actual) == pytest.approx(ends(calibrated_mean(np.ones(4), level=LEVEL)), abs=1e-6)


def test_one_unit_has_no_interval() -> None:
    """Its spread cannot be seen."""
    assert calibrated_mean(np.ones(1), level=LEVEL).reason == "too_few_units"
    assert calibrated_mean(np.ones(3), np.array([1.0, 0.0, 0.0]), level=LEVEL).reason == "too_few_units"


def test_seeds_that_differ_make_an_interval_wider() -> None:
    """The same 25 of 50 successes: five of ten in each seed, or all in some and none in others."""
    sizes = np.full(5, 10.0)
    alike, apart = (
        ends(calibrate(cluster_spread(np.array(totals), sizes, np.array(totals)), SHARE, LEVEL))
        for totals in ([5.0, 5.0, 5.0, 4.0, 6.0], [10.0, 0.0, 10.0, 0.0, 5.0])
    )

    assert apart[1] - apart[0] > 2.5 * (alike[1] - alike[0])


def test_failures_of_one_seed_say_that_others_may_fail_as_a_whole() -> None:
    """Eight failures of 800: of one seed of sixteen they leave room for a truth of 0.9, of eight seeds they do not."""
    sizes = np.full(16, 50.0)
    of_one, of_eight = (
        ends(calibrate(cluster_spread(totals, sizes, totals), SHARE, LEVEL))
        for totals in (np.array([42.0] + [50.0] * 15), np.array([49.0] * 8 + [50.0] * 8))
    )

    assert of_one[0] < 0.92
    assert of_eight[0] > 0.97


def test_a_point_outside_of_its_range_is_refused() -> None:
    """A range that does not hold is no range."""
    with pytest.raises(InvalidArgument):
        calibrated_mean(np.array([0.5, 1.8, 2.0]), level=LEVEL)


@few
@given(values=UNITS, seed=st.integers(0, 9))
def test_an_iqm_of_yes_and_no_follows_the_interval_of_the_mean(values: FloatArray, seed: int) -> None:
    """Its ends are 2 (share − ¼), within 0 and 1, of the share's; without width, of as many equal clusters."""
    yes = (values > 0.3).astype(np.float64)
    clusters = np.random.default_rng(seed).integers(0, 4, len(yes))
    clusters[:2] = (0, 1)
    cells = [np.bincount(clusters, w, minlength=4).astype(np.float64) for w in (yes, np.ones(len(yes)))]
    spread = cluster_spread(cells[0], cells[1], cells[0])
    none = np.zeros_like(spread.error)
    surely, apart = (
        [float(np.clip(2 * (end - 0.25), 0, 1)) for end in intervals(each, SHARE, LEVEL)]
        for each in (spread, replace(spread, error=none, least=none))
    )
    actual = calibrated_iqm(yes, clusters, within=SHARE, level=LEVEL)

    assert ends(actual) == pytest.approx(surely if surely[0] < surely[1] else apart, abs=1e-9)


@pytest.mark.parametrize(
    ("n_seeds", "fails", "rate", "at_most"), [(5, 0.3, 0.95, 0), (11, 0.0, 0.97, 0), (30, 0.3, 0.98, 2)]
)
def test_an_iqm_without_width_is_sure_with_each_seed_as_one_trial(
    n_seeds: int, fails: float, rate: float, at_most: int
) -> None:
    """Of five seeds of which three in ten fail, 15 of 100 intervals had none, and the truth was elsewhere."""
    rng = np.random.default_rng([n_seeds, 5])
    rates = np.where(rng.random((100, n_seeds, 1)) < fails, 0.0, rate)
    yes = (rng.random((100, n_seeds, 20)) < rates).astype(np.float64)
    of = np.repeat(np.arange(n_seeds), 20)
    found = [ends(calibrated_iqm(each.ravel(), of, within=SHARE, level=LEVEL)) for each in yes]
    truth = min(2.0 * ((1.0 - fails) * rate - 0.25), 1.0)

    assert sum(low == high for low, high in found) <= at_most
    assert sum(low <= truth <= high for low, high in found) >= 94


def test_the_iqm_of_smooth_scores_holds_where_seeds_collapse() -> None:
    """Of 30 seeds three in ten collapse on average, a quarter often: the error of a trimmed mean held 69 of 100."""
    rng, of = np.random.default_rng(33), np.repeat(np.arange(30), 20)
    centres = np.where(rng.random((100, 30, 1)) < 0.3, 0.1, 0.8)
    scores = np.clip(centres + 0.03 * rng.normal(size=(100, 30, 1)) + 0.05 * rng.normal(size=(100, 30, 20)), 0.0, 1.0)
    many = np.where(rng.random(1_000_000) < 0.3, 0.1, 0.8) + np.hypot(0.03, 0.05) * rng.normal(size=1_000_000)
    truth = float(trim_mean(many, 0.25))
    found = [ends(calibrated_iqm(each.ravel(), of, within=SHARE, level=LEVEL)) for each in scores]

    assert sum(low <= truth <= high for low, high in found) >= 94
    assert np.mean([high - low for low, high in found]) < 0.4


def test_the_iqm_of_very_many_scores_groups_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 6,000 scores in 30 seeds a thousand steps are taken: a thousandth of the width apart from taking all."""
    scores, of = np.random.default_rng(34).exponential(size=6_000), np.repeat(np.arange(30), 200)
    grouped = ends(calibrated_iqm(scores, of, within=Range(), level=LEVEL))
    monkeypatch.setattr("app.stats.calibrated.MOST_STEPS", len(scores))
    every = ends(calibrated_iqm(scores, of, within=Range(), level=LEVEL))

    assert grouped != every
    assert grouped == pytest.approx(every, abs=0.001 * (every[1] - every[0]))


def test_the_iqm_of_smooth_scores_is_inside_and_mirrored() -> None:
    """Forces of eight seeds, and their negatives."""
    forces = np.random.default_rng(4).gamma(2.0, size=160)
    clusters = np.arange(160) % 8
    straight, turned = (ends(calibrated_iqm(f, clusters, within=Range(), level=LEVEL)) for f in (forces, -forces))

    assert straight[0] < trim_mean(forces, 0.25) < straight[1]
    assert turned == pytest.approx((-straight[1], -straight[0]))


@pytest.mark.parametrize(
    ("n_units", "q", "has_one"),
    [
        (4, 0.5, False),
        (5, 0.5, True),
        (5, 0.9, False),
        (16, 0.9, False),
        (50, 0.9, True),
        (50, 1.0, False),
        (50, 0.0, False),
    ],
)
def test_few_clusters_allow_no_interval_of_a_quantile(n_units: int, q: float, has_one: bool) -> None:
    """A median needs five, a ninth decile more than sixteen, a maximum never has one."""
    actual = calibrated_quantile(np.arange(float(n_units)), np.arange(n_units), q, level=LEVEL)

    assert (actual.reason is None) == has_one
    assert actual.n_units == n_units
    assert actual.reason in (None, NO_TWO_SIDED)


def test_one_cluster_has_no_interval_of_a_quantile() -> None:
    """However many values it has."""
    actual = calibrated_quantile(np.arange(9.0), np.zeros(9, dtype=np.int64), 0.5, level=LEVEL)

    assert (actual.low, actual.high, actual.n_units, actual.reason) == (None, None, 1.0, TOO_FEW_UNITS)


def test_the_interval_of_a_median_holds_it_and_is_of_scores_that_occurred() -> None:
    """Ends are observed, whatever the scale of the scores."""
    values = np.random.default_rng(2).normal(size=80)
    low, high = ends(calibrated_quantile(values, np.arange(80) // 4, 0.5, level=LEVEL))

    assert low < np.median(values) < high
    assert {low, high} <= set(values.tolist())


@few
@given(seed=st.integers(0, 50), times=st.sampled_from([1e-3, 7.0, 1e6]))
def test_the_area_is_that_of_the_curve_and_its_weights_have_no_unit(seed: int, times: float) -> None:
    """With ties and weights."""
    rng = np.random.default_rng(seed)
    is_positive = np.arange(20) < 8
    scores = np.round(rng.normal(size=20) + is_positive, 1)
    weights = rng.uniform(0.1, 3.0, 20)
    one, other = (area_spread(scores, is_positive, w) for w in (weights, times * weights))
    area = roc_area(threshold_curve(scores, is_positive, weights))

    assert float(one.point) == pytest.approx(area, abs=1e-9)
    assert float(one.error) == pytest.approx(float(other.error), rel=1e-9)


tiny_error_of_a_mean = partial(positive_mean, skewness=np.array(0.0), n_units=np.array(9.0), df=np.array(8.0))


@few
@given(seed=st.integers(0, 50), times=st.sampled_from([1e-3, 1e6]))
def test_a_root_mean_square_has_the_unit_of_the_errors_and_none_of_the_weights(seed: int, times: float) -> None:
    """Errors in millimetres, weights in grams; what weighs nothing is not there."""
    rng = np.random.default_rng(seed)
    errors, weights = rng.standard_t(4, 30), rng.uniform(0.1, 3.0, 30)
    root = partial(calibrated_root_mean_square, level=LEVEL)
    low, high = ends(root(errors**2, weights))

    assert low < np.sqrt(np.average(errors**2, weights=weights)) < high
    assert ends(root(errors**2, times * weights)) == pytest.approx((low, high))
    assert ends(root(np.append(errors, 99.0) ** 2, np.append(weights, 0.0))) == pytest.approx((low, high))
    assert ends(root((1000 * errors) ** 2, weights)) == pytest.approx((1000 * low, 1000 * high))


@pytest.mark.parametrize("form", [partial(root_mean_square, n_units=np.array(9.0)), tiny_error_of_a_mean])
def test_an_error_that_vanishes_beside_its_number_has_an_interval(form: Callable[..., Ends]) -> None:
    """The ratio squared, 1e400, is no float64; the interval is as narrow as a great many degrees make it."""
    low, high = form(np.array(1e100), error=np.array(1e-100), level=LEVEL)

    assert 0 < low <= high < np.inf


def test_replicates_without_spread_make_no_certainty() -> None:
    """A metric that is one in every resample rests on its units."""
    spread = replicate_spread(1.0, np.ones(100), 20.0, is_share=True)

    assert ends(calibrate(spread, SHARE, LEVEL)) == pytest.approx((0.8389, 1.0), abs=1e-4)


TINY = np.array([0.0, 1e-120, 3e-120])


@pytest.mark.parametrize(
    "spread",
    [
        replicate_spread(1e-120, TINY, 20.0, is_share=False),
        mean_spread(TINY, None),
        component_spread(TINY[:1], TINY[:, None], DrawnComponents(np.zeros((3, 1, 1)), Precision(8.0, 1.25), 9.0)),
    ],
    ids=["replicates", "influence", "components"],
)
def test_a_spread_whose_cube_is_no_float_is_not_skewed(spread: Spread) -> None:
    """1e-120 cubed is zero: it was divided by, and one submission of such values was never evaluated."""
    assert np.isfinite(spread.error).all()
    assert np.all(spread.skewness == 0)


def test_an_average_over_tasks_is_narrower_than_each_of_them() -> None:
    """Four independent tasks alike: half the width."""
    part = Calibrated(0.4, 0.8, "wilson_neff", 10.0)
    low, high = ends(over_parts(np.full(4, 0.6), [part] * 4, np.full(4, 0.25)))

    assert (low, high) == pytest.approx((0.5, 0.7))


def test_a_single_task_keeps_its_own_interval() -> None:
    """To the last digit where it has all the weight, with how it was made; half of it is half as far from zero."""
    part, point = Calibrated(0.4, 0.8, "wilson_neff", 10.0), np.array([0.6])

    assert over_parts(point, [part], np.ones(1)) == part
    assert ends(over_parts(point, [part], np.array([0.5]))) == pytest.approx((0.2, 0.4))


def test_an_average_over_tasks_has_no_interval_where_one_of_them_has_none() -> None:
    """With the reason of that one."""
    parts = [Calibrated(0.4, 0.8, "wilson_neff", 10.0), Calibrated(None, None, None, 1.0, "too_few_units")]

    assert over_parts(np.array([0.6, 0.5]), parts, np.full(2, 0.5)).reason == "too_few_units"


@pytest.mark.parametrize("shape", [(7,), (3, 40), (5, 3, 9)])
def test_units_without_weights_are_units_that_count_alike(shape: tuple[int, ...]) -> None:
    """In every field to the last bit, also for columns that are read across, and for one that is all the same."""
    values = np.random.default_rng(1).normal(size=shape)
    values[..., :1] = values[..., 1:2]

    for units in (values, np.asfortranarray(values), np.full(shape, 0.1)):
        plain, weighted = mean_spread(units), mean_spread(units, np.ones(shape))
        for name in ("point", "error", "skewness", "n_units", "df", "least"):
            assert getattr(plain, name).tobytes() == getattr(weighted, name).tobytes(), name
