"""Boards of predictions: metrics, joint resamples, tests of pairs, and reports that give no label away."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_rel
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    brier_score_loss,
    f1_score,
    log_loss,
    mean_absolute_error,
    ndcg_score,
    precision_score,
    r2_score,
    recall_score,
    roc_auc_score,
    root_mean_squared_error,
)

from app.boards.measured import Measurement
from app.boards.methods.estimate import assemble_board
from app.boards.tables import BoardTables
from app.errors import ManifestRejected
from app.kinds.parse import parse_manifest
from app.kinds.predictions.pair_tests import MAX_ENTRANTS, pair_tables
from app.kinds.registry import measured_kind
from app.manifest.model import Manifest
from app.stats.pairs import holm_adjusted
from app.values.scores import Labels
from app.values.table import Table
from tests.cases.prediction_boards import BINARY, COLOURS, benchmark, benchmark_text, measure, spec, two_classes


def board_of(manifest: Manifest, measurements: Sequence[Measurement]) -> BoardTables:
    """Return the board with its further tables."""
    return assemble_board(manifest, spec(manifest), measurements, measured_kind(manifest))


def table(tables: BoardTables, kind: str) -> Table:
    """Return one of the further tables."""
    return next(each for each in tables.extra if each.name == f"{kind}/board")


def records(rows: Table) -> list[dict[str, Any]]:
    """Return the rows of a table by column name."""
    return list(rows.records())


def points(measurement: Measurement) -> dict[str, float]:
    """Return the numbers of a measurement by metric."""
    return {name: float(result.point or 0.0) for name, result in measurement.estimates.items()}


METRICS = ("auc", "pr_auc", "ap", "accuracy", "f1", "precision", "recall", "logloss", "brier")


@pytest.mark.parametrize("is_weighted", [False, True])
def test_two_classes_are_scikit_learns_where_the_rule_is_the_same(is_weighted: bool) -> None:
    """AUC, AP, accuracy, F1, precision, recall and both losses, also with weights."""
    truth, scores = two_classes()
    weights = np.random.default_rng(2).random(300) if is_weighted else None
    labels = Labels("t", (), truth.label, weights)
    actual = points(measure(benchmark(BINARY, METRICS), "A", scores, labels))
    called, label, how = scores >= 0.5, truth.label, {"sample_weight": weights}
    expected = {
        "auc": roc_auc_score(label, scores, **how),
        "ap": average_precision_score(label, scores, **how),
        "accuracy": accuracy_score(label, called, **how),
        "f1": f1_score(label, called, **how),
        "precision": precision_score(label, called, **how),
        "recall": recall_score(label, called, **how),
        "logloss": log_loss(label, scores, **how),
        "brier": brier_score_loss(label, scores, **how),
    }

    assert {name: actual[name] for name in expected} == pytest.approx(expected, abs=1e-12)


def test_several_classes_are_scikit_learns_where_the_rule_is_the_same() -> None:
    """Macro and micro of AUC, F1 and recall over one class against the rest."""
    rng = np.random.default_rng(3)
    label = rng.integers(0, 3, 200)
    probabilities = rng.dirichlet([1.0, 1.0, 1.0], 200) * 0.6 + 0.4 * np.eye(3)[label]
    metrics = (
        *("auc_macro", "auc_micro", "f1_macro", "f1_micro", "precision_macro", "recall_macro"),
        *("recall_macro_sklearn", "accuracy", "logloss"),
    )
    actual = points(measure(benchmark(COLOURS, metrics), "A", probabilities, Labels("t", (), label.astype(float))))
    called, truth = probabilities.argmax(axis=1), np.eye(3)[label]
    expected = {
        "auc_macro": roc_auc_score(truth, probabilities, average="macro"),
        "auc_micro": roc_auc_score(truth, probabilities, average="micro"),
        "f1_macro": f1_score(label, called, average="macro"),
        "f1_micro": f1_score(label, called, average="micro"),
        "precision_macro": precision_score(label, called, average="macro"),
        "recall_macro": recall_score(label, called, average="macro"),
        "recall_macro_sklearn": recall_score(label, called, average="macro"),
        "accuracy": accuracy_score(label, called),
        "logloss": log_loss(label, probabilities),
    }

    assert actual == pytest.approx(expected, abs=1e-9)


def test_values_are_scikit_learns() -> None:
    """RMSE, MAE and R², with weights."""
    rng = np.random.default_rng(4)
    label, weights = rng.normal(50.0, 3.0, 100), rng.random(100)
    predicted = label + rng.normal(size=100)
    manifest = benchmark("kind: regression", ("rmse", "mae", "r2"))
    actual = points(measure(manifest, "A", predicted, Labels("t", (), label, weights)))
    how = {"sample_weight": weights}
    expected = {
        "rmse": root_mean_squared_error(label, predicted, **how),
        "mae": mean_absolute_error(label, predicted, **how),
        "r2": r2_score(label, predicted, **how),
    }

    assert actual == pytest.approx(expected, abs=1e-9)


def test_rankings_are_scikit_learns_ndcg() -> None:
    """Gains 2^relevance − 1, averaged over ties of the prediction, groups of different sizes."""
    rng = np.random.default_rng(5)
    group = np.repeat(np.arange(20), rng.integers(2, 9, 20))
    label, predicted = ((rng.integers(0, 4, len(group)) + 1).astype(np.float64) for _ in range(2))
    actual = points(measure(benchmark("kind: ranking", ("ndcg",)), "A", predicted, Labels("t", (), label, group=group)))
    alone = [
        ndcg_score([2.0 ** label[group == g] - 1.0], [predicted[group == g]], k=5, ignore_ties=False) for g in range(20)
    ]

    assert actual["ndcg"] == pytest.approx(np.mean(alone), abs=1e-9)


@pytest.mark.parametrize(("part", "metric", "n_said"), [(BINARY, "accuracy", 1), ("kind: ranking", "ndcg", 0)])
def test_a_board_of_examples_says_once_that_they_are_treated_as_independent(
    part: str, metric: str, n_said: int
) -> None:
    """The groups of a ranking are declared, and are its units."""
    truth, scores = two_classes(60)
    labels = truth if n_said else replace(truth, label=truth.label + 1.0, group=np.repeat(np.arange(20), 3))
    manifest = benchmark(part, (metric,))
    board = board_of(manifest, [measure(manifest, "A", scores, labels)]).leaderboard

    assert sum("treated as independent" in note for note in board.notes) == n_said


def test_the_interval_is_the_bootstrap_of_the_definition() -> None:
    """Resampled in a loop, metric by metric by its definition; the ends agree within Monte-Carlo error."""
    truth, scores = two_classes(120)
    actual = measure(benchmark(BINARY, ("auc", "logloss")), "A", scores, truth)
    rng = np.random.default_rng(6)
    drawn = np.array([by_definition(truth.label[at] == 1, scores[at]) for at in rng.integers(0, 120, (2000, 120))])
    for metric, expected in zip(("auc", "logloss"), np.quantile(drawn, [0.025, 0.975], axis=0).T, strict=True):
        ends = (actual.estimates[metric].low, actual.estimates[metric].high)
        assert ends == pytest.approx(tuple(expected), abs=0.15 * (expected[1] - expected[0]))


def by_definition(is_positive: Any, scores: Any) -> tuple[float, float]:
    """Return the share of pairs in the right order, ties half, and the mean surprise of the labels."""
    pairs = scores[is_positive][:, None] - scores[~is_positive]
    said = np.clip(np.where(is_positive, scores, 1.0 - scores), 1e-7, 1.0)
    return float(((pairs > 0) + 0.5 * (pairs == 0)).mean()), float(-np.log(said).mean())


def test_every_entrant_is_held_against_the_same_resamples() -> None:
    """The same predictions under another name have the same replicates, so their difference is exactly none."""
    truth, scores = two_classes()
    manifest = benchmark(BINARY, ("auc", "accuracy"))
    a, b = (measure(manifest, name, scores, truth) for name in "AB")
    row = records(table(board_of(manifest, [a, b]), "comparisons"))[0]

    assert (a.replicates["auc"] == b.replicates["auc"]).all()
    assert (row["difference"], row["p_a_beats_b"], row["p_value"]) == (0.0, 0.5, 1.0)
    assert (row["difference_lower"], row["difference_upper"]) == (None, None)
    assert row["separable"] is False


def test_paired_differences_are_narrower_than_unpaired_ones() -> None:
    """Two models that fail on the same examples: what they share cancels."""
    truth, scores = two_classes(400)
    better = np.clip(scores + 0.05 * (2 * truth.label - 1), 0.0, 1.0)
    manifest = benchmark(BINARY, ("auc",))
    a, b = measure(manifest, "A", better, truth), measure(manifest, "B", scores, truth)
    row = records(table(board_of(manifest, [a, b]), "comparisons"))[0]
    unpaired = np.hypot(a.replicates["auc"].std(), b.replicates["auc"].std()) * 2 * 1.96

    assert row["difference_upper"] - row["difference_lower"] < 0.5 * unpaired
    assert row["separable"] is True


def test_own_labels_are_never_paired() -> None:
    """Their examples may be others: the draws differ and nothing is tested item by item."""
    truth, scores = two_classes()
    manifest = benchmark(f"{BINARY}, labels: submitted", ("auc",))
    a, b = (measure(manifest, name, scores, truth) for name in "AB")
    tables = board_of(manifest, [a, b])

    assert (a.replicates["auc"] != b.replicates["auc"]).any()
    assert "tests/board" not in {each.name for each in tables.extra}
    assert any("its own labels" in note for note in tables.leaderboard.notes)


def test_mcnemar_of_every_pair_is_that_of_the_pair() -> None:
    """Counts, exact one-sided p-values, and Holm's over the pairs, each of them once."""
    truth, scores = two_classes(200)
    rng = np.random.default_rng(7)
    manifest = benchmark(f"{BINARY}, labels: public", ("accuracy",))
    entrants = {
        name: np.clip(scores + rng.normal(0, sd, 200), 0, 1) for name, sd in (("A", 0.0), ("B", 0.2), ("C", 0.5))
    }
    rows = records(table(board_of(manifest, [measure(manifest, n, s, truth) for n, s in entrants.items()]), "tests"))
    right = {name: (values >= 0.5) == (truth.label == 1) for name, values in entrants.items()}
    for row in rows:
        a, b = right[str(row["entrant_a"])], right[str(row["entrant_b"])]
        assert (row["n_a_only"], row["n_b_only"]) == ((a & ~b).sum(), (b & ~a).sum())
        assert row["p_value"] == pytest.approx(one_sided((a & ~b).sum(), (b & ~a).sum()), abs=1e-12)

    assert len(rows) == 6
    one_p = {(row["entrant_a"], row["entrant_b"]): float(str(row["p_value"])) for row in rows}
    both = [min(1.0, 2 * min(one_p[pair], one_p[pair[::-1]])) for pair in (("A", "B"), ("A", "C"), ("B", "C"))]
    corrected = dict(zip(("AB", "AC", "BC"), holm_adjusted(both), strict=True))
    assert {f"{row['entrant_a']}{row['entrant_b']}": row["p_holm"] for row in rows} == corrected | {
        pair[::-1]: p for pair, p in corrected.items()
    }


