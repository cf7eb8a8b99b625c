"""Plots of reports that are true: outliers, empty bins, tails and many classes."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_curve

from app.boards.measured import Measurement
from app.kinds.predictions.disclosed import Grain
from app.kinds.predictions.report import MAX_REPORTED, report_tables, reports_beside, share_step
from app.render.drawings import build_drawings
from app.stats.arrays import FloatArray
from app.stats.curve_bands import map_resamples
from app.stats.resample import board_generator
from app.values.scores import Labels
from app.values.table import Cell, Table
from tests.cases.prediction_boards import BINARY, benchmark, measure, spec, two_classes


def table_of(measured: Measurement, name: str) -> Table:
    """Return one table of a report."""
    (result,) = [table for table in report_tables({"A": measured.rows}) if table.name == name]
    return result


def rows_of(measured: Measurement, name: str) -> Sequence[Mapping[str, Cell]]:
    """Return the rows of one table of a report."""
    return list(table_of(measured, name).records())


def numbers(measured: Measurement, name: str, column: str) -> FloatArray:
    """Return a column without its blanks."""
    return np.array([row[column] for row in rows_of(measured, name) if row[column] is not None], dtype=np.float64)


def values(residuals: FloatArray, part: str = "kind: regression") -> Measurement:
    """Measure predictions of zero, whose residuals are the labels."""
    return measure(benchmark(part, ["rmse"]), "A", np.zeros(len(residuals)), Labels("t", (), residuals))


def test_three_outliers_do_not_make_one_bar() -> None:
    """Of 500 residuals three are a million: the others are still seen around zero."""
    residuals = np.random.default_rng(1).normal(size=500)
    residuals[:3] = 1e6
    measured = values(residuals)
    centres = numbers(measured, "residuals", "residual")

    assert (np.abs(centres) < 6).all()
    assert len(numbers(measured, "residuals", "n_examples")) > 8
    assert numbers(measured, "residuals", "n_examples").max() < 200


def test_a_reliability_diagram_says_which_bins_are_empty() -> None:
    """Every bin has its row and its count; an empty one has nothing to draw, so no line crosses it."""
    label = np.repeat([0.0, 1.0], 50)
    measured = measure(benchmark(BINARY, ["auc"]), "A", np.where(label > 0, 0.95, 0.05), Labels("t", (), label))
    rows = rows_of(measured, "reliability")

    assert [row["n_examples"] for row in rows] == [50, *[0] * 8, 50]
    assert [row["observed"] for row in rows] == [0.0, *[None] * 8, 1.0]
    assert table_of(measured, "reliability").meta["plot"][0]["gaps"] is True


def test_the_tails_of_a_probability_plot_are_not_thinned() -> None:
    """Of 20,000 residuals the first point holds ten, as few as private labels allow."""
    residuals = np.random.default_rng(2).standard_t(3, size=20_000)
    observed = numbers(values(residuals), "qq", "observed")
    deviations = (np.sort(residuals) - residuals.mean()) / residuals.std()

    assert len(observed) <= 200
    assert np.isclose(observed[[0, -1]], [deviations[:10].mean(), deviations[-10:].mean()]).all()


@pytest.mark.parametrize(
    ("n_examples", "labels", "n_points"),
    [(19, "private", 1), (20, "private", 2), (1, "submitted", 1), (120, "submitted", 120)],
)
def test_no_point_of_a_probability_plot_is_of_fewer_than_may_be_shown(
    n_examples: int, labels: str, n_points: int
) -> None:
    """Of nineteen private residuals two points would show the sums of nine and of ten; own ones are all shown."""
    residuals = np.random.default_rng(3).normal(size=n_examples)

    assert len(rows_of(values(residuals, f"kind: regression, labels: {labels}"), "qq")) == n_points


def test_curves_say_their_area_and_the_share_of_positives() -> None:
    """The same numbers as the table of classes, without digits that rounded ones do not have."""
    labels, scores = two_classes(200)
    measured = measure(benchmark(BINARY, ["auc"]), "A", scores, labels)
    (row,) = rows_of(measured, "classes")
    roc, pr = (table_of(measured, name).meta["plot"][0] for name in ("roc", "pr"))

    assert roc["words"] == [{"entrant": "A", "task": "t", "class": "yes", "text": f"AUC {row['auc']:.3g}"}]
    assert labels.label.mean() == 0.4
    assert pr["levels"] == [{"task": "t", "class": "yes", "at": 0.4, "text": "positives 0.4"}]


@pytest.mark.heavy
def test_curves_have_bands_that_hold_what_resamples_say() -> None:
    """Brute force: each resample's recall at the false positive rates of the shown thresholds."""
    labels, scores = two_classes(80)
    manifest = benchmark(f"{BINARY}, labels: public", ["auc"], more=", uncertainty: {n_resamples: 300}")
    measured = measure(manifest, "A", scores, labels)
    rates = numbers(measured, "roc", "fpr")
    rng = board_generator(spec(manifest).uncertainty.rng_seed, "board", "examples", "t")
    counts = np.concatenate(list(map_resamples(np.copy, 80, 300, rng)))
    drawn = np.array([recalls_at(np.unique(rates), np.repeat(np.arange(80), row), labels, scores) for row in counts])
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    at = np.searchsorted(np.unique(rates), rates)

    assert np.allclose(numbers(measured, "roc", "recall_lower"), low[at])
    assert np.allclose(numbers(measured, "roc", "recall_upper"), high[at])


