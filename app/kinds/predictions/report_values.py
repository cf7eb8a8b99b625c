"""The report of predicted values and of rankings: residuals, where they are, and NDCG by truncation.

Called by `app.kinds.predictions.reports`; pure.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from app.boards.measured import Estimate
from app.kinds.predictions.report_classification import smallest_cell
from app.kinds.predictions.scores import MAX_TRUNCATION
from app.kinds.predictions.task import TaskPredictions
from app.stats.regression import conditional_mean, in_bin, normal_quantiles
from app.values.table import Cell

Rows = Sequence[tuple[Cell, ...]]
MAX_BINS, MAX_QUANTILES = 30, 200


def value_rows(task: TaskPredictions) -> dict[str, Rows]:
    """Return the rows of each table of the report of predicted values."""
    return {
        "residuals": list(_histogram(task)),
        "qq": list(_quantiles(task)),
        "conditional": [*_conditional(task, "prediction"), *_conditional(task, "truth")],
    }


def _n_bins(task: TaskPredictions) -> int:
    return int(np.clip(len(task) // (2 * smallest_cell(task)), 1, MAX_BINS))


def _histogram(task: TaskPredictions) -> Iterator[tuple[Cell, ...]]:
    residuals, least = task.label - task.predicted, smallest_cell(task)
    bins = conditional_mean(residuals, residuals, task.item_weights, _n_bins(task), least)
    for centre, n_examples in zip(bins.centre.tolist(), bins.n_examples.tolist(), strict=True):
        yield (centre, n_examples if n_examples >= least else None)


def _quantiles(task: TaskPredictions) -> Iterator[tuple[Cell, ...]]:
    theoretical, observed = normal_quantiles(task.label - task.predicted, task.item_weights)
    starts = _tails_whole(len(task), smallest_cell(task))
    for expected, seen in zip(np.split(theoretical, starts), np.split(observed, starts), strict=True):
        yield (float(expected.mean()), float(seen.mean()))


def _tails_whole(n_examples: int, least: int) -> list[int]:
    """Return where to cut sorted residuals: both tails as finely as may be shown, the middle so that all points fit.

    The tails decide the interval [X2], so they are never thinned for the sake of a plot.
    """
    n_parts = max(1, n_examples // least)
    cuts = [at * n_examples // n_parts for at in range(1, n_parts)]
    tail = MAX_QUANTILES // 4
    if len(cuts) < MAX_QUANTILES:
        return cuts
    middle = np.linspace(tail, len(cuts) - tail - 1, MAX_QUANTILES - 2 * tail - 1).astype(int).tolist()
    return [*cuts[:tail], *(cuts[at] for at in middle), *cuts[-tail:]]


def _conditional(task: TaskPredictions, by: str) -> Iterator[tuple[Cell, ...]]:
    of, other = (task.predicted, task.label) if by == "prediction" else (task.label, task.predicted)
    n_bins, least, weights = _n_bins(task), smallest_cell(task), task.item_weights
    means = conditional_mean(of, other, weights, n_bins, least)
    squares = conditional_mean(of, (task.predicted - task.label) ** 2, weights, n_bins, least)
    residuals = conditional_mean(of, task.label - task.predicted, weights, n_bins, least)
    same = conditional_mean(
        of, in_bin(of, of, n_bins, least) == in_bin(of, other, n_bins, least), weights, n_bins, least
    )
    for at in range(n_bins):
        centre, n_examples = float(means.centre[at]), int(means.n_examples[at])
        if n_examples >= least:
            rmse = float(np.sqrt(squares.mean[at]))
            yield (by, centre, float(means.mean[at]), rmse, n_examples, float(residuals.mean[at]), float(same.mean[at]))
        else:
            yield (by, centre, *[None] * 5)


def ranking_rows(estimates: Mapping[str, Estimate]) -> dict[str, Rows]:
    """Return NDCG by truncation with its bootstrap interval over groups, from the estimates named `ndcg@…`."""
    return {
        "truncation": [
            (truncation, estimate.point, estimate.low, estimate.high)
            for truncation in range(1, MAX_TRUNCATION + 1)
            if (estimate := estimates.get(f"ndcg@{truncation}")) is not None
        ]
    }
