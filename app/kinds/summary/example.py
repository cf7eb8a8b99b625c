"""An example upload of evaluation summaries: a row per entrant and task. Called by `app.kinds.summary.pages`."""

from collections.abc import Iterator

from app.kinds.example_cells import MODEL, better, example_score, first_task
from app.kinds.pages import ColumnUse, UploadExample
from app.kinds.summary.part import SummaryPart
from app.kinds.summary.task_values import show
from app.manifest.manifest import Manifest, OpenTasks, part_of


def example(manifest: Manifest) -> UploadExample:
    """Return the columns that the manifest names, with a row that it takes."""
    return UploadExample(
        columns=tuple(_columns(manifest)),
        a_row_is="per entrant and task",
        names_entrant=part_of(manifest, SummaryPart).columns.entrant is not None,
        ignores_other_columns=True,
    )


def _columns(manifest: Manifest) -> Iterator[ColumnUse]:
    declared = part_of(manifest, SummaryPart).columns
    if declared.entrant is not None:
        yield ColumnUse(declared.entrant, "the entrant's name", MODEL)
    yield ColumnUse(declared.task, "the task", first_task(manifest))
    for name, metric in manifest.metrics.items():
        yield ColumnUse(name, f"{metric.title or 'metric'}, {better(metric)}", example_score(metric))
    first = {} if isinstance(manifest.tasks, OpenTasks) else manifest.tasks[0].where
    for name, value in first.items():
        yield ColumnUse(name, "as the manifest defines the task", "" if value is None else show(value))
    yield from _optional_columns(manifest)


def _optional_columns(manifest: Manifest) -> Iterator[ColumnUse]:
    declared = part_of(manifest, SummaryPart).columns
    if declared.leaked is not None:
        yield ColumnUse(declared.leaked, "whether the model was trained on the task's data", "False")
    optional = (declared.training_time_s, declared.inference_time_s, declared.n_forecasts)
    meanings = ("seconds of training, or empty", "seconds of inference, or empty", "forecasts made, or empty")
    for column, meaning in zip(optional, meanings, strict=True):
        if column is not None:
            yield ColumnUse(column, meaning, "1")
