"""Plots of reports that are true: outliers, empty bins, tails and many classes."""

from collections.abc import Mapping, Sequence

import numpy as np

from app.boards.measured import Measurement
from app.kinds.predictions.reports import report_tables
from app.stats.arrays import FloatArray
from app.values.predictions import Labels
from app.values.table import Cell, Table
from tests.cases.prediction_boards import BINARY, benchmark, measure, two_classes


def table_of(measured: Measurement, name: str) -> Table:
    """Return one table of a report."""
    (found,) = [table for table in report_tables({"A": measured.rows}) if table.name == name]
    return found


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


def test_every_residual_of_own_labels_is_shown_while_there_are_few() -> None:
    """Nothing is private there."""
    residuals = np.random.default_rng(3).normal(size=120)

    assert len(numbers(values(residuals, "kind: regression, labels: submitted"), "qq", "observed")) == 120


def test_thirty_classes_have_thirty_rows() -> None:
    """And each of them its curve."""
    rng = np.random.default_rng(4)
    label = np.arange(600) % 30
    probabilities = 0.7 * rng.dirichlet(np.ones(30), 600) + 0.3 * np.eye(30)[label]
    part = f"kind: classification, classes: [{', '.join(f'c{at}' for at in range(30))}]"
    measured = measure(benchmark(part, ["accuracy"]), "A", probabilities, Labels("t", (), label.astype(np.float64)))

    assert len(rows_of(measured, "classes")) == 30
    assert len({row["class"] for row in rows_of(measured, "roc")}) == 30


def test_curves_say_their_area_and_the_share_of_positives() -> None:
    """The same numbers as the table of classes."""
    labels, scores = two_classes(200)
    measured = measure(benchmark(BINARY, ["auc"]), "A", scores, labels)
    (row,) = rows_of(measured, "classes")
    roc, pr = (table_of(measured, name).meta["plot"][0] for name in ("roc", "pr"))

    assert roc["words"] == [{"entrant": "A", "task": "t", "class": "yes", "text": f"AUC {row['auc']:.3f}"}]
    assert pr["levels"] == [
        {"task": "t", "class": "yes", "at": labels.label.mean(), "text": f"positives {labels.label.mean():.3f}"}
    ]


def test_conditional_plots_have_residuals_and_a_histogram() -> None:
    """The mean residual of each bin, and how many examples it is of."""
    rng = np.random.default_rng(5)
    truth = rng.normal(size=400)
    measured = measure(benchmark("kind: regression", ["rmse"]), "A", truth + 0.5, Labels("t", (), truth))
    plots = [plot["y"] for plot in table_of(measured, "conditional").meta["plot"]]

    assert plots == ["mean", "rmse", "residual", "n_examples"]
    assert np.allclose(numbers(measured, "conditional", "residual"), -0.5)