@pytest.mark.slow
def test_holms_values_keep_their_level_among_equals() -> None:
    """Of 1,000 tables of five equal entrants on 400 examples some corrected value is below 0.05 in at most 5 %."""
    n_tables, n_below, rng = 1_000, 0, np.random.default_rng(11)
    manifest = benchmark(f"{BINARY}, labels: public", ("accuracy",))
    for _ in range(n_tables):
        losses = (rng.random((5, 400)) < 0.3).astype(np.int8)
        equals = [Measurement(f"E{at}", {}, losses={"t": each}) for at, each in enumerate(losses)]
        _, tested = pair_tables(manifest, spec(manifest), equals, None)
        made = tested.compute()
        assert made is not None
        n_below += min(float(row["p_holm"]) for row in records(made)) <= 0.05

    assert n_below / n_tables <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / n_tables)


def test_mcnemar_compares_at_two_thresholds() -> None:
    """The accuracy of A at its threshold with that of B at another, for every two that the manifest declares."""
    truth, scores = two_classes(200)
    other = np.clip(scores + np.random.default_rng(7).normal(0, 0.2, 200), 0, 1)
    manifest = benchmark(f"{BINARY}, labels: public, thresholds: [0.5, 0.3]", ("accuracy",))
    entrants = {"A": scores, "B": other}
    rows = records(table(board_of(manifest, [measure(manifest, n, s, truth) for n, s in entrants.items()]), "tests"))
    for row in rows:
        a, b = (
            (entrants[str(row[f"entrant_{side}"])] >= float(str(row[f"threshold_{side}"]))) == (truth.label == 1)
            for side in "ab"
        )
        assert (row["n_a_only"], row["n_b_only"]) == ((a & ~b).sum(), (b & ~a).sum())
        assert row["p_value"] == pytest.approx(one_sided((a & ~b).sum(), (b & ~a).sum()), abs=1e-12)

    assert len({(row["entrant_a"], row["threshold_a"], row["threshold_b"]) for row in rows}) == len(rows) == 8