def recalls_at(rates: FloatArray, drawn: "np.ndarray[tuple[int], np.dtype[np.int64]]", labels: Labels,
               scores: FloatArray) -> FloatArray:  # fmt: skip
    """Return the recall of drawn examples at ascending false positive rates, by scikit-learn's curve."""
    fpr, tpr, _ = roc_curve(labels.label[drawn], scores[drawn], drop_intermediate=False)
    ends = np.searchsorted(fpr, rates, side="right") - 1
    return np.where(np.isin(rates, fpr), tpr[ends], np.interp(rates, fpr, tpr))


def test_a_precision_recall_band_is_that_of_the_precision_at_each_recall() -> None:
    """It is the metric at a constraint, resampled; where nothing is called there is none."""
    scores = np.random.default_rng(2).permutation(80) / 80
    manifest = benchmark(
        f"{BINARY}, labels: public", ["precision@recall=0.5", "auc"], more=", uncertainty: {n_resamples: 300}"
    )
    measured = measure(manifest, "A", scores, Labels("t", (), np.repeat([1.0, 0.0], 40)))
    of_metric = measured.estimates["precision@recall=0.5"]
    row = next(row for row in rows_of(measured, "pr") if row["recall"] == 0.5)
    last = rows_of(measured, "pr")[-1]

    assert (row["precision_lower"], row["precision_upper"]) == (of_metric.low, of_metric.high)
    assert (last["recall"], last["precision_lower"]) == (0.0, None)


def test_bands_of_private_labels_end_in_steps_of_a_share() -> None:
    """As everything else that rests on them; the ends are never drawn in."""
    labels, scores = two_classes(200)
    manifest = benchmark(BINARY, ["auc"])
    plain = measure(manifest, "A", scores, labels)
    message = Grain(3, 0.95).measurement(plain, {"t": labels})
    step = share_step(200)
    fine, coarse = (numbers(actual, "roc", "recall_lower") for actual in (plain, message))

    assert np.allclose(coarse / step, np.round(coarse / step))
    assert (coarse <= fine).all()


@pytest.mark.parametrize("given", [0.9, 0.5, 0.0])
def test_operating_points_are_ydfs(given: float) -> None:
    """The shares of YDF 0.16.1 at a recall, and a threshold that calls the same examples as its does."""
    case = json.loads(Path("tests/data/ydf/binary_x_at_y.json").read_text())
    known = case["expected"]["one_vs_others"][1]["x_at_y"][f"precision_at_recall={given}"]
    scores = np.array(case["input"]["predictions"])
    label = np.array(case["input"]["labels"], dtype=np.float64)
    manifest = benchmark(f"{BINARY}, labels: public", [f"precision@recall={given:g}"])
    rows = rows_of(measure(manifest, "A", scores, Labels("t", (), label)), "operating")
    (row,) = [row for row in rows if str(row["point"]).startswith("precision")]

    assert row["precision"] == pytest.approx(known["value"], abs=1e-6)
    assert (scores > float(str(row["threshold"]))).sum() == (scores > known["threshold"]).sum()


