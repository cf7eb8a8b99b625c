"""YDF's cases through the HTTP API: labels put by a steward, predictions submitted, and its numbers in the CSV."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cases.ydf_http import begin, manifest, records, submit, table
from tests.fixtures import Site

CASES = Path(__file__).parents[2] / "data" / "ydf"
AT = {"precision_at_recall": "precision@recall", "false_positive_rate_at_recall": "fpr@recall",
      "recall_at_precision": "recall@precision", "recall_at_false_positive_rate": "recall@fpr",
      "precision_at_volume": "precision@volume"}  # fmt: skip
"""YDF's names of metrics at a constraint."""
BINARY = ("auc", "pr_auc", "ap", "accuracy", "logloss", "brier", "f1")
AREAS = {"auc": "auc", "pr_auc_ydf": "pr_auc", "ap_ydf": "ap"}
"""YDF's names of ours."""
REGRESSION, RANKING = ("rmse", "mae", "r2"), ("ndcg", "mrr", "map", "precision@1")
Intervals = Mapping[tuple[str, str], Mapping[str, str]]
MONTE_CARLO = 0.04
"""How far the ends of two percentile intervals of 2,000 draws each may be apart on these small cases."""
STEP = 0.15
"""The same of metrics at a constraint, which jump from one threshold to the next."""


def case(name: str) -> Any:
    """Return one case of YDF."""
    return json.loads((CASES / f"{name}.json").read_text())


def published(site: Site, name: str, part: str, metrics: Sequence[str], labels: str, predictions: str) -> Intervals:
    """Publish one entrant on a benchmark of this name, and return each row of its intervals by metric and tag."""
    slug = slug_of(name)
    begin(site, manifest(part, metrics, slug=slug), labels)
    submit(site, "A", predictions, slug)
    return intervals(site, name)


def slug_of(name: str) -> str:
    """Return the name of the benchmark of a case."""
    return name.replace("_", "-").replace(" ", "-")


def intervals(site: Site, name: str) -> Intervals:
    """Return each row of a board's intervals by metric and tag."""
    site.work()
    rows = records(site, f"/benchmarks/{slug_of(name)}/leaderboards/board/intervals.csv")
    return {(row["metric"], row["interval"]): row for row in rows}


def columns(*header: str, of: Sequence[Sequence[object]]) -> str:
    """Return columns as a CSV file, the items before them."""
    items = [f"i{at:03}" for at in range(len(of[0]))]
    return table(["item", *header], list(zip(items, *of, strict=True)))


def within_one(interval: Sequence[float]) -> list[float]:
    """Return YDF's interval of an area, cut where an area ends."""
    return [max(0.0, interval[0]), min(1.0, interval[1])]


def ends(row: Mapping[str, str]) -> list[float]:
    """Return the interval of a row."""
    return [float(row["value_lower"]), float(row["value_upper"])]


@pytest.mark.parametrize("name", ["binary_ties_small", "binary_2col_strings", "binary_all_equal"])
def test_two_classes_are_ydfs(shared_site: Site, name: str) -> None:
    """Every metric and closed interval to 1e-6, the bootstrap within Monte-Carlo error."""
    given, expected = case(name)["input"], case(name)["expected"]
    words = [str(word) for word in given["label_classes"]]
    labels = [word if isinstance(word, str) else words[word] for word in given["labels"]]
    scores = [p[1] if isinstance(p, list) else p for p in given["predictions"]]
    part = f"kind: classification, classes: [{', '.join(json.dumps(word) for word in words)}]"
    actual = published(
        shared_site, name, part, BINARY, columns("label", of=[labels]), columns("prediction", of=[scores])
    )
    positive = expected["one_vs_others"][1]

    assert float(actual["accuracy", "B"]["value"]) == pytest.approx(expected["accuracy"], abs=1e-6)
    assert float(actual["logloss", "B"]["value"]) == pytest.approx(expected["loss"], abs=1e-6)
    assert float(actual["accuracy", "B"]["default"]) == pytest.approx(expected["default_accuracy"], abs=1e-6)
    assert ends(actual["accuracy", "acc_ci_ydf"]) == pytest.approx(expected["accuracy_ci95_W_label"], abs=1e-6)
    assert ends(actual["auc", "H"]) == pytest.approx(within_one(positive["auc_ci95_H"]), abs=1e-6)
    for metric, theirs in AREAS.items():
        assert float(actual[metric, "B"]["value"]) == pytest.approx(positive[theirs], abs=1e-6)
        if name != "binary_all_equal":
            assert ends(actual[metric, "B"]) == pytest.approx(positive[f"{theirs}_ci95_B"], abs=MONTE_CARLO)
    if positive["pr_auc"] < 1.0:
        assert ends(actual["pr_auc_ydf", "L"]) == pytest.approx(positive["pr_auc_ci95_L"], abs=1e-6)
    else:
        assert actual["pr_auc_ydf", "L"]["value_lower"] == actual["pr_auc_ydf", "L"]["value_upper"] == ""