@pytest.mark.parametrize("part", ["kind: regression, thresholds: [0.3]", f"{BINARY}, thresholds: [0.3, 0.3]",
                                  f"{BINARY}, thresholds: [1.0]", f"{BINARY}, thresholds: []"])  # fmt: skip
def test_thresholds_are_those_of_classes(part: str) -> None:
    """Between zero and one, each once, and of classes alone."""
    with pytest.raises(ManifestRejected):
        benchmark(part, ("rmse",) if "regression" in part else ("accuracy",))


def one_sided(n_first_only: int, n_second_only: int) -> float:
    """Return scipy's exact test that the first is right on more."""
    return float(binomtest(n_first_only, n_first_only + n_second_only, 0.5, alternative="greater").pvalue)


def test_paired_t_of_every_pair_is_scipys() -> None:
    """On squared errors, in favour of the first."""
    rng = np.random.default_rng(8)
    label = rng.normal(size=80)
    manifest = benchmark("kind: regression, labels: public", ("rmse",))
    entrants = {name: label + rng.normal(0, sd, 80) for name, sd in (("A", 1.0), ("B", 1.2), ("C", 1.2))}
    truth = Labels("t", (), label)
    rows = records(table(board_of(manifest, [measure(manifest, n, v, truth) for n, v in entrants.items()]), "tests"))
    for row in rows:
        a, b = (-((entrants[str(row[side])] - label) ** 2) for side in ("entrant_a", "entrant_b"))
        assert row["p_value"] == pytest.approx(ttest_rel(a, b, alternative="greater").pvalue, abs=1e-9)
        assert row["mean_difference"] == pytest.approx((a - b).mean(), abs=1e-12)


