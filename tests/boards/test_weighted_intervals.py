"""What is sure of boards of weighted ranks: intervals of scores and components, and who decides what is asked."""

from dataclasses import replace

import numpy as np
import pytest

from app.boards.calibrated import Precision
from app.boards.example import benchmark, rows
from app.boards.methods.weighted_rank.coverage import CoveredMetric, covered_metrics, on_asked, with_worst
from app.boards.methods.weighted_rank.method import ends_of_ranks, rank_level, value_intervals
from app.boards.methods.weighted_rank.records import (
    TRUE_RATE,
    DrawnComponents,
    HeldRecords,
    WeightedRank,
    class_aggregates,
    held_records,
    series_groups,
)
from app.boards.registry import compute_board
from app.boards.standing import separable_pairs
from app.kinds.parse import parse_manifest
from app.manifest.model import Manifest, Metric
from app.stats.strata import Group
from app.values.scores import Coded, ScoreTable
from app.values.table import Cell

N_RECORDS = 8


def test_eight_equals_are_hardly_ever_told_apart() -> None:
    """Ranks of equals are often the same in all resamples: taken for sure, they split one of five boards."""
    names, declared = tuple("ABCDEFGH"), manifest("[mae]", "weights: {mae: 1.0}")
    n_told = 0
    for seed in range(60):
        rng = np.random.default_rng([41, seed])
        values = np.exp(0.5 * rng.normal(size=(1, 24)) + 0.4 * rng.normal(size=(len(names), 24)))
        table = rows(dict(zip(names, values.tolist(), strict=True)), metric="mae")
        records = Coded(tuple(f"r{at}" for at in range(24)), table.task.codes)
        table = replace(table, item=records, task=Coded(("a",), np.zeros_like(records.codes)))
        pairs = compute_board(declared, declared.leaderboards[0], table).pairwise
        assert pairs is not None
        n_told += any(separable_pairs(pairs).values())

    assert n_told <= 4


def manifest(metrics: str, weights: str, mode: str = "ground_truth") -> Manifest:
    """Return a benchmark of series with one board."""
    stress = "contamination: [{name: level_shift}]\n" if mode == "stress_test" else ""
    return parse_manifest(
        f"schema_version: 1\nslug: s\ntitle: s\nevidence: series_metrics\nmode: {mode}\n{stress}"
        f"metrics: {{catalog: lrdbench, use: {metrics}}}\ntasks: {{open: true}}\n"
        f"leaderboards: [{{name: b, method: weighted_rank, {weights}, uncertainty: {{n_resamples: 200}}}}]\n".encode()
    )


def measured(weights: str = "weights: {mae: 0.5, validity_rate: 0.5}") -> list[dict[str, Cell]]:
    """Return the board of three estimators on eight records, all valid; errors of `near` and `nearer` overlap."""
    rng, names = np.random.default_rng(4), ("far", "near", "nearer")
    errors = np.abs(rng.normal(size=(3, N_RECORDS))) + np.array([[2.0], [0.1], [0.0]])
    n_rows = 3 * N_RECORDS
    scores = ScoreTable(
        entrant=Coded(names, np.repeat(np.arange(3), N_RECORDS)),
        task=Coded(("s",), np.zeros(n_rows, dtype=np.int64)),
        columns=("mae", "validity_rate"),
        values=np.column_stack([errors.ravel(), np.ones(n_rows)]),
        leaked=np.zeros(n_rows, dtype=np.bool_),
        file=np.zeros(n_rows, dtype=np.int64),
        row=np.arange(n_rows),
        item=Coded(tuple(f"r{at}" for at in range(N_RECORDS)), np.tile(np.arange(N_RECORDS), 3)),
    )
    declared = manifest("[mae, validity_rate]", weights)
    return [dict(row) for row in compute_board(declared, declared.leaderboards[0], scores).leaderboard.records()]


