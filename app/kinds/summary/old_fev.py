"""What result files of fev before 0.6 say otherwise than later ones. Called by `.columns`, `.task_rules` and `.blocks`.

They have no task_name, one window a row, `min_ts_length` (horizon included) for `min_context_length`, and no columns
for what no task of theirs could have. Source: `fev.Task` and `evaluation_summary` of the releases 0.1 to 0.5.
"""

import re
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from app.files.blocks import Texts

# The value that a row without the column has.
UNSAID: Mapping[str, Any] = {"num_windows": 1, "known_dynamic_columns": [], "static_columns": []}
STEP, WINDOWS = "window_step_size", "num_windows"
SHORTEST, LENGTH, HORIZON = "min_context_length", "min_ts_length", "horizon"
# Never used by any release, or without a counterpart.
FORGOTTEN = frozenset({"dataset_name", "lead_time", "excluded_columns"})
FIRST_OF_TODAY = (0, 6)
_WHOLE = re.compile(r"(\d{1,12})(?:\.0*)?", re.ASCII)
_VERSION = re.compile(r"(\d{1,6})\.(\d{1,6})")


def implies_value(column: str, where: Mapping[str, Any]) -> bool:
    """Say whether a row without the column has the value of a task's definition all the same."""
    if column == STEP:
        return bool(where.get(WINDOWS, 1) == 1)
    return column in UNSAID and bool(where.get(column) == UNSAID[column])


def shortest_contexts(lengths: Texts, horizons: Texts) -> Texts:
    """Return the shortest contexts of the shortest series that were used; what is no whole number stays as it is."""
    pairs = zip(lengths.to_pylist(), horizons.to_pylist(), strict=True)
    return pa.array([_shortest(length, horizon) for length, horizon in pairs], pa.string())


def _shortest(length: str | None, horizon: str | None) -> str | None:
    numbers = [_WHOLE.fullmatch((text or "").strip()) for text in (length, horizon)]
    if numbers[0] is None or numbers[1] is None:
        return length
    return str(max(int(numbers[0][1]) - int(numbers[1][1]), 1))


def is_old(version: str) -> bool:
    """Say whether a release is one whose results fev itself says may not be comparable with today's."""
    parts = _VERSION.match(version)
    return parts is not None and (int(parts[1]), int(parts[2])) < FIRST_OF_TODAY
