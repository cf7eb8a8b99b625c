"""Metrics of predictions: YDF's own numbers on its cases, scikit-learn's and scipy's rules, and values by hand."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_1samp

from app.stats import predictions
from app.stats.arrays import FloatArray, IntArray
from app.stats.calibrated import chi_squared, clopper_pearson_ydf, hanley_mcneil, logistic, wilson
from app.stats.curves import threshold_curve
from app.stats.pairs import examples_needed, examples_needed_of_all, holm_adjusted, mcnemar_pairs, paired_t_pairs
from app.stats.predictions import (
    GroupScores,
    conditional_mean,
    confusion_matrix,
    constant_predictor,
    default_rmse,
    normal_quantiles,
    predicted_classes,
    rank_groups,
    root_mean_squared_error,
)
from tests.cases.curve_oracle import average_precision, precision_recall_area, roc_area

CASES = Path(__file__).parents[1] / "data" / "ydf"
CLASSIFICATION = sorted(path.stem for path in CASES.glob("*.json") if path.stem.startswith(("binary", "multiclass")))


def case(name: str) -> Any:
    """Return one case of YDF."""
    return json.loads((CASES / f"{name}.json").read_text())


def examples(name: str) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return probabilities, class numbers and weights of a case of classification."""
    given = case(name)["input"]
    probabilities = np.array(given["predictions"])
    if probabilities.ndim == 1:
        probabilities = np.column_stack([1.0 - probabilities, probabilities])
    labels = [given["label_classes"].index(y) if isinstance(y, str) else y for y in given["labels"]]
    weights = np.ones(len(labels)) if given["weights"] is None else np.array(given["weights"])
    return probabilities, np.array(labels), weights


@pytest.mark.parametrize("name", CLASSIFICATION)
def test_the_confusion_and_the_constant_predictor_are_ydfs(name: str) -> None:
    """And the interval that YDF prints."""
    probabilities, labels, weights = examples(name)
    expected = case(name)["expected"]
    n_classes = probabilities.shape[1]
    confusion = confusion_matrix(labels, predicted_classes(probabilities), n_classes, weights)
    constant = constant_predictor(labels, n_classes, weights)
    printed = clopper_pearson_ydf(float(np.trace(confusion)), float(confusion.sum()))

    assert constant is not None
    assert confusion.tolist() == expected["confusion_matrix"]
    assert [constant.accuracy, constant.log_loss] == pytest.approx(
        [expected["default_accuracy"], expected["default_logloss"]], abs=1e-6
    )
    assert printed == pytest.approx(expected["accuracy_ci95_W_label"], abs=1e-6)


@pytest.mark.parametrize("name", CLASSIFICATION)
def test_areas_and_their_intervals_are_ydfs(name: str) -> None:
    """One class against the rest, in turn; where YDF computes nothing, neither do we."""
    probabilities, labels, weights = examples(name)
    for number, expected in enumerate(case(name)["expected"]["one_vs_others"]):
        curve = threshold_curve(probabilities[:, number], labels == number, weights)
        areas = (roc_area(curve), precision_recall_area(curve), average_precision(curve))
        if not expected["computed"]:
            assert areas == (None, None, None)
            continue
        positives = float(weights[labels == number].sum())
        by_hanley = hanley_mcneil(areas[0] or 0.0, positives, float(weights.sum()) - positives, 0.95)
        on_logit = logistic(areas[1] or 0.0, positives, 0.95)

        assert areas == pytest.approx([expected["auc"], expected["pr_auc"], expected["ap"]], abs=1e-6)
        assert by_hanley == pytest.approx(expected["auc_ci95_H"], abs=1e-6)
        assert on_logit is None or on_logit == pytest.approx(expected["pr_auc_ci95_L"], abs=1e-6)


@pytest.mark.parametrize("name", ["regression", "regression_weighted"])
def test_errors_of_values_are_ydfs(name: str) -> None:
    """RMSE with its interval, and the default RMSE."""
    given, expected = case(name)["input"], case(name)["expected"]
    predicted, labels = np.array(given["predictions"]), np.array(given["labels"])
    weights = np.ones(len(labels)) if given["weights"] is None else np.array(given["weights"])
    rmse = root_mean_squared_error(predicted, labels, weights)

    assert rmse is not None
    assert [rmse, default_rmse(labels, weights)] == pytest.approx(
        [expected["rmse"], expected["default_rmse"]], abs=1e-6
    )
    assert chi_squared(rmse, len(labels), 0.95) == pytest.approx(expected["rmse_ci95_X2"], abs=1e-6)


def score_groups(predicted: FloatArray, relevance: FloatArray, groups: IntArray, truncation: int = 5) -> GroupScores:
    """Return the scores of every group at a truncation."""
    return rank_groups(predicted, relevance, groups).scores(truncation)