def test_the_interval_of_a_score_holds_it_and_stays_among_the_ranks() -> None:
    """Ranks 1 to 3 of half of the weight; all are equally valid, so the other half is 2 for each."""
    for row in measured():
        assert 1.0 <= row["score_calibrated_low"] <= row["score"] <= row["score_calibrated_high"] <= 3.0
    by_name = {row["entrant"]: row for row in measured()}

    assert by_name["far"]["score_calibrated_low"] == by_name["far"]["score_calibrated_high"] == 2.5
    assert by_name["near"]["score_calibrated_low"] < by_name["near"]["score_calibrated_high"]


def test_a_component_has_an_interval_within_its_range_also_where_all_are_equal() -> None:
    """Eight of eight valid is no certainty; an error is not below zero."""
    for row in measured():
        assert 0.6 < row["metric__validity_rate_calibrated_low"] < row["metric__validity_rate_calibrated_high"] == 1.0
        assert 0.0 <= row["metric__mae_calibrated_low"] < row["metric__mae"] < row["metric__mae_calibrated_high"]
        assert (row["metric__mae_calibrated_how"], row["metric__validity_rate_calibrated_how"]) == (
            "gamma",
            "wilson_neff",
        )


def test_a_score_of_rule_1_says_why_it_has_no_interval() -> None:
    """Its components have theirs."""
    for row in measured("weights: {mae: 1.0}, ranking_rule: 1"):
        assert (row["score_calibrated_low"], row["score_calibrated_high"]) == (None, None)
        assert row["score_calibrated_how"] == "points_break_ties_by_name_and_resamples_do_not"
        assert row["metric__mae_calibrated_low"] is not None


def test_scores_whose_resamples_are_nearer_to_the_middle_are_mirrored() -> None:
    """Resamples of a best one are at ranks 2 to 4 where its points are at 2: the true rank may be 1, or less far."""
    again = np.linspace(2.0, 4.0, 101)[:, None]
    low, high = ends_of_ranks(again, np.array([2.0]), 0.9)

    assert (low[0], high[0]) == pytest.approx((0.1, 3.9))


def test_estimators_of_one_owner_do_not_decide_what_a_metric_is_asked_of() -> None:
    """Three of one owner leave the hard record out of a metric that not every record has; two honest ones have it."""
    names = ("a", "b", "x1", "x2", "x3")
    declared = manifest("[estimate_drift]", "weights: {estimate_drift: 1.0}", "stress_test")
    spec = declared.leaderboards[0]
    assert isinstance(spec, WeightedRank)
    arrivals = (0, 1, 2, 2, 2)
    both = np.arange(2)
    held = HeldRecords(names, ("easy", "hard"), ("s", "s"), np.ones((5, 2), dtype=np.bool_), arrivals=arrivals)
    groups = [
        Group(name, "estimate_drift", "s", np.ones(2), both)
        if name in "ab"
        else Group(name, "estimate_drift", "s", np.ones(1), both[:1])
        for name in names
    ]
    (covered,) = covered_metrics(declared, spec, held, groups, np.full(2, np.nan))

    assert covered.asked.tolist() == [[True, True]] * 5
    assert [covered.lacking(at).sum() for at in range(5)] == [0, 0, 1, 1, 1]


def test_a_record_without_a_class_is_asked_of_every_metric_but_those_of_classes() -> None:
    """Nobody can call it rightly; its error counts all the same, and a record that nobody has stays asked of both."""
    names, records = ("a",), ("classed", "classless", "nobody's")
    declared = manifest("[mae, roc_auc]", "weights: {mae: 0.5, roc_auc: 0.5}")
    spec = declared.leaderboards[0]
    assert isinstance(spec, WeightedRank)
    held = HeldRecords(names, records, ("s", "s", ""), np.array([[True, True, False]]), np.ones(3, dtype=np.bool_))
    groups = [Group("a", metric, "s", np.ones(2), np.arange(2)) for metric in ("mae", "roc_auc")]
    covered = covered_metrics(declared, spec, held, groups, np.array([1.0, np.nan, np.nan]))

    asked = {metric.metric: metric.asked[0].tolist() for metric in covered}
    assert asked == {"mae": [True, True, True], "roc_auc": [True, False, True]}


