"""The metrics of one entrant's predictions for one task under any weighting of the examples.

Called by `app.kinds.predictions.measure` with ones for the points and with the counts of a bootstrap for the
replicates, so that both are one function. A scorer takes weights [n_weightings, n_units] and returns numbers
[n_weightings] by metric, NaN where undefined; the units are examples, or groups for a ranking.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from app.kinds.predictions.metrics import Constraint, averaged, read_constraint
from app.kinds.predictions.task import TaskPredictions
from app.stats.arrays import FloatArray, Weights, share
from app.stats.classification import SMALLEST, predicted_classes
from app.stats.example_sums import flag_sums, weighted_sums
from app.stats.resampled_curves import (
    Areas,
    Calls,
    SortedScores,
    at_recall,
    count_calls,
    curve_areas,
    precision_at_volume,
    recall_at,
    sort_scores,
    sort_volume,
)

Scorer = Callable[[Weights], Mapping[str, FloatArray]]
AREAS: Mapping[str, Callable[[Areas], FloatArray]] = {
    "auc": lambda areas: areas.roc,
    "pr_auc": lambda areas: areas.precision_recall,
    "ap": lambda areas: areas.average_precision,
}
CLASS_SCORES = ("precision", "recall", "f1")
LOSSES = ("logloss", "brier")
MAX_TRUNCATION = 20


def unit_weights(task: TaskPredictions) -> FloatArray:
    """Return the weight of each unit that is drawn: each example, or each group with its examples' mean weight."""
    if task.part.kind != "ranking":
        return task.item_weights
    if task.weights is None:
        return np.ones(task.n_groups)
    _, place, n_items = np.unique(task.groups, return_inverse=True, return_counts=True)
    weights: FloatArray = np.bincount(place, task.weights) / n_items
    return weights


def scorers(task: TaskPredictions, metrics: Sequence[str]) -> list[Scorer]:
    """Return the functions that compute the metrics, each of them sharing what its metrics have in common."""
    made = {"classification": _classification, "regression": _regression, "ranking": _ranking}
    return list(made[task.part.kind](task, frozenset(metrics)))


def _classification(task: TaskPredictions, metrics: frozenset[str]) -> Iterator[Scorer]:
    names = {name for name in metrics if name in ("accuracy", *LOSSES, *_class_score_names(len(task.classes)))}
    if names:
        yield _Sums(task, names)
    if wanted := {name: found for name in metrics if (found := _curve_metric(name, len(task.classes))) is not None}:
        yield _Curves(task, wanted)
    if micro := {f"{name}_micro": of for name, of in AREAS.items() if f"{name}_micro" in metrics}:
        owner = np.repeat(np.arange(len(task), dtype=np.int32), len(task.classes))
        truth = np.eye(len(task.classes), dtype=np.bool_)[task.class_number]
        yield partial(_score_curve, sort_scores(task.probabilities.ravel(), truth.ravel(), owner), micro, {})


def area_of_class(area: str, at: int) -> str:
    """Return the name of an area of one class against the rest; it is no metric of a board."""
    return f"{area}:{at}"


def _curve_metric(name: str, n_classes: int) -> tuple[str, Sequence[int]] | None:
    """Return what is computed of which classes against the rest, to be averaged; None for what needs no curve."""
    stem, _, at = name.partition(":")
    classes: Sequence[int] = (int(at),) if at else (1,)
    if averaged(name):
        stem, classes = averaged(name), range(n_classes)
    return (stem, classes) if stem in AREAS or read_constraint(stem) is not None else None


class _Curves:
    """Areas and metrics at a constraint, of one class against the rest or averaged over classes."""

    def __init__(self, task: TaskPredictions, wanted: Mapping[str, tuple[str, Sequence[int]]]) -> None:
        self._wanted = wanted
        stems: dict[int, set[str]] = {}
        for stem, classes in wanted.values():
            for at in classes:
                stems.setdefault(at, set()).add(stem)
        self._classes = {at: _AgainstRest(task, at, names) for at, names in stems.items()}

    def __call__(self, weights: Weights) -> dict[str, FloatArray]:
        found = {at: score(weights) for at, score in self._classes.items()}
        return {
            name: _mean_of_defined(np.column_stack([found[at][stem] for at in classes]))
            for name, (stem, classes) in self._wanted.items()
        }