@pytest.mark.parametrize("part", [BINARY, "kind: regression"])
def test_tests_follow_the_weights_of_the_board(part: str) -> None:
    """The mean difference that is tested is that of the board's own numbers, and the name of the test says which."""
    truth, scores = two_classes(120)
    rng = np.random.default_rng(14)
    weights = rng.uniform(0.1, 5.0, 120)
    metric = "accuracy" if part == BINARY else "rmse"
    manifest = benchmark(f"{part}, labels: public", (metric,))
    entrants = {"A": scores, "B": np.clip(scores + rng.normal(0, 0.4, 120), 0, 1)}
    labels = Labels("t", (), truth.label, weights)
    measured = [measure(manifest, n, v, labels) for n, v in entrants.items()]
    rows = records(table(board_of(manifest, measured), "tests"))
    a, b = (points(each)[metric] for each in measured)
    row = next(row for row in rows if row["entrant_a"] == "A")

    assert row["test"] == ("paired t, weighted accuracy" if part == BINARY else "paired t, squared error")
    assert row["n_a_only"] is None
    assert row["mean_difference"] == pytest.approx(a - b if part == BINARY else b**2 - a**2)


def test_every_metric_is_compared_by_its_own_numbers() -> None:
    """Also one that does not rank: the difference of a pair is that of the two numbers beside it."""
    truth, scores = two_classes(120)
    manifest = benchmark(f"{BINARY}, labels: public", ("auc", "logloss"))
    rng = np.random.default_rng(3)
    entrants = [measure(manifest, name, np.clip(scores + rng.normal(0, sd, 120), 0, 1), truth)
                for name, sd in (("A", 0.0), ("B", 0.2), ("C", 0.5))]  # fmt: skip
    rows = records(table(board_of(manifest, entrants), "comparisons"))

    assert len(rows) == 12
    for row in rows:
        own = {m.entrant: points(m)[row["metric"]] for m in entrants}
        assert (row["a"], row["b"]) == (own[row["entrant_a"]], own[row["entrant_b"]])
        assert row["difference"] == pytest.approx(row["a"] - row["b"])


