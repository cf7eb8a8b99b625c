"""Weights by the unit's own name: shared where the name is, independent otherwise, whatever else is drawn."""

import numpy as np
import pytest
from scipy import stats

from app.stats.resample import NamedResamples, named_weights, unit_keys

NAMES = [("lift", "near", "7"), ("lift", "near", "8"), ("push", "near", "7")]
GOLDEN_KEYS = [9169305984149571402, 12302123363247860947, 17880127879004877944]
GOLDEN_WEIGHTS = [
    [0.7263485267254614, 0.16494256543258173, 0.4332068053078731],
    [0.08058295082353562, 0.011260667902352223, 0.15414402811667818],
]


def test_weights_are_drawn_as_they_always_were() -> None:
    """Golden numbers of keys and weights: whoever changes the hash or the generator moves every published rank."""
    keys = unit_keys(7, NAMES)

    assert keys.tolist() == GOLDEN_KEYS
    assert named_weights(keys, 2) == pytest.approx(np.array(GOLDEN_WEIGHTS), rel=1e-12)


def test_a_units_weight_does_not_depend_on_the_others() -> None:
    """Fewer units, or the same in another order, have the weights that they had."""
    whole = named_weights(unit_keys(1, NAMES), 50)
    some = named_weights(unit_keys(1, [NAMES[2], NAMES[0]]), 50)

    np.testing.assert_array_equal(some, whole[:, [2, 0]])


@pytest.mark.parametrize("batch_cells", [1, 7, 1000])
def test_the_batch_changes_no_weight(batch_cells: int) -> None:
    """Drawn one resample at a time or all at once."""
    values = np.arange(6.0).reshape(3, 2)
    whole = NamedResamples(unit_keys(1, NAMES), 20)
    parts = NamedResamples(unit_keys(1, NAMES), 20, batch_cells=batch_cells)

    np.testing.assert_array_equal(np.concatenate(list(parts.batches())), np.concatenate(list(whole.batches())))
    np.testing.assert_allclose(parts.means(values), whole.means(values), rtol=1e-14)


def test_names_of_other_words_are_other_units() -> None:
    """Words that are joined otherwise, another seed, and letters beyond ASCII."""
    keys = {
        *unit_keys(1, [("ab", "c"), ("a", "bc"), ("abc",), ("Größe",), ("a\x1fb",), ("a", "b")]).tolist(),
        *unit_keys(2, [("ab", "c")]).tolist(),
    }

    assert len(keys) == 7


def test_weights_are_exponential() -> None:
    """Mean and variance are one, and the whole distribution is that of the Bayesian bootstrap."""
    weights = named_weights(unit_keys(3, [(str(unit),) for unit in range(300)]), 300)

    assert stats.kstest(weights.ravel(), "expon").pvalue > 0.001
    assert weights.min() > 0.0


def test_units_of_other_names_are_independent() -> None:
    """Over many resamples no two units go together, and no two resamples over many units."""
    weights = named_weights(unit_keys(4, [(str(unit),) for unit in range(100)]), 2000)
    between = np.corrcoef(weights.T) - np.eye(100)

    assert np.abs(between).max() < 0.12
    assert np.abs(between.mean()) < 0.001


def test_the_bootstrap_error_of_a_mean_is_the_known_one() -> None:
    """Exponential weights give a mean of n units the variance of its values, over n, divided by n + 1."""
    values = np.random.default_rng(5).normal(size=(40, 1))
    drawn = NamedResamples(unit_keys(6, [(str(unit),) for unit in range(40)]), 20_000).means(values)

    assert drawn.var() == pytest.approx(values.var() / 41, rel=0.05)