class _AgainstRest:
    """The curve of one class against the rest, sorted once."""

    def __init__(self, task: TaskPredictions, at: int, stems: Iterable[str]) -> None:
        scores, is_class = task.probabilities[:, at], task.class_number == at
        constraints = {name: found for name in stems if (found := read_constraint(name)) is not None}
        self._areas = {name: of for name, of in AREAS.items() if name in stems}
        self._by_volume = {name: found for name, found in constraints.items() if found.given == "volume"}
        self._on_curve = {name: found for name, found in constraints.items() if found.given != "volume"}
        self._scores = sort_scores(scores, is_class) if self._areas or self._on_curve else None
        self._volume = sort_volume(scores, is_class) if self._by_volume else None

    def __call__(self, weights: Weights) -> dict[str, FloatArray]:
        found = {} if self._scores is None else _score_curve(self._scores, self._areas, self._on_curve, weights)
        if self._volume is not None:
            for name, constraint in self._by_volume.items():
                found[name] = precision_at_volume(self._volume, weights, constraint.at)
        return found


def _score_curve(
    scores: SortedScores,
    wanted: Mapping[str, Callable[[Areas], FloatArray]],
    constraints: Mapping[str, Constraint],
    weights: Weights,
) -> dict[str, FloatArray]:
    found: dict[str, FloatArray] = {}
    if wanted:
        areas = curve_areas(scores, weights)
        found = {name: of(areas) for name, of in wanted.items()}
    if constraints:
        calls = count_calls(scores, weights)
        found |= {name: _constrained(calls, constraint) for name, constraint in constraints.items()}
    return found


def _constrained(calls: Calls, constraint: Constraint) -> FloatArray:
    if constraint.metric == "recall":
        return recall_at(calls, constraint.given, constraint.at)
    return at_recall(calls, constraint.metric, constraint.at)


class _Sums:
    """Metrics that are ratios of sums over examples: accuracy, losses, and precision, recall and F1 of classes."""

    def __init__(self, task: TaskPredictions, names: set[str]) -> None:
        self._names = names
        self._n_classes = len(task.classes)
        truth = task.class_number
        called = predicted_classes(task.probabilities)
        flags = [np.ones(len(task), dtype=np.bool_), called == truth]
        if names & set(_class_score_names(self._n_classes)):
            flags += [
                mask
                for at in range(self._n_classes)
                for mask in ((called == at) & (truth == at), called == at, truth == at)
            ]
        self._flags = np.stack(flags)
        self._losses = np.stack([np.ones(len(task)), *(_loss(name, task) for name in LOSSES if name in names)])

    def __call__(self, weights: Weights) -> dict[str, FloatArray]:
        sums = flag_sums(weights, self._flags)
        total = sums[:, 0]
        found = {"accuracy": share(sums[:, 1], total)}
        losses = [name for name in LOSSES if name in self._names]
        if losses:
            means = share(weighted_sums(weights, self._losses), total[:, None])
            found |= {name: means[:, at + 1] for at, name in enumerate(losses)}
        if sums.shape[1] > 2:
            found |= _class_scores(sums[:, 2:].reshape(len(sums), self._n_classes, 3), found["accuracy"])
        return {name: values for name, values in found.items() if name in self._names}


def _class_score_names(n_classes: int) -> tuple[str, ...]:
    if n_classes == 2:
        return CLASS_SCORES
    return tuple(f"{name}_{how}" for name in CLASS_SCORES for how in ("macro", "micro"))


def _class_scores(sums: FloatArray, accuracy: FloatArray) -> dict[str, FloatArray]:
    """Return precision, recall and F1 from the weight right, called and there of each class, [n_weightings, n, 3]."""
    right, called, there = sums[:, :, 0], sums[:, :, 1], sums[:, :, 2]
    by_class = {"precision": (right, called), "recall": (right, there), "f1": (2 * right, called + there)}
    shares = {name: share(part, whole) for name, (part, whole) in by_class.items()}
    if sums.shape[1] == 2:
        return {name: values[:, 1] for name, values in shares.items()}
    macro = {f"{name}_macro": _mean_of_defined(values) for name, values in shares.items()}
    # Every example is called one class and is of one class, so pooled over classes the three are the accuracy.
    return macro | {f"{name}_micro": accuracy for name in shares}


