"""The metrics of predictions: one table of all that there are, and what is asked of it.

Each row says everything of its metric: see `PredictionMetric`. Read by the modules beside it; the part of a manifest
refuses any name that is not found here. `METRICS.also` adds one for a while.
"""

from collections.abc import Iterator, Mapping, Sequence

from app.kinds.predictions.classification_metrics import CLASS_METRICS
from app.kinds.predictions.constrained import constrained, examples_of_names
from app.kinds.predictions.curve_metrics import CURVE_METRICS
from app.kinds.predictions.declared import Predictions
from app.kinds.predictions.metric_type import PredictionMetric
from app.kinds.predictions.ranking_metrics import RANKING_METRICS
from app.kinds.predictions.regression_metrics import VALUE_METRICS
from app.manifest.base import Direction
from app.values.glossary_entry import Entry
from app.values.registry import Registry

METRICS = Registry(
    "metric of predictions",
    {each.name: each for each in (*CURVE_METRICS, *CLASS_METRICS, *VALUE_METRICS, *RANKING_METRICS)},
)


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


def metric_entries() -> tuple[Entry, ...]:
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