def test_the_declared_thresholds_are_operating_points() -> None:
    """A score of at least 0.5 calls the class; both curves mark the point."""
    labels, scores = two_classes(200)
    manifest = benchmark(f"{BINARY}, labels: public, thresholds: [0.5, 0.25]", ["accuracy"])
    measured = measure(manifest, "A", scores, labels)
    rows = rows_of(measured, "operating")
    points = [table_of(measured, name).meta["plot"][0]["points"] for name in ("roc", "pr")]

    assert [row["point"] for row in rows] == ["score ≥ 0.5", "score ≥ 0.25"]
    assert rows[0]["accuracy"] == measured.estimates["accuracy"].point
    assert [(point["x"], point["y"]) for point in points[0]] == [(row["fpr"], row["recall"]) for row in rows]
    assert [(point["x"], point["y"]) for point in points[1]] == [(row["recall"], row["precision"]) for row in rows]


def test_operating_points_of_private_labels_are_points_of_the_shown_curve() -> None:
    """The exact threshold of a recall of 0.8 would say where a positive stands."""
    labels, scores = two_classes(200)
    measured = measure(benchmark(BINARY, ["precision@recall=0.8"]), "A", scores + np.arange(200) * 1e-5, labels)
    shown = {row["threshold"] for row in rows_of(measured, "roc")}
    points = rows_of(measured, "operating")

    assert {row["threshold"] for row in points} <= shown
    assert [row["point"] for row in points] == ["near score ≥ 0.5", "near precision@recall=0.8"]
    assert points[1]["precision"] != measured.estimates["precision@recall=0.8"].point


def test_a_declared_threshold_of_private_labels_is_the_cut_that_calls_as_many() -> None:
    """Nobody has a score between 0.1 and 0.864: from 0.5 on is above 0.1, although 0.864 is the nearer number."""
    scores = np.repeat([0.05, 0.1, 0.864, 0.95], [60, 60, 40, 40])
    label = (np.arange(200) % 10 < np.repeat([0, 1, 9, 9], [60, 60, 40, 40])) * 1.0
    manifest = benchmark(f"{BINARY}, labels: private", ["accuracy"])
    measured = measure(manifest, "A", scores, Labels("t", (), label))
    (row,) = rows_of(measured, "operating")

    assert (row["point"], row["threshold"]) == ("near score ≥ 0.5", 0.1)
    assert row["accuracy"] == measured.estimates["accuracy"].point
    assert row["volume"] == 0.4


def test_weights_have_no_part_in_which_cut_is_shown() -> None:
    """Of 96 below 0.5 the shown 100 are nearer than 90, but not by weight, of which nobody is told."""
    scores = np.minimum(np.arange(200) / 192, 1.0)
    weight = np.where((np.arange(200) >= 96) & (np.arange(200) < 100), 1e6, 1.0)
    plain = Labels("t", (), np.tile([0.0, 1.0], 100))
    manifest = benchmark(f"{BINARY}, labels: private", ["accuracy"])
    measured = [measure(manifest, "A", scores, labels) for labels in (plain, replace(plain, weight=weight))]

    assert [rows_of(each, "operating")[0]["threshold"] for each in measured] == [scores[99]] * 2


def test_the_recall_plot_counts_who_is_predicted_in_its_own_bin() -> None:
    """By truth it is a recall, by prediction a precision."""
    truth = np.repeat([0.5, 1.5], 40)
    predicted = np.where(np.arange(80) % 4 == 0, 0.5, truth)
    measured = measure(benchmark("kind: regression, labels: public", ["rmse"]), "A", predicted, Labels("t", (), truth))
    rows = [row for row in rows_of(measured, "conditional") if row["n_examples"]]

    assert [(row["by"], row["same_bin"]) for row in rows] == [
        ("prediction", 0.8), ("prediction", 1.0), ("truth", 1.0), ("truth", 0.75)
    ]  # fmt: skip


