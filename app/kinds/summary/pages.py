"""What the pages of a benchmark of evaluation summaries say."""

from collections.abc import Iterator

from app.kinds.contract import MODEL, ColumnUse, Pages, UploadExample, better, example_score, first_task
from app.kinds.summary.manifest_part import SummaryPart
from app.kinds.summary.read import show
from app.manifest.model import Manifest, OpenTasks, part_of


def example(manifest: Manifest) -> UploadExample:
    """Return the columns that the manifest names, with a row that it takes."""
    declared = part_of(manifest, SummaryPart).columns
    return UploadExample(
        columns=tuple(_columns(manifest)),
        a_row_is="per entrant" if declared.task is None else "per entrant and task",
        names_entrant=declared.entrant is not None,
        ignores_other_columns=True,
    )


PAGES = Pages(example=example)


# An example upload of evaluation summaries: a row per entrant and task.


def _columns(manifest: Manifest) -> Iterator[ColumnUse]:
    declared = part_of(manifest, SummaryPart).columns
    if declared.entrant is not None:
        yield ColumnUse(declared.entrant, "the entrant's name", MODEL)
    if declared.task is not None:
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
    optional = (
        (declared.training_time_s, "seconds of training, or empty", "1"),
        (declared.inference_time_s, "seconds of inference, or empty", "1"),
        (declared.n_forecasts, "forecasts made, or empty", str(_first_count(manifest) or 1)),
    )
    for column, meaning, cell in optional:
        if column is not None:
            yield ColumnUse(column, meaning, cell)


def _first_count(manifest: Manifest) -> int | None:
    """Return how many forecasts the example's task has, where the manifest says so: no other number is taken."""
    return None if isinstance(manifest.tasks, OpenTasks) else manifest.tasks[0].n_forecasts
