"""The order of examples within their groups: small groups one by one, large and mixed ones by one sort of all."""

import numpy as np
import pytest

from app.stats import predictions
from app.stats.predictions import MOST_IN_GROUP, orders_within, rank_groups


@pytest.mark.parametrize("largest", [1, 2, MOST_IN_GROUP, MOST_IN_GROUP + 1])
@pytest.mark.parametrize("is_mixed", [False, True])
@pytest.mark.parametrize("n_distinct", [1, 3, 1000])
def test_examples_come_by_group_and_falling_values(largest: int, is_mixed: bool, n_distinct: int) -> None:
    """With ties in both values and groups of different sizes, whose numbers have gaps, together or mixed."""
    rng = np.random.default_rng(largest + n_distinct)
    groups = np.repeat(np.arange(12) * 3 - 5, rng.integers(1, largest + 1, 12) if largest > 2 else largest)
    groups = rng.permutation(groups) if is_mixed else groups
    first, second = rng.integers(0, n_distinct, (2, len(groups))) / 7.0 - 1.0
    expected = (np.lexsort([-second, -first, groups]), np.lexsort([-second, groups]))

    for order, wanted, keys in zip(
        orders_within(groups, first, second), expected, ((groups, first, second), (groups, second)), strict=True
    ):
        assert sorted(order.tolist()) == list(range(len(groups)))
        assert all((key[order] == key[wanted]).all() for key in keys)


def test_more_keys_than_fit_into_one_number_do_not_overflow() -> None:
    """Two keys of 2³⁵ distinct values have 2⁷⁰ pairs: the last one would wrap round and come first."""
    first, second = (predictions._Key(np.array(of), np.array(of), 2**35) for of in ([2**34, 0, 1], [1, 0, 2]))

    assert predictions._order(first, second).tolist() == [1, 2, 0]


def test_rankings_are_the_same_by_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the last bit: what is equal in prediction, relevance and group may stand in any order."""
    rng = np.random.default_rng(5)
    groups, relevance = np.repeat(np.arange(40), 10), rng.integers(0, 5, 400).astype(np.float64)
    predicted = rng.integers(0, 6, 400) / 3.0
    inserted = rank_groups(predicted, relevance, groups)
    monkeypatch.setattr(predictions, "MOST_IN_GROUP", 9)
    sorted_at_once = rank_groups(predicted, relevance, groups)

    for name, values in vars(inserted).items():
        assert values.tobytes() == getattr(sorted_at_once, name).tobytes(), name
    for truncation in (1, 5, 10, 30):
        assert inserted.ndcg(truncation).tobytes() == inserted.scores(truncation).ndcg.tobytes()
        discount = 1.0 / np.log2(inserted.rank + 2.0) * (inserted.rank < truncation)
        reached, ideal = (np.add.reduceat(of * discount, inserted.starts) for of in (inserted.gain, inserted.best))
        assert inserted.ndcg(truncation).tolist() == (reached / ideal).tolist()
