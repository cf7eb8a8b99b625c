"""Metrics of estimators that classify series, computed from the scores and classes of many records.

Called by `.method` and by the tables of series; pure. A record states a score and the true class, in two columns beside
the metrics; such a metric has no value for a single record or stratum.
Source: lrdbench 2.0, `_classification_metric_rows`.
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from app.stats.arrays import FloatArray, share
from app.stats.resampled_curves import curve_areas, sort_scores
from app.stats.strata import Aggregate, Group
from app.values.scores import ScoreTable

CLASS_SCORE, CLASS_LABEL = CLASS_COLUMNS = ("class_score", "class_label")
CLASS_ESTIMAND = "lrd_class"
ROC_AUC, BALANCED, TRUE_RATE, FALSE_RATE = CLASS_METRICS = (
    "roc_auc",
    "balanced_accuracy",
    "true_positive_rate",
    "false_positive_rate",
)
THRESHOLD = 0.5
"""The threshold from which a score predicts positive, and a true value is positive."""
FURTHEST = 1e300
"""How far beyond all others, on the wrong side, an absent score is placed where absence counts as the worst."""


def discriminations(scores: ScoreTable, metrics: Collection[str]) -> list[Aggregate]:
    """Return those of `metrics` that each estimator with classification scores has, over all records at once.

    Values are shares from 0 to 1, NaN where a class is absent. Source: lrdbench 2.0, `_classification_metric_rows`.

    >>> from app.boards.example import rows
    >>> discriminations(rows(), [ROC_AUC])
    []
    """
    n_records = 0 if scores.item is None else len(scores.item.words)
    return class_aggregates(class_groups(scores, metrics), record_labels(scores, n_records))


def record_labels(scores: ScoreTable, n_records: int) -> FloatArray:
    """Return the class of each record, [n_records]: 1 for a positive one, NaN where no row says it.

    The first row that states one counts.
    Source: none; it looks up.

    >>> from app.boards.example import rows
    >>> record_labels(rows({"A": [1.0, 0.0]}, CLASS_LABEL), 3).tolist()
    [1.0, 0.0, nan]
    """
    labels = np.full(n_records, np.nan)
    if CLASS_LABEL in scores.columns and scores.item is not None:
        stated = scores.value(CLASS_LABEL)
        rows = np.flatnonzero(~np.isnan(stated) & (scores.item.codes >= 0))[::-1]
        labels[scores.item.codes[rows]] = stated[rows]
    return labels


def class_groups(scores: ScoreTable, metrics: Collection[str]) -> list[Group]:
    """Return the scores of each estimator's records as groups, one per metric and stratum; NaN is no score.

    Source: lrdbench 2.0, `_classification_metric_rows`.

    >>> from app.boards.example import rows
    >>> class_groups(rows(), [ROC_AUC])
    []
    """
    wanted = [metric for metric in metrics if metric in CLASS_METRICS]
    if scores.item is None or not wanted or not set(CLASS_COLUMNS) <= set(scores.columns):
        return []
    rows: dict[tuple[int, int], list[int]] = {}
    for at in np.flatnonzero(~np.isnan(scores.value(CLASS_LABEL))).tolist():
        rows.setdefault((int(scores.entrant.codes[at]), int(scores.task.codes[at])), []).append(at)
    values, records = scores.value(CLASS_SCORE), scores.item.codes
    return [
        Group(scores.entrant.words[entrant], metric, scores.task.words[task], values[at], records[at], "scores")
        for metric in wanted
        for (entrant, task), positions in rows.items()
        for at in [np.array(positions)]
    ]


def class_aggregates(groups: Sequence[Group], labels: FloatArray) -> list[Aggregate]:
    """Return each estimator's metrics from its groups of scores; `labels` [n_records] are the classes of all records.

    As in lrdbench, the metrics of one estimator are adjacent, and records without a score are left out and counted.
    Values are shares from 0 to 1, NaN where a class is absent.
    Source: lrdbench 2.0, `_classification_metric_rows`.

    >>> group = Group("GPH", ROC_AUC, "n=128", np.array([0.9, 0.1, np.nan]), np.arange(3), "scores")
    >>> area, = class_aggregates([group], np.array([1.0, 0.0, 1.0]))
    >>> area.value, area.n_attempted, area.n_included
    (1.0, 3, 2)
    """
    return [_aggregate(key, members, labels) for key, members in by_estimator(groups).items()]


def by_estimator(groups: Sequence[Group]) -> Mapping[tuple[str, str], list[Group]]:
    """Return the groups of scores of each (estimator, metric), the metrics of one estimator adjacent.

    >>> group = Group("GPH", ROC_AUC, "n=128", np.zeros(1), np.zeros(1, dtype=np.int64), "scores")
    >>> list(by_estimator([group]))
    [('GPH', 'roc_auc')]
    """
    groups_of: dict[str, dict[str, list[Group]]] = {}
    for group in groups:
        if group.rule == "scores":
            groups_of.setdefault(group.estimator, {}).setdefault(group.metric, []).append(group)
    return {(name, metric): members for name, of in groups_of.items() for metric, members in of.items()}


def _aggregate(key: tuple[str, str], groups: Sequence[Group], labels: FloatArray) -> Aggregate:
    values, of = scored_records(groups, labels)
    estimate = class_values(key[1], values, of, np.ones((1, len(values))))
    n_attempted, n_positive = sum(len(group.values) for group in groups), int((of >= THRESHOLD).sum())
    return Aggregate(*key, None, float(estimate[0]), n_attempted, len(values), n_positive=n_positive)


def scored_records(groups: Sequence[Group], labels: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the scores and classes of the records that have both, [n_records] each; NaN is neither.

    A larger score is nearer the positive class. `labels` [n_records] are those of all records.
    Raises ValueError, numpy's own, for no group.
    Source: none; it selects.

    >>> group = Group("GPH", ROC_AUC, "n=128", np.array([0.9, np.nan]), np.arange(2), "scores")
    >>> [each.tolist() for each in scored_records([group], np.array([1.0, 0.0]))]
    [[0.9], [1.0]]
    """
    values = np.concatenate([group.values for group in groups])
    of = labels[np.concatenate([group.records for group in groups])]
    kept = np.isfinite(values) & ~np.isnan(of)
    return values[kept], of[kept]


def class_values(metric: str, values: FloatArray, labels: FloatArray, weights: FloatArray) -> FloatArray:
    """Return a metric under weightings [n_resamples, n_records] of scored records, [n_resamples], a share from 0 to 1.

    `values` and `labels` are [n_records]. NaN where a class is absent.
    Source: lrdbench 2.0; `app.stats.resampled_curves` for the area.

    >>> class_values(TRUE_RATE, np.array([0.9, 0.2, 0.1]), np.array([1.0, 1.0, 0.0]), np.ones((1, 3))).tolist()
    [0.5]
    """
    is_positive = labels >= THRESHOLD
    if not is_positive.any() or is_positive.all():
        return np.full(len(weights), np.nan)
    if metric == ROC_AUC:
        return curve_areas(sort_scores(values, is_positive), np.ascontiguousarray(weights)).roc
    is_called = values >= THRESHOLD
    true_rate, false_rate = (
        share(weights @ (is_called & of_class), weights.sum(axis=1, where=of_class))
        for of_class in (is_positive, ~is_positive)
    )
    rates = {TRUE_RATE: true_rate, FALSE_RATE: false_rate, BALANCED: 0.5 * (true_rate + (1.0 - false_rate))}
    return rates[metric]
