"""The area under precision by recall where positives and negatives share a score."""

import numpy as np
import pytest

from app.stats.arrays import FloatArray
from app.stats.curves import curve_areas, sort_scores

TIED = np.array([0.9, 0.9, 0.9, 0.5, 0.5, 0.2, 0.2, 0.2, 0.1])
IS_POSITIVE = np.array([True, False, True, True, False, False, True, False, False])


def area(scores: FloatArray, is_positive: np.ndarray, weights: np.ndarray) -> FloatArray:
    """Return the area of weightings, within ties as hits and misses come."""
    return curve_areas(sort_scores(scores, is_positive), weights).precision_recall_by_ties


def by_quadrature(weights: FloatArray) -> float:
    """Return the area by definition: each tie called in a million equal parts, highest first."""
    true, false, total = 0.0, 0.0, 0.0
    for score in sorted(set(TIED), reverse=True):
        of = score == TIED
        hits, misses = weights[of & IS_POSITIVE].sum(), weights[of & ~IS_POSITIVE].sum()
        share = (np.arange(1_000_000) + 0.5) / 1_000_000
        if hits > 0:
            total += hits * np.mean((true + hits * share) / (true + false + (hits + misses) * share))
        true, false = true + hits, false + misses
    return float(total / true)


@pytest.mark.parametrize("seed", [None, 1, 2, 3])
def test_a_tie_counts_as_hits_and_misses_in_proportion(seed: int | None) -> None:
    """By definition, also of weighted examples."""
    weights = np.ones(9) if seed is None else np.random.default_rng(seed).random(9) * 5.0

    assert area(TIED, IS_POSITIVE, weights[None, :]).tolist() == pytest.approx([by_quadrature(weights)], abs=1e-6)


def test_without_a_mixed_tie_the_area_is_that_of_the_straight_lines() -> None:
    """To the last bit: nothing is computed anew. Positives that share a score are no mixed tie."""
    rng = np.random.default_rng(4)
    scores, is_positive = rng.random(50), rng.random(50) < 0.4
    scores[np.flatnonzero(is_positive)[:3]] = 0.5
    weights = rng.integers(0, 4, (20, 50)).astype(np.uint8)
    expected = curve_areas(sort_scores(scores, is_positive), weights).precision_recall

    assert area(scores, is_positive, weights).tolist() == expected.tolist()


def test_counts_weigh_as_numbers_do_and_nothing_stays_nothing() -> None:
    """Counts of a bootstrap in a byte each; a weighting without positives has no area."""
    counts = np.random.default_rng(5).integers(0, 4, (30, 9)).astype(np.uint8)
    counts[0, IS_POSITIVE] = 0
    actual, expected = (area(TIED, IS_POSITIVE, each) for each in (counts, counts.astype(np.float64)))

    assert np.isnan(actual[0])
    assert actual[1:].tolist() == pytest.approx(expected[1:].tolist(), rel=1e-12)