@pytest.mark.heavy
def of_classes(n_classes: int) -> Measurement:
    """Measure predictions of so many classes, twenty examples of each."""
    rng = np.random.default_rng(4)
    label = np.arange(20 * n_classes) % n_classes
    probabilities = 0.7 * rng.dirichlet(np.ones(n_classes), len(label)) + 0.3 * np.eye(n_classes)[label]
    part = f"kind: classification, classes: [{', '.join(f'c{at}' for at in range(n_classes))}], labels: public"
    return measure(benchmark(part, ["accuracy"]), "A", probabilities, Labels("t", (), label.astype(np.float64)))


def test_thirty_classes_share_plots_by_tens() -> None:
    """Every class is drawn: three plots of ten, each in its own colour, without bands that nobody could tell apart."""
    measured = of_classes(30)
    drawn = [drawing.lines for drawing in build_drawings(table_of(measured, "roc")).shown]

    assert len(rows_of(measured, "classes")) == 30

    assert [[series.name.split(",")[0] for series in plot.series] for plot in drawn if plot] == [
        [f"c{at}" for at in range(start, start + 10)] for start in (0, 10, 20)
    ]
    assert not any(series.band for plot in drawn if plot for series in plot.series)


@pytest.mark.parametrize(
    ("n_classes", "has_bands", "are_alone"),
    [(10, True, True), (11, False, True), (12, False, True), (13, False, False)],
)
def test_up_to_ten_curves_have_bands_and_up_to_twelve_their_own_plots(
    n_classes: int, has_bands: bool, are_alone: bool
) -> None:
    """As the note below the curves says."""
    measured = of_classes(n_classes)

    assert any(row["recall_lower"] is not None for row in rows_of(measured, "roc")) is has_bands
    assert (table_of(measured, "roc").meta["plot"][0]["facet"] == ["task", "class"]) is are_alone


def test_a_board_of_many_has_the_curves_of_the_best_and_the_intervals_of_all() -> None:
    """Curves of a thousand are larger than anyone reads; a submission with as many entrants keeps them all."""
    truth, scores = two_classes(40)
    measured = measure(benchmark(BINARY, ["auc"]), "A", scores, truth)
    many = {f"m{at:03}": measured.rows for at in range(MAX_REPORTED + 1)}
    computed = [each.compute() for each in reports_beside(many, "main")]
    on_board = {table.name: table for table in computed if table is not None}
    of_run = {table.name: table for table in report_tables(many)}

    assert len({row[0] for row in on_board["intervals/main"].rows}) == MAX_REPORTED + 1
    assert {row[0] for row in on_board["roc/main"].rows} == set(list(many)[:MAX_REPORTED])
    assert on_board["roc/main"].notes[-1].startswith("The 200 best of 201 are shown")
    assert len({row[0] for row in of_run["roc"].rows}) == MAX_REPORTED + 1


def test_a_metric_without_a_value_leaves_the_intervals_of_the_next_one() -> None:
    """Labels that are all equal have no share of explained variance, and errors like any other."""
    label = np.full(40, 2.0)
    predicted = label + np.linspace(-1.0, 1.0, 40)
    measured = measure(benchmark("kind: regression", ["r2", "rmse"]), "A", predicted, Labels("t", (), label))
    rows = rows_of(measured, "intervals")

    assert [row["value"] for row in rows if row["metric"] == "r2"] == [None]
    assert len([row for row in rows if row["metric"] == "rmse"]) > 1


@pytest.mark.parametrize(
    ("truncation", "n_points"), [("3", 6), ("8", 8), ("{ndcg: 8, mrr: 3}", 8), ("{mrr: 8}", 6), ("40", 20)]
)
def test_a_plot_of_truncations_reaches_the_one_of_the_board(truncation: str, n_points: int) -> None:
    """Of groups of six items: up to all of them, or to where NDCG ends if that is further; never beyond twenty."""
    labels = Labels("t", (), (np.arange(60) % 3).astype(np.float64), group=np.arange(60) // 6)
    manifest = benchmark(f"kind: ranking, truncation: {truncation}", ["ndcg", "mrr"])
    measured = measure(manifest, "A", np.sin(np.arange(60)), labels)

    assert [row["truncation"] for row in rows_of(measured, "truncation")] == list(range(1, n_points + 1))
