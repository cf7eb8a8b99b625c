"""The metrics of predictions by their names: which there are for what is predicted, and which way is better.

Read by `app.manifest.manifest`, which refuses any other name, and by the ranking methods. A metric at a constraint says
both: `precision@recall=0.8` is the precision where the recall is at least 0.8.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from app.kinds.predictions.declared import Predictions
from app.manifest.base import Direction

ERRORS = frozenset({"logloss", "brier", "rmse", "mae", "fpr"})
"""Smaller is better for these, larger for every other metric."""
MACRO = "_macro"
BINARY = ("auc", "pr_auc", "ap", "accuracy", "f1", "precision", "recall", "logloss", "brier")
AVERAGED = ("auc", "pr_auc", "ap", "f1", "precision", "recall")
"""Of several classes these are taken one against the rest: averaged over classes (_macro), or pooled (_micro).

Metrics at a constraint are averaged only.
"""
MULTICLASS = ("accuracy", "logloss", "brier", *(f"{name}_{how}" for name in AVERAGED for how in ("macro", "micro")))
REGRESSION = ("rmse", "mae", "r2")
RANKING = ("ndcg", "mrr", "map", "precision@1")
CONSTRAINED = (
    ("precision", "recall"),
    ("fpr", "recall"),
    ("recall", "precision"),
    ("recall", "fpr"),
    ("precision", "volume"),
)
_AT = re.compile(r"(?P<metric>[a-z]+)@(?P<given>[a-z]+)=(?P<at>0|1|0?\.[0-9]{1,6}|1\.0)")


@dataclass(frozen=True)
class Constraint:
    """A metric where another one reaches a value, such as the recall where the false positive rate is at most 0.01."""

    metric: str
    given: str
    at: float


def read_constraint(name: str) -> Constraint | None:
    """Return what `precision@recall=0.8` and its like mean; None for any other name."""
    found = _AT.fullmatch(name)
    if found is None or (found["metric"], found["given"]) not in CONSTRAINED:
        return None
    return Constraint(found["metric"], found["given"], float(found["at"]))


def metric_names(part: Predictions) -> tuple[str, ...]:
    """Return the metrics that are computed for what is predicted; those at a constraint are written as patterns."""
    if part.kind == "regression":
        return REGRESSION
    if part.kind == "ranking":
        return RANKING
    at_constraints = tuple(f"{metric}@{given}=0.8" for metric, given in CONSTRAINED)
    if part.positive_number is None:
        return (*MULTICLASS, *(name + MACRO for name in at_constraints))
    return (*BINARY, *at_constraints)


def is_metric(part: Predictions, name: str) -> bool:
    """Say whether a name is one of the metrics of what is predicted."""
    if "=" not in name:
        return name in metric_names(part)
    is_one_of_two = part.positive_number is not None
    return part.kind == "classification" and read_constraint(name if is_one_of_two else averaged(name)) is not None


def averaged(name: str) -> str:
    """Return what a macro-averaged metric averages over classes; "" for any other name."""
    return name.removesuffix(MACRO) if name.endswith(MACRO) else ""


def glossary_key(name: str) -> str:
    """Return the glossary's entry of a metric: averaged ones share that of their stem."""
    if "=" in name:
        return "metric_at"
    return name.removesuffix("_macro").removesuffix("_micro").replace("@", "_at_")


def better_direction(name: str) -> Direction:
    """Return which way a metric is better."""
    constraint = read_constraint(averaged(name) or name)
    stem = name if constraint is None else constraint.metric
    return "minimize" if stem in ERRORS else "maximize"


def complaints_about(part: Predictions, directions: Mapping[str, Direction]) -> Iterator[str]:
    """Yield what is wrong with the metrics that a manifest declares for its predictions."""
    for name, direction in directions.items():
        if not is_metric(part, name):
            yield (
                f"metrics.{name}: no metric of {part.kind} predictions; there are {', '.join(metric_names(part))}"
                " (a constraint is from 0 to 1)"
            )
        elif direction != better_direction(name):
            yield f"metrics.{name}.direction: must be {better_direction(name)}"
