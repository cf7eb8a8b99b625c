"""The metrics of a benchmark of series as its manifest may write them: by their names in lrdbench's catalog.

Called by `app.kinds.series.manifest_part`. A metric's own nominal level is part of its name, `coverage@0.95`; if
only one level is declared, boards and uncertainty may leave it out.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Literal

from pydantic import Field, ValidationError

from app.boards.methods.weighted_rank.discrimination import CLASS_METRICS
from app.boards.methods.weighted_rank.identity import identity_of, joined, split_identity
from app.errors import ManifestRejected, Problem
from app.kinds.series.catalog import CATALOG
from app.manifest.base import MetricName, Part
from app.manifest.problems import problems_from
from app.names import clip_for_message

MALFORMED = "The metrics are not as the catalog has them."


class CatalogUse(Part):
    """Metrics by their names in a catalog, which knows how to read each."""

    catalog: Literal["lrdbench"]
    use: list[MetricName] = Field(min_length=1)


def row_metrics(metrics: Collection[str]) -> frozenset[str]:
    """Return the metrics that stand in per-series rows: a coverage error and what tells classes apart are computed."""
    return frozenset(
        name for name in metrics if split_identity(name)[0] != "coverage_error" and name not in CLASS_METRICS
    )


def with_levels(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a manifest's document in which boards and uncertainty name each metric with its own level.

    A name without one means every level that is declared: on a board their mean, in a list each of them. Where there is
    none the name stays and is refused. What is not as it should be is left as it is.
    """
    metrics = document.get("metrics")
    if not isinstance(metrics, Mapping):
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
        return [level for name in names for level in _levels_of(name, declared)]
    if isinstance(names, Mapping):
        return {_with_level(name, declared): value for name, value in names.items()}
    if not isinstance(names, str) or names in declared:
        return names
    levels = _levels_of(names, declared)
    return joined(levels) if len(levels) > 1 else levels[0]


def _levels_of(name: Any, declared: Sequence[str]) -> list[Any]:
    """Return the declared metrics of a name without a level; the name itself where there is none."""
    if not isinstance(name, str) or name in declared:
        return [name]
    return [each for each in declared if split_identity(each)[0] == name] or [name]


def expand_metrics(declared: Any) -> Any:
    """Return `{catalog: lrdbench, use: […]}` as a plain mapping of metrics, and anything else as it is.

    Raises ManifestRejected naming every metric that the catalog does not have.
    """
    if not isinstance(declared, Mapping) or not isinstance(declared.get("catalog"), str):
        return declared
    try:
        use = CatalogUse.model_validate(declared).use
    except ValidationError as error:
        raise ManifestRejected(MALFORMED, problems_from(error, prefix="metrics.")) from None
    complaints = [complaint for name in use if (complaint := _complaint(name)) is not None]
    if complaints:
        raise ManifestRejected(MALFORMED, [Problem("; ".join(complaints), column="metrics")])
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