@pytest.mark.parametrize("name", ["ranking", "ranking_ties"])
def test_scores_of_groups_are_ydfs(name: str) -> None:
    """NDCG, its default, MRR, MAP and precision at one, group by group."""
    given = case(name)["input"]
    actual = score_groups(np.array(given["predictions"]), np.array(given["labels"]), np.array(given["ranking_groups"]))
    expected = {
        key: [group[key] for group in case(name)["per_group"]] for key in ("ndcg", "default_ndcg", "mrr", "map", "p1")
    }

    assert actual.ndcg == pytest.approx(expected["ndcg"], abs=1e-6)
    assert actual.default_ndcg == pytest.approx(expected["default_ndcg"], abs=1e-6)
    assert actual.mrr == pytest.approx(expected["mrr"], abs=1e-6)
    assert actual.average_precision == pytest.approx(expected["map"], abs=1e-6)
    assert actual.precision_at_1 == pytest.approx(expected["p1"], abs=1e-6)


def test_mcnemar_is_the_exact_binomial_test() -> None:
    """Of the cases with whole counts; YDF's own leave the observed count out."""
    counts = [
        row
        for row in case("comparison")["mcnemar"]
        if float(row["n12"]).is_integer() and float(row["n21"]).is_integer()
    ]
    actual = [mcnemar(int(row["n12"]), int(row["n21"])) for row in counts]

    assert actual == pytest.approx([row["exact_p"] for row in counts], abs=1e-12)
    assert mcnemar(9, 3) == pytest.approx(binomtest(9, 12, 0.5, alternative="greater").pvalue)


def mcnemar(n_first_only: int, n_second_only: int) -> float:
    """Return the p-value of a first entrant against a second one, who are both right on ten more examples."""
    first = np.repeat([1.0, 0.0, 1.0], [n_first_only, n_second_only, 10])
    second = np.repeat([0.0, 1.0, 1.0], [n_first_only, n_second_only, 10])
    return float(mcnemar_pairs(np.column_stack([first, second])).p_value[0, 1])


def test_the_paired_t_test_is_scipys() -> None:
    """With the sample's standard deviation."""
    sample = np.array(case("comparison")["paired_t"]["sample"])

    assert paired_t(sample) == pytest.approx(ttest_1samp(sample, 0.0, alternative="greater").pvalue, abs=1e-12)


def test_without_a_spread_there_is_no_t_test() -> None:
    """All differences equal, or a single one."""
    assert np.isnan([paired_t(np.array([1.0, 1.0])), paired_t(np.array([1.0]))]).all()


def paired_t(differences: FloatArray) -> float:
    """Return the p-value of scores that differ so from those of another entrant."""
    return float(paired_t_pairs(np.column_stack([differences, np.zeros(len(differences))])).p_value[0, 1])


def test_holm_multiplies_the_smallest_most() -> None:
    """0.01 × 3, then 0.02 × 2, and never less than the one before."""
    assert holm_adjusted([0.04, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])


def test_a_smaller_difference_needs_more_examples() -> None:
    """Half of it, four times as many; none at all cannot be shown, nor what no one could collect."""
    assert examples_needed(1e-9, 1.0, 0.95) is None
    assert examples_needed(1e-200, 1e150, 0.95) is None
    assert (examples_needed(0.5, 1.0, 0.95), examples_needed(0.25, 1.0, 0.95), examples_needed(0.0, 1.0, 0.95)) == (
        32,
        126,
        None,
    )


def test_wilson_stays_inside_zero_and_one() -> None:
    """Also where everything is right, and where there is nothing there is no interval."""
    perfect = wilson(10, 10, 0.95)

    assert perfect == pytest.approx((0.7225, 1.0), abs=1e-4)
    assert wilson(0, 0, 0.95) is None


def test_the_logit_has_no_interval_at_its_ends() -> None:
    """An area of one has no logit."""
    assert (logistic(1.0, 10, 0.95), logistic(0.0, 10, 0.95)) == (None, None)
    assert logistic(1.0 - 2e-16, 10, 0.95) is None


def test_the_logit_near_its_ends_overflows_nothing() -> None:
    """A tiny area of few positives: the interval is everything."""
    assert logistic(1e-9, 1e-3, 0.95) == (0.0, 1.0)


def test_of_equal_probabilities_the_lowest_class_wins() -> None:
    """Of two classes the second one from one half on."""
    assert predicted_classes(np.array([[0.4, 0.4, 0.2]])).tolist() == [0]
    assert predicted_classes(np.array([[0.5, 0.5]])).tolist() == [1]


def test_bins_are_told_by_their_centres() -> None:
    """Two bins of [0, 1]: centres at a quarter and three quarters; weights are counted."""
    bins = conditional_mean(np.array([0.0, 0.4, 1.0]), np.array([1.0, 3.0, 7.0]), np.array([1.0, 3.0, 1.0]), n_bins=2)

    assert (bins.centre.tolist(), bins.weight.tolist(), bins.mean.tolist()) == ([0.25, 0.75], [4.0, 1.0], [2.5, 7.0])
    assert bins.n_examples.tolist() == [2, 1]


