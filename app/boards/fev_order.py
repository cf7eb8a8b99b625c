"""The order of tasks in fev's pivot table, which decides what its resampled indices mean.

Called by `app.boards.cells` for boards of the stream `fev`.
"""

import json
from collections.abc import Sequence
from typing import Any

from app.manifest.manifest import Manifest
from app.manifest.tasks import OpenTasks, Task

TASK_COLUMNS = (
    "dataset_path", "dataset_config", "horizon", "initial_cutoff", "min_context_length", "max_context_length",
    "seasonality", "eval_metric", "extra_metrics", "quantile_levels", "id_column", "timestamp_column", "target",
    "generate_univariate_targets_from", "known_dynamic_columns", "past_dynamic_columns", "static_columns",
)  # fmt: skip
NUMERIC = frozenset({"horizon", "min_context_length", "max_context_length", "seasonality"})


def fev_order(manifest: Manifest, tasks: Sequence[str]) -> tuple[str, ...]:
    """Return the tasks sorted by fev's 17 task columns: integers numeric, text by codepoint, missing first.

    Source: fev 0.10, the index of `pivot_table` over its task columns.

    >>> from app.boards.example import benchmark
    >>> from app.manifest.manifest import Leaderboard
    >>> board = Leaderboard(name="main", method="mean", uncertainty={"n_resamples": 100})
    >>> fev_order(benchmark(board), ["b", "a"])
    ('a', 'b')
    """
    declared: Sequence[Task] = () if isinstance(manifest.tasks, OpenTasks) else manifest.tasks
    keys = {task.id: _key(task) for task in declared}
    return tuple(sorted(tasks, key=lambda task: (keys.get(task, ()), task)))


def _key(task: Task) -> tuple[tuple[bool, Any], ...]:
    return tuple(_part(column, task.where.get(column)) for column in TASK_COLUMNS)


def _part(column: str, value: Any) -> tuple[bool, Any]:
    if value is None:
        return (False, None)
    return (True, value if column in NUMERIC or isinstance(value, str) else json.dumps(value))
