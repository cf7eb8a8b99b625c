"""What the statistics refuse at the door: an argument that cannot be meant is an error, never a number."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from app.stats import calibrated, cluster, curve_bands, curves, pairs, predictions, resample, strata
from app.stats.arrays import InvalidArgument, share

NAN, INF = float("nan"), float("inf")
RNG = np.random.default_rng(1)
ONES = np.ones(2)
SOME = np.array([[1.0, 2.0], [2.0, 1.0]])
GAP = np.array([[1.0, NAN], [2.0, 1.0]])
SAMPLE = cluster.group_sample(np.array([0.0, 1.0]), np.array([7, 8]))
SORTED = curves.sort_scores(np.array([0.1, 0.9]), np.array([False, True]))
CALLS = curves.count_calls(SORTED, np.ones((1, 2)))
VOLUME = curves.sort_volume(np.array([0.1, 0.9]), np.array([False, True]))
BOTH = np.array([False, True])
KEYS = np.array([0, 1])
FIRST_GROUP = np.zeros(2, dtype=np.int64)
RANKED = predictions.rank_groups(ONES, ONES, FIRST_GROUP)
CURVE = np.array([0.0, 1.0])


def group(**changes: Any) -> strata.Group:
    """Return a group of two records with some of it changed."""
    fields: dict[str, Any] = {"values": ONES, "records": KEYS}
    return strata.Group("A", "mae", "s", **(fields | changes))


def board(n_units: int = 2, n_resamples: int = 5) -> resample.Resamples:
    """Return resamples of some units."""
    return resample.Resamples(n_units, n_resamples, lambda: np.random.default_rng(1))


def balanced(*estimators: str) -> strata.Aggregate:
    """Return the mean over one stratum of each of these estimators."""
    return strata.balance([strata.Aggregate(name, "mae", "s", 1.0, 1, 1) for name in estimators])


CONTRAST = pairs.Contrast(np.subtract, np.asarray, is_antisymmetric=True)
INTERVAL = cluster.Interval(0.0, -1.0, 1.0, None, False, None)
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "ranks of NaN": (lambda: resample.competition_ranks(np.array([1.0, NAN, 0.5])), "scores holds NaN, first at (1,)"),
    "ranks of nobody": (lambda: resample.competition_ranks(np.zeros((3, 0))), "n_entrants >= 1"),
    "a level of 95": (lambda: resample.percentile_interval(SOME, 95.0), "level is 95.0"),
    "a level of 0": (lambda: resample.percentile_interval(SOME, 0.0), "level is 0.0"),
    "a level of 1": (lambda: resample.percentile_interval(SOME, 1.0), "level is 1.0"),
    "a level of NaN": (lambda: resample.percentile_interval(SOME, NAN), "level is nan"),
    "an interval of nothing": (lambda: resample.percentile_interval(np.zeros((0, 2)), 0.9), "n_resamples >= 1"),
    "an interval of one axis": (lambda: resample.percentile_interval(ONES, 0.9), "shape (2,)"),
    "first among NaN": (lambda: resample.probability_best(GAP), "scores holds NaN, first at (0, 1)"),
    "beaten by NaN": (lambda: resample.probability_beats(GAP), "scores holds NaN, first at (0, 1)"),
    "no resample": (lambda: resample.draw_counts(3, 0, RNG), "n_resamples is 0"),
    "half a resample": (lambda: resample.draw_counts(3, 1.5, RNG), "n_resamples is 1.5"),  # type: ignore[arg-type]
    "no unit": (lambda: resample.draw_counts(0, 3, RNG), "n_units is 0"),
    "a board of no resample": (lambda: board(n_resamples=0), "n_resamples is 0"),
    "means of other units": (lambda: board().means(np.ones((3, 1))), "shape (3, 1); expected [2, n_columns]"),
    "a name of two": (lambda: resample.board_generator(1, "a\x1fb"), "U+001F"),
    "a seed of a half": (lambda: resample.board_generator(0.5), "rng_seed is 0.5"),  # type: ignore[arg-type]
    "a mean of NaN": (lambda: cluster.mean(np.array([NAN]), np.ones((1, 1))), "distinct holds NaN"),
    "a mean of nothing": (lambda: cluster.mean(ONES, np.zeros((1, 2))), "without an item"),
    "a mean of other counts": (lambda: cluster.mean(ONES, np.ones((1, 3))), "counts has the shape (1, 3)"),
    "an IQM out of order": (
        lambda: cluster.interquartile_mean(np.array([2.0, 1.0]), np.ones((1, 2))), "does not ascend: 1.0 at 1"
    ),
    "a gap below NaN": (lambda: cluster.optimality_gap(NAN), "threshold is nan"),
    "no threshold": (lambda: cluster.share_above(np.zeros(0)), "n_thresholds >= 1"),
    "an area of one threshold": (lambda: cluster.profile_area(np.ones(1), np.ones((1, 1))), "at least 2"),
    "no batch": (lambda: cluster.estimate(SAMPLE, {"mean": cluster.mean}, [], level=0.9), "no resample"),
    "an estimate of no level": (
        lambda: cluster.estimate(SAMPLE, {"mean": cluster.mean}, [np.ones((1, 2))], level=1.0), "level is 1.0"
    ),
    "a band of no batch": (lambda: cluster.profile_band(SAMPLE, CURVE, [], level=0.9), "no resample"),
    "an episode of NaN": (lambda: cluster.group_sample(np.array([NAN, 1.0]), KEYS), "values holds NaN"),
    "an infinite episode": (lambda: cluster.group_sample(np.array([INF, 1.0]), KEYS), "values holds inf"),
    "no episode": (lambda: cluster.group_sample(np.zeros(0), np.zeros(0, dtype=np.int64)), "n_items >= 1"),
    "seeds of halves": (lambda: cluster.group_sample(ONES, ONES), "clusters is of type float64"),  # type: ignore[arg-type]
    "seeds of others": (lambda: cluster.group_sample(ONES, np.array([1])), "clusters has the shape (1,)"),
    "sizes that do not sum": (lambda: cluster.Sample(CURVE, KEYS, np.array([1])), "sizes sum to 1; expected 2"),
    "no cluster drawn": (lambda: cluster.draw_clusters(SAMPLE, 0, RNG), "n_resamples is 0"),
    "no pooled draw": (lambda: cluster.draw_iid(SAMPLE, 0, RNG), "n_resamples is 0"),
    "no draw of CHAMBER's": (lambda: cluster.draw_chamber(SAMPLE, 0, RNG), "n_resamples is 0"),
    "a root below zero": (lambda: cluster.chamber_generator(-1, "a"), "root_seed is -1"),
    "a key twice": (lambda: cluster.match_pairs(ONES, np.array([0, 0]), ONES, KEYS, KEYS), "first_keys: a key occurs"),
    "a pair of NaN": (lambda: cluster.match_pairs(GAP[0], KEYS, ONES, KEYS, KEYS), "first holds NaN"),
    "a key of no cluster": (lambda: cluster.match_pairs(ONES, KEYS, ONES, KEYS, KEYS[:1]), "first_keys holds 0 to 1"),
    "a threshold of NaN": (lambda: cluster.decide(INTERVAL, NAN, "greater"), "threshold is nan"),
    "a third direction": (lambda: cluster.decide(INTERVAL, 0.0, "up"), "direction is 'up'"),  # type: ignore[arg-type]
    "half right": (lambda: pairs.mcnemar_pairs(SOME / 2), "zeros and ones"),
    "right or NaN": (lambda: pairs.mcnemar_pairs(np.array([[1.0, NAN]])), "zeros and ones"),
    "tests of no example": (lambda: pairs.mcnemar_pairs(np.zeros((0, 2))), "n_examples >= 1"),
    "t of NaN": (lambda: pairs.paired_t_pairs(GAP), "scores holds NaN"),
    "p of NaN": (lambda: pairs.holm_adjusted([0.1, NAN]), "p_values is nan"),
    "p of two": (lambda: pairs.holm_adjusted([2.0]), "p_values is 2.0"),
    "a power of one": (lambda: pairs.examples_needed(1.0, 1.0, 0.9, 1.0), "level is 1.0"),
    "a negative deviation": (lambda: pairs.examples_needed(1.0, -1.0, 0.9), "deviation is -1.0"),
    "more right than all": (lambda: calibrated.wilson(3, 2, 0.9), "n_right is 3"),
    "Wilson of NaN": (lambda: calibrated.wilson(NAN, 2, 0.9), "n_right is nan"),
    "Wilson of no level": (lambda: calibrated.wilson(1, 2, 95), "level is 95"),
    "fewer than none": (lambda: calibrated.clopper_pearson_ydf(0, -1), "n_examples is -1"),
    "an area of two": (lambda: calibrated.hanley_mcneil(2.0, 3, 3, 0.9), "area is 2.0"),
    "an area of NaN": (lambda: calibrated.logistic(NAN, 3, 0.9), "area is nan"),
    "a negative error": (lambda: calibrated.chi_squared(-1.0, 3, 0.9), "rmse is -1.0"),
    "half an example": (lambda: calibrated.chi_squared(1.0, 2.5, 0.9), "n_examples is 2.5"),  # type: ignore[arg-type]
    "a class of NaN": (lambda: predictions.predicted_classes(GAP), "probabilities holds NaN"),
    "a single class": (lambda: predictions.predicted_classes(np.ones((2, 1))), "at least 2"),
    "a third class": (lambda: predictions.confusion_matrix(np.array([0, 2]), KEYS, 2, ONES), "labels holds 0 to 2"),
    "negative weights": (lambda: predictions.constant_predictor(KEYS, 2, -ONES), "weights holds -1.0"),
    "a probability of two": (lambda: predictions.reliability(2 * ONES, BOTH, ONES), "scores holds 2.0"),
    "no bin": (lambda: predictions.reliability(CURVE, BOTH, ONES, n_bins=0), "n_bins is 0"),
    "a curve of NaN": (lambda: curves.threshold_curve(GAP[0], BOTH), "scores holds NaN"),
    "a curve of others": (lambda: curves.threshold_curve(ONES, BOTH[:1]), "is_positive has the shape (1,)"),
    "an error of NaN": (lambda: predictions.root_mean_squared_error(GAP[0], ONES, ONES), "predicted holds NaN"),
    "labels of infinity": (lambda: predictions.default_rmse(np.array([INF, 1.0]), ONES), "labels holds inf"),
    "bins of nothing": (lambda: predictions.conditional_mean(*[np.zeros(0)] * 3), "n_examples >= 1"),
    "quantiles of no weight": (lambda: predictions.normal_quantiles(ONES, 0 * ONES), "weights are all zero"),
    "a group of NaN": (lambda: predictions.rank_groups(GAP[0], ONES, FIRST_GROUP), "predicted holds NaN"),
    "no ranking": (lambda: predictions.rank_groups(*[np.zeros(0)] * 2, FIRST_GROUP[:0]), "n_examples >= 1"),
    "a truncation of zero": (lambda: RANKED.scores(0), "truncation is 0"),
    "a curve up to zero": (lambda: RANKED.ndcg_upto(0), "truncation is 0"),
    "no example drawn": (lambda: curve_bands.map_resamples(np.copy, 0, 3, RNG), "n_examples is 0"),
    "no resample of examples": (lambda: curve_bands.map_resamples(np.copy, 3, 0, RNG), "n_resamples is 0"),
    "flags of others": (lambda: curve_bands.flag_sums(np.ones((1, 2)), np.ones((1, 3), dtype=bool)), "shape (1, 3)"),
    "values of others": (lambda: curve_bands.weighted_sums(np.ones((1, 2)), np.ones((1, 3))), "shape (1, 3)"),
    "scores of NaN": (lambda: curves.sort_scores(GAP[0], BOTH), "scores holds NaN"),
    "weights too short": (lambda: curves.curve_areas(SORTED, np.ones((1, 1))), "expected [n_weightings, 2]"),
    "calls too short": (lambda: curves.count_calls(SORTED, np.ones((1, 1))), "expected [n_weightings, 2]"),
    "a constraint of two": (lambda: curves.at_recall(CALLS, "fpr", 2.0), "at is 2.0"),
    "a constrained what": (lambda: curves.recall_at(CALLS, "volume", 0.5), "given is 'volume'"),
    "a volume too short": (lambda: curves.precision_at_volume(VOLUME, np.ones((1, 1)), 0.5), "shape (1, 1)"),
    "records of others": (lambda: group(records=KEYS[:1]), "records has the shape (1,)"),
    "a ratio of one": (lambda: group(rule="ratio"), "expected denominators"),
    "a fourth rule": (lambda: group(rule="median"), "rule is 'median'"),
    "the balance of two": (lambda: balanced("A", "B"), "of several estimators"),
    "the balance of none": (lambda: balanced(), "aggregates are none"),
    "no ratio": (lambda: strata.resample_ratio(group(), 3, RNG), "no ratio"),
    "a ratio of no record": (
        lambda: strata.resample_ratio(group(rule="ratio", denominators=NAN * ONES), 3, RNG), "records with both is 0"
    ),
    "a sample of NaN": (lambda: strata.resample_means(GAP, 3, RNG), "samples holds NaN"),
    "generators for others": (lambda: strata.resample_means(SOME, 3, [RNG]), "number of generators is 1"),
    "replicates of none": (lambda: strata.interval_of(np.zeros(0), 0.9), "n_resamples >= 1"),
    "fewer enrolled than there are": (lambda: strata.average_ranks(SOME, 1), "n_enrolled is 1"),
    "weights of others": (lambda: strata.exact_scores(SOME, [1.0]), "expected [n_entrants, 1]"),
    "ranks of NaN weighted": (lambda: strata.exact_scores(GAP, [0.5, 0.5]), "ranks holds NaN"),
    "a weight of NaN": (lambda: strata.decided_by_name(SOME, [0.5, NAN]), "weights is nan"),
    "errors of NaN ranked": (lambda: pairs.average_ranks(GAP), "errors holds NaN"),
    "nobody to beat": (lambda: pairs.win_shares(np.ones((3, 1))), "number of entrants is 1"),
    "pairs of no level": (lambda: pairs.compare(SOME, CONTRAST, None, 1.5), "level is 1.5"),
    "hits that are not whole": (lambda: predictions.tied_scores(KEYS, ONES / 2, KEYS, KEYS, 1), "hits"),  # type: ignore[arg-type]
    "ties of other blocks": (lambda: predictions.tied_scores(KEYS, KEYS, KEYS[:1], KEYS, 1), "best has the shape"),
    "hits of other blocks": (lambda: predictions.tied_scores(KEYS, KEYS[:1], KEYS, KEYS, 1), "hits has the shape"),
    "an operating point of two": (lambda: curves.place_where("recall", CURVE, 2.0), "at is 2.0"),
    "an operating point of what": (lambda: curves.place_where("luck", CURVE, 0.5), "given is 'luck'"),
    "cells kept below none": (
        lambda: resample.Resamples(2, 5, lambda: RNG, keep_cells=-1), "keep_cells is -1"
    ),
    "heights of other examples": (
        lambda: curve_bands.curve_heights(curve_bands.fall(CURVE, BOTH), np.ones((1, 3)), CURVE, CURVE[1:]), "weights"
    ),
    "heights of NaN": (lambda: curve_bands.fall(GAP[0], BOTH), "scores"),
    "pairs of other units": (
        lambda: pairs.compare(SOME, CONTRAST, board(3), 0.9), "errors has the shape (2, 2); expected [3, n_entrants"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_meant_is_refused(case: str) -> None:
    """With the argument, its value and what is allowed; before anything is drawn, also where draws come one by one."""
    call, message = REFUSED[case]
    with pytest.raises(InvalidArgument) as refused:
        call()

    assert message in str(refused.value)


def test_equal_infinities_tie() -> None:
    """They have a place in an order, though no difference; nothing warns."""
    scores = np.array([[INF, INF, 0.0, -INF]])

    assert resample.competition_ranks(scores).tolist() == [[1, 1, 3, 4]]
    with np.errstate(invalid="ignore"):  # only where the loop runs as Python, for mutants, does their difference warn
        assert resample.probability_beats(scores)[0].tolist() == [0.5, 0.5, 1.0, 1.0]


def test_a_share_of_nothing_is_none() -> None:
    """NaN, wherever it is taken, but for a ranking, where a group with nothing to gain scores nothing."""
    nothing = predictions.rank_groups(ONES, np.zeros(2), FIRST_GROUP).scores(5)

    assert np.isnan(share(np.zeros(1), np.zeros(1))[0])
    assert (nothing.ndcg.tolist(), nothing.average_precision.tolist()) == ([0.0], [0.0])


def test_the_deviation_of_mcnemar_is_the_samples() -> None:
    """A is right on 1, 2 and 4, B on 2: differences 1 0 0 1 have the mean ½ and the variance 4 × ¼ / 3."""
    actual = pairs.mcnemar_pairs(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0], [1.0, 0.0]]))

    assert (actual.mean[0, 1], actual.mean[1, 0]) == (0.5, -0.5)
    assert actual.deviation[0, 1] == pytest.approx((1 / 3) ** 0.5)
    assert actual.deviation[1, 0] == pytest.approx(np.std([-1, 0, 0, -1], ddof=1))