def test_one_class_only_leaves_the_areas_null(shared_site: Site) -> None:
    """Undefined is null, never 0; the others stand. Only a submitter's own labels can be so: others are refused."""
    given = case("binary_single_class")["input"]
    document = manifest("kind: classification, classes: ['0', '1'], labels: submitted", BINARY, slug="one-class")
    created = shared_site.http.post("/benchmarks", content=document, headers=shared_site.auth("steward"))
    assert created.status_code == 201
    content = columns("prediction", "label", of=[given["predictions"], given["labels"]])
    submit(shared_site, "A", content, "one-class")
    actual = intervals(shared_site, "one-class")
    board = records(shared_site, "/benchmarks/one-class/leaderboards/board.csv")[0]

    assert (actual["auc", "B"]["value"], actual["auc", "B"]["note"]) == ("", "undefined")
    assert ("auc", "H") not in actual
    assert float(actual["accuracy", "B"]["value"]) == 0.5
    assert (board["rank"], board["auc"]) == ("", "")


@pytest.mark.parametrize("positive", [0])
def test_metrics_at_a_constraint_are_ydfs(shared_site: Site, positive: int) -> None:
    """Every pair that YDF has, at every constraint of the case, also at 0 and at 1, whichever class is positive."""
    given = case("binary_x_at_y")["input"]
    expected = {name_at(name): actual for name, actual in one_class("binary_x_at_y", positive)["x_at_y"].items()}
    part = f"kind: classification, classes: ['0', '1'], positive: '{positive}'"
    scores = [score if positive else 1.0 - score for score in given["predictions"]]
    actual = published(
        shared_site, f"at-{positive}", part, list(expected), columns("label", of=[given["labels"]]),
        columns("prediction", of=[scores]),
    )  # fmt: skip

    for name, value in expected.items():
        assert float(actual[name, "B"]["value"]) == pytest.approx(value["value"], abs=1e-6), name
        assert ends(actual[name, "B"]) == pytest.approx(value["ci95_B"], abs=STEP), name


def one_class(name: str, number: int) -> Any:
    """Return what YDF says of one class against the rest."""
    return case(name)["expected"]["one_vs_others"][number]


def name_at(name: str) -> str:
    """Return our name of YDF's metric at a constraint."""
    pair, at = name.split("=")
    return f"{AT[pair]}={float(at):g}"


def of_class(row: Mapping[str, str], name: str) -> list[float]:
    """Return an interval of a class."""
    return [float(row[f"{name}_lower"]), float(row[f"{name}_upper"])]


@pytest.mark.parametrize("name", ["regression_weighted"])
def test_values_are_ydfs(shared_site: Site, name: str) -> None:
    """RMSE with its χ² and bootstrap intervals, MAE, and the default, also with weights."""
    given, expected = case(name)["input"], case(name)["expected"]
    weights = given["weights"] or [1.0] * len(given["labels"])
    labels = columns("label", "weight", of=[given["labels"], weights])
    predictions = columns("prediction", of=[given["predictions"]])
    actual = published(shared_site, name, "kind: regression", REGRESSION, labels, predictions)

    assert float(actual["rmse", "B"]["value"]) == pytest.approx(expected["rmse"], abs=1e-6)
    assert float(actual["mae", "B"]["value"]) == pytest.approx(expected["mae_proto"], abs=1e-6)
    assert float(actual["rmse", "B"]["default"]) == pytest.approx(expected["default_rmse"], abs=1e-6)
    assert ends(actual["rmse", "X2"]) == pytest.approx(expected["rmse_ci95_X2"], abs=1e-6)
    assert ends(actual["rmse", "B"]) == pytest.approx(expected["rmse_ci95_B"], abs=MONTE_CARLO)


