"""A benchmark manifest from a task list of fev, as its command line and our example use it.

Called by `plumbline benchmark import-fev`. Which model is the baseline, whose errors replace leaked ones, and whether
times are per forecast is taken from options, else from result files, else as on fev-bench.
"""

import re
from collections.abc import Sequence
from typing import Any

import yaml

from app.errors import ManifestRejected, Problem
from app.kinds.summary.fev_choices import FevChoices
from app.kinds.summary.fev_tasks import FevTask, read_fev_tasks
from app.manifest.written import SCHEMA_LINE

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
    "RMSLE": "Root mean squared logarithmic error",
    "MQL": "Mean quantile loss",
    "MAEB": "Mean absolute error plus absolute bias",
    "WAPEB": "Weighted absolute percentage error plus absolute bias",
    "test_error": "Error by each task's own metric",
}
OWN_METRIC = "test_error"
"""fev's column, and default, for what each task declares as its `eval_metric`."""
RECORDED = ("model_class", "dataset_fingerprint", "fev_version", "framework_version", "fev_commit", "model_kwargs")


AS_FEV_BENCH = FevChoices()


def manifest_from_fev_tasks(
    tasks_yaml: bytes, mini_yaml: bytes | None, slug: str, title: str, choices: FevChoices = AS_FEV_BENCH
) -> bytes:
    """Return the YAML of a manifest with a board for each metric, and one more for the tasks of `mini_yaml`.

    The boards are those of the metrics that all tasks share. Where tasks are evaluated by metrics of their own, the
    first board is over fev's `test_error`, as fev's own is by default: ratios of errors have no unit.
    Raises Rejected when a list is not YAML, ManifestRejected when it is not a task list of fev.
    """
    tasks = read_fev_tasks(tasks_yaml, "The task list")
    mini = None if mini_yaml is None else read_fev_tasks(mini_yaml, "The smaller task list")
    _refuse_strangers(tasks, mini or [])
    shared = [metric for metric in tasks[0].metrics if all(metric in task.metrics for task in tasks)]
    metrics = [*([] if len({task.metrics[0] for task in tasks}) == 1 else [OWN_METRIC]), *shared]
    boards = [_board(metric, choices) for metric in metrics]
    manifest = {
        "schema_version": 1,
        "slug": slug,
        "title": title,
        "description": _description(tasks, choices),
        "evidence": "evaluation_summary",
        "preset": "fev",
        "columns": _columns(),
        "metrics": {metric: _metric(metric) for metric in metrics},
        "admission": {"prereg": "required", "prereg_forms": ["evaluation"]},
        "leaderboards": [*boards, *([] if mini is None else [_mini_board(metrics[0], mini, choices)])],
        "tasks": [_declared(task, choices) for task in tasks],
    }
    text = yaml.dump(manifest, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120, default_flow_style=None)
    return f"{SCHEMA_LINE}{text}".encode()


def _declared(task: FevTask, choices: FevChoices) -> dict[str, Any]:
    count = {"n_forecasts": choices.counts[task.name]} if task.name in choices.counts else {}
    return {"id": task.name, **count, "where": dict(task.where)}


def _refuse_strangers(tasks: Sequence[FevTask], mini: Sequence[FevTask]) -> None:
    known = {task.name: task.where for task in tasks}
    problems = [
        Problem("the task is not the same in the full list", column=f"tasks.{position}", value=task.name)
        for position, task in enumerate(mini)
        if known.get(task.name) != task.where
    ]
    if problems:
        raise ManifestRejected("The smaller task list is not a part of the full one.", problems)


def _description(tasks: Sequence[FevTask], choices: FevChoices) -> str:
    if choices.description is not None:
        return choices.description.rstrip() + "\n"
    leaked = (
        f"where a model was trained on a task's data, its error is replaced by that of {choices.leakage_model}"
        if choices.leakage_model is not None
        else "models that were trained on a task's data are marked"
    )
    return (
        f"Forecasting models on {len(tasks)} tasks, submitted as the evaluation summaries that "
        "[fev](https://github.com/autogluon/fev) writes: a row per model and task. A task on which a model failed has "
        f"no row. Skill is measured against {choices.baseline}; {leaked}.\n"
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


def _board(metric: str, choices: FevChoices) -> dict[str, Any]:
    per = choices.per_n_forecasts
    return {
        "name": re.sub(r"[^a-z0-9]+", "-", metric.lower()).strip("-"),
        "title": metric,
        "method": "skill_score",
        "metric": metric,
        "baseline": choices.baseline,
        **({} if choices.leakage_model is None else {"leakage_model": choices.leakage_model}),
        "missing": "impute",
        "clip": [0.01, 100],
        "rank_by": choices.rank_by,
        **({} if per is None else {"normalize_time_per_n_forecasts": per}),
        "uncertainty": {"n_resamples": 1000, "rng_seed": 123, "level": 0.95, "stream": "fev"},
    }


def _mini_board(metric: str, mini: Sequence[FevTask], choices: FevChoices) -> dict[str, Any]:
    board = _board(metric, choices)
    board.pop("normalize_time_per_n_forecasts", None)
    uncertainty = board.pop("uncertainty")
    named = {"name": f"{board['name']}-mini", "title": f"{metric}, {len(mini)} tasks"}
    return {**board, **named, "tasks": [task.name for task in mini], "uncertainty": uncertainty}


class _Dumper(yaml.SafeDumper):
    """Writes equal lists out each time: our reader takes no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)