def test_of_a_ranking_groups_are_needed_and_not_items() -> None:
    """The resamples say as many as the paired test, which is one-sided and so needs four fifths of them."""
    rng = np.random.default_rng(5)
    label = rng.integers(0, 4, 240).astype(np.float64)
    labels = Labels("t", (), label, group=np.repeat(np.arange(40), 6))
    manifest = benchmark("kind: ranking, labels: public", ("ndcg",))
    entrants = [
        measure(manifest, name, label + rng.normal(0, sd, 240), labels) for name, sd in (("A", 1.0), ("B", 2.0))
    ]
    tables = board_of(manifest, entrants)
    both, one = (records(table(tables, kind))[0]["examples_needed"] for kind in ("comparisons", "tests"))

    assert both == pytest.approx(one * 7.85 / 6.18, rel=0.1)


def test_each_table_of_pairs_says_by_which_test_so_many_examples_are_needed() -> None:
    """Two-sided by every metric, one-sided beside the test, both of one pair alone; 0.5 is a threshold undeclared."""
    truth, scores = two_classes(120)
    manifest = benchmark(f"{BINARY}, labels: public", ("accuracy",))
    entrants = [measure(manifest, name, values, truth) for name, values in (("A", scores), ("B", 1.0 - scores))]
    both, one = (table(board_of(manifest, entrants), kind) for kind in ("comparisons", "tests"))
    titles = [{column.name: column.title for column in each.columns} for each in (both, one)]

    assert [each["examples_needed"] for each in titles] == [f"Examples needed, {n}-sided" for n in ("two", "one")]
    assert (titles[1]["p_value"], titles[1]["p_holm"]) == ("p, one-sided", "p, Holm, two-sided")
    assert "Examples needed are for a two-sided test of this pair alone, at 95 %; more where all" in both.notes[0]
    assert "Examples needed are for the one-sided test of this pair alone." in one.notes[0]
    assert "thresholds that the manifest declares (0.5 where it declares none)" in one.notes[1]


def test_one_entrant_alone_is_compared_with_nobody() -> None:
    """Its board has its reports, and no tables of pairs."""
    truth, scores = two_classes(40)
    manifest = benchmark(f"{BINARY}, labels: public", ("auc",))
    kinds = {each.name.partition("/")[0] for each in board_of(manifest, [measure(manifest, "A", scores, truth)]).extra}

    assert "roc" in kinds
    assert not kinds & {"comparisons", "tests"}


def test_equal_weights_change_no_test() -> None:
    """Two each: still counts, and McNemar's test."""
    truth, scores = two_classes(100)
    manifest = benchmark(BINARY, ("accuracy",))
    entrants = {"A": scores, "B": 1 - scores}
    doubled = Labels("t", (), truth.label, np.full(100, 2.0))
    plain, weighted = (
        records(table(board_of(manifest, [measure(manifest, n, v, labels) for n, v in entrants.items()]), "tests"))
        for labels in (truth, doubled)
    )

    assert plain == weighted


def test_equal_predictions_have_no_paired_t() -> None:
    """Differences that do not vary say nothing: null, not zero."""
    truth = Labels("t", (), np.random.default_rng(9).normal(size=40))
    manifest = benchmark("kind: regression", ("rmse",))
    values = np.random.default_rng(10).normal(size=40)
    measured = [measure(manifest, name, values, truth) for name in "ABC"]
    rows = records(table(board_of(manifest, measured), "tests"))

    assert {row["p_value"] for row in rows} == {None}
    assert {row["p_holm"] for row in rows} == {None}


