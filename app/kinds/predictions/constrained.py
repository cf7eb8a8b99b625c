"""Metrics at a constraint, X@Y: `precision@recall=0.8` is the precision where the recall is at least 0.8.

Read by `app.kinds.predictions.metrics`, which makes them as a manifest names them: there is one for each number.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from app.kinds.predictions.glossary import METRIC_AT
from app.kinds.predictions.metric_type import PredictionMetric
from app.kinds.predictions.one_class import OfClass, over_classes
from app.manifest.base import Direction
from app.stats.resampled_calls import at_recall, recall_at
from app.stats.spreads import SHARE

MACRO = "_macro"
DIRECTIONS: Mapping[tuple[str, str], Direction] = {
    ("precision", "recall"): "maximize",
    ("fpr", "recall"): "minimize",
    ("recall", "precision"): "maximize",
    ("recall", "fpr"): "maximize",
    ("precision", "volume"): "maximize",
}
_AT = re.compile(r"(?P<metric>[a-z]+)@(?P<given>[a-z]+)=(?P<at>0|1|0?\.[0-9]{1,6}|1\.0)(?P<macro>_macro)?")


@dataclass(frozen=True)
class Constraint:
    """A metric where another share is at least `at`; at most, where that is the false positive rate."""

    metric: str
    given: str
    at: float
    is_average: bool


@cache
def constraint_of(name: str) -> Constraint | None:
    """Return the constraint that a metric's name means; None for any other name."""
    match = _AT.fullmatch(name)
    if match is None or (match["metric"], match["given"]) not in DIRECTIONS:
        return None
    return Constraint(match["metric"], match["given"], float(match["at"]), match["macro"] is not None)


@cache
def constrained(name: str) -> PredictionMetric | None:
    """Return the metric of two classes, or the average over several, that a name means; None for any other name."""
    constraint = constraint_of(name)
    if constraint is None:
        return None
    of = _at(constraint.metric, constraint.given, constraint.at)
    return PredictionMetric(
        name=name,
        tasks=frozenset({"multiclass"} if constraint.is_average else {"binary"}),
        direction=DIRECTIONS[constraint.metric, constraint.given],
        score=over_classes(of) if constraint.is_average else lambda weighted: of(weighted, 1),
        words=name,
        entry=METRIC_AT,
        within=SHARE,
    )


def _at(metric: str, given: str, at: float) -> OfClass:
    if given == "volume":
        return lambda weighted, number: weighted.precision_at_volume(number, at)
    if metric == "recall":
        return lambda weighted, number: recall_at(weighted.calls(number), given, at)
    return lambda weighted, number: at_recall(weighted.calls(number), metric, at)


def examples_of_names(*, of_several: bool) -> Iterator[str]:
    """Yield a name of each sort, for messages."""
    yield from (f"{metric}@{given}=0.8{MACRO if of_several else ''}" for metric, given in DIRECTIONS)
