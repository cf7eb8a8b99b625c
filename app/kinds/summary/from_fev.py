"""A benchmark manifest from a task list of fev, as its command line and our example use it.

Called by `plumbline benchmark import-fev`. Fills what fev leaves to its defaults, because the result files that
submitters send spell everything out. Source of the defaults: `fev.Task`, releases 0.6 to 0.10.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import yaml

from app.errors import ManifestRejected, Problem
from app.names import clip_for_message
from app.yaml.strict import read_yaml

MAX_TASK_LIST_BYTES = 1 << 20
BASELINE = "Seasonal Naive"
LEAKAGE_MODEL = "Chronos-Bolt"
NORMALIZE_TIME_PER = 100

# In the order of the columns of fev's result files. A value of None is an empty cell there.
DEFAULTS: Mapping[str, Any] = {
    "dataset_path": None,
    "dataset_config": None,
    "horizon": 1,
    "num_windows": 1,
    "initial_cutoff": None,
    "window_step_size": None,
    "min_context_length": 1,
    "max_context_length": None,
    "seasonality": 1,
    "eval_metric": "MASE",
    "extra_metrics": [],
    "quantile_levels": [],
    "id_column": "id",
    "timestamp_column": "timestamp",
    "target": "target",
    "generate_univariate_targets_from": None,
    "known_dynamic_columns": [],
    "past_dynamic_columns": [],
    "static_columns": [],
}
# fev sorts these, so that the same columns in another order are the same task.
SORTED = ("target", "known_dynamic_columns", "past_dynamic_columns", "static_columns")
RENAMES = {
    "num_rolling_windows": "num_windows",
    "rolling_step_size": "window_step_size",
    "cutoff": "initial_cutoff",
    "target_column": "target",
    "multiple_target_columns": "generate_univariate_targets_from",
}
TITLES = {
    "SQL": "Scaled quantile loss",
    "MASE": "Mean absolute scaled error",
    "WQL": "Weighted quantile loss",
    "WAPE": "Weighted absolute percentage error",
    "MAE": "Mean absolute error",
    "MAPE": "Mean absolute percentage error",
    "MSE": "Mean squared error",
    "RMSE": "Root mean squared error",
    "RMSSE": "Root mean squared scaled error",
    "SMAPE": "Symmetric mean absolute percentage error",
}
RECORDED = ("model_class", "dataset_fingerprint", "fev_version", "framework_version", "fev_commit", "model_kwargs")


@dataclass(frozen=True)
class FevTask:
    """One task: its name, what a row must say of it, and the metrics that fev computes on it."""

    name: str
    where: Mapping[str, Any]
    metrics: tuple[str, ...]


def manifest_from_fev_tasks(tasks_yaml: bytes, mini_yaml: bytes | None, slug: str, title: str) -> bytes:
    """Return the YAML of a manifest with a board for each metric, and one more for the tasks of `mini_yaml`.

    Raises Rejected when a list is not YAML, ManifestRejected when it is not a task list of fev.
    """
    tasks = read_fev_tasks(tasks_yaml, "The task list")
    mini = None if mini_yaml is None else read_fev_tasks(mini_yaml, "The smaller task list")
    _refuse_strangers(tasks, mini or [])
    metrics = [metric for metric in tasks[0].metrics if all(metric in task.metrics for task in tasks)]
    manifest = {
        "schema_version": 1,
        "slug": slug,
        "title": title,
        "description": _description(tasks),
        "evidence": "evaluation_summary",
        "preset": "fev",
        "columns": _columns(),
        "metrics": {metric: _metric(metric) for metric in metrics},
        "admission": {"prereg": "required", "prereg_forms": ["evaluation"]},
        "leaderboards": [*map(_board, metrics), *([] if mini is None else [_mini_board(metrics[0], mini)])],
        "tasks": [{"id": task.name, "where": dict(task.where)} for task in tasks],
    }
    text = yaml.dump(manifest, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120, default_flow_style=None)
    return text.encode()


def read_fev_tasks(tasks_yaml: bytes, what: str) -> list[FevTask]:
    """Return the tasks of a list in its order, with every default filled in. `what` names the list in errors."""
    document = read_yaml(tasks_yaml, max_bytes=MAX_TASK_LIST_BYTES, what=what)
    listed = document.get("tasks") if isinstance(document, dict) else None
    if not isinstance(listed, list) or not listed:
        raise ManifestRejected(f"{what} is not one of fev.", [Problem("expected a list under the key tasks")])
    problems = [problem for position, task in enumerate(listed) for problem in _problems_of(task, f"tasks.{position}")]
    if not problems:
        tasks = [_task(declared) for declared in listed]
        problems = list(_repeated_names(tasks))
    if problems:
        raise ManifestRejected(f"{what} cannot be imported.", problems)
    return tasks


def _problems_of(task: Any, path: str) -> Iterator[Problem]:
    if not isinstance(task, dict):
        yield Problem("a task must be a mapping", column=path)
        return
    for key in task:
        if key not in DEFAULTS and key not in RENAMES and key != "task_name":
            yield Problem("not a part of a task of fev", column=f"{path}.{clip_for_message(key)}")
        elif RENAMES.get(key) in task:
            yield Problem(f"a deprecated name of {RENAMES[key]}, which the task has too", column=f"{path}.{key}")
    if not isinstance(task.get("dataset_path"), str):
        yield Problem("dataset_path must be text", column=f"{path}.dataset_path")
    for key in ("horizon", "num_windows", "window_step_size"):
        if type(task.get(key, 1)) is not int:
            yield Problem("must be a whole number", column=f"{path}.{key}", value=clip_for_message(str(task[key])))
    if not _is_cutoff(next((task[key] for key in ("initial_cutoff", "cutoff") if key in task), None)):
        yield Problem("must be a whole number or a date and time", column=f"{path}.initial_cutoff")
    if not all(_metric_names(task)):
        yield Problem("a metric must be a name, or a mapping with a name", column=f"{path}.extra_metrics")


def _is_cutoff(value: Any) -> bool:
    if not isinstance(value, str):
        return value is None or type(value) is int
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _task(declared: Mapping[str, Any]) -> FevTask:
    given = {RENAMES.get(key, key): value for key, value in declared.items()}
    where = {column: given.get(column, default) for column, default in DEFAULTS.items()}
    if where["window_step_size"] is None:
        where["window_step_size"] = where["horizon"]
    if where["initial_cutoff"] is None:
        where["initial_cutoff"] = -(where["horizon"] + (where["num_windows"] - 1) * where["window_step_size"])
    elif isinstance(where["initial_cutoff"], str):
        where["initial_cutoff"] = datetime.fromisoformat(where["initial_cutoff"]).isoformat()
    for column in SORTED:
        if isinstance(where[column], list):
            where[column] = sorted(where[column])
    name = given.get("task_name") or where["dataset_config"] or where["dataset_path"].rpartition("/")[2]
    return FevTask(name, where, tuple(dict.fromkeys(_metric_names(given))))


def _metric_names(task: Mapping[str, Any]) -> list[str]:
    extra = task.get("extra_metrics") or []
    declared = [task.get("eval_metric", DEFAULTS["eval_metric"]), *(extra if isinstance(extra, list) else [extra])]
    names = [metric.get("name") if isinstance(metric, dict) else metric for metric in declared]
    return [name if isinstance(name, str) else "" for name in names]


def _repeated_names(tasks: Sequence[FevTask]) -> Iterator[Problem]:
    seen: set[str] = set()
    for position, task in enumerate(tasks):
        if task.name in seen:
            yield Problem(
                "another task has this name; give each a task_name", column=f"tasks.{position}", value=task.name
            )
        seen.add(task.name)


def _refuse_strangers(tasks: Sequence[FevTask], mini: Sequence[FevTask]) -> None:
    known = {task.name: task.where for task in tasks}
    problems = [
        Problem("the task is not the same in the full list", column=f"tasks.{position}", value=task.name)
        for position, task in enumerate(mini)
        if known.get(task.name) != task.where
    ]
    if problems:
        raise ManifestRejected("The smaller task list is not a part of the full one.", problems)


def _description(tasks: Sequence[FevTask]) -> str:
    return (
        f"Forecasting models on {len(tasks)} tasks, submitted as the evaluation summaries that "
        "[fev](https://github.com/autogluon/fev) writes: a row per model and task. A task on which a model failed has "
        f"no row. Skill is measured against {BASELINE}; where a model was trained on a task's data, its error is "
        f"replaced by that of {LEAKAGE_MODEL}.\n"
    )


def _columns() -> dict[str, Any]:
    return {
        "entrant": "model_name",
        "task": "task_name",
        "leaked": "trained_on_this_dataset",
        "training_time_s": "training_time_s",
        "inference_time_s": "inference_time_s",
        "n_forecasts": "num_forecasts",
        "recorded": list(RECORDED),
    }


def _metric(name: str) -> dict[str, Any]:
    # Every metric of fev is an error.
    return {"direction": "minimize", "min": 0, "unit": None, "title": TITLES.get(name, name)}


def _board(metric: str) -> dict[str, Any]:
    return {
        "name": metric.lower(),
        "title": metric,
        "method": "skill_score",
        "metric": metric,
        "baseline": BASELINE,
        "leakage_model": LEAKAGE_MODEL,
        "missing": "impute",
        "clip": [0.01, 100],
        "rank_by": "skill_score",
        "normalize_time_per_n_forecasts": NORMALIZE_TIME_PER,
        "uncertainty": {"n_resamples": 1000, "rng_seed": 123, "level": 0.95, "stream": "fev"},
    }


def _mini_board(metric: str, mini: Sequence[FevTask]) -> dict[str, Any]:
    board = _board(metric)
    del board["normalize_time_per_n_forecasts"]
    uncertainty = board.pop("uncertainty")
    named = {"name": f"{metric.lower()}-mini", "title": f"{metric}, {len(mini)} tasks"}
    return {**board, **named, "tasks": [task.name for task in mini], "uncertainty": uncertainty}


class _Dumper(yaml.SafeDumper):
    """Writes equal lists out each time: our reader takes no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)