def test_missing_predictions_cost_the_most() -> None:
    """A failure is the worst there is: no prediction of the same items could score less."""
    truth, scores = two_classes(100)
    manifest = benchmark(f"{BINARY}, missing: failure", METRICS)
    gaps, worst = scores.copy(), scores.copy()
    gaps[:20], worst[:20] = np.nan, 1.0 - truth.label[:20]
    actual = measure(manifest, "A", gaps, truth)

    assert points(actual) == points(measure(manifest, "A", worst, truth))
    assert (actual.coverage.n_failed, actual.coverage.is_whole) == (20, True)


def test_leaving_out_wrong_calls_of_a_rare_class_lifts_no_precision_into_the_ranks() -> None:
    """Twenty of a called c: left out they are called b, and macro precision is 0.867 for 0.778; accuracy is equal."""
    truth = Labels("t", (), np.repeat([0.0, 1.0, 2.0], [60, 30, 10]))
    reported = np.eye(3)[np.where(np.arange(100) < 20, 2, np.repeat([0, 1, 2], [60, 30, 10]))]
    left = np.where(np.arange(100)[:, None] < 20, np.nan, reported)
    part = "kind: classification, classes: [a, b, c], missing: failure"
    actual = {m: measure(benchmark(part, (m,)), "A", left, truth) for m in ("precision_macro", "accuracy")}

    assert points(actual["precision_macro"])["precision_macro"] == pytest.approx(2.6 / 3)
    assert actual["precision_macro"].coverage.why_unranked == "partial"
    assert actual["accuracy"].coverage.is_whole


@pytest.mark.parametrize("part", ["kind: regression, missing: failure", "kind: ranking, missing: failure"])
def test_missing_values_and_ranks_cost_too(part: str) -> None:
    """The farther end of the labels' range; a group with a gap scores nothing."""
    rng = np.random.default_rng(11)
    label, group = rng.integers(0, 4, 60).astype(float), np.repeat(np.arange(6), 10)
    metric = "ndcg" if "ranking" in part else "mae"
    manifest, values = benchmark(part, (metric,)), label.copy()
    values[:10] = np.nan
    measured = measure(manifest, "A", values, Labels("t", (), label, group=group if metric == "ndcg" else None))
    actual = points(measured)
    expected = 5 / 6 if metric == "ndcg" else np.maximum(label, 3.0 - label)[:10].sum() / 60

    assert actual[metric] == pytest.approx(expected)
    # A value could have been beyond the labels' range, and worse.
    assert measured.coverage.is_whole == (metric == "ndcg")


def test_tasks_are_averaged_and_gaps_are_shown() -> None:
    """Two of three tasks: the mean of both."""
    truth, scores = two_classes()
    other, others = two_classes(200, seed=2)
    manifest = benchmark(BINARY, ("auc",), tasks=("t", "u", "v"))
    second = Labels("u", (), other.label)
    both = measure(manifest, "A", scores, truth, others, second)
    alone = [points(measure(manifest, "A", *pair))["auc"] for pair in ((scores, truth), (others, second))]

    assert points(both)["auc"] == pytest.approx(np.mean(alone))
    assert both.facts["n_tasks"] == 2
    assert {row[0] for row in both.rows["intervals"]} == {"t", "u"}


def test_a_single_example_has_no_interval() -> None:
    """One example carries no spread: the number stands, with the reason. Two have one."""
    actual = measure(benchmark(BINARY, ("accuracy",)), "A", np.array([0.9]), Labels("t", (), np.array([1.0])))

    assert (actual.estimates["accuracy"].point, actual.estimates["accuracy"].low) == (1.0, None)
    assert actual.estimates["accuracy"].reason == "too_few_examples"
    two = measure(benchmark(BINARY, ("accuracy",)), "A", np.array([0.9, 0.9]), Labels("t", (), np.array([1.0, 0.0])))
    assert two.estimates["accuracy"].low == 0.0


