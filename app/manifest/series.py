"""The rules of a benchmark of series: names of estimators, metrics from lrdbench's catalog, modes.

Read by `app.manifest.manifest` and by `app.kinds`. A metric's own nominal level is part of its name: `coverage@0.95`.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from app.manifest.base import MetricName, Part
from app.manifest.lrdbench_catalog import CATALOG, CatalogMetric, Mode, identity_of, split_identity
from app.names import MAX_NAME, NAME_PATTERN, NAME_RULE, clip_for_message, is_name

VARIANT_MARK = "::"
ESTIMATOR_PATTERN = rf"{NAME_PATTERN}(?:{VARIANT_MARK}{NAME_PATTERN})?"
ESTIMATOR_RULE = f"{NAME_RULE}; a variant is written as the estimator's name, two colons and the variant's name"
EstimatorName = Annotated[str, StringConstraints(pattern=f"^{ESTIMATOR_PATTERN}$", max_length=MAX_NAME)]


class CatalogUse(Part):
    """Metrics by their names in a catalog, which knows how to read each."""

    catalog: Literal["lrdbench"]
    use: list[MetricName] = Field(min_length=1)


@dataclass(frozen=True)
class SeriesPart:
    """What the rules of a benchmark of series look at."""

    mode: Mode | None
    operators: Sequence[str]
    metrics: Collection[str]
    uncertain_metrics: Sequence[str]
    estimators: Sequence[str]


def is_estimator_name(text: str) -> bool:
    """Say whether `text` may name an estimator, or one of its variants."""
    parts = text.split(VARIANT_MARK)
    return len(text) <= MAX_NAME and len(parts) <= 2 and all(is_name(part) for part in parts)


def slug_of(name: str) -> str:
    """Return what a name of lrdbench's is called in our addresses: `null_specificity` becomes `null-specificity`."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:63].strip("-")


def row_metrics(metrics: Collection[str]) -> frozenset[str]:
    """Return the metrics that stand in per-series rows: a coverage error is only ever computed."""
    return frozenset(name for name in metrics if split_identity(name)[0] != "coverage_error")


def with_levels(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a manifest's document in which boards and uncertainty name each metric with its own level.

    A name without one means the only level that is declared; where there are several, or none, the name stays and is
    refused. What is not as it should be is left as it is.
    """
    metrics = document.get("metrics")
    if document.get("evidence") != "series_metrics" or not isinstance(metrics, Mapping):
        return document
    listed = metrics.get("use") if isinstance(metrics.get("catalog"), str) else list(metrics)
    declared = [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []
    boards, uncertainty = document.get("leaderboards"), document.get("uncertainty")
    changed = dict(document)
    if isinstance(boards, list):
        changed["leaderboards"] = [_renamed(board, ("weights", "tie_break"), declared) for board in boards]
    changed["uncertainty"] = _renamed(uncertainty, ("metrics", "paired_metrics"), declared)
    return changed


def _renamed(part: Any, keys: Sequence[str], declared: Sequence[str]) -> Any:
    if not isinstance(part, Mapping):
        return part
    return {key: _with_level(value, declared) if key in keys else value for key, value in part.items()}


def _with_level(names: Any, declared: Sequence[str]) -> Any:
    if isinstance(names, list):
        return [_with_level(name, declared) for name in names]
    if isinstance(names, Mapping):
        return {_with_level(name, declared): value for name, value in names.items()}
    if not isinstance(names, str) or names in declared:
        return names
    levels = [name for name in declared if split_identity(name)[0] == names]
    return levels[0] if len(levels) == 1 else names


def expand_metrics(declared: Any) -> Any:
    """Return `{catalog: lrdbench, use: […]}` as a plain mapping of metrics, and anything else as it is.

    Raises ValueError naming every metric that the catalog does not have.
    """
    if not isinstance(declared, Mapping) or not isinstance(declared.get("catalog"), str):
        return declared
    use = CatalogUse.model_validate(declared).use
    complaints = [complaint for name in use if (complaint := _complaint(name)) is not None]
    if complaints:
        raise ValueError("; ".join(complaints))
    return {name: _declaration(name) for name in dict.fromkeys(_with_coverage(use))}


def _complaint(name: str) -> str | None:
    metric, level = split_identity(name)
    known = CATALOG.get(metric)
    if known is None:
        return f"{clip_for_message(name)} is not a metric of lrdbench"
    if known.has_level and (level is None or not 0.0 < level < 1.0):
        return f"{name} needs its nominal level, as in {metric}@0.95"
    if level is not None and (not known.has_level or name != identity_of(metric, level)):
        return f"{name} must be written {identity_of(metric, level if known.has_level else None)}"
    return None


def _with_coverage(use: Sequence[str]) -> Iterator[str]:
    """Yield each name; before a coverage error the coverage of which it is computed."""
    for name in use:
        metric, level = split_identity(name)
        if metric == "coverage_error":
            yield identity_of("coverage", level)
        yield name


def _declaration(name: str) -> dict[str, Any]:
    metric, level = split_identity(name)
    known = CATALOG[metric]
    title = known.title if level is None else f"{known.title}, level {level!r}"
    return {"direction": known.direction, "title": title, "unit": known.unit, "min": known.low, "max": known.high}


def series_complaints(part: SeriesPart) -> Iterator[str]:
    """Yield what a benchmark of series breaks of the rules of its mode and its metrics."""
    if part.mode is None:
        yield "mode: a benchmark of series declares ground_truth, stress_test or observational"
    if part.mode == "stress_test" and not part.operators:
        yield "contamination: a stress_test declares the operators that it applies"
    if part.mode != "stress_test" and part.operators:
        yield "contamination: only a stress_test applies operators"
    for name in part.metrics:
        known = CATALOG.get(split_identity(name)[0])
        if known is not None:
            yield from _complaints_about_use(name, known, part)
    for name in part.uncertain_metrics:
        if name not in part.metrics:
            yield f"uncertainty.metrics: {name} is not among the declared metrics"
    for name in sorted({name for name in part.estimators if list(part.estimators).count(name) > 1}):
        yield f"estimators: {name} is there twice"


def _complaints_about_use(name: str, known: CatalogMetric, part: SeriesPart) -> Iterator[str]:
    metric, level = split_identity(name)
    if part.mode is not None and part.mode not in known.modes:
        reason = "needs a known truth, which" if known.needs_truth else "measures what"
        allowed = " or ".join(known.modes)
        yield f"metrics.{name}: {reason} mode {part.mode} does not have; it is a metric of mode {allowed}"
    if known.aggregation == "classification":
        yield f"metrics.{name}: is made from estimates of many records, and a run has no per-series rows of it"
    if known.has_level and level is None:
        yield f"metrics.{name}: needs its nominal level, as in {metric}@0.95"
    if metric == "coverage_error" and level is not None and identity_of("coverage", level) not in part.metrics:
        yield f"metrics.{name}: is computed from {identity_of('coverage', level)}, which is not declared"
