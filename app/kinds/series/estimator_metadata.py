"""What the estimators of a series benchmark are: family, estimand, parameters, as their runs describe them.

Called by `app.jobs.publish`. Estimators of different estimands answer different questions, and a board says so.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.values.table import Column, Table

COLUMNS = (
    Column("estimator_name", "Estimator", "text"),
    Column("family", "Family", "text"),
    Column("target_estimand", "Estimand", "text", glossary="estimand"),
    Column("supports_ci", "Intervals", "flag"),
    Column("supports_diagnostics", "Diagnostics", "flag"),
    Column("assumptions_json", "Assumptions", "text"),
    Column("params_json", "Parameters", "text"),
    Column("version", "Version", "text"),
)
Described = Mapping[str, Mapping[str, Any]]


def metadata_table(described: Described) -> Table:
    """Return one row per estimator, with the columns of lrdbench's output contract."""
    rows = tuple(
        (
            name,
            about.get("family"),
            about.get("target_estimand"),
            about.get("supports_ci"),
            about.get("supports_diagnostics"),
            json.dumps(about.get("assumptions", []), sort_keys=True),
            json.dumps(about.get("parameters", {}), sort_keys=True),
            about.get("version"),
        )
        for name, about in sorted(described.items())
    )
    return Table("tables/estimator_metadata", "Estimators", COLUMNS, rows)


def note_estimands(tables: Sequence[Table], described: Described) -> list[Table]:
    """Return the tables, each leaderboard of several estimands with a note that says so."""
    estimands: dict[str, list[str]] = {}
    for name, about in sorted(described.items()):
        estimands.setdefault(str(about.get("target_estimand") or "not declared"), []).append(name)
    if len(estimands) < 2:
        return list(tables)
    listed = "; ".join(f"{estimand}: {', '.join(names)}" for estimand, names in sorted(estimands.items()))
    note = f"Not the same thing is estimated here, so ranks compare answers to different questions. {listed}."
    return [
        replace(table, notes=(note, *table.notes)) if table.name.startswith("leaderboard/") else table
        for table in tables
    ]