def test_who_has_nothing_of_a_stratum_gets_the_worst_value_there() -> None:
    """Of an error as it is, of a root mean square as its square: the mean is taken before the root."""
    declared = benchmark(WeightedRank(name="m", method="weighted_rank", weights={"error": 0.5, "rmse": 0.5}))
    worst = Metric(direction="minimize", min=0.0, max=3.0)
    declared = declared.model_copy(update={"metrics": {"error": worst, "rmse": worst}})
    spec = declared.leaderboards[0]
    assert isinstance(spec, WeightedRank)
    scores = rows({"A": [0.1, 0.2], "B": [0.3]})
    scores = replace(scores, columns=("error", "rmse"), values=np.repeat(scores.values, 2, axis=1))
    held, groups = held_records(scores, ("A", "B"), frozenset("ab")), series_groups(scores)
    covered = covered_metrics(declared, spec, held, groups, np.full(3, np.nan))
    filled = with_worst(declared, held, covered, groups, np.full(3, np.nan))

    of_absent = [(g.metric, g.rule, g.values.tolist()) for g in filled if (g.estimator, g.stratum) == ("B", "b")]
    assert of_absent == [("error", "mean", [3.0]), ("rmse", "root_mean_square", [9.0])]


@pytest.mark.parametrize(("n_units", "share"), [(100.0, 2.0), (16.0, 2.0), (12.0, 6.0), (8.0, 10.0), (3.0, 10.0)])
def test_few_records_use_no_less_than_a_tenth_of_the_error_rate(n_units: float, share: float) -> None:
    """And many no more than half of it."""
    assert rank_level(0.9, n_units) == pytest.approx(1.0 - 0.1 / share)


def test_nobodys_mean_is_over_records_that_the_metric_is_not_asked_of() -> None:
    """Two records, asked of the first alone: the value on the other does not count, whoever has it."""
    every = np.ones((1, 2), dtype=np.bool_)
    metric = CoveredMetric("estimate_drift", every, every, np.array([[True, False]]), ~every)
    group = Group("a", "estimate_drift", "s", np.array([1.0, 9.0]), np.arange(2))
    other = Group("a", "mae", "s", np.array([1.0, 9.0]), np.arange(2))
    kept = list(on_asked([group, other], [metric], ["a"]))

    assert [each.values.tolist() for each in kept] == [[1.0], [1.0, 9.0]]


def test_the_interval_of_a_value_below_the_declared_range_is_not_cut_off_at_its_end() -> None:
    """A value of -1 under a minimum of 0 shows that 0 is no bound, whatever the others are."""
    spec = WeightedRank(name="main", method="weighted_rank", weights={"error": 1.0})
    around = np.array([[-1.2, 0.5], [-1.0, 0.7], [-0.8, 0.6]])
    drawn = DrawnComponents(around[:, :, None], Precision.of_units(9.0), 9.0)
    declared = benchmark(spec)
    bounded = declared.metrics["error"].model_copy(update={"min": 0.0, "max": None})
    manifest = declared.model_copy(update={"metrics": {"error": bounded}})
    below, _ = value_intervals(manifest, "error", np.array([-1.0, 0.6]), drawn, 0, 0.95)

    assert isinstance(below.low, float)
    assert isinstance(below.high, float)
    assert below.low < -1.0 < below.high


@pytest.mark.parametrize(("labels", "n_positive"), [([0.5, 0.0, 1.0], 2), ([0.4, 0.0, 1.0], 1)])
def test_a_true_value_at_the_threshold_is_positive(labels: list[float], n_positive: int) -> None:
    """The number of positive records counts it, as the rates do."""
    group = Group("A", TRUE_RATE, "n=128", np.array([0.9, 0.1, 0.2]), np.arange(3), "scores")
    (actual,) = class_aggregates([group], np.array(labels))

    assert actual.n_positive == n_positive
    assert actual.value == pytest.approx((n_positive - 1) / n_positive)
