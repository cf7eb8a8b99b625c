"""A benchmark manifest from a task list of fev, as its command line and our example use it. Which model is the
baseline, whose errors replace leaked ones, and whether times are per forecast is taken from options, else from
result files, else as on fev-bench.
"""

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

import numpy as np
import typer
from pandas.tseries.frequencies import to_offset
from pydantic import AfterValidator, Field, ValidationError

from app.boards.methods.skill_score import RankBy
from app.config import MIB
from app.errors import ManifestRejected, Problem
from app.files.findings import Findings
from app.files.tables import open_table
from app.files.uploads import Limits, ReceivedFile, SentFile, Unpacking
from app.kinds.contract import Imported
from app.kinds.parse import parse_manifest
from app.kinds.summary.read import BlockPart, BlockReader, FileColumns, columns_of
from app.manifest.build import problems_from, yaml_of
from app.manifest.model import Manifest, Part
from app.names import clip_for_message, first_few, is_name
from app.values.scores import NONE
from app.yaml import read_yaml

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


# What a task list of fev does not say of a benchmark: the baseline, the leakage model, how times are normalised.

BASELINE = "Seasonal Naive"

LEAKAGE_MODEL = "Chronos-Bolt"

NORMALIZE_TIME_PER = 100


@dataclass(frozen=True)
class FevChoices:
    """What a task list does not say. `leakage_model` None is none; `per_n_forecasts` None is times as they are.

    `counts` are the forecasts of each task. `rank_by` is the column that ranks: fev's own list is sorted by `win_rate`.
    """

    baseline: str = BASELINE
    leakage_model: str | None = LEAKAGE_MODEL
    per_n_forecasts: int | None = NORMALIZE_TIME_PER
    description: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    rank_by: RankBy = "skill_score"


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
        "nouns": {"entrant": "model"},
        "tasks": [_declared(task, choices) for task in tasks],
    }
    return yaml_of(manifest)


@dataclass(frozen=True)
class FevTask:
    """One task: its name, what a row must say of it, and the metrics that fev computes on it."""

    name: str
    where: Mapping[str, Any]
    metrics: tuple[str, ...]


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


# What the models that fev's own lists use are called once case and signs are left out, the likeliest first.
BASELINES = ("seasonalnaive", "snaive")

LEAKAGE_MODELS = ("chronosbolt", "chronosboltbase")


@dataclass(frozen=True)
class FevOptions:
    """What a steward chose outright. None is no choice, and `no_leakage_model` and `plain_times` say no."""

    baseline: str | None = None
    leakage_model: str | None = None
    no_leakage_model: bool = False
    per_n_forecasts: int | None = None
    plain_times: bool = False
    description: str | None = None
    rank_by: RankBy = "skill_score"


@dataclass
class FevResults:
    """What the rows say: the models, those that have seen some task's data, and the forecasts of each task.

    `n_other` counts rows that are not of the list's tasks, or not as they are defined there.
    """

    models: set[str] = field(default_factory=set)
    leaked: set[str] = field(default_factory=set)
    counts: dict[str, set[int]] = field(default_factory=dict)
    n_other: int = 0

    def forecasts(self) -> dict[str, int]:
        """Return the count of each task that has one. Raises ManifestRejected where the rows differ, as fev does."""
        problems = [
            Problem(f"num_forecasts of task {task} is {' and '.join(map(str, sorted(different)))} in the result files")
            for task, different in sorted(self.counts.items())
            if len(different) > 1
        ]
        if problems:
            raise ManifestRejected("The result files do not agree on how many forecasts a task asks for.", problems)
        return {task: next(iter(different)) for task, different in self.counts.items()}


def choose(options: FevOptions, results: FevResults | None, tasks: Sequence[str]) -> FevChoices:
    """Return the choices of a benchmark. Raises ManifestRejected where nothing says them."""
    counts = {} if results is None else results.forecasts()
    counted = results is None or all(task in counts for task in tasks)
    per = options.per_n_forecasts or (NORMALIZE_TIME_PER if counted else None)
    problems: list[Problem] = []
    baseline = _baseline(options, results, problems)
    leakage_model = None if options.no_leakage_model else _leakage_model(options, results, problems)
    if problems:
        raise ManifestRejected("The result files leave open what the boards need.", problems)
    per = None if options.plain_times else per
    return FevChoices(baseline, leakage_model, per, options.description, counts, options.rank_by)


def _baseline(options: FevOptions, results: FevResults | None, problems: list[Problem]) -> str:
    if results is None:
        return options.baseline or BASELINE
    name = options.baseline or _first_named(BASELINES, results.models)
    if name not in results.models:
        who = "a seasonal naive forecast is" if name is None else f"{name} is"
        problems.append(Problem(f"{who} not among the models ({_some(results.models)}); name one with --baseline"))
    return name or BASELINE


