"""What the estimators of a series benchmark are: family, estimand, parameters, as their runs describe them.

Called by `app.kinds.series.kind`. Estimators of different estimands answer different questions, and a board says so.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.kinds.contract import Described
from app.values.frame import Frame, FrameField
from app.values.table import Cell, Column, Table

Estimator = tuple[str, Mapping[str, Any]]


def _stated(key: str) -> Callable[[Estimator], Cell]:
    return lambda estimator: estimator[1].get(key)


def _as_json(key: str, empty: list[Any] | dict[str, Any]) -> Callable[[Estimator], Cell]:
    return lambda estimator: json.dumps(estimator[1].get(key, empty), sort_keys=True)


FRAME: Frame[Estimator] = Frame(
    [
        FrameField(Column("estimator_name", "Estimator", "text"), lambda estimator: estimator[0]),
        FrameField(Column("family", "Family", "text"), _stated("family")),
        FrameField(Column("target_estimand", "Estimand", "text", glossary="estimand"), _stated("target_estimand")),
        FrameField(Column("supports_ci", "Intervals", "flag"), _stated("supports_ci")),
        FrameField(Column("supports_diagnostics", "Diagnostics", "flag"), _stated("supports_diagnostics")),
        FrameField(Column("assumptions_json", "Assumptions", "text"), _as_json("assumptions", [])),
        FrameField(Column("params_json", "Parameters", "text"), _as_json("parameters", {})),
        FrameField(Column("version", "Version", "text"), _stated("version")),
    ]
)


def metadata_table(described: Described, enrolled: Sequence[str] | None = None) -> Table:
    """Return one row per estimator, with the columns of lrdbench's output contract: those enrolled in their order."""
    order = {name: at for at, name in enumerate(enrolled or ())}
    rows = sorted(described.items(), key=lambda estimator: (order.get(estimator[0], len(order)), estimator[0]))
    return FRAME.table("tables/estimator_metadata", "Estimators", rows)


def note_estimands(tables: Sequence[Table], described: Described) -> list[Table]:
    """Return the tables, each leaderboard of several estimands with a note that says so."""
    estimands: dict[str, list[str]] = {}
    for name, about in sorted(described.items()):
        estimands.setdefault(str(about.get("target_estimand") or "not declared"), []).append(name)
    if len(estimands) < 2:
        return list(tables)
    listed = "; ".join(f"{estimand}: {', '.join(names)}" for estimand, names in sorted(estimands.items()))
    note = f"The estimators estimate different quantities, so ranks compare answers to different questions. {listed}."
    return [
        replace(table, notes=(note, *table.notes)) if table.name.startswith("leaderboard/") else table
        for table in tables
    ]
