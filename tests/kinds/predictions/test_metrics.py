"""The one table of prediction metrics: each row is whole, scores, is explained, and is the report's own number."""

import numpy as np
import pytest

from app.kinds.parse import parse_manifest
from app.kinds.predictions.manifest_part import PredictionsPart
from app.kinds.predictions.metrics import METRICS, area_of_class, find_metric, scorer_of
from app.kinds.predictions.task import TaskPredictions, complete
from app.manifest.model import part_of
from app.render.glossary import glossary_entries
from app.values.scores import Labels, PredictionBlock
from tests.cases.prediction_boards import benchmark_text

PARTS = {
    "binary": ("kind: classification, classes: ['no', 'yes']", "auc", "maximize"),
    "multiclass": ("kind: classification, classes: [red, green, blue]", "accuracy", "maximize"),
    "regression": ("kind: regression", "rmse", "minimize"),
    "ranking": ("kind: ranking", "ndcg", "maximize"),
}
ROWS = [(of, name) for name in METRICS for of in sorted(METRICS[name].tasks)]


def task_of(task_type: str, n_items: int = 60) -> TaskPredictions:
    """Return predictions that know something of the labels."""
    declared, metric, direction = PARTS[task_type]
    part = part_of(parse_manifest(benchmark_text(declared, {metric: direction}).encode()), PredictionsPart).predictions
    rng = np.random.default_rng(7)
    n_classes = len(part.classes or ())
    label = rng.integers(0, n_classes or 4, n_items).astype(np.float64)
    values = rng.random((n_items, part.n_columns)) + 0.5 * (label[:, None] == np.arange(part.n_columns))
    group = np.repeat(np.arange(n_items // 6), 6) if task_type == "ranking" else None
    values = values / values.sum(axis=1, keepdims=True) if n_classes > 2 else values / 2 if n_classes else values
    return complete(part, PredictionBlock("A", "t", values), Labels("t", (), label, group=group))


@pytest.mark.parametrize(("task_type", "name"), ROWS)
def test_every_row_of_the_table_scores(task_type: str, name: str) -> None:
    """So that no metric that a manifest may name dies in a worker."""
    task = task_of(task_type)
    actual = scorer_of(task, [name])(task.unit_weights[None, :])

    assert actual[name].shape == (1,)
    assert np.isfinite(actual[name]).all()


@pytest.mark.parametrize(("task_type", "name"), ROWS)
def test_every_row_is_explained_and_has_words(task_type: str, name: str) -> None:
    """Its entry is on the page of the glossary."""
    del task_type

    assert METRICS[name].entry in glossary_entries()
    assert METRICS[name].words


def test_the_closed_intervals_of_every_row_hold_their_point() -> None:
    """Whatever metric has some."""
    intervals = []
    for task_type, name in ROWS:
        task = task_of(task_type)
        point = float(scorer_of(task, [name])(task.unit_weights[None, :])[name][0])
        intervals += [(point, each) for each in METRICS[name].closed(task, point, 0.95)]

    assert len(intervals) > 4
    assert all(each.ends is not None and each.ends[0] <= point <= each.ends[1] for point, each in intervals)


@pytest.mark.parametrize("name", ["auc", "pr_auc", "ap"])
def test_an_average_over_classes_is_that_of_the_reports_areas(name: str) -> None:
    """The board's number and the report's are one function."""
    task = task_of("multiclass")
    areas = [area_of_class(name, at) for at in range(3)]
    actual = scorer_of(task, [name + "_macro", *areas])(task.unit_weights[None, :])

    assert actual[name + "_macro"][0] == pytest.approx(np.mean([actual[area][0] for area in areas]), abs=1e-15)


def test_a_constraint_is_read_from_the_name() -> None:
    """Any number from 0 to 1, of the pairs that there are."""
    names = ("precision@recall=0.8", "recall@fpr=.01", "fpr@precision=0.8", "recall@fpr=1.5")
    actual = [find_metric(name) for name in names]

    assert [metric is not None for metric in actual] == [True, True, False, False]
