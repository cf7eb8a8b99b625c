"""An example upload of predictions: a row per item. Called by `app.kinds.predictions.pages`."""

from collections.abc import Iterator

from app.kinds.example_cells import EXAMPLE_VALUE, MODEL, first_task
from app.kinds.pages import ColumnUse, UploadExample
from app.kinds.predictions.declared import Predictions
from app.kinds.predictions.manifest_part import PredictionsPart
from app.kinds.predictions.names import ENTRANT, ITEM, TASK
from app.kinds.predictions.values import CLASS_PREFIX, PREDICTION
from app.manifest.manifest import Manifest, part_of


def example(manifest: Manifest) -> UploadExample:
    """Return the columns of predictions of the benchmark's kind, with a row that it takes."""
    return UploadExample(columns=tuple(_columns(manifest)), a_row_is="per item", may_name_entrant=True)


def _columns(manifest: Manifest) -> Iterator[ColumnUse]:
    part = part_of(manifest, PredictionsPart).predictions
    yield ColumnUse(ENTRANT, "the entrant's name; or leave it out and send -F entrant=…", MODEL)
    if manifest.task_ids() is None or len(manifest.task_ids() or ()) > 1:
        yield ColumnUse(TASK, "the task", first_task(manifest))
    yield ColumnUse(ITEM, "the item", "item-1")
    yield from _predicted(part)
    if part.labels == "submitted":
        yield ColumnUse("label", "what is true of the item", part.classes[0] if part.classes else str(EXAMPLE_VALUE))


def _predicted(part: Predictions) -> Iterator[ColumnUse]:
    if part.classes is None:
        yield ColumnUse(PREDICTION, "the predicted value or score", str(EXAMPLE_VALUE))
    elif part.positive_number is not None:
        positive = part.classes[part.positive_number]
        yield ColumnUse(PREDICTION, f"the probability that it is {positive}", str(EXAMPLE_VALUE))
    else:
        for name in part.classes:
            share = str(round(1 / len(part.classes), 6))
            yield ColumnUse(CLASS_PREFIX + name, f"the probability of {name}; all of them sum to 1", share)
