"""The bootstrap of episodes within seeds, and the aggregates of its resamples."""

import numpy as np
import pytest
from scipy.stats import trim_mean

from app.stats.cluster import (
    Interval,
    Sample,
    chamber_generator,
    decide,
    draw_chamber,
    draw_clusters,
    estimate,
    group_sample,
    interquartile_mean,
    mean,
    profile_band,
)
from tests.cases.cluster_oracle import double_loop

AGGREGATES = {"mean": mean, "iqm": interquartile_mean}


def sample_of(by_seed: dict[int, list[float]]) -> Sample:
    """Return the sample of literal scores by seed."""
    values = np.array([value for values in by_seed.values() for value in values])
    return group_sample(values, np.array([seed for seed, values in by_seed.items() for _ in values]))


def some_scores(n_seeds: int, n_episodes: int, *, binary: bool) -> dict[int, list[float]]:
    """Return scores whose seeds differ."""
    rng = np.random.default_rng(1)
    centres = rng.uniform(0.2, 0.8, size=n_seeds)
    drawn = [rng.uniform(size=n_episodes) for _ in centres]
    if binary:
        drawn = [(values < centre).astype(float) for values, centre in zip(drawn, centres, strict=True)]
    else:
        drawn = [values + centre for values, centre in zip(drawn, centres, strict=True)]
    return {seed: values.tolist() for seed, values in enumerate(drawn)}


@pytest.mark.parametrize("n_items", [1, 2, 3, 4, 5, 7, 8, 101])
def test_the_interquartile_mean_is_scipys(n_items: int) -> None:
    """It equals trim_mean(x, 0.25), ties and odd sizes included."""
    values = np.random.default_rng(n_items).integers(0, 6, size=n_items).astype(float)
    sample = group_sample(values, np.zeros(n_items, dtype=np.int64))

    assert interquartile_mean(sample.distinct, sample.counts)[0] == pytest.approx(trim_mean(values, 0.25), abs=1e-15)


@pytest.mark.parametrize("binary", [True, False])
def test_the_compatible_stream_is_the_double_loop(binary: bool) -> None:
    """The same generator gives the same replicates as the definition, draw for draw."""
    scores = some_scores(5, 20, binary=binary)
    sample = sample_of(scores)
    actual = estimate(sample, AGGREGATES, draw_chamber(sample, 200, chamber_generator(0, "a")), level=0.95)
    means, middles = double_loop(scores, 200, chamber_generator(0, "a"))

    assert actual["mean"].replicates == pytest.approx(means, abs=1e-12)
    assert actual["iqm"].replicates == pytest.approx(middles, abs=1e-12)


@pytest.mark.heavy
@pytest.mark.parametrize("binary", [True, False])
def test_the_default_stream_has_the_distribution_of_the_definition(binary: bool) -> None:
    """Mean and spread of 1,500 replicates agree with the double loop within Monte-Carlo error."""
    scores = some_scores(6, 30, binary=binary)
    sample = sample_of(scores)
    actual = estimate(sample, AGGREGATES, draw_clusters(sample, 1500, np.random.default_rng(5)), level=0.95)
    means, _ = double_loop(scores, 1500, np.random.default_rng(6))
    ours = actual["mean"].replicates

    assert ours is not None
    assert ours.mean() == pytest.approx(means.mean(), abs=4 * means.std() / 1500**0.5)
    assert ours.std() == pytest.approx(means.std(), rel=0.08)


def test_the_order_of_seeds_does_not_matter() -> None:
    """The same seeds in another order give the same replicates."""
    scores = some_scores(5, 20, binary=False)
    backwards = dict(reversed(scores.items()))
    draws = [
        np.concatenate(list(draw_clusters(sample_of(s), 50, np.random.default_rng(2)))) for s in (scores, backwards)
    ]

    assert (draws[0] == draws[1]).all()


def test_the_batch_does_not_matter() -> None:
    """Small batches draw what one large batch draws."""
    sample = sample_of(some_scores(4, 25, binary=False))
    whole = np.concatenate(list(draw_clusters(sample, 60, np.random.default_rng(2))))
    parts = list(draw_clusters(sample, 60, np.random.default_rng(2), batch_cells=700))

    assert len(parts) > 1
    assert (np.concatenate(parts) == whole).all()


def test_a_profiles_band_holds_the_profile() -> None:
    """Low and high lie around the share at each threshold."""
    sample = sample_of(some_scores(5, 40, binary=False))
    grid = np.linspace(0.0, 2.0, 9)
    band = profile_band(sample, grid, draw_clusters(sample, 500, np.random.default_rng(0)), level=0.95)

    assert band is not None
    shares, low, high = band
    assert ((low <= shares) & (shares <= high)).all()


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.2, 0.5, "supported"),
        (0.1, 0.19, "not supported"),
        (0.1, 0.2, "inconclusive"),
        (0.1, 0.3, "inconclusive"),
        (None, None, "inconclusive"),
    ],
)
def test_a_claim_is_decided_by_the_whole_interval(low: float | None, high: float | None, verdict: str) -> None:
    """At the threshold is enough; across it nothing is decided; without an interval nothing is."""
    assert decide(Interval(0.2, low, high, None, False, None), 0.2, "greater") == verdict


def test_a_claim_of_less_is_the_mirror_image() -> None:
    """An interval wholly below the threshold supports "less"."""
    assert decide(Interval(-0.3, -0.4, -0.2, None, False, None), -0.2, "less") == "supported"


@pytest.mark.parametrize("sizes", [(4, 4, 4), (1, 5, 3)])
def test_another_generator_is_drawn_from_in_chambers_order_too(sizes: tuple[int, ...]) -> None:
    """One whose numbers are not read ahead; rows of seeds of different sizes come one by one, others together."""
    by_seed = {seed: (np.arange(size) + 10.0 * seed).tolist() for seed, size in enumerate(sizes)}
    sample = sample_of(by_seed)
    for generator in (np.random.MT19937, np.random.PCG64):
        batches = list(draw_chamber(sample, 20, np.random.Generator(generator(5))))
        counts = np.concatenate(batches)
        means, _ = double_loop(by_seed, 20, np.random.Generator(generator(5)))

        assert len(batches) == (1 if len(set(sizes)) == 1 else 20)
        assert counts @ sample.distinct / counts.sum(axis=1) == pytest.approx(means)
