"""Rankings with ties: the average over every order of the tied examples, whoever is sent in which order."""

from dataclasses import fields
from itertools import permutations

import numpy as np
import pytest

from app.stats.arrays import FloatArray
from app.stats.predictions import rank_groups

GROUPS = [
    ([0.5, 0.5, 0.5, 0.5], [0.0, 3.0, 0.0, 1.0]),
    ([0.9, 0.5, 0.5, 0.1, 0.1], [0.0, 2.0, 0.0, 1.0, 1.0]),
    ([0.9, 0.9, 0.5, 0.5, 0.5], [1.0, 1.0, 0.0, 1.0, 0.0]),
    ([0.3, 0.2, 0.1], [0.0, 0.0, 0.0]),
    ([0.3, 0.3, 0.1], [0.0, 0.0, 1.0]),
    ([0.7], [2.0]),
]


def scores_of(relevance: FloatArray, truncation: int) -> tuple[float, float, float]:
    """Return MRR, average precision and precision at one of a ranking without ties."""
    hits = np.flatnonzero(relevance[:truncation] > 0)
    precisions = [(relevance[: at + 1] > 0).mean() for at in hits]
    most = min(truncation, np.count_nonzero(relevance > 0))
    is_best = relevance[0] == relevance.max() and relevance[0] > 0
    return (1 / (hits[0] + 1) if len(hits) else 0.0, float(sum(precisions)) / max(most, 1), float(is_best))


@pytest.mark.parametrize("truncation", [1, 2, 3, 10])
@pytest.mark.parametrize(("predicted", "relevance"), GROUPS)
def test_ties_count_as_the_average_over_every_order(
    predicted: list[float], relevance: list[float], truncation: int
) -> None:
    """By definition: every order of all examples that the predictions allow."""
    values, truth = np.array(predicted), np.array(relevance)
    orders = [list(order) for order in permutations(range(len(values)))]
    allowed = [order for order in orders if (np.diff(values[order]) <= 0).all()]
    expected = np.mean([scores_of(truth[order], truncation) for order in allowed], axis=0)
    actual = rank_groups(values, truth, np.zeros(len(values), dtype=np.int64)).tied_scores(truncation)

    assert [actual.mrr[0], actual.average_precision[0], actual.precision_at_1[0]] == pytest.approx(expected.tolist())


def test_leaving_relevant_items_out_of_the_first_ranks_does_not_pay() -> None:
    """One of five relevant items first and the others behind everything else: a fifth, where YDF's rule says 1."""
    relevance, groups = np.repeat([1.0, 0.0], 5), np.zeros(10, dtype=np.int64)
    hidden = np.array([9.0, 0.0, 0.0, 0.0, 0.0, 8.0, 7.0, 6.0, 5.0, 4.0])
    ranked = rank_groups(hidden, relevance, groups)
    whole = rank_groups(relevance, relevance, groups)

    assert ranked.tied_scores(5).average_precision.tolist() == [0.2]
    assert ranked.scores(5).average_precision.tolist() == [1.0]
    assert whole.tied_scores(5).average_precision.tolist() == [1.0]


def test_without_ties_the_scores_are_the_plain_ones() -> None:
    """There is one order only, and the first ranks are all of them."""
    rng = np.random.default_rng(5)
    predicted, relevance = rng.normal(size=200), rng.integers(0, 3, 200).astype(np.float64)
    ranked = rank_groups(predicted, relevance, np.repeat(np.arange(40), 5))
    plain, tied = ranked.scores(5), ranked.tied_scores(5)

    assert tied.mrr == pytest.approx(plain.mrr)
    assert tied.average_precision == pytest.approx(plain.average_precision)


def test_the_order_of_the_examples_changes_nothing() -> None:
    """A file of labels in another order gives the same scores."""
    rng = np.random.default_rng(6)
    predicted, relevance = rng.integers(0, 3, 60).astype(np.float64), rng.integers(0, 3, 60).astype(np.float64)
    groups, order = np.repeat(np.arange(10), 6), rng.permutation(60)
    first = rank_groups(predicted, relevance, groups).tied_scores(5)
    second = rank_groups(predicted[order], relevance[order], groups[order]).tied_scores(5)

    assert first.precision_at_1.tolist() == second.precision_at_1.tolist()
    assert first.average_precision == pytest.approx(second.average_precision, abs=1e-15)


def test_very_large_ties_are_still_exact() -> None:
    """A hundred thousand tied examples, every second one relevant: precision is one half everywhere."""
    n_items = 100_000
    relevance = (np.arange(n_items) % 2).astype(np.float64)
    actual = rank_groups(np.zeros(n_items), relevance, np.zeros(n_items, dtype=np.int64)).tied_scores(1)

    assert actual.average_precision.tolist() == pytest.approx([0.5], abs=1e-9)
    assert actual.precision_at_1.tolist() == [0.5]


def test_one_prediction_for_all_is_ranked_without_sorting_again() -> None:
    """Everything that sorting equal predictions gives, of groups in any order and of several sizes."""
    rng = np.random.default_rng(5)
    groups, relevance = rng.integers(0, 9, 60), rng.integers(0, 4, 60).astype(np.float64)
    created = rank_groups(rng.random(60), relevance, groups).of_equals()
    expected = rank_groups(np.zeros(60), relevance, groups)

    for field in fields(expected):
        assert (getattr(created, field.name) == getattr(expected, field.name)).all(), field.name