def test_an_average_with_a_task_of_a_single_example_has_no_interval_either() -> None:
    """It has the reason of that task."""
    manifest = benchmark(BINARY, ("accuracy",), tasks=("t", "u"))
    pairs = [
        (np.array([0.9, 0.2]), Labels("t", (), np.array([1.0, 1.0]))),
        (np.array([0.9]), Labels("u", (), np.ones(1))),
    ]
    both = measure(manifest, "A", *pairs[0], *pairs[1]).estimates["accuracy"]

    assert (both.point, both.low, both.reason) == (0.75, None, "too_few_examples")


def test_the_positive_class_may_be_the_first() -> None:
    """Predictions are of the positive class, and every metric is its own."""
    truth, scores = two_classes()
    flipped = Labels("t", (), 1.0 - truth.label)
    second = measure(benchmark(BINARY, METRICS), "A", scores, truth)
    first = measure(benchmark(f"{BINARY}, positive: 'no'", METRICS), "A", scores, flipped)

    assert points(first) == points(second)
    assert first.rows["classes"][0][1] == "no"


@pytest.mark.parametrize("name", ["precision@recall=0.8", "fpr@recall=0.5", "recall@fpr=0.1", "precision@volume=0.3"])
def test_constrained_metrics_of_several_classes_are_the_mean_of_each_against_the_rest(name: str) -> None:
    """The same number as of each class in a benchmark of two; each class has the operating point of that name."""
    rng = np.random.default_rng(15)
    label = rng.integers(0, 3, 150).astype(np.float64)
    probabilities = rng.dirichlet(np.ones(3), 150) + np.eye(3)[label.astype(int)]
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    direction = "minimize" if name.startswith("fpr") else "maximize"
    each = [
        points(measure(_constrained(BINARY, name, direction), "A", probabilities[:, at],
                       Labels("t", (), (label == at).astype(np.float64))))[name]
        for at in range(3)
    ]  # fmt: skip
    macro = measure(_constrained(COLOURS, f"{name}_macro", direction), "A", probabilities, Labels("t", (), label))

    assert points(macro)[f"{name}_macro"] == pytest.approx(np.mean(each))
    assert [row[2] for row in macro.rows["operating"]] == ["near score ≥ 0.5", f"near {name}"] * 3


def _constrained(part: str, name: str, direction: str) -> Manifest:
    text = benchmark_text(part, {name: direction})
    return parse_manifest(text.encode())


def test_no_step_of_a_curve_shows_one_label() -> None:
    """Between two points of a curve, and in each bin, are at least ten examples, where labels are private."""
    truth, scores = two_classes(500)
    scores = scores + np.linspace(0.0, 1e-3, 500)  # no ties: every threshold would tell one label
    rows = measure(benchmark(BINARY, ("auc",)), "A", np.clip(scores, 0, 1), truth).rows
    thresholds = [float(str(row[2])) for row in rows["roc"] if row[2] is not None]
    steps = np.diff([0, *[(np.clip(scores, 0, 1) <= threshold).sum() for threshold in thresholds]])

    assert len(rows["roc"]) > 20
    assert steps.min() >= 10
    assert all(row[3] is None for row in rows["reliability"] if float(str(row[4])) < 10)


def test_the_confusion_matrix_has_the_truth_in_its_rows() -> None:
    """Thirty examples of red, ten of them called green."""
    probabilities = np.repeat(np.eye(3)[[0, 0, 1, 1, 2]], 10, axis=0)
    label = np.repeat([0.0, 0.0, 0.0, 1.0, 2.0], 10)
    rows = measure(benchmark(COLOURS, ("accuracy",)), "A", probabilities, Labels("t", (), label)).rows["confusion"]

    assert {row[1:] for row in rows if row[3]} == {
        ("red", "red", 20.0), ("red", "green", 10.0), ("green", "green", 10.0), ("blue", "blue", 10.0)
    }  # fmt: skip


