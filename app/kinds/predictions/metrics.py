"""The metrics that the server computes of predictions: a table by name, with those of classes in `.classification`.

A metric at a constraint, such as `recall@precision=0.8`, is made from its name instead (`constrained`, there).
`find_metric` finds either; the part of a manifest refuses any other name. Each row says everything of its metric: see
`PredictionMetric`. `METRICS.also` adds one for a while. What a manifest says of its own is `app.manifest.model.Metric`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from app.kinds.predictions.classification import (
    CLASS_METRICS,
    CURVE_METRICS,
    OfClass,
    ap,
    ap_ydf,
    auc,
    constrained,
    examples_of_names,
    is_right,
    pr_auc,
)
from app.kinds.predictions.declared import Predictions
from app.kinds.predictions.task import (
    Closed,
    PredictionMetric,
    Prepared,
    Score,
    TaskPredictions,
    UnitValues,
    Weighted,
    mean_of,
)
from app.kinds.predictions.terms import YDF_RULE
from app.manifest.model import Direction
from app.stats.arrays import BoolArray, FloatArray, Weights, share
from app.stats.calibrated import Calibrated, chi_squared
from app.stats.curves import calibrated_root_mean_square
from app.stats.predictions import RankedGroups, default_rmse
from app.stats.spreads import SHARE, Range
from app.values.glossary import GlossaryEntry

# The metrics of predicted values.


def _absolute_error(task: TaskPredictions) -> FloatArray:
    return np.abs(task.predicted - task.label)


def _rmse(weighted: Weighted) -> FloatArray:
    return np.sqrt(weighted.mean(squared_error))


def _r2(weighted: Weighted) -> FloatArray:
    spread = weighted.mean(_squared_deviation) - weighted.mean(_deviation) ** 2
    return 1.0 - share(weighted.mean(squared_error), spread)


def _default_rmse(task: TaskPredictions) -> float | None:
    return default_rmse(task.label, task.item_weights)


def _around_rmse(task: TaskPredictions, point: float, level: float) -> Iterator[Closed]:
    yield Closed("X2", "χ², residuals taken for normal", level, chi_squared(point, len(task), level))


def _calibrated_rmse(task: TaskPredictions, level: float) -> Calibrated:
    return calibrated_root_mean_square(squared_error(task), task.item_weights, level)


VALUE_METRICS = (
    PredictionMetric(
        name="rmse",
        tasks=frozenset({"regression"}),
        direction="minimize",
        score=_rmse,
        words="RMSE",
        default=_default_rmse,
        closed=_around_rmse,
        within=Range(low=0.0),
        calibrated=_calibrated_rmse,
        entry=GlossaryEntry(
            "rmse",
            "RMSE",
            "The root of the mean squared error, in the unit of what is predicted; lower is better. Large errors count "
            "more than in proportion.",
            "√(mean of (truth − prediction)²)",
        ),
    ),
    PredictionMetric(
        name="mae",
        tasks=frozenset({"regression"}),
        direction="minimize",
        within=Range(low=0.0),
        score=mean_of(_absolute_error),
        words="MAE",
        entry=GlossaryEntry(
            "mae",
            "MAE",
            "The mean size of the errors, in the unit of what is predicted; lower is better. Every unit of error "
            "counts alike, so it is moved less by a few large ones than the RMSE.",
            "mean of |truth − prediction|",
        ),
    ),
    PredictionMetric(
        name="r2",
        tasks=frozenset({"regression"}),
        direction="maximize",
        within=Range(high=1.0),
        score=_r2,
        words="R²",
        entry=GlossaryEntry(
            "r2",
            "R²",
            "The share of the variation of the truth that the predictions explain; higher is better. 0 is as good as "
            "always predicting the mean, below 0 is worse. Where all labels are equal there is none.",
            "1 − Σ (truth − prediction)² / Σ (truth − mean)²",
        ),
    ),
)


# The metrics of rankings, each the mean over groups of a group's score.
#
# Each has its own truncation. Ties of the prediction are broken at random, on average, so that a constant prediction
# gets what a random order gets; YDF's rule, the best case, is shown beside it.

OfGroups = Callable[[RankedGroups, int], FloatArray]


def _of_groups(metric: str, of: OfGroups, task: TaskPredictions) -> FloatArray:
    """Return the score of each group; one with a failure has no ranking at all and scores nothing."""
    scores: FloatArray = of(task.ranked, task.part.truncation_of(metric)) * task.has_ranking
    return scores


def _of_a_random_order(metric: str, of: OfGroups, task: TaskPredictions) -> float:
    return float(np.average(of(task.ranked.of_equals(), task.part.truncation_of(metric)), weights=task.unit_weights))


def _mrr(ranked: RankedGroups, truncation: int) -> FloatArray:
    return ranked.tied_scores(truncation).mrr


def _map(ranked: RankedGroups, truncation: int) -> FloatArray:
    return ranked.tied_scores(truncation).average_precision


def _precision_at_1(ranked: RankedGroups, truncation: int) -> FloatArray:
    return ranked.tied_scores(truncation).precision_at_1


def _ndcg(ranked: RankedGroups, truncation: int) -> FloatArray:
    return ranked.ndcg(truncation)


def _row(
    name: str,
    of: OfGroups,
    words: str,
    entry: GlossaryEntry,
    *,
    metric: str | None = None,
    beside: tuple[str, ...] = (),
) -> PredictionMetric:
    of_metric = metric or name
    return PredictionMetric(
        name=name,
        tasks=frozenset({"ranking"}),
        direction="maximize",
        within=SHARE,
        score=mean_of(partial(_of_groups, of_metric, of)),
        words=words,
        entry=entry,
        beside=beside,
        default=partial(_of_a_random_order, of_metric, of),
    )


RANKING_METRICS = (
    _row(
        "ndcg",
        _ndcg,
        "NDCG",
        GlossaryEntry(
            "ndcg",
            "NDCG",
            "How much of the possible gain the top of a ranking has, relevant items counting more the higher they "
            "stand; higher is better. 1 is the best order of each group. Gains are averaged over ties of the "
            "prediction, and a group without anything relevant scores 0 and stays in the mean.",
            "DCG / ideal DCG, DCG = Σ over the first T of (2^relevance − 1) / log2(rank + 1); T is 5 unless declared",
            "Järvelin & Kekäläinen 2002, Cumulated gain-based evaluation of IR techniques; Burges et al. 2005",
        ),
    ),
    _row(
        "mrr",
        _mrr,
        "MRR",
        GlossaryEntry(
            "mrr",
            "MRR",
            "The mean over groups of one over the rank of the first relevant item; higher is better. A group without "
            "one among the first T scores 0. Items with the same prediction are put in a random order, and all those "
            "orders averaged.",
            "mean of 1 / rank of the first relevant item; ties: E[1 / rank]",
            "McSherry & Najork 2008, Computing information retrieval performance measures efficiently in the presence "
            "of tied scores",
        ),
        beside=("ydf",),
    ),
    _row(
        "map",
        _map,
        "MAP",
        GlossaryEntry(
            "map",
            "MAP",
            "The mean over groups of the precision at each relevant item among the first T, a relevant item that is "
            "left out of them counting 0 as far as they had room for it; higher is better. Unlike the MRR it sees "
            "every relevant item. Items with the same prediction are put in a random order, and all those orders "
            "averaged.",
            "mean over groups of E[Σ over relevant items among the first T of precision at its rank] / the smaller of "
            "T and the number of relevant items",
            "McSherry & Najork 2008, Computing information retrieval performance measures efficiently in the presence "
            "of tied scores",
        ),
        beside=("ydf",),
    ),
    _row(
        "precision@1",
        _precision_at_1,
        "precision@1",
        GlossaryEntry(
            "precision_at_1",
            "Precision@1",
            "The share of groups whose first item is one of the most relevant; higher is better. Of several items with "
            "the largest prediction the share counts that is as relevant as any of the group; a group without "
            "anything relevant scores 0. The order of the labels does not matter.",
        ),
        beside=("ydf",),
    ),
    _row(
        "mrr_ydf",
        lambda ranked, truncation: ranked.scores(truncation).mrr,
        "MRR by YDF's rule",
        YDF_RULE,
        metric="mrr",
    ),
    _row(
        "map_ydf",
        lambda ranked, truncation: ranked.scores(truncation).average_precision,
        "MAP by YDF's rule",
        YDF_RULE,
        metric="map",
    ),
    _row(
        "precision@1_ydf",
        lambda ranked, truncation: ranked.scores(truncation).precision_at_1,
        "precision@1 by YDF's rule",
        YDF_RULE,
        metric="precision@1",
    ),
)

METRICS = {each.name: each for each in (*CURVE_METRICS, *CLASS_METRICS, *VALUE_METRICS, *RANKING_METRICS)}


def find_metric(name: str) -> PredictionMetric | None:
    """Return the metric of a name, of whatever is predicted; None where there is none."""
    return METRICS.get(name) or constrained(name)


def beside(part: Predictions, names: Sequence[str]) -> tuple[str, ...]:
    """Return what is shown beside metrics and is not among them, as `ap:ydf`: `ap_ydf`, of the metric `ap`."""
    variants = ((name, kind) for name in names for kind in getattr(find_metric(name), "beside", ()))
    return tuple(f"{name}:{kind}" for name, kind in variants if _is_shown(part, f"{name}_{kind}", names))


def _is_shown(part: Predictions, name: str, names: Sequence[str]) -> bool:
    metric = find_metric(name)
    return name not in names and metric is not None and part.task_type in metric.tasks


def metric_names(part: Predictions) -> tuple[str, ...]:
    """Return the metrics that are computed for what is predicted; those at a constraint are written as patterns."""
    names = tuple(name for name, metric in METRICS.items() if part.task_type in metric.tasks)
    if part.kind != "classification":
        return names
    return (*names, *examples_of_names(of_several=part.task_type == "multiclass"))


def glossary_key(name: str) -> str:
    """Return the glossary's entry of a metric; a name that is none is its own."""
    metric = find_metric(name)
    return name if metric is None else metric.entry.anchor


