"""An example upload of series metrics: a row per series and metric. Called by `app.kinds.series.pages`."""

from collections.abc import Iterator

from app.kinds.example_cells import EXAMPLE_VALUE
from app.kinds.pages import ColumnUse, UploadExample
from app.kinds.series.manifest_part import SeriesPart
from app.kinds.series.rows import COLUMNS, SCOPES
from app.kinds.series.run import METRICS
from app.manifest.manifest import Manifest, part_of

MEANINGS = (
    f"{', '.join(SCOPES)}; only the first is evidence",
    "the series",
    "the estimator, which is the entrant",
    "the metric",
    "its value, or empty",
    "the stratum, a JSON object",
    "further facts, a JSON object",
)


def example(manifest: Manifest) -> UploadExample:
    """Return the columns of a run's metrics, with a row of the first estimator."""
    return UploadExample(
        columns=tuple(_columns(manifest)),
        a_row_is="per series and metric",
        file=METRICS,
        or_else="Or a whole run of lrdbench, its folder as a zip.",
    )


def _columns(manifest: Manifest) -> Iterator[ColumnUse]:
    enrolled = part_of(manifest, SeriesPart).estimators
    estimator = enrolled[0] if enrolled else "RS"
    cells = (SCOPES[0], "series-1", estimator, next(iter(manifest.metrics)), str(EXAMPLE_VALUE), "{}", "{}")
    for name, meaning, cell in zip(COLUMNS, MEANINGS, cells, strict=True):
        yield ColumnUse(name, meaning, cell)
