"""What reports of private labels let a submitter learn who chooses predictions to ask for single examples."""

import re
from html import unescape

import numpy as np
import pytest

from app.values.scores import Labels
from tests.cases.prediction_boards import BINARY, COLOURS, benchmark, measure, two_classes
from tests.cases.ydf_http import begin, manifest, submit, table
from tests.fixtures import Site

REGRESSION = "kind: regression"


def values(n_items: int = 400) -> Labels:
    """Return labels that no rounding could guess."""
    return Labels("t", (), np.random.default_rng(7).normal(50.0, 9.0, n_items))


def ends(centres: list[float]) -> tuple[float, float]:
    """Return where the outermost bins end."""
    half = (centres[1] - centres[0]) / 2
    return centres[0] - half, centres[-1] + half


def test_two_outliers_do_not_give_their_labels_away() -> None:
    """The ends of a histogram would be the residuals of the two, and so their labels."""
    truth = values()
    predicted = np.full(len(truth), 50.0)
    predicted[17], predicted[42] = -1e6, 1e6
    rows = measure(benchmark(REGRESSION, ("rmse",)), "A", predicted, truth).rows["residuals"]
    low, high = ends([float(str(row[1])) for row in rows])

    assert abs((low + 1e6) - truth.label[42]) > 1.0
    assert abs((high - 1e6) - truth.label[17]) > 1.0
    assert all(row[2] is None or int(str(row[2])) >= 10 for row in rows)


@pytest.mark.parametrize("by", ["prediction", "truth"])
def test_bins_do_not_end_at_the_smallest_and_the_largest_label(by: str) -> None:
    """Each end is the mean of ten."""
    truth = values()
    rows = measure(benchmark(REGRESSION, ("rmse",)), "A", truth.label + 1.0, truth).rows["conditional"]
    low, high = ends([float(str(row[2])) for row in rows if row[1] == by])
    shift = 1.0 if by == "prediction" else 0.0

    assert low == pytest.approx(np.sort(truth.label)[:10].mean() + shift)
    assert high == pytest.approx(np.sort(truth.label)[-10:].mean() + shift)


def test_a_class_that_is_called_for_few_examples_is_not_told_apart() -> None:
    """One example a class would be its label, also where it is what the known totals leave over."""
    rng = np.random.default_rng(3)
    truth = Labels("t", (), rng.integers(0, 3, 90).astype(np.float64))
    called = np.zeros(90, dtype=np.int64)
    called[5], called[6] = 1, 2
    rows = measure(benchmark(COLOURS, ("accuracy",)), "A", np.eye(3)[called], truth).rows

    assert {row[2] for row in rows["confusion"]} == {"red + green + blue"}
    assert [row[3:6] for row in rows["classes"]] == [(None, None, None)] * 3


def test_rarely_called_classes_stand_together() -> None:
    """The others keep a column of their own, and no weight is lost."""
    label = np.repeat([0.0, 1.0, 2.0], 40)
    called = np.concatenate([np.zeros(40), np.ones(74), np.full(6, 2)]).astype(np.int64)
    rows = measure(benchmark(COLOURS, ("accuracy",)), "A", np.eye(3)[called], Labels("t", (), label)).rows["confusion"]
    totals = {name: sum(float(str(row[3])) for row in rows if row[2] == name) for name in {row[2] for row in rows}}

    assert totals == {"green": 74.0, "red + blue": 46.0}


def test_one_example_called_the_other_class_does_not_show_in_the_recall() -> None:
    """All but one are called positive: a recall below one would say that the one is positive."""
    truth, _ = two_classes(200)
    scores = np.full(200, 0.9)
    scores[3] = 0.1
    (row,) = measure(benchmark(BINARY, ("auc",)), "A", scores, truth).rows["classes"]

    assert row[3:6] == (None, None, None)


