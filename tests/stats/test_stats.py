"""The statistics against their definitions, scipy, and what must not change them."""

import numpy as np
import pytest
from scipy.stats import gmean, rankdata

from app.stats.pairs import average_ranks, compare_pairs, skill
from app.stats.resample import (
    Resamples,
    competition_ranks,
    draw_counts,
    percentile_interval,
)

ERRORS = np.exp(np.random.default_rng(7).normal(size=(13, 4)))


def resamples(n_resamples: int = 100, **sizes: int) -> Resamples:
    """Return resamples of the thirteen tasks."""
    return Resamples(13, n_resamples, lambda: np.random.default_rng(3), **sizes)


def test_skill_is_one_minus_the_geometric_mean() -> None:
    """It is scipy's geometric mean."""
    assert skill(np.log(ERRORS).mean(axis=0)) == pytest.approx(1 - gmean(ERRORS, axis=0), abs=1e-14)


def test_average_ranks_are_scipys_whatever_the_block() -> None:
    """Ties share the average rank, and tasks are ranked one by one."""
    errors = np.random.default_rng(1).integers(0, 3, size=(30, 6)).astype(float)

    assert (average_ranks(errors, block_cells=20) == rankdata(errors, axis=1)).all()


def test_pairs_without_resamples_have_no_interval() -> None:
    """The points stand, the ends are NaN."""
    pairs = compare_pairs(ERRORS, None, clip=(0.5, 2.0), level=0.9)

    assert np.isfinite(pairs.skill).all()
    assert np.isnan([pairs.skill_low, pairs.win_rate_high]).all()


@pytest.mark.heavy
def test_pairs_equal_the_brute_force_bootstrap() -> None:
    """Every pair, resampled in a loop by the definition."""
    drawn = np.random.default_rng(3).integers(0, 13, size=(60, 13))
    pairs = compare_pairs(ERRORS, resamples(60), clip=(0.5, 2.0), level=0.9)
    for a in range(4):
        for b in range(4):
            ratios = np.clip(ERRORS[:, a] / ERRORS[:, b], 0.5, 2.0)
            brute = np.quantile([1 - gmean(ratios[d]) for d in drawn], [0.05, 0.95])
            assert (pairs.skill_low[a, b], pairs.skill_high[a, b]) == pytest.approx(tuple(brute), abs=1e-12)


@pytest.mark.parametrize("batch_cells", [1, 13, 100, 1299, 1300])
def test_the_batch_does_not_change_the_draws(batch_cells: int) -> None:
    """Drawn in parts, the resamples are those of one call, bit for bit: fev's draws stay fev's."""
    whole = draw_counts(13, 100, np.random.default_rng(3))

    assert (np.concatenate(list(resamples(batch_cells=batch_cells).batches())) == whole).all()


@pytest.mark.parametrize("keep_cells", [0, 10**6])
def test_every_pass_sees_the_same_draws(keep_cells: int) -> None:
    """Kept or drawn anew."""
    drawn = resamples(batch_cells=100, keep_cells=keep_cells)

    assert (np.concatenate(list(drawn.batches())) == np.concatenate(list(drawn.batches()))).all()


def test_the_batch_does_not_change_the_means() -> None:
    """Sums differ by rounding at most, and those of halves not at all."""
    halves = np.random.default_rng(5).integers(0, 3, size=(13, 2)) / 2

    assert (resamples().means(halves) == resamples(batch_cells=30).means(halves)).all()
    assert np.allclose(resamples().means(ERRORS), resamples(batch_cells=30).means(ERRORS), rtol=0, atol=1e-14)


@pytest.mark.parametrize("clip", [(0.5, 2.0), (0.5, 4.0)])
def test_the_block_does_not_change_the_pairs(clip: tuple[float, float]) -> None:
    """Bounded memory is not another number."""
    whole, batched = (compare_pairs(ERRORS, resamples(), clip=clip, level=0.9, block_cells=n) for n in (10**6, 300))

    assert np.allclose(whole.skill_low, batched.skill_low, atol=1e-14)
    assert (whole.win_rate_high == batched.win_rate_high).all()


def test_ranks_are_scipys_competition_ranks() -> None:
    """The largest score is first and ties share the best rank."""
    scores = np.random.default_rng(1).integers(0, 4, size=(30, 6)).astype(float)

    assert (competition_ranks(scores) == rankdata(-scores, method="min", axis=1)).all()


@pytest.mark.slow
def test_the_interval_of_a_mean_covers() -> None:
    """Over 400 samples of 40 units a 95 % interval holds the truth in about 94 of 100."""
    rng = np.random.default_rng(11)
    hits = 0
    for _ in range(400):
        sample = rng.normal(size=40)
        low, high = percentile_interval((draw_counts(40, 500, rng) @ sample / 40)[:, None], 0.95)
        hits += bool(low[0] <= 0.0 <= high[0])

    assert 0.90 <= hits / 400 <= 0.98