@pytest.mark.parametrize("falling", [False, True], ids=["names rise with the rows", "names fall with the rows"])
@pytest.mark.parametrize("name", ["ranking_ties"])
def test_rankings_are_ydfs(shared_site: Site, name: str, *, falling: bool) -> None:
    """NDCG with its bootstrap over groups, MRR, MAP, the default, and precision at one with ties by row."""
    given, expected = case(name)["input"], case(name)["expected"]
    n_items = len(given["labels"])
    items = [f"i{n_items - at if falling else at:03}" for at in range(n_items)]
    labels = list(zip(items, given["labels"], given["ranking_groups"], strict=True))
    predictions = list(zip(items, given["predictions"], strict=True))
    actual = published(
        shared_site, f"{name}-{falling}".lower(), "kind: ranking", RANKING, table(["item", "label", "group"], labels),
        table(["item", "prediction"], predictions),
    )  # fmt: skip
    names = {"ndcg": "ndcg", "mrr_ydf": "mrr", "map_ydf": "map", "precision@1_ydf": "p1"}

    assert {metric: float(actual[metric, "B"]["value"]) for metric in names} == pytest.approx(
        {metric: expected[name] for metric, name in names.items()}, abs=1e-6
    )
    assert float(actual["ndcg", "B"]["default"]) == pytest.approx(expected["default_ndcg"], abs=1e-6)
    assert ends(actual["ndcg", "B"]) == pytest.approx(expected["ndcg_ci95_B_approx"], abs=MONTE_CARLO)


def test_several_classes_are_ydfs(shared_site: Site) -> None:
    """Each class against the rest, and the averages of these over classes."""
    given, expected = case("multiclass")["input"], case("multiclass")["expected"]
    words = [str(word) for word in given["label_classes"]]
    labels = [word if isinstance(word, str) else words[word] for word in given["labels"]]
    metrics = ("accuracy", "logloss", "auc_macro", "auc_micro", "pr_auc_macro", "f1_macro", "f1_micro")
    part = f"kind: classification, classes: [{', '.join(json.dumps(word) for word in words)}]"
    begin(shared_site, manifest(part, metrics, slug="multiclass"), columns("label", of=[labels]))
    probabilities = [[round(p, 9) for p in each] for each in zip(*given["predictions"], strict=True)]
    content = columns(*(f"p_{word}" for word in words), of=probabilities)
    number = submit(shared_site, "A", content, "multiclass")
    actual, one_vs_rest = intervals(shared_site, "multiclass"), expected["one_vs_others"]
    classes = records(shared_site, f"/submissions/{number}/tables/classes.csv")

    assert float(actual["accuracy", "B"]["value"]) == pytest.approx(expected["accuracy"], abs=1e-6)
    assert float(actual["logloss", "B"]["value"]) == pytest.approx(expected["loss"], abs=1e-6)
    # No score of these is shared by two classes, so no tie takes anything from their areas.
    areas = {"auc": "auc", "pr_auc": "pr_auc", "ap_ydf": "ap"}
    for metric, theirs in areas.items():
        assert [float(row[metric]) for row in classes] == pytest.approx([e[theirs] for e in one_vs_rest], abs=1e-6)
    for row, one in zip(classes, one_vs_rest, strict=True):
        assert of_class(row, "auc") == pytest.approx(within_one(one["auc_ci95_H"]), abs=1e-6)
        assert of_class(row, "pr_auc") == pytest.approx(one["pr_auc_ci95_L"], abs=1e-6)
        for area, theirs in areas.items():
            assert of_class(row, f"{area}_b") == pytest.approx(one[f"{theirs}_ci95_B"], abs=MONTE_CARLO), area
    assert float(actual["auc_macro", "B"]["value"]) == pytest.approx(sum(e["auc"] for e in one_vs_rest) / 3, abs=1e-6)
    assert actual["f1_micro", "B"]["value"] == actual["accuracy", "B"]["value"]
