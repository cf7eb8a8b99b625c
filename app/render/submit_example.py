"""What a benchmark's page shows of an upload: the columns it reads, one example row, a minimal preregistration.

Called by the web; pure, from the manifest alone.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.kinds.predictions.names import ENTRANT, ITEM, TASK
from app.kinds.predictions.values import CLASS_PREFIX, PREDICTION
from app.kinds.series.rows import COLUMNS, SCOPES
from app.kinds.series.run import METRICS
from app.kinds.summary.task_values import show
from app.manifest.manifest import Manifest, Metric, OpenTasks
from app.manifest.parts import Episodes, Predictions

MODEL = "my-model"
ANY_TASK = "any-task"
EXAMPLE_VALUE = 0.5


@dataclass(frozen=True)
class ColumnUse:
    """One column of an upload: its name, what it holds, and an example cell."""

    name: str
    holds: str
    cell: str


@dataclass(frozen=True)
class SubmitExample:
    """The file of an upload with its columns, and a preregistration where the benchmark takes our own form.

    `names_entrant` is false where the rows name none, so that the form must.
    """

    file: str
    columns: Sequence[ColumnUse]
    names_entrant: bool
    prereg: str | None

    @property
    def rows(self) -> str:
        """Return the header and one row as CSV."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([column.name for column in self.columns])
        writer.writerow([column.cell for column in self.columns])
        return out.getvalue()


def submit_example(manifest: Manifest) -> SubmitExample:
    """Return what a submitter to a benchmark must know of its files."""
    columns = {
        "evaluation_summary": _summary_columns,
        "episodes": _episode_columns,
        "series_metrics": _series_columns,
        "predictions": _prediction_columns,
    }[manifest.evidence]
    file = METRICS if manifest.evidence == "series_metrics" else "results.csv"
    names_entrant = manifest.evidence != "episodes" and (
        manifest.evidence != "evaluation_summary" or manifest.columns.entrant is not None
    )
    return SubmitExample(file, tuple(columns(manifest)), names_entrant, _prereg(manifest))


def _prereg(manifest: Manifest) -> str | None:
    if "evaluation" not in manifest.admission.prereg_forms:
        return None
    metrics = ", ".join(f'"{name}"' if ":" in name else name for name in manifest.metrics)
    return f"benchmark: {manifest.slug}\nentrants: [{MODEL}]\ntasks: all\nmetrics: [{metrics}]\n"


def _summary_columns(manifest: Manifest) -> Iterator[ColumnUse]:
    declared = manifest.columns
    if declared.entrant is not None:
        yield ColumnUse(declared.entrant, "the entrant's name", MODEL)
    yield ColumnUse(declared.task, "the task", _first_task(manifest))
    for name, metric in manifest.metrics.items():
        yield ColumnUse(name, f"{metric.title or 'metric'}, {_better(metric)}", _score(metric))
    first = {} if isinstance(manifest.tasks, OpenTasks) else manifest.tasks[0].where
    for name, value in first.items():
        yield ColumnUse(name, "as the manifest defines the task", "" if value is None else show(value))
    if declared.leaked is not None:
        yield ColumnUse(declared.leaked, "whether the model was trained on the task's data", "False")
    optional = (declared.training_time_s, declared.inference_time_s, declared.n_forecasts)
    meanings = ("seconds of training, or empty", "seconds of inference, or empty", "forecasts made, or empty")
    for column, meaning in zip(optional, meanings, strict=True):
        if column is not None:
            yield ColumnUse(column, meaning, "1")


def _episode_columns(manifest: Manifest) -> Iterator[ColumnUse]:
    where = manifest.episodes or Episodes()
    yield ColumnUse("seed", "the seed, a whole number", "0")
    if where.task is not None:
        yield ColumnUse(where.task, "the task", _first_task(manifest))
    if where.condition is not None:
        condition = where.conditions[0] if where.conditions else "a-condition"
        yield ColumnUse(where.condition, "the condition", condition)
    for name in where.item:
        yield ColumnUse(name, "what tells episodes of one seed apart", "0")
    sources = {metric.source or name: metric for name, metric in manifest.metrics.items()}
    for name, metric in sources.items():
        yield ColumnUse(name, f"{metric.title or 'metric'} of the episode", _score(metric))


def _series_columns(manifest: Manifest) -> Iterator[ColumnUse]:
    estimator = manifest.estimators[0] if manifest.estimators else "RS"
    cells = (SCOPES[0], "series-1", estimator, next(iter(manifest.metrics)), str(EXAMPLE_VALUE), "{}", "{}")
    meanings = (
        f"{', '.join(SCOPES)}; only the first is evidence",
        "the series",
        "the estimator, which is the entrant",
        "the metric",
        "its value, or empty",
        "the stratum, a JSON object",
        "further facts, a JSON object",
    )
    for name, meaning, cell in zip(COLUMNS, meanings, cells, strict=True):
        yield ColumnUse(name, meaning, cell)


def _prediction_columns(manifest: Manifest) -> Iterator[ColumnUse]:
    part = manifest.predictions or Predictions(kind="regression")
    yield ColumnUse(ENTRANT, "the entrant's name; or leave it out and send -F entrant=…", MODEL)
    if manifest.task_ids() is None or len(manifest.task_ids() or ()) > 1:
        yield ColumnUse(TASK, "the task", _first_task(manifest))
    yield ColumnUse(ITEM, "the item", "item-1")
    if part.classes is None:
        yield ColumnUse(PREDICTION, "the predicted value or score", str(EXAMPLE_VALUE))
    elif part.positive_number is not None:
        positive = part.classes[part.positive_number]
        yield ColumnUse(PREDICTION, f"the probability that it is {positive}", str(EXAMPLE_VALUE))
    else:
        for name in part.classes:
            share = str(round(1 / len(part.classes), 6))
            yield ColumnUse(CLASS_PREFIX + name, f"the probability of {name}; all of them sum to 1", share)
    if part.labels == "submitted":
        yield ColumnUse("label", "what is true of the item", part.classes[0] if part.classes else str(EXAMPLE_VALUE))


def _first_task(manifest: Manifest) -> str:
    return (manifest.task_ids() or (ANY_TASK,))[0]


def _better(metric: Metric) -> str:
    return "higher is better" if metric.direction == "maximize" else "lower is better"


def _score(metric: Metric) -> str:
    if metric.above is not None:
        return str(metric.above)
    low = EXAMPLE_VALUE if metric.min is None else max(EXAMPLE_VALUE, metric.min)
    return str(low if metric.max is None else min(low, metric.max))
