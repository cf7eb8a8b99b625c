"""Numbers drawn by compiled loops are those that numpy would have drawn, and its generator goes on as if it had."""

import numpy as np
import pytest

from app.stats.cluster import draw_chamber, group_sample
from app.stats.resample import ALL_USED, use_halves
from app.stats.strata import resample_means


@pytest.mark.parametrize("n_units", [1, 2, 7, 8, 10, 17, 128, 129])
def test_means_of_resamples_are_those_of_the_numbers_that_numpy_draws(n_units: int) -> None:
    """To the last bit, however many are added up; also of a generator that has begun a word."""
    samples = np.random.default_rng(0).normal(size=(3, n_units))
    ours, numpys = np.random.default_rng(1), np.random.default_rng(1)
    for rng in (ours, numpys):
        rng.integers(0, 10, size=3)

    actual = resample_means(samples, 5, ours)
    drawn = numpys.integers(0, n_units, size=(3, 5, n_units))
    expected = samples[np.arange(3)[:, None, None], drawn].mean(axis=2)

    assert actual.tobytes() == expected.tobytes()
    assert ours.integers(0, 10, size=3).tolist() == numpys.integers(0, 10, size=3).tolist()


@pytest.mark.parametrize("sizes", [[3, 3], [1, 4, 2], [1, 1], [5]])
def test_chambers_stream_is_drawn_as_its_own_loop_draws_it(sizes: list[int]) -> None:
    """The seeds of a resample, then the episodes of each drawn seed."""
    values = np.arange(float(sum(sizes)))
    sample = group_sample(values, np.repeat(np.arange(len(sizes)), sizes))
    first = np.cumsum([0, *sizes])
    ours, numpys = np.random.default_rng(2), np.random.default_rng(2)
    expected = []
    for _ in range(20):
        drawn = [numpys.integers(0, len(sizes)) for _ in sizes]
        items = [first[at] + numpys.integers(0, sizes[at]) for at in drawn for _ in range(sizes[at])]
        expected.append(np.bincount(items, minlength=len(values)).tolist())

    assert np.concatenate(list(draw_chamber(sample, 20, ours))).tolist() == expected
    assert ours.random() == numpys.random()


def test_a_generator_that_had_too_few_numbers_at_hand_is_as_it_was() -> None:
    """Then numpy draws: so it is with the generators of other streams."""
    others = np.random.Generator(np.random.MT19937(1))
    ours, untouched = np.random.default_rng(1), np.random.default_rng(1)

    assert not use_halves(others, 4, lambda halves: 4)
    assert not use_halves(ours, 4, lambda halves: ALL_USED)
    assert ours.random() == untouched.random()