def _leakage_model(options: FevOptions, results: FevResults | None, problems: list[Problem]) -> str | None:
    if results is None:
        return options.leakage_model or LEAKAGE_MODEL
    unspoiled = results.models - results.leaked
    if options.leakage_model is not None:
        if options.leakage_model not in unspoiled:
            why = "has itself seen data" if options.leakage_model in results.leaked else "is not among the models"
            problems.append(Problem(f"{options.leakage_model} {why} ({_some(unspoiled)} have not seen any)"))
        return options.leakage_model
    model = _first_named(LEAKAGE_MODELS, unspoiled)
    if model is None and results.leaked:
        problems.append(
            Problem(
                f"{_some(results.leaked)} have seen data, and there is no Chronos-Bolt that has not, to replace their "
                "errors; name another model with --leakage-model, or pass --no-leakage-model"
            )
        )
    return model


def _first_named(plain_names: Sequence[str], models: set[str]) -> str | None:
    """Return the model that has the first of some names, whatever its case and signs."""
    plain = {re.sub(r"[^a-z0-9]", "", name.lower()): name for name in sorted(models, reverse=True)}
    return next((plain[name] for name in plain_names if name in plain), None)


def _some(names: set[str]) -> str:
    return first_few(sorted(names), 6)


# The tasks of fev's task lists, spelled out as fev would run them.
#
# The result files that submitters send spell everything out, so what a list leaves to fev's defaults is filled in,
# and what `fev.Task` would refuse is a problem. Source of the rules: `fev.Task`, releases 0.6 to 0.10.

MAX_TASK_LIST_BYTES = 1 << 20

Count = Annotated[int, Field(ge=1)]

# fev sorts these, so that the same columns or levels in another order are the same task.
Names = Annotated[list[str], AfterValidator(sorted)]

Levels = Annotated[list[Annotated[float, Field(gt=0.0, lt=1.0)]], AfterValidator(sorted)]


def offset_of(text: str) -> str:
    """Return an offset as pandas writes it: `1D` is `D`, `2W` is `2W-SUN`. Raises ValueError if it is not positive."""
    try:
        offset = to_offset(text)
    except (ValueError, OverflowError):
        offset = None
    if offset is None or offset.n < 1:
        raise ValueError("expected a whole number or a positive offset of pandas, such as 7D, 15min or W-MON")
    return str(offset.freqstr)


def _time_of(text: str) -> str:
    try:
        return datetime.fromisoformat(text).isoformat()
    except ValueError:
        raise ValueError("expected a whole number or a date and time, such as 2024-01-31T12:00") from None


def _with_name(metric: str | dict[str, Any]) -> str | dict[str, Any]:
    if not _name_of(metric):
        raise ValueError("a metric must be a name, or a mapping with a name")
    return metric


def _name_of(metric: str | dict[str, Any]) -> str:
    name = metric.get("name") if isinstance(metric, dict) else metric
    return name if isinstance(name, str) else ""


Metric = Annotated[str | dict[str, Any], AfterValidator(_with_name)]


class _Task(Part):
    """A task as a list declares it, with fev's defaults.

    All keys but the last two are columns of fev's result files, in their order; None is an empty cell there.
    """

    dataset_path: str
    dataset_config: str | None = None
    horizon: Count = 1
    num_windows: Count = 1
    initial_cutoff: int | Annotated[str, AfterValidator(_time_of)] | None = None
    window_step_size: Count | Annotated[str, AfterValidator(offset_of)] | None = None
    min_context_length: Count = 1
    max_context_length: Count | None = None
    seasonality: Count = 1
    eval_metric: Metric = "MASE"
    extra_metrics: list[Metric] = Field(default_factory=list)
    quantile_levels: Levels = Field(default_factory=list)
    id_column: str = "id"
    timestamp_column: str = "timestamp"
    target: str | Names = "target"
    generate_univariate_targets_from: Literal["__ALL__"] | list[str] | None = None
    known_dynamic_columns: Names = Field(default_factory=list)
    past_dynamic_columns: Names = Field(default_factory=list)
    static_columns: Names = Field(default_factory=list)
    task_name: str | None = None
    lead_time: Any = None  # Never used by any release; fev drops it.

    def metric_names(self) -> list[str]:
        """Return the names of its metrics, its own first."""
        return [_name_of(metric) for metric in (self.eval_metric, *self.extra_metrics)]

    def latest_cutoff(self) -> int:
        """Return the last cutoff that leaves room for every window, counted from the end; the step is no offset."""
        step = self.window_step_size
        return -(self.horizon + (self.num_windows - 1) * int(self.horizon if step is None else step))