def test_weights_of_few_examples_are_not_shown() -> None:
    """Two examples apart from all others, in bins of their own: neither weight stands in any report."""
    truth, _ = two_classes(200)
    weights = np.random.default_rng(4).uniform(1.0, 3.0, 200)
    labels = Labels("t", (), truth.label, weights)
    scores = np.full(200, 0.35)
    scores[3], scores[4] = 0.95, 0.85
    rows = measure(benchmark(BINARY, ("auc",)), "A", scores, labels).rows
    shown = [
        cell for kind in ("reliability", "roc", "pr", "thresholds", "classes") for row in rows[kind] for cell in row
    ]

    assert [row[2:] for row in rows["reliability"] if row[-1] == 1] == [(0.85, None, 1), (0.95, None, 1)]
    for secret in (weights[3], weights[4], weights[3] + weights[4]):
        assert not any(isinstance(cell, float) and abs(cell - secret) < 1e-9 for cell in shown)


@pytest.mark.parametrize(("is_weighted", "shown"), [(True, [None, 54.0]), (False, [3.0, 27.0])])
def test_the_weight_of_a_class_of_few_examples_is_not_shown(is_weighted: bool, shown: list[float | None]) -> None:
    """Of three examples it would tell their weights; how many there are is known."""
    label = np.repeat([0.0, 1.0, 2.0], [3, 27, 60])
    labels = Labels("t", (), label, np.full(90, 2.0) if is_weighted else None)
    rows = measure(benchmark(COLOURS, ("accuracy",)), "A", np.full((90, 3), 1 / 3), labels).rows["classes"]

    assert [row[2] for row in rows[:2]] == shown


def test_examples_without_weight_hide_nobody() -> None:
    """Nine of ten in a bin count nothing, so its share is that of one."""
    truth, _ = two_classes(200)
    weights = np.ones(200)
    weights[:9] = 0.0
    scores = np.full(200, 0.35)
    scores[:10] = 0.95
    rows = measure(benchmark(BINARY, ("auc",)), "A", scores, Labels("t", (), truth.label, weights)).rows["reliability"]

    assert [(row[3] is None, row[4]) for row in rows if row[4]] == [(False, 190), (True, 1)]


def test_no_page_that_links_lead_to_shows_an_item_a_label_or_a_weight(site: Site) -> None:
    """Every page, CSV and JSON of a benchmark and of its submissions, as a reader would find them."""
    rng = np.random.default_rng(9)
    items = [f"frog-{at:03}" for at in range(60)]
    truth, weight = np.round(rng.normal(50, 9, 60), 6).tolist(), np.round(rng.uniform(1, 3, 60), 6).tolist()
    rows = list(zip(items, truth, weight, strict=True))
    begin(
        site,
        manifest(f"{REGRESSION}, labels: private", ("rmse", "mae", "r2")),
        table(["item", "label", "weight"], rows),
    )
    for name in ("A", "B"):
        predicted = (np.array(truth) + rng.normal(size=60)).round(3).tolist()
        submit(site, name, table(["item", "prediction"], list(zip(items, predicted, strict=True))))
    site.work()

    pages = crawl(site, ["/benchmarks/guess", "/submissions/1", "/submissions/2"])
    secrets = ["frog-", *(repr(number) for number in [*truth, *weight])]

    assert {"/submissions/1/reports/t", "/benchmarks/guess/leaderboards/board/residuals.csv"} <= pages.keys()
    assert [(path, secret) for path, text in pages.items() for secret in secrets if secret in text] == []


def crawl(site: Site, result: list[str]) -> dict[str, str]:
    """Return what is at the addresses and at every one that they link to, without sorting and snapshots."""
    pages: dict[str, str] = {}
    while result:
        path = result.pop()
        if path in pages:
            continue
        answer = site.http.get(path, headers=site.auth())
        assert answer.status_code == 200, path
        pages[path] = answer.text
        result += [
            unescape(link)
            for link in re.findall(r'href="(/(?:benchmarks|submissions)/[^"#]+)"', answer.text)
            if "sort=" not in link and "snapshot=" not in link
        ]
    return pages


@pytest.mark.parametrize("labels", ["public", "submitted"])
def test_of_labels_that_are_no_secret_every_step_is_shown(labels: str) -> None:
    """There is nothing to hide: a curve has its thresholds, and a bin of one example its share."""
    truth, scores = two_classes(60)
    rows = measure(benchmark(f"{BINARY}, labels: {labels}", ("auc",)), "A", scores, truth).rows

    assert len(rows["roc"]) == len(np.unique(scores)) + 1
    assert all(row[3] is not None for row in rows["reliability"] if row[-1])