def _loss(name: str, task: TaskPredictions) -> FloatArray:
    rows = np.arange(len(task))
    of_truth = task.probabilities[rows, task.class_number]
    if name == "logloss":
        return -np.log(np.clip(of_truth, SMALLEST, 1.0))
    squared = (task.probabilities - np.eye(len(task.classes))[task.class_number]) ** 2
    return squared[:, 1] if len(task.classes) == 2 else squared.sum(axis=1)


def _regression(task: TaskPredictions, metrics: frozenset[str]) -> Iterator[Scorer]:
    del metrics  # all three are made of the same sums
    residual = task.predicted - task.label
    centred = task.label - float(np.average(task.label, weights=task.item_weights))
    values = np.stack([np.ones(len(task)), residual**2, np.abs(residual), centred, centred**2])
    yield partial(_score_residuals, values)


def _score_residuals(values: FloatArray, weights: Weights) -> dict[str, FloatArray]:
    sums = weighted_sums(weights, values)
    means = share(sums, sums[:, :1])
    spread = means[:, 4] - means[:, 3] ** 2
    return {"rmse": np.sqrt(means[:, 1]), "mae": means[:, 2], "r2": 1.0 - share(means[:, 1], spread)}


def _ranking(task: TaskPredictions, metrics: frozenset[str]) -> Iterator[Scorer]:
    by_group = group_scores(task) | {name: values for name, values in truncated_scores(task).items() if name in metrics}
    names = [name for name in by_group if name in metrics]
    if names:
        yield partial(_score_means, names, np.stack([np.ones(task.n_groups), *(by_group[n] for n in names)]))


def group_scores(task: TaskPredictions) -> dict[str, FloatArray]:
    """Return the score of each group by metric; a group with a failure has no ranking at all and scores nothing."""
    scores = task.ranked.scores(task.part.truncation)
    by_name = {"ndcg": scores.ndcg, "mrr": scores.mrr, "map": scores.average_precision}
    by_name["precision@1"] = scores.precision_at_1
    return {name: values * task.has_ranking for name, values in by_name.items()}


def truncated_scores(task: TaskPredictions) -> dict[str, FloatArray]:
    """Return the NDCG of each group at every truncation that a report shows, as `ndcg@1`, `ndcg@2`, …"""
    names = truncated_names(task)
    values = task.ranked.ndcg_upto(len(names)) * task.has_ranking[:, None]
    return {name: values[:, at] for at, name in enumerate(names)}


def truncated_names(task: TaskPredictions) -> tuple[str, ...]:
    """Return the names of `truncated_scores`: up to the largest group, and not beyond what a plot can show."""
    largest = min(max(int(task.ranked.sizes.max()), task.part.truncation), MAX_TRUNCATION)
    return tuple(f"ndcg@{truncation}" for truncation in range(1, largest + 1))


def _score_means(names: Sequence[str], values: FloatArray, weights: Weights) -> dict[str, FloatArray]:
    """Return weighted means; the first row of values is ones."""
    sums = weighted_sums(weights, values)
    means = share(sums, sums[:, :1])
    return {name: means[:, at + 1] for at, name in enumerate(names)}


def _mean_of_defined(values: FloatArray) -> FloatArray:
    """Return the mean over the columns that are not NaN, NaN where all are."""
    known = ~np.isnan(values)
    return share(np.where(known, values, 0.0).sum(axis=1), known.sum(axis=1).astype(np.float64))


def unit_losses(task: TaskPredictions) -> FloatArray:
    """Return what a paired test of two entrants compares, one number per unit: see `app.kinds.predictions.pair_tests`.

    Whether an example's class is right, the squared residual of a value, the NDCG of a group; each times its weight
    over the mean weight, so that the mean is the weighted one.
    """
    if task.part.kind == "classification":
        losses = (predicted_classes(task.probabilities) == task.class_number).astype(np.float64)
    elif task.part.kind == "regression":
        losses = (task.predicted - task.label) ** 2
    else:
        losses = group_scores(task)["ndcg"]
    weights = unit_weights(task)
    weighted: FloatArray = losses * (weights / weights.mean())
    return weighted