RENAMES = {
    "num_rolling_windows": "num_windows",
    "rolling_step_size": "window_step_size",
    "cutoff": "initial_cutoff",
    "target_column": "target",
    "multiple_target_columns": "generate_univariate_targets_from",
}

OF_QUANTILES = frozenset({"MQL", "SQL", "WQL"})


def read_fev_tasks(tasks_yaml: bytes, what: str) -> list[FevTask]:
    """Return the tasks of a list in its order, with every default filled in. `what` names the list in errors."""
    document = read_yaml(tasks_yaml, max_bytes=MAX_TASK_LIST_BYTES, what=what)
    listed = document.get("tasks") if isinstance(document, dict) else None
    if not isinstance(listed, list) or not listed:
        raise ManifestRejected(f"{what} is not one of fev.", [Problem("expected a list under the key tasks")])
    problems: list[Problem] = []
    declared = [_read(task, f"tasks.{position}", problems) for position, task in enumerate(listed)]
    if not problems:
        tasks = [_task(each) for each in declared if each is not None]
        problems = list(_problems_of_names(tasks))
    if problems:
        raise ManifestRejected(f"{what} cannot be imported.", problems)
    return tasks


def _read(task: Any, path: str, problems: list[Problem]) -> _Task | None:
    """Return a task under fev's present names, or None; what is wrong with it is added to the problems."""
    if isinstance(task, dict):
        for old, new in RENAMES.items():
            if old in task and new in task:
                problems.append(Problem(f"a deprecated name of {new}, which the task has too", column=f"{path}.{old}"))
        task = {RENAMES.get(key, key): value for key, value in task.items()}
    try:
        declared = _Task.model_validate(task)
    except ValidationError as error:
        problems += problems_from(error, _Task, within=path)
        return None
    problems += _problems_of(declared, path)
    return declared


def _problems_of(task: _Task, path: str) -> Iterator[Problem]:
    cutoff, step, names = task.initial_cutoff, task.window_step_size, task.metric_names()
    if isinstance(step, str) and not isinstance(cutoff, str):
        message = "an offset needs a date and time as initial_cutoff; beside a number it must be a whole number"
        yield Problem(message, column=f"{path}.window_step_size", value=step)
    elif isinstance(cutoff, int) and 0 > cutoff > (latest := task.latest_cutoff()):
        message = f"leaves no room for every window; it must be at most {latest}"
        yield Problem(message, column=f"{path}.initial_cutoff", value=str(cutoff))
    if len(set(names)) < len(names):
        yield Problem("a metric is named twice", column=f"{path}.extra_metrics")
    if not task.quantile_levels and (needing := sorted(OF_QUANTILES & set(names))):
        yield Problem(f"{', '.join(needing)} needs quantile_levels", column=f"{path}.quantile_levels")
    if isinstance(task.target, list) and task.generate_univariate_targets_from is not None:
        message = "cannot be used where target is a list"
        yield Problem(message, column=f"{path}.generate_univariate_targets_from")


def _task(declared: _Task) -> FevTask:
    where = declared.model_dump(exclude={"task_name", "lead_time"})
    if declared.window_step_size is None:
        where["window_step_size"] = declared.horizon
    if declared.initial_cutoff is None:
        where["initial_cutoff"] = declared.latest_cutoff()
    name = declared.task_name or declared.dataset_config or _parents(declared.dataset_path)
    return FevTask(name, where, tuple(dict.fromkeys(declared.metric_names())))


def _parents(path: str) -> str:
    """Return the names of the last two folders of a file: `foo/bar` of `/home/foo/bar/data.parquet`."""
    return "/".join(PurePosixPath(path).parts[-3:-1])


def _problems_of_names(tasks: Sequence[FevTask]) -> Iterator[Problem]:
    seen: set[str] = set()
    for position, task in enumerate(tasks):
        if not is_name(task.name):
            message = "no allowed name can be made from its data; give it a task_name"
            yield Problem(message, column=f"tasks.{position}", value=clip_for_message(task.name))
        elif task.name in seen:
            message = "another task has this name; give each a task_name"
            yield Problem(message, column=f"tasks.{position}", value=task.name)
        seen.add(task.name)


# What result files of fev say that its task lists do not: who the models are, who has seen data, how many forecasts.
# Read leniently, unlike a submission: result files in fev's own folders have rows of tasks that the list no longer
# has, and the names in them are right all the same.

LIMITS = Limits(max_unpacked_bytes=512 * MIB, max_json_bytes=64 * MIB, max_files=2000, max_rows=2_000_000)

SUFFIXES = (".csv", ".json", ".jsonl")


def result_files(places: Sequence[Path]) -> list[Path]:
    """Return the files, and those in the folders, that may be result files."""
    candidates = [path for place in places for path in (sorted(place.iterdir()) if place.is_dir() else [place])]
    return [path for path in candidates if path.suffix in SUFFIXES or not any(path.parent == place for place in places)]


