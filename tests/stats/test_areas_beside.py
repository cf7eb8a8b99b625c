"""Resamples that are laid side by side have the areas that each has by itself, to the last bit."""

from dataclasses import astuple

import numpy as np
import pytest

from app.stats import curves
from app.stats.arrays import BoolArray, Counts, FloatArray, InvalidArgument
from app.stats.curve_bands import curve_heights, fall
from app.stats.curves import LANES, SortedScores, area_spread, curve_areas, sort_scores

N_NEAR = 256


def sample(n_examples: int, n_levels: int, seed: int, n_rows: int) -> tuple[FloatArray, BoolArray, Counts]:
    """Return scores of so many distinct values, labels, and counts, some resamples of which have one class only."""
    rng = np.random.default_rng(seed)
    is_positive = rng.random(n_examples) < 0.4
    counts = rng.poisson(1.0, (n_rows, n_examples)).astype(np.uint8)
    counts[1, is_positive], counts[2, ~is_positive], counts[3] = 0, 0, 0
    counts[4, rng.integers(0, n_examples)] = 255
    return rng.integers(0, n_levels, n_examples) / 7.0, is_positive, counts


def one_by_one(scores: SortedScores, counts: Counts) -> list[list[float]]:
    """Return the seven areas of each resample, asked for alone."""
    return [[float(area[0]) for area in astuple(curve_areas(scores, row[None]))] for row in counts]


@pytest.mark.parametrize("n_examples", [1, N_NEAR, 2 * N_NEAR + 3])
@pytest.mark.parametrize("n_levels", [1, 3, 10_000])
def test_side_by_side_is_one_by_one(n_examples: int, n_levels: int) -> None:
    """Tied and distinct scores, one class only, and more resamples than are laid side by side."""
    given, is_positive, counts = sample(n_examples, n_levels, n_examples + n_levels, 2 * LANES + 5)
    scores = sort_scores(given, is_positive)

    together = np.array(astuple(curve_areas(scores, counts)))
    assert together.tobytes() == np.array(one_by_one(scores, counts)).T.tobytes()


@pytest.mark.parametrize("label", [True, False])
def test_one_class_has_no_areas(label: bool) -> None:
    """What is called rightly is there all the same."""
    counts = np.full((LANES, 3), 2, dtype=np.uint8)
    areas = curve_areas(sort_scores(np.array([0.1, 0.2, 0.3]), np.full(3, label)), counts)

    assert all(np.isnan(of).all() for of in astuple(areas)[:5])
    assert (areas.most_right.tolist(), areas.total.tolist()) == ([6.0] * LANES, [6.0] * LANES)


def test_an_example_with_two_scores_is_not_laid_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor are weightings of more examples than have scores; as many resamples of plain scores are, once a set."""
    sets = list[int]()
    beside = curves.sums_beside

    def counted(counts: Counts, *places: np.ndarray) -> FloatArray:  # type: ignore[type-arg]
        sets.append(len(counts))
        return beside(counts, *places)

    monkeypatch.setattr(curves, "sums_beside", counted)
    given, is_positive, counts = sample(8, 5, 1, 2 * LANES)
    plain = sort_scores(given[:4], is_positive[:4])
    for owner in ([0, 0, 1, 1], [0, 0, 1, 3]):
        pooled = sort_scores(given[:4], is_positive[:4], np.array(owner, dtype=np.int32))
        doubled = np.ascontiguousarray(counts[:, owner])
        assert np.array_equal(curve_areas(pooled, counts[:, :4]).roc, one_by_one_roc(plain, doubled), equal_nan=True)
    assert np.array_equal(curve_areas(plain, counts).roc, one_by_one_roc(plain, counts[:, :4]), equal_nan=True)
    assert sets == []
    curve_areas(sort_scores(given, is_positive), counts)
    assert sets == [LANES, LANES]


def one_by_one_roc(scores: SortedScores, counts: Counts) -> FloatArray:
    """Return the area under the ROC curve of each resample, asked for alone."""
    return np.array([areas[0] for areas in one_by_one(scores, np.ascontiguousarray(counts))])


@pytest.mark.parametrize("n_levels", [1, 3, 10_000])
def test_one_sorting_serves_the_spread_and_the_bands_too(n_levels: int) -> None:
    """Examples in the order that the areas were sorted in: the same to the last bit, ties in whatever order."""
    given, is_positive, counts = sample(300, n_levels, 2, LANES)
    by_fall = sort_scores(given, is_positive).by_fall
    assert by_fall is not None
    assert (np.diff(given[by_fall]) <= 0).all()

    spread = area_spread(given, is_positive, np.ones(300))
    assert astuple(area_spread(given, is_positive, np.ones(300), by_fall)) == astuple(spread)
    places = np.linspace(0.0, 1.0, 30)
    own, known = (curve_heights(fall(given, is_positive, order), counts, places, places) for order in (None, by_fall))
    assert own.recall.tobytes() + own.precision.tobytes() == known.recall.tobytes() + known.precision.tobytes()


def test_an_order_of_other_examples_is_refused() -> None:
    """By the spread as by the bands; and where an example has two scores there is none."""
    given, is_positive, _ = sample(30, 5, 3, LANES)
    short = np.arange(29, dtype=np.int32)

    with pytest.raises(InvalidArgument, match="by_fall"):
        fall(given, is_positive, short)
    with pytest.raises(InvalidArgument, match="by_fall"):
        area_spread(given, is_positive, np.ones(30), short)
    assert sort_scores(given[:2], is_positive[:2], np.zeros(2, dtype=np.int32)).by_fall is None
