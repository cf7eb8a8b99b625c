"""How high curves are at given places, and where on them a classifier is operated."""

import numpy as np
import pytest

from app.stats.arrays import BoolArray, FloatArray, InvalidArgument
from app.stats.curve_bands import NEAR, Heights, curve_heights, fall
from app.stats.curves import LANES, place_of, place_where

SCORES = np.array([0.9, 0.5, 0.5, 0.1])
LABELS = np.array([True, True, False, False])
CURVE = np.array([1.0, 0.5, 0.0])


def heights(weights: list[float], rates: list[float], recalls: list[float]) -> Heights:
    """Return the heights under one weighting of four examples, two of them tied."""
    return curve_heights(fall(SCORES, LABELS), np.array([weights]), np.array(rates), np.array(recalls))


def defined_heights(
    scores: FloatArray, labels: BoolArray, weights: FloatArray, rates: FloatArray, recalls: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the heights of one weighting: each threshold's calls are counted anew."""
    calls = scores >= np.unique(scores)[::-1, None]
    true, false = calls @ (weights * labels), calls @ (weights * ~labels)
    recall, rate = np.append(0.0, true) / true[-1], np.append(0.0, false) / false[-1]
    last = np.searchsorted(rate, rates, side="right") - 1
    after = np.minimum(last + 1, len(rate) - 1)
    along = np.divide(rates - rate[last], rate[after] - rate[last], out=np.zeros(len(rates)), where=after > last)
    reached = [np.flatnonzero(recall[1:] >= each - 1e-12)[0] for each in recalls]
    precision = true[reached] / (true + false)[reached]
    return recall[last] + along * (recall[after] - recall[last]), precision


def test_a_tie_is_a_line_on_a_roc_curve() -> None:
    """Half of the way through a tie of a positive and a negative half of it is found."""
    actual = heights([1, 1, 1, 1], [0.0, 0.25, 0.5, 1.0], [0.5, 0.75, 1.0])

    assert actual.recall.tolist() == [[0.5, 0.75, 1.0, 1.0]]
    assert actual.precision.round(12).tolist() == [[1.0, round(2 / 3, 12), round(2 / 3, 12)]]


@pytest.mark.parametrize("weights", [[1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 0]])
def test_one_class_has_no_curve(weights: list[float]) -> None:
    """There is no false positive rate without negatives, and no recall without positives."""
    actual = heights(weights, [0.0, 1.0], [0.5])

    assert np.isnan(actual.recall).all()
    assert np.isnan(actual.precision).all()


@pytest.mark.parametrize("is_whole", [True, False])
def test_long_curves_are_as_high_as_their_definition_says(is_whole: bool) -> None:
    """Where most thresholds have no place, also between those that are added up together."""
    rng = np.random.default_rng(1)
    labels = rng.random(700) < 0.4
    scores = np.round(rng.normal(size=700) + labels, 2)
    drawn = rng.poisson(1.0, (3, 700)).astype(np.uint8)
    weights = drawn if is_whole else drawn * 0.5
    rates, recalls = np.linspace(0.0, 1.0, 23), np.linspace(0.05, 1.0, 17)

    actual = curve_heights(fall(scores, labels), weights, rates, recalls)

    for row, each in enumerate(weights.astype(np.float64)):
        recall, precision = defined_heights(scores, labels, each, rates, recalls)
        np.testing.assert_allclose(actual.recall[row], recall, rtol=1e-12)
        np.testing.assert_allclose(actual.precision[row], precision, rtol=1e-12)


@pytest.mark.parametrize(
    ("rates", "recalls", "words"),
    [([0.5, 0.5], [1.0], "rates does not ascend"), ([0.0, 1.5], [1.0], "rates holds 1.5"),
     ([0.0], [-0.5], "recalls holds -0.5")],
)  # fmt: skip
def test_places_outside_a_curve_are_refused(rates: list[float], recalls: list[float], words: str) -> None:
    """They ascend within zero and one."""
    with pytest.raises(InvalidArgument, match=words):
        heights([1, 1, 1, 1], rates, recalls)


@pytest.mark.parametrize("n_examples", [1, 2, NEAR, 5 * NEAR + 1])
@pytest.mark.parametrize("n_levels", [1, 7, 10_000])
def test_counts_side_by_side_have_the_heights_of_each(n_examples: int, n_levels: int) -> None:
    """To the last bit, with ties, one class only, and more resamples than are laid side by side."""
    rng = np.random.default_rng(n_examples + n_levels)
    scores = fall(rng.integers(0, n_levels, n_examples) / 7.0, rng.random(n_examples) < 0.4)
    counts = rng.poisson(1.0, (LANES + 3, n_examples)).astype(np.uint8)
    counts[1, scores.classes[0]], counts[2, scores.classes[1]] = 0, 0
    places = np.linspace(0.0, 1.0, 40)
    together = curve_heights(scores, counts, places, places)
    for weights in (counts, counts.astype(np.float64)):
        each = [curve_heights(scores, row[None], places, places) for row in weights]
        assert together.recall.tobytes() == np.concatenate([one.recall for one in each]).tobytes()
        assert together.precision.tobytes() == np.concatenate([one.precision for one in each]).tobytes()


@pytest.mark.parametrize(
    ("given", "at", "place"),
    [("recall", 0.5, 1), ("volume", 0.0, 2), ("precision", 0.4, 0), ("fpr", 0.4, 2), ("fpr", 1.0, 0)],
)
def test_a_constraint_is_met_where_ydf_meets_it(given: str, at: float, place: int) -> None:
    """At the last threshold that still has a recall or volume, at the first that has a precision or rate."""
    assert place_where(given, CURVE, at) == place


def test_a_constraint_may_be_met_nowhere() -> None:
    """A precision that no threshold has."""
    assert place_where("precision", np.array([0.2, 0.4]), 0.9) is None


@pytest.mark.parametrize(("at", "place"), [(0.1, 0), (0.2, 0), (0.3, 1), (0.9, 2)])
def test_a_score_at_the_threshold_is_called(at: float, place: int) -> None:
    """At each place what is above its threshold is called, so the place is below the score."""
    assert place_of(np.array([-np.inf, 0.2, 0.5]), at) == place
