"""What is kept of a row's metadata: the few values that mean something here, and the text that is exported again.

Called by the readers of a run folder. A stranger's JSON takes many times its size as objects, so those are not kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.boards.methods.weighted_rank.groups import PAIRED_ERRORS
from app.kinds.series.json_cells import EMPTY, NotAnObject, write

# What the stratum and the metric's name say already.
REPEATED = frozenset({"stratum_key", "nominal"})
MAX_TEXT = 500


@dataclass(frozen=True, slots=True)
class Metadata:
    """The metadata of a row. `nominal` is the metric's own level, or the interval's in a row of uncertainty, where
    `metric_nominal` is the metric's. `errors` are those of PAIRED_ERRORS, None in rows that are no part of a ratio.
    """

    text: str = EMPTY
    nominal: float | None = None
    metric_nominal: float | None = None
    missing_ci: bool = False
    errors: tuple[float, float] | None = None
    clean_record_id: str | None = None
    contamination_operator: str | None = None
    aggregation: str | None = None
    low: float | None = None
    high: float | None = None


def metadata_of(stated: Mapping[str, Any]) -> Metadata:
    """Return what is kept of an object. Raises NotAnObject when a value that means something is of another type."""
    return Metadata(
        text=write({key: value for key, value in stated.items() if key not in REPEATED}),
        nominal=_level(stated, "nominal"),
        metric_nominal=_level(stated, "metric_nominal"),
        missing_ci=bool(stated.get("missing_ci")),
        errors=_errors(stated) if stated.get("aggregation_components") else None,
        clean_record_id=_text(stated, "clean_record_id"),
        contamination_operator=_text(stated, "contamination_operator"),
        aggregation=_text(stated, "aggregation"),
        low=_number(stated.get("ci_low")),
        high=_number(stated.get("ci_high")),
    )


def _level(stated: Mapping[str, Any], key: str) -> float | None:
    level = stated.get(key)
    if level is not None and not (isinstance(level, float) and 0.0 < level < 1.0):
        raise NotAnObject(f"{key} must be a number between 0 and 1")
    return level


def _errors(stated: Mapping[str, Any]) -> tuple[float, float]:
    stressed, clean = (_error(stated, name) for name in PAIRED_ERRORS)
    return stressed, clean


def _error(stated: Mapping[str, Any], name: str) -> float:
    error = _number(stated.get(name))
    if error is None or error < 0.0:
        raise NotAnObject(f"{name} must be a number that is not negative")
    return error


def _text(stated: Mapping[str, Any], key: str) -> str | None:
    text = stated.get(key)
    if text is not None and not (isinstance(text, str) and len(text) <= MAX_TEXT):
        raise NotAnObject(f"{key} must be text of at most {MAX_TEXT} characters")
    return text


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, float | int) and not isinstance(value, bool) else None