def metric_words(name: str) -> str:
    """Return how a metric is written in a sentence."""
    metric = find_metric(name)
    return name if metric is None else metric.words


def metric_entries() -> tuple[GlossaryEntry, ...]:
    """Return what explains the metrics, each entry once."""
    return tuple({metric.entry.anchor: metric.entry for metric in METRICS.values()}.values())


def complaints_about(part: Predictions, directions: Mapping[str, Direction]) -> Iterator[str]:
    """Yield what is wrong with the metrics that a manifest declares for its predictions."""
    for name, direction in directions.items():
        metric = find_metric(name)
        if metric is None or part.task_type not in metric.tasks:
            yield (
                f"metrics.{name}: no metric of {part.kind} predictions; there are {', '.join(metric_names(part))}"
                " (a constraint is from 0 to 1)"
            )
        elif direction != metric.direction:
            yield f"metrics.{name}.direction: must be {metric.direction}"


def squared_error(task: TaskPredictions) -> FloatArray:
    """Return the squared residual of each example."""
    return (task.predicted - task.label) ** 2


def _deviation(task: TaskPredictions) -> FloatArray:
    return task.label - float(np.average(task.label, weights=task.item_weights))


def _squared_deviation(task: TaskPredictions) -> FloatArray:
    return _deviation(task) ** 2


ndcg_of_groups = partial(_of_groups, "ndcg", _ndcg)


# The scores of one entrant's predictions for one task under any weighting of the examples, by name. Beside the
# metrics of the table there are those that only a report has, such as an area of each class.

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