def read_results(places: Sequence[Path], manifest: Manifest) -> FevResults:
    """Read result files for the tasks of a manifest. Raises ManifestRejected where one cannot be read at all."""
    findings, results = Findings(), FevResults()
    with tempfile.TemporaryDirectory(prefix="plumbline-results-") as folder:
        unpacking = Unpacking(LIMITS, Path(folder), findings, SUFFIXES)
        unpacking.take_all([SentFile(path.name, path) for path in result_files(places)])
        for file in unpacking.files:
            _take(file, manifest, findings, results)
    if findings.n_problems:
        raise ManifestRejected("The result files cannot be read.", findings.kept)
    return results


def _take(file: ReceivedFile, manifest: Manifest, findings: Findings, results: FevResults) -> None:
    table = open_table(file, findings, [], LIMITS.max_rows)
    if table is None:
        return
    columns, wrong = columns_of(manifest), Findings()
    file_columns = FileColumns(columns, table.header, file.name)
    if not file_columns.has(columns.entrant):
        findings.add(Problem(f"the column {columns.entrant} is missing", file=file.name, column=columns.entrant))
        return
    reader = BlockReader(manifest, columns, None, wrong)
    parts = [reader.read(block, file_columns, file) for block in table.blocks(file_columns.sources)]
    # Beyond the most problems that are kept nothing says which rows are as the list defines them.
    bad = None if wrong.n_problems > len(wrong.kept) else {problem.row for problem in wrong.kept}
    for part in parts:
        _add(part, reader, columns.value_names().index("n_forecasts"), bad, results)


def _add(part: BlockPart, reader: BlockReader, counted: int, bad: set[int | None] | None, results: FevResults) -> None:
    names, tasks = reader.entrants.words, reader.tasks.words
    rows = zip(part.entrant.tolist(), part.task.tolist(), part.leaked.tolist(), part.values, part.row, strict=True)
    for entrant, task, leaked, values, row in rows:
        if entrant != NONE:
            results.models.add(names[entrant])
        if task == NONE or bad is None or int(row) in bad:
            results.n_other += 1
            continue
        if leaked and entrant != NONE:
            results.leaked.add(names[entrant])
        if not np.isnan(values[counted]):
            results.counts.setdefault(tasks[task], set()).add(int(values[counted]))


# `plumbline benchmark import-fev`.


def import_fev(
    tasks: Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="fev's tasks.yaml.")],
    *,
    mini: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, readable=True, help="A smaller task list, for boards of its own."),
    ] = None,
    results: Annotated[
        list[Path] | None,
        typer.Option(exists=True, readable=True, help="Result files of fev, or a folder of them; may be repeated."),
    ] = None,
    slug: Annotated[str, typer.Option(help="The benchmark's slug.")] = "fev-bench",
    title: Annotated[str | None, typer.Option(help="The benchmark's title; default: its slug.")] = None,
    description: Annotated[str | None, typer.Option(help="The description, in Markdown.")] = None,
    baseline: Annotated[
        str | None, typer.Option(help="The baseline; default: the seasonal naive forecast of the result files.")
    ] = None,
    leakage_model: Annotated[
        str | None,
        typer.Option(help="The entrant whose errors replace leaked ones; default: Chronos-Bolt of the result files."),
    ] = None,
    no_leakage_model: Annotated[
        bool, typer.Option("--no-leakage-model", help="Keep leaked errors as they are.")
    ] = False,
    per_forecasts: Annotated[
        int | None, typer.Option(min=1, help="Report times per this many forecasts; default: 100 if counts are known.")
    ] = None,
    plain_times: Annotated[bool, typer.Option("--plain-times", help="Report times as the rows give them.")] = False,
    rank_by: Annotated[
        RankBy, typer.Option(help="The column that ranks; fev 0.10.0 sorts its own list by win_rate.")
    ] = "skill_score",
) -> Imported:
    """Make a manifest from a task list of fev. No server is needed.

    Result files say which models there are, who has seen data, and how many forecasts each task asks for.
    """
    given = (tasks.read_bytes(), None if mini is None else mini.read_bytes(), slug, title or slug)
    options = FevOptions(baseline, leakage_model, no_leakage_model, per_forecasts, plain_times, description, rank_by)
    plain = parse_manifest(manifest_from_fev_tasks(*given))
    read = None if results is None else read_results(results, plain)
    choices = choose(options, read, plain.task_ids() or ())
    notes = []
    if read is not None and read.n_other:
        notes = [
            f"{read.n_other} rows of the result files belong to no task in the list, or differ from its definition."
        ]
    return Imported(manifest_from_fev_tasks(*given, choices), notes)