def test_one_without_an_interval_leaves_the_others_theirs() -> None:
    """Its precision rests on two examples, which many resamples leave out: it is above nobody and below nobody."""
    truth, scores = two_classes(400)
    manifest = benchmark(BINARY, ("precision",))
    cautious = np.where(np.isin(np.arange(400), np.flatnonzero(truth.label == 1)[:2]), 0.9, 0.1)
    entrants = {"careful": np.clip(scores, 0, 1), "bold": np.full(400, 0.9), "cautious": cautious}
    tables = board_of(manifest, [measure(manifest, n, s, truth) for n, s in entrants.items()])
    rows = {row["entrant"]: row for row in records(tables.leaderboard)}
    assert tables.pairwise is not None
    pairs = {(row["entrant_a"], row["entrant_b"]): row for row in records(tables.pairwise)}

    assert (rows["cautious"]["rank"], rows["cautious"]["rank_low"]) == (1, None)
    assert (rows["careful"]["rank_low"], rows["careful"]["rank_high"]) == (1, 2)
    assert (rows["bold"]["rank_low"], rows["bold"]["rank_high"]) == (2, 3)
    assert pairs["careful", "bold"]["separable"] is True
    assert pairs["careful", "cautious"]["difference_lower"] is None
    assert "No rank interval, undefined in many resamples: cautious." in tables.leaderboard.notes


def test_a_board_ranked_by_an_error_puts_the_smallest_first() -> None:
    """Also pair by pair: A beats B where its error is smaller."""
    truth, scores = two_classes(400)
    manifest = benchmark(BINARY, ("brier",))
    entrants = {"worse": np.clip(scores * 0.5, 0, 1), "better": scores}
    tables = board_of(manifest, [measure(manifest, n, s, truth) for n, s in entrants.items()])
    row = records(table(tables, "comparisons"))[0]

    assert records(tables.leaderboard)[0]["entrant"] == "better"
    assert row["difference"] < 0
    assert row["p_a_beats_b"] > 0.9


@pytest.mark.parametrize(
    ("part", "metric", "direction"),
    [
        (BINARY, "auc_macro", "maximize"),
        (COLOURS, "auc", "maximize"),
        (COLOURS, "precision@recall=0.8", "maximize"),
        (BINARY, "precision@recall=1.5", "maximize"),
        (BINARY, "precision@recall=-0.1", "maximize"),
        (BINARY, "precision@recall=0.8_macro", "maximize"),
        (COLOURS, "precision_macro@recall=0.8", "maximize"),
        (BINARY, "recall@recall=0.5", "maximize"),
        ("kind: regression", "accuracy", "maximize"),
        (BINARY, "logloss", "maximize"),
        (BINARY, "auc", "minimize"),
    ],
)
def test_metrics_that_do_not_fit_are_refused(part: str, metric: str, direction: str) -> None:
    """The manifest says which there are, and which way they are better."""
    with pytest.raises(ManifestRejected) as refused:
        parse_manifest(benchmark_text(part, {metric: direction}).encode())

    assert f"metrics.{metric}" in str(refused.value.problems)


@pytest.mark.parametrize("value", [0.1, 0.3, 1e9 + 0.1])
def test_equal_labels_have_no_r_squared(value: float) -> None:
    """Nothing varies that a prediction could explain, whatever rounding leaves."""
    truth = Labels("t", (), np.full(37, value))
    predicted = value + np.random.default_rng(16).normal(size=37)

    assert measure(benchmark("kind: regression", ("r2",)), "A", predicted, truth).estimates["r2"].point is None


@pytest.mark.parametrize(("n_contenders", "is_told"), [(MAX_ENTRANTS, False), (MAX_ENTRANTS + 1, True)])
def test_a_board_of_many_says_that_only_the_best_are_compared(n_contenders: int, is_told: bool) -> None:
    """Who is no contender is not compared, and does not count: one for comparison, one of who can read the labels."""
    plain = benchmark(BINARY, ["accuracy"], more=", labels: {Human: reference}")
    declared = plain.with_grid_facts(replace(plain.asked.facts, label_holders=frozenset({"Holder"})))
    truth, scores = two_classes(40)
    one = measure(declared, "A", scores, truth)
    names = [*(f"m{at:02}" for at in range(n_contenders)), "Human", "Holder"]
    beside = pair_tables(declared, spec(declared), [replace(one, entrant=name) for name in names], None)
    tables = [table for each in beside if (table := each.compute()) is not None]

    compared = {row["entrant_a"] for row in tables[1].records()}
    assert compared == set(names[:MAX_ENTRANTS])
    assert [("The 50 best contenders are compared." in table.notes) for table in tables] == [is_told] * 2
