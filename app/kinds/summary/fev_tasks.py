"""The tasks of fev's task lists, spelled out as fev would run them. Called by `.from_fev`.

The result files that submitters send spell everything out, so what a list leaves to fev's defaults is filled in, and
what `fev.Task` would refuse is a problem. Source of the rules: `fev.Task`, releases 0.6 to 0.10.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from app.errors import ManifestRejected, Problem
from app.names import clip_for_message, is_name
from app.yaml.strict import read_yaml

MAX_TASK_LIST_BYTES = 1 << 20

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
# fev sorts these, so that the same columns or levels in another order are the same task.
SORTED = ("target", "quantile_levels", "known_dynamic_columns", "past_dynamic_columns", "static_columns")
RENAMES = {
    "num_rolling_windows": "num_windows",
    "rolling_step_size": "window_step_size",
    "cutoff": "initial_cutoff",
    "target_column": "target",
    "multiple_target_columns": "generate_univariate_targets_from",
}
# Never used by any release; fev drops it.
DROPPED = frozenset({"lead_time"})
OF_QUANTILES = frozenset({"MQL", "SQL", "WQL"})
# pandas' names of calendar offsets, and how it completes those that are anchored.
ANCHORS = {"W": "SUN", "QE": "DEC", "BQE": "DEC", "YE": "DEC", "BYE": "DEC",
           "QS": "JAN", "BQS": "JAN", "YS": "JAN", "BYS": "JAN"}  # fmt: skip
OFFSETS = frozenset({"ns", "us", "ms", "s", "min", "h", "bh", "D", "B", "C", "ME", "MS", "BME", "BMS", *ANCHORS})
_OFFSET = re.compile(r"(\d{1,6})?([A-Za-z]{1,3})(?:-([A-Z]{3}))?")


@dataclass(frozen=True)
class FevTask:
    """One task: its name, what a row must say of it, and the metrics that fev computes on it."""

    name: str
    where: Mapping[str, Any]
    metrics: tuple[str, ...]


def read_fev_tasks(tasks_yaml: bytes, what: str) -> list[FevTask]:
    """Return the tasks of a list in its order, with every default filled in. `what` names the list in errors."""
    document = read_yaml(tasks_yaml, max_bytes=MAX_TASK_LIST_BYTES, what=what)
    listed = document.get("tasks") if isinstance(document, dict) else None
    if not isinstance(listed, list) or not listed:
        raise ManifestRejected(f"{what} is not one of fev.", [Problem("expected a list under the key tasks")])
    problems = [problem for position, task in enumerate(listed) for problem in _problems_of(task, f"tasks.{position}")]
    if not problems:
        tasks = [_task(declared) for declared in listed]
        problems = list(_problems_of_names(tasks))
    if problems:
        raise ManifestRejected(f"{what} cannot be imported.", problems)
    return tasks


def _problems_of(task: Any, path: str) -> Iterator[Problem]:
    if not isinstance(task, dict):
        yield Problem("a task must be a mapping", column=path)
        return
    for key in task:
        if key not in DEFAULTS and key not in RENAMES and key not in DROPPED and key != "task_name":
            yield Problem("not a part of a task of fev", column=f"{path}.{clip_for_message(key)}")
        elif RENAMES.get(key) in task:
            yield Problem(f"a deprecated name of {RENAMES[key]}, which the task has too", column=f"{path}.{key}")
    if not isinstance(task.get("dataset_path"), str):
        yield Problem("dataset_path must be text", column=f"{path}.dataset_path")
    given: dict[str, Any] = {RENAMES.get(str(key), str(key)): value for key, value in task.items()}
    wrong = list(_problems_of_counts(given, path))
    yield from wrong
    if not wrong:
        yield from _problems_of_windows(given, path)
    yield from _problems_of_metrics(given, path)


def _problems_of_counts(given: Mapping[str, Any], path: str) -> Iterator[Problem]:
    for key in ("horizon", "num_windows", "min_context_length", "max_context_length", "seasonality"):
        value = given.get(key, 1)
        if key == "max_context_length" and value is None:
            continue
        if type(value) is not int or value < 1:
            yield _wrong("must be a whole number, at least 1", f"{path}.{key}", value)
    step = given.get("window_step_size")
    if type(step) is int and step < 1:
        yield _wrong("must be at least 1", f"{path}.window_step_size", step)
    elif isinstance(step, str) and offset_of(step) is None:
        message = (
            f"no positive offset of pandas; those that are known are a number and one of {', '.join(sorted(OFFSETS))}"
        )
        yield _wrong(message, f"{path}.window_step_size", step)
    elif step is not None and not isinstance(step, str) and type(step) is not int:
        yield _wrong("must be a whole number, or an offset such as 7D", f"{path}.window_step_size", step)


def _problems_of_windows(given: Mapping[str, Any], path: str) -> Iterator[Problem]:
    cutoff, step = given.get("initial_cutoff"), given.get("window_step_size")
    if not _is_cutoff(cutoff):
        yield Problem("must be a whole number or a date and time", column=f"{path}.initial_cutoff")
    elif isinstance(step, str) and not isinstance(cutoff, str):
        message = "an offset needs a date and time as initial_cutoff; beside a number it must be a whole number"
        yield _wrong(message, f"{path}.window_step_size", step)
    elif type(cutoff) is int and 0 > cutoff > (latest := _latest_cutoff(given)):
        message = f"leaves no room for every window; it must be at most {latest}"
        yield _wrong(message, f"{path}.initial_cutoff", cutoff)


def _problems_of_metrics(given: Mapping[str, Any], path: str) -> Iterator[Problem]:
    names, levels = _metric_names(given), given.get("quantile_levels", [])
    if not all(names):
        yield Problem("a metric must be a name, or a mapping with a name", column=f"{path}.extra_metrics")
    elif len(set(names)) < len(names):
        yield Problem("a metric is named twice", column=f"{path}.extra_metrics")
    is_level = isinstance(levels, list) and all(isinstance(level, float) and 0 < level < 1 for level in levels)
    if not is_level:
        yield Problem("must be numbers between 0 and 1, neither of them included", column=f"{path}.quantile_levels")
    elif not levels and (needing := sorted(OF_QUANTILES & set(names))):
        yield Problem(f"{', '.join(needing)} needs quantile_levels", column=f"{path}.quantile_levels")
    if isinstance(given.get("target"), list) and given.get("generate_univariate_targets_from") is not None:
        message = "cannot be used where target is a list"
        yield Problem(message, column=f"{path}.generate_univariate_targets_from")


def _wrong(message: str, path: str, value: Any) -> Problem:
    return Problem(message, column=path, value=clip_for_message(str(value)))


def _is_cutoff(value: Any) -> bool:
    if not isinstance(value, str):
        return value is None or type(value) is int
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def offset_of(text: str) -> str | None:
    """Return an offset as pandas writes it (`1D` is `D`, `2W` is `2W-SUN`); None for what is none, or not positive."""
    match = _OFFSET.fullmatch(text)
    if match is None or match[2] not in OFFSETS or int(match[1] or 1) < 1 or (match[3] and match[2] not in ANCHORS):
        return None
    number = "" if int(match[1] or 1) == 1 else str(int(match[1]))
    anchor = match[3] or ANCHORS.get(match[2])
    return f"{number}{match[2]}{'' if anchor is None else f'-{anchor}'}"


def _latest_cutoff(given: Mapping[str, Any]) -> int:
    horizon = int(given.get("horizon", DEFAULTS["horizon"]))
    step = given.get("window_step_size")
    return -(horizon + (int(given.get("num_windows", 1)) - 1) * int(horizon if step is None else step))


def _task(declared: Mapping[str, Any]) -> FevTask:
    given = {RENAMES.get(key, key): value for key, value in declared.items()}
    where = {column: given.get(column, default) for column, default in DEFAULTS.items()}
    step = where["window_step_size"]
    where["window_step_size"] = where["horizon"] if step is None else offset_of(step) if isinstance(step, str) else step
    if where["initial_cutoff"] is None:
        where["initial_cutoff"] = _latest_cutoff(given)
    elif isinstance(where["initial_cutoff"], str):
        where["initial_cutoff"] = datetime.fromisoformat(where["initial_cutoff"]).isoformat()
    for column in SORTED:
        if isinstance(where[column], list):
            where[column] = sorted(where[column])
    name = given.get("task_name") or where["dataset_config"] or _parents(where["dataset_path"])
    return FevTask(name, where, tuple(dict.fromkeys(_metric_names(given))))


def _parents(path: str) -> str:
    """Return the names of the last two folders of a file: `foo/bar` of `/home/foo/bar/data.parquet`."""
    return "/".join(PurePosixPath(path).parts[-3:-1])


def _metric_names(task: Mapping[str, Any]) -> list[str]:
    extra = task.get("extra_metrics") or []
    declared = [task.get("eval_metric", DEFAULTS["eval_metric"]), *(extra if isinstance(extra, list) else [extra])]
    names = [metric.get("name") if isinstance(metric, dict) else metric for metric in declared]
    return [name if isinstance(name, str) else "" for name in names]


def _problems_of_names(tasks: Sequence[FevTask]) -> Iterator[Problem]:
    seen: set[str] = set()
    for position, task in enumerate(tasks):
        if not isinstance(task.name, str) or not is_name(task.name):
            message = "no allowed name can be made from its data; give it a task_name"
            yield Problem(message, column=f"tasks.{position}", value=clip_for_message(str(task.name)))
        elif task.name in seen:
            message = "another task has this name; give each a task_name"
            yield Problem(message, column=f"tasks.{position}", value=task.name)
        seen.add(task.name)
