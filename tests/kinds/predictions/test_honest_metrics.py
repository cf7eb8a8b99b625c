"""A constant prediction, an uncalled class, the order of labels and the unit of weights gain nobody anything."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, log_loss, precision_score, recall_score

from app.boards.measured import Measurement
from app.errors import ManifestRejected
from app.kinds.predictions.report import report_tables
from app.stats.arrays import FloatArray
from app.values.scores import Labels
from app.values.table import Cell
from tests.cases.prediction_boards import BINARY, COLOURS, benchmark, measure, two_classes

CASES = Path(__file__).parents[2] / "data" / "ydf"
RANKED = ("mrr", "map", "precision@1")


def points(measurement: Measurement) -> dict[str, float]:
    """Return the numbers of a measurement by column."""
    return {
        name.replace(":", "_"): result.point
        for name, result in measurement.estimates.items()
        if result.point is not None
    }


def binary(metrics: Sequence[str], scores: FloatArray, label: FloatArray) -> dict[str, float]:
    """Return the metrics of a binary prediction."""
    return points(measure(benchmark(BINARY, metrics), "A", scores, Labels("t", (), label)))


def groups(n_groups: int = 12) -> Labels:
    """Return labels of groups of four items, one or two of them relevant."""
    label = np.tile([0.0, 3.0, 0.0, 1.0], n_groups)
    return Labels("t", (), label, group=np.repeat(np.arange(n_groups), 4))


def test_a_constant_prediction_has_the_ap_and_the_pr_auc_of_chance() -> None:
    """The share of positives, scikit-learn's number; beside it stand YDF's 1, and the middle between both that its
    straight line gives.
    """
    label = np.array([1.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    actual = binary(["ap", "pr_auc"], np.full(6, 0.5), label)
    third = pytest.approx(1 / 3)

    assert actual == {"ap": third, "ap_ydf": 1.0, "pr_auc": third, "pr_auc_ydf": pytest.approx(2 / 3)}
    assert actual["ap"] == pytest.approx(average_precision_score(label, np.full(6, 0.5)))


def test_one_sure_example_before_a_tie_of_all_others_gains_little() -> None:
    """A tenth of the positives is found for sure, the rest as by chance: far behind who ranks half well."""
    rng, label = np.random.default_rng(3), np.repeat([1.0, 0.0], [10, 30])
    sure = np.where(np.arange(40) == 0, 1.0, 0.5)
    honest = label * 0.2 + rng.random(40) * 0.8
    of_sure, of_honest = (binary(["pr_auc"], scores, label) for scores in (sure, honest))

    assert of_sure["pr_auc"] < of_honest["pr_auc"] < of_sure["pr_auc_ydf"]
    assert of_honest["pr_auc"] == of_honest["pr_auc_ydf"]


@pytest.mark.parametrize("metric", RANKED)
def test_a_constant_ranking_has_what_chance_gives(metric: str) -> None:
    """No better than the constant predictor that the report names, whatever YDF calls it."""
    labels = groups()
    measured = measure(benchmark("kind: ranking", [metric]), "A", np.zeros(len(labels.label)), labels)
    (intervals,) = [table for table in report_tables({"A": measured.rows}) if table.name == "intervals"]
    default = next(row["default"] for row in intervals.records() if row["metric"] == metric)
    actual = points(measured)

    assert actual[metric] < 0.75
    assert actual[metric] == pytest.approx(default)
    assert actual[f"{metric}_ydf"] == 1.0


def test_hiding_relevant_items_leads_nobody() -> None:
    """Who puts one of two relevant items first and the other behind the truncation is not before who ranks both."""
    labels = Labels("t", (), np.tile([1.0, 0.0, 0.0, 0.0, 1.0], 9), group=np.repeat(np.arange(9), 5))
    orders = {"hides": [5.0, 4.0, 3.0, 2.0, 1.0], "ranks": [5.0, 3.0, 2.0, 1.0, 4.0]}
    part = "kind: ranking, truncation: 3"
    actual = {name: points(measure(benchmark(part, ["map"]), name, np.tile(of, 9), labels))
              for name, of in orders.items()}  # fmt: skip

    assert {name: of["map"] for name, of in actual.items()} == {"hides": 0.5, "ranks": 1.0}
    assert actual["hides"]["map_ydf"] == 1.0


@pytest.mark.parametrize("metric", ["ap", "ap_macro", *RANKED])
def test_knowing_something_leads_a_constant_prediction(metric: str) -> None:
    """The metric that ranks puts the honest one first."""
    rng = np.random.default_rng(3)
    labels = groups(40)
    part, n_columns = "kind: ranking", 1
    if metric.startswith("ap"):
        part, n_columns = (BINARY, 1) if metric == "ap" else (COLOURS, 3)
        labels = Labels("t", (), rng.integers(0, 2 if n_columns == 1 else 3, 160).astype(np.float64))
    truth = labels.label[:, None] == np.arange(n_columns) if n_columns > 1 else labels.label[:, None] > 0
    knowing = rng.random((160, n_columns)) + 1.0 * truth
    knowing = knowing / knowing.sum(axis=1, keepdims=True) if n_columns > 1 else knowing / 2
    actual = [
        points(measure(benchmark(part, [metric]), "A", values, labels))[metric]
        for values in (knowing, np.full((160, n_columns), 1 / max(2, n_columns)))
    ]

    assert actual[0] > actual[1]


@pytest.mark.parametrize("name", ["ranking", "ranking_ties"])
def test_ydfs_rankings_keep_their_numbers_beside(name: str) -> None:
    """To the digit, under names that say so."""
    given, expected = (json.loads((CASES / f"{name}.json").read_text())[key] for key in ("input", "expected"))
    _, group = np.unique(given["ranking_groups"], return_inverse=True)
    labels = Labels("t", (), np.array(given["labels"]), group=group)
    actual = points(measure(benchmark("kind: ranking", ["ndcg", *RANKED]), "A", np.array(given["predictions"]), labels))

    assert [actual[key] for key in ("ndcg", "mrr_ydf", "map_ydf", "precision@1_ydf")] == pytest.approx(
        [expected[key] for key in ("ndcg", "mrr", "map", "p1")], abs=1e-6
    )


@pytest.mark.parametrize("name", ["binary_all_equal", "binary_no_ties", "binary_ties_small", "binary_x_at_y"])
def test_ydfs_average_precision_keeps_its_number_beside(name: str) -> None:
    """Also where every prediction is the same."""
    case = json.loads((CASES / f"{name}.json").read_text())
    given, expected = case["input"], case["expected"]["one_vs_others"][1]
    labels = [given["label_classes"].index(y) if isinstance(y, str) else y for y in given["labels"]]
    actual = binary(["ap"], np.array(given["predictions"]), np.array(labels, dtype=np.float64))

    assert actual["ap_ydf"] == pytest.approx(expected["ap"], abs=1e-6)


def test_precision_at_one_does_not_depend_on_the_order_of_the_labels() -> None:
    """Twelve groups of relevance 0 and 3, all predictions equal: one half, in either order; YDF says 1 in both."""
    group = np.repeat(np.arange(12), 2)
    actual = [
        points(
            measure(
                benchmark("kind: ranking", ["precision@1"]),
                "A",
                np.zeros(24),
                Labels("t", (), np.tile(relevance, 12), group=group),
            )
        )
        for relevance in ([0.0, 3.0], [3.0, 0.0])
    ]

    assert actual == [{"precision@1": 0.5, "precision@1_ydf": 1.0}] * 2


def test_a_certain_mistake_costs_what_it_costs_elsewhere() -> None:
    """Probabilities of zero are clipped at 2.2e-16, as scikit-learn and YDF 0.16 clip them: 18.02 and not 7.97."""
    label = np.tile([0.0, 1.0], 10)
    actual = binary(["logloss"], np.zeros(20), label)

    assert actual["logloss"] == pytest.approx(18.0218, abs=1e-4)
    assert actual["logloss"] == pytest.approx(log_loss(label, np.zeros(20)))


def test_accuracy_stands_beside_that_at_the_best_threshold() -> None:
    """By definition: the most that any cut of the scores calls right. Upside down, calling nothing is still right for
    the majority.
    """
    labels, scores = two_classes(80)
    actual = binary(["accuracy"], scores, labels.label)
    best = max(((scores > cut) == labels.label).mean() for cut in [-1.0, *np.unique(scores)])
    label = np.array([0.0, 0.0, 0.0, 1.0])

    assert actual["accuracy"] == pytest.approx(((scores >= 0.5) == labels.label).mean())
    assert actual["accuracy_best_threshold"] == pytest.approx(best)
    assert binary(["accuracy_best_threshold"], 1.0 - label, label)["accuracy_best_threshold"] == 0.75


def test_never_calling_hard_classes_does_not_lift_an_average() -> None:
    """Who always says the first class has zero precision for the others, as scikit-learn counts it."""
    label = np.arange(60) % 3
    always = np.tile([0.8, 0.1, 0.1], (60, 1))
    actual = points(measure(benchmark(COLOURS, ["precision_macro"]), "A", always, Labels("t", (), label.astype(float))))

    assert actual["precision_macro"] == pytest.approx(1 / 9)
    assert actual["precision_macro"] == pytest.approx(
        precision_score(label, np.zeros(60), average="macro", zero_division=0)
    )


def test_calling_a_class_that_is_not_there_stands_beside_as_scikit_learn_counts_it() -> None:
    """Ours leaves out the recall of a class of which there is nothing to find."""
    label, called = np.array([0, 0, 1, 1]), np.array([0, 2, 1, 1])
    values = np.eye(3)[called] * 0.8 + 0.2 / 3
    actual = points(measure(benchmark(COLOURS, ["recall_macro"]), "A", values, Labels("t", (), label.astype(float))))

    assert actual["recall_macro"] == pytest.approx(0.75)
    assert actual["recall_macro_sklearn"] == pytest.approx(
        recall_score(label, called, average="macro", zero_division=0)
    )


def test_each_metric_of_rankings_has_its_own_truncation() -> None:
    """One benchmark of three truncations gives what three benchmarks of one each give."""
    rng = np.random.default_rng(8)
    labels = Labels("t", (), rng.integers(0, 3, 120).astype(np.float64), group=np.repeat(np.arange(10), 12))
    values = rng.integers(0, 5, 120).astype(np.float64)
    own: Mapping[str, int] = {"ndcg": 2, "mrr": 10, "map": 3}
    declared = ", ".join(f"{metric}: {at}" for metric, at in own.items())
    together = points(measure(benchmark(f"kind: ranking, truncation: {{{declared}}}", list(own)), "A", values, labels))
    alone = {
        metric: points(measure(benchmark(f"kind: ranking, truncation: {at}", [metric]), "A", values, labels))[metric]
        for metric, at in own.items()
    }

    assert {metric: together[metric] for metric in own} == alone
    assert len({round(value, 9) for value in alone.values()}) == 3


def test_a_truncation_of_another_metric_is_refused() -> None:
    """The message names the key."""
    with pytest.raises(ManifestRejected) as refused:
        benchmark("kind: ranking, truncation: {auc: 3}", ["ndcg"])

    assert "truncation" in str(refused.value.problems)


def without_counts(measured: Measurement) -> Iterator[Cell]:
    """Yield the cells of the reports but those of weights taken for counts, and of the weight itself."""
    for table in report_tables({"A": measured.rows}):
        for row in table.records():
            if not str(row.get("interval")).endswith("_ydf"):
                yield from (cell for name, cell in row.items() if name != "weight")


@pytest.mark.parametrize("factor", [1e-3, 1000.0, 3.7])
def test_rescaled_weights_change_nothing(factor: float) -> None:
    """No number and no interval of the boards or the report, but those that take weights for counts and say so."""
    labels, scores = two_classes(200)
    weights = np.random.default_rng(4).uniform(0.1, 3.0, 200)
    metrics = ["auc", "pr_auc", "ap", "accuracy", "logloss", "brier", "f1", "precision@recall=0.8", "recall@fpr=0.1"]
    actual = [
        measure(benchmark(BINARY, metrics), "A", scores, Labels("t", (), labels.label, weights * by))
        for by in (1.0, factor)
    ]
    numbers = [list(without_counts(one)) for one in actual]

    assert len(numbers[0]) > 100
    assert [cell for cell in numbers[0] if not isinstance(cell, float)] == [
        cell for cell in numbers[1] if not isinstance(cell, float)
    ]
    assert [cell for cell in numbers[0] if isinstance(cell, float)] == pytest.approx(
        [cell for cell in numbers[1] if isinstance(cell, float)], abs=1e-9
    )


def test_the_interval_of_weights_is_as_wide_as_their_effective_number() -> None:
    """A few heavy examples say less than many equal ones: Kish's number, whatever the unit."""
    labels, scores = two_classes(200)
    weights = np.where(np.arange(200) < 20, 100.0, 1.0)
    measured = measure(benchmark(BINARY, ["accuracy"]), "A", scores, Labels("t", (), labels.label, weights))
    (table,) = [each for each in report_tables({"A": measured.rows}) if each.name == "intervals"]
    wilson = next(row for row in table.records() if row["interval"] == "W")

    assert float(wilson["value_upper"] or 0) - float(wilson["value_lower"] or 0) > 0.25


def test_no_bound_of_an_area_is_above_one() -> None:
    """A nearly perfect order of few examples."""
    label = np.repeat([0.0, 1.0], 10)
    scores = np.linspace(0, 1, 20)
    scores[[9, 10]] = scores[[10, 9]]
    measured = measure(benchmark(BINARY, ["auc", "pr_auc"]), "A", scores, Labels("t", (), label))
    rows = [row for table in report_tables({"A": measured.rows}) for row in table.records()]
    bounds = [row[name] for row in rows for name in ("value_upper", "auc_upper") if row.get(name) is not None]

    assert len(bounds) >= 5
    assert max(float(str(bound)) for bound in bounds) <= 1.0
