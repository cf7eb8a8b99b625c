"""The scores of one entrant's predictions for one task under any weighting of the examples, by name.

Called by `app.kinds.predictions.measure` with ones for the points and with the counts of a bootstrap for the
replicates. Beside the metrics of the table there are those that only a report has, such as an area of each class.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from app.kinds.predictions.classification_metrics import is_right
from app.kinds.predictions.metric_type import Score, mean_of
from app.kinds.predictions.metrics import find_metric
from app.kinds.predictions.one_class import OfClass, ap, ap_ydf, auc, pr_auc
from app.kinds.predictions.ranking_metrics import ndcg_of_groups
from app.kinds.predictions.regression_metrics import squared_error
from app.kinds.predictions.task import TaskPredictions
from app.kinds.predictions.weighted import Prepared, UnitValues, Weighted
from app.stats.arrays import BoolArray, FloatArray, Weights

Scorer = Callable[[Weights], Mapping[str, FloatArray]]
AREAS: Mapping[str, OfClass] = {"auc": auc, "pr_auc": pr_auc, "ap": ap, "ap_ydf": ap_ydf}
MAX_TRUNCATION = 20


def scorer_of(task: TaskPredictions, names: Sequence[str]) -> Scorer:
    """Return the function that computes the named scores, [n_weightings] each, from weights [n_weightings, n_units]."""
    # Of all truncations at once: it is one sum along each ranking.
    truncated = _truncated(task) if any(name.startswith("ndcg@") for name in names) else {}
    return partial(_score, Prepared(task), {name: truncated.get(name) or _score_of(name) for name in names})


def _score(prepared: Prepared, scores: Mapping[str, Score], weights: Weights) -> Mapping[str, FloatArray]:
    weighted = Weighted(prepared, weights)
    return {name: score(weighted) for name, score in scores.items()}


def _score_of(name: str) -> Score:
    metric = find_metric(name.replace(":", "_"))
    if metric is not None:
        return metric.score
    stem, _, at = name.partition(":")
    return _of_class(AREAS[stem], int(at))


def _of_class(of: OfClass, at: int) -> Score:
    return lambda weighted: of(weighted, at)


def area_of_class(area: str, at: int) -> str:
    """Return the name of an area of one class against the rest; it is no metric of a board."""
    return f"{area}:{at}"


def _truncated(task: TaskPredictions) -> dict[str, Score]:
    """Return the NDCG at every truncation that a report shows, as `ndcg@1`, `ndcg@2`, …"""
    names = truncated_names(task)
    # Values that lie together are summed in a tenth of the time.
    values = np.ascontiguousarray((task.ranked.ndcg_upto(len(names)) * task.has_ranking[:, None]).T)
    return {name: mean_of(partial(_of_truncation, values[at])) for at, name in enumerate(names)}


def _of_truncation(values: FloatArray, task: TaskPredictions) -> FloatArray:
    del task
    return values


def truncated_names(task: TaskPredictions) -> tuple[str, ...]:
    """Return the names of the NDCG by truncation: up to the largest group, and not beyond what a plot can show."""
    largest = min(max(int(task.ranked.sizes.max()), task.part.truncation_of("ndcg")), MAX_TRUNCATION)
    return tuple(f"ndcg@{truncation}" for truncation in range(1, largest + 1))


def unit_losses(task: TaskPredictions) -> FloatArray:
    """Return what a paired test of two entrants compares, one number per unit: see `app.kinds.predictions.pair_tests`.

    Whether an example's class is right, the squared residual of a value, the NDCG of a group; each times its weight
    over the mean weight, so that the mean is the weighted one. Of two classes [n_units, n_thresholds], right at each
    threshold of the manifest.
    """
    weights = task.unit_weights
    of_kind: Mapping[str, UnitValues] = {
        "classification": is_right,
        "regression": squared_error,
        "ranking": ndcg_of_groups,
    }
    is_binary = task.part.task_type == "binary"
    values = right_at(task) if is_binary else of_kind[task.part.kind](task)
    relative = weights / weights.mean()
    weighted: FloatArray = values.astype(np.float64) * (relative[:, None] if is_binary else relative)
    return weighted


def right_at(task: TaskPredictions) -> BoolArray:
    """Say of each example whether it is called right at each threshold, [n_examples, n_thresholds]."""
    called = task.probabilities[:, 1, None] >= np.array(task.part.thresholds)
    right: BoolArray = called == (task.class_number == 1)[:, None]
    return right