def test_bins_may_reach_from_and_to_a_mean_of_extremes() -> None:
    """The outermost ones also hold what lies beyond."""
    by = np.array([0.0, 2.0, 4.0, 6.0, 8.0])
    bins = conditional_mean(by, by, np.ones(5), n_bins=2, n_extreme=2)

    assert (bins.centre.tolist(), bins.n_examples.tolist()) == ([2.5, 5.5], [2, 3])


@pytest.mark.parametrize(("only", "width"), [(0.5, 1.0), (-8.0, 8.0)])
def test_of_equal_numbers_the_bins_begin_there_and_are_as_wide_as_the_number(only: float, width: float) -> None:
    """All are in the first bin; together the bins are at least 1 wide, however small the number."""
    bins = conditional_mean(np.full(3, only), np.array([1.0, 2.0, 6.0]), np.ones(3), n_bins=2)

    assert bins.centre.tolist() == [only + 0.25 * width, only + 0.75 * width]
    assert (bins.mean[0], bins.n_examples.tolist()) == (3.0, [3, 0])


def test_normal_residuals_lie_on_the_diagonal() -> None:
    """Their quantiles are the theoretical ones, up to chance."""
    residuals = np.random.default_rng(0).normal(3.0, 2.0, size=2000)
    theoretical, observed = normal_quantiles(residuals, np.ones(2000))

    assert np.abs(theoretical - observed)[100:-100].max() < 0.15


@pytest.mark.parametrize("seed", range(6))
def test_every_group_is_scored_as_if_it_were_alone(seed: int) -> None:
    """All groups at once are each group by itself, by the definition, with ties, gaps in the numbers and no hits."""
    rng = np.random.default_rng(seed)
    n_examples, truncation = int(rng.integers(1, 60)), int(rng.integers(1, 8))
    groups = rng.integers(0, 6, n_examples) * 7
    predicted = rng.integers(0, 6, n_examples).astype(np.float64)
    relevance = (rng.integers(0, 4, n_examples) * (rng.random(n_examples) < 0.7)).astype(np.float64)
    actual = score_groups(predicted, relevance, groups, truncation)
    alone = [
        score_groups(
            predicted[groups == group], relevance[groups == group], np.zeros((groups == group).sum(), int), truncation
        )
        for group in np.unique(groups)
    ]

    for name in ("ndcg", "default_ndcg", "mrr", "average_precision", "precision_at_1"):
        assert getattr(actual, name) == pytest.approx([getattr(one, name)[0] for one in alone], abs=1e-12)


def test_keys_too_large_for_one_number_are_sorted_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Millions of groups with as many distinct predictions would overflow; the order is the same."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 40, 300)
    data = rng.integers(0, 9, 300).astype(np.float64), rng.integers(0, 4, 300).astype(np.float64), groups
    actual = score_groups(*data)
    monkeypatch.setattr(predictions, "MAX_COMBINED", 50)

    for name in ("ndcg", "default_ndcg", "mrr", "average_precision", "precision_at_1"):
        assert getattr(score_groups(*data), name) == pytest.approx(getattr(actual, name), abs=1e-12)


def test_rankings_by_hand() -> None:
    """Relevances 0, 2, 1 by falling prediction, the last two tied: the definition written out."""
    actual = score_groups(np.array([3.0, 1.0, 1.0]), np.array([0.0, 2.0, 1.0]), np.zeros(3, dtype=np.int64), 2)
    ideal = 3.0 + 1.0 / np.log2(3)

    assert actual.ndcg[0] == pytest.approx((0.0 + 2.0 / np.log2(3)) / ideal)
    assert actual.default_ndcg[0] == pytest.approx(4 / 3 * (1.0 + 1.0 / np.log2(3)) / ideal)
    assert (actual.mrr[0], actual.average_precision[0], actual.precision_at_1[0]) == (0.5, 0.5, 0.0)


def test_many_pairs_need_as_many_examples_as_each_of_them() -> None:
    """Where one alone has no number neither have many."""
    means = np.array([0.5, -0.25, 0.0, 1e-9, 1e-200, 0.3, 0.1])
    deviations = np.array([1.0, 1.0, 1.0, 1.0, 1e150, 0.7, 0.0])
    alone = [examples_needed(*pair, 0.95) for pair in zip(means[:-1].tolist(), deviations[:-1].tolist(), strict=True)]

    actual = examples_needed_of_all(means, deviations, 0.95)

    assert [None if np.isnan(n) else int(n) for n in actual.tolist()] == [*alone, None]


@pytest.mark.parametrize("n_examples", [1, 7, 8, 9, 1003])
def test_mcnemar_counts_bytes_as_it_counts_numbers(n_examples: int) -> None:
    """Of examples that fill no whole byte of bits too; both as they are counted one by one."""
    right = np.random.default_rng(n_examples).random((n_examples, 5)) < 0.6
    numbers, counted = (mcnemar_pairs(right.astype(of)) for of in (np.float64, np.int8))
    assert numbers.only is not None
    assert counted.only is not None

    assert numbers.only.tolist() == counted.only.tolist()
    assert numbers.only.tolist() == [[int((a & ~b).sum()) for b in right.T] for a in right.T]
    assert numbers.p_value.tolist() == counted.p_value.tolist()
